/** Answers that are computed in the page, by the equations that stand in the file. */
import { batch, signal, type Signal } from "@preact/signals-core";
import type { ArrayId, LiveInfo, Page, Parameter } from "./document";
import { recordedRuns, type Engine, type Run } from "./engine";
import { change, observedRun, type Computed, type Loop } from "./integrate";
import type { Arrays, Numbers } from "./packed";

/** Agreement up to which the page speaks of the same run. */
const SAME = 1e-6;

export class PageEngine implements Engine {
  readonly runs: Signal<readonly Run[]>;
  readonly changed = signal(false);
  readonly parameters: Parameter[];
  /** How the last computation ended, and how long it took [ms]. */
  readonly last: Signal<Computed & { ms: number }>;
  /** Largest difference from the recorded positions, of the numbers as they were recorded. */
  readonly agreement: number;
  private readonly recorded: Run;
  private readonly times: Float64Array;
  private readonly p: Float64Array;
  private readonly x0: Float64Array;
  private readonly places: Int32Array; // of every sample among those shown, -1: not shown
  private q: Float64Array[] = [];
  private columns: Record<string, Float64Array[]> = {};
  private waiting: Promise<void> | null = null;

  constructor(
    page: Page,
    private readonly arrays: Arrays,
    private readonly info: LiveInfo,
    private readonly loop: Loop,
  ) {
    this.recorded = recordedRuns(page, arrays)[0];
    this.parameters = info.parameters.map((parameter) => ({ ...parameter }));
    this.times = Float64Array.from(arrays.column(info.times, 0));
    this.p = Float64Array.from(info.p);
    this.x0 = Float64Array.from(info.x0);
    const index = arrays.column(info.index, 0);
    this.places = new Int32Array(this.times.length).fill(-1);
    index.forEach((k, i) => (this.places[k] = i));
    this.last = signal({ status: "", count: 0, reached: 0, ms: 0 });
    this.runs = signal<readonly Run[]>([]);
    this.run();
    this.agreement = this.difference();
  }

  get agrees(): boolean {
    return this.agreement <= SAME;
  }

  values(array: ArrayId, column: number, run: number): Numbers {
    const name = run === 0 ? this.info.arrays[String(array)] : undefined;
    const found = name === undefined ? undefined : name === "t" ? [this.runs.peek()[0].t] : this.columns[name];
    return found ? found[column] : this.arrays.column(array, column);
  }

  current(array: ArrayId, run: number): boolean {
    const name = this.info.arrays[String(array)];
    return run !== 0 || !this.changed.peek() || (name !== undefined && (name === "t" || name in this.columns));
  }

  /** Change a number; several changes of one moment are one computation. */
  set(path: string, value: number): Promise<void> {
    try {
      this.parameters[change(this.parameters, path, value, this.p, this.x0)].value = value;
    } catch (refused) {
      return Promise.reject(refused as Error);
    }
    this.waiting ??= Promise.resolve().then(() => {
      this.waiting = null;
      this.run();
    });
    return this.waiting;
  }

  async reset(): Promise<void> {
    await Promise.all(this.info.parameters.map(({ path, value }) => this.set(path, value)));
  }

  /** The run as it is now: all samples. */
  result(): { t: number[]; q: number[][]; status: string } {
    const { count, status } = this.last.peek();
    const asRecorded = !this.changed.peek() && this.agrees;
    return {
      t: Array.from(this.times.subarray(0, count)),
      q: Array.from({ length: count }, (_, k) => this.q.map((column) => column[k])),
      status: asRecorded ? this.info.status : status,
    };
  }

  private run(): void {
    const { info, loop, times } = this;
    const begin = performance.now();
    const { q, columns, seen, ...done } = observedRun({ loop, info, times, x0: this.x0, p: this.p }, info.signals, this.places);
    this.q = q;
    this.columns = columns;
    const t = this.recorded.t.subarray(0, Math.max(seen, 1));
    const run: Run = { ...this.recorded, t, q: columns["q"].map((column) => column.subarray(0, t.length)) };
    const changed = info.parameters.some(({ value }, k) => value !== this.parameters[k].value);
    batch(() => {
      this.changed.value = changed;
      this.runs.value = changed ? [run, this.recorded] : [run];
      this.last.value = { ...done, ms: performance.now() - begin };
    });
  }

  /** Largest |q − q recorded|, relative where positions are large. */
  private difference(): number {
    const run = this.runs.peek()[0];
    if (run.t.length !== this.recorded.t.length) return Infinity;
    let worst = 0;
    run.q.forEach((column, i) =>
      column.forEach((v, k) => {
        const wanted = this.recorded.q[i][k];
        worst = Math.max(worst, Math.abs(v - wanted) / Math.max(1, Math.abs(wanted)));
      }),
    );
    return worst;
  }
}

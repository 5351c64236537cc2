/** Answers that are computed in the page, by the equations that stand in the file. */
import { batch, signal, type Signal } from "@preact/signals-core";
import type { ArrayId, LiveInfo, Page, Parameter } from "./document";
import { recordedRuns, type Engine, type Run } from "./engine";
import { compute, type Computed, type Loop } from "./integrate";
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
  private readonly row: Float64Array;
  private readonly p: Float64Array;
  private readonly x0: Float64Array;
  private readonly places: Int32Array; // of every sample among those shown, -1: not shown
  private q: Float64Array[] = [];
  private columns = new Map<string, Float64Array[]>();
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
    this.row = new Float64Array(Math.max(...Object.values(info.signals).map(([at, count]) => at + count)));
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
    const found = name === undefined ? undefined : name === "t" ? [this.runs.peek()[0].t] : this.columns.get(name);
    return found ? found[column] : this.arrays.column(array, column);
  }

  current(array: ArrayId, run: number): boolean {
    const name = this.info.arrays[String(array)];
    return run !== 0 || !this.changed.peek() || (name !== undefined && (name === "t" || this.columns.has(name)));
  }

  /** Change a number; several changes of one moment are one computation. */
  set(path: string, value: number): Promise<void> {
    const k = this.parameters.findIndex((parameter) => parameter.path === path);
    if (k < 0) return Promise.reject(new Error(`There is no number '${path}'; there are ${this.parameters.map((x) => x.path).join(", ")}.`));
    if (typeof value !== "number" || !Number.isFinite(value)) return Promise.reject(new Error(`'${path}' takes a finite number, found ${String(value)}.`));
    this.parameters[k].value = value;
    for (const slot of this.info.slots[k]) {
      if (slot < 0) this.x0[-1 - slot] = value;
      else this.p[slot] = value;
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
    const { info, loop, times, row, places } = this;
    const begin = performance.now();
    const shown = places.reduce((n, at) => n + (at >= 0 ? 1 : 0), 0);
    this.q = Array.from({ length: info.n }, () => new Float64Array(times.length));
    const columns = new Map(Object.entries(info.signals).map(([name, [, count]]) => [name, Array.from({ length: count }, () => new Float64Array(shown).fill(NaN))]));
    const every = [...columns.entries()].flatMap(([name, list]) => list.map((column, c) => ({ column, at: info.signals[name][0] + c })));
    let seen = 0;
    const done = compute({ loop, info, times, x0: this.x0, p: this.p }, (k, t, x) => {
      for (let i = 0; i < info.n; i++) this.q[i][k] = x[i];
      const at = places[k];
      if (at < 0) return;
      loop.observe(t, x, this.p, row);
      for (const { column, at: from } of every) column[at] = row[from];
      seen = at + 1;
    });
    const audit = columns.get("audit")?.[0];
    if (audit) audit.forEach((v, i, all) => i > 0 && (all[i] = v - all[0]));
    if (audit) audit[0] = 0;
    this.columns = columns;
    const t = this.recorded.t.subarray(0, Math.max(seen, 1));
    const run: Run = { ...this.recorded, t, q: columns.get("q")!.map((column) => column.subarray(0, t.length)) };
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

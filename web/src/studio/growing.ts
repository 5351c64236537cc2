/** A run while it is computed: its samples so far, as the charts and the trace of the arm show them. */
import type { ArrayId, ChartSpec, JointInfo, Page } from "../document";
import { RecordedEngine } from "../engine";
import type { Arrays, Numbers } from "../packed";
import type { Chunk } from "./client";

const MOST = 4000; // samples that are kept; from there on every second one
const [T, Q, QD]: ArrayId[] = [-1, -2, -3]; // no arrays of the page

/** Columns of samples that grow at their end; of many, every second is dropped. */
export class Grown {
  private count = 0;
  private every = 1;
  private t = new Float64Array(2 * MOST);
  private columns: Float64Array[];

  constructor(private readonly n: number) {
    this.columns = Array.from({ length: 2 * n }, () => new Float64Array(2 * MOST));
  }

  get length(): number {
    return this.count;
  }

  /** Samples in their order; one that begins at 0 begins anew. */
  add(chunk: Chunk): void {
    const { n } = this;
    if (chunk.first === 0) [this.count, this.every] = [0, 1];
    for (let i = 0; i < chunk.t.length; i++) {
      if ((chunk.first + i) % this.every) continue;
      this.t[this.count] = chunk.t[i];
      for (let k = 0; k < n; k++) {
        this.columns[k][this.count] = chunk.q[i * n + k];
        this.columns[n + k][this.count] = chunk.qd[i * n + k];
      }
      this.count++;
      if (this.count >= MOST) this.thin();
    }
  }

  private thin(): void {
    const half = Math.ceil(this.count / 2);
    for (const column of [this.t, ...this.columns]) for (let i = 0; i < half; i++) column[i] = column[2 * i];
    this.count = half;
    this.every *= 2;
  }

  times(): Float64Array {
    return this.t.subarray(0, this.count);
  }

  /** Positions of the joints, then their velocities. */
  column(k: number): Float64Array {
    return this.columns[k].subarray(0, this.count);
  }
}

export class GrowingEngine extends RecordedEngine {
  constructor(
    page: Page,
    arrays: Arrays,
    private readonly grown: Grown,
    private readonly n: number,
  ) {
    super(page, arrays);
    this.tell();
  }

  override values(array: ArrayId, column: number, run: number): Numbers {
    if (array === T) return this.grown.times();
    if (array === Q || array === QD) return this.grown.column(array === Q ? column : this.n + column);
    return super.values(array, column, run);
  }

  /** More samples came. */
  tell(): void {
    this.runs.value = [{ ...this.runs.peek()[0], t: this.grown.times(), q: Array.from({ length: this.n }, (_, k) => this.grown.column(k)) }];
  }
}

/** The page of a robot as one of a run: with charts of what is streamed. */
export function growingPage(page: Page, titles: { position: string; velocity: string }): Page {
  const joints = page.joints;
  return { ...page, charts: [chart("position", titles.position, "q", "", Q, joints), chart("velocity", titles.velocity, "qd", "/s", QD, joints)] };
}

function chart(kind: string, title: string, label: string, per: string, array: ArrayId, joints: readonly JointInfo[]): ChartSpec {
  const units = [...new Set(joints.map((j) => j.unit))];
  return {
    id: `chart-${kind}`, kind, title,
    axes: units.map((unit) => ({ label, unit: unit + per, size: unit === "m" ? 0.1 : 1, noise: 1e-7 })),
    curves: joints.map((j, i) => ({ name: j.name, run: 0, y: [array, i], joint: i, colour: `j${(i % 8) + 1}`, dash: 0, axis: units.indexOf(j.unit) })),
  }; // prettier-ignore
}

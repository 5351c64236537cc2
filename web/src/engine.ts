/** Where answers come from. The viewer asks an Engine and does not know whether samples were recorded, are computed in the page or come from a server. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { ArrayId, Page, Parameter } from "./document";
import type { Arrays, Numbers } from "./packed";

/** One run as it is shown: times, one column of positions per joint. */
export interface Run {
  readonly name: string;
  readonly status: string;
  readonly robot: number | null;
  readonly path: Numbers | null; // (points × 3), columns one after the other
  readonly t: Numbers;
  readonly q: readonly Numbers[];
}

export interface Engine {
  /** Runs in the order of the document; a new list when samples changed or arrived. */
  readonly runs: ReadonlySignal<readonly Run[]>;
  /** Do the runs differ from what was recorded? Then the recorded one is shown beside. */
  readonly changed: ReadonlySignal<boolean>;
  /** Numbers that may be changed; none for what was only recorded. */
  readonly parameters: readonly Parameter[];
  /** The values of a column, as they are now. */
  values(array: ArrayId, column: number, run: number): Numbers;
  /** Is this array of that run up to date with the parameters? */
  current(array: ArrayId, run: number): boolean;
  /** Change a parameter; resolves when the new samples are there. */
  set(path: string, value: number): Promise<void>;
}

export function recordedRuns(page: Page, arrays: Arrays): Run[] {
  return page.runs.map((run) => ({
    name: run.name,
    status: run.status,
    robot: run.robot,
    path: run.path === null ? null : arrays.all(run.path),
    t: arrays.column(run.t, 0),
    q: Array.from({ length: arrays.info(run.q).columns }, (_, i) => arrays.column(run.q, i)),
  }));
}

/** Samples only. */
export class RecordedEngine implements Engine {
  readonly runs: Signal<readonly Run[]>;
  readonly changed = signal(false);
  readonly parameters: readonly Parameter[] = [];
  constructor(
    page: Page,
    protected readonly arrays: Arrays,
  ) {
    this.runs = signal<readonly Run[]>(recordedRuns(page, arrays));
  }

  values(array: ArrayId, column: number, _run: number): Numbers {
    return this.arrays.column(array, column);
  }

  current(_array: ArrayId, _run: number): boolean {
    return true;
  }

  async set(path: string, _value: number): Promise<void> {
    throw new Error(`'${path}' cannot be changed: these are recorded samples.`);
  }
}

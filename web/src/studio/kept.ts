/** Runs that are kept to be seen beside the one that is shown; this tab remembers them. */
import { signal } from "@preact/signals-core";
import { TEXTS } from "../texts";
import { ask } from "./client";
import { rememberKept } from "./memory";
import type { Summary } from "./wire";

const MOST_KEPT = 5; // runs beside the one that is shown (MOST_RUNS in studio/pages.py)

export class Kept {
  readonly runs = signal<readonly Summary[]>([]);

  /** Those that can stand beside a run: of arms with as many joints. */
  beside(run: { id: string; n: number | undefined }): string[] {
    return this.runs.value.filter((o) => o.id !== run.id && o.n === run.n).map((o) => o.id);
  }

  /** Keep a run of this studio, or let it go; why it is not kept. */
  async set(studio: string, id: string, on: boolean): Promise<string> {
    if (on && this.runs.value.length >= MOST_KEPT) return TEXTS.mostKept(MOST_KEPT);
    const summary = await ask("pin", { run: id, pinned: on });
    const others = this.runs.value.filter((o) => o.id !== id);
    this.runs.value = on ? [...others, summary] : others;
    rememberKept(studio, this.runs.value.map((o) => o.id)); // prettier-ignore
    return "";
  }
}

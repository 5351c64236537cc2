/** The document in the memory of the browser: of this tab, so that a reload keeps it, and of the last tab, for the next studio. */
import { ask } from "./client";
import { isTable, type Json, type Table } from "./store";
import type { Summary } from "./wire";

const LAST = "manipula.document";
const OWN = "manipula.document.";
const KEPT = "manipula.kept.";

/** Keep a document; a browser that keeps nothing (full, or told not to) is no reason to stop. */
export function remember(studio: string, document: Table): void {
  try {
    const text = JSON.stringify(document);
    localStorage.setItem(LAST, text);
    sessionStorage.setItem(OWN + studio, text);
  } catch {
    // then a reload begins anew
  }
}

/** Keep the numbers of the runs that this tab keeps for comparison. */
export function rememberKept(studio: string, runs: readonly string[]): void {
  try {
    sessionStorage.setItem(KEPT + studio, JSON.stringify(runs));
  } catch {
    // then a reload forgets them
  }
}

/** Runs that this tab kept before it was loaded again; those that are gone are forgotten. */
export async function keptRuns(studio: string): Promise<Summary[]> {
  const found = await Promise.all(keptOfThisTab(studio).map((run) => ask("status", { run }).catch(() => null)));
  return found.filter((run) => run !== null && run.state === "done") as Summary[];
}

function keptOfThisTab(studio: string): string[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT + studio) ?? "[]") as Json;
    return Array.isArray(kept) ? kept.filter((run) => typeof run === "string") : [];
  } catch {
    return [];
  }
}

/** What this tab edited in this studio; null where it is new. */
export function ofThisTab(studio: string): Table | null {
  return found(() => sessionStorage.getItem(OWN + studio));
}

/** What was edited last, in any studio at this address. */
export function ofTheLast(): Table | null {
  return found(() => localStorage.getItem(LAST));
}

function found(read: () => string | null): Table | null {
  try {
    const kept = JSON.parse(read() ?? "null") as Json;
    return isTable(kept) && kept["robot"] !== undefined ? kept : null;
  } catch {
    return null;
  }
}

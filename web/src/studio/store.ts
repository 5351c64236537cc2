/** The document that the page edits: the scenario file as plain values, with its past and future. */
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { Told } from "./client";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };
export type Path = readonly (string | number)[];

export const isTable = (value: Json | undefined): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);

export function at(value: Json | undefined, path: Path): Json | undefined {
  for (const key of path) {
    if (Array.isArray(value)) value = value[key as number];
    else if (isTable(value)) value = Object.hasOwn(value, String(key)) ? value[key] : undefined;
    else return undefined;
  }
  return value;
}

/** The same value with another one at the end of a path; `undefined` takes it out. Tables on the way are made. */
export function put(value: Json | undefined, path: Path, next: Json | undefined): Json | undefined {
  if (!path.length) return next;
  const [key, ...rest] = path;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    const made = put(list[key], rest, next);
    if (made === undefined) list.splice(key, 1);
    else list[key] = made;
    return list;
  }
  const table: Table = isTable(value) ? { ...value } : {};
  const made = put(table[key], rest, next);
  if (made === undefined) delete table[key];
  else table[key] = made;
  return table;
}

/** A path as the server names fields: `robot.dh.rows[2].a`. */
export const fieldName = (path: Path): string => path.map((key, i) => (typeof key === "number" ? `[${key}]` : i ? `.${key}` : key)).join("");

/** What of a document says which robot is looked at, and where it starts. */
export const lookedAt = (document: Table): [string, string] => [JSON.stringify([document["robot"], document["constants"], document["parameters"]]), JSON.stringify([document["q0"], document["q0_deg"]])];

/** Is the robot of a document another one than the one that is shown? A table that is being edited is the same one. */
export function hasAnotherRobot({ robot }: Table, shown: string | undefined): boolean {
  const name = isTable(robot) ? robot["name"] : robot;
  return shown === undefined || (typeof name === "string" && name !== shown);
}

const MERGED_MS = 800; // changes of one field within this time are undone together
const MOST_STEPS = 200;

export class Store {
  readonly document: Signal<Table>;
  /** Grows when the page must be drawn anew: another document, undo, another kind of part. */
  readonly structure = signal(0);
  readonly problem = signal<Told | null>(null);
  private readonly past = signal<readonly Table[]>([]);
  private readonly future = signal<readonly Table[]>([]);
  private last: { field: string; time: number } = { field: "", time: 0 };
  readonly canUndo: ReadonlySignal<boolean> = computed(() => this.past.value.length > 0);
  readonly canRedo: ReadonlySignal<boolean> = computed(() => this.future.value.length > 0);

  constructor(first: Table) {
    this.document = signal(first);
  }

  get(path: Path): Json | undefined {
    return at(this.document.value, path);
  }

  /** Change one place. `again`: the forms have to be drawn anew. */
  edit(path: Path, next: Json | undefined, again = false): void {
    const before = this.document.value;
    const after = put(before, path, next) as Table;
    const field = fieldName(path);
    const now = Date.now();
    const merged = !again && field === this.last.field && now - this.last.time < MERGED_MS;
    this.last = { field, time: now };
    if (!merged) this.past.value = [...this.past.value.slice(1 - MOST_STEPS), before];
    this.future.value = [];
    this.document.value = after;
    if (again) this.structure.value++;
  }

  replace(next: Table): void {
    this.past.value = [...this.past.value.slice(1 - MOST_STEPS), this.document.value];
    this.future.value = [];
    this.last = { field: "", time: 0 };
    this.document.value = next;
    this.structure.value++;
  }

  undo(): void {
    const before = this.past.value.at(-1);
    if (!before) return;
    this.past.value = this.past.value.slice(0, -1);
    this.future.value = [this.document.value, ...this.future.value];
    this.show(before);
  }

  redo(): void {
    const [next, ...rest] = this.future.value;
    if (!next) return;
    this.future.value = rest;
    this.past.value = [...this.past.value, this.document.value];
    this.show(next);
  }

  private show(document: Table): void {
    this.last = { field: "", time: 0 };
    this.document.value = document;
    this.structure.value++;
  }
}

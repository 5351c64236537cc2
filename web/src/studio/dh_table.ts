/** The DH table: one row per joint, every cell checked where it stands. */
import { effect } from "@preact/signals-core";
import { el } from "../dom";
import { parsed, parsedList, written, writtenAngle } from "./entry";
import type { Forms } from "./form";
import type { Schema } from "./schema";
import { fieldName, isTable, type Json, type Path, type Store, type Table } from "./store";
import { TEXTS } from "../texts";

const COLUMNS: readonly [string, string, string][] = [
  ["theta", "θ", "rad"],
  ["d", "d", "m"],
  ["a", "a", "m"],
  ["alpha", "α", "rad"],
  ["mass", "m", "kg"],
]; // prettier-ignore
const LISTS: readonly [string, string, string][] = [
  ["com", TEXTS.dhLists["com"] ?? "", "m"],
  ["inertia", TEXTS.dhLists["inertia"] ?? "", "kg·m²"],
]; // prettier-ignore

export const ROWS: Path = ["robot", "dh", "rows"];

export class DhTable {
  constructor(
    private readonly store: Store,
    private readonly forms: Forms,
    private readonly rowSchema: Schema,
    private readonly selected: (row: number) => void,
  ) {}

  draw(): HTMLElement {
    const rows = (this.store.get(ROWS) as Json[] | undefined) ?? [];
    const convention = String(this.store.get(["robot", "dh", "convention"]) ?? "");
    const head = el("tr", {}, el("th", { scope: "col" }, TEXTS.joint), ...COLUMNS.map(([, sign, unit]) => el("th", { scope: "col" }, `${sign} `, el("span", { class: "unit" }, unit))), el("td", {}));
    const table = el("table", { class: "dh" }, el("caption", {}, TEXTS.dhCaption(convention)), el("thead", {}, head), el("tbody", {}, ...rows.map((_, i) => this.row(i, rows))));
    const add = el("button", { type: "button", class: "quiet", click: () => this.change([...rows, { a: 0.3, mass: 1, com: [-0.15, 0, 0], inertia: [0, 0.0075, 0.0075] }]) }, TEXTS.addJoint);
    return el("div", { class: "scroll" }, table, add, ...rows.map((_, i) => this.more(i)));
  }

  private change(rows: Json[]): void {
    this.store.edit(ROWS, named(rows), true);
  }

  private row(i: number, rows: Json[]): HTMLElement {
    const row = rows[i] as Table;
    const slides = row["joint"] === "prismatic";
    const kind = el("select", {
      "aria-label": TEXTS.kindOfJoint(i + 1),
      change: (e: Event) => this.store.edit([...ROWS, i, "joint"], (e.target as HTMLSelectElement).value === "P" ? "prismatic" : undefined, true),
    }, el("option", { value: "R", selected: !slides }, "R"), el("option", { value: "P", selected: slides }, "P")); // prettier-ignore
    const move = (by: number): void => {
      const next = [...rows];
      [next[i], next[i + by]] = [next[i + by], next[i]];
      this.change(next);
    };
    const buttons = el(
      "td",
      { class: "buttons" },
      el("button", { type: "button", class: "quiet", disabled: i === 0, "aria-label": `${TEXTS.up}: ${TEXTS.joint} ${i + 1}`, click: () => move(-1) }, "↑"),
      el("button", { type: "button", class: "quiet", disabled: i === rows.length - 1, "aria-label": `${TEXTS.down}: ${TEXTS.joint} ${i + 1}`, click: () => move(1) }, "↓"),
      el("button", { type: "button", class: "quiet", "aria-label": `${TEXTS.remove}: ${TEXTS.joint} ${i + 1}`, click: () => this.change(rows.filter((_, k) => k !== i)) }, "×"),
    );
    const cells = COLUMNS.map(([name]) => el("td", {}, this.cell([...ROWS, i, name], row, name, slides)));
    return el("tr", { click: () => this.selected(i), "data-row": i }, el("td", {}, kind), ...cells, buttons);
  }

  /** A number or a formula; an angle that the file has in degrees stays in degrees. */
  private cell(path: Path, row: Table, name: string, slides: boolean): HTMLElement {
    const degrees = `${name}_deg` in row;
    const place: Path = degrees ? [...path.slice(0, -1), `${name}_deg`] : path;
    const [, sign, unit] = COLUMNS.find(([column]) => column === name) ?? ["", name, ""];
    const variable = name === (slides ? "d" : "theta");
    const box = el("input", {
      type: "text", autocomplete: "off", "data-path": fieldName(place), placeholder: variable ? `q${Number(path[path.length - 2]) + 1}` : "0", "aria-label": TEXTS.cellOf(sign, Number(path[path.length - 2]) + 1, degrees ? "°" : unit), class: variable ? "variable" : "",
      title: variable ? TEXTS.offsetOfVariable : degrees ? TEXTS.degrees : "",
      input: (e: Event) => this.store.edit(place, parsed((e.target as HTMLInputElement).value)),
    }); // prettier-ignore
    box.value = (name === "theta" || name === "alpha") && !degrees ? writtenAngle(this.store.get(place)) : short(this.store.get(place));
    this.mark(box, place);
    return degrees ? el("span", { class: "degrees" }, box, "°") : box;
  }

  private more(i: number): HTMLElement {
    const inner = LISTS.map(([name, words, unit]) => {
      const path = [...ROWS, i, name];
      const box = el("input", { type: "text", autocomplete: "off", "data-path": fieldName(path), "aria-label": TEXTS.ofLink(words, i + 1), input: (e: Event) => this.store.edit(path, parsedList((e.target as HTMLInputElement).value)) });
      const value = this.store.get(path);
      box.value = written(Array.isArray(value) && value.every((v) => Array.isArray(v)) ? [0, 4, 8, 1, 2, 5].map((k) => (value.flat() as Json[])[k]) : value);
      this.mark(box, path);
      return el("label", { class: "row list" }, el("span", { class: "name" }, words, el("span", { class: "unit" }, unit)), box);
    });
    const shown = [...COLUMNS.map(([name]) => name), ...LISTS.map(([name]) => name), "joint", "theta_deg", "alpha_deg"];
    const rest = this.forms.table(this.rowSchema, [...ROWS, i], shown);
    return el("details", { class: "more" }, el("summary", {}, TEXTS.linkMore(i + 1)), ...inner, rest);
  }

  private mark(box: HTMLInputElement, path: Path): void {
    const name = fieldName(path);
    effect(() => {
      const told = this.store.problem.value;
      const field = told?.field?.split(",")[0] ?? "";
      const here = field === name || field.startsWith(`${name}[`);
      box.classList.toggle("bad", here);
      box.setAttribute("aria-invalid", String(here));
      box.title = here && told ? (told.problem ?? told.message) : "";
    });
  }
}

/** Where some rows have names of their own, the others get names that none has: the usual ones go by their place, which changes. */
export function named(rows: readonly Json[]): Json[] {
  const made = rows.map((row) => ({ ...(row as Table) }));
  for (const [key, word] of [["name", "joint"], ["link", "link"]] as const) {
    const taken = new Set(made.map((row) => row[key]).filter((name) => name !== undefined));
    if (!taken.size) continue;
    made.forEach((row, i) => {
      if (row[key] !== undefined) return;
      let k = i + 1;
      while (taken.has(`${word}${k}`)) k++;
      taken.add((row[key] = `${word}${k}`));
    });
  }
  return made;
}

/** A number of a cell in six digits; what is kept has all of them. */
const short = (value: Json | undefined): string => (typeof value === "number" ? String(Number(value.toPrecision(6))) : written(value));

export const hasDhRows = (robot: Json | undefined): boolean => isTable(robot) && isTable(robot["dh"]) && Array.isArray(robot["dh"]["rows"]);

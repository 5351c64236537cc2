/** Forms made from schemas: no controller, path or law is known here by its name. */
import { effect } from "@preact/signals-core";
import { el } from "../dom";
import { easy, fromSlider, parsed, parsedEach, parsedList, parsedRows, scaleAround, toSlider, written } from "./entry";
import { meaning, neededBy, unitFor, type JointKind, type Schema, type Schemas } from "./schema";
import { fieldName, isTable, type Json, type Path, type Store } from "./store";
import { TEXTS } from "../texts";

let counter = 0;

/** Who knows what a part begins with. */
export interface Server {
  choose(kind: string, name: string | null, place: Path): Promise<void>;
  firstOf(kind: string, name: string, place: Path): Promise<Json | undefined>;
}

const SHORT = 3; // letters of a name that says nothing without its meaning
const FITS = 3; // numbers beside a name; more of them have a line of their own

/** Tables of a scenario that the server fills in. */
const FILLED = ["noise", "actuator", "encoder", "base_motion"];

export class Forms {
  constructor(
    private readonly store: Store,
    private readonly schemas: Schemas,
    private readonly joints: () => readonly JointKind[],
    private readonly server: Server,
  ) {}

  /** All fields of a table: those that are needed or stated, the others behind a fold. */
  table(schema: Schema, path: Path, but: readonly string[] = []): HTMLElement {
    const box = el("div", { class: "fields" });
    const more = el("div", { class: "fields" });
    const value = this.store.get(path);
    const has = (name: string): boolean => isTable(value) && (name in value || `${name}_deg` in value);
    const properties = schema.properties ?? {};
    const needed = neededBy(schema);
    for (const [name, field] of Object.entries(properties)) {
      if (but.includes(name) || this.schemas.resolved(field).const !== undefined) continue;
      if (name.endsWith("_deg") && !(isTable(value) && name in value)) continue;
      if (`${name}_deg` in properties && isTable(value) && `${name}_deg` in value) continue;
      (needed.includes(name) || has(name) ? box : more).append(this.field(name, field, [...path, name]));
    }
    if (more.childElementCount) box.append(el("details", { class: "more" }, el("summary", {}, TEXTS.more), more));
    return box;
  }

  /** One field with its name, meaning, unit and, when it is wrong, why. */
  field(name: string, schema: Schema, path: Path): HTMLElement {
    const kind = this.schemas.kind(schema);
    const resolved = this.schemas.resolved(schema);
    const { words, unit: stated } = meaning({ ...resolved, ...(schema.description ? { description: schema.description } : {}) });
    const unit = kind === "rows" && !words.startsWith("joint") ? stated : unitFor(stated, this.jointsAt(path));
    const shown = name.replace(/_deg$/, "").replaceAll("_", " ");
    const title = el("span", { class: "name" }, shown);
    const measure = name.endsWith("_deg") ? "°" : unit;
    if (measure) title.append(el("span", { class: "unit" }, measure));
    if ((shown.length <= SHORT || kind === "named" || kind === "raw") && words) title.append(el("small", { class: "meaning" }, words));
    if (kind === "kinds" || kind === "table" || kind === "parts" || kind === "joints") {
      const inner = kind === "kinds" ? this.part(schema, path, words) : kind === "parts" ? this.parts(resolved, path) : kind === "joints" ? this.perJoint(resolved, path) : this.optional(resolved, path);
      return el("fieldset", { class: "group" }, el("legend", { title: words }, title), inner, this.wrong(path));
    }
    const id = `f${++counter}`;
    const input = this.input(kind, resolved, path, id, words, unit);
    const label = el("label", { class: "field", for: id, title: words }, title);
    const value = this.store.get(path);
    return el("div", { class: `row ${kind}${Array.isArray(value) && value.length > FITS ? " long" : ""}` }, label, input, this.wrong(path, true));
  }

  /** The joints that a field is for: the one that its place names, else all. */
  private jointsAt(path: Path): readonly JointKind[] {
    const joints = this.joints();
    const lists = path.map((step, k) => (["friction", "drives", "rows"].includes(String(path[k - 1])) ? step : null)).filter((step) => step !== null);
    const one = joints.filter((joint, i) => lists.includes(i) || lists.includes(joint.name));
    const apart = path[0] === "robot" && new Set(joints.map((joint) => joint.slides)).size > 1; // some link: which joint it has is not known here
    return one.length ? one : apart ? [] : joints;
  }

  /** Which kind of part, and its fields. */
  part(schema: Schema, path: Path, words = "", none = true): HTMLElement {
    const { key, tables } = this.schemas.kinds(schema);
    const current = this.schemas.kindOf(schema, this.store.get(path));
    const choose = el(
      "select",
      {
        "aria-label": words || fieldName(path),
        change: (event: Event) => {
          const wanted = (event.target as HTMLSelectElement).value;
          const table = tables[wanted];
          if (!table) return this.store.edit(path, undefined, true);
          const name = this.schemas.nameOf(schema);
          if (name) void this.server.choose(name, wanted, path);
          else this.store.edit(path, { ...this.schemas.first(table), [key]: wanted }, true);
        },
      },
      ...(none ? [el("option", { value: "" }, TEXTS.none)] : []),
      ...Object.keys(tables).map((name) => el("option", { value: name, selected: name === current }, name.replaceAll("_", " "))),
    );
    const table = tables[current];
    return el("div", { class: "part" }, choose, table ? this.table(table, path, [key]) : null);
  }

  private optional(schema: Schema, path: Path): HTMLElement {
    if (this.store.get(path) !== undefined) {
      const drop = el("button", { type: "button", class: "quiet", click: () => this.store.edit(path, undefined, true) }, TEXTS.remove);
      return el("div", {}, this.table(schema, path), drop);
    }
    return el("button", { type: "button", class: "quiet", click: () => (FILLED.includes(fieldName(path)) ? void this.server.choose(fieldName(path), null, path) : this.store.edit(path, this.schemas.first(schema), true)) }, TEXTS.add);
  }

  /** A list of parts: add, remove, order. */
  private parts(schema: Schema, path: Path): HTMLElement {
    const items = schema.items ?? {};
    const list = this.store.get(path);
    const values = Array.isArray(list) ? list : [];
    const rows = values.map((_, i) => {
      const here = [...path, i];
      const inner = this.schemas.kind(items) === "kinds" ? this.part(items, here, "", false) : this.table(this.schemas.resolved(items), here);
      const move = (by: number): void => {
        const next = [...values];
        [next[i], next[i + by]] = [next[i + by], next[i]];
        this.store.edit(path, next, true);
      };
      const buttons = el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", class: "quiet", disabled: i === 0, "aria-label": TEXTS.up, click: () => move(-1) }, "↑"),
        el("button", { type: "button", class: "quiet", disabled: i === values.length - 1, "aria-label": TEXTS.down, click: () => move(1) }, "↓"),
        el("button", { type: "button", class: "quiet", click: () => this.store.edit(here, undefined, true) }, TEXTS.remove),
      );
      return el("div", { class: "item" }, inner, buttons);
    });
    const more = (): void => {
      const { tables } = this.schemas.kinds(items);
      const [kind, name] = [this.schemas.nameOf(items), Object.keys(tables)[0] ?? null];
      const place = [...path, values.length];
      if (name !== null && kind) void this.server.choose(kind, name, place);
      else if (fieldName(path) === "switches") void this.server.choose("switches", null, place);
      else this.store.edit(path, [...values, this.schemas.first(Object.values(tables)[0] ?? this.schemas.resolved(items))], true);
    };
    const add = el("button", { type: "button", class: "quiet", click: more }, TEXTS.add);
    return el("div", {}, ...rows, add);
  }

  /** One part for all joints, one per joint, none, or the robot's own. */
  private perJoint(schema: Schema, path: Path): HTMLElement {
    const one = (schema.anyOf ?? []).find((s) => this.schemas.kind(s) === "kinds") ?? {};
    const value = this.store.get(path);
    const { key } = this.schemas.kinds(one);
    const mode = value === undefined ? "own" : value === "none" ? "none" : isTable(value) && key in value ? "all" : "each";
    const choose = el("select", {
      "aria-label": fieldName(path),
      change: async (event: Event) => {
        const wanted = (event.target as HTMLSelectElement).value;
        if (wanted === "own" || wanted === "none") return this.store.edit(path, wanted === "own" ? undefined : "none", true);
        const made = (await this.server.firstOf(this.schemas.nameOf(one), Object.keys(this.schemas.kinds(one).tables)[0] ?? "", path)) ?? {};
        this.store.edit(path, wanted === "all" ? made : Object.fromEntries(this.joints().map(({ name }) => [name, made])), true);
      },
    });
    for (const [name, words] of Object.entries(TEXTS.eachJoint)) choose.append(el("option", { value: name, selected: name === mode }, words));
    if (mode === "all") return el("div", {}, choose, this.part(one, path, "", false));
    if (mode !== "each") return el("div", {}, choose);
    const names = this.joints().map(({ name }, i) => (isTable(value) ? name : i));
    const inner = names.map((name, i) => el("fieldset", { class: "group" }, el("legend", {}, this.joints()[i].name), this.part(one, [...path, name])));
    return el("div", {}, choose, ...inner);
  }

  private input(kind: string, schema: Schema, path: Path, id: string, words: string, unit: string): HTMLElement {
    const value = this.store.get(path);
    const shared = { id, "data-path": fieldName(path), placeholder: schema.default === undefined ? "" : written(schema.default) };
    const set = (text: string, read: (text: string) => Json | undefined): void => this.store.edit(path, text.trim() ? read(text) : undefined);
    if (kind === "choice") {
      const choices = schema.enum ?? (schema.anyOf ?? []).flatMap((s) => s.enum ?? []);
      const box = el("select", { ...shared, change: (e: Event) => this.store.edit(path, (e.target as HTMLSelectElement).value || undefined) });
      box.append(el("option", { value: "" }, schema.default === undefined ? TEXTS.unset : `${String(schema.default).replaceAll("_", " ")} (${TEXTS.usual})`), ...choices.map((c) => el("option", { value: String(c), selected: c === value }, String(c).replaceAll("_", " "))));
      return box;
    }
    if (kind === "flag") {
      const box = el("input", { ...shared, type: "checkbox", change: (e: Event) => this.store.edit(path, (e.target as HTMLInputElement).checked) });
      box.checked = value === true || (value === undefined && schema.default === true);
      return box;
    }
    if (kind === "rows" || kind === "texts" || kind === "named" || kind === "raw") return this.area(kind, path, shared, set);
    const read = kind === "each" ? parsedEach : kind === "list" ? parsedList : kind === "text" ? (text: string) => text : parsed;
    const box = el("input", { ...shared, type: "text", autocomplete: "off", spellcheck: "false", input: (e: Event) => set((e.target as HTMLInputElement).value, read) });
    box.value = typeof value === "number" ? easy(value, unit) : written(value);
    if ((kind !== "number" && kind !== "each") || typeof value !== "number") return box;
    return el("span", { class: "slid" }, box, this.slider(path, schema, value, box, words, unit));
  }

  private slider(path: Path, schema: Schema, value: number, box: HTMLInputElement, words: string, unit: string): HTMLElement {
    const { least, most } = this.schemas.bounds(schema);
    const scale = scaleAround(value, least, most);
    const say = (number: number): void => made.setAttribute("aria-valuetext", `${written(number)} ${unit}`.trim()); // not where the slider stands
    const made = el("input", {
      type: "range", min: 0, max: 1000, step: 1, class: "slider", "data-path": fieldName(path), "aria-label": `${fieldName(path)} ${words}`,
      input: (e: Event) => {
        const next = fromSlider(scale, Number((e.target as HTMLInputElement).value));
        box.value = written(next);
        say(next);
        this.store.edit(path, next);
      },
    }); // prettier-ignore
    made.value = String(toSlider(scale, value));
    say(value);
    box.addEventListener("input", () => {
      const typed = parsed(box.value);
      if (typeof typed !== "number") return;
      made.value = String(toSlider(scale, typed));
      say(typed);
    });
    return made;
  }

  private area(kind: string, path: Path, shared: Record<string, string>, set: (text: string, read: (text: string) => Json | undefined) => void): HTMLElement {
    const value = this.store.get(path);
    const lines = kind === "named" && isTable(value) ? Object.entries(value).map(([k, v]) => `${k} = ${written(v)}`) : null;
    const read = (text: string): Json | undefined => {
      if (kind === "rows") return parsedRows(text);
      if (kind === "texts") return text.split("\n").filter((line) => line.trim());
      if (kind === "named") {
        const pairs = text.split("\n").filter((line) => line.includes("="));
        return Object.fromEntries(pairs.map((line) => [line.slice(0, line.indexOf("=")).trim(), parsedEach(line.slice(line.indexOf("=") + 1)) ?? ""]));
      }
      try {
        return JSON.parse(text) as Json;
      } catch {
        return text;
      }
    };
    const box = el("textarea", { ...shared, ...(kind === "named" ? { placeholder: TEXTS.namedHint } : {}), rows: 2, spellcheck: "false", input: (e: Event) => set((e.target as HTMLTextAreaElement).value, read) });
    box.value = lines ? lines.join("\n") : kind === "texts" && Array.isArray(value) ? value.map((v) => written(v)).join("\n") : written(value);
    box.rows = Math.min(8, Math.max(2, box.value.split("\n").length));
    return box;
  }

  /** The sentence about this field, when it is the one that is wrong. */
  private wrong(path: Path, leaf = false): HTMLElement {
    const name = fieldName(path);
    const place = el("p", { class: "wrong", role: "alert" });
    const stop = effect(() => {
      const told = this.store.problem.value;
      const field = told?.field?.split(",")[0] ?? "";
      const inside = field.startsWith(`${name}[`) || (leaf && field.startsWith(`${name}.`)); // one box may stand for a table
      const here = field === name || field === `${name}_deg` || inside;
      place.textContent = here && told ? (told.problem ?? told.message) : "";
      const row = place.parentElement;
      row?.classList.toggle("bad", here);
      if (leaf) row?.querySelectorAll("input:not([type=range]),textarea,select").forEach((box) => box.setAttribute("aria-invalid", String(here)));
      if (!place.isConnected && place.dataset.seen) stop();
      if (place.isConnected) place.dataset.seen = "1";
    });
    return place;
  }
}

/** Task, control and run settings: every field of a scenario that the server declares, sorted by what it is about. */
import { el } from "../dom";
import { shown } from "../numbers";
import { ask } from "./client";
import type { Forms } from "./form";
import type { Schema, Schemas } from "./schema";
import type { Studio } from "./studio";
import { TEXTS } from "../texts";

/** Where a field of a scenario is shown; what is not listed here is under "control". */
const PLACES: Record<string, readonly string[]> = {
  task: ["kind", "reference", "q0", "q0_deg", "qd0", "qd0_deg", "duration", "start", "ik_solution", "program", "gain"],
  run: ["step", "sample", "integrator", "tolerance", "verify", "stop_at_limits", "limits", "name", "description", "vary", "parameters", "constants"],
  control: ["controller", "control_period", "tasks", "criteria", "friction", "drives", "contacts", "disturbances", "noise", "actuator"],
  never: ["robot", "format", "elbow", "torques"],
}; // prettier-ignore
/** Settings that few runs need stand behind a fold until they are stated. */
const RARE = ["qd0", "start", "ik_solution", "gain", "control_period", "bounds", "model", "encoder", "actuator", "noise", "switches", "base_motion", "description", "vary", "parameters", "constants"];

export function fieldsOf(schemas: Schemas, document: Record<string, unknown>): Record<string, Schema> {
  const programmed = document["kind"] === "programmed" || (document["kind"] === undefined && document["program"] !== undefined);
  const whole = programmed ? schemas.root.then : schemas.root.else;
  const fields = { ...(whole?.properties ?? {}) };
  const other = programmed ? schemas.root.else : schemas.root.then;
  if (fields["kind"]) {
    const kinds = [...(schemas.root.else?.properties?.["kind"]?.enum ?? []), ...(schemas.root.then?.properties?.["kind"]?.enum ?? [])];
    fields["kind"] = { ...fields["kind"], enum: [...new Set(kinds)] };
  }
  if (other?.properties?.["program"] && document["kind"] === "programmed") fields["program"] = other.properties["program"];
  return fields;
}

export function panelOf(studio: Studio, forms: Forms, schemas: Schemas, panel: "task" | "control" | "run"): HTMLElement {
  const document = studio.store.document.value;
  const fields = fieldsOf(schemas, document);
  const wanted = Object.entries(fields).filter(([name]) => {
    if (PLACES["never"]?.includes(name)) return false;
    const place = Object.keys(PLACES).find((key) => PLACES[key]?.includes(name)) ?? "control";
    return place === panel;
  });
  const order = PLACES[panel] ?? [];
  wanted.sort(([a], [b]) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
  const box = el("div", { class: "panel fields" });
  const more = el("div", { class: "fields" });
  if (panel === "task") {
    const reach = el("p", { class: "wrong", role: "status" });
    studio.follow(() => {
      reach.textContent = studio.path.reach.value ? `${TEXTS.unreachable}: ${studio.path.reach.value}` : "";
    });
    box.append(reach);
    const key = el("p", { class: "words pathkey" }, `${TEXTS.pathKey} `, el("i", { class: "ramp", role: "img", "aria-label": TEXTS.pathRamp }));
    studio.follow(() => {
      key.hidden = !studio.path.coloured.value;
    });
    box.append(key);
    if (document["program"] !== undefined) box.append(residuals(studio));
  }
  for (const [name, schema] of wanted) {
    if (name.endsWith("_deg") && !(name in document)) continue;
    if (`${name}_deg` in document) continue;
    (RARE.includes(name) && !(name in document) ? more : box).append(name === "kind" ? kindField(studio, schema) : forms.field(name, schema, [name]));
  }
  if (more.childElementCount) box.append(el("details", { class: "more" }, el("summary", {}, TEXTS.more), more));
  return box;
}

/** Another kind of run has other settings: those that do not act in it are taken out. */
function kindField(studio: Studio, schema: Schema): HTMLElement {
  const current = String(studio.store.get(["kind"]) ?? "auto");
  const choose = el("select", {
    id: "kind",
    change: (e: Event) => {
      const wanted = (e.target as HTMLSelectElement).value;
      const before = studio.store.document.value;
      const allowed = studio.hello.kinds[wanted]?.settings;
      const kept = Object.entries(before).filter(([key]) => !allowed || allowed.includes(key.replace(/_deg$/, "")) || ["format", "description", "constants"].includes(key));
      const next = Object.fromEntries(kept.filter(([key]) => key !== "kind"));
      if (wanted === "programmed") studio.replace({ ...pick(before, ["format", "name", "robot", "q0", "q0_deg", "duration"]), kind: wanted, program: { constraints: ["x = 0.5"] } });
      else studio.replace({ ...next, ...(wanted === "auto" ? {} : { kind: wanted }) });
    },
  });
  for (const kind of schema.enum ?? []) choose.append(el("option", { value: String(kind), selected: kind === current, title: studio.hello.kinds[String(kind)]?.what ?? "" }, String(kind).replaceAll("_", " ")));
  const what = studio.hello.kinds[current]?.what ?? "";
  return el("div", { class: "row choice" }, el("label", { class: "field", for: "kind" }, el("span", { class: "name" }, TEXTS.kind)), choose, el("p", { class: "words" }, what));
}

const pick = <T>(table: Record<string, T>, keys: readonly string[]): Record<string, T> => Object.fromEntries(keys.filter((k) => k in table).map((k) => [k, table[k] as T]));

/** The programmed constraints with their values at the posture that is shown. */
function residuals(studio: Studio): HTMLElement {
  const list = el("ul", { class: "doctor", "aria-label": TEXTS.residual });
  let asked = 0;
  studio.follow(() => {
    const [document, q] = [studio.store.document.value, studio.posture.value];
    const mine = ++asked;
    setTimeout(async () => {
      if (mine !== asked) return;
      try {
        const { constraints } = await ask("residual", { document, q });
        if (mine === asked) list.replaceChildren(...constraints.map((c) => el("li", {}, c.equation, el("span", { class: "unit" }, c.value === null ? "" : `${TEXTS.residual}: ${shown(c.value, 3)}`))));
      } catch {
        list.replaceChildren();
      }
    }, 150);
  });
  return list;
}

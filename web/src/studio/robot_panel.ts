/** Robot: choose, open, edit; the doctor beside it; joints by slider. */
import { el } from "../dom";
import { briefly } from "../names";
import { decimalsFor, fixed } from "../numbers";
import { ask } from "./client";
import * as THREE from "three";
import { built } from "./dh_construction";
import { DhTable, hasDhRows, ROWS } from "./dh_table";
import { parsedList, written } from "./entry";
import type { Forms } from "./form";
import type { Schemas } from "./schema";
import type { Studio } from "./studio";
import { isTable, type Table } from "./store";
import { TEXTS } from "../texts";

const MOST_LINKS = 64; // of the quick form

export function robotPanel(studio: Studio, forms: Forms, schemas: Schemas): HTMLElement {
  const { store } = studio;
  const robot = store.get(["robot"]);
  const named = typeof robot === "string" ? robot : "";
  const choose = el("select", {
    id: "catalogue",
    "aria-label": TEXTS.catalogue,
    change: async (e: Event) => studio.open(async () => (await ask("new", { robot: (e.target as HTMLSelectElement).value })).document),
  });
  choose.append(el("option", { value: "", disabled: true, selected: !named }, TEXTS.ownRobot));
  for (const entry of studio.hello.catalog) choose.append(el("option", { value: entry.name, selected: entry.name === named, title: entry.description }, `${entry.name} (${entry.n})`));
  const panel = el("div", { class: "panel" }, el("label", { class: "row" }, el("span", { class: "name" }, TEXTS.catalogue), choose), planarForm(studio));
  const entry = studio.hello.catalog.find((e) => e.name === named);
  if (entry) panel.append(el("p", { class: "words" }, entry.description), el("p", { class: "source" }, entry.source));
  if (!hasDhRows(robot)) {
    const as = (convention: string): HTMLElement =>
      el("button", { type: "button", class: "quiet", click: () => studio.change(async () => (await ask("as_dh", { document: store.document.value, convention })).document) }, `${TEXTS.asTable} (${convention})`);
    panel.append(el("div", { class: "buttons" }, as(TEXTS.standard), as(TEXTS.modified)));
  } else panel.append(new DhTable(store, forms, schemas.resolved({ $ref: "#/$defs/dh_row" }), (row) => studio.select(row)).draw(), construction(studio));
  panel.append(freeNumbers(studio, forms, schemas), doctorList(studio), ...(entry ? [] : [notes(studio)]), jointSliders(studio));
  if (isTable(robot)) {
    const whole = schemas.resolved({ $ref: "#/$defs/robot" });
    const form = (whole.oneOf ?? []).find((one) => Object.keys(one.properties ?? {}).some((key) => ["link", "dh", "planar"].includes(key) && key in robot));
    if (form) panel.append(el("details", { class: "more" }, el("summary", {}, TEXTS.more), forms.table(form, ["robot"], ["dh"])));
  }
  return panel;
}

function planarForm(studio: Studio): HTMLElement {
  const box = (label: string, value: string): HTMLInputElement => {
    const made = el("input", { type: "text", "aria-label": label, autocomplete: "off" });
    made.value = value;
    return made;
  };
  const [count, lengths, masses] = [box(TEXTS.linksOf, "2"), box(TEXTS.lengthsOf, "0.4, 0.3"), box(TEXTS.massesOf, "2, 1.5")];
  count.inputMode = "numeric";
  /** As many entries as there are links; the last one is repeated. */
  count.addEventListener("input", () => {
    const n = Number(count.value);
    if (!Number.isInteger(n) || n < 1 || n > MOST_LINKS) return;
    for (const list of [lengths, masses]) {
      const given = parsedList(list.value);
      list.value = written(Array.from({ length: n }, (_, k) => given[Math.min(k, given.length - 1)] ?? 1));
    }
  });
  const make = (): void => {
    const n = Number(count.value);
    if (!Number.isInteger(n) || n < 1 || n > MOST_LINKS) return void (studio.message.value = TEXTS.howManyLinks(MOST_LINKS, count.value));
    studio.message.value = "";
    const planar = { lengths: parsedList(lengths.value), masses: parsedList(masses.value) };
    studio.replace({ format: 1, name: "planar arm", robot: { name: "planar", planar }, duration: 2 });
  };
  return el(
    "details",
    { class: "more" },
    el("summary", {}, TEXTS.planar),
    el("p", { class: "words" }, TEXTS.planarHint),
    el("label", { class: "row" }, el("span", { class: "name" }, TEXTS.links), count),
    el("label", { class: "row list" }, el("span", { class: "name" }, TEXTS.lengths, el("span", { class: "unit" }, "m")), lengths),
    el("label", { class: "row list" }, el("span", { class: "name" }, TEXTS.masses, el("span", { class: "unit" }, "kg")), masses),
    el("button", { type: "button", id: "make-planar", click: make }, TEXTS.makePlanar),
  );
}

/** Values of numbers that the arm leaves open; there where it has such numbers. */
function freeNumbers(studio: Studio, forms: Forms, schemas: Schemas): HTMLElement {
  const field = schemas.root.else?.properties?.["parameters"];
  const box = el("div", { class: "fields", id: "free-numbers" }, field ? forms.field("parameters", field, ["parameters"]) : null);
  studio.follow(() => {
    const asked = studio.store.problem.value?.field?.startsWith("parameters") ?? false;
    box.hidden = !asked && studio.store.document.value["parameters"] === undefined;
  });
  return box;
}

function doctorList(studio: Studio): HTMLElement {
  const list = el("ul", { class: "doctor", "aria-label": TEXTS.doctor });
  studio.follow(() => {
    const findings = studio.robot.value?.doctor.findings.filter((f) => f.severity !== "info") ?? [];
    list.replaceChildren(
      ...findings.map((f) =>
        el("li", { class: f.severity }, el("button", { type: "button", class: "plain", title: f.advice, click: () => f.body !== null && studio.select(f.body) }, el("b", {}, TEXTS.severity[f.severity] ?? f.severity), ` ${f.sentence}`)),
      ),
    );
    if (!findings.length && studio.robot.value) list.append(el("li", { class: "fine" }, TEXTS.doctorFine));
  });
  return list;
}

/** What the reader of the file did with it, and what it left out. */
function notes(studio: Studio): HTMLElement {
  const box = el("details", { class: "more", id: "notes", open: true });
  studio.follow(() => {
    const told = studio.robot.value?.robot.notes ?? [];
    box.hidden = !told.length;
    box.replaceChildren(el("summary", {}, TEXTS.notes), el("ul", { class: "notes" }, ...told.map((note) => el("li", {}, note))));
  });
  return box;
}

/** One slider per joint, within its limits; degrees for those that turn. */
function jointSliders(studio: Studio): HTMLElement {
  const box = el("fieldset", { class: "group joints" }, el("legend", {}, TEXTS.joints));
  const start = el("button", { type: "button", class: "quiet", click: () => studio.posing.startHere() }, TEXTS.startHere);
  studio.follow(() => {
    const seen = studio.robot.value?.robot;
    box.replaceChildren(el("legend", {}, TEXTS.joints));
    box.hidden = !seen;
    if (!seen) return;
    const size = seen.drawn?.page.robots[0]?.size ?? 1;
    const names = briefly(seen.joints.slice(0, seen.n).map((joint) => joint.name));
    seen.joints.slice(0, seen.n).forEach((joint, i) => {
      const turns = joint.kind === "revolute";
      const most = turns ? Math.PI : size;
      const [low, high] = [joint.lower ?? Math.min(-most, (joint.upper ?? 0) - most), joint.upper ?? Math.max(most, (joint.lower ?? 0) + most)];
      const shown = el("output", {});
      const range = el("input", {
        type: "range", min: low, max: high, step: (high - low) / 1000, "aria-label": joint.name, "data-joint": i,
        input: (e: Event) => studio.posing.pose(i, Number((e.target as HTMLInputElement).value)),
      }); // prettier-ignore
      studio.follow(() => {
        const value = studio.posture.value[i] ?? 0;
        if (document.activeElement !== range || !range.matches(":active")) range.value = String(value);
        shown.textContent = turns ? `${fixed((value * 180) / Math.PI, 1)}°` : `${fixed(value, decimalsFor(size))} m`;
        range.setAttribute("aria-valuetext", shown.textContent);
      });
      box.append(el("label", { class: "joint", "data-row": i, pointerenter: () => studio.select(i), pointerleave: () => studio.select(null) }, el("span", { class: `chip j${(i % 8) + 1}` }), el("span", { class: "name", title: joint.name }, names[i]), range, shown));
    });
    box.append(start, studio.posing.posturesList());
  });
  return box;
}

/** A slider through the turns and shifts of the table, with the frames that they make. */
function construction(studio: Studio): HTMLElement {
  const rows = studio.store.get(ROWS) as Table[];
  const convention = String(studio.store.get(["robot", "dh", "convention"]) ?? "");
  const words = el("output", { class: "words" }, TEXTS.buildHint);
  const range = el("input", { type: "range", min: 0, max: 4 * rows.length, step: 1, value: 0, id: "construction", "aria-label": TEXTS.build, input: () => show() });
  const show = (): void => {
    const { stage } = studio.view;
    const X = studio.robot.value?.robot.drawn?.page.robots[0]?.base;
    if (!stage || !X) return;
    const base = new THREE.Matrix4().set(X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11], 0, 0, 0, 1);
    const steps = Number(range.value) ? built(rows, convention, studio.posture.value, base, Number(range.value)) : null;
    words.textContent = steps ? TEXTS.buildStep(steps.joint, steps.name, fixed(steps.value)) : Number(range.value) ? TEXTS.onlyNumbers : TEXTS.buildHint;
    range.setAttribute("aria-valuetext", words.textContent ?? "");
    studio.overlay.construct(stage, steps);
  };
  studio.atEnd(() => studio.overlay.construct(studio.view.stage, null)); // another table, robot or panel has no such frames
  return el("label", { class: "row list" }, el("span", { class: "name" }, TEXTS.build), range, words);
}

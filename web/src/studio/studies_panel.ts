/** Studies: which there are, two of their columns against each other, any run of them on the stage. */
import { el } from "../dom";
import { shown } from "../numbers";
import { Scatter, type Column } from "../scatter";
import { TEXTS, texts } from "../texts";
import { ask, onlyTheLast, said } from "./client";
import type { Studio } from "./studio";
import type { StudyEntry, StudyTable } from "./wire";

export function studiesPanel(studio: Studio): HTMLElement {
  const list = el("div", { class: "studies" }, el("p", { class: "words" }, TEXTS.looking));
  const table = el("div", { class: "study" });
  const opens = onlyTheLast();
  const open = async (name: string, x: string | null = null, y: string | null = null): Promise<void> => {
    const isLast = opens();
    try {
      const found = await ask("study", { name, x, y });
      if (isLast()) table.replaceChildren(...shownStudy(studio, found, (nx, ny) => void open(name, nx, ny)));
    } catch (error) {
      table.replaceChildren(el("p", { class: "wrong", role: "alert" }, said(error)));
    }
  };
  const look = async (): Promise<void> => {
    try {
      const { folder, studies } = await ask("studies", {});
      list.replaceChildren(...(studies.length ? studies.map((s) => entry(s, () => void open(s.name))) : [el("p", { class: "words" }, TEXTS.noStudies(folder)), el("pre", {}, TEXTS.makeStudy)]));
      if (studies.length === 1 && !studies[0].problem) void open(studies[0].name);
    } catch (error) {
      list.replaceChildren(el("p", { class: "wrong", role: "alert" }, said(error)));
    }
  };
  void look();
  return el("div", { class: "panel" }, list, table);
}

function entry(study: StudyEntry, open: () => void): HTMLElement {
  const how = Object.entries(study.statuses).map(([name, count]) => `${name} ${count}`).join(", ");
  const words = study.problem ?? [TEXTS.runsDone(study.done, study.runs), how, study.varied.length ? TEXTS.varies(study.varied.join(", ")) : ""].filter((w) => w).join(" · ");
  return el("div", { class: "item" }, el("button", { type: "button", "data-study": study.name, disabled: study.problem !== undefined, click: open }, study.name), el("p", { class: study.problem ? "wrong" : "words" }, words));
}

function shownStudy(studio: Studio, found: StudyTable, redraw: (x: string, y: string) => void): Node[] {
  const row = el("dl", { class: "cards" });
  const choose = (label: string, current: string, changed: (name: string) => void): HTMLElement => {
    const box = el("select", { "aria-label": label, change: () => changed(box.value) });
    for (const c of found.columns) box.append(el("option", { value: c.name, selected: c.name === current, title: c.meaning }, c.unit && c.unit !== "1" ? `${c.name} [${c.unit}]` : c.name));
    return el("label", { class: "row brief" }, el("span", { class: "name" }, label), box);
  };
  const opens = onlyTheLast();
  const run = async (number: number): Promise<void> => {
    const isLast = opens();
    try {
      const { document, row: values } = await ask("study_run", { name: found.name, run: number });
      if (!isLast()) return;
      const told = Object.entries(values).filter(([, v]) => v !== null && v !== "");
      row.replaceChildren(...told.map(([name, v]) => el("div", {}, el("dt", {}, name), el("dd", {}, typeof v === "number" ? shown(v) : String(v), el("small", {}, ` ${unitOf(found, name)}`)))));
      studio.show(document);
      await studio.start();
    } catch (error) {
      studio.message.value = said(error);
    }
  };
  const number = el("input", { type: "text", inputmode: "numeric", "aria-label": TEXTS.runNumber, value: "0" });
  const go = el("button", { type: "button", id: "open-run", click: () => void run(Number(number.value)) }, TEXTS.openRun);
  const canvas = el("canvas", { class: "cloud", tabindex: 0, role: "img", "aria-label": `${TEXTS.scatter(found.y, found.x)} ${texts.study.points}` });
  studio.cloud = new Scatter(canvas, axesOf(found), (point) => {
    const chosen = found.points[point].run;
    number.value = String(chosen);
    void run(chosen);
  });
  return [
    el("h2", {}, found.name),
    choose(TEXTS.across, found.x, (name) => redraw(name, found.y)),
    choose(TEXTS.up_, found.y, (name) => redraw(found.x, name)),
    canvas,
    el("p", { class: "words" }, found.points.length ? TEXTS.scatterHint(found.points.length, found.thinned) : TEXTS.noRows),
    el("div", { class: "buttons" }, number, go),
    row,
  ];
}

/** The points as columns of a cloud; coloured by how their runs ended, where these differ. */
function axesOf(found: StudyTable): { x: Column; y: Column; c: Column | null } {
  const of = (name: string, values: (number | null)[]): Column => ({ name, unit: unitOf(found, name), meaning: "", role: "summary", values: Float64Array.from(values, (v) => v ?? NaN) });
  const words = [...new Set(found.points.map((p) => p.status))];
  const ended: Column = { ...of("status", found.points.map((p) => words.indexOf(p.status))), words };
  return { x: of(found.x, found.points.map((p) => p.x)), y: of(found.y, found.points.map((p) => p.y)), c: words.length > 1 ? ended : null };
}

const unitOf = (found: StudyTable, name: string): string => (found.columns.find((c) => c.name === name)?.unit ?? "").replace(/^1$/, "");

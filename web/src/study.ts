/** A study in a page: the cloud of its runs, the numbers of one, and the arm as it moved in it. */
import { effect, signal } from "@preact/signals-core";
import type { ArrayId, Page } from "./document";
import { el } from "./dom";
import { RecordedEngine, type Run } from "./engine";
import { shown } from "./numbers";
import type { Arrays, Numbers } from "./packed";
import { PageEngine } from "./page_engine";
import { extent, ramp, Scatter, type Column } from "./scatter";
import { colour, colours } from "./palette";
import type { State } from "./state";
import { texts } from "./texts";

/** Runs of a study whose samples are in the file. */
export class StudyEngine extends RecordedEngine {
  override readonly changed = signal(false);
  private readonly first: Run;
  constructor(
    private readonly page: Page,
    arrays: Arrays,
  ) {
    super(page, arrays);
    this.first = this.runs.peek()[0];
  }

  /** Show a run; false when its samples are not here. */
  show(run: number): boolean {
    const study = this.page.study!;
    const found = study.series[String(run)];
    if (!found && run !== study.first) return false;
    this.changed.value = run !== study.first;
    const t = found ? this.arrays.column(found.t, 0) : this.first.t;
    const q = found ? this.first.q.map((_, i) => this.arrays.column(found.q, i)) : this.first.q;
    this.runs.value = [{ ...this.first, name: texts.study.run(run), t, q }];
    return true;
  }

  override values(array: ArrayId, column: number, run: number): Numbers {
    const { t, q } = this.page.runs[0];
    if (run === 0 && array === t) return this.runs.peek()[0].t;
    if (run === 0 && array === q) return this.runs.peek()[0].q[column];
    return super.values(array, column, run);
  }

  override current(array: ArrayId, run: number): boolean {
    const { t, q } = this.page.runs[0];
    return run !== 0 || !this.changed.peek() || array === t || array === q;
  }
}

export function studyPanel(panel: HTMLElement, state: State, arrays: Arrays): Scatter {
  const study = state.page.study!;
  const columns: Column[] = study.columns.map((c) => ({ ...c, values: arrays.column(c.values, 0) }));
  const runs = arrays.column(study.runs, 0);
  const named = (name: string) => columns.find((c) => c.name === name) ?? columns[0];
  const canvas = el("canvas", { class: "cloud", tabindex: 0, role: "img", "aria-label": texts.study.points });
  const said = el("p", { role: "status", "aria-live": "polite", class: "said" });
  const rows = columns.map((c) => {
    const value = el("td", {});
    return { c, value, row: el("tr", { title: c.meaning }, el("th", { scope: "row" }, c.name), value, el("td", {}, c.unit)) };
  });
  const head = el("caption", {});
  const key = el("div", { class: "ramp", "aria-hidden": "true" });
  const chooser = (label: string, chosen: string, none: boolean) => {
    const groups = (["varied", "summary"] as const).map((role) => el("optgroup", { label: role }, ...columns.filter((c) => c.role === role).map((c) => el("option", { value: c.name, selected: c.name === chosen }, c.name))));
    const select = el("select", { "aria-label": label, change: () => (scatter.axes.value = { x: named(across.value), y: named(up.value), c: hue.value ? named(hue.value) : null }) }, ...(none ? [el("option", { value: "" }, texts.study.plain)] : []), ...groups);
    return select;
  };
  const across = chooser(texts.study.across, study.across, false);
  const up = chooser(texts.study.up, study.up, false);
  const hue = chooser(texts.study.colour, study.colour, true);
  const scatter = new Scatter(canvas, { x: named(study.across), y: named(study.up), c: study.colour ? named(study.colour) : null }, (point) => void show(runs[point], point));
  const choices = el("div", { class: "choices" }, ...[[texts.study.up, up], [texts.study.across, across], [texts.study.colour, hue]].map(([word, select]) => el("label", {}, `${word as string} `, select as HTMLElement)), key);
  panel.replaceChildren(choices, el("div", { class: "cloud-place" }, canvas, el("div", { class: "numbers" }, el("table", {}, head, el("tbody", {}, ...rows.map((r) => r.row))))), said, el("p", { class: "hint" }, texts.study.hint + (runs.length < study.total ? ` ${texts.study.shown(runs.length, study.total)}` : "")));

  effect(() => {
    const point = scatter.hovered.value >= 0 ? scatter.hovered.value : scatter.chosen.value;
    head.textContent = point >= 0 ? texts.study.run(runs[point]) : "";
    for (const { c, value } of rows) value.textContent = point < 0 ? "" : c.words ? (c.words[c.values[point]] ?? "–") : shown(c.values[point]);
  });
  effect(() => {
    const { c } = scatter.axes.value;
    colours.value;
    key.replaceChildren(...(c ? legend(c) : []));
  });

  async function show(run: number, point: number): Promise<void> {
    const { engine } = state;
    if (engine instanceof PageEngine && study.live) {
      await Promise.all(study.live.map((path) => engine.set(path, named(path).values[point])));
      said.textContent = texts.study.computed(run, engine.last.peek().ms.toFixed(0));
    } else said.textContent = engine instanceof StudyEngine && engine.show(run) ? texts.study.recorded(run) : texts.study.absent(run, study.again);
    state.clock.set(state.clock.start.peek());
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) state.clock.play();
  }
  const first = runs.indexOf(study.first);
  if (first >= 0) scatter.chosen.value = first;
  Object.assign(window, { manipulaStudy: { study, runs, scatter, show: (run: number) => scatter.choose(runs.indexOf(run)) } });
  return scatter;
}

/** What the colours mean. */
function legend(c: Column): HTMLElement[] {
  if (c.words) return c.words.slice(0, 8).map((word, k) => el("span", { class: "item" }, el("i", { class: "chip", style: `--c:${colour(`j${(k % 8) + 1}`)}` }), word));
  const [low, high] = extent(c.values);
  const stops = [0, 0.2, 0.4, 0.6, 0.8, 1].map(ramp).join(",");
  return [el("span", {}, shown(low, 3)), el("i", { class: "bar", style: `background:linear-gradient(90deg,${stops})` }), el("span", {}, shown(high, 3)), el("span", {}, c.unit)];
}

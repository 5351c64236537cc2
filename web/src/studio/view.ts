/** The right side of the studio: the arm, the timeline and the charts, made by the same viewer as a report. */
import { batch } from "@preact/signals-core";
import { Stage } from "../arm";
import { Chart } from "../chart";
import type { ChartSpec, Page } from "../document";
import { el } from "../dom";
import { RecordedEngine, recordedRuns, type Run } from "../engine";
import { motionCard } from "../motion";
import { Arrays, unpacked } from "../packed";
import { State } from "../state";
import { TEXTS } from "../texts";
import type { Chunk } from "./client";
import { Grown, GrowingEngine, growingPage } from "./growing";
import type { Drawn, RunsDrawn } from "./wire";

/** Samples that come from the server: other numbers of the same run take the place of the old ones. */
export class ServerEngine extends RecordedEngine {
  private held: Arrays;
  constructor(page: Page, arrays: Arrays) {
    super(page, arrays);
    this.held = arrays;
  }

  override values(array: number, column: number, _run: number) {
    return this.held.column(array, column);
  }

  update(page: Page, arrays: Arrays): void {
    this.held = arrays;
    this.runs.value = recordedRuns(page, arrays);
  }

  set samples(runs: readonly Run[]) {
    this.runs.value = runs;
  }
}

const TOLD_MS = 120; // between pictures of a run that goes on

/** What of a page other numbers of the same run leave as it is; the room that a motion takes (low, high, size) is no part of it. */
const shapeOf = (page: Page): string =>
  JSON.stringify([
    page.joints,
    page.robots.map(({ low: _low, high: _high, size: _size, ...robot }) => robot),
    page.runs.map((r) => [r.robot, r.path]),
    page.charts.map((c: ChartSpec) => [c.id, c.title, c.axes.map((a) => [a.label, a.unit, a.log]), c.curves.map((k) => [k.name, k.y, k.t, k.x])]),
  ]);

/** Scales, limits and marks of the new numbers for a chart that stays. */
function renew(spec: ChartSpec, fresh: ChartSpec): void {
  spec.axes.forEach((axis, k) => Object.assign(axis, fresh.axes[k]));
  Object.assign(spec, { limits: fresh.limits ?? [], marks: fresh.marks ?? [] });
}

export class View {
  stage: Stage | null = null;
  state: State | null = null;
  private engine: ServerEngine | GrowingEngine | null = null;
  private grown: Grown | null = null; // samples of a run that goes on
  private told = 0;
  private last = 0;
  private shape = "";
  private readonly drawn: Chart[] = [];
  private readonly card = el("div", { class: "card player", id: "motion" });
  private readonly charts = el("div", { class: "charts", id: "charts" });

  constructor(
    private readonly host: HTMLElement,
    private readonly dragged: (stage: Stage) => void,
  ) {
    host.replaceChildren(el("div", { class: "stagebox" }, this.card), this.charts);
    this.still(true); // the places of arm and charts are there before they are
  }

  /** Show a page; the same kind of page with other numbers keeps zoom, moment and view. */
  async show(told: Drawn | RunsDrawn): Promise<void> {
    const drawn = told as { page: Page; arrays: string | Uint8Array };
    const arrays = await unpacked(drawn.page.arrays, drawn.arrays);
    const shape = shapeOf(drawn.page);
    if (shape === this.shape && this.engine instanceof ServerEngine && this.state) {
      const [t, engine] = [drawn.page.runs[0], this.engine];
      this.state.page.charts.forEach((spec, k) => renew(spec, drawn.page.charts[k]));
      this.stage?.widen(drawn.page.robots);
      batch(() => {
        engine.update(drawn.page, arrays);
        const times = arrays.column(t.t, 0);
        this.state!.clock.span(times[0], times[times.length - 1]);
      });
      return;
    }
    this.shape = shape;
    this.build(drawn.page, arrays);
  }

  private build(page: Page, arrays: Arrays, engine: ServerEngine | GrowingEngine = new ServerEngine(page, arrays)): void {
    const before = this.stage && this.state?.page.robots[0]?.name === page.robots[0]?.name ? this.stage : null;
    this.stage?.dispose();
    this.state?.dispose();
    this.engine = engine;
    this.last = 0;
    const state = new State(page, arrays, this.engine);
    this.state = state;
    this.card.parentElement?.querySelectorAll(":scope > .hint, :scope > .note").forEach((n) => n.remove());
    this.stage = page.robots.length ? motionCard(this.card, state) : null;
    if (before && this.stage) this.stage.lookAs(before);
    if (this.stage) this.dragged(this.stage);
    for (const chart of this.drawn.splice(0)) chart.dispose();
    const still = engine.runs.peek()[0].t.length < 2 && !page.charts.length; // the arm alone: it has all the room, and the place of the charts says how they come
    this.still(still);
    const figures = page.charts.map((spec) => el("figure", { class: `card chart${spec.small ? " small" : ""}`, id: spec.id, "aria-label": spec.title }));
    this.charts.append(...figures); // all of them first: their widths are then what they stay
    page.charts.forEach((spec, k) => this.drawn.push(new Chart(figures[k], spec, state)));
    if (engine instanceof GrowingEngine) this.charts.append(el("p", { class: "empty growing" }, TEXTS.growing));
    state.follow(() => {
      document.documentElement.dataset["moment"] = String(state.clock.shown.value);
    });
  }

  /** No arm can be shown. */
  clear(): void {
    this.stage?.dispose();
    this.state?.dispose();
    this.stage = this.state = this.engine = this.grown = null;
    this.shape = "";
    for (const chart of this.drawn.splice(0)) chart.dispose();
    this.card.parentElement?.querySelectorAll(":scope > .hint, :scope > .note").forEach((n) => n.remove());
    this.card.replaceChildren(el("p", { class: "empty", id: "no-arm" }, TEXTS.noArm));
    this.still(true);
    this.charts.replaceChildren(); // there is nothing to run
  }

  private still(on: boolean): void {
    this.host.classList.toggle("still", on);
    this.charts.replaceChildren(...(on ? [el("p", { class: "empty" }, TEXTS.noCharts)] : []));
  }

  /** A posture of the arm, when no run is shown. */
  posture(q: readonly number[]): void {
    const run = this.engine?.runs.peek()[0];
    if (!run || run.t.length !== 1 || run.q.length !== q.length || !this.stage) return; // the stage may still show another robot
    q.forEach((value, i) => (run.q[i][0] = value));
    this.state!.moved.value++;
  }

  /** Does it show a run that goes on? */
  get growing(): boolean {
    return this.engine instanceof GrowingEngine;
  }

  /** Does it show a run that is over? */
  get showsRun(): boolean {
    return !this.growing && (this.engine?.runs.peek()[0]?.t.length ?? 0) > 1;
  }

  get showsPosture(): boolean {
    return this.engine?.runs.peek()[0]?.t.length === 1;
  }

  /** A run while it is computed: the arm stands where the run is, its trace and the charts grow; `held`: later. */
  arriving(chunk: Chunk, n: number, held = false): void {
    if (!chunk.t.length || !this.stage || !this.state) return;
    if (chunk.first === 0 || !this.grown) this.grown = new Grown(n);
    this.grown.add(chunk);
    if (held || this.grown.length < 2) return;
    const now = performance.now();
    if (now - this.told < TOLD_MS) return;
    this.told = now;
    if (!(this.engine instanceof GrowingEngine)) {
      const page = growingPage(this.state.page, TEXTS.growingCharts);
      this.shape = "";
      this.build(page, this.state.arrays, new GrowingEngine(page, this.state.arrays, this.grown, n));
    }
    const [engine, { clock }] = [this.engine, this.state];
    if (!(engine instanceof GrowingEngine)) return;
    const times = this.grown.times();
    const follows = clock.now.peek() >= this.last && !clock.playing.peek(); // nobody has gone back to look at something
    this.last = times[times.length - 1];
    batch(() => {
      engine.tell();
      clock.span(0, chunk.until);
      if (follows) clock.set(this.last);
    });
  }
}

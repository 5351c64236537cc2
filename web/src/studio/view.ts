/** The right side of the studio: the arm, the timeline and the charts, made by the same viewer as a report. */
import { batch, effect } from "@preact/signals-core";
import { Stage } from "../arm";
import { Chart } from "../chart";
import type { ChartSpec, Page } from "../document";
import { el } from "../dom";
import { RecordedEngine, recordedRuns, type Run } from "../engine";
import { motionCard } from "../motion";
import { Arrays, unpacked } from "../packed";
import { State } from "../state";
import type { Chunk } from "./client";
import type { Drawn } from "./wire";

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

const shapeOf = (page: Page): string => JSON.stringify([page.joints, page.robots, page.runs.map((r) => [r.robot, r.path]), page.charts.map((c: ChartSpec) => [c.id, c.title, c.curves.map((k) => [k.name, k.y])])]);

export class View {
  stage: Stage | null = null;
  state: State | null = null;
  private engine: ServerEngine | null = null;
  private shape = "";
  private readonly drawn: Chart[] = [];
  private readonly card = el("div", { class: "card player", id: "motion" });
  private readonly charts = el("div", { class: "charts", id: "charts" });

  constructor(
    host: HTMLElement,
    private readonly dragged: (stage: Stage) => void,
  ) {
    host.replaceChildren(el("div", { class: "stagebox" }, this.card), this.charts);
  }

  /** Show a page; the same kind of page with other numbers keeps zoom, moment and view. */
  async show(told: Drawn): Promise<void> {
    const drawn = told as { page: Page; arrays: string };
    const arrays = await unpacked(drawn.page.arrays, drawn.arrays);
    const shape = shapeOf(drawn.page);
    if (shape === this.shape && this.engine && this.state) {
      const t = drawn.page.runs[0];
      batch(() => {
        this.engine!.update(drawn.page, arrays);
        const times = arrays.column(t.t, 0);
        this.state!.clock.span(times[0], times[times.length - 1]);
      });
      return;
    }
    this.shape = shape;
    this.build(drawn.page, arrays);
  }

  private build(page: Page, arrays: Arrays): void {
    const before = this.stage && this.state?.page.robots[0]?.name === page.robots[0]?.name ? this.stage : null;
    this.stage?.renderer.dispose();
    this.stage?.renderer.forceContextLoss();
    this.state?.clock.pause();
    this.engine = new ServerEngine(page, arrays);
    const state = new State(page, arrays, this.engine);
    this.state = state;
    this.card.parentElement?.querySelectorAll(":scope > .hint, :scope > .note").forEach((n) => n.remove());
    this.stage = page.robots.length ? motionCard(this.card, state) : null;
    if (before && this.stage) this.stage.lookAs(before);
    if (this.stage) this.dragged(this.stage);
    for (const chart of this.drawn.splice(0)) chart.dispose();
    this.charts.replaceChildren();
    for (const spec of page.charts) {
      const figure = el("figure", { class: `card chart${spec.small ? " small" : ""}`, id: spec.id, "aria-label": spec.title });
      this.charts.append(figure);
      this.drawn.push(new Chart(figure, spec, state));
    }
    effect(() => {
      document.documentElement.dataset["moment"] = String(state.clock.shown.value);
    });
  }

  /** A posture of the arm, when no run is shown. */
  posture(q: readonly number[]): void {
    const run = this.engine?.runs.peek()[0];
    if (!run || run.t.length !== 1 || run.q.length !== q.length || !this.stage) return; // the stage may still show another robot
    q.forEach((value, i) => (run.q[i][0] = value));
    this.state!.moved.value++;
  }

  get showsPosture(): boolean {
    return this.engine?.runs.peek()[0]?.t.length === 1;
  }

  /** The arm while a run is computed: it stands where the run is. */
  arriving(chunk: Chunk, n: number): void {
    const last = chunk.t.length - 1;
    if (last < 0 || !this.stage) return;
    this.posture(Array.from(chunk.q.subarray(last * n, (last + 1) * n)));
  }
}

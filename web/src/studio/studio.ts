/** The studio: the document, its robot, its runs, and how each follows from the others. */
import { effect, signal } from "@preact/signals-core";
import type { Scatter } from "../scatter";
import { TEXTS } from "../texts";
import { ask, contact, isOver, onlyTheLast, Refusal, said, watch } from "./client";
import { robotOf } from "./first";
import { Overlay } from "./overlay";
import { FollowedPath } from "./path";
import { Posing } from "./posing";
import type { Schemas } from "./schema";
import { Kept } from "./kept";
import { remember } from "./memory";
import { hasAnotherRobot, lookedAt, Store, type Table } from "./store";
import { View } from "./view";
import type { Card, Compared, Hello, LeftOut, RunsDrawn, Seen, Summary } from "./wire";

const SETTLE_MS = 120; // between the last change of a number and the question whether it is right
const SLOW_MS = 300; // from which on a verdict that is missing is told
const LIVE_MS = 3; // and a run, in live mode
const HELD_MS = 800; // while the same run is computed with other numbers

export class Studio {
  readonly store: Store;
  readonly robot = signal<Seen | null>(null);
  readonly posture = signal<readonly number[]>([]);
  readonly run = signal<Summary | null>(null);
  readonly kept = new Kept();
  readonly cards = signal<readonly Card[]>([]);
  readonly compared = signal<Compared | null>(null);
  readonly live = signal(true);
  readonly busy = signal("");
  readonly progress = signal<number | null>(null); // share of a run that is computed
  readonly paused = signal(false);
  readonly message = signal("");
  readonly charts = signal<readonly string[]>([]);
  readonly leftOut = signal<readonly LeftOut[]>([]); // charts that are chosen and that the run has nothing for
  readonly view: View;
  readonly overlay: Overlay;
  readonly posing: Posing;
  readonly path: FollowedPath;
  /** The points of the study that is shown, for people who script the page. */
  cloud: Scatter | null = null;
  private readonly effects: (() => void)[] = [];
  private robotText = "";
  private startText = "";
  private checking: AbortController | null = null;
  private timer = 0;
  private unwatch: (() => void) | null = null;
  private asking = false;
  private again = false;
  private readonly opens = onlyTheLast();
  private id: string; // of the server that answers
  private everRan = false;
  private ranText = ""; // the document of the last run

  constructor(
    readonly hello: Hello,
    first: Table,
    host: HTMLElement,
    schemas: Schemas,
  ) {
    this.id = hello.studio;
    this.store = new Store(first);
    this.overlay = new Overlay(this.store, schemas);
    this.charts.value = hello.usual_charts;
    this.posing = new Posing(this);
    this.path = new FollowedPath((followed) => this.overlay.set(this.view.stage, followed));
    this.view = new View(host, (stage) => this.posing.hold(stage));
    let begun = false;
    effect(() => {
      remember(this.id, this.store.document.value);
      clearTimeout(this.timer);
      const soon = this.live.peek() && this.everRan && this.store.problem.peek() === null;
      this.timer = window.setTimeout(() => void this.changed(), !begun ? 0 : soon ? LIVE_MS : SETTLE_MS);
      begun = true;
    });
    let lost = false;
    effect(() => {
      const now = contact.value !== "";
      if (lost && !now) void this.returned();
      lost = now;
    });
  }

  /** The studio answers again. Another one knows nothing of the runs of the first: the document stays, and can be run. */
  private async returned(): Promise<void> {
    try {
      const { studio } = await ask("hello", {});
      if (studio !== this.id) {
        this.id = studio;
        this.kept.runs.value = [];
        this.forget();
        this.message.value = TEXTS.anew;
        remember(this.id, this.store.document.value);
      }
      await this.changed();
    } catch (error) {
      this.tell(error);
    }
  }

  /** The run that is shown is no more. */
  private forget(): void {
    this.unwatch?.();
    this.idle();
    this.everRan = false;
    this.run.value = null;
    this.robotText = ""; // the arm is shown again
  }

  /** An effect that lives as long as the panel that is shown. */
  follow(work: () => void): void {
    this.effects.push(effect(work));
  }

  /** What is done when the panel that is shown goes. */
  atEnd(work: () => void): void {
    this.effects.push(work);
  }

  /** An effect that lives as long as the page. */
  readonly always = effect;

  endEffects(): void {
    for (const end of this.effects.splice(0)) end();
  }

  replace(document: Table): void {
    this.everRan = false;
    this.run.value = null;
    this.path.forget();
    this.robotText = ""; // the arm is shown again, even where it is the same one
    this.overlay.set(this.view.stage, null);
    this.store.replace(document);
  }

  /** Another document whose panel stays: a run of a study. */
  show(document: Table): void {
    this.replace(document);
    this.posture.value = [];
  }

  /** Another document from the server; what it refuses is told. */
  async open(make: () => Promise<Table>): Promise<void> {
    await this.taken(make, (document) => this.replace(document));
  }

  /** The same scenario written otherwise. */
  async change(make: () => Promise<Table>): Promise<void> {
    await this.taken(make, (document) => this.store.replace(document));
  }

  private async taken(make: () => Promise<Table>, take: (document: Table) => void): Promise<void> {
    const isLast = this.opens();
    await this.guarded(async () => {
      const document = await make();
      if (!isLast()) return; // another one was asked for meanwhile
      take(document);
      this.message.value = "";
    });
  }

  /** The document changed: is it right, has it another robot, does it run at once? */
  private async changed(): Promise<void> {
    const document = this.store.document.value;
    this.checking?.abort();
    const mine = new AbortController();
    this.checking = mine;
    try {
      const [robotText, startText] = lookedAt(document);
      const moved = startText !== this.startText && !this.run.value; // the arm that is shown stands where the run will begin
      if (robotText !== this.robotText || moved) await this.look(document, mine.signal);
      void this.path.follow(document);
      if (this.live.value && this.everRan && JSON.stringify(document) !== this.ranText) return await this.start();
      const answer = await ask("check", { document }, mine.signal);
      this.store.problem.value = answer.ok ? null : (answer.error ?? null);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      if (error instanceof Refusal && hasAnotherRobot(document, this.robot.value?.robot.name)) this.undraw();
      this.tell(error);
    }
  }

  /** Nothing is known of the robot yet that could be shown. */
  private undraw(): void {
    this.robot.value = null;
    this.posture.value = [];
    this.view.clear();
  }

  private tell(error: unknown): void {
    if (error instanceof Refusal) this.store.problem.value = error.told;
    else this.message.value = said(error);
  }

  private async look(document: Table, stop: AbortSignal): Promise<void> {
    const [robotText, startText] = lookedAt(document);
    const before = this.run.value?.id;
    const seen = await robotOf(document, stop);
    const stays = startText === this.startText && this.posture.value.length === seen.robot.n && this.robot.value?.robot.name === seen.robot.name;
    this.robotText = robotText;
    this.startText = startText;
    const begun = this.run.value !== null && this.run.value.id !== before; // meanwhile, with this document: its arm and curves stay
    if (!stays && !begun) this.posture.value = seen.robot.start;
    this.robot.value = seen;
    if (begun) return;
    const going = this.run.value !== null && !isOver(this.run.value); // its arm is the one that is watched
    if (seen.robot.drawn && (going || !this.run.value || !this.live.value)) {
      if (!going) this.run.value = null;
      await this.view.show(seen.robot.drawn);
      if (!going) this.view.posture(this.posture.value);
    }
  }

  /** Begin a run of the document as it is; in live mode the last change wins. */
  async start(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.everRan = true;
    try {
      do {
        this.again = false;
        const document = this.store.document.value;
        this.ranText = JSON.stringify(document);
        const running = this.run.value;
        this.unwatch?.();
        const beside = this.kept.beside({ id: "", n: this.robot.value?.robot.n });
        const { drawn, ...begun } = await ask("run", { document, replaces: running && !isOver(running) ? running.id : null, beside, charts: this.charts.value });
        this.store.problem.value = null;
        this.message.value = "";
        history.replaceState(null, "", `#${begun.id}`); // one entry for all runs: Back leaves the studio
        if (drawn) await this.seen(begun, drawn, beside);
        else if (isOver(begun)) await this.ended(begun);
        else this.await_(begun);
      } while (this.again);
    } catch (error) {
      this.tell(error);
    } finally {
      this.asking = false;
    }
  }

  private await_(begun: Summary): void {
    const drawn = this.robot.value?.robot.drawn;
    let held = this.run.value !== null && this.view.showsRun ? performance.now() + HELD_MS : 0; // until then its curves, or those of before, stay
    if (!held && drawn) void this.view.show(drawn); // the arm alone; charts grow
    this.run.value = begun;
    this.cards.value = []; // those of another run
    this.compared.value = null;
    this.busy.value = TEXTS.states[begun.state] ?? begun.state;
    this.paused.value = begun.paused;
    let phase: string = begun.state;
    this.unwatch = watch(begun.id, {
      state: (state, paused) => {
        phase = state;
        this.paused.value = paused;
        if (state !== "integrating") this.progress.value = null;
        if (state !== "integrating" || !this.busy.value.includes("%")) this.busy.value = TEXTS.states[state] ?? state;
      },
      chunk: (chunk) => {
        if (phase === "integrating") {
          this.progress.value = (chunk.t.at(-1) ?? 0) / chunk.until;
          this.busy.value = `${TEXTS.states["integrating"]} ${Math.round(100 * this.progress.value)} %`;
        }
        if (held && performance.now() > held && drawn) void this.view.show(drawn), (held = 0);
        this.view.arriving(chunk, begun.n, held > 0);
      },
      over: (summary) => void this.ended(summary).catch((error) => this.tell(error)),
      gone: () => {
        this.forget();
        this.message.value = TEXTS.gone;
        void this.changed();
      },
    });
  }

  /** Curves come first; verdict and key numbers follow, unless another run begins meanwhile. */
  private async seen(begun: Summary, drawn: RunsDrawn, beside: readonly string[]): Promise<void> {
    this.idle();
    const judged: Summary = { ...begun, state: "evaluating" }; // until its numbers are there too, even where the verdict is known
    this.run.value = judged;
    this.leftOut.value = drawn.left_out;
    const shown = this.view.show(drawn);
    void this.judge(judged, beside).catch((error: unknown) => this.tell(error));
    await shown;
    this.posing.begin();
  }

  private async judge(begun: Summary, beside: readonly string[]): Promise<void> {
    const slow = setTimeout(() => this.run.value === begun && (this.busy.value = TEXTS.states[begun.state] ?? begun.state), SLOW_MS);
    const { summary, cards, compared } = await ask("judged", { run: begun.id, beside: [...beside] }).finally(() => clearTimeout(slow));
    if (this.run.value?.id !== begun.id) return;
    if (!isOver(summary)) return this.await_(summary); // that takes long: it is watched
    this.cards.value = cards[0] ?? [];
    this.compared.value = compared;
    await this.ended(summary, true);
    if (this.run.peek() === summary && this.kept.beside(summary).join() !== beside.join()) await this.showRuns(); // one was kept, or let go, meanwhile
  }

  private idle(): void {
    this.busy.value = "";
    this.progress.value = null;
    this.paused.value = false;
  }

  private turns = 0; // answers about runs that are drawn: only the last one counts

  private async ended(summary: Summary, shown = false): Promise<void> {
    this.idle();
    this.run.value = summary;
    if (summary.error) this.store.problem.value = summary.error;
    if (summary.state === "done" && !shown) await this.showRuns();
  }

  /** The run and those that are compared with it. */
  async showRuns(): Promise<void> {
    const now = this.run.value;
    if (!now || now.state !== "done") return;
    const ids = [now.id, ...this.kept.beside(now)];
    const turn = ++this.turns;
    const drawn = await ask("view", { ids, charts: this.charts.value });
    if (turn !== this.turns || this.run.value?.id !== now.id) return; // another run, or another choice of runs, meanwhile
    this.cards.value = drawn.cards[0] ?? [];
    this.compared.value = drawn.compared;
    this.leftOut.value = drawn.left_out;
    await this.view.show(drawn);
    this.posing.begin();
  }

  async stop(): Promise<void> {
    const now = this.run.value;
    await this.guarded(async () => {
      if (now && !isOver(now)) this.run.value = await ask("stop", { run: now.id });
      this.idle();
    });
  }

  /** Work whose refusal is told at the top of the panel. */
  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.message.value = said(error);
    }
  }

  /** Let the run stand still, or go on. */
  async pause(on: boolean): Promise<void> {
    const now = this.run.value;
    await this.guarded(async () => {
      if (now && !isOver(now)) this.paused.value = (await ask("pause", { run: now.id, paused: on })).paused;
    });
  }

  /** Keep the run that is shown, to see others beside it; or let it go. */
  async keep(id: string, kept: boolean): Promise<void> {
    await this.guarded(async () => {
      const why = await this.kept.set(this.id, id, kept);
      if (why) this.message.value = why;
      else await this.showRuns();
    });
  }

  /** A run that is known by its number, after a reload or a link. */
  async find(id: string): Promise<boolean> {
    try {
      const summary = await ask("status", { run: id });
      const { document } = await ask("document", { run: id });
      this.replace(document);
      this.everRan = true;
      this.ranText = JSON.stringify(document);
      await this.look(document, new AbortController().signal);
      if (isOver(summary)) await this.ended(summary);
      else this.await_(summary);
      return true;
    } catch {
      return false;
    }
  }

  /** Stand in a posture; the run gives way to the arm alone. */
  async stand(q: readonly number[]): Promise<void> {
    this.posture.value = q;
    const drawn = this.robot.value?.robot.drawn;
    if (!this.view.showsPosture && drawn) {
      this.run.value = null;
      await this.view.show(drawn);
    }
    this.view.posture(q);
  }

  /** The joint that is looked at, everywhere. */
  select(body: number | null): void {
    if (this.view.state) this.view.state.selected.value = body;
  }
}

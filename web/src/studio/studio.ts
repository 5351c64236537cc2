/** The studio: the document, its robot, its runs, and how each follows from the others. */
import { effect, signal } from "@preact/signals-core";
import type { Stage } from "../arm";
import { el } from "../dom";
import { ask, isOver, Refusal, watch, type Summary } from "./client";
import type { Entry, Finding } from "./robot_panel";
import { Store, type Table } from "./store";
import { TEXTS } from "./texts";
import { draggable, type Handle } from "./drag";
import { Overlay, type Followed } from "./overlay";
import type { Schemas } from "./schema";
import { View, type Drawn } from "./view";

export interface Hello {
  version: string;
  catalog: Entry[];
  kinds: Record<string, { what: string; needs: string; settings: string[] }>;
  levels: string[];
  formats: string[];
  charts: string[];
  usual_charts: string[];
  first: Table | null;
}
export interface Joint {
  name: string;
  kind: string;
  lower: number | null;
  upper: number | null;
}
export interface Seen {
  robot: { name: string; n: number; joints: Joint[]; frames: string[]; tip: string | null; start: number[]; drawn: Drawn | null };
  doctor: { findings: Finding[] };
}
interface Ik {
  q: number[] | null;
  postures: number[][];
  ok: boolean;
  reason: string;
}

const SETTLE_MS = 120; // between the last change of a number and the question whether it is right
const LIVE_MS = 12; // and a run, in live mode

export class Studio {
  readonly store: Store;
  readonly robot = signal<Seen | null>(null);
  readonly posture = signal<readonly number[]>([]);
  readonly run = signal<Summary | null>(null);
  readonly others = signal<readonly Summary[]>([]); // kept for comparison
  readonly cards = signal<readonly { title: string; value: string; unit: string; remark: string }[]>([]);
  readonly live = signal(true);
  readonly busy = signal("");
  readonly message = signal("");
  readonly charts = signal<readonly string[]>([]);
  readonly view: View;
  readonly overlay: Overlay;
  private pathText = "";
  private readonly effects: (() => void)[] = [];
  private robotText = "";
  private checking: AbortController | null = null;
  private timer = 0;
  private unwatch: (() => void) | null = null;
  private asking = false;
  private again = false;
  private everRan = false;
  private ranText = ""; // the document of the last run

  constructor(
    readonly hello: Hello,
    first: Table,
    host: HTMLElement,
    schemas: Schemas,
  ) {
    this.store = new Store(first);
    this.overlay = new Overlay(this.store, schemas);
    this.charts.value = hello.usual_charts;
    this.view = new View(host, (stage) => this.hold(stage));
    effect(() => {
      const document = this.store.document.value;
      localStorage.setItem("manipula.document", JSON.stringify(document));
      clearTimeout(this.timer);
      const soon = this.live.peek() && this.everRan && this.store.problem.peek() === null;
      this.timer = window.setTimeout(() => void this.changed(), soon ? LIVE_MS : SETTLE_MS);
    });
  }

  /** An effect that lives as long as the panel that is shown. */
  follow(work: () => void): void {
    this.effects.push(effect(work));
  }

  endEffects(): void {
    for (const end of this.effects.splice(0)) end();
  }

  replace(document: Table): void {
    this.everRan = false;
    this.run.value = null;
    this.store.replace(document);
  }

  /** Another document from the server; what it refuses is told. */
  async open(make: () => Promise<Table>): Promise<void> {
    try {
      const document = await make();
      this.replace(document);
      this.message.value = "";
    } catch (error) {
      this.message.value = said(error);
    }
  }

  /** The same scenario written otherwise. */
  async change(make: () => Promise<Table>): Promise<void> {
    try {
      this.store.replace(await make());
      this.message.value = "";
    } catch (error) {
      this.message.value = said(error);
    }
  }

  /** The document changed: is it right, has it another robot, does it run at once? */
  private async changed(): Promise<void> {
    const document = this.store.document.value;
    this.checking?.abort();
    const mine = new AbortController();
    this.checking = mine;
    try {
      const robotText = JSON.stringify([document["robot"], document["constants"]]);
      if (robotText !== this.robotText) await this.look(document, robotText, mine.signal);
      void this.followPath(document);
      if (this.live.value && this.everRan && JSON.stringify(document) !== this.ranText) return await this.start();
      const answer = await ask<{ ok: boolean; error?: Refusal["told"] }>("check", { document }, mine.signal);
      this.store.problem.value = answer.ok ? null : (answer.error ?? null);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      this.tell(error);
    }
  }

  /** The reference along its way: where the arm reaches it, and how well it can move there. */
  private async followPath(document: Table): Promise<void> {
    const text = JSON.stringify([document["reference"], document["robot"], document["constants"], document["q0"] ?? document["q0_deg"]]);
    if (text === this.pathText) return;
    this.pathText = text;
    if (document["reference"] === undefined) return this.overlay.set(this.view.stage, null);
    try {
      const followed = await ask<Followed>("path", { document });
      if (text === this.pathText) this.overlay.set(this.view.stage, followed);
      this.reach.value = followed.reason ?? "";
    } catch (error) {
      if (error instanceof Refusal) this.overlay.set(this.view.stage, null);
    }
  }

  /** Why the reference is not reached; empty where it is. */
  readonly reach = signal("");

  private tell(error: unknown): void {
    if (error instanceof Refusal) this.store.problem.value = error.told;
    else this.message.value = TEXTS.lost;
  }

  private async look(document: Table, text: string, stop: AbortSignal): Promise<void> {
    const seen = await ask<Seen>("robot", { document }, stop);
    this.robotText = text;
    const before = this.posture.value;
    this.posture.value = before.length === seen.robot.n && this.robot.value?.robot.name === seen.robot.name ? before : seen.robot.start;
    this.robot.value = seen;
    if (seen.robot.drawn && (!this.run.value || !this.live.value)) {
      this.run.value = null;
      await this.view.show(seen.robot.drawn);
      this.view.posture(this.posture.value);
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
        const begun = await ask<Summary>("run", { document, replaces: running && !isOver(running) ? running.id : null });
        this.store.problem.value = null;
        this.message.value = "";
        location.hash = begun.id;
        if (isOver(begun)) await this.ended(begun);
        else this.await_(begun);
      } while (this.again);
    } catch (error) {
      this.tell(error);
    } finally {
      this.asking = false;
    }
  }

  private await_(begun: Summary): void {
    this.run.value = begun;
    this.busy.value = begun.state;
    const drawn = this.robot.value?.robot.drawn;
    if (drawn) void this.view.show(drawn);
    this.unwatch = watch(begun.id, {
      state: (state) => (this.busy.value = state),
      chunk: (chunk) => {
        this.busy.value = `${TEXTS.states["integrating"]} ${Math.round((100 * (chunk.t.at(-1) ?? 0)) / chunk.until)} %`;
        this.view.arriving(chunk, begun.n);
      },
      over: (summary) => void this.ended(summary).catch((error) => this.tell(error)),
    });
  }

  private async ended(summary: Summary): Promise<void> {
    this.busy.value = "";
    this.run.value = summary;
    if (summary.error) this.store.problem.value = summary.error;
    if (summary.state === "done") await this.showRuns();
  }

  /** The run and those that are compared with it. */
  async showRuns(): Promise<void> {
    const now = this.run.value;
    if (!now || now.state !== "done") return;
    const ids = [now.id, ...this.others.value.filter((o) => o.id !== now.id && o.n === now.n).map((o) => o.id)];
    const drawn = await ask<Drawn & { cards: { title: string; value: string; unit: string; remark: string }[][] }>("view", { ids, charts: this.charts.value });
    this.cards.value = drawn.cards[0] ?? [];
    await this.view.show(drawn);
  }

  async stop(): Promise<void> {
    const now = this.run.value;
    if (now && !isOver(now)) this.run.value = await ask<Summary>("stop", { run: now.id });
    this.busy.value = "";
  }

  /** Keep the run that is shown, to see others beside it; or let it go. */
  async keep(id: string, kept: boolean): Promise<void> {
    const summary = await ask<Summary>("pin", { run: id, pinned: kept });
    this.others.value = kept ? [...this.others.value.filter((o) => o.id !== id), summary] : this.others.value.filter((o) => o.id !== id);
    await this.showRuns();
  }

  /** A run that is known by its number, after a reload or a link. */
  async find(id: string): Promise<boolean> {
    try {
      const summary = await ask<Summary>("status", { run: id });
      const { document } = await ask<{ document: Table }>("document", { run: id });
      this.replace(document);
      this.everRan = true;
      this.ranText = JSON.stringify(document);
      await this.look(document, JSON.stringify([document["robot"], document["constants"]]), new AbortController().signal);
      if (isOver(summary)) await this.ended(summary);
      else this.await_(summary);
      return true;
    } catch {
      return false;
    }
  }

  /** Where the tip is in the posture that is shown. */
  tip(): number[] {
    return this.view.stage?.tip()?.map((x) => Number(x.toFixed(4))) ?? [0, 0, 0];
  }

  // ---- postures -------------------------------------------------------------------------------------------------------
  /** Turn one joint; the run gives way to the arm alone. */
  pose(joint: number, value: number): void {
    const next = [...this.posture.value];
    next[joint] = value;
    void this.stand(next);
  }

  async stand(q: readonly number[]): Promise<void> {
    this.posture.value = q;
    const drawn = this.robot.value?.robot.drawn;
    if (!this.view.showsPosture && drawn) {
      this.run.value = null;
      await this.view.show(drawn);
    }
    this.view.posture(q);
  }

  /** The posture becomes the start of the run. */
  startHere(): void {
    const document = { ...this.store.document.value };
    delete document["q0_deg"];
    this.store.replace({ ...document, q0: this.posture.value.map((v) => Number(v.toPrecision(10))) });
  }

  select(_body: number): void {
    document.querySelectorAll("tr[data-row]").forEach((row, i) => row.classList.toggle("selected", i === _body));
  }

  readonly found = signal<readonly number[][]>([]);

  posturesList(): HTMLElement {
    const list = el("div", { class: "postures" });
    this.follow(() => {
      const all = this.found.value;
      list.replaceChildren(...(all.length > 1 ? [el("p", { class: "words" }, TEXTS.postures), ...all.map((q, i) => el("button", { type: "button", class: "quiet", click: () => void this.stand(q) }, String(i + 1)))] : []));
    });
    return list;
  }

  /** The tip can be taken and dragged in the plane of the picture, and so can points of the path; joints follow by inverse kinematics. */
  private hold(stage: Stage): void {
    let waiting: number[] | null = null;
    let asking = false;
    let reached = true;
    const go = async (): Promise<void> => {
      if (asking || !waiting) return;
      const target = waiting;
      waiting = null;
      asking = true;
      try {
        const answer = await ask<Ik>("ik", { document: this.store.document.value, target, q: this.posture.value });
        reached = answer.ok;
        if (answer.ok && answer.q) await this.stand(answer.q);
        this.message.value = answer.ok ? "" : answer.reason;
      } catch (error) {
        this.message.value = said(error);
      } finally {
        asking = false;
        if (waiting) void go();
      }
    };
    const tip: Handle = {
      at: () => this.view.stage?.tip() as [number, number, number] | null,
      take: () => {
        const run = this.view.state?.engine.runs.peek()[0];
        if (!run || run.t.length < 2) return;
        const now = this.view.state?.clock.shown.peek() ?? 0;
        const i = Math.max(0, Array.from(run.t).findIndex((t) => t >= now));
        this.posture.value = run.q.map((column) => column[i] ?? 0);
      },
      move: (to) => {
        waiting = to;
        void go();
      },
      drop: () => void (reached && this.every()),
    };
    draggable(stage, () => [...this.overlay.taken(() => this.view.stage), tip]);
    this.overlay.draw(stage);
  }

  /** All postures that bring the tip where it is. */
  private async every(): Promise<void> {
    const target = this.view.stage?.tip();
    if (!target) return;
    try {
      const answer = await ask<Ik>("ik", { document: this.store.document.value, target, q: this.posture.value, every: true });
      this.found.value = answer.ok ? answer.postures.slice(0, 12) : [];
    } catch {
      this.found.value = [];
    }
  }
}

export const said = (error: unknown): string => (error instanceof Refusal ? error.message : TEXTS.lost);

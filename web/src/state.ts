/** What all charts and the arm share: the moment, the window of time, pinned moments, joints that are hidden. */
import { effect, signal } from "@preact/signals-core";
import { Clock } from "./clock";
import type { Page } from "./document";
import type { Engine } from "./engine";
import { briefly } from "./names";
import type { Range } from "./numbers";
import type { Arrays } from "./packed";

export class State {
  readonly clock = new Clock();
  readonly window = signal<Range | null>(null);
  readonly pins = signal<readonly number[]>([]);
  /** Counts changes of a posture that stands still. */
  readonly moved = signal(0);
  readonly hidden = signal<ReadonlySet<string>>(new Set());
  /** The joint that is looked at, in the arm, the tables and the charts. */
  readonly selected = signal<number | null>(null);

  /** Names of joints where there is little room. */
  private readonly brief: readonly string[];

  constructor(
    readonly page: Page,
    readonly arrays: Arrays,
    readonly engine: Engine,
  ) {
    this.brief = briefly(page.joints.map((joint) => joint.name));
    const run = engine.runs.value[0];
    this.clock.span(run.t[0], run.t[run.t.length - 1]);
    this.clock.set(run.t[0]);
  }

  /** What tells a joint from the others; `whole`: a name that begins with that of the joint. */
  briefOf(joint: number | undefined, whole: string): string {
    const name = joint === undefined ? undefined : this.page.joints[joint]?.name;
    return name !== undefined && whole.startsWith(name) ? this.brief[joint!] + whole.slice(name.length) : whole;
  }

  private readonly ends: (() => void)[] = [];

  /** An effect that lives as long as this is shown. */
  follow(work: () => void): void {
    this.ends.push(effect(work));
  }

  /** What is done when this is no longer shown. */
  atEnd(work: () => void): void {
    this.ends.push(work);
  }

  /** Something else is shown: nothing follows this any more. */
  dispose(): void {
    this.clock.pause();
    for (const end of this.ends.splice(0)) end();
  }

  /** Pin the moment that is shown; a third pin begins anew. */
  pin(t = this.clock.shown.peek()): void {
    const pins = this.pins.peek();
    this.pins.value = pins.length < 2 ? [...pins, t] : [t];
  }

  toggle(key: string): void {
    const hidden = new Set(this.hidden.peek());
    if (!hidden.delete(key)) hidden.add(key);
    this.hidden.value = hidden;
  }

  /** Enlarge or shift the window of time; what is whole is no window. */
  look(low: number, high: number): void {
    const [start, end] = [this.clock.start.peek(), this.clock.end.peek()];
    const whole = end - start;
    const span = Math.min(Math.max(high - low, 1e-6 * whole), whole);
    const from = Math.min(Math.max(low + (high - low - span) / 2, start), end - span);
    this.window.value = span >= whole * (1 - 1e-9) ? null : [from, from + span];
  }

  /** To the next or previous sample. */
  step(by: number): void {
    const t = this.engine.runs.peek()[0].t;
    const now = this.clock.shown.peek();
    let i = 0;
    while (i < t.length - 1 && t[i + 1] <= now + 1e-9) i++;
    this.clock.stay(t[Math.min(Math.max(i + by, 0), t.length - 1)]);
  }
}

/** The name under which a curve is hidden: curves of one joint go together, in every chart. */
export function keyOf(chart: string, curve: { joint?: number; name: string; run: number }): string {
  return curve.joint !== undefined ? `joint ${curve.joint} run ${curve.run}` : `${chart} ${curve.name} ${curve.run}`;
}

/** Names of curves with their values at the moment that is shown, at pinned moments, and their difference; a click hides a curve. */
import { timesOf } from "./chart_data";
import type { ChartSpec } from "./document";
import { el } from "./dom";
import { at, shown } from "./numbers";
import { keyOf, type State } from "./state";
import { texts } from "./texts";

const DASH_CLASSES = ["", "dash", "dots", "mixed"];
const MOST = 40;
const MOST_LETTERS = 26; // of a name in one line
const FEW = 3; // targets that are told one by one
const READ_MS = 80;

export class Legend {
  readonly element: HTMLElement;
  private told = 0;
  private readonly rows: { curve: number; value: HTMLElement; pinned: HTMLElement }[] = [];

  constructor(
    private readonly spec: ChartSpec,
    private readonly state: State,
  ) {
    const targets = spec.curves.filter((c) => c.role === "target" && c.joint !== undefined).length;
    const unsaid = targets > FEW ? ["edge", "before", "target"] : ["edge", "before"]; // targets of many joints are one entry: they go with their joints
    const told = spec.curves.map((_, k) => k).filter((k) => !unsaid.includes(spec.curves[k].role ?? ""));
    const longest = Math.max(...told.map((k) => this.nameOf(k, true).length), 1);
    const crowd = told.length > MOST; // every run of a batch: one entry for each joint, without a value
    const first = told.filter((k, i) => spec.curves[k].joint !== undefined && told.findIndex((j) => keyOf(spec.id, spec.curves[j]) === keyOf(spec.id, spec.curves[k])) === i);
    const buttons = crowd ? (first.length > MOST ? [] : first).map((k) => this.row(k, true)) : told.map((k) => this.row(k));
    const unit = Math.max(...spec.axes.map((axis) => axis.unit.length), 0);
    this.element = el("div", { class: "legend", style: `--n:${Math.min(longest, MOST_LETTERS)};--u:${unit}` }, ...buttons.map(([button]) => button), targets > FEW ? el("div", { class: "key" }, el("i", { class: "chip dots", style: "--c:var(--muted)" }), texts.dotted) : null);
    state.follow(() => {
      const hidden = state.hidden.value;
      for (const [button, key] of buttons) button.setAttribute("aria-pressed", String(!hidden.has(key)));
    });
    state.follow(() => {
      const joint = state.selected.value;
      (crowd ? first : told).forEach((k, i) => buttons[i]?.[0].classList.toggle("selected", joint !== null && spec.curves[k].joint === joint));
    });
  }

  private nameOf(k: number, brief = false): string {
    const { curves } = this.spec;
    const { name, joint, run } = curves[k];
    const several = new Set(curves.filter((c) => c.role !== "before").map((c) => c.run)).size > 1;
    return (brief ? this.state.briefOf(joint, name) : name) + (several ? ` (${run + 1})` : "");
  }

  private row(k: number, all = false): [HTMLElement, string] {
    const curve = this.spec.curves[k];
    const joint = all ? this.state.page.joints[curve.joint!]?.name : undefined;
    const name = joint ?? this.nameOf(k);
    const value = el("output", {});
    const pinned = el("small", {});
    const dash = curve.role === "target" ? "dots" : DASH_CLASSES[(curve.dash + curve.run) % DASH_CLASSES.length];
    const chip = el("i", { class: `chip ${dash}`, style: `--c:var(--${curve.colour})` });
    const key = keyOf(this.spec.id, curve);
    const look = (on: boolean): void => {
      if (curve.joint !== undefined) this.state.selected.value = on ? curve.joint : null;
    };
    const button = el("button", { type: "button", title: texts.toggle(name), click: () => this.state.toggle(key), pointerenter: () => look(true), pointerleave: () => look(false), ...(curve.joint === undefined ? {} : { "data-joint-row": curve.joint }) }, chip, el("span", {}, joint === undefined ? this.nameOf(k, true) : this.state.briefOf(curve.joint, joint)), value, pinned);
    if (!all) this.rows.push({ curve: k, value, pinned });
    return [button, key];
  }

  tell(t: number, pins: readonly number[]): void {
    const { engine, clock } = this.state;
    const now = performance.now();
    if (clock.playing.peek() && now - this.told < READ_MS) return; // nobody reads faster
    this.told = now;
    for (const { curve, value, pinned } of this.rows) {
      const c = this.spec.curves[curve];
      const axis = this.spec.axes[c.axis ?? 0];
      const times = timesOf(c, engine);
      const values = engine.values(c.y[0], c.y[1], c.run);
      const read = (when: number) => quiet(at(times, values, when), axis.size * axis.noise);
      const unit = axis.unit ? ` ${axis.unit}` : "";
      const text = `${shown(read(t))}${unit}`;
      if (value.textContent !== text) value.textContent = text;
      const [a, b] = pins;
      const more =
        a === undefined ? "" : b === undefined ? `A ${shown(read(a))}` : `A ${shown(read(a))}  B ${shown(read(b))}  Δ ${shown(quiet(read(b) - read(a), axis.size * axis.noise))}${unit}`;
      if (pinned.textContent !== more) pinned.textContent = more;
    }
  }
}

/** What is below rounding is zero. */
function quiet(value: number, noise: number): number {
  return Math.abs(value) < Math.min(noise, 1e-9) ? 0 : value;
}

/** The card with the moving arm: stage, values of the joints, timeline and playback. */
import { untracked } from "@preact/signals-core";
import { Stage, type Side } from "./arm";
import { el, icon, ICONS } from "./dom";
import { graphics } from "./ground";
import { at, decimalsFor, fixed } from "./numbers";
import { colours } from "./palette";
import type { State } from "./state";
import { texts } from "./texts";
import { scrollsThrough } from "./touch";

const SPEEDS = ["0.1", "0.25", "0.5", "1", "2", "5"];

export function motionCard(card: HTMLElement, state: State): Stage | null {
  const { clock, page } = state;
  const canvas = el("canvas", { id: "stage", tabindex: 0, role: "img", "aria-label": texts.stage });
  const time = el("output", { id: "time" });
  const scrub = el("input", { type: "range", id: "scrub", step: "any", "aria-label": texts.time, input: () => clock.stay(Number(scrub.value)) });
  const play = el("button", { type: "button", id: "play", "aria-label": texts.play, click: () => clock.toggle() }, icon(ICONS.play), icon(ICONS.pause));
  const speed = el("select", { id: "speed", change: () => (clock.speed.value = Number(speed.value)) }, ...SPEEDS.map((v) => el("option", { value: v, selected: v === "1" }, `${v}×`)));
  const joints = page.joints.map((joint, i) => {
    const value = el("td", { id: `value-${i}` });
    return { value, row: el("tr", {}, el("td", {}, el("i", { class: "chip", style: `--c:var(--j${(i % 8) + 1})` }), el("span", { title: joint.name }, state.briefOf(i, joint.name))), value, el("td", {}, joint.unit)) };
  });
  const tips = ["x", "y", "z"].map((c) => {
    const value = el("td", { id: `tip-${c}` });
    return { value, row: el("tr", {}, el("td", {}, c), value, el("td", {}, "m")) };
  });
  const group = (words: string) => el("tr", { class: "group" }, el("td", { colspan: 3 }, words));
  const body = el("tbody", {}, group(texts.joints), ...joints.map((j) => j.row));
  const controls = el("div", { class: "controls" });
  const floater = el("div", { class: "floater" }, canvas);
  const place = el("div", { class: "stage" }, floater);
  card.replaceChildren(place, el("div", { class: "readout" }, el("table", {}, body)), controls);
  const places = decimalsFor(page.robots[0].size);
  const still = state.engine.runs.peek()[0].t.length < 2; // a posture has no time
  const { works, software } = graphics();
  const stage = works ? new Stage(canvas, state, software) : null;
  if (!stage) canvas.replaceWith(el("p", { class: "note", id: "stage" }, texts.noGraphics));
  if (page.robots[0].tip) body.append(group(texts.tip), ...tips.map((c) => c.row));
  controls.append(...(still ? [] : [play, scrub, time, el("label", {}, `${texts.speed} `, speed)]), ...(stage ? [el("span", { class: "boxes" }, ...boxes(stage, still)), el("span", { class: "views" }, ...views(stage, page.robots[0].plane !== null))] : []));
  for (const note of new Set(page.robots.flatMap((r) => r.notes))) card.after(el("p", { class: "note" }, note));
  card.after(el("p", { class: "hint" }, texts.stageHint));

  state.follow(() => {
    scrub.min = String(clock.start.value);
    scrub.max = String(clock.end.value);
  });
  state.follow(() => {
    state.moved.value;
    const t = clock.shown.value;
    scrub.value = String(t);
    time.textContent = `${fixed(t)} s`;
    scrub.setAttribute("aria-valuetext", time.textContent);
    untracked(() => tell(t));
  });
  state.follow(() => {
    const on = clock.playing.value;
    play.classList.toggle("running", on);
    play.setAttribute("aria-label", on ? texts.pause : texts.play);
    if (!on) stage?.ask(); // once more, finely
  });
  let first = true;
  state.follow(() => {
    state.engine.runs.value;
    if (!first) untracked(() => (stage?.refresh(), tell(clock.shown.peek())));
  });
  state.follow(() => {
    colours.value;
    if (!first) untracked(() => stage?.recolour());
  });
  state.follow(() => {
    const joint = state.selected.value;
    if (!first) stage?.highlight(joint);
    joints.forEach(({ row }, i) => row.classList.toggle("selected", i === joint));
  });
  first = false;

  function tell(t: number): void {
    stage?.show(t);
    const run = state.engine.runs.peek()[0];
    const last = run.t[run.t.length - 1];
    joints.forEach(({ value }, i) => (value.textContent = fixed(at(run.t, run.q[i], Math.min(t, last)), page.joints[i].slides ? places : 3)));
    const tip = stage?.tip();
    if (tip) tips.forEach(({ value }, k) => (value.textContent = fixed(tip[k], places)));
  }

  if (stage) keysAndWheel(canvas, stage, state);
  if (stage) scrollsThrough(stage);
  if (stage) stayInSight(place, floater, state);
  return stage;
}

/** While the pointer is over a chart and the stage is out of sight, a small picture of it stands in the other half of the screen. */
function stayInSight(place: HTMLElement, floater: HTMLElement, state: State): void {
  let seen = true;
  let left = false;
  const put = () => {
    floater.classList.toggle("away", !seen && state.clock.hover.peek() !== null);
    floater.classList.toggle("left", left);
  };
  new IntersectionObserver(
    (entries) => {
      seen = entries[entries.length - 1].isIntersecting;
      put();
    },
    { threshold: 0.25 },
  ).observe(place);
  const side = (e: PointerEvent) => (left = e.clientX > innerWidth / 2);
  addEventListener("pointermove", side, { capture: true, passive: true });
  state.atEnd(() => removeEventListener("pointermove", side, { capture: true }));
  state.follow(() => {
    state.clock.hover.value;
    put();
  });
}

function boxes(stage: Stage, still: boolean): HTMLElement[] {
  const box = (name: keyof typeof texts.show, on: boolean) => {
    const input = el("input", { type: "checkbox", id: `show-${name}`, checked: on, change: () => stage.set(name, input.checked) });
    return el("label", {}, input, texts.show[name]);
  };
  return [
    ...(stage.hasShapes ? [box("shapes", true)] : []),
    ...(stage.hasTip && !still ? [box("trace", true)] : []),
    ...(stage.hasPath ? [box("path", true)] : []),
    ...(stage.hasGhost ? [box("ghost", true)] : []),
    box("frames", false),
    box("axes", false),
    box("masses", false),
    box("inertia", false),
  ];
}

function views(stage: Stage, flat: boolean): HTMLElement[] {
  const button = (name: Side, words: string) => el("button", { type: "button", "data-view": name, click: () => stage.look(name) }, words);
  return flat ? [button("home", texts.views.reset)] : [button("front", texts.views.front), button("side", texts.views.side), button("top", texts.views.top), button("home", texts.views.home)];
}

function keysAndWheel(canvas: HTMLCanvasElement, stage: Stage, state: State): void {
  const { clock } = state;
  // a plain wheel scrolls the page unless the stage was chosen before
  canvas.addEventListener(
    "wheel",
    (e) => {
      if (!(e.ctrlKey || e.metaKey || e.shiftKey || document.activeElement === canvas)) e.stopImmediatePropagation();
    },
    { capture: true },
  );
  canvas.addEventListener("dblclick", () => stage.look("home"));
  const acts: Record<string, () => void> = {
    ArrowLeft: () => stage.orbit(0.08, 0),
    ArrowRight: () => stage.orbit(-0.08, 0),
    ArrowUp: () => stage.orbit(0, 0.08),
    ArrowDown: () => stage.orbit(0, -0.08),
    "+": () => stage.zoom(1.15),
    "=": () => stage.zoom(1.15),
    "-": () => stage.zoom(1 / 1.15),
    "0": () => stage.look("home"),
    " ": () => clock.toggle(),
    Home: () => clock.stay(clock.start.peek()),
    End: () => clock.stay(clock.end.peek()),
    ",": () => state.step(-1),
    ".": () => state.step(1),
  };
  canvas.addEventListener("keydown", (e) => {
    const act = acts[e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  });
}

/** A report comes to life: the arm moves, charts become instruments. */
import { Chart } from "./chart";
import type { ChartSpec, Page } from "./document";
import { el, icon, ICONS } from "./dom";
import { RecordedEngine, type Engine } from "./engine";
import type { Loop } from "./integrate";
import { livePanel } from "./live_panel";
import { motionCard } from "./motion";
import { unpacked } from "./packed";
import { PageEngine } from "./page_engine";
import { followTheScheme, otherTheme } from "./palette";
import { followThePaper } from "./paper";
import { State } from "./state";
import { StudyEngine, studyPanel } from "./study";
import { texts } from "./texts";
import "uplot/dist/uPlot.min.css";
import "./viewer.css";

const root = document.documentElement;

/** After the words of the page are on the screen; a page in the background does not wait for that. */
function painted(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, 300);
    requestAnimationFrame(() => setTimeout(done, 0));
  });
}

async function start(): Promise<void> {
  await painted();
  const words = document.getElementById("document");
  const numbers = document.getElementById("arrays");
  if (!words || !numbers) return;
  const page = JSON.parse(words.textContent!) as Page;
  const arrays = await unpacked(page.arrays, numbers.textContent!);
  const loop = (globalThis as { manipulaLoop?: Loop }).manipulaLoop;
  const live = page.live && loop ? new PageEngine(page, arrays, page.live, loop) : null;
  const engine: Engine = live ?? (page.study ? new StudyEngine(page, arrays) : new RecordedEngine(page, arrays));
  const state = new State(page, arrays, engine);
  followTheScheme();
  document.querySelector("header")?.append(el("button", { type: "button", id: "theme", title: texts.theme, "aria-label": texts.theme, click: otherTheme }, icon(ICONS.theme)));
  const card = document.getElementById("motion");
  const stage = card && page.robots.length ? motionCard(card, state) : null;
  const charts = chartsOf(state);
  followThePaper(stage, charts);
  const panel = document.getElementById("live");
  if (live && panel) livePanel(panel, live);
  const cloud = document.getElementById("study");
  if (cloud && page.study) studyPanel(cloud, state, arrays);
  keys(state);
  playOnceSeen(card, state);
  Object.assign(window, { manipulaView: { state, stage, charts } });
  root.dataset["report"] = "ready";
}

/** Charts are made when they come near the screen, the others when there is time, and all of them before the page is printed. */
function chartsOf(state: State): Chart[] {
  if (state.page.live) state.page.charts.forEach((spec) => !spec.across && besideRecorded(spec, state.page.runs[0].t));
  const made: Chart[] = [];
  const waiting = new Map<Element, () => void>();
  const seen = new IntersectionObserver((entries) => entries.forEach((e) => e.isIntersecting && waiting.get(e.target)?.()), { rootMargin: "600px" });
  for (const spec of state.page.charts) {
    const figure = document.getElementById(spec.id);
    if (!figure) continue;
    waiting.set(figure, () => {
      waiting.delete(figure);
      seen.unobserve(figure);
      made.push(new Chart(figure, spec, state));
    });
    seen.observe(figure);
  }
  addEventListener("beforeprint", () => [...waiting.values()].forEach((make) => make()));
  const later = () => {
    const [next] = waiting.values();
    if (!next) return;
    next();
    idle(later);
  };
  idle(later);
  const run = state.page.runs[0];
  const count = state.engine.runs.peek()[0].t.length;
  const hints = [texts.chartHint, ...(count < run.samples ? [texts.thinned(count, run.samples)] : [])];
  if (state.page.runs.length > 1) document.querySelector(".charts")?.before(runsKey(state));
  document.querySelector(".charts")?.after(...hints.map((words) => el("p", { class: "hint" }, words)));
  return made;
}

/** Which dash is which run. */
function runsKey(state: State): HTMLElement {
  const dashes = ["line", "dash", "dots", "mixed"];
  return el("ul", { class: "runs-key" }, ...state.page.runs.map((run, k) => el("li", {}, el("i", { class: `chip ${dashes[k % 4]}`, style: "--c:var(--ink)" }), `(${k + 1}) ${run.name.replace(/^\d+: /, "")}`)));
}

/** Every curve once more as it was recorded; it is seen when the run of the page is another. */
function besideRecorded(spec: ChartSpec, t: number): void {
  for (const curve of [...spec.curves]) if (!curve.role && curve.run === 0) spec.curves.push({ ...curve, run: 1, role: "before", t: curve.t ?? t });
}

function idle(act: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: 500 });
  else setTimeout(act, 30);
}

function keys(state: State): void {
  addEventListener("keydown", (e) => {
    const at = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(at.tagName)) return;
    const acts: Record<string, () => void> = {
      " ": () => state.clock.toggle(),
      ArrowLeft: () => state.step(-1),
      ArrowRight: () => state.step(1),
      p: () => state.pin(),
      Escape: () => {
        state.pins.value = [];
        state.window.value = null;
      },
    };
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  });
}

/** The motion begins when it is seen for the first time, unless the reader wants rest. */
function playOnceSeen(card: HTMLElement | null, state: State): void {
  if (!card || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const seen = new IntersectionObserver(
    (entries) => {
      if (!entries[0].isIntersecting) return;
      seen.disconnect();
      state.clock.play();
    },
    { threshold: 0.4 },
  );
  seen.observe(card);
}

start().catch((problem: unknown) => {
  root.dataset["report"] = `failed: ${String(problem)}`;
  throw problem;
});

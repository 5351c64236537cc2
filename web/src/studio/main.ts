/** The page of the studio. */
import { computed, effect, signal, untracked } from "@preact/signals-core";
import "uplot/dist/uPlot.min.css";
import "../viewer.css";
import { el, icon, ICONS, download } from "../dom";
import { followTheScheme, otherTheme } from "../palette";
import { Choosing } from "./choosing";
import { ask, contact, Lost, Refusal, said } from "./client";
import { equationsPanel } from "./equations_panel";
import { first } from "./first";
import { Forms } from "./form";
import { keptRuns } from "./memory";
import { robotPanel } from "./robot_panel";
import { chip, runPanel, verdict } from "./run_panel";
import { Schemas } from "./schema";
import { panelOf } from "./settings_panels";
import { Studio } from "./studio";
import { studiesPanel } from "./studies_panel";
import "./studio.css";
import { TEXTS } from "../texts";

type Panel = "robot" | "task" | "control" | "run" | "equations" | "studies";
const MOST_BYTES = 16 * 2 ** 20; // of a file, as the server reads it
const PANELS: readonly Panel[] = ["robot", "task", "control", "run", "equations", "studies"];

async function start(): Promise<void> {
  history.replaceState(null, "", location.pathname + location.hash); // the key does not stay in the address
  followTheScheme();
  const root = document.getElementById("studio")!;
  const [hello, schema, begun] = await Promise.all([first.hello, first.schema, first.document]);
  const host = el("main", { id: "view", "aria-label": TEXTS.view });
  const schemas = new Schemas(schema);
  const studio = new Studio(hello, begun, host, schemas);
  const forms = new Forms(studio.store, schemas, () => studio.robot.value?.robot.joints.slice(0, studio.robot.value.robot.n).map((j) => ({ name: j.name, slides: j.kind !== "revolute" })) ?? [], new Choosing(studio.store, studio.posture, studio.message));
  const chosen = signal<Panel>("robot");
  const open = signal(false); // of the sheet on a phone
  const names = computed(() => studio.robot.value?.robot.joints.map((j) => `${j.kind} ${j.name}`).join("\n") ?? ""); // of joints, in forms
  const side = el("aside", { id: "side", "aria-label": TEXTS.settings });
  const body = el("div", { id: "body", role: "tabpanel", tabindex: -1 });
  const tops = new Map<Panel, number>(); // how far each panel is scrolled
  let before: Panel | null = null;
  const show = (name: Panel): void => {
    open.value = !(open.value && chosen.value === name);
    chosen.value = name;
  };
  const tabs = el("nav", { id: "tabs", role: "tablist", "aria-label": TEXTS.settings }, ...PANELS.map((name) => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "body", click: () => show(name) }, el("span", { "data-words": TEXTS.panels[name] ?? name }, TEXTS.panels[name] ?? name))));
  side.append(tabs, body);
  const columns = el("div", { id: "columns" }, side, host, messages(studio));
  root.replaceChildren(bar(studio, () => show("run")), silence(), columns, help());
  tabs.addEventListener("keydown", (e) => {
    const now = PANELS.indexOf(chosen.value);
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1 + PANELS.length, Home: 0, End: PANELS.length - 1 }[e.key];
    if (next === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    chosen.value = PANELS[next % PANELS.length];
    document.getElementById(`tab-${chosen.value}`)?.focus();
  });
  effect(() => {
    side.classList.toggle("open", open.value);
    columns.classList.toggle("wide", chosen.value === "equations" || chosen.value === "studies");
  });
  effect(() => {
    const name = chosen.value;
    if (name !== "studies") studio.store.structure.value; // a run of a study is another document, the panel stays
    if (name !== "robot" && name !== "equations" && name !== "studies") names.value;
    studio.endEffects();
    for (const tab of PANELS) {
      const button = document.getElementById(`tab-${tab}`)!;
      button.setAttribute("aria-selected", String(tab === name));
      button.tabIndex = tab === name ? 0 : -1; // arrows go from one to the next
      if (tab === name) button.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    body.setAttribute("aria-labelledby", `tab-${name}`);
    if (before) tops.set(before, body.scrollTop);
    const settings = (panel: "task" | "control" | "run"): HTMLElement => panelOf(studio, forms, schemas, panel);
    const make = { robot: () => robotPanel(studio, forms, schemas), task: () => settings("task"), control: () => settings("control"), run: () => runPanel(studio, settings("run")), equations: () => equationsPanel(studio), studies: () => studiesPanel(studio) }[name];
    // a panel is drawn anew when its structure changes, never because of a number that somebody is typing
    untracked(() => body.replaceChildren(verdict(studio), make()));
    body.scrollTop = tops.get(name) ?? 0;
    before = name;
  });
  keys(studio, chosen);
  drops(studio);
  Object.assign(window, { studio });
  studio.kept.runs.value = await keptRuns(hello.studio);
  const asked = location.hash.slice(1);
  if (/^[0-9a-f]{16}$/.test(asked) && !(await studio.find(asked))) studio.message.value = TEXTS.gone;
  document.documentElement.dataset["studio"] = "ready";
}

/** Says that the studio does not answer, as long as that is so. */
function silence(): HTMLElement {
  const box = el("p", { id: "silence", role: "alert" });
  effect(() => {
    const how = contact.value;
    box.hidden = !how;
    box.textContent = how === "silent" ? TEXTS.lost : how === "locked" ? TEXTS.locked : "";
  });
  return box;
}

/** What is told stands where it is seen, however far a panel is scrolled. */
function messages(studio: Studio): HTMLElement {
  const words = el("span", {});
  const close = el("button", { type: "button", class: "quiet", "aria-label": TEXTS.close, click: () => (studio.message.value = "") }, "×");
  const box = el("div", { class: "message", role: "alert" }, words, close);
  studio.always(() => {
    words.textContent = studio.message.value;
    box.hidden = !studio.message.value;
  });
  return box;
}

function bar(studio: Studio, runs: () => void): HTMLElement {
  const button = (id: string, words: string, act: () => void, inner: Node | string = words): HTMLButtonElement => el("button", { type: "button", id, title: words, "aria-label": words, click: act }, inner);
  const undo = button("undo", TEXTS.undo, () => studio.store.undo(), "↶");
  const redo = button("redo", TEXTS.redo, () => studio.store.redo(), "↷");
  const file = el("input", { type: "file", id: "file", accept: studio.hello.formats.join(","), hidden: true, change: () => {
      if (file.files?.[0]) void openFile(studio, file.files[0]);
      file.value = ""; // the same file may be opened again
    },
  }); // prettier-ignore
  const run = button("run", `${TEXTS.run} (R)`, () => void studio.start(), el("span", {}, icon(ICONS.play), ` ${TEXTS.run}`));
  const pause = button("pause", TEXTS.pause, () => void studio.pause(!studio.paused.value), icon(ICONS.pause));
  const stop = button("stop", TEXTS.stop, () => void studio.stop(), icon(ICONS.stop));
  const live = el("input", { type: "checkbox", id: "live", checked: true, change: () => (studio.live.value = live.checked) });
  const name = el("strong", { id: "name" });
  effect(() => {
    const words = String(studio.store.document.value["name"] ?? "");
    name.textContent = name.title = words;
    document.title = words ? `${words.slice(0, 60)} · ${TEXTS.studio}` : TEXTS.studio;
  });
  effect(() => {
    undo.disabled = !studio.store.canUndo.value;
    redo.disabled = !studio.store.canRedo.value;
    stop.disabled = pause.disabled = !studio.busy.value;
    const words = studio.paused.value ? TEXTS.goOn : TEXTS.pause;
    pause.title = words;
    pause.setAttribute("aria-label", words);
    pause.setAttribute("aria-pressed", String(studio.paused.value));
    pause.replaceChildren(icon(studio.paused.value ? ICONS.play : ICONS.pause));
  });
  return el(
    "header",
    { id: "bar" },
    el("h1", { class: "brand" }, TEXTS.title),
    name,
    undo,
    redo,
    button("open", TEXTS.open, () => file.click()),
    button("save", TEXTS.save, () => void save(studio)),
    file,
    el("span", { class: "gap" }),
    chip(studio, runs),
    el("label", { title: TEXTS.liveHint }, live, ` ${TEXTS.live}`),
    run,
    pause,
    stop,
    button("theme", TEXTS.theme, otherTheme, icon(ICONS.theme)),
    button("keys", TEXTS.help, () => (document.getElementById("help") as HTMLDialogElement).showModal(), "?"),
  );
}

async function save(studio: Studio): Promise<void> {
  try {
    const { text } = await ask("write", { document: studio.store.document.value });
    const name = String(studio.store.document.value["name"] ?? "scenario").replace(/[^\p{L}\p{M}\p{N}_ -]+/gu, "_").slice(0, 60) || "scenario";
    download(`${name}.toml`, new Blob([text], { type: "application/toml" }));
  } catch (error) {
    studio.message.value = said(error);
  }
}

async function openFile(studio: Studio, file: File): Promise<void> {
  await studio.open(async () => {
    if (file.size > MOST_BYTES) throw new Refusal({ kind: "size", message: TEXTS.tooLarge(file.name) });
    const text = await file.text().catch(() => {
      throw new Refusal({ kind: "file", message: TEXTS.unreadable(file.name) }); // a folder, or gone
    });
    return (await ask("open", { name: file.name, text })).document;
  });
}

function drops(studio: Studio): void {
  const veil = el("div", { id: "veil", hidden: true }, TEXTS.dropHere);
  document.body.append(veil);
  addEventListener("dragover", (e) => {
    if (!e.dataTransfer?.types.includes("Files")) return; // words from one box to another
    e.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (e) => {
    if (!e.relatedTarget) veil.hidden = true;
  });
  addEventListener("drop", (e) => {
    const file = e.dataTransfer?.files[0];
    veil.hidden = true;
    if (!file) return;
    e.preventDefault();
    void openFile(studio, file);
  });
}

function help(): HTMLElement {
  const rows = TEXTS.keys.map(([key, words]) => el("tr", {}, el("th", {}, el("kbd", {}, key)), el("td", {}, words)));
  return el("dialog", { id: "help", "aria-labelledby": "help-title" }, el("h2", { id: "help-title" }, TEXTS.help), el("table", {}, ...rows), el("form", { method: "dialog" }, el("button", {}, TEXTS.ok)));
}

function keys(studio: Studio, chosen: { value: Panel }): void {
  addEventListener("keydown", (e) => {
    const at = e.target as HTMLElement;
    const typing = at.tagName === "TEXTAREA" || (at.tagName === "INPUT" && (at as HTMLInputElement).type === "text");
    const choosing = at.tagName === "INPUT" && !typing; // these need arrows and space themselves
    if (e.ctrlKey || e.metaKey) {
      if (typing) return;
      const key = e.key.toLowerCase(); // with shift, or caps lock, letters are large
      if (key === "z" && !e.shiftKey) studio.store.undo();
      else if (key === "y" || key === "z") studio.store.redo();
      else return;
      return e.preventDefault();
    }
    if (document.querySelector("dialog[open]")) return; // its own keys close it
    if (typing || at.tagName === "SELECT") return; // letters find an entry of a list
    if (e.altKey || (choosing && /^(Arrow|Home|End|Page| )/.test(e.key))) return;
    const { state } = studio.view;
    const acts: Record<string, () => void> = {
      r: () => void studio.start(),
      R: () => void studio.start(),
      " ": () => state?.clock.toggle(),
      ArrowLeft: () => state?.step(-1),
      ArrowRight: () => state?.step(1),
      p: () => state?.pin(),
      Escape: () => state && (state.pins.value = []),
      "?": () => (document.getElementById("help") as HTMLDialogElement).showModal(),
    };
    PANELS.forEach((panel, i) => (acts[String(i + 1)] = () => (chosen.value = panel)));
    const act = acts[e.key];
    if (!act || (e.key === " " && (e.target as HTMLElement).tagName === "BUTTON")) return;
    e.preventDefault();
    act();
  });
}

start().catch((problem: unknown) => {
  document.documentElement.dataset["studio"] = `failed: ${String(problem)}`;
  document.getElementById("studio")?.replaceChildren(el("p", { role: "alert", class: "failed" }, contact.peek() === "locked" ? TEXTS.locked : problem instanceof Lost ? TEXTS.lost : problem instanceof Refusal ? problem.message : TEXTS.mistake(String(problem))));
  throw problem;
});

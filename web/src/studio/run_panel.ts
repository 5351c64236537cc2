/** Run: verdict and feasibility first, key numbers, comparison, files; then the settings of the run. */
import { download, el } from "../dom";
import { typeset, unbroken } from "../numbers";
import { TEXTS } from "../texts";
import { reach, said } from "./client";
import type { Studio } from "./studio";
import type { Summary } from "./wire";

const MOST_BROKEN = 3; // limits that are listed at once; the first one is told in any case

/** Green, amber or red. */
const toneOf = (run: Summary): string => (!run.ok ? "bad" : run.feasible === false ? "fair" : "good");

/** Is there something to see of a run? Its verdict may still be missing. */
const hasResult = (run: Summary | null): boolean => run?.state === "done" || run?.state === "evaluating";

/** The verdict as a banner, or how far the run is. */
export function verdict(studio: Studio): HTMLElement {
  const box = el("div", { class: "verdict", role: "status", "aria-live": "polite" });
  studio.follow(() => {
    const run = studio.run.value;
    const problem = studio.store.problem.value;
    const busy = studio.busy.value;
    if (run?.state === "evaluating" && !problem && !busy) return void box.classList.add("before"); // that of the run before, until the new one is there
    const said: Node[] = [];
    let colour = "none";
    if (problem) {
      colour = "bad";
      const where = problem.field ? `${problem.field}: ` : "";
      said.push(el("b", {}, TEXTS.cannot), el("span", {}, ` ${where}${typeset(problem.problem ?? problem.message)}`));
    } else if (busy) {
      const share = studio.progress.value;
      said.push(el("b", {}, busy + (studio.paused.value ? `, ${TEXTS.paused}` : "")), el("progress", { max: 1, "aria-label": busy, ...(share === null ? {} : { value: share }) }));
    } else if (run?.status) {
      colour = toneOf(run);
      if (run.feasible === false) said.push(el("b", {}, TEXTS.infeasible), el("span", {}, `: ${typeset(run.feasibility ?? "")} `));
      said.push(el("b", {}, run.status), el("span", {}, `: ${typeset(run.reason ?? "")}`));
      if (run.feasible === true) said.push(el("span", {}, ` ${TEXTS.feasible}: ${run.feasibility ?? ""}`));
      const note = (words: string): HTMLElement => el("p", { class: "note" }, typeset(words));
      const broken = run.broken ?? [];
      const others = broken.filter((words) => !run.feasibility?.includes(words.replace(/\.$/, ""))); // the sentence above tells the first one
      said.push(...(broken.length > MOST_BROKEN ? [el("details", { class: "more" }, el("summary", {}, TEXTS.allBroken(broken.length)), ...broken.map(note))] : others.map(note))); // key numbers stay in sight
      said.push(...[...(run.remarks ?? []), ...(run.notes ?? [])].map(note));
    } else if (run?.state === "stopped") {
      said.push(el("b", {}, TEXTS.states["stopped"] ?? ""));
    } else said.push(el("span", {}, TEXTS.noRun));
    box.className = `verdict ${colour}`;
    box.replaceChildren(...said);
  });
  return box;
}

/** The verdict in a word, for the bar. */
export function chip(studio: Studio, open: () => void): HTMLElement {
  const made = el("button", { type: "button", id: "chip", title: TEXTS.verdictHint, click: open });
  studio.always(() => {
    const [run, problem, busy] = [studio.run.value, studio.store.problem.value, studio.busy.value];
    if (run?.state === "evaluating" && !problem && !busy) return void made.classList.add("before");
    const limits = run?.feasible === undefined || run.feasible === null ? "" : ` · ${run.feasible ? TEXTS.feasible : TEXTS.infeasible}`;
    const words = problem ? TEXTS.wrong : busy ? busy + (studio.paused.value ? `, ${TEXTS.paused}` : "") : run?.status ? run.status + limits : "";
    made.textContent = words;
    made.hidden = !words;
    made.className = problem ? "bad" : busy || !run?.status ? "" : toneOf(run);
  });
  return made;
}

/** What the stage shows, as a picture. */
function picture(studio: Studio): void {
  const { stage } = studio.view;
  stage?.draw();
  stage?.canvas.toBlob((blob) => blob && download("arm.png", blob));
}

/** A file of the run; what goes wrong with it is told. */
async function fetched(studio: Studio, run: string, name: string): Promise<void> {
  studio.message.value = TEXTS.making(name);
  try {
    const answer = await reach(`/runs/${run}/${name}`);
    if (!answer.ok) {
      const told = (await answer.json().catch(() => null)) as { error?: { message: string } } | null;
      studio.message.value = told?.error?.message ?? TEXTS.notMade(name);
      return;
    }
    download(name, await answer.blob());
    studio.message.value = "";
  } catch (error) {
    studio.message.value = said(error);
  }
}

async function linked(studio: Studio): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    studio.message.value = TEXTS.linked;
  } catch {
    studio.message.value = location.href;
  }
}

function grid(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): HTMLElement | null {
  if (!rows.length) return null;
  const head = el("tr", {}, el("th", {}, title), ...heads.map((h) => el("th", { scope: "col" }, h)));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell, k) => (k ? el("td", {}, cell) : el("th", { scope: "row" }, cell)))));
  return el("div", { class: "scroll" }, el("table", { class: "compared" }, el("thead", {}, head), el("tbody", {}, ...body)));
}

export function runPanel(studio: Studio, settings: HTMLElement): HTMLElement {
  const cards = el("dl", { class: "cards" });
  const kept = el("div", { class: "kept" });
  const differences = el("div", { class: "differences" });
  const files = el("div", { class: "buttons files", role: "group", "aria-label": TEXTS.files });
  studio.follow(() => {
    const known = hasResult(studio.run.value) ? studio.cards.value : []; // none of another document
    cards.replaceChildren(...known.map((c) => el("div", {}, el("dt", {}, c.title), el("dd", {}, c.value, el("small", {}, ` ${c.unit}`)), c.remark ? el("dd", { class: "words" }, unbroken(c.remark)) : null)));
  });
  studio.follow(() => {
    const found = hasResult(studio.run.value) ? studio.compared.value : null;
    const grids = found ? [grid(TEXTS.setDifferently, found.names, found.settings), grid(TEXTS.differences, found.names.slice(1), found.differences), grid(TEXTS.numbers, found.names, found.numbers)] : [];
    differences.replaceChildren(...grids.filter((g) => g !== null));
  });
  studio.follow(() => {
    const run = studio.run.value;
    const done = hasResult(run);
    const order = [run?.id, ...studio.kept.runs.value.map((o) => o.id).filter((id) => id !== run?.id)]; // as in charts and tables
    const numberOf = (o: Summary): number => order.indexOf(o.id) + 1;
    const isKept = studio.kept.runs.value.some((o) => o.id === run?.id);
    kept.replaceChildren(
      ...(done && run && !isKept ? [el("button", { type: "button", id: "keep", title: TEXTS.keptHint, click: () => void studio.keep(run.id, true) }, TEXTS.keep)] : []),
      ...studio.kept.runs.value.map((o) => el("span", { class: "keptrun" }, `${numberOf(o)}: ${o.name} (${o.status ?? o.state})`, el("button", { type: "button", class: "quiet", "aria-label": `${TEXTS.remove} ${o.name}`, click: () => void studio.keep(o.id, false) }, "×"))),
      ...(done && !studio.kept.runs.value.length ? [el("p", { class: "words" }, TEXTS.keptHint)] : []),
    );
    const file = ([name, words]: [string, string]): HTMLElement => el("button", { type: "button", class: "quiet", "data-file": name, click: () => run && void fetched(studio, run.id, name) }, words);
    const own = [el("button", { type: "button", class: "quiet", id: "picture", click: () => picture(studio) }, TEXTS.picture), el("button", { type: "button", class: "quiet", id: "link", click: () => void linked(studio) }, TEXTS.link)];
    files.replaceChildren(...(done && run ? [...own, ...Object.entries(TEXTS.filesOf).map(file)] : []));
  });
  const chooser = el("details", { class: "more", id: "chooser" }, el("summary", {}, TEXTS.charts));
  const box = el("div", { class: "boxes" });
  for (const kind of studio.hello.charts) {
    const input = el("input", {
      type: "checkbox", checked: studio.charts.value.includes(kind), "data-chart": kind,
      change: () => {
        studio.charts.value = input.checked ? [...studio.charts.value, kind] : studio.charts.value.filter((c) => c !== kind);
        void studio.showRuns().catch((error: unknown) => (studio.message.value = said(error)));
      },
    }); // prettier-ignore
    box.append(el("label", {}, input, kind.replaceAll("-", " ")));
  }
  const absent = el("p", { class: "words", id: "left-out" });
  studio.follow(() => {
    const found = hasResult(studio.run.value) ? studio.leftOut.value : [];
    for (const label of box.children) label.classList.toggle("absent", found.some((l) => l.kind === label.querySelector("input")?.dataset["chart"]));
    absent.textContent = found.length ? TEXTS.leftOut(found.map((l) => `${l.kind.replaceAll("-", " ")} (${l.why.replace(/\.$/, "")})`).join(", ")) : "";
  });
  chooser.append(box, absent);
  const titled = (words: string, ...inner: HTMLElement[]): HTMLElement => el("section", { class: "titled" }, el("h2", {}, words), ...inner);
  const compare = titled(TEXTS.compare, kept, differences);
  const taken = titled(TEXTS.files, files);
  studio.follow(() => {
    compare.hidden = !hasResult(studio.run.value) && !studio.kept.runs.value.length;
    taken.hidden = !hasResult(studio.run.value);
  });
  return el("div", { class: "panel" }, cards, compare, taken, chooser, titled(TEXTS.settingsOfRun, settings));
}

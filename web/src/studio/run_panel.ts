/** Run: verdict and feasibility first, key numbers, comparison, files; then the settings of the run. */
import { download, el } from "../dom";
import type { Studio } from "./studio";
import { TEXTS } from "./texts";

const FILES: readonly [string, string][] = [
  ["scenario.toml", "scenario"], ["report.html", "report"], ["live.html", "live file"], ["film.gif", "film"], ["result.nc", "NetCDF"], ["result.csv", "CSV"], ["result.parquet", "Parquet"],
  ["result.mcap", "MCAP"], ["result.npz", "NumPy"],
]; // prettier-ignore

/** The verdict as a banner: green, amber or red. */
export function verdict(studio: Studio): HTMLElement {
  const box = el("div", { class: "verdict", role: "status", "aria-live": "polite" });
  studio.follow(() => {
    const run = studio.run.value;
    const problem = studio.store.problem.value;
    const busy = studio.busy.value;
    const said: Node[] = [];
    let colour = "none";
    if (problem) {
      colour = "bad";
      const where = problem.field ? `${problem.field}: ` : "";
      said.push(el("b", {}, TEXTS.cannot), el("span", {}, ` ${where}${problem.problem ?? problem.message}`));
    } else if (busy) {
      said.push(el("b", {}, busy));
    } else if (run?.status) {
      colour = run.ok ? "good" : "bad";
      if (run.feasible === false) {
        colour = run.ok ? "fair" : "bad";
        said.push(el("b", {}, TEXTS.infeasible), el("span", {}, `: ${run.feasibility ?? ""} `));
      }
      said.push(el("b", {}, run.status), el("span", {}, `: ${run.reason ?? ""}`));
      if (run.feasible === true) said.push(el("span", {}, ` ${TEXTS.feasible}: ${run.feasibility ?? ""}`));
      for (const note of [...(run.broken ?? []), ...(run.remarks ?? []), ...(run.notes ?? [])]) said.push(el("p", { class: "note" }, note));
    } else if (run?.state === "stopped") {
      said.push(el("b", {}, TEXTS.states["stopped"] ?? ""));
    } else said.push(el("span", {}, TEXTS.noRun));
    box.className = `verdict ${colour}`;
    box.replaceChildren(...said);
  });
  return box;
}

/** What the stage shows, as a picture. */
function picture(studio: Studio): void {
  const { stage } = studio.view;
  stage?.draw();
  stage?.canvas.toBlob((blob) => blob && download("arm.png", blob));
}

export function runPanel(studio: Studio, settings: HTMLElement): HTMLElement {
  const cards = el("dl", { class: "cards" });
  const kept = el("div", { class: "kept" });
  const files = el("div", { class: "buttons files", "aria-label": TEXTS.files });
  studio.follow(() => {
    cards.replaceChildren(...studio.cards.value.map((c) => el("div", {}, el("dt", {}, c.title), el("dd", {}, c.value, el("small", {}, ` ${c.unit}`)), c.remark ? el("dd", { class: "words" }, c.remark) : null)));
  });
  studio.follow(() => {
    const run = studio.run.value;
    const done = run?.state === "done";
    const isKept = studio.others.value.some((o) => o.id === run?.id);
    kept.replaceChildren(
      ...(done && run && !isKept ? [el("button", { type: "button", id: "keep", click: () => void studio.keep(run.id, true) }, TEXTS.keep)] : []),
      ...studio.others.value.map((o, i) => el("span", { class: "keptrun" }, `${i + 1}: ${o.name} (${o.status ?? o.state})`, el("button", { type: "button", class: "quiet", "aria-label": `${TEXTS.remove} ${o.name}`, click: () => void studio.keep(o.id, false) }, "×"))),
    );
    files.replaceChildren(...(done && run ? [el("button", { type: "button", class: "quiet", click: () => picture(studio) }, TEXTS.picture), ...FILES.map(([name, words]) => el("a", { class: "button quiet", href: `/runs/${run.id}/${name}`, download: name }, words))] : []));
  });
  const chooser = el("details", { class: "more" }, el("summary", {}, "charts"));
  const box = el("div", { class: "boxes" });
  for (const kind of studio.hello.charts) {
    const input = el("input", {
      type: "checkbox", checked: studio.charts.value.includes(kind),
      change: () => {
        studio.charts.value = input.checked ? [...studio.charts.value, kind] : studio.charts.value.filter((c) => c !== kind);
        void studio.showRuns();
      },
    }); // prettier-ignore
    box.append(el("label", {}, input, kind));
  }
  chooser.append(box);
  return el("div", { class: "panel" }, cards, kept, files, chooser, settings);
}

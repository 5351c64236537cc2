/** Sliders of a live page, what they did, and the same for people who script the page: `window.manipula`. */
import { effect } from "@preact/signals-core";
import { el } from "./dom";
import { shown } from "./numbers";
import type { PageEngine } from "./page_engine";
import { texts } from "./texts";

export function livePanel(panel: HTMLElement, engine: PageEngine): void {
  const said = el("p", { role: "status", "aria-live": "polite", id: "live-status" });
  const reset = el("button", { type: "button", click: () => void engine.reset() }, texts.live.reset);
  const rows = engine.parameters.map((parameter) => {
    const value = el("output", {});
    const input = el("input", { type: "range", "data-path": parameter.path, min: parameter.low, max: parameter.high, step: "any", value: parameter.value, "aria-label": `${parameter.name} [${parameter.unit}]` });
    input.addEventListener("input", () => void engine.set(parameter.path, Number(input.value)));
    return { parameter, original: parameter.value, input, value, row: el("label", {}, el("span", {}, parameter.name), value, input) };
  });
  panel.replaceChildren(said, el("div", { class: "sliders" }, ...rows.map((r) => r.row)), reset);
  effect(() => {
    const { ms, status, reached } = engine.last.value;
    const changed = engine.changed.value;
    const agrees = engine.agrees;
    const words = changed ? texts.live.changed(ms.toFixed(0)) : (agrees ? texts.live.agrees : texts.live.differs)(shown(engine.agreement, 2));
    const why = texts.live.ended[status];
    said.textContent = words + (changed && why ? texts.live.early(shown(reached), why) : "");
    said.className = changed ? (why ? "fair" : "") : agrees ? "good" : "fair";
    reset.disabled = !changed;
    for (const { parameter, original, input, value } of rows) {
      const now = parameter.value;
      value.textContent = `${shown(now)}${parameter.unit && parameter.unit !== "1" ? ` ${parameter.unit}` : ""}`;
      input.setAttribute("aria-valuetext", value.textContent);
      value.classList.toggle("moved", now !== original);
      if (Number(input.value) !== now) input.value = String(now);
    }
  });
  Object.assign(window, {
    manipula: {
      get parameters() {
        return engine.parameters.map(({ path, name, unit, value, low, high, least, above, most, below }) => ({ path, name, unit, value, low, high, least, above, most, below }));
      },
      set: (path: string, value: number) => engine.set(path, value),
      result: () => engine.result(),
      agreement: engine.agreement,
    },
  });
}

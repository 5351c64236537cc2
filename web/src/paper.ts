/** A report on paper: as wide as a sheet, every chart drawn for that width, the arm as a picture (what graphics drew is not printed). */
import type { Stage } from "./arm";
import type { Chart } from "./chart";
import { el } from "./dom";
import { texts } from "./texts";

const root = document.documentElement;

export function followThePaper(stage: Stage | null, charts: readonly Chart[]): void {
  const copy = el("img", { class: "printed", alt: texts.printedStage });
  const fit = (): void => {
    for (const chart of charts) chart.fit();
    stage?.fit();
  };
  addEventListener("beforeprint", () => {
    root.classList.add("paper");
    stage?.state.clock.pause();
    fit();
    if (!stage) return;
    copy.src = stage.canvas.toDataURL(); // at once: later the drawing is gone
    stage.canvas.after(copy);
  });
  addEventListener("afterprint", () => {
    copy.remove();
    root.classList.remove("paper");
    fit();
  });
}

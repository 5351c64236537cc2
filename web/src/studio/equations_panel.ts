/** The equations of the current robot, typeset, and to take along as LaTeX or source code. */
import { el } from "../dom";
import { ask, Refusal } from "./client";
import type { Studio } from "./studio";
import { TEXTS } from "../texts";

const PARTS = ["M", "C", "h", "g", "tau", "T", "V", "pose", "jacobian", "christoffel"];
const OF_RECURSION = ["tau", "pose", "jacobian"]; // the level "recursive" computes torques; matrices are no part of it
const CODE = ["c", "python", "matlab", "julia", "rust", "javascript"];

export function equationsPanel(studio: Studio): HTMLElement {
  const select = (label: string, choices: readonly string[]): HTMLSelectElement => {
    const made = el("select", { "aria-label": label });
    for (const choice of choices) made.append(el("option", { value: choice }, TEXTS.partNames[choice] ?? choice));
    return made;
  };
  const level = select(TEXTS.level, studio.hello.levels);
  level.value = "compact";
  const part = select(TEXTS.part, PARTS);
  const shown = el("div", { class: "equations", tabindex: 0, "aria-live": "polite" });
  let asking: AbortController | null = null; // the last question: an answer that comes after another question is not shown
  const derive = async (): Promise<void> => {
    asking?.abort();
    const { signal } = (asking = new AbortController());
    for (const choice of part.options) choice.disabled = level.value === "recursive" && !OF_RECURSION.includes(choice.value);
    if (part.selectedOptions[0]?.disabled) part.value = OF_RECURSION[0];
    shown.replaceChildren(el("p", { class: "words" }, TEXTS.deriving));
    try {
      const { text } = await ask("equations", { document: studio.store.document.value, level: level.value, only: part.value }, signal);
      const read = new DOMParser().parseFromString(text, "text/html");
      for (const bad of read.querySelectorAll("script,style,iframe,link,meta")) bad.remove();
      shown.replaceChildren(...[...read.body.childNodes].map((node) => document.importNode(node, true)));
    } catch (error) {
      if (!signal.aborted) shown.replaceChildren(el("p", { class: "wrong" }, error instanceof Error ? error.message : String(error)));
    }
  };
  for (const box of [level, part]) box.addEventListener("change", () => void derive());
  const as = select(TEXTS.language, ["latex", "text", ...CODE]);
  const copy = el("button", { type: "button", class: "quiet" }, TEXTS.copy);
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await source(studio, as.value, level.value, part.value));
      copy.textContent = TEXTS.copied;
    } catch (error) {
      copy.textContent = error instanceof Refusal ? error.message : String(error);
    }
    setTimeout(() => (copy.textContent = TEXTS.copy), 2500);
  });
  const row = (words: string, ...inner: HTMLElement[]): HTMLElement => el("label", { class: "row brief" }, el("span", { class: "name" }, words), ...inner);
  studio.atEnd(() => asking?.abort());
  void derive();
  return el("div", { class: "panel" }, row(TEXTS.level, level), row(TEXTS.part, part), shown, row(TEXTS.language, as), el("div", { class: "buttons" }, copy));
}

/** The text of equations in LaTeX or plain text; of a language the functions of the whole robot, which compile as they are. */
async function source(studio: Studio, as: string, level: string, part: string): Promise<string> {
  const given = { document: studio.store.document.value };
  if (!CODE.includes(as)) return (await ask("equations", { ...given, level, only: part, format: as })).text;
  return (await ask("code", { ...given, language: as })).text;
}

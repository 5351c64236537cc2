/** Colours of the page by name, as its style says for light, dark and print. */
import { signal } from "@preact/signals-core";

/** Counts changes of the colours; read it in an effect that has to draw again. */
export const colours = signal(0);
const known = new Map<string, string>();
const root = document.documentElement;

export function colour(name: string): string {
  let found = known.get(name);
  if (found === undefined) {
    found = getComputedStyle(root).getPropertyValue(`--${name}`).trim() || "#888888";
    known.set(name, found);
  }
  return found;
}

export function recolour(): void {
  known.clear();
  colours.value++;
}

export function isDark(): boolean {
  const asked = root.dataset["theme"];
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** From light to dark and back. */
export function otherTheme(): void {
  root.dataset["theme"] = isDark() ? "light" : "dark";
  recolour();
}

export function followTheScheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  let before: string | undefined;
  addEventListener("beforeprint", () => {
    before = root.dataset["theme"];
    root.dataset["theme"] = "light";
    recolour();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset["theme"];
    else root.dataset["theme"] = before;
    recolour();
  });
}

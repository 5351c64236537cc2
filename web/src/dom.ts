/** Elements of a page. Texts become text nodes, never markup. */
type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value as unknown as EventListener);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  if (tag === "output") made.setAttribute("aria-live", "off"); // numbers that move with the arm: a screen reader that calls them all out says nothing
  for (const child of children) if (child) made.append(child);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of one path in a box of 16 × 16. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const ICONS = {
  play: "M4 2.2v11.6L14 8z",
  pause: "M3.5 2h3v12h-3zM9.5 2h3v12h-3z",
  stop: "M3 3h10v10H3z",
  pin: "M8 1.5a4 4 0 0 1 4 4c0 2.9-4 9-4 9s-4-6.1-4-9a4 4 0 0 1 4-4zm0 2.6a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  all: "M2 2h4.5v1.6H3.6v2.9H2zm7.5 0H14v4.5h-1.6V3.6H9.5zM2 9.5h1.6v2.9h2.9V14H2zm10.4 0H14V14H9.5v-1.6h2.9z",
  save: "M7.2 1.5h1.6v7l2.3-2.3 1.1 1.1L8 11.5 3.8 7.3l1.1-1.1 2.3 2.3zM2.5 12.9h11v1.6h-11z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z",
};

/** Hand a file to the reader. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

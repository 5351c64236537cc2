/** Points in a plane of two columns, each one a run that can be opened. */
import { ticks } from "../numbers";
import { TEXTS } from "../texts";
import type { Point } from "./wire";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 380, 62, 12, 12, 40];

/** Round numbers from low to high, about `count` of them. */
export function rounds(low: number, high: number, count = 5): number[] {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((k) => k * power >= rough) ?? 10);
  const out: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) out.push(Number(v.toPrecision(12)));
  return out;
}

function piece(tag: string, attributes: Record<string, string | number>, words = ""): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (words) made.textContent = words;
  return made;
}

/** Around all numbers, with some room. */
export function spanOf(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = high > low ? 0.05 * (high - low) : Math.max(0.5 * Math.abs(high), 0.5);
  return [low - pad, high + pad];
}

export function scatter(points: readonly Point[], x: string, y: string, open: (run: number) => void): SVGElement {
  const svg = piece("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "scatter", role: "group", "aria-label": TEXTS.scatter(y, x) });
  const known = points.filter((p): p is Point & { x: number; y: number } => p.x !== null && p.y !== null);
  if (!known.length) return svg;
  const [xs, ys] = [spanOf(known.map((p) => p.x)), spanOf(known.map((p) => p.y))];
  const across = (v: number): number => LEFT + ((v - xs[0]) / (xs[1] - xs[0])) * (WIDTH - LEFT - RIGHT);
  const up = (v: number): number => HEIGHT - BOTTOM - ((v - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM);
  const labels = (values: number[]): string[] => ticks(values, values.length > 1 ? values[1] - values[0] : 1);
  const [tx, ty] = [rounds(...xs), rounds(...ys)];
  tx.forEach((v, i) => svg.append(piece("path", { d: `M${across(v)} ${TOP}V${HEIGHT - BOTTOM}`, class: "grid" }), piece("text", { x: across(v), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, labels(tx)[i])));
  ty.forEach((v, i) => svg.append(piece("path", { d: `M${LEFT} ${up(v)}H${WIDTH - RIGHT}`, class: "grid" }), piece("text", { x: LEFT - 6, y: up(v) + 4, "text-anchor": "end" }, labels(ty)[i])));
  svg.append(piece("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, x));
  for (const p of known) {
    const dot = piece("circle", { cx: across(p.x).toFixed(1), cy: up(p.y).toFixed(1), r: known.length > 800 ? 2.5 : 4, class: p.status === "finished" ? "good" : "bad", "data-run": p.run });
    dot.append(piece("title", {}, TEXTS.pointOf(p.run, p.status)));
    svg.append(dot);
  }
  svg.addEventListener("click", (e) => {
    const run = (e.target as SVGElement).dataset["run"];
    if (run === undefined) return;
    svg.querySelectorAll(".chosen").forEach((c) => c.classList.remove("chosen"));
    (e.target as SVGElement).classList.add("chosen");
    open(Number(run));
  });
  return svg;
}

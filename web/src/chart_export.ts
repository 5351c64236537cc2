/** Numbers and pictures of a chart to take along: CSV, PNG, SVG. */
import type uPlot from "uplot";
import type { Chart } from "./chart";
import type { ChartSpec, Curve } from "./document";
import { download, el, icon, ICONS } from "./dom";
import { csv } from "./numbers";
import { colour } from "./palette";
import { texts } from "./texts";

export function saveMenu(chart: Chart): HTMLElement {
  const menu = el("details", { class: "menu" }, el("summary", { title: texts.save, "aria-label": texts.save }, icon(ICONS.save)));
  const name = (ending: string) => `${chart.spec.id.replace("chart-", "")}.${ending}`;
  const item = (words: string, act: () => void | Promise<void>) =>
    el(
      "button",
      {
        type: "button",
        click: async () => {
          await act();
          menu.open = false;
        },
      },
      words,
    );
  const copy = item(texts.copy, async () => {
    const done = await navigator.clipboard?.writeText(csvOf(chart)).then(() => true, () => false);
    copy.textContent = done ? texts.copied : texts.notCopied;
    await new Promise((seen) => setTimeout(seen, 900));
    copy.textContent = texts.copy;
  });
  menu.append(
    el(
      "div",
      {},
      item(texts.csv, () => download(name("csv"), new Blob([csvOf(chart)], { type: "text/csv" }))),
      copy,
      item(texts.png, () => png(chart, name("png"))),
      item(texts.svg, () => download(name("svg"), new Blob([svgOf(chart)], { type: "image/svg+xml" }))),
    ),
  );
  const beside = (e: Event) => {
    if (!menu.contains(e.target as Node)) menu.open = false;
  };
  menu.addEventListener("toggle", () => (menu.open ? addEventListener : removeEventListener)("pointerdown", beside));
  menu.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || !menu.open) return;
    e.stopPropagation();
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  return menu;
}

/** The curves that are seen, in the window that is seen. */
export function csvOf(chart: Chart): string {
  const { spec, table, state } = chart;
  const runs = state.engine.runs.peek();
  const several = runs.length > 1;
  const chosen = spec.curves.map((_, k) => k).filter((k) => chart.seen(k));
  if (spec.across && chart.plane) {
    const curves = chosen.map((k) => spec.curves[k]);
    const of = (c: Curve) => (several ? ` ${c.name} (${runs[c.run].name})` : "");
    const { across, axes } = spec;
    const heads = curves.flatMap((c) => [`${across.label}${of(c)} [${across.unit}]`, `${axes[0].label}${of(c)} [${axes[0].unit}]`]);
    return csv(heads, curves.flatMap((c) => [c.x!, c.y].map((ref) => state.engine.values(ref[0], ref[1], c.run))));
  }
  const [low, high] = chart.window;
  const kept = Array.from(table.x.keys()).filter((i) => table.x[i] >= low && table.x[i] <= high);
  const heads = chosen.map((k) => {
    const c = spec.curves[k];
    const { label, unit } = spec.axes[c.axis ?? 0];
    return `${label} ${c.name}${several ? ` (${runs[c.run].name})` : ""}${unit ? ` [${unit}]` : ""}`;
  });
  return csv([spec.across ? `${spec.across.label} [${spec.across.unit}]` : "t [s]", ...heads], [kept.map((i) => table.x[i]), ...chosen.map((k) => kept.map((i) => table.columns[k][i]))]);
}

/** Title and axes in one line. */
function headOf({ title, axes }: ChartSpec): string {
  const named = axes.map(({ label, unit }) => (unit ? `${label} [${unit}]` : label));
  return `${title}: ${named.length > 1 ? `${named[0]} left, ${named[1]} right` : named[0]}`;
}

interface Key {
  curve: number;
  name: string;
  x: number;
  row: number;
}

/** Which line is which, in rows of a width; targets of joints are dotted like themselves. */
export function keysOf(chart: Chart, width: number): Key[] {
  const several = chart.state.engine.runs.peek().length > 1;
  const keys: Key[] = [];
  let [x, row] = [10, 0];
  chart.spec.curves.forEach((c, curve) => {
    if (!chart.seen(curve) || c.role === "edge") return;
    const name = `${c.name}${several && c.role !== "before" ? ` (${c.run + 1})` : ""}`;
    const wide = 6.6 * name.length + 44;
    if (x > 10 && x + wide > width) [x, row] = [10, row + 1];
    keys.push({ curve, name, x, row });
    x += wide;
  });
  return keys.length > MOST_KEYS ? [] : keys;
}

const MOST_KEYS = 60;
const KEY_HEIGHT = 17;
const heightOf = (keys: readonly Key[]): number => (keys.length ? KEY_HEIGHT * (keys[keys.length - 1].row + 1) + 8 : 0);

async function png(chart: Chart, name: string): Promise<void> {
  const from = chart.plot.ctx.canvas;
  const scale = devicePixelRatio;
  const keys = keysOf(chart, chart.plot.width);
  const to = el("canvas", { width: from.width, height: from.height + Math.round((34 + heightOf(keys)) * scale) });
  const ctx = to.getContext("2d")!;
  const { fontFamily } = getComputedStyle(document.body);
  ctx.fillStyle = colour("card");
  ctx.fillRect(0, 0, to.width, to.height);
  ctx.fillStyle = colour("ink");
  ctx.font = `600 ${13 * scale}px ${fontFamily}`;
  ctx.fillText(headOf(chart.spec), 10 * scale, 20 * scale);
  ctx.drawImage(from, 0, 30 * scale);
  ctx.scale(scale, scale);
  ctx.font = `11.5px ${fontFamily}`;
  for (const { curve, name: words, x, row } of keys) {
    const y = chart.plot.height + 44 + KEY_HEIGHT * row;
    const { dash, alpha } = chart.plot.series[curve + 1] as { dash?: number[]; alpha?: number };
    ctx.strokeStyle = colour(chart.spec.curves[curve].colour);
    ctx.globalAlpha = alpha ?? 1;
    ctx.lineWidth = 2;
    ctx.setLineDash(dash ?? []);
    ctx.beginPath();
    ctx.moveTo(x, y - 4);
    ctx.lineTo(x + 22, y - 4);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("muted");
    ctx.fillText(words, x + 28, y);
  }
  const made = await new Promise<Blob | null>((done) => to.toBlob(done, "image/png"));
  if (made) download(name, made);
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The chart as a drawing: frame, grid, labels and curves, with the colours of the page. */
export function svgOf(chart: Chart): string {
  const { plot, spec } = chart;
  const k = devicePixelRatio;
  const left = plot.bbox.left / k;
  const top = plot.bbox.top / k + 26;
  const width = plot.bbox.width / k;
  const height = plot.bbox.height / k;
  const n = (v: number) => v.toFixed(2);
  const text = (x: number, y: number, anchor: string, what: string, fill = "muted", more = "") =>
    `<text x="${n(x)}" y="${n(y)}" text-anchor="${anchor}" fill="${colour(fill)}" ${more}>${escaped(what)}</text>`;
  const parts: string[] = [];
  type Drawn = uPlot.Axis & { _splits?: number[]; _values?: string[] };
  (plot.axes as Drawn[]).forEach((axis, a) => {
    (axis._splits ?? []).forEach((v, i) => {
      const p = plot.valToPos(v, axis.scale ?? "x");
      const said = axis._values?.[i] ?? "";
      if (a === 0) parts.push(`<path d="M${n(left + p)} ${n(top)}v${n(height)}" stroke="${colour("rule")}"/>`, text(left + p, top + height + 16, "middle", said));
      else if (a === 1) parts.push(`<path d="M${n(left)} ${n(top + p)}h${n(width)}" stroke="${colour("rule")}"/>`, text(left - 6, top + p + 4, "end", said));
      else parts.push(text(left + width + 6, top + p + 4, "start", said));
    });
  });
  const joints = new Set(spec.curves.filter((_, i) => chart.seen(i)).map((c) => c.joint));
  for (const { low, high, joint, axis } of spec.limits ?? [])
    for (const edge of joints.has(joint) ? [low, high] : []) {
      if (edge === null) continue;
      parts.push(`<path class="limit" clip-path="url(#inside)" d="M${n(left)} ${n(top + plot.valToPos(edge, axis ? "y2" : "y"))}h${n(width)}" stroke="${colour(`j${(joint % 8) + 1}`)}" stroke-dasharray="5 4"/>`);
    }
  spec.curves.forEach((c, i) => {
    if (!chart.seen(i) || c.role === "edge") return;
    const xs = chart.plane ? chart.state.engine.values(c.x![0], c.x![1], c.run) : chart.table.x;
    const ys = chart.plane ? chart.state.engine.values(c.y[0], c.y[1], c.run) : chart.table.columns[i];
    let d = "";
    let open = false;
    for (let j = 0; j < xs.length; j++) {
      const v = ys[j];
      if (v === null || !Number.isFinite(v)) {
        open = false;
        continue;
      }
      d += `${open ? "L" : "M"}${n(left + plot.valToPos(xs[j], "x"))} ${n(top + plot.valToPos(v, c.axis ? "y2" : "y"))}`;
      open = true;
    }
    const series = plot.series[i + 1] as { dash?: number[]; alpha?: number };
    parts.push(`<path clip-path="url(#inside)" d="${d}" fill="none" stroke="${colour(c.colour)}" stroke-width="1.6" stroke-linejoin="round" opacity="${series.alpha ?? 1}" stroke-dasharray="${(series.dash ?? []).join(" ")}"/>`);
  });
  const across = spec.across ? `${spec.across.label} [${spec.across.unit}]` : "t [s]";
  const keys = keysOf(chart, plot.width);
  const [w, bottom] = [plot.width, plot.height + 30];
  const h = bottom + heightOf(keys);
  for (const { curve, name, x, row } of keys) {
    const y = bottom + 14 + KEY_HEIGHT * row;
    const series = plot.series[curve + 1] as { dash?: number[]; alpha?: number };
    parts.push(`<path d="M${n(x)} ${n(y - 4)}h22" stroke="${colour(spec.curves[curve].colour)}" stroke-width="2" opacity="${series.alpha ?? 1}" stroke-dasharray="${(series.dash ?? []).join(" ")}"/>`, text(x + 28, y, "start", name));
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="system-ui, sans-serif" font-size="11.5">` +
    `<rect width="100%" height="100%" fill="${colour("card")}"/><clipPath id="inside"><rect x="${n(left)}" y="${n(top)}" width="${n(width)}" height="${n(height)}"/></clipPath>` +
    text(10, 18, "start", headOf(spec), "ink", 'font-weight="600" font-size="13"') +
    parts.join("") +
    text(left + width, bottom - 2, "end", across) +
    "</svg>\n"
  );
}

/** What a chart draws beside its curves: bands beyond limits, zero lines, instants. */
import type uPlot from "uplot";
import type { Chart } from "./chart";
import type { Limit } from "./document";
import { colour } from "./palette";

const STRIP = 7; // pixels
export const LETTERS = 12; // pixels of what stands at axes; whole ones, because uPlot enlarges no others for fine screens

export function paintUnder(chart: Chart, u: uPlot): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  const joints = new Set(chart.spec.curves.filter((_, k) => chart.seen(k)).map((c) => c.joint));
  const limits = (chart.spec.limits ?? []).filter((l) => joints.has(l.joint));
  const common = new Set((chart.spec.limits ?? []).map((l) => `${l.low} ${l.high} ${l.axis}`)).size === 1;
  const drawn = new Set<string>();
  for (const limit of limits)
    for (const side of ["low", "high"] as const) {
      const edge = limit[side];
      if (edge === null || drawn.has(`${edge} ${limit.axis}`)) continue;
      drawn.add(`${edge} ${limit.axis}`);
      const y = u.valToPos(edge, limit.axis ? "y2" : "y", true);
      if (y < top - 1 || y > top + height + 1) continue;
      const deep = common ? height : STRIP * devicePixelRatio; // limits of several joints would cover each other
      ctx.globalAlpha = common ? 0.1 : 0.22;
      ctx.fillStyle = common ? colour("fair") : colour(`j${(limit.joint % 8) + 1}`);
      if (side === "high") ctx.fillRect(left, Math.max(y - deep, top), width, Math.min(deep, y - top));
      else ctx.fillRect(left, y, width, Math.min(deep, top + height - y));
      ctx.globalAlpha = 0.9;
      ctx.strokeStyle = common ? colour("bad") : colour(`j${(limit.joint % 8) + 1}`);
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
      line(ctx, left, y, left + width, y);
      ctx.setLineDash([]);
    }
  for (const limit of limits) beyond(chart, u, limit);
  if (!chart.spec.axes[0].log) {
    const y = u.valToPos(0, "y", true);
    if (y > top && y < top + height) {
      ctx.globalAlpha = 0.55;
      ctx.strokeStyle = colour("muted");
      ctx.lineWidth = devicePixelRatio;
      line(ctx, left, y, left + width, y);
    }
  }
  ctx.restore();
}

export function paintOver(chart: Chart, u: uPlot): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.font = `${LETTERS * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.fillStyle = colour("muted");
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  const across = chart.spec.across;
  ctx.fillText(across ? `${across.label}${across.unit ? ` [${across.unit}]` : ""}` : "t [s]", left + width, u.ctx.canvas.height - devicePixelRatio);
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.strokeStyle = colour("fair");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 2 * devicePixelRatio]);
  for (const t of chart.spec.marks ?? []) {
    const x = u.valToPos(t, "x", true);
    line(ctx, x, top, x, top + height);
  }
  ctx.restore();
}

/** What lies beyond a limit, filled. */
function beyond(chart: Chart, u: uPlot, limit: Limit): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const scale = limit.axis ? "y2" : "y";
  chart.spec.curves.forEach((c, k) => {
    if (c.joint !== limit.joint || c.role || !chart.seen(k)) return;
    const column = chart.table.columns[k] as (number | null)[]; // or of plain numbers
    for (const [edge, sign] of [
      [limit.low, -1],
      [limit.high, 1],
    ] as const) {
      if (edge === null || !column.some((v) => v !== null && sign * (v - edge) > 1e-9 * Math.abs(edge))) continue;
      const y = u.valToPos(edge, scale, true);
      ctx.save();
      ctx.beginPath();
      if (sign > 0) ctx.rect(left, top, width, y - top);
      else ctx.rect(left, y, width, top + height - y);
      ctx.clip();
      ctx.beginPath();
      ctx.moveTo(left, y);
      column.forEach((v, i) => v !== null && ctx.lineTo(u.valToPos(chart.table.x[i], "x", true), u.valToPos(v, scale, true)));
      ctx.lineTo(left + width, y);
      ctx.closePath();
      ctx.globalAlpha = 0.4;
      ctx.fillStyle = colour("fair");
      ctx.fill();
      ctx.restore();
    }
  });
}

function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

/** Many runs as points over two of their numbers, coloured by a third. */
import { effect, signal, untracked, type Signal } from "@preact/signals-core";
import type { StudyColumn } from "./document";
import { decades, powers, ticks, type Range } from "./numbers";
import type { Numbers } from "./packed";
import { colour, colours } from "./palette";

export interface Column extends Omit<StudyColumn, "values"> {
  values: Numbers;
}
const LEFT = 62;
const BOTTOM = 34;
const PAD = 12;
const TOP = 26;
const REACH = 18; // pixels within which a point is meant
/** From few to much, readable on light and dark (stops of a ramp of even lightness). */
const RAMP = [[68, 58, 131], [49, 104, 142], [33, 145, 140], [53, 183, 121], [143, 200, 60], [240, 190, 40]];

export class Scatter {
  readonly hovered: Signal<number> = signal(-1);
  readonly chosen: Signal<number> = signal(-1);
  readonly axes: Signal<{ x: Column; y: Column; c: Column | null }>;
  private readonly context: CanvasRenderingContext2D;
  private places = new Float32Array(0); // x, y of every point, NaN: not drawn
  private readonly drawn = signal(0);

  constructor(
    readonly canvas: HTMLCanvasElement,
    axes: { x: Column; y: Column; c: Column | null },
    private readonly pick: (point: number) => void,
  ) {
    this.context = canvas.getContext("2d")!;
    this.axes = signal(axes);
    canvas.addEventListener("pointermove", (e) => (this.hovered.value = this.nearest(e.offsetX, e.offsetY)));
    canvas.addEventListener("pointerleave", () => (this.hovered.value = -1));
    canvas.addEventListener("click", (e) => this.choose(this.nearest(e.offsetX, e.offsetY)));
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.drawn.value++).observe(canvas);
    effect(() => {
      this.axes.value;
      this.hovered.value;
      this.chosen.value;
      this.drawn.value;
      colours.value;
      untracked(() => this.draw());
    });
  }

  choose(point: number): void {
    if (point < 0) return;
    this.chosen.value = point;
    this.pick(point);
  }

  /** Where a point stands on the canvas, for people who script the page. */
  place(point: number): [number, number] {
    return [this.places[2 * point], this.places[2 * point + 1]];
  }

  private key(e: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
    if (by) {
      const order = this.order();
      const at = order.indexOf(Math.max(this.hovered.peek(), 0) === 0 && this.hovered.peek() < 0 ? this.chosen.peek() : this.hovered.peek());
      this.hovered.value = order[(at + by + order.length) % order.length] ?? -1;
    } else if (e.key === "Enter" && this.hovered.peek() >= 0) this.choose(this.hovered.peek());
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Points that are drawn, from left to right. */
  private order(): number[] {
    const count = this.places.length / 2;
    return Array.from({ length: count }, (_, k) => k).filter((k) => !Number.isNaN(this.places[2 * k])).sort((a, b) => this.places[2 * a] - this.places[2 * b]);
  }

  private nearest(x: number, y: number): number {
    let [found, best] = [-1, REACH * REACH];
    for (let k = 0; k < this.places.length / 2; k++) {
      const d = (this.places[2 * k] - x) ** 2 + (this.places[2 * k + 1] - y) ** 2;
      if (d < best) [found, best] = [k, d];
    }
    return found;
  }

  private draw(): void {
    const { canvas, context } = this;
    const { x, y, c } = this.axes.peek();
    const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, Math.min(devicePixelRatio || 1, 2)];
    if (!width || !height) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
    const across = new Scale(x, LEFT, width - PAD);
    const up = new Scale(y, height - BOTTOM, TOP);
    this.grid(across, up, width, height);
    const count = x.values.length;
    this.places = new Float32Array(2 * count);
    const shade = c ? shades(c) : () => colour("accent");
    context.globalAlpha = count > 2000 ? 0.55 : 0.8;
    for (let k = 0; k < count; k++) {
      const [px, py] = [across.at(x.values[k], k), up.at(y.values[k], k)];
      this.places[2 * k] = px;
      this.places[2 * k + 1] = py;
      if (Number.isNaN(px) || Number.isNaN(py)) {
        this.places[2 * k] = NaN;
        continue;
      }
      context.fillStyle = shade(k);
      context.beginPath();
      context.arc(px, py, count > 2000 ? 2.4 : 3.4, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
    for (const [point, size] of [[this.chosen.peek(), 8], [this.hovered.peek(), 6]]) this.ring(point, size);
  }

  private ring(point: number, size: number): void {
    if (point < 0 || Number.isNaN(this.places[2 * point])) return;
    const { context } = this;
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(this.places[2 * point], this.places[2 * point + 1], size, 0, 7);
    context.stroke();
  }

  private grid(across: Scale, up: Scale, width: number, height: number): void {
    const { context } = this;
    context.strokeStyle = colour("rule");
    context.fillStyle = colour("muted");
    context.lineWidth = 1;
    const { x, y } = this.axes.peek();
    for (const [value, text] of across.marks(Math.max(2, Math.floor(width / 110)))) {
      const at = Math.round(across.at(value)) + 0.5;
      line(context, at, TOP, at, height - BOTTOM);
      context.textAlign = "center";
      context.fillText(text, Math.min(at, width - 22), height - BOTTOM + 14);
    }
    for (const [value, text] of up.marks(Math.max(2, Math.floor(height / 52)))) {
      const at = Math.round(up.at(value)) + 0.5;
      line(context, LEFT, at, width - PAD, at);
      context.textAlign = "right";
      context.fillText(text, LEFT - 6, at + 4);
    }
    context.fillStyle = colour("ink");
    context.textAlign = "right";
    context.fillText(titleOf(x), width - PAD, height - 4);
    context.textAlign = "left";
    context.fillText(titleOf(y), LEFT, PAD + 2);
  }
}

export function titleOf(column: Pick<Column, "name" | "unit">): string {
  return `${column.name}${column.unit ? ` [${column.unit}]` : ""}`;
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** Least and largest of what is finite. */
export function extent(values: Numbers): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (!Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

/** Numbers to pixels; words get a lane each, over which their points are spread a little. */
class Scale {
  private readonly low: number;
  private readonly high: number;
  private readonly log: boolean;
  constructor(
    private readonly column: Column,
    private readonly from: number,
    private readonly to: number,
  ) {
    let [low, high] = column.words ? [-0.5, column.words.length - 0.5] : extent(column.values);
    this.log = Boolean(column.log) && low > 0;
    if (!(high > low)) [low, high] = Number.isFinite(low) ? [low - (Math.abs(low) || 1) * 0.05, low + (Math.abs(low) || 1) * 0.05] : [0, 1];
    const pad = column.words ? 0 : 0.04;
    const [a, b] = this.log ? [Math.log10(low), Math.log10(high)] : [low, high];
    this.low = a - pad * (b - a);
    this.high = b + pad * (b - a);
  }

  at(value: number, spread?: number): number {
    let v = this.log ? Math.log10(value) : value;
    if (this.column.words && spread !== undefined) v += 0.5 * (((spread * 0.61803398875) % 1) - 0.5);
    return this.from + ((v - this.low) / (this.high - this.low)) * (this.to - this.from);
  }

  marks(most: number): [number, string][] {
    if (this.column.words) return this.column.words.slice(0, 12).map((word, k) => [k, word.length > 14 ? `${word.slice(0, 13)}…` : word]);
    if (this.log && this.high - this.low >= 1) {
      const places = decades(10 ** this.low, 10 ** this.high, most);
      const words = powers(places);
      return places.map((v, i) => [v, words[i]]);
    }
    const [low, high] = this.log ? [10 ** this.low, 10 ** this.high] : [this.low, this.high];
    const rough = (high - low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * (rough / unit > 5 ? 10 : rough / unit > 2 ? 5 : rough / unit > 1 ? 2 : 1);
    const values: number[] = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(k * step);
    return ticks(values, step).map((text, k) => [values[k], text]);
  }
}

/** Words have the colours of joints, numbers a ramp. */
export function shades(column: Column): (point: number) => string {
  const { words, values } = column;
  if (words) return (k) => colour(`j${(values[k] % 8) + 1}`);
  const [least, most] = extent(values);
  const log = column.log && least > 0;
  const [low, high] = log ? [Math.log(least), Math.log(most)] : [least, most];
  return (k) => {
    const v = log ? Math.log(values[k]) : values[k];
    return Number.isFinite(v) ? ramp(high > low ? (v - low) / (high - low) : 0.5) : colour("muted");
  };
}

export function ramp(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const k = Math.min(Math.floor(at), RAMP.length - 2);
  const mixed = RAMP[k].map((v, i) => Math.round(v + (at - k) * (RAMP[k + 1][i] - v)));
  return `rgb(${mixed.join(",")})`;
}

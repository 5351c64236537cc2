/** A chart as an instrument: a cursor that the arm follows, zoom, shift, pinned moments, limits as bands, curves that can be hidden, data and picture to take along. */
import { effect, untracked } from "@preact/signals-core";
import uPlot from "uplot";
import { rangesOf, tableOf, timesOf, type Table } from "./chart_data";
import { saveMenu } from "./chart_export";
import { Legend } from "./chart_legend";
import { chartGestures } from "./chart_gestures";
import { LETTERS, paintOver, paintUnder } from "./chart_paint";
import type { ChartSpec } from "./document";
import { el, icon, ICONS } from "./dom";
import { at, decades, powers, ticks, type Range } from "./numbers";
import { colour, colours } from "./palette";
import { keyOf, type State } from "./state";
import { texts } from "./texts";

const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 4, 2, 4]];
const HEIGHT = 210;
const ALONE = 0.5; // s on both sides of a run that is one sample
const AXIS_KEYS = ["y", "y2"];

export class Chart {
  readonly plot: uPlot;
  table: Table;
  /** Ranges that somebody chose by drawing a box; else they follow what is seen. */
  box: Range[] | null = null;
  boxX: Range | null = null; // of a chart that is not over time
  /** A place on an axis that is not time, under the pointer. */
  spot: number | null = null;
  private readonly stage = el("div", { class: "plot" });
  private readonly cursor = el("div", { class: "cursor", hidden: true });
  private readonly pins = [0, 1].map((k) => el("div", { class: "pin", hidden: true }, el("span", {}, "AB"[k])));
  private readonly dot = el("div", { class: "dot", hidden: true });
  private readonly legend: Legend;
  private ranges: Range[] = [];
  private near = true; // a chart that nobody sees waits
  private readonly ends: (() => void)[] = [];

  constructor(
    readonly figure: HTMLElement,
    readonly spec: ChartSpec,
    readonly state: State,
  ) {
    this.table = tableOf(spec, state.engine);
    this.legend = new Legend(spec, state);
    const reset = el("button", { type: "button", title: texts.reset, "aria-label": texts.reset, class: "reset", hidden: true, click: () => this.reset() }, icon(ICONS.all));
    const pin = el("button", { type: "button", title: texts.pin, "aria-label": texts.pin, class: "pinner", click: () => this.pinOrFree() }, icon(ICONS.pin));
    const stale = el("span", { class: "stale", hidden: true }, texts.recordedOnly);
    const left = spec.axes[0];
    const right = spec.axes[1];
    const named = (a: { label: string; unit: string }) => `${a.label}${a.unit ? ` [${a.unit}]` : ""}`;
    figure.replaceChildren(
      el("figcaption", {}, el("b", {}, spec.title), stale, el("span", { class: "tools" }, spec.across ? null : pin, reset, saveMenu(this))),
      el("div", { class: "units" }, el("span", {}, named(left)), el("span", {}, right ? named(right) : "")),
      this.stage,
      this.legend.element,
      ...(spec.remark ? [el("p", { class: "remark" }, spec.remark)] : []),
    );
    this.plot = new uPlot(this.options(), this.data(), this.stage);
    this.plot.ctx.canvas.setAttribute("aria-hidden", "true"); // what stands over it has the name and the keys
    this.plot.over.append(this.cursor, ...this.pins, this.dot);
    this.plot.over.tabIndex = 0;
    this.plot.over.setAttribute("role", "group");
    this.plot.over.setAttribute("aria-label", `${spec.title}. ${texts.chartKeys}`);
    chartGestures(this);
    new ResizeObserver(() => this.fit()).observe(this.stage);
    this.follow(pin, stale);
  }

  /** Is curve k seen? */
  seen = (k: number): boolean => {
    const curve = this.spec.curves[k];
    return !this.state.hidden.peek().has(keyOf(this.spec.id, curve)) && (curve.role !== "before" || this.state.engine.changed.peek());
  };

  /** Are two signals drawn over each other? */
  get plane(): boolean {
    return this.spec.curves[0]?.x !== undefined;
  }

  /** What is seen across: a window of time, or a box in a plane. */
  get window(): Range {
    const x = this.table.x;
    if (this.spec.across) return this.boxX ?? (this.plane ? this.planeRange() : [x[0], x[x.length - 1]]);
    const [from, to] = [this.state.clock.start.peek(), this.state.clock.end.peek() || x[x.length - 1]];
    return this.state.window.peek() ?? (to > from ? [from, to] : [from - ALONE, from + ALONE]);
  }

  lookAt(low: number, high: number): void {
    if (!this.spec.across) this.state.look(low, high);
    else {
      this.boxX = [low, high];
      this.redraw();
    }
  }

  reset(): void {
    this.box = null;
    this.boxX = null;
    if (this.state.window.peek() === null || this.spec.across) this.redraw();
    this.state.window.value = null;
  }

  pinOrFree(): void {
    if (this.state.pins.peek().length === 2) this.state.pins.value = [];
    else this.state.pin();
  }

  redraw(): void {
    this.ranges = this.rangesNow();
    const [low, high] = this.window;
    this.plot.batch(() => { // one picture: another range of x rebuilds all curves
      this.showSeen();
      this.plot.setScale("x", { min: low, max: high });
      this.spec.axes.forEach((_, k) => {
        const [min, max] = this.box?.[k] ?? this.ranges[k];
        this.plot.setScale(AXIS_KEYS[k], { min, max });
      });
    });
    this.drawn();
  }

  /** After a picture: the button back to the whole, cursor, pins and legend. */
  private drawn(): void {
    this.figure.querySelector<HTMLElement>(".reset")!.hidden = !(this.box || this.boxX || (!this.spec.across && this.state.window.peek()));
    this.mark();
  }

  private rangesNow(): Range[] {
    return rangesOf(this.spec, this.table, this.seen, this.spec.across ? null : this.state.window.peek());
  }

  private data(): uPlot.AlignedData {
    if (!this.plane) return [this.table.x, ...this.table.columns] as unknown as uPlot.AlignedData;
    const engine = this.state.engine;
    const pairs = this.spec.curves.map((c) => [engine.values(c.x![0], c.x![1], c.run), engine.values(c.y[0], c.y[1], c.run)]);
    return [null, ...pairs] as unknown as uPlot.AlignedData;
  }

  private planeRange(): Range {
    const { across, curves } = this.spec;
    let [low, high] = [Infinity, -Infinity];
    for (const c of curves)
      for (const v of this.state.engine.values(c.x![0], c.x![1], c.run)) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    const pad = Math.max(0.06 * (high - low), (high - low <= across!.noise * across!.size ? 0.05 : 0) * across!.size);
    return [low - pad, high + pad];
  }

  private options(): uPlot.Options {
    const { spec } = this;
    const font = `${LETTERS}px ${getComputedStyle(document.body).fontFamily}`;
    const grid = { stroke: () => colour("rule"), width: 1 };
    const frame = { stroke: () => colour("muted"), font, grid, ticks: { show: false } };
    const values = (_: uPlot, splits: number[]) => {
      const known = splits.filter((v) => v !== null && v !== undefined);
      return ticks(known, known.length > 1 ? Math.abs(known[1] - known[0]) : 1);
    };
    const logarithmic = { splits: (_: uPlot, __: number, low: number, high: number) => decades(low, high), values: (_: uPlot, splits: number[]) => powers(splits), filter: (_: uPlot, splits: number[]) => splits };
    const size = (u: uPlot, labels: string[] | null) => {
      if (!labels) return 40;
      u.ctx.save();
      u.ctx.font = font;
      const width = Math.max(...labels.map((text) => u.ctx.measureText(text ?? "").width));
      u.ctx.restore();
      return Math.ceil(width + 14);
    };
    const scale = (k: number): uPlot.Scale => ({
      auto: false,
      distr: spec.axes[k].log ? 3 : 1,
      range: () => this.box?.[k] ?? (this.ranges.length ? this.ranges : (this.ranges = this.rangesNow()))[k],
    });
    const across = spec.across;
    return {
      width: Math.max(this.stage.clientWidth, 200),
      height: HEIGHT,
      ...(this.plane ? { mode: 2 as const } : {}),
      pxAlign: 0,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, spec.axes.length > 1 ? 0 : 14, 0, 0],
      scales: {
        x: { time: false, auto: false, distr: across?.log ? 3 : 1, range: () => this.window },
        y: scale(0),
        ...(spec.axes[1] ? { y2: scale(1) } : {}),
      },
      axes: [
        { ...frame, size: 34, labelSize: 0, values, space: 56, ...(across?.log ? logarithmic : {}) },
        { ...frame, scale: "y", size, values, space: 34, ...(spec.axes[0].log ? logarithmic : {}) },
        ...(spec.axes[1] ? [{ ...frame, scale: "y2", side: 1, size, values, space: 34, grid: { show: false } }] : []),
      ],
      series: [this.plane ? (null as unknown as uPlot.Series) : {}, ...spec.curves.map((c) => this.series(c))],
      ...(spec.bands?.length
        ? { bands: spec.bands.map(([high, low]) => ({ series: [high + 1, low + 1] as [number, number], fill: () => faded(colour(spec.curves[high].colour), 0.18) })) }
        : {}),
      hooks: { drawAxes: [(u) => paintUnder(this, u)], draw: [(u) => paintOver(this, u)] },
    };
  }

  private series(c: ChartSpec["curves"][number]): uPlot.Series {
    const dash = c.role === "target" ? [2, 3] : DASHES[(c.dash + (c.role === "before" ? 0 : c.run)) % DASHES.length];
    const alpha = c.role === "target" || c.role === "before" ? 0.5 : c.role === "faint" ? 0.45 : 1;
    return {
      scale: AXIS_KEYS[c.axis ?? 0],
      stroke: () => (c.role === "edge" ? "transparent" : colour(c.colour)),
      width: widthOf(c),
      alpha,
      dash,
      points: { show: (u: uPlot) => !this.plane && u.data[0].length === 1 && c.role !== "edge", size: 7, fill: () => colour(c.colour) }, // one sample is no line
      spanGaps: false,
      show: this.seen(this.spec.curves.indexOf(c)),
      ...(this.plane ? { facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }], paths: planePath } : {}),
    } as uPlot.Series;
  }

  /** The chart is as wide as its place. */
  fit(): void {
    const width = this.stage.clientWidth;
    if (width > 0 && Math.abs(width - this.plot.width) > 0.5) {
      this.plot.setSize({ width, height: HEIGHT });
      this.mark();
    }
  }

  /** Draw again what changed, and only that. */
  private follow(pin: HTMLElement, stale: HTMLElement): void {
    const { state, spec } = this;
    let first = true;
    let old = false;
    const renew = () => {
      old = !this.near;
      if (old) return;
      this.table = tableOf(spec, state.engine);
      this.plot.setData(this.data(), false);
      stale.hidden = spec.curves.every((c) => c.role === "before" || state.engine.current(c.y[0], c.run));
      this.redraw();
    };
    const watch = new IntersectionObserver((entries) => {
      this.near = entries[entries.length - 1].isIntersecting;
      if (this.near && old) renew();
      if (this.near) this.mark();
    });
    watch.observe(this.figure);
    this.ends.push(() => watch.disconnect());
    const print = () => {
      this.near = true;
      if (old) renew();
    };
    addEventListener("beforeprint", print);
    this.ends.push(() => removeEventListener("beforeprint", print));
    this.whenever(() => {
      state.engine.runs.value;
      if (!first) untracked(renew);
    });
    this.whenever(() => {
      state.hidden.value;
      state.window.value;
      if (first) queueMicrotask(() => this.drawn()); // uPlot draws its first picture itself, just before that
      else untracked(() => this.redraw());
    });
    this.whenever(() => {
      colours.value;
      if (!first) this.plot.redraw(false, true);
    });
    this.whenever(() => {
      const joint = state.selected.value;
      if (first) return;
      spec.curves.forEach((c, k) => (this.plot.series[k + 1].width = widthOf(c) * (joint !== null && c.joint === joint ? 2 : 1)));
      this.plot.redraw(false);
    });
    this.whenever(() => {
      state.clock.shown.value;
      state.clock.playing.value;
      const pins = state.pins.value;
      pin.classList.toggle("on", pins.length > 0);
      const words = pins.length === 2 ? texts.unpin : texts.pin;
      pin.setAttribute("aria-label", words);
      pin.title = words;
      untracked(() => this.mark());
    });
    first = false;
  }

  private whenever(work: () => void): void {
    this.ends.push(effect(work));
  }

  /** The chart is gone: nothing draws it any more. */
  dispose(): void {
    for (const end of this.ends.splice(0)) end();
    this.plot.destroy();
  }

  private showSeen(): void {
    this.spec.curves.forEach((_, k) => {
      if (this.plot.series[k + 1].show !== this.seen(k)) this.plot.setSeries(k + 1, { show: this.seen(k) });
    });
  }

  /** Cursor, pins and legend at the moment that is shown. */
  mark(): void {
    if (!this.plot || !this.near) return;
    const t = this.state.clock.shown.peek();
    const width = this.plot.bbox.width / devicePixelRatio;
    const put = (line: HTMLElement, x: number, y?: number) => {
      line.hidden = !(x >= -0.5 && x <= width + 0.5);
      if (!line.hidden) line.style.transform = `translate(${x}px, ${y ?? 0}px)`;
    };
    if (this.spec.across && !this.plane) {
      if (this.spot === null) this.cursor.hidden = true;
      else put(this.cursor, this.plot.valToPos(this.spot, "x"));
    } else if (this.spec.across) {
      const c = this.spec.curves[0];
      const [times, engine] = [timesOf(c, this.state.engine), this.state.engine];
      const x = at(times, engine.values(c.x![0], c.x![1], c.run), t);
      const y = at(times, engine.values(c.y[0], c.y[1], c.run), t);
      this.dot.style.background = colour(c.colour);
      put(this.dot, this.plot.valToPos(x, "x"), this.plot.valToPos(y, "y"));
    } else {
      put(this.cursor, this.plot.valToPos(t, "x"));
      this.pins.forEach((line, k) => {
        const when = this.state.pins.peek()[k];
        if (when === undefined) line.hidden = true;
        else put(line, this.plot.valToPos(when, "x"));
      });
    }
    if (this.spec.across && !this.plane) this.legend.tell(this.spot ?? this.peak(), []);
    else this.legend.tell(t, this.state.pins.peek());
  }

  /** Where the largest value lies that is seen. */
  private peak(): number {
    let [best, at] = [-Infinity, 0];
    this.table.columns.forEach((column, k) => {
      if (this.seen(k)) (column as (number | null)[]).forEach((v, i) => v !== null && v > best && ([best, at] = [v, this.table.x[i]]));
    });
    return at;
  }
}

const widthOf = (c: ChartSpec["curves"][number]): number => (c.role === "edge" ? 0 : c.thick ? 2.4 : c.role === "target" || c.role === "faint" || c.role === "before" ? 1.2 : 1.6);

/** A colour with less of itself; canvases take no colour-mix in every browser. */
function faded(value: string, share: number): string {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(value.slice(k, k + 2), 16));
  return `rgba(${r},${g},${b},${share})`;
}

/** A line through points in the order of time, whatever their x. */
const planePath = ((u: uPlot, k: number) => {
  const [xs, ys] = u.data[k] as unknown as [ArrayLike<number>, ArrayLike<number>];
  const path = new Path2D();
  for (let i = 0; i < xs.length; i++) {
    const x = u.valToPos(xs[i], "x", true);
    const y = u.valToPos(ys[i], "y", true);
    if (i === 0) path.moveTo(x, y);
    else path.lineTo(x, y);
  }
  return { stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 0 };
}) as unknown as uPlot.Series.PathBuilder;

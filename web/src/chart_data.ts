/** Curves of a chart as columns over one horizontal axis, and the ranges in which they are seen. */
import type { Axis, ChartSpec, Curve, Limit } from "./document";
import type { Engine } from "./engine";
import { aligned, onto, steady, union, type Column, type Range } from "./numbers";
import type { Numbers } from "./packed";

/** Recorded signals have 4 bytes a number: what changes by less than its last digits is rounding. */
const FOUR_BYTES = 2 ** -22;
/** A limit further away than this share of what is seen is not drawn. */
const NEAR = 0.35;

export interface Table {
  x: Numbers;
  columns: Column[];
  /** Columns whose numbers were stored in 4 bytes. */
  rounded: boolean[];
}

export function timesOf(curve: Curve, engine: Engine): Numbers {
  return curve.t !== undefined ? engine.values(curve.t, 0, 1) : engine.runs.value[curve.run].t;
}

export function tableOf(spec: ChartSpec, engine: Engine): Table {
  const times = spec.curves.map((c) => timesOf(c, engine));
  const x = union(times);
  const values = spec.curves.map((c) => engine.values(c.y[0], c.y[1], c.run));
  return { x, columns: values.map((v, k) => onto(x, times[k], v)), rounded: values.map((v) => v instanceof Float32Array) };
}

/** Least and largest of the curves that are seen, over a window of x. */
export function extent(columns: readonly Column[], x: ArrayLike<number>, window: Range | null, floor = -Infinity): Range {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns)
    for (let i = 0; i < column.length; i++) {
      const v = column[i];
      if (v === null || v < floor || (window && (x[i] < window[0] || x[i] > window[1]))) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  return [low, high];
}

/** One axis around what is seen, with the limits that are near; `rounded`: its numbers have 4 bytes. */
export function axisRange(axis: Axis, [low, high]: Range, limits: readonly Limit[], rounded = false): Range {
  if (axis.log) {
    const least = Math.max(low, axis.floor ?? 0, Number.MIN_VALUE);
    if (!(high > 0)) return [1e-12, 1];
    const down = 10 ** Math.floor(Math.log10(least) + 1e-9);
    const up = 10 ** Math.ceil(Math.log10(high) - 1e-9);
    return [down, up > down ? up : down * 10];
  }
  const digits = rounded ? (FOUR_BYTES * Math.max(Math.abs(low), Math.abs(high))) / axis.size : 0;
  let range = steady(low, high, axis.size, Math.max(axis.noise, Number.isFinite(digits) ? digits : 0));
  const room = NEAR * (range[1] - range[0]);
  const margin = 0.05 * (range[1] - range[0]);
  let [bottom, top] = range;
  for (const edge of limits.flatMap((l) => [l.low, l.high]))
    if (edge !== null && edge >= range[0] - room && edge <= range[1] + room) {
      bottom = Math.min(bottom, edge - margin);
      top = Math.max(top, edge + margin);
    }
  range = [bottom, top];
  if (axis.low !== undefined && range[0] < axis.low + margin) range = [axis.low, range[1]];
  return range;
}

/** Ranges of all axes of a chart; where there are two, their zeros are at the same height. */
export function rangesOf(spec: ChartSpec, table: Table, seen: (curve: number) => boolean, window: Range | null): Range[] {
  const ranges = spec.axes.map((axis, k) => {
    const mine = spec.curves.map((c, i) => ((c.axis ?? 0) === k && seen(i) ? i : -1)).filter((i) => i >= 0);
    const columns = mine.map((i) => table.columns[i]);
    const shownJoints = new Set(mine.map((i) => spec.curves[i].joint));
    const limits = (spec.limits ?? []).filter((l) => l.axis === k && shownJoints.has(l.joint));
    return axisRange(axis, extent(columns, table.x, window, axis.log ? (axis.floor ?? 0) : -Infinity), limits, mine.some((i) => table.rounded[i]));
  });
  return ranges.length === 2 && !spec.axes.some((a) => a.log) ? aligned(ranges[0], ranges[1]) : ranges;
}

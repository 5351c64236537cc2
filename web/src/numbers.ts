/** Numbers for people, and what charts need to know about ranges of numbers. */
import type { Numbers } from "./packed";

const UP = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Four digits, a true minus sign, powers of ten where they read better. */
export function shown(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(Math.max(digits - 2, 0)).split("e");
  return `${String(Number(mantissa)).replace("-", "−")}·10${raised(Number(exponent))}`;
}

/** A sentence whose numbers are written as on a page: `-2.2e-11` becomes −2.2·10⁻¹¹. */
export function typeset(text: string): string {
  return text.replace(/(?<![\w.])(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(?![\w.]*\w)/g, (_, minus: string, digits: string, exponent?: string) => `${minus && "−"}${digits}${exponent === undefined ? "" : `·10${raised(Number(exponent))}`}`);
}

/** A number stays in one line with what it is of, and with its unit: "t = 0 s". */
export const unbroken = (words: string): string => words.replace(/ = /g, "\u00a0=\u00a0").replace(/([\d⁰¹²³⁴-⁹]) (?=\p{L})/gu, "$1\u00a0");

function raised(exponent: number): string {
  return (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map((d) => UP[Number(d)]).join("");
}

/** A fixed number of decimals; nothing is shown as minus zero. */
export function fixed(value: number, decimals = 3): string {
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** Decimals with which lengths of an arm of that size [m] are told: a millimetre, and finer where the arm is small. */
export const decimalsFor = (size: number, usual = 3): number => Math.min(12, Math.max(usual, usual - 1 - Math.floor(Math.log10(size))));

/** Labels of an axis: as many decimals as the distance of its ticks needs. */
export function ticks(values: readonly number[], step: number): string[] {
  const size = Math.max(...values.map(Math.abs), 0);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return values.map((v) => shown(Math.abs(v) < step * 1e-6 ? 0 : v, 3));
  let decimals = 0;
  while (decimals < 12 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 * step * 10 ** decimals) decimals++;
  return values.map((v) => fixed(v, decimals));
}

/** Powers of ten from low to high, at most `most` of them. */
export function decades(low: number, high: number, most = 6): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const out: number[] = [];
  for (let k = first; k <= last; k += every) out.push(Number(`1e${k}`));
  return out;
}

/** Powers of ten for people, all of an axis in one form: 0.01, 0.1, 1 or 10⁻⁵ … 10⁻¹. */
export function powers(values: readonly number[]): string[] {
  const exponents = values.map((value) => Math.round(Math.log10(value)));
  const plain = exponents.every((k) => k >= -2 && k <= 3);
  return exponents.map((k) => (plain ? String(Number(`1e${k}`)) : k ? `10${raised(k)}` : "1"));
}

/** Index of the last time ≤ t. */
export function before(times: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = times.length - 1;
  if (high < 0 || t <= times[0]) return 0;
  if (t >= times[high]) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

/** The value at t on the straight line between two samples; NaN outside. */
export function at(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  const last = times.length - 1;
  if (last < 0 || t < times[0] || t > times[last]) return NaN;
  const i = before(times, t);
  if (i === last || times[i] === t) return values[i];
  const f = (t - times[i]) / (times[i + 1] - times[i]);
  return values[i] * (1 - f) + values[i + 1] * f;
}

/** All times of several runs, each once. */
export function union(times: readonly Numbers[]): Numbers {
  if (times.every((t) => same(t, times[0]))) return times[0] ?? new Float64Array(0);
  const every = new Set<number>();
  for (const t of times) for (let i = 0; i < t.length; i++) every.add(t[i]);
  return Float64Array.from(every).sort();
}

export function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A curve over one axis; what is no number is null. */
export type Column = Numbers | (number | null)[];

/** Values at other times; gaps are null. Without gaps and at the same times they are the values themselves: nothing is copied while somebody moves a slider. */
export function onto(x: Numbers, times: ArrayLike<number>, values: Numbers): Column {
  const direct = same(x, times);
  if (direct && values.length === x.length && values.every(Number.isFinite)) return values;
  const out: (number | null)[] = new Array(x.length);
  for (let i = 0; i < x.length; i++) {
    const v = direct ? values[i] : at(times, values, x[i]);
    out[i] = Number.isFinite(v) ? v : null;
  }
  return out;
}

export type Range = [number, number];

/** An axis that shows low … high with a margin, and does not magnify rounding: changes below `noise` × `size` are a straight line. */
export function steady(low: number, high: number, size: number, noise: number): Range {
  if (!(high >= low)) return [-0.05 * size || -1, 0.05 * size || 1];
  if (high - low <= noise * size || high === low) {
    const centre = Math.max(Math.abs(low), Math.abs(high)) > noise * size ? (low + high) / 2 : 0;
    const half = 0.05 * Math.max(size, Math.abs(centre)) || 1;
    return [centre - half, centre + half];
  }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}

/** Two axes with their zeros at the same height; both grow, neither shrinks. */
export function aligned(a: Range, b: Range): [Range, Range] {
  const grown = ([low, high]: Range): Range => [Math.min(low, 0), Math.max(high, 0)];
  const [x, y] = [grown(a), grown(b)];
  const share = ([low, high]: Range) => (high > low ? -low / (high - low) : 0);
  const low = Math.max(share(x), share(y));
  const high = Math.max(1 - share(x), 1 - share(y));
  const zero = low / (low + high);
  const fit = ([down, up]: Range): Range => {
    const span = Math.max(zero > 0 ? -down / zero : 0, zero < 1 ? up / (1 - zero) : 0);
    return [-zero * span, (1 - zero) * span];
  };
  return [fit(x), fit(y)];
}

/** A text as a cell of a CSV file; one that a spreadsheet would compute is made harmless. */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(heads: readonly string[], columns: readonly ArrayLike<number | null>[]): string {
  const rows = [heads.map(cell).join(",")];
  const count = Math.max(0, ...columns.map((c) => c.length));
  for (let i = 0; i < count; i++) rows.push(columns.map((c) => (i >= c.length || c[i] === null || Number.isNaN(c[i]) ? "" : String(c[i]))).join(","));
  return rows.join("\r\n") + "\r\n";
}

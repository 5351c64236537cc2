/** Numbers, formulas and lists as people type them. */
import type { Json } from "./store";

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** A number, or a formula as text. `−` and a comma between digits are understood. */
export function parsed(text: string): Json | undefined {
  const plain = text.trim().replaceAll("−", "-");
  if (!plain) return undefined;
  if (DECIMAL.test(plain) && Number.isFinite(Number(plain))) return Number(plain);
  return plain;
}

/** `1, 2, 3` or `1 2 3`: a list; formulas are separated by commas or semicolons. */
export function parsedList(text: string): Json[] {
  const plain = text.trim().replace(/^\[/, "").replace(/\]$/, "");
  if (!plain) return [];
  const words = plain.split(/\s+/); // numbers alone may stand side by side: `10 - 5` is one formula
  const byWord = words.every((word) => DECIMAL.test(word.replace("−", "-"))) ? words : splitOutside(plain);
  if (!byWord.at(-1)?.trim()) byWord.pop(); // more is about to be typed
  return byWord.map((word) => parsed(word) ?? ""); // a value that is missing between others is told by the server
}

/** Split at commas and semicolons that stand outside parentheses. */
function splitOutside(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let word = "";
  for (const letter of text) {
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    if ((letter === "," || letter === ";") && depth <= 0) {
      parts.push(word);
      word = "";
    } else word += letter;
  }
  return [...parts, word];
}

/** One number, or a list where there is a comma, a semicolon or several words. */
export function parsedEach(text: string): Json | undefined {
  const list = parsedList(text);
  return list.length > 1 || text.trim().startsWith("[") ? list : list[0];
}

export const parsedRows = (text: string): Json[] =>
  text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => parsedList(line));

/** A multiple of π/12 is shown as such. */
function asTurn(value: number): string | null {
  const parts = (value / Math.PI) * 12;
  const k = Math.round(parts);
  if (!k || Math.abs(parts - k) > 1e-11 || Math.abs(k) > 24) return null;
  const gcd = (a: number, b: number): number => (b ? gcd(b, a % b) : a);
  const g = gcd(Math.abs(k), 12);
  const [top, under] = [Math.abs(k) / g, 12 / g];
  return `${k < 0 ? "-" : ""}${top === 1 ? "" : `${top}*`}pi${under === 1 ? "" : `/${under}`}`;
}

/** An angle as people write it. */
export const writtenAngle = (value: Json | undefined): string => (typeof value === "number" ? (asTurn(value) ?? written(value)) : written(value));

/** A number of a box in seven digits, an angle as a part of π where it is one; what is kept has all digits. */
export const easy = (value: number, unit: string): string => (unit.startsWith("rad") && !unit.includes("/") ? asTurn(value) : null) ?? written(Number(value.toPrecision(7)));

export function written(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return Object.is(value, -0) ? "0" : String(Math.abs(value) >= 1e-4 || value === 0 ? Number(value.toPrecision(12)) : value);
  if (Array.isArray(value)) return value.every((v) => Array.isArray(v)) && value.length ? value.map((row) => written(row)).join("\n") : value.map((v) => written(v)).join(", ");
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

/** A shape of a slider: from and to, on a logarithmic scale for positive numbers. */
export interface Scale {
  log: boolean;
  low: number;
  high: number;
}

export function scaleAround(value: number, least?: number, most?: number): Scale {
  if (value > 0 && (least === undefined || least >= 0)) {
    return { log: true, low: Math.max(value / 30, least && least > 0 ? least : 0), high: Math.min(value * 30, most ?? Infinity) };
  }
  const reach = Math.max(1, 3 * Math.abs(value));
  return { log: false, low: Math.max(value - reach, least ?? -Infinity), high: Math.min(value + reach, most ?? Infinity) };
}

export const toSlider = (s: Scale, value: number): number =>
  s.log ? (1000 * Math.log(value / s.low)) / Math.log(s.high / s.low) : (1000 * (value - s.low)) / (s.high - s.low);

export function fromSlider(s: Scale, place: number): number {
  const value = s.log ? s.low * (s.high / s.low) ** (place / 1000) : s.low + ((s.high - s.low) * place) / 1000;
  return Number(value.toPrecision(4));
}

/** What Python tells the viewer (reports/content.py, charts.py, mechanism.py). A number named `…: ArrayId` is the place of an array. */
import type { Changeable, Stepping } from "./integrate";
import type { ArrayInfo } from "./packed";

export type ArrayId = number;
export type Ref = [ArrayId, number]; // an array and its column

export interface Ellipsoid {
  mass: number;
  com: number[];
  axes: number[]; // 3 × 3, principal axes in columns
  half: number[];
}
export interface Body {
  name: string;
  parent: number; // -1: the base
  slides: boolean;
  axis: number[];
  placement: number[]; // 3 × 4
  frame: number[]; // 3 × 4
  inertia: Ellipsoid | null;
}
export interface Surface {
  body: number;
  corners: ArrayId;
  faces: ArrayId;
  colour: number[];
}
export interface Mechanism {
  name: string;
  joints: number;
  bodies: Body[];
  followers: { leader: number; ratio: number; offset: number }[];
  base: number[];
  tip: { body: number; pose: number[] } | null;
  surfaces: Surface[];
  notes: string[];
  plane: number[] | null;
  low: number[];
  high: number[];
  size: number;
}
export interface Axis {
  label: string;
  unit: string;
  size: number; // what is natural here
  noise: number; // of that: changes below are rounding
  log?: boolean | null;
  floor?: number;
  low?: number;
}
export interface Curve {
  name: string;
  run: number;
  y: Ref;
  x?: Ref;
  t?: ArrayId;
  joint?: number;
  colour: string;
  dash: number;
  axis?: number;
  role?: string; // "target", "edge" of a band, "faint"
  thick?: boolean;
}
export interface Limit {
  joint: number;
  low: number | null;
  high: number | null;
  axis: number;
}
export interface ChartSpec {
  id: string;
  kind: string;
  title: string;
  axes: Axis[];
  across?: Axis; // of a chart whose horizontal axis is not time
  curves: Curve[];
  limits?: Limit[];
  bands?: [number, number][];
  marks?: number[];
  remark?: string;
  small?: boolean;
}
export interface RunInfo {
  name: string;
  status: string;
  t: ArrayId;
  q: ArrayId;
  robot: number | null;
  path: ArrayId | null;
  samples: number;
}
export interface JointInfo {
  name: string;
  unit: string;
  slides: boolean;
}
/** A number that may be changed in the page. */
export interface Parameter extends Changeable {
  name: string;
  unit: string;
  low: number; // of its slider
  high: number;
}
/** The closed loop of a run, for the page that computes it (reports/live.py). */
export interface LiveInfo extends Stepping {
  parameters: Parameter[];
  p: number[];
  x0: number[];
  times: ArrayId;
  index: ArrayId; // of the samples that are shown
  signals: Record<string, [number, number]>; // place among the observed numbers, columns
  arrays: Record<string, string>; // ArrayId: name of the signal that it holds
  status: string;
}
/** A number, a word or a verdict of every run of a study (reports/study_page.py). */
export interface StudyColumn {
  name: string;
  unit: string;
  meaning: string;
  role: "varied" | "summary";
  values: ArrayId;
  words?: string[]; // the values are places in this list
  log?: boolean;
}
/** Many runs: a point for each, and how each is shown. */
export interface StudyInfo {
  runs: ArrayId; // their numbers
  total: number;
  columns: StudyColumn[];
  across: string;
  up: string;
  colour: string;
  first: number; // the run that the page shows at the start
  live: string[] | null; // paths that the page sets to compute any run; null: only runs with samples in the file
  series: Record<string, { t: ArrayId; q: ArrayId }>;
  again: string; // the command that makes one run again
}
export interface Page {
  format: number;
  joints: JointInfo[];
  runs: RunInfo[];
  robots: Mechanism[];
  charts: ChartSpec[];
  arrays: ArrayInfo[];
  live?: LiveInfo;
  study?: StudyInfo;
}

/** What Python tells the viewer: the types of wire.ts, which are written from Python, and the closed loop of a live page. */
import type { Changeable, Stepping } from "./integrate";
import type { Page as PlainPage } from "./wire";

export type { Axis, Body, ChartSpec, Curve, Ellipsoid, JointInfo, Limit, Mechanism, RunInfo, Surface } from "./wire";
export type ArrayId = number;

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
  again: string; // what makes one run again
}
export interface Page extends PlainPage {
  live?: LiveInfo;
  study?: StudyInfo;
}

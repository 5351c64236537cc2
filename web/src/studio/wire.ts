/** Written by scripts/wire-types from src/manipula/studio/messages.py: do not edit. */
import type { Page } from "../wire";
import type { Table } from "./store";

/** An error; ``field``: beside which it is shown. */
export interface Told {
  kind: string;
  message: string;
  problem?: string;
  field?: string | null;
  line?: number | null;
  file?: string | null;
}

/** How a run stands; the verdict comes with its end. */
export interface Summary {
  id: string;
  state: "waiting" | "reading" | "compiling" | "integrating" | "verifying" | "evaluating" | "writing" | "done" | "failed" | "stopped";
  name: string;
  robot: string;
  duration: number;
  seconds: number;
  n: number;
  pinned: boolean;
  paused: boolean;
  error?: Told;
  status?: string;
  reason?: string;
  ok?: boolean;
  feasible?: boolean | null;
  feasibility?: string;
  broken?: string[];
  remarks?: string[];
  notes?: string[];
  trusted_until?: unknown;
  error_estimate?: unknown;
  reached?: number;
  signals?: string[];
  samples?: number;
  runs?: number;
}

/** A line of text on the socket; numbers come in binary messages beside it. */
export interface Progress {
  run?: string;
  state?: "waiting" | "reading" | "compiling" | "integrating" | "verifying" | "evaluating" | "writing" | "done" | "failed" | "stopped";
  paused?: boolean;
  summary?: Summary;
  error?: Told;
}

/** An arm of the catalog. */
export interface Entry {
  name: string;
  description: string;
  n: number;
  source: string;
}

/** A kind of run and the settings that act in it. */
export interface RunKind {
  what: string;
  needs: string;
  settings: string[];
}

/** What stays the same while the studio is open. */
export interface Hello {
  studio: string;
  version: string;
  catalog: Entry[];
  parts: unknown;
  kinds: Record<string, RunKind>;
  levels: string[];
  formats: string[];
  charts: string[];
  usual_charts: string[];
  first: Table | null;
}

/** What the viewer shows: words, and numbers packed as text. */
export interface Drawn {
  page: Page;
  arrays: string;
}

/** A joint with its limits; none where there is none. */
export interface Joint {
  name: string;
  kind: string;
  lower: number | null;
  upper: number | null;
  velocity: number | null;
  acceleration: number | null;
  effort: number | null;
  follows: unknown;
}

/** A robot as the page lists and draws it. */
export interface RobotSeen {
  name: string;
  n: number;
  joints: Joint[];
  frames: string[];
  tip: string | null;
  postures: unknown;
  start: number[];
  dh: unknown;
  notes: string[];
  drawn: Drawn | null;
}

/** What the doctor says, and of which body. */
export interface Finding {
  severity: string;
  code: string;
  place: string;
  sentence: string;
  advice: string;
  value: unknown;
  body: number | null;
}

/** All findings. */
export interface Diagnosis {
  robot: string;
  ok: boolean;
  errors: number;
  warnings: number;
  findings: Finding[];
}

/** Answer of ``robot``. */
export interface Seen {
  robot: RobotSeen;
  doctor: Diagnosis;
}

/** Answer of ``check``. */
export interface Checked {
  ok: boolean;
  error?: Told;
  kind?: string;
  duration?: number;
  joints?: string[];
}

/** A document. */
export interface Made {
  document: Table;
}

/** A document with a part in it; ``also``: other settings that changed with it. */
export interface Chosen {
  document: Table;
  also: string[];
}

/** A text, of equations or of a file. */
export interface Text {
  text: string;
  format?: string;
}

/** Files of source code, and one text of them that compiles alone. */
export interface Code {
  files: Record<string, string>;
  text: string;
}

/** Answer of ``ik``. */
export interface Ik {
  q: number[] | null;
  postures: number[][];
  ok: boolean;
  status: string;
  reason: string;
  residual: unknown;
  method: string;
}

/** The reference along its way. */
export interface Followed {
  space: string;
  t: number[];
  points: number[][];
  velocity: number[][];
  duration: number;
  breaks: number[];
  reached: boolean[];
  tip?: number[][];
  q?: number[][];
  manipulability?: number[];
  reason?: string;
}

/** A programmed constraint at a posture. */
export interface Residual {
  equation: string;
  value: number | null;
}

/** All of them. */
export interface Residuals {
  constraints: Residual[];
}

/** A key number. */
export interface Card {
  title: string;
  value: string;
  unit: string;
  remark: string;
}

/** Runs beside each other: rows of words, a name and one cell per run (differences: per run but the first). */
export interface Compared {
  names: string[];
  numbers: string[][];
  differences: string[][];
  settings: string[][];
}

/** Key numbers of runs, and what differs. */
export interface Numbers {
  cards: Card[][];
  compared: Compared | null;
}

/** A chart that was chosen and that these runs have nothing for. */
export interface LeftOut {
  kind: string;
  why: string;
}

/** Runs over each other; their numbers stand behind the JSON. */
export interface RunsDrawn extends Numbers {
  page: Page;
  arrays: unknown;
  left_out: LeftOut[];
}

/** A run that is over. */
export interface Judged extends Numbers {
  summary: Summary;
}

/** A run that was begun; what it looks like where that is known already. Key numbers and verdict may come later (``judged``). */
export interface Begun extends Summary {
  drawn?: RunsDrawn;
}

/** All runs, the latest first. */
export interface Listed {
  runs: Summary[];
}

/** A study in the folder of the studio. */
export interface StudyEntry {
  name: string;
  runs: number;
  done: number;
  statuses: Record<string, number>;
  varied: string[];
  problem?: string;
}

/** All of them; ``folder``: its name. */
export interface Studies {
  folder: string;
  studies: StudyEntry[];
}

/** A column that can be drawn. */
export interface StudyColumn {
  name: string;
  unit: string;
  meaning: string;
}

/** A run of a study in a plane of two columns; none where a number is missing. */
export interface Point {
  run: number;
  x: number | null;
  y: number | null;
  status: string;
}

/** Two columns of a study; ``thinned``: every how many runs. */
export interface StudyTable {
  name: string;
  runs: number;
  done: number;
  columns: StudyColumn[];
  x: string;
  y: string;
  points: Point[];
  thinned: number;
}

/** A run of a study as a document, and its row. */
export interface StudyRun {
  document: Table;
  row: Record<string, string | number | boolean | null>;
}

/** What may be asked for, with which arguments, and what the answer is. */
export interface Verbs {
  hello: { asks: object; gives: Hello };
  schema: { asks: object; gives: unknown };
  choose: { asks: { document: unknown; kind: unknown; place: unknown; name?: unknown; q?: unknown }; gives: Chosen };
  new: { asks: { robot: unknown }; gives: Made };
  open: { asks: { name: unknown; text: unknown }; gives: Made };
  write: { asks: { document: unknown }; gives: Text };
  check: { asks: { document: unknown }; gives: Checked };
  robot: { asks: { document: unknown }; gives: Seen };
  as_dh: { asks: { document: unknown; convention?: unknown }; gives: Made };
  ik: { asks: { document: unknown; target: unknown; q?: unknown; every?: unknown }; gives: Ik };
  path: { asks: { document: unknown }; gives: Followed };
  residual: { asks: { document: unknown; q: unknown }; gives: Residuals };
  equations: { asks: { document: unknown; level?: unknown; only?: unknown; format?: unknown }; gives: Text };
  code: { asks: { document: unknown; language: unknown }; gives: Code };
  run: { asks: { document: unknown; replaces?: unknown; beside?: unknown; charts?: unknown }; gives: Begun };
  judged: { asks: { run: unknown; beside?: unknown }; gives: Judged };
  stop: { asks: { run: unknown }; gives: Summary };
  pause: { asks: { run: unknown; paused?: unknown }; gives: Summary };
  status: { asks: { run: unknown }; gives: Summary };
  runs: { asks: object; gives: Listed };
  pin: { asks: { run: unknown; pinned?: unknown }; gives: Summary };
  view: { asks: { ids: unknown; charts?: unknown }; gives: RunsDrawn };
  document: { asks: { run: unknown }; gives: Made };
  studies: { asks: object; gives: Studies };
  study: { asks: { name: unknown; x?: unknown; y?: unknown }; gives: StudyTable };
  study_run: { asks: { name: unknown; run: unknown }; gives: StudyRun };
}

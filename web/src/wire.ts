/** Written by scripts/wire-types from src/manipula/reports/page_types.py: do not edit. */
/** Where an array lies among the packed numbers; columns one after the other. */
export interface ArrayInfo {
  type: "f4" | "f8" | "u2" | "u4";
  at: number;
  rows: number;
  columns: number;
}

/** Mass, centre and ellipsoid of inertia of a link; ``axes``: 3 × 3, principal axes in columns. */
export interface Ellipsoid {
  mass: number;
  com: number[];
  axes: number[];
  half: number[];
}

/** A link with the joint before it; ``parent`` −1 is the base, ``placement`` and ``frame`` are 3 × 4. */
export interface Body {
  name: string;
  parent: number;
  slides: boolean;
  axis: number[];
  placement: number[];
  frame: number[];
  inertia: Ellipsoid | null;
}

/** Triangles on a body, by the numbers of their arrays. */
export interface Surface {
  body: number;
  corners: number;
  faces: number;
  colour: number[];
}

/** A joint that follows another. */
export interface Follower {
  leader: number;
  ratio: number;
  offset: number;
}

/** Where the tip is: 3 × 4 on a body. */
export interface Tip {
  body: number;
  pose: number[];
}

/** A robot that is drawn. */
export interface Mechanism {
  name: string;
  joints: number;
  bodies: Body[];
  followers: Follower[];
  base: number[];
  tip: Tip | null;
  surfaces: Surface[];
  notes: string[];
  plane: number[] | null;
  low: number[];
  high: number[];
  size: number;
}

/** ``size``: what is natural here; changes below ``noise`` × ``size`` are rounding. */
export interface Axis {
  label: string;
  unit: string;
  size: number;
  noise: number;
  log?: boolean | null;
  floor?: number;
  low?: number;
}

/** ``y`` and ``x``: array and column; ``t``: an array of its own horizontal axis; ``role``: "target", "edge" of a band, "faint", "before". */
export interface Curve {
  name: string;
  run: number;
  y: number[];
  colour: string;
  dash: number;
  x?: number[];
  t?: number;
  joint?: number;
  axis?: number;
  role?: string;
  thick?: boolean;
}

/** What a joint may do, on one of the axes. */
export interface Limit {
  joint: number;
  low: number | null;
  high: number | null;
  axis: number;
}

/** A chart; ``across``: its horizontal axis where that is not time. */
export interface ChartSpec {
  id: string;
  kind: string;
  title: string;
  axes: Axis[];
  curves: Curve[];
  across?: Axis;
  limits?: Limit[];
  bands?: number[][];
  marks?: number[];
  remark?: string;
  small?: boolean;
}

/** A run by the numbers of its arrays. */
export interface RunInfo {
  name: string;
  status: string;
  t: number;
  q: number;
  robot: number | null;
  path: number | null;
  samples: number;
}

/** A joint as tables name it. */
export interface JointInfo {
  name: string;
  unit: string;
  slides: boolean;
}

/** All that a viewer is given; ``live``: of a page that computes (``reports/live.py``). */
export interface Page {
  format: number;
  joints: JointInfo[];
  runs: RunInfo[];
  robots: Mechanism[];
  charts: ChartSpec[];
  arrays: ArrayInfo[];
  live?: unknown;
}

/** Where the bodies of a robot are: X_WL = X_WP · placement · motion(axis, q) · frame. Matrices are 3 × 4, row after row. */
import type { Body, Mechanism } from "./document";

export type Matrix = Float64Array | number[];

/** out = A · B */
export function times(A: Matrix, B: Matrix, out: Float64Array): Float64Array {
  for (let r = 0; r < 3; r++) {
    const [a, b, c, d] = [A[4 * r], A[4 * r + 1], A[4 * r + 2], A[4 * r + 3]];
    for (let k = 0; k < 4; k++) out[4 * r + k] = a * B[k] + b * B[4 + k] + c * B[8 + k] + (k === 3 ? d : 0);
  }
  return out;
}

/** The inverse of a rotation and a translation. */
export function inverse(A: Matrix): Float64Array {
  const out = new Float64Array(12);
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) out[4 * r + c] = A[4 * c + r];
    out[4 * r + 3] = -(A[r] * A[3] + A[4 + r] * A[7] + A[8 + r] * A[11]);
  }
  return out;
}

/** What a joint does: a turn about its axis (Rodrigues), or a shift along it. */
export function motion(body: Pick<Body, "axis" | "slides">, q: number, out: Float64Array): Float64Array {
  const [x, y, z] = body.axis;
  if (body.slides) {
    out.set([1, 0, 0, x * q, 0, 1, 0, y * q, 0, 0, 1, z * q]);
    return out;
  }
  const c = Math.cos(q);
  const s = Math.sin(q);
  const v = 1 - c;
  out.set([
    c + x * x * v, x * y * v - z * s, x * z * v + y * s, 0,
    y * x * v + z * s, c + y * y * v, y * z * v - x * s, 0,
    z * x * v - y * s, z * y * v + x * s, c + z * z * v, 0,
  ]); // prettier-ignore
  return out;
}

/** Poses of all bodies of one robot; the memory is used again with every call. */
export class Kinematics {
  readonly poses: Float64Array[];
  private readonly a = new Float64Array(12);
  private readonly b = new Float64Array(12);
  private readonly positions: Float64Array;

  constructor(readonly robot: Mechanism) {
    this.poses = robot.bodies.map(() => new Float64Array(12));
    this.positions = new Float64Array(robot.bodies.length);
  }

  /** One position per body: joints that follow others move with them. */
  position(body: number): number {
    return this.positions[body];
  }

  at(q: ArrayLike<number>): Float64Array[] {
    const { robot, positions, poses, a, b } = this;
    for (let i = 0; i < robot.joints; i++) positions[i] = q[i];
    robot.followers.forEach((f, k) => {
      positions[robot.joints + k] = f.offset + f.ratio * q[f.leader];
    });
    for (const i of this.order) {
      const body = robot.bodies[i];
      const parent = body.parent < 0 ? robot.base : poses[body.parent];
      times(parent, body.placement, a);
      times(a, motion(body, positions[i], b), poses[i]);
      a.set(poses[i]);
      times(a, body.frame, poses[i]);
    }
    return poses;
  }

  tip(out: number[] = [0, 0, 0]): number[] {
    const tip = this.robot.tip;
    if (!tip) return out;
    const X = times(tip.body < 0 ? this.robot.base : this.poses[tip.body], tip.pose, this.a);
    out[0] = X[3];
    out[1] = X[7];
    out[2] = X[11];
    return out;
  }

  /** Parents before their children. */
  private get order(): number[] {
    if (!this.sorted) {
      const { bodies } = this.robot;
      const depth = (i: number): number => (i < 0 ? 0 : 1 + depth(bodies[i].parent));
      this.sorted = bodies.map((_, i) => i).sort((x, y) => depth(x) - depth(y));
    }
    return this.sorted;
  }
  private sorted: number[] | null = null;
}

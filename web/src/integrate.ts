/** A closed loop computed in the page: the integrators of the package, step for step (simulation/loops of the Python side). */
import type { LiveInfo, Tableau, Weights } from "./document";

/** The equations of one run; `out` is filled and given back. */
export interface Loop {
  flow(t: number, x: ArrayLike<number>, p: ArrayLike<number>, out: Float64Array): Float64Array;
  observe(t: number, x: ArrayLike<number>, p: ArrayLike<number>, out: Float64Array): Float64Array;
}
export interface Problem {
  loop: Loop;
  info: Pick<LiveInfo, "n" | "step" | "integrator" | "tableau" | "tolerance" | "marks" | "low" | "high">;
  times: ArrayLike<number>;
  x0: Float64Array;
  p: Float64Array;
}
export interface Computed {
  status: string;
  /** Samples that were reached, of `times`. */
  count: number;
  reached: number;
}

const SNAP = 1e-14;
const LARGEST = 1e10;
const FIRST = 1e-6;
const SMALLEST = 8 * 2.3e-16;
const MOST_ATTEMPTS = 100_000;
const FAR = 1e300;

const margin = (t: number) => SNAP * (1 + Math.abs(t));

/** Why a run ends in this state; "" when it does not. */
function ended(x: Float64Array, n: number, low: readonly (number | null)[], high: readonly (number | null)[]): string {
  let size = 0;
  for (let i = 0; i < 2 * n; i++) size += Math.abs(x[i]);
  let rest = 0;
  for (let i = 2 * n; i < x.length; i++) rest += x[i];
  if (!(size <= LARGEST)) return Number.isFinite(size) ? "diverged" : "not_finite";
  if (!Number.isFinite(rest)) return "not_finite";
  for (let i = 0; i < n; i++) if ((low[i] !== null && x[i] < low[i]!) || (high[i] !== null && x[i] > high[i]!)) return "limit";
  return "";
}

/** The first known instant after t. */
function follower(marks: readonly number[]): (t: number) => number {
  let k = 0;
  return (t) => {
    const past = t + margin(t);
    while (k < marks.length && marks[k] <= past) k++;
    while (k > 0 && marks[k - 1] > past) k--;
    return k < marks.length ? marks[k] : FAR;
  };
}

/** Stage times are kept off the ends of a step, so that each step sees its own side of a jump. */
type Rate = (s: number, x: Float64Array, out: Float64Array) => Float64Array;
function inside(loop: Loop, p: Float64Array): { rate: Rate; within(t: number, h: number): void } {
  let low = 0;
  let high = 0;
  return {
    rate: (s, x, out) => loop.flow(Math.min(Math.max(s, low), high), x, p, out),
    within(t, h) {
      const off = 2 * margin(t);
      low = t + off;
      high = t + h - off;
    },
  };
}

/** One step in place. */
type Step = (t: number, x: Float64Array, h: number) => void;

function rk4(rate: Rate, size: number): Step {
  const [slope, total, at] = [0, 1, 2].map(() => new Float64Array(size));
  const nodes = [0, 0.5, 0.5, 1];
  const weights = [1 / 6, 2 / 6, 2 / 6, 1 / 6];
  return (t, x, h) => {
    slope.fill(0);
    total.fill(0);
    for (let s = 0; s < 4; s++) {
      const ahead = nodes[s] * h;
      for (let i = 0; i < size; i++) at[i] = x[i] + ahead * slope[i];
      rate(t + ahead, at, slope);
      for (let i = 0; i < size; i++) total[i] += weights[s] * slope[i];
    }
    for (let i = 0; i < size; i++) x[i] += h * total[i];
  };
}

function semiImplicit(rate: Rate, size: number, n: number): Step {
  const slope = new Float64Array(size);
  return (t, x, h) => {
    rate(t, x, slope);
    for (let i = n; i < size; i++) x[i] += h * slope[i];
    for (let i = 0; i < n; i++) x[i] += h * x[n + i];
  };
}

/** An attempt of an embedded method: the new state, and its error in units of the tolerance. */
function embedded(rate: Rate, size: number, tableau: Tableau, tolerance: number) {
  const stages = Array.from({ length: tableau.stages.length + 1 }, () => new Float64Array(size));
  const at = new Float64Array(size);
  const combine = (weights: Weights, i: number) => {
    let sum = 0;
    for (const [k, w] of weights) sum += w * stages[k][i];
    return sum;
  };
  return (t: number, x: Float64Array, h: number, out: Float64Array): number => {
    rate(t, x, stages[0]);
    for (let s = 1; s < tableau.stages.length; s++) {
      for (let i = 0; i < size; i++) at[i] = x[i] + h * combine(tableau.stages[s], i);
      rate(t + tableau.nodes[s] * h, at, stages[s]);
    }
    for (let i = 0; i < size; i++) out[i] = x[i] + h * combine(tableau.solution, i);
    rate(t + h, out, stages[stages.length - 1]);
    const norms = tableau.errors.map((weights) => {
      let total = 0;
      for (let i = 0; i < size; i++) {
        const ratio = (h * combine(weights, i)) / (tolerance * (1 + Math.max(Math.abs(x[i]), Math.abs(out[i]))));
        total += ratio * ratio;
      }
      return Math.sqrt(total / size);
    });
    const [first, second] = norms;
    return second === undefined ? first : (first * first) / Math.sqrt(first * first + 0.01 * second * second + 1e-300);
  };
}

/** Compute a run; `record(k, t, x)` is called at every sample. */
export function compute(problem: Problem, record: (k: number, t: number, x: Float64Array) => void): Computed {
  const { info, times, p } = problem;
  const x = Float64Array.from(problem.x0);
  const after = follower(info.marks);
  const { rate, within } = inside(problem.loop, p);
  const over = () => ended(x, info.n, info.low, info.high);
  const advance = info.tableau ? adaptive(info.tableau) : fixed();
  let t = times[0];
  record(0, t, x);
  let status = over();
  for (let k = 1; k < times.length && !status; k++) {
    status = advance(times[k]);
    if (status) return { status, count: k, reached: t };
    record(k, t, x);
  }
  return { status: status || "finished", count: times.length, reached: t };

  function fixed(): (goal: number) => string {
    const step = info.integrator === "rk4" ? rk4(rate, x.length) : semiImplicit(rate, x.length, info.n);
    const h = info.step;
    let i = 0;
    return (goal) => {
      while (!(t >= goal - margin(goal))) {
        const border = (i + 1) * h;
        const end = Math.min(goal, border, after(t));
        within(t, end - t);
        step(t, x, end - t);
        if (end >= border - margin(border)) i++;
        t = end;
        const why = over();
        if (why) return why;
      }
      return "";
    };
  }

  function adaptive(tableau: Tableau): (goal: number) => string {
    const attempt = embedded(rate, x.length, tableau, info.tolerance);
    const exponent = -1 / (tableau.order + 1);
    const out = new Float64Array(x.length);
    let h = FIRST;
    let rejected = false;
    return (goal) => {
      for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
        if (t >= goal - margin(goal)) return "";
        if (h <= SMALLEST * (1 + Math.abs(t))) return "step_too_small";
        const end = Math.min(goal, after(t));
        const left = end - t;
        const hits = h >= left * (1 - 1e-12);
        const step = hits ? left : h;
        within(t, step);
        const error = attempt(t, x, step, out);
        const fine = error <= 1;
        let factor = Number.isFinite(error) ? Math.min(8, Math.max(0.2, 0.9 * Math.exp(exponent * Math.log(Math.max(error, 1e-12))))) : 0.2;
        if (rejected) factor = Math.min(factor, 1);
        const proposal = step * factor;
        if (fine) {
          x.set(out);
          t = hits ? end : t + step;
        }
        h = fine && hits ? Math.max(h, proposal) : proposal;
        rejected = !fine;
        const why = over();
        if (why) return why;
      }
      return "step_too_small";
    };
  }
}

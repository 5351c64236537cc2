// A closed loop computed in JavaScript: the integrators of this package, step for step as simulation/loops does them.
// Plain JavaScript that Node and browsers run as it is; live pages import it, exported scenarios carry its text. Types stand in comments.

/**
 * The equations of one run; `out` is filled and given back.
 * @typedef {{ flow(t: number, x: ArrayLike<number>, p: ArrayLike<number>, out: Float64Array): Float64Array,
 *   observe(t: number, x: ArrayLike<number>, p: ArrayLike<number>, out: Float64Array): Float64Array }} Loop
 * Stage and weight, one after the other.
 * @typedef {[number, number][]} Weights
 * An embedded method; `order` is that of its error estimate.
 * @typedef {{ nodes: number[], stages: Weights[], solution: Weights, errors: Weights[], order: number }} Tableau
 * How a run is stepped: `marks` are instants on which steps end, `low` and `high` positions beyond which it ends.
 * @typedef {{ n: number, step: number, integrator: string, tableau: Tableau | null, tolerance: number, marks: number[],
 *   low: (number | null)[], high: (number | null)[] }} Stepping
 * @typedef {{ loop: Loop, info: Stepping, times: ArrayLike<number>, x0: Float64Array, p: Float64Array }} Problem
 * How a run ended; `count`: samples that were reached, of `times`.
 * @typedef {{ status: string, count: number, reached: number }} Computed
 * A number that may be changed. `slots`: its places in p, or -1 - i for x0[i]; the bounds are those of its field.
 * @typedef {{ path: string, value: number, slots: number[], least: number | null, above: number | null, most: number | null, below: number | null }} Changeable
 * @typedef {(s: number, x: Float64Array, out: Float64Array) => Float64Array} Rate
 * @typedef {(t: number, x: Float64Array, h: number) => void} Step
 */

const SNAP = 1e-14;
const LARGEST = 1e10;
const FIRST = 1e-6;
const SMALLEST = 8 * 2.3e-16;
const MOST_ATTEMPTS = 100000;
const FAR = 1e300;

/** How far apart two instants may be and still be the same one. @param {number} t */
const margin = (t) => SNAP * (1 + Math.abs(t));

/**
 * Why a run ends in this state; "" when it does not.
 * @param {Float64Array} x
 * @param {Stepping} info
 */
function ended(x, { n, low, high }) {
  let size = 0;
  for (let i = 0; i < 2 * n; i++) size += Math.abs(x[i]);
  let rest = 0;
  for (let i = 2 * n; i < x.length; i++) rest += x[i];
  if (!(size <= LARGEST)) return Number.isFinite(size) ? "diverged" : "not_finite";
  if (!Number.isFinite(rest)) return "not_finite";
  for (let i = 0; i < n; i++) {
    const [least, most] = [low[i], high[i]];
    if ((least !== null && x[i] < least) || (most !== null && x[i] > most)) return "limit";
  }
  return "";
}

/**
 * The first known instant after t.
 * @param {readonly number[]} marks
 * @returns {(t: number) => number}
 */
function follower(marks) {
  let k = 0;
  return (t) => {
    const past = t + margin(t);
    while (k < marks.length && marks[k] <= past) k++;
    while (k > 0 && marks[k - 1] > past) k--;
    return k < marks.length ? marks[k] : FAR;
  };
}

/**
 * Stage times are kept off the ends of a step, so that each step sees its own side of a jump.
 * @param {Loop} loop
 * @param {Float64Array} p
 * @returns {{ rate: Rate, within(t: number, h: number): void }}
 */
function inside(loop, p) {
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

/**
 * @param {Rate} rate
 * @param {number} size
 * @returns {Step}
 */
function rk4(rate, size) {
  const slope = new Float64Array(size);
  const total = new Float64Array(size);
  const at = new Float64Array(size);
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

/**
 * @param {Rate} rate
 * @param {number} size
 * @param {number} n
 * @returns {Step}
 */
function semiImplicit(rate, size, n) {
  const slope = new Float64Array(size);
  return (t, x, h) => {
    rate(t, x, slope);
    for (let i = n; i < size; i++) x[i] += h * slope[i];
    for (let i = 0; i < n; i++) x[i] += h * x[n + i];
  };
}

/**
 * An attempt of an embedded method: the new state, and its error in units of the tolerance.
 * @param {Rate} rate
 * @param {number} size
 * @param {Tableau} tableau
 * @param {number} tolerance
 * @returns {(t: number, x: Float64Array, h: number, out: Float64Array) => number}
 */
function embedded(rate, size, tableau, tolerance) {
  const stages = Array.from({ length: tableau.stages.length + 1 }, () => new Float64Array(size));
  const at = new Float64Array(size);
  /** @param {Weights} weights @param {number} i */
  const combine = (weights, i) => {
    let sum = 0;
    for (const [k, w] of weights) sum += w * stages[k][i];
    return sum;
  };
  return (t, x, h, out) => {
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

/**
 * Compute a run; `record(k, t, x)` is called at every sample.
 * @param {Problem} problem
 * @param {(k: number, t: number, x: Float64Array) => void} record
 * @returns {Computed}
 */
export function compute(problem, record) {
  const { info, times, p } = problem;
  const x = Float64Array.from(problem.x0);
  const after = follower(info.marks);
  const { rate, within } = inside(problem.loop, p);
  const over = () => ended(x, info);
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

  /** @returns {(goal: number) => string} */
  function fixed() {
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

  /** @param {Tableau} tableau @returns {(goal: number) => string} */
  function adaptive(tableau) {
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

/**
 * Compute a run and what is seen of it: columns by the name of their signal, joints at every sample in `q`.
 * @param {Problem} problem
 * @param {Record<string, [number, number]>} signals place among the observed numbers, and columns
 * @param {Int32Array | null} places of every sample among those that are kept, -1: not kept; null keeps all
 * @returns {Computed & { q: Float64Array[], columns: Record<string, Float64Array[]>, seen: number }}
 */
export function observedRun(problem, signals, places) {
  const { loop, info, times, p } = problem;
  const kept = places === null ? times.length : places.reduce((sum, at) => sum + (at >= 0 ? 1 : 0), 0);
  const q = Array.from({ length: info.n }, () => new Float64Array(times.length));
  /** @type {Record<string, Float64Array[]>} */
  const columns = {};
  const every = Object.entries(signals).flatMap(([name, [at, count]]) => {
    columns[name] = Array.from({ length: count }, () => new Float64Array(kept).fill(NaN));
    return columns[name].map((column, c) => ({ column, from: at + c }));
  });
  const row = new Float64Array(Math.max(0, ...every.map(({ from }) => from + 1)));
  let seen = 0;
  const done = compute(problem, (k, t, x) => {
    for (let i = 0; i < info.n; i++) q[i][k] = x[i];
    const at = places === null ? k : places[k];
    if (at < 0) return;
    loop.observe(t, x, p, row);
    for (const { column, from } of every) column[at] = row[from];
    seen = at + 1;
  });
  for (const column of columns.audit ?? []) {
    const first = column[0]; // an audit is measured from its first value
    column.forEach((value, k) => (column[k] = value - first));
  }
  return { ...done, q, columns, seen };
}

/**
 * Put another value in the place of a number.
 * @param {readonly Changeable[]} parameters
 * @param {string} path
 * @param {unknown} value
 * @param {Float64Array} p
 * @param {Float64Array} x0
 * @returns {number} which of the parameters it is
 */
export function change(parameters, path, value, p, x0) {
  const k = parameters.findIndex((parameter) => parameter.path === path);
  if (k < 0) throw new RangeError(`There is no number '${path}'; there are ${parameters.map((parameter) => parameter.path).join(", ")}.`);
  if (typeof value !== "number" || !Number.isFinite(value)) throw new RangeError(`'${path}' takes a finite number, found ${String(value)}.`);
  const { least, above, most, below, slots } = parameters[k];
  const refuse = (/** @type {string} */ allowed) => {
    throw new RangeError(`'${path}' is ${allowed}, found ${value}.`);
  };
  if (least !== null && value < least) refuse(`at least ${least}`);
  if (above !== null && value <= above) refuse(`greater than ${above}`);
  if (most !== null && value > most) refuse(`at most ${most}`);
  if (below !== null && value >= below) refuse(`less than ${below}`);
  for (const slot of slots) {
    if (slot < 0) x0[-1 - slot] = value;
    else p[slot] = value;
  }
  return k;
}

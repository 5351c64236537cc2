import { describe, expect, it } from "vitest";
import { compute, type Loop, type Problem, type Tableau } from "../src/integrate";

/** x'' = -p² x + u(t), with a push from t = 0.35 on where p[1] is one. */
const spring: Loop = {
  flow(t, x, p, out) {
    out[0] = x[1];
    out[1] = -p[0] * p[0] * x[0] + (t >= 0.35 ? p[1] : 0);
    return out;
  },
  observe: (_t, _x, _p, out) => out,
};
const info = { n: 1, step: 0.01, integrator: "rk4", tableau: null as Tableau | null, tolerance: 1e-10, marks: [] as number[], low: [null], high: [null] };
const times = Float64Array.from({ length: 41 }, (_, k) => k * 0.025);
const problem = (more: Partial<typeof info> = {}, p = [2, 0]): Problem => ({ loop: spring, info: { ...info, ...more }, times, x0: Float64Array.of(1, 0), p: Float64Array.from(p) });
const heun: Tableau = { nodes: [0, 1], stages: [[], [[0, 1]]], solution: [[0, 0.5], [1, 0.5]], errors: [[[0, -0.5], [1, 0.5]]], order: 1 };

function worst(of: Problem, exact: (t: number) => number): number {
  let largest = 0;
  const done = compute(of, (_, t, x) => (largest = Math.max(largest, Math.abs(x[0] - exact(t)))));
  expect(done.status).toBe("finished");
  return largest;
}

describe("steps", () => {
  it("of rk4 have order four", () => {
    const errors = [0.0125, 0.00625].map((step) => worst(problem({ step }), (t) => Math.cos(2 * t)));
    expect(errors[1]).toBeLessThan(1e-8);
    expect(Math.log2(errors[0] / errors[1])).toBeGreaterThan(3.5);
  });
  it("of the semi-implicit method have order one", () => {
    const errors = [0.0125, 0.00625].map((step) => worst(problem({ step, integrator: "semi_implicit" }), (t) => Math.cos(2 * t)));
    expect(Math.log2(errors[0] / errors[1])).toBeGreaterThan(0.8);
  });
  it("follow the tolerance where a method estimates its error", () => {
    expect(worst(problem({ integrator: "heun", tableau: heun, tolerance: 1e-7 }), (t) => Math.cos(2 * t))).toBeLessThan(1e-3);
  });
  it("end on known instants, so that a jump costs no accuracy", () => {
    const exact = (t: number) => Math.cos(2 * t) + (t > 0.35 ? (1 - Math.cos(2 * (t - 0.35))) / 4 : 0);
    expect(worst(problem({ marks: [0.35], step: 0.02 }, [2, 1]), exact)).toBeLessThan(1e-6);
  });
});

describe("a run ends early", () => {
  it("at a limit of a joint", () => {
    const done = compute(problem({ low: [0.5] as unknown as null[] }), () => {});
    expect(done.status).toBe("limit");
    expect(done.reached).toBeCloseTo(Math.acos(0.5) / 2, 1);
  });
  it("where it runs away", () => {
    const away: Loop = { ...spring, flow: (_t, x, _p, out) => ((out[0] = 1e6 * x[0]), (out[1] = 0), out) };
    expect(["diverged", "not_finite"]).toContain(compute({ ...problem(), loop: away }, () => {}).status);
  });
});

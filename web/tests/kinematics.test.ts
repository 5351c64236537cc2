import { describe, expect, it } from "vitest";
import type { Body, Mechanism } from "../src/document";
import { inverse, Kinematics, times } from "../src/kinematics";

const ONE = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
const shifted = (x: number) => [1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0];
const link = (parent: number, more: Partial<Body> = {}): Body => ({ name: "", parent, slides: false, axis: [0, 0, 1], placement: ONE, frame: ONE, inertia: null, ...more });
const robot = (bodies: Body[], more: Partial<Mechanism> = {}): Mechanism => ({
  name: "", joints: bodies.length, bodies, followers: [], base: ONE, tip: null, surfaces: [], notes: [], plane: null, low: [], high: [], size: 1, ...more,
}); // prettier-ignore

describe("a planar arm with two links", () => {
  const arm = new Kinematics(robot([link(-1, { frame: shifted(0.5) }), link(0, { frame: shifted(0.4) })], { tip: { body: 1, pose: ONE } }));
  it("ends where trigonometry says", () => {
    for (const [a, b] of [[0, 0], [0.3, -1.1], [2.5, 0.7]]) {
      arm.at([a, b]);
      const [x, y, z] = arm.tip();
      expect(x).toBeCloseTo(0.5 * Math.cos(a) + 0.4 * Math.cos(a + b), 14);
      expect(y).toBeCloseTo(0.5 * Math.sin(a) + 0.4 * Math.sin(a + b), 14);
      expect(z).toBe(0);
    }
  });
});

describe("joints", () => {
  it("that slide shift along their axis, those that follow keep their ratio", () => {
    const arm = new Kinematics(robot([link(-1, { slides: true }), link(0, { slides: true, axis: [1, 0, 0] })], { joints: 1, followers: [{ leader: 0, ratio: 2, offset: 0.1 }] }));
    const poses = arm.at([0.25]);
    expect([poses[1][3], poses[1][7], poses[1][11]]).toEqual([0.6, 0, 0.25]);
  });
  it("turn about any axis by a rotation", () => {
    const s = Math.sqrt(1 / 3);
    const arm = new Kinematics(robot([link(-1, { axis: [s, s, s] })]));
    const X = arm.at([(2 * Math.PI) / 3])[0]; // turns x to y, y to z, z to x
    [0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0].forEach((v, k) => expect(X[k]).toBeCloseTo(v, 14));
    const one = times(X, inverse(X), new Float64Array(12));
    ONE.forEach((v, k) => expect(one[k]).toBeCloseTo(v, 14));
  });
});

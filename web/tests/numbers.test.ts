import { describe, expect, it } from "vitest";
import { axisRange, extent } from "../src/chart_data";
import { briefly } from "../src/names";
import { aligned, at, before, cell, csv, decades, fixed, onto, powers, shown, steady, ticks, typeset, unbroken, union } from "../src/numbers";

describe("numbers for people", () => {
  it("are typeset in sentences, and only numbers are", () => {
    expect(typeset("error about 2.2e-11.")).toBe("error about 2.2·10⁻¹¹.");
    expect(typeset("reaches -1.05 rad/s at t = 0.3 s")).toBe("reaches −1.05 rad/s at t = 0.3 s");
    expect(typeset("1e+06 steps of joint-1 with Python 3.12.1 and 0x1e-3")).toBe("1·10⁶ steps of joint-1 with Python 3.12.1 and 0x1e-3");
  });
  it("stay in one line with what they are of", () => {
    expect(unbroken("shoulder_pan_joint, t = 0 s")).toBe("shoulder_pan_joint, t\u00a0=\u00a00\u00a0s");
    expect(unbroken("largest 5.0·10⁻⁴ m")).toBe("largest 5.0·10⁻⁴\u00a0m");
    expect(unbroken("of the tip, largest 0.028")).toBe("of the tip, largest 0.028");
  });
  it("have four digits, a true minus and powers of ten", () => {
    expect(shown(-1.23456)).toBe("−1.235");
    expect(shown(0)).toBe("0");
    expect(shown(3.2e-12)).toBe("3.2·10⁻¹²");
    expect(shown(NaN)).toBe("–");
    expect(fixed(-1e-9)).toBe("0.000");
    expect(ticks([-0.2, 0, 0.2], 0.2)).toEqual(["−0.2", "0.0", "0.2"]);
    expect(ticks([0, 0.25, 0.5], 0.25)).toEqual(["0.00", "0.25", "0.50"]);
    expect(ticks([0, 2.5, 5], 2.5)).toEqual(["0.0", "2.5", "5.0"]);
    expect(decades(1e-7, 1)).toEqual([1e-7, 1e-5, 1e-3, 1e-1]);
    expect(powers([0.01, 1, 100])).toEqual(["0.01", "1", "100"]);
    expect(powers([1e-4, 0.01, 1, 100])).toEqual(["10⁻⁴", "10⁻²", "1", "10²"]); // one form for all of an axis
  });
});

describe("samples", () => {
  const t = Float64Array.of(0, 1, 3);
  const v = Float64Array.of(0, 10, 30);
  it("are read on straight lines", () => {
    expect(at(t, v, 2)).toBe(20);
    expect(at(t, v, 3)).toBe(30);
    expect(at(t, v, 3.1)).toBeNaN();
    expect(before(t, 2.9)).toBe(1);
  });
  it("of several runs share one axis", () => {
    const x = union([t, Float64Array.of(0, 2)]);
    expect([...x]).toEqual([0, 1, 2, 3]);
    expect(onto(x, t, v)).toEqual([0, 10, 20, 30]);
    expect(onto(x, Float64Array.of(0, 2), Float64Array.of(5, 7))).toEqual([5, 6, 7, null]);
  });
  it("of one run are not copied, and what is no number is a gap", () => {
    expect(union([t, t])).toBe(t);
    expect(onto(t, t, v)).toBe(v);
    expect(onto(t, t, Float64Array.of(1, NaN, Infinity))).toEqual([1, null, null]);
  });
});

describe("axes", () => {
  it("do not magnify rounding", () => {
    const [low, high] = steady(-1e-17, 2e-17, 1, 1e-10);
    expect(high - low).toBeGreaterThan(0.01);
    expect((low + high) / 2).toBe(0);
    const around = steady(0.1, 0.1 + 1e-17, 1, 1e-10);
    expect((around[0] + around[1]) / 2).toBeCloseTo(0.1, 12);
  });
  it("of two scales have their zeros at one height and cut nothing off", () => {
    for (const [a, b] of [
      [[-1, 2], [-0.1, 0.5]],
      [[0.3, 2], [-5, -1]],
      [[-3, -1], [-5, -1]],
      [[1, 2], [0, 7]],
    ] as [[number, number], [number, number]][]) {
      const [x, y] = aligned(a, b);
      const zero = ([low, high]: [number, number]) => -low / (high - low);
      expect(zero(x)).toBeCloseTo(zero(y), 12);
      expect(x[0]).toBeLessThanOrEqual(a[0] + 1e-12);
      expect(x[1]).toBeGreaterThanOrEqual(a[1] - 1e-12);
      expect(y[0]).toBeLessThanOrEqual(b[0] + 1e-12);
      expect(y[1]).toBeGreaterThanOrEqual(b[1] - 1e-12);
    }
  });
  it("show limits that are near and no others", () => {
    const axis = { label: "q", unit: "rad", size: 1, noise: 1e-10 };
    const range = axisRange(axis, [0, 1], [{ joint: 0, low: -100, high: 1.2, axis: 0 }]);
    expect(range[1]).toBeGreaterThan(1.2);
    expect(range[0]).toBeGreaterThan(-1);
    expect(extent([[0, null, 5]], [0, 1, 2], [0, 1])).toEqual([0, 0]);
  });
  it("of logarithms end at powers of ten", () => {
    // 0.1 recorded in 8 bytes and in 4: two curves 1.5e-9 apart are one line
    const [least, most] = axisRange({ label: "q", unit: "rad", size: 1, noise: 1e-10 }, [0.1, Math.fround(0.1)], [], true);
    expect(most - least).toBeGreaterThan(0.05);
    const [from, to] = axisRange({ label: "q", unit: "rad", size: 1, noise: 1e-10 }, [0.1, 0.1 + 1e-6], [], true);
    expect(to - from).toBeLessThan(2e-6);
    expect(axisRange({ label: "e", unit: "", size: 1, noise: 1e-10, log: true, floor: 1e-15 }, [2e-7, 0.3], [])).toEqual([1e-7, 1]);
  });
});

describe("files", () => {
  it("hold nothing that a spreadsheet computes", () => {
    expect(cell("=cmd()")).toBe("'=cmd()");
    expect(cell('a,"b"')).toBe('"a,""b"""');
    expect(csv(["t", "x"], [[0, 1], [0.5, null]])).toBe("t,x\r\n0,0.5\r\n1,\r\n");
    expect(csv(["a", "b"], [[1], [2, 3]])).toBe("a,b\r\n1,2\r\n,3\r\n"); // runs of different lengths
  });
});

describe("names of joints", () => {
  it("are told by what differs, in whole words", () => {
    expect(briefly(["panda_joint1", "panda_joint2"])).toEqual(["joint1", "joint2"]);
    expect(briefly(["shoulder_pan_joint", "elbow_joint", "wrist_1_joint"])).toEqual(["shoulder_pan", "elbow", "wrist_1"]);
    expect(briefly(["lbr_iiwa_joint_1", "lbr_iiwa_joint_2"])).toEqual(["joint_1", "joint_2"]);
  });
  it("stay as they are where nothing can go", () => {
    for (const names of [["joint1", "joint2"], ["panda_joint1"], ["1_a", "2_a"], ["a", "a_b"], ["q", "q"], []]) expect(briefly(names)).toEqual(names);
  });
  it("stay apart", () => {
    for (const names of [["a_b", "a_x_b"], ["left arm 1", "left arm 2"], ["🦾_ab", "🦾_ac"], ["x_1_y", "x_2_y"]]) expect(new Set(briefly(names)).size).toBe(names.length);
  });
});

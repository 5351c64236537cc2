import { describe, expect, it } from "vitest";
import * as THREE from "three";
import { Arrays } from "../src/packed";
import { chunkOf, withBytes } from "../src/studio/client";
import { built, numberOf } from "../src/studio/dh_construction";
import { fromSlider, parsed, parsedEach, parsedList, parsedRows, scaleAround, toSlider, written, writtenAngle } from "../src/studio/entry";
import { Grown } from "../src/studio/growing";
import { neededBy, Schemas, unitFor, type Schema } from "../src/studio/schema";
import { at, fieldName, put, Store } from "../src/studio/store";

describe("what people type", () => {
  it("is a number, or a formula as text", () => {
    expect(parsed(" 1e-3 ")).toBe(0.001);
    expect(parsed("−2.5")).toBe(-2.5);
    expect(parsed("pi/2")).toBe("pi/2");
    expect(parsed("1,5")).toBe("1,5"); // told by the server, not guessed
    expect(parsed("1e400")).toBe("1e400"); // told by the server, not lost
    expect(parsed("")).toBeUndefined();
  });
  it("is a list, with commas inside parentheses kept", () => {
    expect(parsedList("1 2 3")).toEqual([1, 2, 3]);
    expect(parsedList("max(1, 2), t")).toEqual(["max(1, 2)", "t"]);
    expect(parsedEach("5")).toBe(5);
    expect(parsedEach("5, 6")).toEqual([5, 6]);
    expect(parsedEach("10 - 5")).toBe("10 - 5"); // one formula, not three numbers
    expect(parsedList("1,,2")).toEqual([1, "", 2]); // told, not left out
    expect(parsedList("1, 2, ")).toEqual([1, 2]);
    expect(parsedEach("1 −2 3e-1")).toEqual([1, -2, 0.3]);
    expect(parsedRows("1 2\n3 4\n")).toEqual([[1, 2], [3, 4]]);
  });
  it("is written so that it reads back", () => {
    for (const value of [0, 1, -2.5, 1e-9, 123456.789, 1e20]) expect(parsed(written(value))).toBe(value);
    expect(writtenAngle(Math.PI / 2)).toBe("pi/2");
    expect(writtenAngle((-2 * Math.PI) / 3)).toBe("-2*pi/3");
    expect(writtenAngle(0.5)).toBe("0.5");
    for (const k of [1, -3, 5, 12, -24]) expect(numberOf(writtenAngle((k * Math.PI) / 12))).toBeCloseTo((k * Math.PI) / 12, 12);
  });
  it("moves on sliders without leaving its range", () => {
    for (const value of [0.02, 1, 300]) {
      const scale = scaleAround(value, 0);
      expect(fromSlider(scale, toSlider(scale, value))).toBeCloseTo(value, 6);
      expect(fromSlider(scale, 0)).toBeGreaterThan(0);
    }
    expect(fromSlider(scaleAround(0, 0), 0)).toBe(0);
  });
});

describe("the document", () => {
  it("is changed along a path without touching the old one", () => {
    const before = { a: { b: [1, 2] } };
    const after = put(before, ["a", "b", 1], 5);
    expect(after).toEqual({ a: { b: [1, 5] } });
    expect(before).toEqual({ a: { b: [1, 2] } });
    expect(put(before, ["a", "b"], undefined)).toEqual({ a: {} });
    expect(at(before, ["a", "b", 0])).toBe(1);
    expect(at(before, ["a", "constructor"])).toBeUndefined();
    expect(fieldName(["robot", "dh", "rows", 2, "a"])).toBe("robot.dh.rows[2].a");
  });
  it("remembers its past and its future", () => {
    const store = new Store({ x: 1 });
    store.edit(["x"], 2, true);
    store.edit(["x"], 3, true);
    store.undo();
    expect(store.get(["x"])).toBe(2);
    store.undo();
    expect(store.get(["x"])).toBe(1);
    expect(store.canUndo.value).toBe(false);
    store.redo();
    expect(store.get(["x"])).toBe(2);
    store.edit(["x"], 9, true);
    expect(store.canRedo.value).toBe(false);
  });
  it("undoes a dragged slider at once", () => {
    const store = new Store({ x: 1 });
    for (let k = 0; k < 20; k++) store.edit(["x"], k);
    store.undo();
    expect(store.get(["x"])).toBe(1);
  });
});

describe("forms", () => {
  const number: Schema = { anyOf: [{ type: "number", minimum: 0 }, { type: "string" }], description: "gain [1/s²]" };
  const root: Schema = {
    $defs: {
      law: {
        oneOf: [
          { type: "object", properties: { law: { const: "pd" }, kp: number }, required: ["law", "kp"] },
          { type: "object", properties: { law: { const: "none" }, q: number, q_deg: number }, required: ["law"], allOf: [{ anyOf: [{ required: ["q"] }, { required: ["q_deg"] }] }] },
        ],
      },
    },
  };
  const schemas = new Schemas(root);
  it("know kinds of fields from their schemas", () => {
    expect(schemas.kind(number)).toBe("number");
    expect(schemas.kind({ $ref: "#/$defs/law" })).toBe("kinds");
    expect(schemas.kind({ type: "array", items: number })).toBe("list");
    const row: Schema = { type: "array", items: number };
    expect(schemas.kind({ type: "array", items: { anyOf: [row, { type: "array", items: row }] } })).toBe("rows");
    expect(schemas.kind({ anyOf: [number, { type: "array", items: number }] })).toBe("each");
    expect(schemas.kind({ type: "array", items: { $ref: "#/$defs/law" } })).toBe("parts");
    expect(schemas.kind({ anyOf: [{ const: "none" }, { type: "array", items: { $ref: "#/$defs/law" } }, { $ref: "#/$defs/law" }] })).toBe("joints");
  });
  it("begin with everything that is needed", () => {
    const { key, tables } = schemas.kinds({ $ref: "#/$defs/law" });
    expect(key).toBe("law");
    expect(schemas.first(tables["pd"])).toEqual({ law: "pd", kp: 1 });
    expect(schemas.nameOf({ $ref: "#/$defs/law" })).toBe("law");
    expect(neededBy(tables["none"])).toEqual(["law", "q"]);
  });
});

describe("samples of a run that goes on", () => {
  const chunk = (first: number, count: number) => {
    const t = Float64Array.from({ length: count }, (_, i) => 0.5 * (first + i));
    return { run: "", first, until: 1e5, t, q: Float32Array.from(t), qd: Float32Array.from(t, (v) => -v) };
  };
  it("stay even and in order, however many there are", () => {
    const grown = new Grown(1);
    for (let first = 0, k = 1; first < 30_000; first += k, k = 1 + ((7 * k) % 997)) grown.add(chunk(first, k));
    const t = grown.times();
    expect(t.length).toBeLessThan(4000);
    expect(t.length).toBeGreaterThan(1000);
    const step = t[1] - t[0];
    for (let i = 0; i < t.length; i++) {
      expect(t[i]).toBe(i * step);
      expect(grown.column(0)[i]).toBe(Math.fround(t[i]));
      expect(grown.column(1)[i]).toBe(-Math.fround(t[i]));
    }
  });
  it("begin anew where they are told from the beginning", () => {
    const grown = new Grown(1);
    grown.add(chunk(0, 10));
    grown.add(chunk(0, 3));
    expect([...grown.times()]).toEqual([0, 0.5, 1]);
  });
});

describe("DH construction", () => {
  it("ends where the product of the rows ends", () => {
    const rows = [{ theta: 0.3, d: 0.2, a: 0.4, alpha: "pi/2" }, { theta: -0.5, a: 0.3 }];
    const q = [0.1, 0.7];
    const found = built(rows, "standard", q, new THREE.Matrix4(), 8)!;
    const expected = new THREE.Matrix4();
    rows.forEach((row, i) => {
      const part = new THREE.Matrix4().makeRotationZ(row.theta + q[i]).multiply(new THREE.Matrix4().makeTranslation(row.a, 0, row.d ?? 0)).multiply(new THREE.Matrix4().makeRotationX(numberOf(row.alpha)!));
      expected.multiply(part);
    });
    found.frames.at(-1)!.elements.forEach((x, k) => expect(x).toBeCloseTo(expected.elements[k], 12));
    expect(found.frames).toHaveLength(3);
    expect(built([{ a: "L1" }], "standard", [0], new THREE.Matrix4(), 4)).toBeNull();
  });
});

it("binary messages are read as they were written", () => {
  const header = new TextEncoder().encode(JSON.stringify({ run: "x", first: 3, until: 2, arrays: [{ name: "t", at: 0, shape: [2], type: "float64" }, { name: "q", at: 16, shape: [2, 1], type: "float32" }] }));
  const length = header.length + ((8 - ((header.length + 4) % 8)) % 8);
  const data = new ArrayBuffer(4 + length + 24);
  new DataView(data).setUint32(0, length, true);
  new Uint8Array(data, 4, length).fill(32);
  new Uint8Array(data, 4).set(header);
  new Float64Array(data, 4 + length, 2).set([0.5, 1]);
  new Float32Array(data, 4 + length + 16, 2).set([7, 8]);
  const chunk = chunkOf(data);
  expect([...chunk.t]).toEqual([0.5, 1]);
  expect([...chunk.q]).toEqual([7, 8]);
  expect(chunk.first).toBe(3);
});

describe("an answer with numbers behind it", () => {
  const message = (answer: object, behind: Uint8Array): ArrayBuffer => {
    const text = new TextEncoder().encode(JSON.stringify(answer));
    const length = text.length + (-(text.length + 4) & 7);
    const data = new Uint8Array(4 + length + behind.length).fill(32);
    new DataView(data.buffer).setUint32(0, length, true);
    data.set(text, 4);
    data.set(behind, 4 + length);
    return data.buffer;
  };
  const numbers = new Uint8Array(new Float64Array([1, 2, 3, 4]).buffer);
  it("gives them where they lie, at the top and in what is drawn", () => {
    for (const inside of [false, true]) {
      const place = { arrays: { $bytes: [8, 24] }, page: "ä" };
      const found = withBytes(message(inside ? { drawn: place } : place, numbers)) as { arrays: Uint8Array; drawn: { arrays: Uint8Array } };
      const bytes = inside ? found.drawn.arrays : found.arrays;
      const arrays = new Arrays([{ type: "f8", at: 0, rows: 3, columns: 1 }, { type: "f8", at: 8, rows: 1, columns: 2 }], bytes, true);
      expect([...arrays.column(0, 0)]).toEqual([2, 3, 4]);
      expect([...arrays.column(1, 1)]).toEqual([4]);
    }
  });
});

describe("units of joints", () => {
  const [turns, slides] = [{ name: "elbow", slides: false }, { name: "quill", slides: true }];
  it("are those of the joints that there are", () => {
    expect(unitFor("rad or m", [turns, turns])).toBe("rad");
    expect(unitFor("N·m·s/rad or N·s/m", [slides])).toBe("N·s/m");
    expect(unitFor("N·m or N", [slides])).toBe("N");
    expect(unitFor("rad/s or m/s", [turns, slides])).toBe("rad/s; quill: m/s");
  });
  it("stay as they are where they are none of joints", () => {
    for (const unit of ["m or rad", "1/s or 1/s²", "m", "", "N/mⁿ or N·m/radⁿ"]) expect(unitFor(unit, [turns])).toBe(unit);
    expect(unitFor("rad or m", [])).toBe("rad or m");
  });
});

/** How a DH table builds an arm, one turn or shift after the other. */
import * as THREE from "three";
import type { Json, Table } from "./store";

/** What one row does, in its order: standard Rz(θ) Tz(d) Tx(a) Rx(α), modified Rx(α) Tx(a) Rz(θ) Tz(d). */
export const ORDER: Record<string, readonly string[]> = { standard: ["theta", "d", "a", "alpha"], modified: ["alpha", "a", "theta", "d"] };

const PI = /^([+-]?)(?:(\d+(?:\.\d+)?)\*)?pi(?:\/(\d+(?:\.\d+)?))?$/;

/** A number, or a multiple of π as text; null for other formulas. */
export function numberOf(value: Json | undefined): number | null {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const found = typeof value === "string" ? PI.exec(value.replaceAll(" ", "")) : null;
  return found ? (((found[1] === "-" ? -1 : 1) * Number(found[2] ?? 1)) / Number(found[3] ?? 1)) * Math.PI : null;
}

function step(name: string, value: number): THREE.Matrix4 {
  const m = new THREE.Matrix4();
  if (name === "theta") return m.makeRotationZ(value);
  if (name === "alpha") return m.makeRotationX(value);
  return name === "d" ? m.makeTranslation(0, 0, value) : m.makeTranslation(value, 0, 0);
}

export interface Built {
  frames: THREE.Matrix4[]; // of the base, then after every whole row, then the one that is on its way
  way: THREE.Vector3[]; // of its origin
  joint: number; // of the last step, from 1
  name: string; // of its column
  value: number;
}

/** The frames after `count` steps; null when a number of the table is a formula. */
export function built(rows: readonly Table[], convention: string, q: readonly number[], base: THREE.Matrix4, count: number): Built | null {
  const order = ORDER[convention];
  if (!order) return null;
  const now = base.clone();
  const frames = [base.clone()];
  const way = [new THREE.Vector3().setFromMatrixPosition(now)];
  let [joint, last, at] = [0, "", 0];
  for (let k = 0; k < count; k++) {
    const i = Math.floor(k / 4);
    const name = order[k % 4];
    const row = rows[i];
    const given = `${name}_deg` in row ? numberOf(row[`${name}_deg`]) : numberOf(row[name]);
    if (given === null) return null;
    const variable = name === (row["joint"] === "prismatic" ? "d" : "theta") ? (q[i] ?? 0) : 0;
    const value = (`${name}_deg` in row ? (given * Math.PI) / 180 : given) + variable;
    now.multiply(step(name, value));
    way.push(new THREE.Vector3().setFromMatrixPosition(now));
    if (k % 4 === 3 || k === count - 1) frames.push(now.clone());
    [joint, last, at] = [i + 1, name, value];
  }
  return { frames, way, joint, name: last, value: at };
}

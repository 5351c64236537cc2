/** JSON Schemas as the server writes them from its declarations, and what kind of field each asks for. */
import { isTable, type Json, type Table } from "./store";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  const?: Json;
  enum?: Json[];
  description?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
  default?: Json;
  if?: Schema;
  then?: Schema;
  else?: Schema;
}

export type FieldKind =
  | "fixed" | "choice" | "flag" | "number" | "each" | "list" | "rows" | "text" | "texts" | "table" | "kinds" | "parts" | "joints" | "named" | "raw"; // prettier-ignore

/** A plausible first value of a number, by its unit. */
const USUAL: Record<string, number> = {
  "1/s²": 100, "1/s": 20, "N·m/rad or N/m": 200, "N·m·s/rad or N·s/m": 20, "N/m": 500, "N·s/m": 50, s: 1, m: 0.1, "m/s": 0.25, "m/s²": 1, "rad/s or m/s": 1, "rad/s² or m/s²": 5, "rad/s³ or m/s³": 50,
}; // prettier-ignore

export class Schemas {
  /** Where the tip and the joints are: what a new path begins with. */
  here: { tip: number[]; q: number[] } = { tip: [0, 0, 0], q: [] };
  constructor(readonly root: Schema) {}

  resolved(schema: Schema): Schema {
    const name = schema.$ref?.replace("#/$defs/", "");
    if (name === undefined) return schema;
    const found = this.root.$defs?.[name];
    return found ? { ...this.resolved(found), ...(schema.description ? { description: schema.description } : {}) } : {};
  }

  /** What form a field has. */
  kind(given: Schema): FieldKind {
    const schema = this.resolved(given);
    if (schema.const !== undefined) return "fixed";
    if (schema.enum) return "choice";
    if (schema.oneOf) return "kinds";
    if (schema.type === "boolean") return "flag";
    if (schema.type === "number" || schema.type === "integer") return "number";
    if (schema.type === "string") return "text";
    if (schema.type === "object") return schema.properties ? "table" : "named";
    if (schema.type === "array") return this.listKind(schema.items ?? {});
    const some = (schema.anyOf ?? []).map((s) => this.kind(s));
    if (some.includes("kinds") || some.includes("table")) return some.includes("fixed") || some.includes("parts") ? "joints" : "raw";
    if (some.includes("rows")) return some.includes("number") ? "each" : "rows";
    if (some.includes("list") && some.includes("number")) return "each";
    if (some.includes("list")) return "list";
    if (some.includes("number")) return "number";
    if (some.includes("choice")) return "choice";
    if (some.includes("texts")) return "texts";
    return some.includes("text") ? "text" : "raw";
  }

  private listKind(items: Schema): FieldKind {
    const inner = this.kind(items);
    if (inner === "number") return "list";
    if (inner === "list" || inner === "each" || inner === "rows") return "rows";
    if (inner === "text") return "texts";
    if (inner === "kinds" || inner === "table" || inner === "joints") return "parts";
    return (this.resolved(items).anyOf ?? []).some((s) => this.kind(s) === "text") ? "texts" : "raw";
  }

  /** The kinds of a part: the key that tells them apart, and the table of each. */
  kinds(given: Schema): { key: string; tables: Record<string, Schema> } {
    const tables: Record<string, Schema> = {};
    let key = "";
    for (const one of this.resolved(given).oneOf ?? []) {
      const table = this.resolved(one);
      const told = Object.entries(table.properties ?? {}).find(([, s]) => typeof s.const === "string");
      if (told) {
        key = told[0];
        tables[String(told[1].const)] = table;
      }
    }
    return { key, tables };
  }

  /** Which kind a value is. */
  kindOf(given: Schema, value: Json | undefined): string {
    const { key, tables } = this.kinds(given);
    const named = isTable(value) ? value[key] : undefined;
    if (typeof named === "string") return named in tables ? named : "";
    const unnamed = Object.keys(tables).find((name) => !tables[name].required?.includes(key)); // a kind that need not be said
    return isTable(value) && unnamed !== undefined ? unnamed : "";
  }

  /** A first value of a table: what it must have, with something plausible in it. */
  first(given: Schema, joints = 1): Table {
    const schema = this.resolved(given);
    const made: Table = {};
    const needed = neededBy(schema);
    const seen: Record<string, number> = {};
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const plain = { ...this.resolved(field), ...(field.description ? { description: field.description } : {}) };
      if (plain.const !== undefined) made[name] = plain.const;
      else if (needed.includes(name)) {
        const { unit } = meaning(plain);
        const nth = (seen[unit] ?? -1) + 1;
        seen[unit] = nth;
        made[name] = this.firstValue(plain, joints, nth);
      }
    }
    if (!Object.values(schema.properties ?? {}).some((field) => field.const !== undefined) && !Object.keys(made).length) {
      const first = Object.entries(schema.properties ?? {}).find(([, field]) => ["number", "each"].includes(this.kind(field)));
      if (first) made[first[0]] = meaning(this.resolved(first[1])).unit.startsWith("rad") ? 0.001 : this.firstValue(this.resolved(first[1]), joints);
    }
    return made;
  }

  private firstValue(schema: Schema, joints: number, nth = 0): Json {
    const { unit } = meaning(schema);
    const point = (size: number): Json[] => this.here.tip.slice(0, size).map((x, k) => Number((x * (1 - 0.2 * nth) + (k === 1 ? 0.1 * nth : 0)).toFixed(4)));
    const posture = (): Json[] => (this.here.q.length ? this.here.q : Array<number>(joints).fill(0)).map((x) => Number((x + 0.5 * nth).toFixed(4)));
    switch (this.kind(schema)) {
      case "choice":
        return schema.enum?.[0] ?? "";
      case "flag":
        return false;
      case "number":
        return USUAL[unit] ?? 1;
      case "each":
        return unit === "rad or m" ? posture() : (USUAL[unit] ?? 1);
      case "list":
        if (unit.startsWith("N")) return [10, 0, 0, 0, 0, 0].slice(0, schema.minItems ?? 6);
        if (unit === "m or rad") return point(3);
        if (unit === "s") return [0, 1, 2];
        if (unit === "m") return point(Math.min(3, schema.maxItems ?? 3));
        return unit === "rad or m" ? posture() : Array<number>(schema.minItems ?? joints).fill(0);
      case "rows":
        return unit === "m" ? [0, 1, 2].map((k) => this.here.tip.map((x, i) => Number((x * (1 - 0.1 * k) + (i === 1 ? 0.05 * k * (2 - k) : 0)).toFixed(4)))) : [0, 0.3, 0].map((by) => (posture() as number[]).map((x) => Number((x + by).toFixed(4))));
      case "text":
        return "t";
      case "texts":
        return this.here.tip.map(String);
      case "kinds": {
        const { tables } = this.kinds(schema);
        const found = tables["line"] ?? tables["quintic"] ?? Object.values(tables)[0];
        return found ? this.first(found, joints) : {};
      }
      case "table":
        return this.first(schema, joints);
      case "parts":
        return [];
      default:
        return {};
    }
  }

  /** Bounds of a number. */
  bounds(given: Schema): { least?: number; most?: number } {
    const schema = this.resolved(given);
    const number = [schema, ...(schema.anyOf ?? [])].find((s) => s.type === "number" || s.type === "integer") ?? {};
    const real = (x: number | undefined): number | undefined => (x === undefined || Math.abs(x) >= 1e59 ? undefined : x);
    const [least, most] = [real(number.exclusiveMinimum ?? number.minimum), real(number.maximum)];
    return { ...(least === undefined ? {} : { least }), ...(most === undefined ? {} : { most }) };
  }
}

/** Names of the fields that a table must have; of an angle the name without degrees. */
export function neededBy(schema: Schema): string[] {
  const either = (schema.allOf ?? []).flatMap((one) => one.anyOf?.[0]?.required ?? one.oneOf?.[0]?.required ?? []);
  return [...(schema.required ?? []), ...either];
}

/** `duration [s]` as words and unit. */
export function meaning(schema: Schema): { words: string; unit: string } {
  const [, words, unit] = /^(.*?)(?: \[([^\]]*)\])?$/.exec(schema.description ?? "") ?? [];
  return { words: words ?? "", unit: unit === "1" ? "" : (unit ?? "") };
}

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

export class Schemas {
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

  /** The name of a definition that a schema points at. */
  nameOf(given: Schema): string {
    return given.$ref?.replace("#/$defs/", "") ?? "";
  }

  /** A table with what it must have, for one that the server does not fill in: its fields then say what belongs there. */
  first(given: Schema): Table {
    const schema = this.resolved(given);
    const needed = neededBy(schema);
    const made: Table = {};
    const every = Object.entries(schema.properties ?? {});
    for (const [name, field] of every) {
      const plain = this.resolved(field);
      if (plain.const !== undefined) made[name] = plain.const;
      else if (needed.includes(name)) made[name] = this.firstValue(plain);
    }
    const number = every.find(([, field]) => ["number", "each"].includes(this.kind(field)));
    return Object.keys(made).length || !number ? made : { [number[0]]: 1 };
  }

  private firstValue(schema: Schema): Json {
    const example = (schema as { examples?: Json[] }).examples?.[0];
    if (example !== undefined) return example;
    const plain: Partial<Record<FieldKind, Json>> = { choice: schema.enum?.[0] ?? "", flag: false, number: 1, each: 1, list: [0, 0, 0], rows: [[0, 0, 0]], text: "", texts: [], parts: [] };
    return plain[this.kind(schema)] ?? {};
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

export interface JointKind {
  name: string;
  slides: boolean;
}

const LONG = 18; // letters of a joint's name beside a unit

/** What numbers of these joints are measured in: of "rad or m" the one that is theirs; where some turn and some slide, which of them slide. */
export function unitFor(unit: string, joints: readonly JointKind[]): string {
  const [turning, sliding, ...more] = unit.split(" or ");
  const turns = (one: string): boolean => one.includes("rad") || one === "N·m" || one === "kg·m²";
  if (!joints.length || sliding === undefined || more.length || !turns(turning) || turns(sliding)) return unit;
  const slide = joints.filter((joint) => joint.slides).map(({ name }) => (name.length > LONG ? `${name.slice(0, LONG - 1)}…` : name));
  return !slide.length ? turning : slide.length === joints.length ? sliding : `${turning}; ${slide.join(", ")}: ${sliding}`;
}

/** The reference on the stage: its path, coloured by how well the arm can move there, and its points, which can be dragged. */
import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { Stage } from "../arm";
import { triad } from "../arm_parts";
import { decimalsFor } from "../numbers";
import { colour } from "../palette";
import type { Built } from "./dh_construction";
import type { Handle } from "./drag";
import { meaning, type Schema, type Schemas } from "./schema";
import { isTable, type Json, type Path, type Store } from "./store";
import type { Followed } from "./wire";

/** Places in the document that hold points of the path, in metres. */
export function pointsOf(store: Store, schemas: Schemas): Path[] {
  const found: Path[] = [];
  const isPoint = (value: Json | undefined): boolean => Array.isArray(value) && value.length >= 2 && value.length <= 3 && value.every((v) => typeof v === "number");
  const walk = (schema: Schema, path: Path): void => {
    const value = store.get(path);
    const resolved = schemas.resolved(schema);
    if (resolved.oneOf) {
      const table = schemas.kinds(schema).tables[schemas.kindOf(schema, value)] ?? (resolved.oneOf ?? []).map((one) => schemas.resolved(one)).find((one) => isTable(value) && Object.keys(value).every((key) => key in (one.properties ?? {})));
      if (table) walk(table, path);
      return;
    }
    if (resolved.properties && isTable(value)) {
      for (const [name, field] of Object.entries(resolved.properties)) if (name in value) walk(field, [...path, name]);
      return;
    }
    if (meaning({ ...resolved, ...(schema.description ? { description: schema.description } : {}) }).unit !== "m") return;
    if (isPoint(value)) found.push(path);
    else if (Array.isArray(value)) value.forEach((row, i) => isPoint(row) && found.push([...path, i]));
  };
  if (store.get(["reference"]) !== undefined) walk({ $ref: "#/$defs/reference" }, ["reference"]);
  return found;
}

/** Graphics compute in 4 bytes, and square. */
const FURTHEST = 1e15;
const NEAR = 0.05; // of what the camera sees: three times the arm; a point further off would make the arm a dot
const drawable = (p: readonly number[]): boolean => p.every((x) => Math.abs(x) <= FURTHEST);

/** From poor to good. */
function shade(share: number, reached: boolean): THREE.Color {
  return reached ? new THREE.Color(colour("bad")).lerp(new THREE.Color(colour("good")), Math.min(Math.max(share, 0), 1)) : new THREE.Color(colour("bad"));
}

/** Take everything out of a group, and out of the memory of the graphics. */
function emptied(group: THREE.Group): void {
  group.traverse((o) => {
    const drawn = o as Partial<THREE.Mesh>;
    drawn.geometry?.dispose();
    if (drawn.material) for (const material of [drawn.material].flat()) material.dispose();
  });
  group.clear();
}

export class Overlay {
  private readonly group = new THREE.Group();
  private readonly frames = new THREE.Group();
  private handles: Path[] = [];
  private followed: Followed | null = null;

  constructor(
    private readonly store: Store,
    private readonly schemas: Schemas,
  ) {}

  /** A path as the server found it; none where there is no reference. */
  set(stage: Stage | null, followed: Followed | null): void {
    this.followed = followed;
    this.handles = pointsOf(this.store, this.schemas);
    if (stage) this.draw(stage);
  }

  draw(stage: Stage): void {
    emptied(this.group);
    const { followed } = this;
    stage.scene.add(this.group, this.frames);
    const line = followed?.tip ?? (followed?.space === "task" ? followed.points : null);
    if (followed && line && line.length > 1 && line.every(drawable)) {
      const best = Math.max(...(followed.manipulability ?? [1]), 1e-12);
      const at: number[] = [];
      const colours: number[] = [];
      for (let i = 1; i < line.length; i++) {
        for (const k of [i - 1, i]) {
          const p = line[k];
          at.push(p[0], p[1], p[2] ?? 0);
          const tint = shade(followed.manipulability ? followed.manipulability[k] / best : 1, followed.reached[k] ?? true);
          colours.push(tint.r, tint.g, tint.b);
        }
      }
      const geometry = new LineSegmentsGeometry().setPositions(at).setColors(colours);
      const way = new LineSegments2(geometry, new LineMaterial({ vertexColors: true, linewidth: 3, depthTest: !stage.flat }));
      way.renderOrder = 1;
      way.material.resolution.set(stage.canvas.clientWidth, stage.canvas.clientHeight);
      way.frustumCulled = false;
      this.group.add(way);
    }
    for (const path of this.handles) {
      const p = this.store.get(path) as number[] | undefined;
      if (!p || !drawable(p)) continue; // another document came, or what nobody can see
      const ball = new THREE.Mesh(new THREE.SphereGeometry(0.00025 * stage.camera.far, 16, 12), new THREE.MeshLambertMaterial({ color: new THREE.Color(colour("accent")) }));
      ball.position.set(p[0], p[1], p[2] ?? 0);
      this.group.add(ball);
    }
    if (stage.controls.enabled) this.room(stage, line ?? []); // while somebody drags a point, the picture stands still
    stage.ask();
  }

  /** The whole reference is in the picture, also where it begins far from the arm. */
  private room(stage: Stage, line: readonly (readonly number[])[]): void {
    const handles = this.handles.map((path) => this.store.get(path) as number[] | undefined).filter((p) => p !== undefined);
    const points = [...line, ...handles].filter(drawable).map((p) => [p[0], p[1], p[2] ?? 0]);
    const near = points.filter((p) => Math.hypot(...p.map((v, k) => v - stage.controls.target.getComponent(k))) < NEAR * stage.camera.far);
    if (near.length) stage.widen([{ low: [0, 1, 2].map((k) => Math.min(...near.map((p) => p[k]))), high: [0, 1, 2].map((k) => Math.max(...near.map((p) => p[k]))) }]);
  }

  /** Frames of a DH table while it is built; none ends that. */
  construct(stage: Stage | null, steps: Built | null): void {
    emptied(this.frames);
    if (!stage) return;
    stage.scene.add(this.frames);
    if (steps) {
      const size = 0.0016 * stage.camera.far;
      for (const X of steps.frames) {
        const axes = triad(size);
        axes.applyMatrix4(X);
        this.frames.add(axes);
      }
      const way = new THREE.BufferGeometry().setFromPoints(steps.way);
      this.frames.add(new THREE.Line(way, new THREE.LineBasicMaterial({ color: new THREE.Color(colour("accent")) })));
    }
    stage.ask();
  }

  /** Points of the path as things that can be taken. */
  taken(stage: () => Stage | null): Handle[] {
    return this.handles.map((path) => ({
      at: () => {
        const p = this.store.get(path) as number[] | undefined;
        return p ? [p[0], p[1], p[2] ?? 0] : null;
      },
      move: (to) => {
        const flat = (this.store.get(path) as number[]).length;
        const now = stage();
        const places = decimalsFor(now?.state.page.robots[0].size ?? 1, 4);
        this.store.edit(path, to.slice(0, flat).map((x) => Number(x.toFixed(places))));
        if (now) this.draw(now);
      },
      drop: () => {
        this.store.structure.value++;
      },
    }));
  }
}

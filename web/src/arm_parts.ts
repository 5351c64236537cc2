/** The pieces of an arm in three dimensions: its own shapes, or a generic arm made from its joints; frames, axes, masses, inertias. */
import * as THREE from "three";
import type { Mechanism } from "./document";
import { inverse, Kinematics, type Matrix } from "./kinematics";
import type { Arrays } from "./packed";
import { colour } from "./palette";

export type Layer = "shapes" | "generic" | "frames" | "axes" | "masses" | "inertia";

const UP = new THREE.Vector3(0, 1, 0);
const ROUND = 24; // sides of a cylinder

/** A link as a rod between two points of its body. */
function rod(from: THREE.Vector3, to: THREE.Vector3, radius: number, material: THREE.Material, round = 8): THREE.Mesh | null {
  const along = to.clone().sub(from);
  const length = along.length();
  if (length < 1e-9) return null;
  const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, length, round, 1), material);
  mesh.position.copy(from).addScaledVector(along, 0.5);
  mesh.quaternion.setFromUnitVectors(UP, along.normalize());
  return mesh;
}

function origin(X: Matrix): THREE.Vector3 {
  return new THREE.Vector3(X[3], X[7], X[11]);
}

function turned(X: Matrix, v: number[]): THREE.Vector3 {
  return new THREE.Vector3(X[0] * v[0] + X[1] * v[1] + X[2] * v[2], X[4] * v[0] + X[5] * v[1] + X[6] * v[2], X[8] * v[0] + X[9] * v[1] + X[10] * v[2]);
}

export function setMatrix(object: THREE.Object3D, X: Matrix): void {
  object.matrix.set(X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11], 0, 0, 0, 1);
  object.matrixWorldNeedsUpdate = true;
}

/** One robot on the stage. A ghost is the same robot, faint. */
export class ArmModel {
  readonly root = new THREE.Group();
  readonly kinematics: Kinematics;
  private readonly bodies: THREE.Group[];
  private readonly base = new THREE.Group();
  private readonly layers = new Map<Layer, THREE.Object3D[]>();
  private readonly tinted: { material: THREE.MeshLambertMaterial; name: string; share: number; body: number }[] = [];
  private now = -1; // the body whose pieces are being made
  private readonly rails: { mesh: THREE.Mesh; body: number }[] = [];

  constructor(
    readonly robot: Mechanism,
    arrays: Arrays,
    readonly ghost: boolean,
    private readonly round = ROUND,
  ) {
    this.kinematics = new Kinematics(robot);
    this.bodies = robot.bodies.map(() => new THREE.Group());
    for (const group of [this.base, ...this.bodies]) {
      group.matrixAutoUpdate = false;
      this.root.add(group);
    }
    setMatrix(this.base, robot.base);
    this.generic();
    this.shapes(arrays);
    if (!ghost) this.marks();
    this.recolour();
  }

  get hasShapes(): boolean {
    return this.robot.surfaces.length > 0;
  }

  place(q: ArrayLike<number>): void {
    const poses = this.kinematics.at(q);
    this.bodies.forEach((group, i) => setMatrix(group, poses[i]));
    for (const { mesh, body } of this.rails) {
      const length = this.kinematics.position(body);
      mesh.visible = Math.abs(length) > 1e-6 * this.robot.size;
      mesh.scale.y = length || 1e-9;
      mesh.position.y = 0;
    }
  }

  /** The room that its shapes take where they stand; none for an arm without them. */
  get dressed(): { low: number[]; high: number[] } | null {
    const room = new THREE.Box3();
    this.root.updateMatrixWorld(true);
    for (const shape of this.layers.get("shapes") ?? []) room.expandByObject(shape);
    return room.isEmpty() ? null : { low: room.min.toArray(), high: room.max.toArray() };
  }

  show(layer: Layer, on: boolean): void {
    for (const object of this.layers.get(layer) ?? []) object.visible = on;
  }

  recolour(): void {
    const paper = new THREE.Color(colour("card"));
    for (const { material, name, share } of this.tinted) material.color.set(this.ghost ? colour("muted") : colour(name)).lerp(paper, this.ghost ? 0.3 : share);
  }

  /** Make one link shine. */
  highlight(body: number | null): void {
    for (const { material, body: b } of this.tinted) material.emissive.set(b >= 0 && b === body ? colour("accent") : "#000000").multiplyScalar(0.6);
  }

  /** The body that a piece belongs to; −1: the base. */
  bodyOf(piece: THREE.Object3D): number {
    for (let o: THREE.Object3D | null = piece; o; o = o.parent) {
      const i = this.bodies.indexOf(o as THREE.Group);
      if (i >= 0) return i;
    }
    return -1;
  }

  private add(layer: Layer, body: number, object: THREE.Object3D | null): void {
    if (!object) return;
    (body < 0 ? this.base : this.bodies[body]).add(object);
    this.layers.set(layer, [...(this.layers.get(layer) ?? []), object]);
  }

  private material(name: string, share = 0): THREE.MeshLambertMaterial {
    const material = new THREE.MeshLambertMaterial(this.ghost ? { transparent: true, opacity: 0.28, depthWrite: false } : {});
    this.tinted.push({ material, name, share, body: this.now });
    return material;
  }

  /** Rods between the joints that a link carries, a drum on every joint that turns and a block on every one that slides. */
  private generic(): void {
    const { bodies, size, tip } = this.robot;
    const thick = 0.017 * size;
    const children = (i: number) => bodies.filter((b) => b.parent === i);
    const baseMaterial = this.material("muted", 0.45);
    const foot = new THREE.Mesh(new THREE.CylinderGeometry(2.4 * thick, 2.8 * thick, 0.9 * thick, this.round), baseMaterial);
    foot.rotation.x = Math.PI / 2;
    this.add("generic", -1, foot);
    for (const child of children(-1)) this.add("generic", -1, rod(new THREE.Vector3(), origin(child.placement), 1.1 * thick, baseMaterial, this.round));
    bodies.forEach((body, i) => {
      const name = `j${(i % 8) + 1}`;
      this.now = i;
      const [own, drumMaterial] = [this.material(name, 0.28), this.material(name)];
      const back = inverse(body.frame); // X_LJ: where the joint is, seen from the link
      const joint = origin(back);
      const axis = turned(back, body.axis).normalize();
      const ends = children(i).map((c) => origin(c.placement));
      if (tip && tip.body === i) ends.push(origin(tip.pose));
      if (!ends.length) ends.push(new THREE.Vector3());
      for (const end of ends) this.add("generic", i, rod(joint, end, thick, own, this.round));
      const drum = body.slides ? new THREE.Mesh(new THREE.BoxGeometry(2.6 * thick, 3.4 * thick, 2.6 * thick), drumMaterial) : new THREE.Mesh(new THREE.CylinderGeometry(1.7 * thick, 1.7 * thick, 3.6 * thick, this.round), drumMaterial);
      drum.position.copy(joint);
      drum.quaternion.setFromUnitVectors(UP, axis);
      this.add("generic", i, drum);
      if (tip && tip.body === i) {
        const end = new THREE.Mesh(new THREE.SphereGeometry(1.25 * thick, this.round, 12), drumMaterial);
        end.position.copy(origin(tip.pose));
        this.add("generic", i, end);
      }
      if (body.slides) this.rail(i, thick, own);
    });
    this.now = -1;
  }

  /** The part of a sliding joint that grows and shrinks, fixed to the parent. */
  private rail(i: number, thick: number, material: THREE.Material): void {
    const body = this.robot.bodies[i];
    const geometry = new THREE.CylinderGeometry(0.75 * thick, 0.75 * thick, 1, this.round);
    geometry.translate(0, 0.5, 0);
    const mesh = new THREE.Mesh(geometry, material);
    const holder = new THREE.Group();
    holder.position.copy(origin(body.placement));
    holder.quaternion.setFromUnitVectors(UP, turned(body.placement, body.axis).normalize());
    holder.add(mesh);
    this.add("generic", body.parent, holder);
    this.rails.push({ mesh, body: i });
  }

  private shapes(arrays: Arrays): void {
    for (const { body, corners, faces, colour: [r, g, b, a] } of this.robot.surfaces) {
      const info = arrays.info(corners);
      const flat = new Float32Array(info.rows * 3);
      for (let c = 0; c < 3; c++) arrays.column(corners, c).forEach((v, i) => (flat[3 * i + c] = v));
      const count = arrays.info(faces).rows;
      const index = new Uint32Array(count * 3);
      for (let c = 0; c < 3; c++) arrays.column(faces, c).forEach((v, i) => (index[3 * i + c] = v));
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(flat, 3));
      geometry.setIndex(new THREE.BufferAttribute(index, 1));
      const opacity = this.ghost ? 0.25 : a;
      const material = new THREE.MeshLambertMaterial({ color: new THREE.Color(r, g, b).convertSRGBToLinear(), flatShading: true, transparent: opacity < 1, opacity, depthWrite: opacity >= 1 });
      this.add("shapes", body, new THREE.Mesh(geometry, material));
    }
  }

  /** Frames, joint axes, centres of mass and ellipsoids of inertia. */
  private marks(): void {
    const { bodies, size, tip } = this.robot;
    this.add("frames", -1, triad(0.14 * size));
    if (tip) {
      const end = triad(0.1 * size);
      end.matrixAutoUpdate = false;
      setMatrix(end, tip.pose);
      this.add("frames", tip.body, end);
    }
    bodies.forEach((body, i) => {
      const name = `j${(i % 8) + 1}`;
      this.add("frames", i, triad(0.1 * size));
      const back = inverse(body.frame);
      const axis = turned(back, body.axis).normalize();
      const centre = origin(back);
      this.add("axes", i, rod(centre.clone().addScaledVector(axis, -0.13 * size), centre.clone().addScaledVector(axis, 0.13 * size), 0.004 * size, this.material(name)));
      if (!body.inertia) return;
      const { com, axes, half } = body.inertia;
      const ball = new THREE.Mesh(new THREE.SphereGeometry(0.016 * size, this.round, 12), this.material("ink"));
      ball.position.set(com[0], com[1], com[2]);
      ball.renderOrder = 2;
      (ball.material as THREE.Material).depthTest = false;
      this.add("masses", i, ball);
      const soft = this.material(name);
      soft.transparent = true;
      soft.opacity = 0.38;
      soft.depthWrite = false;
      const egg = new THREE.Mesh(new THREE.SphereGeometry(1, this.round, 16), soft);
      egg.matrixAutoUpdate = false;
      const [a, b, c] = half.map((h) => Math.max(h, 1e-4 * size));
      egg.matrix.set(axes[0] * a, axes[1] * b, axes[2] * c, com[0], axes[3] * a, axes[4] * b, axes[5] * c, com[1], axes[6] * a, axes[7] * b, axes[8] * c, com[2], 0, 0, 0, 1);
      this.add("inertia", i, egg);
    });
  }
}

/** Three arrows, red, green and blue for x, y and z. */
export function triad(length: number): THREE.Group {
  const group = new THREE.Group();
  const ends = [new THREE.Vector3(length, 0, 0), new THREE.Vector3(0, length, 0), new THREE.Vector3(0, 0, length)];
  [0xd6453d, 0x2f9e55, 0x3b78d8].forEach((tint, k) => {
    const material = new THREE.MeshBasicMaterial({ color: tint });
    group.add(rod(new THREE.Vector3(), ends[k], 0.028 * length, material)!);
    const point = new THREE.Mesh(new THREE.ConeGeometry(0.075 * length, 0.2 * length, 12), material);
    point.position.copy(ends[k]);
    point.quaternion.setFromUnitVectors(UP, ends[k].clone().normalize());
    group.add(point);
  });
  return group;
}

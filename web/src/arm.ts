/** The stage: arms, traces and targets in three dimensions, drawn when something changed and at no other time. */
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { ArmModel, type Layer } from "./arm_parts";
import type { Mechanism } from "./document";
import type { Run } from "./engine";
import { ground } from "./ground";
import type { State } from "./state";
import { before } from "./numbers";
import { colour } from "./palette";

const MOST_TRACE = 1500;
const FLAT = 9; // degrees of view for an arm that moves in a plane
const ROOM = 0.09; // around the motion, of its size
const SOFTWARE = { trace: 300, moving: 0.75, still: 2, after: 250, round: 20 }; // where the processor draws: few pixels while something moves, many (and smooth edges) once it stands still for so many ms

type Room = Pick<Mechanism, "low" | "high">;
export type Side = "home" | "front" | "side" | "top";

interface OnStage {
  run: number;
  model: ArmModel;
  q: Float64Array;
  trace: Line2 | null;
  done: Line2 | null;
  doneTimes: Float64Array;
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly scene = new THREE.Scene();
  private readonly arms: OnStage[] = [];
  private readonly lines: { line: Line2; name: string }[] = [];
  private readonly options = new Map<string, boolean>();
  private readonly centre = new THREE.Vector3();
  private size = 1;
  private readonly corners = Array.from({ length: 8 }, () => new THREE.Vector3()); // of the room that the motion takes
  private readonly plane: number[] | null;
  private readonly grid: THREE.LineSegments;
  private asked = false;
  private from: Side = "home";
  private rest = 0; // until the fine picture of what stands still
  private coarse = false;
  private stale = false; // traces of samples that are gone
  /** Has somebody turned, shifted or enlarged the view? */
  turned = false;
  /** Pictures drawn so far. */
  frames = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly state: State,
    readonly software: boolean,
  ) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software, alpha: !software, powerPreference: "low-power" });
    this.renderer.setPixelRatio(software ? SOFTWARE.still : Math.min(devicePixelRatio, 2));
    const robots = state.page.robots;
    this.plane = robots[0].plane;
    if (this.plane) this.camera.fov = FLAT; // from far away: nothing leans
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableZoom = true;
    this.controls.zoomSpeed = 0.9;
    this.room(robots);
    canvas.style.touchAction = "pan-y";
    this.controls.addEventListener("change", () => this.ask());
    this.controls.addEventListener("start", () => (this.turned = true));
    this.lights();
    this.build();
    if (this.hasShapes) this.room([...robots, ...this.arms.flatMap((arm) => arm.model.dressed ?? [])]); // they reach further than joints
    this.grid = ground(this.size, this.centre, this.plane, Math.min(this.corners[0].z, robots[0].base[11]));
    this.scene.add(this.grid);
    this.recolour();
    new ResizeObserver(() => this.fit()).observe(canvas);
    this.fit();
    this.look("home");
  }

  /** The room that the motion takes, and how near and far it is looked at. */
  private room(boxes: readonly Room[]): void {
    const [low, high] = [0, 1].map((end) => [0, 1, 2].map((k) => (end ? Math.max(...boxes.map((b) => b.high[k])) : Math.min(...boxes.map((b) => b.low[k])))));
    this.size = Math.max(...high.map((h, k) => h - low[k]), 1e-6);
    this.corners.forEach((corner, c) => corner.set(...([0, 1, 2].map((k) => ((c >> k) & 1 ? high[k] : low[k])) as [number, number, number])));
    this.centre.copy(this.corners[0]).add(this.corners[7]).multiplyScalar(0.5);
    [this.camera.near, this.camera.far] = [0.01 * this.size, 60 * this.size];
    [this.controls.minDistance, this.controls.maxDistance] = [0.2 * this.size, 30 * this.size];
  }

  /** Does the arm move in a plane? Then lines of that plane are drawn over it, not inside it. */
  get flat(): boolean {
    return this.plane !== null;
  }
  get hasShapes(): boolean {
    return this.arms.some((a) => a.model.hasShapes);
  }
  get hasTip(): boolean {
    return this.arms.some((a) => a.model.robot.tip !== null);
  }
  get hasPath(): boolean {
    return this.state.engine.runs.peek().some((r) => r.path !== null);
  }
  get hasGhost(): boolean {
    return this.arms.length > 1;
  }

  /** Where the tip of the first arm is. */
  tip(): number[] | null {
    const arm = this.arms[0];
    return arm && arm.model.robot.tip ? arm.model.kinematics.tip() : null;
  }

  set(option: string, on: boolean): void {
    this.options.set(option, on);
    this.applyOptions();
    this.ask();
  }

  private applyOptions(): void {
    const on = (name: string, usual: boolean) => this.options.get(name) ?? usual;
    this.arms.forEach(({ model, trace, done }, k) => {
      const dressed = model.hasShapes && on("shapes", true);
      model.show("shapes", dressed);
      model.show("generic", !dressed);
      for (const layer of ["frames", "axes", "masses", "inertia"] as Layer[]) model.show(layer, on(layer, false));
      model.root.visible = k === 0 || on("ghost", true);
      for (const line of [trace, done]) if (line) line.visible = on("trace", true) && model.root.visible;
    });
    for (const { line, name } of this.lines) if (name === "target") line.visible = on("path", true);
  }

  /** Look from a side: the whole motion is in the picture. */
  look(from: Side): void {
    const flat: Record<string, [number, number, number]> = { "0,1": [0, 0, 1], "0,2": [0, -1, 0], "1,2": [1, 0, 0] };
    const sides: Record<Side, [number, number, number]> = {
      home: this.plane ? flat[this.plane.join()] : [0.62, -0.9, 0.55],
      front: [0, -1, 0],
      side: [1, 0, 0],
      top: [0, 0, 1],
    };
    const way = new THREE.Vector3(...sides[from]).normalize();
    if (Math.abs(way.z) > 0.999) way.set(0, -1e-4, way.z).normalize();
    this.from = from;
    this.turned = false;
    const right = new THREE.Vector3().crossVectors(this.camera.up, way).normalize();
    const up = new THREE.Vector3().crossVectors(way, right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    const margin = ROOM * this.size;
    let distance = this.controls.minDistance;
    for (const corner of this.corners) {
      const at = corner.clone().sub(this.centre);
      const needed = Math.max((Math.abs(at.dot(right)) + margin) / (tall * this.camera.aspect), (Math.abs(at.dot(up)) + margin) / tall);
      distance = Math.max(distance, needed + at.dot(way));
    }
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).addScaledVector(way, distance);
    this.controls.update();
    this.ask();
  }

  /** A motion that takes more room: all of it is in the picture, unless somebody has turned that. */
  widen(robots: readonly Room[]): void {
    const least = [0, 1, 2].map((k) => Math.min(...robots.map((r) => r.low[k]), this.corners[0].getComponent(k)));
    const most = [0, 1, 2].map((k) => Math.max(...robots.map((r) => r.high[k]), this.corners[7].getComponent(k)));
    const grown = Math.max(...least.map((v, k) => this.corners[0].getComponent(k) - v), ...most.map((v, k) => v - this.corners[7].getComponent(k)));
    if (grown < 0.5 * ROOM * this.size) return;
    this.corners.forEach((corner, c) => corner.set(...([0, 1, 2].map((k) => ((c >> k) & 1 ? most[k] : least[k])) as [number, number, number])));
    this.centre.copy(this.corners[0]).add(this.corners[7]).multiplyScalar(0.5);
    if (!this.turned) this.look(this.from);
  }

  /** The view of another stage, where somebody has turned that; as near as its arm was for its size. */
  lookAs(other: Stage): void {
    if (!other.turned) return;
    this.turned = true;
    const offset = other.camera.position.clone().sub(other.controls.target).multiplyScalar(this.size / other.size);
    this.controls.target.copy(other.controls.target).sub(other.centre).multiplyScalar(this.size / other.size).add(this.centre);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
  }

  orbit(dx: number, dy: number): void {
    this.turned = true;
    const offset = this.camera.position.clone().sub(this.controls.target);
    const ball = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    ball.theta -= dx;
    ball.phi = Math.min(Math.max(ball.phi - dy, 1e-3), Math.PI - 1e-3);
    const turned = new THREE.Vector3().setFromSpherical(ball);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(turned.x, -turned.z, turned.y));
    this.controls.update();
    this.ask();
  }

  zoom(factor: number): void {
    this.turned = true;
    const offset = this.camera.position.clone().sub(this.controls.target);
    const length = Math.min(Math.max(offset.length() / factor, this.controls.minDistance), this.controls.maxDistance);
    this.camera.position.copy(this.controls.target).addScaledVector(offset.normalize(), length);
    this.controls.update();
    this.ask();
  }

  /** Runs have new samples: where the arms are the same, only their traces are drawn anew; where the processor draws, after the charts. */
  refresh(): void {
    const moving = this.state.engine.runs.peek().filter((r) => r.robot !== null);
    if (moving.length !== this.arms.length) return this.build();
    this.stale = true;
    this.ask(this.software);
    this.show(this.state.clock.shown.peek());
  }

  private retrace(): void {
    this.stale = false;
    const runs = this.state.engine.runs.peek();
    for (const arm of this.arms) {
      for (const old of [arm.trace, arm.done])
        if (old) {
          this.scene.remove(old);
          old.geometry.dispose();
          this.lines.splice(this.lines.findIndex((l) => l.line === old), 1);
        }
      arm.trace = arm.done = null;
      if (arm.model.robot.tip) this.trace(arm, runs[arm.run]);
    }
    this.applyOptions();
    this.place(this.state.clock.shown.peek());
  }

  /** Arms and traces of the runs, anew. */
  build(): void {
    this.stale = false;
    const before = this.arms.map((arm) => arm.model);
    for (const { line } of this.lines) {
      this.scene.remove(line);
      line.geometry.dispose();
      line.material.dispose();
    }
    this.arms.length = 0;
    this.lines.length = 0;
    this.state.engine.runs.peek().forEach((run, k) => this.admit(run, k, before));
    const kept = new Set(this.arms.map((arm) => arm.model));
    for (const model of before) if (!kept.has(model)) this.scene.remove(model.root);
    this.applyOptions();
    this.show(this.state.clock.shown.peek());
  }

  /** An arm that stood in the same place before stays: other numbers are no other robot. */
  private admit(run: Run, k: number, before: readonly ArmModel[]): void {
    if (run.robot === null) return;
    const robot = this.state.page.robots[run.robot];
    const old = before[this.arms.length];
    const model = old && old.robot === robot ? old : new ArmModel(robot, this.state.arrays, this.arms.length > 0, this.software ? SOFTWARE.round : undefined);
    if (model !== old) this.scene.add(model.root);
    const q = new Float64Array(run.q.length);
    const arm: OnStage = { run: k, model, q, trace: null, done: null, doneTimes: new Float64Array(0) };
    if (model.robot.tip) this.trace(arm, run);
    if (run.path && run.path.length >= 6) {
      const count = run.path.length / 3;
      const points: number[] = [];
      for (let i = 0; i < count; i++) points.push(run.path[i], run.path[count + i], run.path[2 * count + i]);
      this.line(points, "target", 2, true);
    }
    this.arms.push(arm);
  }

  /** The way of the tip: faint as a whole, full up to the moment that is shown. */
  private trace(arm: OnStage, run: Run): void {
    const every = Math.max(1, Math.ceil(run.t.length / (this.software ? SOFTWARE.trace : MOST_TRACE)));
    const points: number[] = [];
    const times: number[] = [];
    for (let i = 0; i < run.t.length; i += every) {
      run.q.forEach((column, j) => (arm.q[j] = column[i]));
      arm.model.kinematics.at(arm.q);
      points.push(...arm.model.kinematics.tip());
      times.push(run.t[i]);
    }
    if (points.length < 6) return;
    const name = arm.run === 0 ? "trace" : "muted";
    arm.trace = this.line(points, name, 1.6, false, 0.3);
    arm.done = this.line(points, name, 2.6, false);
    arm.doneTimes = Float64Array.from(times);
  }

  private line(points: number[], name: string, width: number, dashed: boolean, opacity = 1): Line2 {
    const geometry = new LineGeometry();
    geometry.setPositions(points);
    const material = new LineMaterial({ linewidth: width, dashed, dashSize: 0.02 * this.size, gapSize: 0.014 * this.size, transparent: opacity < 1, opacity, depthWrite: opacity >= 1, depthTest: !this.flat });
    const line = new Line2(geometry, material);
    if (dashed) line.computeLineDistances();
    line.frustumCulled = false;
    if (this.flat) line.renderOrder = 1;
    this.scene.add(line);
    this.lines.push({ line, name });
    material.resolution.set(this.canvas.clientWidth, this.canvas.clientHeight);
    material.color.set(colour(name));
    return line;
  }

  private lights(): void {
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa4b2, 2.1));
    const sun = new THREE.DirectionalLight(0xffffff, 1.7);
    sun.position.set(0.6, -1, 1.6);
    this.scene.add(sun);
  }

  /** The arm in front. */
  get first(): ArmModel | null {
    return this.arms[0]?.model ?? null;
  }

  highlight(body: number | null): void {
    this.first?.highlight(body);
    this.ask();
  }

  recolour(): void {
    for (const { model } of this.arms) model.recolour();
    for (const { line, name } of this.lines) line.material.color.set(colour(name));
    if (this.software) this.renderer.setClearColor(colour("stage"), 1);
    (this.grid.material as THREE.LineBasicMaterial).color.set(colour("rule"));
    this.ask();
  }

  /** Postures of all runs at a moment; a run that has ended stays where it is. */
  show(t: number): void {
    this.place(t);
    this.ask();
  }

  private place(t: number): void {
    const runs = this.state.engine.runs.peek();
    for (const arm of this.arms) {
      const run = runs[arm.run];
      const i = before(run.t, t);
      const j = Math.min(i + 1, run.t.length - 1);
      const f = j > i ? Math.min(Math.max((t - run.t[i]) / (run.t[j] - run.t[i]), 0), 1) : 0;
      run.q.forEach((column, k) => (arm.q[k] = column[i] * (1 - f) + column[j] * f));
      arm.model.place(arm.q);
      if (arm.done) arm.done.geometry.instanceCount = Math.max(before(arm.doneTimes, t), 0);
    }
  }

  /** The picture is as large as its place. */
  fit(): void {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    for (const { line } of this.lines) line.material.resolution.set(clientWidth, clientHeight);
    if (!this.turned) this.look(this.from);
    this.draw();
  }

  /** Draw before the next picture of the page, or (`later`) before the one after it. */
  ask(later = false): void {
    if (this.asked) return;
    this.asked = true;
    const now = (): void => {
      this.asked = false;
      if (this.software) this.quickly();
      else this.draw();
    };
    requestAnimationFrame(later ? () => requestAnimationFrame(now) : now);
  }

  /** Few pixels now, all of them when nothing has moved for a moment. */
  private quickly(): void {
    clearTimeout(this.rest);
    this.sharpness(true);
    this.draw();
    this.rest = window.setTimeout(() => {
      if (this.state.clock.playing.peek()) return; // the next picture comes anyway
      this.sharpness(false);
      this.draw();
    }, SOFTWARE.after);
  }

  private sharpness(coarse: boolean): void {
    if (coarse === this.coarse) return;
    this.coarse = coarse;
    this.renderer.setPixelRatio(coarse ? SOFTWARE.moving : SOFTWARE.still);
  }

  draw(): void {
    if (this.stale) this.retrace();
    this.renderer.render(this.scene, this.camera);
    this.frames++;
  }

  /** The stage is gone. */
  dispose(): void {
    clearTimeout(this.rest);
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

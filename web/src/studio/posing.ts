/** Postures by hand: the tip dragged in the view, the postures that reach the same point, links selected by a click. */
import { signal, untracked } from "@preact/signals-core";
import * as THREE from "three";
import type { Stage } from "../arm";
import { el } from "../dom";
import { colours } from "../palette";
import { TEXTS } from "../texts";
import { ask, said } from "./client";
import { draggable, type Handle } from "./drag";
import type { Studio } from "./studio";

const STILL = 4; // pixels that a click may move

export class Posing {
  constructor(private readonly studio: Studio) {}

  /** The posture becomes the start of the run. */
  startHere(): void {
    const { store, posture } = this.studio;
    const document = { ...store.document.value };
    delete document["q0_deg"];
    store.replace({ ...document, q0: posture.value.map((v) => Number(v.toPrecision(10))) });
  }

  /** Sliders stand where the run that is shown begins. */
  begin(): void {
    const { view, robot, posture } = this.studio;
    const found = view.state?.engine.runs.peek()[0]?.q.map((column) => column[0]);
    if (found && found.length === robot.value?.robot.n) posture.value = found;
  }

  /** Turn one joint. */
  pose(joint: number, value: number): void {
    const next = [...this.studio.posture.value];
    next[joint] = value;
    void this.studio.stand(next);
  }

  readonly found = signal<readonly number[][]>([]);

  posturesList(): HTMLElement {
    const list = el("div", { class: "postures" });
    this.studio.follow(() => {
      const all = this.found.value;
      list.replaceChildren(...(all.length > 1 ? [el("p", { class: "words" }, TEXTS.postures), el("div", { class: "buttons" }, ...all.map((q, i) => el("button", { type: "button", class: "quiet", "aria-label": TEXTS.postureNumber(i + 1), click: () => void this.studio.stand(q) }, String(i + 1))))] : []));
    });
    return list;
  }

  /** The tip can be taken and dragged in the plane of the picture, and so can points of the path; joints follow by inverse kinematics. */
  hold(stage: Stage): void {
    let waiting: number[] | null = null;
    let asking = false;
    let reached = true;
    const go = async (): Promise<void> => {
      if (asking || !waiting) return;
      const target = waiting;
      waiting = null;
      asking = true;
      try {
        const answer = await ask("ik", { document: this.studio.store.document.value, target, q: this.studio.posture.value });
        reached = answer.ok;
        if (answer.ok && answer.q) await this.studio.stand(answer.q);
        this.studio.message.value = answer.ok ? "" : answer.reason;
      } catch (error) {
        this.studio.message.value = said(error);
      } finally {
        asking = false;
        if (waiting) void go();
      }
    };
    const tip: Handle = {
      at: () => this.studio.view.stage?.tip() as [number, number, number] | null,
      take: () => {
        const run = this.studio.view.state?.engine.runs.peek()[0];
        if (!run || run.t.length < 2) return;
        const now = this.studio.view.state?.clock.shown.peek() ?? 0;
        const i = Math.max(0, Array.from(run.t).findIndex((t) => t >= now));
        this.studio.posture.value = run.q.map((column) => column[i] ?? 0);
      },
      move: (to) => {
        waiting = to;
        void go();
      },
      drop: () => void (reached && this.every()),
    };
    draggable(stage, () => [...this.studio.overlay.taken(() => this.studio.view.stage), tip]);
    stage.state.follow(() => {
      colours.value; // in those of the scheme that is chosen
      untracked(() => this.studio.overlay.draw(stage));
    });
    this.pick(stage);
  }

  /** A click on a link selects its joint, in the view, the tables and the charts; a click beside the arm selects none. */
  private pick(stage: Stage): void {
    const ray = new THREE.Raycaster();
    let begun: [number, number] | null = null;
    stage.canvas.addEventListener("pointerdown", (e) => (begun = [e.clientX, e.clientY]));
    stage.canvas.addEventListener("pointerup", (e) => {
      const model = stage.first;
      if (!begun || !model || Math.hypot(e.clientX - begun[0], e.clientY - begun[1]) > STILL) return;
      const box = stage.canvas.getBoundingClientRect();
      ray.setFromCamera(new THREE.Vector2((2 * (e.clientX - box.left)) / box.width - 1, 1 - (2 * (e.clientY - box.top)) / box.height), stage.camera);
      const hit = ray.intersectObject(model.root, true).find((h) => h.object.visible);
      const body = hit ? model.bodyOf(hit.object) : -1;
      this.studio.select(body < 0 ? null : body);
    });
    const { state } = stage;
    state.follow(() => {
      const joint = state.selected.value;
      document.querySelectorAll("[data-row]").forEach((row) => row.classList.toggle("selected", Number((row as HTMLElement).dataset["row"]) === joint));
    });
  }

  /** All postures that bring the tip where it is. */
  private async every(): Promise<void> {
    const target = this.studio.view.stage?.tip();
    if (!target) return;
    try {
      const answer = await ask("ik", { document: this.studio.store.document.value, target, q: this.studio.posture.value, every: true });
      this.found.value = answer.ok ? answer.postures.slice(0, 12) : [];
    } catch {
      this.found.value = [];
    }
  }
}

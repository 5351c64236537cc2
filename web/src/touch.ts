/** Fingers on the stage: up and down scrolls the page, as everywhere; what the view turned before that was clear is taken back. */
import type { Vector3 } from "three";
import type { Stage } from "./arm";

export function scrollsThrough(stage: Stage): void {
  const { canvas, camera, controls } = stage;
  let before: { position: Vector3; target: Vector3; turned: boolean } | null = null;
  // before the controls hear of it
  canvas.addEventListener("pointerdown", (e) => (before = e.pointerType === "touch" && e.isPrimary ? { position: camera.position.clone(), target: controls.target.clone(), turned: stage.turned } : null), { capture: true });
  canvas.addEventListener("pointercancel", () => {
    if (!before) return;
    camera.position.copy(before.position);
    controls.target.copy(before.target);
    stage.turned = before.turned;
    before = null;
    controls.update();
    stage.ask();
  });
}

/** Things on the stage that can be taken and moved in the plane of the picture. */
import * as THREE from "three";
import type { Stage } from "../arm";

export interface Handle {
  /** Where it is now. */
  at(): [number, number, number] | null;
  take?(): void;
  move(to: [number, number, number]): void;
  drop?(): void;
}

const REACH_PX = 16;

export function draggable(stage: Stage, handles: () => readonly Handle[]): void {
  const { canvas, camera } = stage;
  const ray = new THREE.Raycaster();
  const plane = new THREE.Plane();
  const place = (e: PointerEvent): THREE.Vector2 => {
    const box = canvas.getBoundingClientRect();
    return new THREE.Vector2((2 * (e.clientX - box.left)) / box.width - 1, 1 - (2 * (e.clientY - box.top)) / box.height);
  };
  const near = (e: PointerEvent): { handle: Handle; at: THREE.Vector3 } | null => {
    const box = canvas.getBoundingClientRect();
    const here = place(e);
    let found: { handle: Handle; at: THREE.Vector3 } | null = null;
    let best = REACH_PX;
    for (const handle of handles()) {
      const at = handle.at();
      if (!at) continue;
      const point = new THREE.Vector3(...at);
      const seen = point.clone().project(camera);
      const away = Math.hypot(((seen.x - here.x) * box.width) / 2, ((seen.y - here.y) * box.height) / 2);
      if (away < best) {
        best = away;
        found = { handle, at: point };
      }
    }
    return found;
  };
  let held = false;
  // a finger on a handle moves that, not the page; whether it may scroll the page is decided where it touches
  canvas.addEventListener("touchstart", (e) => held && e.preventDefault(), { passive: false });
  canvas.addEventListener("pointermove", (e) => {
    if (!e.buttons) canvas.style.cursor = near(e) ? "move" : "";
  });
  canvas.addEventListener(
    "pointerdown",
    (e) => {
      const taken = e.button === 0 ? near(e) : null;
      if (!taken) return;
      e.stopImmediatePropagation();
      e.preventDefault();
      canvas.setPointerCapture(e.pointerId);
      stage.controls.enabled = false;
      held = true;
      plane.setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), taken.at);
      taken.handle.take?.();
      const move = (m: PointerEvent): void => {
        ray.setFromCamera(place(m), camera);
        const hit = ray.ray.intersectPlane(plane, new THREE.Vector3());
        if (hit) taken.handle.move([hit.x, hit.y, hit.z]);
      };
      const up = (): void => {
        canvas.removeEventListener("pointermove", move);
        stage.controls.enabled = true;
        held = false;
        taken.handle.drop?.();
      };
      canvas.addEventListener("pointermove", move);
      canvas.addEventListener("pointerup", up, { once: true });
      canvas.addEventListener("pointercancel", up, { once: true });
    },
    { capture: true },
  );
}

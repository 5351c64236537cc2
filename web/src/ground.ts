/** What the stage stands on, and what draws it. */
import * as THREE from "three";

/** Is 3-D drawn by the processor? Then nothing is smoothed. */
export function graphics(): { works: boolean; software: boolean } {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2");
  if (!gl) return { works: false, software: false };
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return { works: true, software: /swiftshader|llvmpipe|software|basic render/i.test(name) };
}

/** Lines of the ground below an arm, or behind one that moves in a plane, a round distance apart. */
export function ground(size: number, centre: THREE.Vector3, plane: readonly number[] | null, floor: number): THREE.LineSegments {
  const normal = plane ? [2, 1, 0][["0,1", "0,2", "1,2"].indexOf(plane.join())] : 2;
  const unit = 10 ** Math.floor(Math.log10(size / 14));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => size / s < 14) ?? size / 10;
  const half = Math.ceil(((plane ? 1.6 : 0.9) * size) / step) * step;
  const middle = [centre.x, centre.y, centre.z].map((c) => Math.round(c / step) * step);
  const height = plane ? middle[normal] - 0.03 * size : floor;
  const [u, v] = [0, 1, 2].filter((k) => k !== normal);
  const points: number[] = [];
  for (let s = -half; s <= half + 1e-3 * step; s += step)
    for (const [a, b] of [
      [u, v],
      [v, u],
    ])
      for (const end of [-half, half]) {
        const p = [0, 0, 0];
        p[normal] = height;
        p[a] = middle[a] + s;
        p[b] = middle[b] + end;
        points.push(...p);
      }
  const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.75 }));
}

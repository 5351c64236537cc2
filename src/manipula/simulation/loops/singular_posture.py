r"""Did a run end because its arm came into a posture in which the controller has no inverse?

Near a posture in which :math:`\sigma_{\min}(J)` vanishes an exact inverse asks for speeds of :math:`1/\sigma_{\min}`. A tip that is led across
the border of what it can do arrives there in a finite time with :math:`\sigma_{\min}\sim\sqrt{t^*-t}`: behind :math:`t^*` the equations have
no solution, and whatever steps of a finite length find there is noise. So such a run is followed once more from where it can be trusted,
with steps that move no joint by more than a part of :math:`\sigma_{\min}/\sigma_{\max}`.
"""

from __future__ import annotations

import numpy as np

from manipula.control.pose_task import PoseController
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.plant import Plant

SINGULAR_POSTURE = 1e-8  # 1/κ of the task's Jacobian; its square, which the inverse needs, has no digits left
ARRIVED = 1e-3  # 1/κ below which a run that goes on to lose its numbers has come into a singular posture
NEAR = 0.02  # 1/κ below which a posture is worth a sentence
NEARER = 0.1  # of σmin/σmax: what a joint may move in one step [rad or m]
MOST_STEPS = 20_000


def singular_start(plant: Plant, t: float, x: np.ndarray) -> tuple[str, str] | None:
    """Status and reason where the controller needs an inverse at time t that does not exist, or None."""
    controller = _inverting(plant)
    return None if controller is None or _reciprocal(plant, x) > SINGULAR_POSTURE else _told(plant, controller, t, x)


def singular_on_the_way(
    run: Run, k: int, plant: Plant, t: float, x: np.ndarray, until: float
) -> tuple[str, str] | None:
    """Status and reason of a run k that was lost at the time ``until`` and can be trusted at t, where its state is x; or None.

    The status is empty where it passed near such a posture only: that is a sentence for the reason, and need not be the cause.

    Args:
        plant: of this run, on plain numbers.
    """
    controller = _inverting(plant)
    if controller is None or run.loop.discrete or run.loop.parts is None:
        return None
    lay, second, step = plant.layout, run.loop.second, run.scenario.step
    nearest, place, speed = _reciprocal(plant, run.x0[k]), (t, x), 0.0
    for _ in range(MOST_STEPS):
        reciprocal = _reciprocal(plant, x)
        if reciprocal <= ARRIVED:
            return _told(plant, controller, t, x)
        if t > until or not np.isfinite(x).all():
            break
        if reciprocal < nearest:
            nearest, place = reciprocal, (t, x)
        speed = max(speed, float(np.abs(lay.qd(x)).max()))
        rate, curved = (np.asarray(v, float) for v in second(x, run.p[k], *run.inputs, t))
        fastest = float(np.abs(np.concatenate([lay.qd(x), np.sqrt(np.abs(lay.q(curved)))])).max())
        h = min(step, NEARER * reciprocal / fastest) if fastest > 0.0 else step
        t, x = t + h, x + h * rate + 0.5 * h * h * curved
    return ("", _passed(controller, place[0], nearest, speed)) if nearest < NEAR else None


def _inverting(plant: Plant) -> PoseController | None:
    """The controller, where it needs the exact inverse of the task's Jacobian."""
    controller = plant.controller
    if not isinstance(controller, PoseController) or getattr(controller, "damping", 0.0):
        return None
    return controller if controller.inverts else None


def _reciprocal(plant: Plant, x: np.ndarray) -> float:
    """1/κ of the Jacobian of what is controlled; infinite where nothing is inverted."""
    controller = _inverting(plant)
    if controller is None:
        return np.inf
    J = np.asarray(controller.turned_arm(plant.arm()).task_jacobian(plant.layout.q(x)), float)
    if not np.isfinite(J).all():
        return np.inf
    sizes = np.linalg.svd(J, compute_uv=False)
    return float(sizes[-1] / sizes[0]) if sizes[0] > 0.0 else 0.0


def _told(plant: Plant, controller: PoseController, t: float, x: np.ndarray) -> tuple[str, str]:
    at = ", ".join(f"{name} = {v:.4g}" for name, v in zip(plant.robot.joint_names, plant.layout.q(x)))
    return "singular", (
        f"The arm is in a singular posture at t = {t:.6g} s ({at}; stretched out, folded or with axes in line), where the controller "
        f"'{controller.name}' cannot find torques for every acceleration of the {'tool' if controller.is_turned else 'tip'}; {_help(controller, t)}."
    )


def _passed(controller: PoseController, t: float, nearest: float, speed: float) -> str:
    return (
        f" Before, it passed near a singular posture (σmin/σmax = {nearest:.2g} at t = {t:.6g} s, joint speeds up to {speed:.3g}), where the "
        f"exact inverse of '{controller.name}' asks for more and more speed; {_help(controller, t)}."
    )


def _help(controller: PoseController, t: float) -> str:
    """What one can do about it."""
    out = ["lead it around by waypoints" if t > 0.0 else "start elsewhere"]
    if hasattr(controller, "damping"):
        out.append("give 'damping' (0.05 to 0.2), which leaves an error there")
    if controller.is_turned and controller.orientation != "angle":
        out.append("control less of the orientation ('x', 'y', 'z' or 'free')")
    return ", ".join([*out, "or move in joint space"])

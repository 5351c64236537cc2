"""How far an arm can follow a task reference, and why no further: the target leaves its reach, or its posture becomes singular."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.errors import SolveError
from manipula.ik.search.driver import compile_errors
from manipula.ik.solve import solve_ik
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.ik.tracking.continuation import follow, poses_along
from manipula.model import Model
from manipula.motion.oriented import has_orientation
from manipula.motion.trajectory import Trajectory
from manipula.simulation.given_motion.joint_motion import JointMotion
from manipula.simulation.given_motion.verdict import is_singular
from manipula.simulation.result import RunVerdict
from manipula.simulation.scenario import Scenario

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

HALVINGS = 30
LATER = 1e-3  # of the run: so long after the end of a motion its target is looked at
LOOKS = 8  # at the rest of a reference, for how far it is missed


class End(NamedTuple):
    """Where a motion along a reference ends: the last sample before, the time itself, and what to say; no ``last``: nothing is known."""

    last: float | None
    t: float
    verdict: RunVerdict


def end_of(s: Scenario, q0: np.ndarray, t: np.ndarray, samples: np.ndarray) -> End | None:
    """Where postures that continue q0 cannot be continued any more, looked for at times t; None: nowhere."""
    task: Any = movable(s.robot, Task.of("pose" if has_orientation(s.reference) else "position"))
    errors, at = compile_errors(s.robot, task), lambda times: poses_along(s.reference, times)
    q = q0
    for a, b in zip(t, t[1:]):
        low, high = float(a), float(b)
        try:
            q = follow(errors, at, np.array([low, high]), q)[1]
            continue
        except SolveError:
            pass
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            try:
                q, low = follow(errors, at, np.array([low, middle]), q)[1], middle
            except SolveError:
                high = middle
        return end_of_motion(s, samples, low, q)
    return None


def left_reach(s: Scenario, motion: JointMotion, verdict: RunVerdict, right: float) -> RunVerdict | None:
    """Of a kinematic run that is right until then only: the verdict that names the reach, where the reference leaves it; else None."""
    reference: Trajectory = s.reference
    if verdict.status not in ("inaccurate", "singular") or getattr(reference, "space", "") != "task":
        return None
    later = motion.t >= right
    if later.sum() < 2:
        return None
    found = end_of(s, motion.q[int(np.argmax(later))], motion.t[later], motion.t)
    return found.verdict if found is not None and found.verdict.status == "failed" else None


def first_wrong(s: Scenario, motion: JointMotion) -> int | None:
    """The first sample at which a motion to the end of its reference is wrong: in a singular posture, or off the reference.

    None where there is none, and where it is the start: that is judged as a whole.
    """
    reference: Trajectory = s.reference
    target = np.zeros((len(motion.t), 3))
    target[:, : reference.dimension] = reference.position(motion.t)
    tip = np.asarray(Model(s.robot).position(motion.q))
    reach = max(1.0, float(np.nanmax(np.abs(tip), initial=0.0)), float(np.abs(target).max()))
    missed = ~(np.abs(target - tip).max(axis=1) <= s.tolerance * reach)
    return int(np.argmax(missed | is_singular(motion.condition, s.tolerance))) or None


def wrong_end(s: Scenario, samples: np.ndarray, motion: JointMotion) -> End | None:
    """Where a motion to the end of its reference stops being right; None where it does not, or where its integration alone is to blame."""
    k = first_wrong(s, motion)
    if k is None:
        return None
    found = end_of_motion(s, samples, float(motion.t[k - 1]), motion.q[k - 1], float(motion.t[k]))
    return found if found.verdict.status == "failed" or is_singular(motion.condition[k], s.tolerance) else None


def end_of_motion(s: Scenario, samples: np.ndarray, t: float, q: np.ndarray, bad: float | None = None) -> End:
    """The end of a motion at time t in posture q; ``bad``: the time of a sample at which it was seen to be over."""
    end = float(s.duration or 0.0)
    turned = has_orientation(s.reference)

    def missed(at: float) -> float:
        target = poses_along(s.reference, at)[0, 0]
        found = solve_ik(s.robot, target if turned else target[:3, 3], q0=q, limits=False)
        return 0.0 if found.status == "solved" else float(np.max(found.residual))

    last = samples[samples <= t * (1.0 + 1e-12)]
    kept = float(last[-1]) if len(last) else None
    after = min(t + LATER * end, end) if bad is None else bad
    if missed(after) > 0.0:
        times = np.linspace(after, end, LOOKS)
        off = [missed(float(at)) for at in times]
        worst = int(np.argmax(off))
        unit = "m or rad" if turned else "m"
        off_axis = np.abs(poses_along(s.reference, times)[:, 0, :3, 3] - np.asarray(Model(s.robot).position(q))).max(
            axis=0
        )
        task: Any = movable(s.robot, Task.of("position"))
        stuck = [name for i, name in enumerate("xyz") if i not in task.parts[0][1] and off_axis[i] > s.tolerance]
        why = f": its tip cannot move in {' and '.join(stuck)}" if stuck else ": no posture follows it any more"
        why = (
            f"The reference leaves the reach of '{s.robot.name}' at t = {t:.6g} s{why}, and it is missed by up "
            f"to {off[worst]:.3g} {unit} (at t = {times[worst]:.6g} s)."
        )
        return End(kept, t, RunVerdict("failed", why))
    why = (
        f"The arm comes into a singular posture (stretched out or folded) at t = {t if bad is None else bad:.6g} s: rates and torques "
        "are not determined there, and the motion goes no further."
    )
    return End(kept, t, RunVerdict("singular", why))


def reference_until(reference: Trajectory, duration: float) -> Any:
    """The reference as far as a run goes."""
    return reference if duration >= float(reference.duration) * (1.0 - 1e-12) else _Until(reference, duration)


class _Until:
    """The first part of a motion of the tip."""

    def __init__(self, whole: Trajectory, duration: float) -> None:
        inner = np.asarray(whole.breaks, float)
        self.whole, self.duration = whole, duration
        self.breaks = np.append(inner[inner < duration], duration)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(self.whole, name)

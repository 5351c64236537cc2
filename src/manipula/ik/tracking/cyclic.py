r"""Cyclic (repeatable) resolution of redundancy: a closed path of the tip closes in the joints too.

The pseudoinverse does not repeat itself [Klein & Huang 1983]. Here the posture is a function of the target alone,

.. math:: q(x) = \arg\min_q \tfrac12|q - \bar q|^2 \quad\text{with}\quad x(q) = x,

followed continuously; its stationarity :math:`(1-J^+J)(q-\bar q) = 0` is the extra task of the extended Jacobian [Baillieul 1985].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import flag
from manipula.errors import DescriptionError
from manipula.ik.tracking.beyond_reach import beyond_lengths, beyond_search
from manipula.ik.tracking.continuation import poses_along
from manipula.ik.tracking.self_motion import compile_tracking_step
from manipula.ik.tracking.track import (
    GAIN,
    LARGEST_STEP,
    PATH_TOLERANCE,
    TOLERANCE,
    Follower,
    TrackResult,
    checked_motion,
    checked_posture,
    checked_settings,
)
from manipula.model import Model
from manipula.redundancy.null_space import Posture
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

PULL = 0.7  # of the way to the favourite posture in one step
SETTLED = 1e-12
REPEATS = 400


def track_cyclic(
    model: Model | Robot,
    trajectory: Any,
    posture: Any = None,
    *,
    frame: str = TIP,
    limits: bool = True,
    samples: int | None = None,
    tolerance: float = PATH_TOLERANCE,
    seed: int = 0,
) -> TrackResult:
    """A joint motion along ``trajectory`` that stays nearest to ``posture`` (the middle of the ranges when omitted) at every instant."""
    robot = model.robot if isinstance(model, Model) else model
    if not isinstance(robot, Robot):
        raise DescriptionError(f"track_cyclic() takes a Model or a Robot, found {type(model).__name__}.")
    checked_motion(trajectory)
    limits = flag(limits, "limits")
    tolerance, samples, seed = checked_settings(tolerance, samples, seed)
    follower = Follower(robot, trajectory, frame, limits, (), None, GAIN, seed)
    middle = follower.box.mean(axis=1)
    favourite = middle if posture is None else checked_posture(robot, posture, "posture")
    step = compile_tracking_step(robot, follower.task, False, (Posture(favourite),))
    t = follower.times(samples or follower.default_samples())
    targets = poses_along(trajectory, t)
    outside = beyond_lengths(follower, t, targets, tolerance)
    if outside is not None:
        return _failed(t, robot, "unreachable", outside)
    first = follower.candidates(targets[0], np.random.default_rng(seed))
    if not len(first):
        return _failed(t, robot, "unreachable", "No posture reaches the start of the path.")
    starts = [_settled(step, targets[0], q) for q in first[np.argsort(np.linalg.norm(first - favourite, axis=1))[:8]]]
    starts = [q for q in starts if q is not None]
    if not starts:
        return _failed(t, robot, "unreachable", "No posture nearest to the favourite one was found at the start.")
    rows = [min(starts, key=lambda q: float(np.linalg.norm(q - favourite)))]
    for k in range(1, len(t)):
        q = _settled(step, targets[k], rows[-1])
        if q is None or np.max(np.abs(q - rows[-1])) > LARGEST_STEP:
            outside = beyond_search(follower, t, targets, k)
            words = outside or f"The nearest posture cannot be continued at t = {t[k]:.6g} s."
            return _failed(t, robot, "limits" if outside is None else "unreachable", words)
        rows.append(q)
    q = np.array(rows)
    hard = follower.hard
    if limits and (np.any(q < hard[:, 0]) or np.any(q > hard[:, 1])):
        joint = int(np.argmax(np.max(np.maximum(hard[:, 0] - q, q - hard[:, 1]), axis=0)))
        return _failed(
            t, robot, "limits", f"Joint '{robot.joint_names[joint]}' passes its limit; choose another posture."
        )
    return follower._fit(t, q, tolerance, False)


def _settled(step: Any, target: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """The posture on the self-motion where the pull has no effect any more."""
    error = np.inf
    for _ in range(REPEATS):
        new, error, _ = step(target, q, PULL, TOLERANCE * 1e-3)
        if not np.isfinite(error):
            return None
        moved = float(np.max(np.abs(new - q)))
        q = new
        if moved < SETTLED:
            break
    return q if error <= TOLERANCE else None


def _failed(t: np.ndarray, robot: Robot, status: str, reason: str) -> TrackResult:
    return TrackResult(None, status, reason, t, np.zeros((0, robot.n)), np.inf, -np.inf)

"""From one posture along a motion: the solution that is connected to it, to the last digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.errors import SolveError
from manipula.motion.oriented import has_orientation
from manipula.motion.pose_motion import PoseMotion
from manipula.motion.trajectory import Trajectory

LARGEST_JUMP = 0.3  # rad or m between neighbours; larger ones are bridged in smaller steps
HALVINGS = 14
NEWTON = 25
SETTLED = 1e-14
QUICKLY = 1e-6  # of a table: how well it follows the motion
QUICK = 0.25  # of the time between samples: shorter pieces are quick


def looks_along(trajectory: Any) -> np.ndarray:
    """Times at which the motion has to be looked at besides those of samples, see :mod:`manipula.motion.looks`."""
    return trajectory.looks().places if isinstance(trajectory, Trajectory) else np.zeros(0)


def with_quick_parts(trajectory: Any, t: np.ndarray) -> np.ndarray:
    """Samples t with more of them where the motion changes far more quickly than they follow each other."""
    if not len(looks_along(trajectory)) or not type(trajectory).__module__.startswith("manipula."):
        return t
    motion = PoseMotion(trajectory) if has_orientation(trajectory) else trajectory
    edges = motion.to_piecewise(QUICKLY).breaks
    spacing = np.diff(t)[np.clip(np.searchsorted(t, edges[:-1], side="right") - 1, 0, len(t) - 2)]
    quick = np.flatnonzero(np.diff(edges) < QUICK * spacing)
    return np.unique(np.concatenate([t, edges[quick], edges[quick + 1]]))


def poses_along(trajectory: Any, t: Any) -> np.ndarray:
    """Targets (S, 1, 4, 4) at times t; the rotation is the identity where the motion has none."""
    times = np.atleast_1d(np.asarray(t, float))
    if has_orientation(trajectory):
        return np.asarray(trajectory.pose(times), float)[:, None]
    out = np.zeros((len(times), 1, 4, 4))
    out[:, 0] = np.eye(4)
    out[:, 0, :3, 3] = trajectory.position(times)
    return out


def newton(errors: Any, target: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Full Newton steps :math:`q \leftarrow q + J^+e` until they change nothing; the posture and the size of its error."""
    best, size = q, np.inf
    for _ in range(NEWTON):
        e, J, now = errors(target, q)
        if not now < size:
            break
        best, size = q, float(now)
        step = np.linalg.lstsq(J, e, rcond=1e-12)[0]
        q = q + step
        if np.max(np.abs(step)) < SETTLED:
            break
    return best, size


def follow(
    errors: Any, targets_at: Callable[[Any], np.ndarray], t: np.ndarray, q0: np.ndarray, tolerance: float = 1e-9
) -> np.ndarray:
    """Postures (S, n) at times t that continue q0 (at t[0]) without jumping to another branch.

    Args:
        errors: ``(target, q)`` → e, J, size of e.
        targets_at: poses (S, parts, 4, 4) at times.
    """
    targets = targets_at(t)
    q, size = newton(errors, targets[0], np.array(q0, float))
    _check(size, tolerance, float(t[0]), q)
    out = [q]
    for k in range(1, len(t)):
        out.append(_bridge(errors, targets_at, float(t[k - 1]), float(t[k]), out[-1], targets[k], tolerance, HALVINGS))
    return np.array(out)


def _bridge(
    errors: Any, targets_at: Callable[[Any], np.ndarray], t0: float, t1: float, q: np.ndarray, target: np.ndarray,
    tolerance: float, depth: int,
) -> np.ndarray:  # fmt: skip
    found, size = newton(errors, target, q)
    if size <= tolerance and np.max(np.abs(found - q)) <= LARGEST_JUMP:
        return found
    if depth == 0:
        _check(np.inf, tolerance, t1, q)
    middle = 0.5 * (t0 + t1)
    half = _bridge(errors, targets_at, t0, middle, q, targets_at(np.array([middle]))[0], tolerance, depth - 1)
    return _bridge(errors, targets_at, middle, t1, half, target, tolerance, depth - 1)


def _check(size: float, tolerance: float, t: float, q: np.ndarray) -> None:
    if not size <= tolerance:
        raise SolveError(
            f"The posture cannot be continued at t = {t:.6g} s: the motion leaves the reach or passes a singular posture.",
            q,
        )

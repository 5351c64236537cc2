r"""A motion of the tool's position and orientation as seven coordinates: x y z and a quaternion, for tables of polynomials.

.. math:: \dot q = \tfrac12\,\omega\,q,\qquad \ddot q = \tfrac12(\dot\omega\,q + \omega\,\dot q)

The quaternion of a table is not exactly of length 1; whoever reads it divides by its length (``redundancy/orientation.py``), so
rotation, angular velocity and its rate belong to one motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.rotation import quaternions_wxyz, vee
from manipula.errors import BudgetError
from manipula.lazy import cached_property
from manipula.motion.looks import NONE, LookPlaces
from manipula.motion.paths.base import Side
from manipula.motion.trajectory import PathTrajectory, Trajectory

COORDINATES = 7
ALIKE = 0.9  # of the product of neighbouring quaternions: a turn of less than 52° decides the sign
MOST_TURNS = 1 << 20
BEFORE = 1e-12  # of the duration: just before an instant, of a motion that cannot tell


class PoseMotion(Trajectory):
    """Position and quaternion (wxyz, of continuous sign) of a motion that says how the tool is turned, (7,)."""

    space = "task"
    dimension = COORDINATES

    def __init__(self, motion: Any) -> None:
        self.motion, self.duration = motion, float(motion.duration)

    @cached_property
    def breaks(self) -> np.ndarray:  # type: ignore[override]
        """Those of the motion, and where its orientation passes a key."""
        own = np.asarray(self.motion.breaks, float)
        if not isinstance(self.motion, PathTrajectory) or self.motion.path.orientation is None:
            return own
        path = self.motion.path
        times = self.motion.times_at(path.orientation.breaks(path))  # pyright: ignore[reportOptionalMemberAccess]
        apart = np.abs(times[:, None] - own[None, :]).min(axis=1) > 1e-12 * self.duration
        return np.sort(np.concatenate([own, times[apart]]))

    def looks(self) -> LookPlaces:
        looks = getattr(self.motion, "looks", None)
        return NONE if looks is None else looks()

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        """[p, ṗ, p̈] and [q, q̇, q̈] side by side, (order + 1, *t.shape, 7); order at most 2."""
        times = np.asarray(t, float)
        flat = times.ravel()
        known = self._signs
        nearest = np.rint(np.clip(flat / self.duration, 0.0, 1.0) * (len(known) - 1)).astype(int)
        return self._rates(flat, order, side, known[nearest]).reshape(order + 1, *times.shape, COORDINATES)

    @property
    def start(self) -> np.ndarray:
        """The same at the start, (3, 7), where no sign has to be followed."""
        return self._rates(np.zeros(1), 2, "right", None)[:, 0]

    def _rates(self, flat: np.ndarray, order: int, side: Side, like: np.ndarray | None) -> np.ndarray:
        """(order + 1, N, 7) at times (N,); quaternions with the sign that is nearer to those given."""
        R, omega, alpha = turning(self.motion, flat, side)
        q = quaternions_wxyz(R)
        if like is not None:
            q[np.sum(q * like, axis=1) < 0.0] *= -1.0
        qd = 0.5 * _product(omega, q)
        found = [q, qd, 0.5 * (_product(alpha, q) + _product(omega, qd))]
        at = np.asarray(self.motion.derivatives(flat, order, side), float)
        out = np.zeros((order + 1, len(flat), COORDINATES))
        out[..., : at.shape[-1]] = at
        out[..., 3:] = np.array(found[: order + 1])
        return out

    @cached_property
    def _signs(self) -> np.ndarray:
        """Quaternions whose sign does not jump, at evenly spaced times."""
        count = 64
        while count <= MOST_TURNS:
            t = np.linspace(0.0, self.duration, count + 1)
            q = quaternions_wxyz(turning(self.motion, t, "right")[0])
            inner = np.sum(q[1:] * q[:-1], axis=1)
            if np.abs(inner).min() > ALIKE:
                q[1:][np.cumsum(inner < 0.0) % 2 == 1] *= -1.0
                return q
            count *= 4
        raise BudgetError(
            f"The tool turns further than 50° in {self.duration / MOST_TURNS:.1g} s; a table of its orientation would be too long.",
            field="reference.orientation",
        )


def turning(motion: Any, t: np.ndarray, side: Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R (N, 3, 3), ω and its rate (N, 3) of the tool in base axes, just after or just before times t (N,)."""
    rates = getattr(motion, "rotation_rates", None)
    if rates is not None:
        R, first, second = rates(t, 2, side)
        back = np.swapaxes(R, -1, -2)
        return R, vee(first @ back), vee(second @ back)
    at = t if side == "right" else np.maximum(t - BEFORE * max(1.0, float(motion.duration)), 0.0)
    return tuple(
        np.asarray(f(at), float) for f in (motion.rotation, motion.angular_velocity, motion.angular_acceleration)
    )  # pyright: ignore[reportReturnType]


def _product(v: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The quaternion (0, v) q for rows of both."""
    w, u = q[:, :1], q[:, 1:]
    return np.concatenate([-np.sum(v * u, axis=1, keepdims=True), w * v + np.cross(v, u)], axis=1)

"""A joint motion at its samples, and how far its postures are from singular ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class JointMotion(NamedTuple):
    """A joint motion at times t (S,).

    Attributes:
        q, qd, qdd: (S, n), or (N, S, n) of several runs.
        before: qd, qdd just before each time, where they differ at a jump.
        error: what repeating the integration behind it changed; NaN where nothing was integrated or repeated.
        condition: reciprocal condition number of the Jacobian that the rates were solved with, (S,) or (N, S).
        integrated: were positions found by integrating rates?
        agreed: until when that integration and its repetition agree [s]; NaN like the error.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    before: tuple[np.ndarray, np.ndarray]
    error: Any
    condition: np.ndarray
    integrated: bool = False
    agreed: Any = float("nan")

    def member(self, k: int) -> JointMotion:
        """One of several runs."""
        error, agreed = (np.broadcast_to(np.asarray(v, float), len(self.q))[k] for v in (self.error, self.agreed))
        return JointMotion(self.t, self.q[k], self.qd[k], self.qdd[k], (self.before[0][k], self.before[1][k]), error,
                           self.condition[k], self.integrated, agreed)  # fmt: skip


def stacked(members: Sequence[JointMotion]) -> JointMotion:
    """Several runs at the same times as one."""
    column = lambda f: np.array([f(m) for m in members])  # noqa: E731
    before = column(lambda m: m.before[0]), column(lambda m: m.before[1])
    return JointMotion(members[0].t, column(lambda m: m.q), column(lambda m: m.qd), column(lambda m: m.qdd), before,
                       column(lambda m: m.error), column(lambda m: m.condition), members[0].integrated,
                       column(lambda m: m.agreed))  # fmt: skip


def conditions(J: np.ndarray) -> np.ndarray:
    """Reciprocal condition numbers of Jacobians (..., S, k, n) along a motion: how far the arm is from a singular posture.

    Zero also where the determinant of a square Jacobian changes its sign until the next sample: the motion passes a singular posture
    between the two, or has jumped from one branch of postures to another.
    """
    J = np.where(np.isfinite(J), J, 0.0)
    sigma = np.linalg.svd(J, compute_uv=False)
    found = sigma[..., -1] / np.maximum(sigma[..., 0], 1e-300)
    if J.shape[-1] == J.shape[-2]:
        sign = np.sign(np.linalg.det(J))
        found[..., :-1] = np.where(sign[..., 1:] * sign[..., :-1] < 0.0, 0.0, found[..., :-1])
    return found

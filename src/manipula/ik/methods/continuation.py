"""Continuation: from the pose that the start reaches to the target that is asked for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, skew
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.methods.base import Method, Situation
from manipula.ik.task import rotation_vector
from manipula.physics.kinematics import pose
from manipula.redundancy.pseudoinverse import pseudoinverse_times

STEPS = 40  # of the way
CORRECTIONS = 2  # Newton's steps after each
BARELY = 1e-14  # keeps the system solvable at singular postures, invisible elsewhere


class Continuation(Method):
    r"""Follows q(s) of the homotopy :math:`H(q, s) = X(q) \ominus X_s = 0` from s = 0, which the start solves, to s = 1, the target; X_s leads
    straight from one pose to the other. Each step is a predictor :math:`\Delta q = J^{+}(X_{s+\Delta s} \ominus X(q))` and two correctors
    :math:`\Delta q = -J^{+}H` [Allgower & Georg 1990; for manipulators Tsai & Morgan 1985]. Keeps the branch of its start; a way that meets a
    singular posture is lost, and another start is taken.
    """

    name: ClassVar[str] = "continuation"
    longest: ClassVar[float] = 100.0
    lifetime: ClassVar[float] = STEPS + 20.0
    patience: ClassVar[float] = STEPS + 20.0
    uninterrupted: ClassVar[bool] = True

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        """One correction at the end of the way."""
        return pseudoinverse_times(J, e, BARELY)

    def move(self, situation: Situation, e: Vector, J: np.ndarray) -> np.ndarray:
        del e, J
        s = ops.minimum(1.0, (situation.age + 1.0) * (1.0 / STEPS))
        goals = _on_the_way(situation, s)
        q = array(situation.q)
        for _ in range(1 + CORRECTIONS):
            left, J, _ = situation.task.error_and_jacobian(situation.mechanism, q, goals)
            q = array(q + pseudoinverse_times(J, left, BARELY))
        return array(q - array(situation.q))


def _on_the_way(situation: Situation, s: Scalar) -> list[Any]:
    r"""The poses X_s of the task's frames: :math:`p_s = p_0 + s(p - p_0)`, :math:`R_s = \exp(s[v])R_0` with :math:`\exp[v] = RR_0^T`."""
    goals = []
    for k, (frame, rows) in enumerate(situation.task.parts):
        X, goal = pose(situation.mechanism, situation.start, frame), situation.targets[k]
        R = X[:3, :3]
        if any(r >= 3 for r in rows):
            v, angle = rotation_vector(goal, X)
            size = ops.maximum(angle, 1e-30)
            V = skew(v)
            half = ops.sin(0.5 * s * size) / size
            R = (np.eye(3) + (ops.sin(s * size) / size) * V + (2.0 * half * half) * (V @ V)) @ R
        here = [[*R[i], X[i, 3] + s * (goal[i][3] - X[i, 3])] for i in range(3)]
        goals.append([*here, [0.0, 0.0, 0.0, 1.0]])
    return goals

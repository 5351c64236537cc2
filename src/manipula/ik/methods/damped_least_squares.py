"""Damped pseudoinverse, or resolved motion rate."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method
from manipula.redundancy.pseudoinverse import pseudoinverse_times

DAMPING = 0.03


class DampedLeastSquares(Method):
    r""":math:`\Delta q = J^T(JJ^T+\lambda^2)^{-1}e`, constant λ = 0.03: resolved motion rate that survives singularities
    [Whitney 1969; Nakamura & Hanafusa 1986]. Linear convergence."""

    name: ClassVar[str] = "damped_least_squares"
    lifetime: ClassVar[float] = 200.0
    patience: ClassVar[float] = 20.0

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return pseudoinverse_times(J, e, DAMPING * DAMPING)

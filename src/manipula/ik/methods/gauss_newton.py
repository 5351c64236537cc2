"""Gauss–Newton."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method
from manipula.redundancy.pseudoinverse import normal_equations

REGULAR = 1e-10  # of the normal equations; J of a redundant arm has no full column rank


class GaussNewton(Method):
    r""":math:`\Delta q = (J^TJ + \epsilon)^{-1}J^Te`: least squares, also for targets with more rows than joints."""

    name: ClassVar[str] = "gauss_newton"
    longest: ClassVar[float] = 0.5

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return normal_equations(J, e, REGULAR)

"""Gauss–Newton."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.linear import array, solve_spd
from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method

REGULAR = 1e-10  # of the normal equations; J of a redundant arm has no full column rank


class GaussNewton(Method):
    r""":math:`\Delta q = (J^TJ + \epsilon)^{-1}J^Te`: least squares, also for targets with more rows than joints."""

    name: ClassVar[str] = "gauss_newton"
    longest: ClassVar[float] = 0.5

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        gram = J.T @ J
        for i in range(len(gram)):
            gram[i, i] = gram[i, i] + REGULAR
        return array(solve_spd(gram, J.T @ e))

"""Levenberg–Marquardt with damping that follows the error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.linear import dot
from manipula.algebra.ops import Vector
from manipula.ik.methods.base import FLOOR, Method
from manipula.redundancy.pseudoinverse import pseudoinverse_times


class LevenbergMarquardt(Method):
    r""":math:`\Delta q = J^T(JJ^T + \lambda)^{-1}e,\ \lambda = k\,e^Te` [Sugihara 2011]: damped far away, Newton at the end."""

    name: ClassVar[str] = "levenberg_marquardt"
    gain: ClassVar[float] = 0.01

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return pseudoinverse_times(J, e, self.gain * dot(e, e) + FLOOR)

"""Levenberg–Marquardt with damping that follows the error."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.ops import Vector
from manipula.ik.methods.base import FLOOR, Method, damped_step, squared


class LevenbergMarquardt(Method):
    r""":math:`\Delta q = J^T(JJ^T + \lambda)^{-1}e,\ \lambda = k\,e^Te` [Sugihara 2011]: damped far away, Newton at the end."""

    name: ClassVar[str] = "levenberg_marquardt"
    gain: ClassVar[float] = 0.01

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return damped_step(e, J, self.gain * squared(e) + FLOOR)

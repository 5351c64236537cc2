"""Steepest descent."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method


class JacobianTranspose(Method):
    r""":math:`\Delta q = \alpha J^Te,\ \alpha = \frac{e^TJJ^Te}{|JJ^Te|^2}`: steepest descent with the best step; slow, never singular."""

    name: ClassVar[str] = "jacobian_transpose"
    lifetime: ClassVar[float] = 20000.0
    patience: ClassVar[float] = 2000.0

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        g = J.T @ e
        w = J @ g
        return array(g * (dot(e, w) / (dot(w, w) + 1e-30)))

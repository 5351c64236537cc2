"""Pseudoinverse of the Jacobian: resolved motion rate."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method
from manipula.redundancy.pseudoinverse import pseudoinverse_times

STRIDE = 0.2  # m or rad of the error that one step takes away
BARELY = 1e-14  # keeps the system solvable at singular postures, invisible elsewhere


class Pseudoinverse(Method):
    r""":math:`\Delta q = J^{+}e\,\min(1, 0.2/|e|)`: the frame is led straight to the target at a bounded rate, by the shortest joint steps
    [Whitney 1969; Klein & Huang 1983]. Quadratic at the end, wild near singular postures."""

    name: ClassVar[str] = "pseudoinverse"
    longest: ClassVar[float] = 0.5
    lifetime: ClassVar[float] = 120.0
    patience: ClassVar[float] = 20.0

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        size = ops.sqrt(dot(e, e))
        return pseudoinverse_times(J, array(array(e) * ops.minimum(1.0, STRIDE / ops.maximum(size, 1e-30))), BARELY)

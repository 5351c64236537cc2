"""Newton–Raphson."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method
from manipula.redundancy.pseudoinverse import pseudoinverse_times

BARELY = 1e-14  # keeps the system solvable at singular postures, invisible elsewhere


class NewtonRaphson(Method):
    r""":math:`\Delta q = J^{-1}e`, full steps (:math:`J^{+}` where joints and rows differ in number) [Uicker, Denavit & Hartenberg 1964]: quadratic
    near a regular solution, wild near singular ones."""

    name: ClassVar[str] = "newton_raphson"
    longest: ClassVar[float] = 0.5

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return pseudoinverse_times(J, e, BARELY)

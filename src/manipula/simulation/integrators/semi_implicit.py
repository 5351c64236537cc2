"""Semi-implicit (symplectic) Euler."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.integrators.base import FixedStep, RightHandSide


class SemiImplicitEuler(FixedStep):
    r""":math:`\dot q_{k+1} = \dot q_k + h\ddot q(q_k,\dot q_k),\; q_{k+1} = q_k + h\dot q_{k+1}`; first order, one evaluation per step.

    What most physics engines use; cheap and robust, but not accurate.
    """

    name: ClassVar[str] = "semi_implicit"
    order: ClassVar[int] = 1

    def step(self, f: RightHandSide, t: Scalar, x: Vector, h: Scalar, n: int) -> Vector:
        euler = x + h * f(t, x)
        return np.concatenate([x[:n] + h * euler[n : 2 * n], euler[n:]])

"""One step of an iterative method: from error and Jacobian to a joint correction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from manipula.algebra.linear import array, dot, solve_spd
from manipula.algebra.ops import Scalar, Vector

FLOOR = 1e-20  # keeps damped systems solvable at the target itself


class Method(ABC):
    """A frozen step rule. Limits, restarts, tolerance and status belong to the driver."""

    name: ClassVar[str]
    longest: ClassVar[float] = 1.0  # rad or m, largest joint step

    @abstractmethod
    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        """Correction of q, (n,), before it is cut to ``longest``."""


def damped_step(e: Vector, J: np.ndarray, damping: Scalar) -> np.ndarray:
    r""":math:`J^T(JJ^T+\lambda)^{-1}e = (J^TJ+\lambda)^{-1}J^Te`, in the smaller of the two forms."""
    rows, n = J.shape
    if rows <= n:
        gram = J @ J.T
        for i in range(rows):
            gram[i, i] = gram[i, i] + damping
        return array(J.T @ solve_spd(gram, e))
    gram = J.T @ J
    for i in range(n):
        gram[i, i] = gram[i, i] + damping
    return array(solve_spd(gram, J.T @ e))


def squared(e: Vector) -> Scalar:
    return dot(e, e)

"""Newton–Raphson and Gauss–Newton, damped least squares with constant and with error-proportional damping."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Vector
from manipula.ik.methods.base import FLOOR, Method, damped_step, squared


class NewtonRaphson(Method):
    r""":math:`\Delta q = J^{+}e`: quadratic near a regular solution, wild near singular ones."""

    name: ClassVar[str] = "newton"
    longest: ClassVar[float] = 0.5

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return damped_step(e, J, 1e-14)


class GaussNewton(Method):
    r""":math:`\Delta q = (J^TJ + \epsilon)^{-1}J^Te`: the same for targets with more rows than joints."""

    name: ClassVar[str] = "gauss_newton"
    longest: ClassVar[float] = 0.5

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        gram = J.T @ J
        for i in range(len(gram)):
            gram[i, i] = gram[i, i] + 1e-12
        from manipula.algebra.linear import solve_spd

        return array(solve_spd(gram, J.T @ e))


class LevenbergMarquardt(Method):
    r""":math:`\Delta q = J^T(JJ^T + \lambda)^{-1}e,\ \lambda = \tfrac12 k\,e^Te` [Sugihara 2011]: damped far away, Newton at the end."""

    name: ClassVar[str] = "levenberg_marquardt"
    gain: ClassVar[float] = 0.01

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return damped_step(e, J, self.gain * squared(e) + FLOOR)


class DampedLeastSquares(Method):
    r""":math:`\Delta q = J^T(JJ^T+\lambda^2)^{-1}e`, constant λ = 0.03: resolved motion rate that survives singularities
    [Whitney 1969; Nakamura & Hanafusa 1986]. Linear convergence."""

    name: ClassVar[str] = "damped_least_squares"

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        return damped_step(e, J, 9e-4)


class JacobianTranspose(Method):
    r""":math:`\Delta q = \alpha J^Te,\ \alpha = \frac{e^TJJ^Te}{|JJ^Te|^2}`: steepest descent with the best step; slow, never singular."""

    name: ClassVar[str] = "jacobian_transpose"

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        g = J.T @ e
        w = J @ g
        return array(g * (dot(e, w) / (dot(w, w) + 1e-30)))

"""Iterative methods: one registry line gives each its name."""

from __future__ import annotations

from manipula.ik.methods.base import Method
from manipula.ik.methods.cyclic_descent import CyclicDescent
from manipula.ik.methods.damped_least_squares import DampedLeastSquares
from manipula.ik.methods.gauss_newton import GaussNewton
from manipula.ik.methods.jacobian_transpose import JacobianTranspose
from manipula.ik.methods.levenberg_marquardt import LevenbergMarquardt
from manipula.ik.methods.newton_raphson import NewtonRaphson
from manipula.ik.methods.optimisation import Optimisation

REGISTRY: dict[str, Method] = {
    m.name: m
    for m in (
        LevenbergMarquardt(),
        NewtonRaphson(),
        GaussNewton(),
        DampedLeastSquares(),
        JacobianTranspose(),
        CyclicDescent(),
        Optimisation(),
    )
}

__all__ = ["REGISTRY", "Method"]

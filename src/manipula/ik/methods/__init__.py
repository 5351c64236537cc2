"""Iterative methods: one registry line gives each its name."""

from __future__ import annotations

from manipula.ik.methods.base import Method
from manipula.ik.methods.newton import (
    DampedLeastSquares,
    GaussNewton,
    JacobianTranspose,
    LevenbergMarquardt,
    NewtonRaphson,
)

REGISTRY: dict[str, Method] = {
    m.name: m for m in (NewtonRaphson(), GaussNewton(), LevenbergMarquardt(), DampedLeastSquares(), JacobianTranspose())
}

__all__ = ["REGISTRY", "Method"]

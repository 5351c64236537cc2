"""Integrators: one file a method, one line in the registry gives it its name in files."""

from __future__ import annotations

from manipula.simulation.integrators.base import FixedStep
from manipula.simulation.integrators.midpoint import ImplicitMidpoint
from manipula.simulation.integrators.rk4 import RK4
from manipula.simulation.integrators.semi_implicit import SemiImplicitEuler

FIXED: dict[str, FixedStep] = {i.name: i for i in (RK4(), SemiImplicitEuler(), ImplicitMidpoint())}

__all__ = ["FIXED", "FixedStep"]

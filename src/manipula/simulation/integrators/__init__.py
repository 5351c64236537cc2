"""Integrators: one file per family, one line in the registry gives each its name in files.

==================  =======================================================================================
``base``            what an integrator is: ``FixedStep``, ``AdaptiveStep``
``rk4``             the classical Runge–Kutta method
``semi_implicit``   semi-implicit (symplectic) Euler
``midpoint``        implicit midpoint rule
``embedded``        explicit pairs of Dormand and Prince, 5(4) and 8(5,3)
``tableaus``        their coefficients
``rodas``           a Rosenbrock method for stiff drives and friction
``own_integrator``  an integrator of a user's own: does it give a state?
==================  =======================================================================================
"""

from __future__ import annotations

from manipula.simulation.integrators.base import AdaptiveStep, FixedStep
from manipula.simulation.integrators.embedded import DormandPrince5, DormandPrince8
from manipula.simulation.integrators.midpoint import ImplicitMidpoint
from manipula.simulation.integrators.rk4 import RK4
from manipula.simulation.integrators.rodas import Rodas
from manipula.simulation.integrators.semi_implicit import SemiImplicitEuler

FIXED: dict[str, FixedStep] = {i.name: i for i in (RK4(), SemiImplicitEuler(), ImplicitMidpoint())}
ADAPTIVE: dict[str, AdaptiveStep] = {i.name: i for i in (DormandPrince5(), DormandPrince8(), Rodas())}

__all__ = ["ADAPTIVE", "FIXED", "AdaptiveStep", "FixedStep"]

"""Steps of iterative methods: one file per method, one line in the registry gives each its name.

========================  ===============================================
``base``                  what a method is
``levenberg_marquardt``   damping that follows the error, the default
``newton_raphson``        full steps
``gauss_newton``          least squares
``damped_least_squares``  constant damping: resolved motion rate
``jacobian_transpose``    steepest descent
``cyclic_descent``        one joint after the other
``optimisation``          bounded trust region of SciPy, a second opinion
========================  ===============================================
"""

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

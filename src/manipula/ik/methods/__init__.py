"""Steps of iterative methods: one file per method, one line in the registry gives each its name.

========================  =====================================================
``base``                  what a method is
``levenberg_marquardt``   damping that follows the error, the default
``newton_raphson``        full steps
``gauss_newton``          least squares
``pseudoinverse``         straight to the target at a bounded rate
``damped_least_squares``  constant damping: resolved motion rate
``jacobian_transpose``    steepest descent
``ccd``                   cyclic coordinate descent: one joint after the other
``continuation``          a homotopy from the start to the target
``optimisation``          bounded trust region of SciPy, a second opinion
``geometric``             closed forms
``elimination``           any six revolute joints
========================  =====================================================
"""

from __future__ import annotations

from manipula.ik.methods.base import Method
from manipula.ik.methods.ccd import CyclicDescent
from manipula.ik.methods.continuation import Continuation
from manipula.ik.methods.damped_least_squares import DampedLeastSquares
from manipula.ik.methods.elimination import Elimination
from manipula.ik.methods.gauss_newton import GaussNewton
from manipula.ik.methods.geometric import Geometric
from manipula.ik.methods.jacobian_transpose import JacobianTranspose
from manipula.ik.methods.levenberg_marquardt import LevenbergMarquardt
from manipula.ik.methods.newton_raphson import NewtonRaphson
from manipula.ik.methods.optimisation import Optimisation
from manipula.ik.methods.pseudoinverse import Pseudoinverse

REGISTRY: dict[str, Method] = {
    m.name: m
    for m in (
        LevenbergMarquardt(),
        NewtonRaphson(),
        GaussNewton(),
        Pseudoinverse(),
        DampedLeastSquares(),
        JacobianTranspose(),
        CyclicDescent(),
        Continuation(),
        Optimisation(),
        Geometric(),
        Elimination(),
    )
}
ALIASES = {"closed_form": "geometric", "newton": "newton_raphson", "cyclic_descent": "ccd"}
"""Other names of methods."""

__all__ = ["ALIASES", "REGISTRY", "Method"]

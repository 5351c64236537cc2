r"""The normal force of a compressed surface.

With the penetration :math:`\delta` of two bodies and its rate, Hunt and Crossley [1975, eq. (12)] write

.. math:: F = k\,\delta^n\left(1 + \tfrac32\,c\,\dot\delta\right),\qquad F \ge 0

n = 1 is a linear spring, n = 3/2 Hertz's sphere. The damping grows with the penetration, so that the force begins and ends at zero;
to first order a ball that arrives with the speed v leaves with :math:`e\,v,\ e \approx 1 - c\,v`, whatever its mass, k and n. The
spring holds the energy :math:`U = k\,\delta^{n+1}/(n+1)`; the rest of the work is lost. The surface does not pull: where the law gives a
force below zero (quick withdrawal by something else) there is none.
"""

from __future__ import annotations

from typing import Annotated, Any

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.parts.field import Number

Stiffness = Annotated[Any, Number("N/mⁿ or N·m/radⁿ", "stiffness k of F = k δⁿ", above=0.0)]
Exponent = Annotated[
    float, Number("1", "exponent n: 1 is a linear spring, 1.5 a sphere after Hertz", least=1.0, most=3.0)
]
Loss = Annotated[Any, Number("s/m or s/rad", "damping c of Hunt and Crossley; a ball rebounds with about 1 − c v of its speed v", least=0.0)]  # fmt: skip

HERTZ = 1.5


def power(depth: Scalar, exponent: float) -> Scalar:
    """δⁿ of a depth of at least zero."""
    if exponent == 1.0:
        return depth
    if exponent == HERTZ:
        return depth * ops.sqrt(depth)
    inside = depth > 0.0
    return ops.where(inside, ops.exp(exponent * ops.log(ops.where(inside, depth, 1.0))), 0.0)


def normal_force(depth: Scalar, rate: Scalar, stiffness: Scalar, exponent: float, damping: Scalar) -> Scalar:
    """F [N or N·m] at the penetration ``depth`` (below zero: apart) and its rate."""
    inside = ops.maximum(depth, 0.0)
    return ops.maximum(0.0, stiffness * power(inside, exponent) * (1.0 + 1.5 * (damping * rate)))


def spring_energy(depth: Scalar, stiffness: Scalar, exponent: float) -> Scalar:
    """U [J] that the spring holds."""
    inside = ops.maximum(depth, 0.0)
    return stiffness * power(inside, exponent) * inside * (1.0 / (exponent + 1.0))

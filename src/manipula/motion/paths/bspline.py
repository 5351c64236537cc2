"""B-spline curves from control points."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from manipula.algebra.arguments import flag, whole_number
from manipula.motion.paths.base import Path
from manipula.motion.paths.checks import distinct_neighbours, point_rows
from manipula.motion.paths.fields import Closed, Points
from manipula.motion.paths.polynomial import PiecewisePolynomial
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Whole


@primitive
def bspline(
    points: Points,
    *,
    degree: Annotated[int, Whole("degree of the pieces", least=1, most=7)] = 3,
    closed: Closed = False,
) -> Path:
    """The uniform B-spline with control polygon ``points`` [m]; it passes near them, smoothly of class C^(degree−1).

    Open curves start at the first and end at the last control point (knots of full multiplicity at the ends); closed
    ones are periodic.

    Args:
        degree: 1 to 7.
    """
    from scipy.interpolate import BSpline

    degree = whole_number(degree, "degree", 1, 7)
    control = point_rows(points, "points", at_least=degree + 1)
    distinct_neighbours(control, "points")
    if flag(closed, "closed"):
        if np.allclose(control[0], control[-1], rtol=0, atol=1e-12 * float(np.max(np.ptp(control, axis=0)))):
            control = control[:-1]
        spans = len(control)
        control = np.vstack([control, control[:degree]])
        knots = np.arange(len(control) + degree + 1.0)
    else:
        spans = len(control) - degree
        inner = np.arange(spans + 1.0) + degree
        knots = np.concatenate([np.full(degree, inner[0]), inner, np.full(degree, inner[-1])])
    curve = BSpline(knots, control, degree)
    starts = knots[degree : degree + spans]
    rows = [curve.derivative(k)(starts) / math.factorial(k) if k else curve(starts) for k in range(degree + 1)]
    return Path([PiecewisePolynomial(knots[degree : degree + spans + 1] - degree, np.stack(rows, axis=1))])

r"""Rotation vectors e = θu of rotations, and how they change, for any scalar.

With :math:`E = \exp\hat e` and :math:`\dot E E^T = \hat\omega` the vector changes by :math:`\dot e = J_l^{-1}(e)\,\omega`,

.. math:: J_l^{-1}(e) = 1 - \tfrac12\hat e + c\,\hat e^2,\qquad J_r^{-1}(e) = J_l^{-1}(-e),\qquad
          c(s) = \frac{1 - \tfrac\theta2\cot\tfrac\theta2}{\theta^2} = \sum_{k\ge1}\frac{|B_{2k}|}{(2k)!}s^{k-1},\quad s = \theta^2

[Bullo & Murray 1995]. Both are regular for θ < 2π, beyond the half turn at which the shortest rotation vector jumps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Scalar, Vector

BERNOULLI = (
    1 / 6,
    1 / 30,
    1 / 42,
    1 / 30,
    5 / 66,
    691 / 2730,
    7 / 6,
    3617 / 510,
    43867 / 798,
    174611 / 330,
    854513 / 138,
)
SERIES = tuple(abs(b) / math.factorial(2 * k) for k, b in enumerate(BERNOULLI, 1))  # of c in powers of s
NEAR = 1.0  # rad²: below, the series is exact to rounding; above, the formula
LONGEST = 1.75 * math.pi  # rad: a rotation vector that is followed further takes the short way
SMALL = 1e-6  # of |v|²: below, θ/sin(θ/2) is taken from its series


def quaternion_of(R: Vector) -> list[Scalar]:
    """A unit quaternion ``wxyz`` of a rotation of any scalar: of the four ways to divide, the one by the largest component."""
    xx, yy, zz = R[0][0], R[1][1], R[2][2]
    x, y, z = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    ways = [  # 4 q_k q, and 4 q_k² first of all
        (1.0 + xx + yy + zz, x, y, z), (x, 1.0 + xx - yy - zz, xy, xz),
        (y, xy, 1.0 - xx + yy - zz, yz), (z, xz, yz, 1.0 - xx - yy + zz),
    ]  # fmt: skip
    best, square = ways[0], ways[0][0]
    for k in (1, 2, 3):
        larger = ways[k][k] > square
        best = tuple(ops.where(larger, new, old) for new, old in zip(ways[k], best))
        square = ops.where(larger, ways[k][k], square)
    scale = 0.5 / ops.sqrt(square)
    return [v * scale for v in best]


def rotation_vector(R: Vector, near: Vector | None = None) -> np.ndarray:
    """θu of a rotation: the one with θ ≤ π, or of it and (θ − 2π)u the one nearest to ``near``, as long as that is at most LONGEST."""
    w, *v = quaternion_of(R)
    short = w >= 0.0
    sign = ops.where(short, 1.0, -1.0)
    w, v = w * sign, [x * sign for x in v]
    square = dot(v, v)
    tiny = square < SMALL
    sine = ops.sqrt(ops.where(tiny, 1.0, square))
    half = ops.atan2(sine, w)  # θ/2
    factor = ops.where(tiny, 2.0 + square * (1.0 / 3.0 + square * 0.15), 2.0 * half / sine)
    if near is not None:
        angle = 2.0 * half
        far = (angle - math.pi > dot(near, v) / sine) & (angle > 2.0 * math.pi - LONGEST)
        factor = ops.where(tiny, factor, ops.where(far, (angle - 2.0 * math.pi) / sine, factor))
    return array([factor * x for x in v])


def curvature(s: Scalar) -> tuple[Scalar, Scalar]:
    """c(s) and dc/ds for s = θ² < 4π²."""
    near = s < NEAR
    inside, outside = ops.where(near, s, 0.0), ops.where(near, NEAR, s)
    theta = ops.sqrt(outside)
    sine = ops.sin(0.5 * theta)
    cot = ops.cos(0.5 * theta) / sine
    far = 1.0 / outside - 0.5 * cot / theta
    far_slope = -1.0 / (outside * outside) + 0.25 * cot / (theta * outside) + 0.125 / (outside * sine * sine)
    slopes = [k * b for k, b in enumerate(SERIES)][1:]
    return ops.where(near, _polynomial(SERIES, inside), far), ops.where(near, _polynomial(slopes, inside), far_slope)


def _polynomial(coefficients: Sequence[float], x: Scalar) -> Scalar:
    total: Scalar = coefficients[-1]
    for a in coefficients[-2::-1]:
        total = total * x + a
    return total

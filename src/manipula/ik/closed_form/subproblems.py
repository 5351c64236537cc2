r"""Small geometric problems to which every closed form is reduced, over any scalar.

They are the Paden–Kahan subproblems and their extensions [Paden1986; Murray, Li & Sastry 1994, §3.3; Elias & Wen 2022], here with
all axes through the origin. Nothing branches on a number: a problem without an exact answer gives its least-squares answer, which the
check by forward kinematics at the end rejects; where two answers coincide the second one is NaN. Angles travel as (cos, sin) pairs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector

TINY = 1e-280  # squares below this have no direction
DOUBLE = 1e-15  # relative discriminant below which two answers are one (they differ by less than 1e-7 rad)
NAN = math.nan


class CosSin(NamedTuple):
    """An angle as its cosine and sine."""

    c: Scalar
    s: Scalar

    def angle(self) -> Scalar:
        """In (−π, π]."""
        return ops.atan2(self.s, self.c)


def cos_sin_of(angle: Scalar) -> CosSin:
    """The pair of a given angle."""
    return CosSin(ops.cos(angle), ops.sin(angle))


def direction(c: Scalar, s: Scalar) -> CosSin:
    """The angle of the vector (c, s) of any length; zero for the zero vector, NaN for NaN."""
    square = c * c + s * s
    none = square <= TINY
    scale = 1.0 / ops.sqrt(ops.where(none, 1.0, square))
    return CosSin(ops.where(none, 1.0, c * scale), ops.where(none, 0.0, s * scale))


def rotate(k: Vector, t: CosSin, v: Vector) -> np.ndarray:
    r""":math:`R(k,\theta)v = v + \sin\theta\,k\times v + (1-\cos\theta)\,k\times(k\times v)` for a unit axis k."""
    kv = cross(k, v)
    return array(array(v) + t.s * kv + (1.0 - t.c) * cross(k, kv))


def rotate_back(k: Vector, t: CosSin, v: Vector) -> np.ndarray:
    r""":math:`R(k,-\theta)v`."""
    return rotate(k, CosSin(t.c, -t.s), v)


def turn_onto(k: Vector, p: Vector, q: Vector) -> CosSin:
    r"""Subproblem 1: θ that brings :math:`R(k,\theta)p` nearest to q (0 when p or q lies on the axis).

    Both vectors are first freed of their component along k, so that a small lateral part keeps its digits.
    """
    kp, kq = cross(k, p), cross(k, q)
    return direction(dot(kp, kq), dot(kp, cross(kq, k)))


def roots(square: Scalar, scale: Scalar) -> tuple[Scalar, Scalar]:
    """±√square: of a negative square 0, and NaN for the second root when both are equal."""
    root = ops.sqrt(ops.maximum(square, 0.0))
    return root, ops.where(square > DOUBLE * scale, -root, NAN)


def solve_trigonometric(A: Scalar, B: Scalar, C: Scalar) -> list[CosSin]:
    r"""Both θ with :math:`A\cos\theta + B\sin\theta = C`.

    .. math:: (c, s) \propto (AC \mp Bw,\; BC \pm Aw),\quad w^2 = A^2 + B^2 - C^2
    """
    square = A * A + B * B
    length = ops.sqrt(square)
    ws = roots((length - C) * (length + C), square)
    return [direction(A * C - B * w, B * C + A * w) for w in ws]


def turn_to_plane(h: Vector, k: Vector, p: Vector, d: Scalar) -> list[CosSin]:
    r"""Subproblem 4: both θ with :math:`h\cdot R(k,\theta)p = d`."""
    kp = cross(k, p)
    return solve_trigonometric(-dot(h, cross(k, kp)), dot(h, kp), d - dot(h, k) * dot(k, p))


def turn_to_distance(k: Vector, p: Vector, q: Vector, square: Scalar) -> list[CosSin]:
    r"""Subproblem 3: both θ with :math:`|R(k,\theta)p - q|^2 =` ``square``."""
    return turn_to_plane(q, k, p, 0.5 * (dot(p, p) + dot(q, q) - square))


def turn_both(k1: Vector, p: Vector, k2: Vector, q: Vector) -> list[tuple[CosSin, CosSin]]:
    r"""Subproblem 2: both (θ₁, θ₂) with :math:`R(k_1,\theta_1)p = R(k_2,\theta_2)q`, for :math:`|p| = |q|`.

    The common vector is :math:`w = x k_1 + y k_2 + z\,k_1\times k_2`. With the angles α between the axes, γ of p to k₁ and β of q to
    k₂ the square of its last part is :math:`(\cos(\alpha-\beta)-\cos\gamma)(\cos\gamma-\cos(\alpha+\beta))`, a product in which
    the differences are formed from sines where cosines lose digits (p near k₁ is the wrist singularity).
    """
    normal = cross(k1, k2)
    sa2 = dot(normal, normal)
    sa, ca = ops.sqrt(sa2), dot(k1, k2)
    d1, d2 = dot(k1, p), dot(k2, q)
    lp, lq = _length(p), _length(q)
    cg, sg = d1 / lp, ops.sqrt(_square(cross(k1, p))) / lp
    cb, sb = d2 / lq, ops.sqrt(_square(cross(k2, q))) / lq
    first = _one_minus(cg, sg) - _one_minus(ca * cb + sa * sb, sa * cb - ca * sb)
    second = _one_plus(cg, sg) - _one_plus(ca * cb - sa * sb, sa * cb + ca * sb)
    inverse = 1.0 / sa2
    flat = array(((d1 - ca * d2) * inverse) * array(k1) + ((d2 - ca * d1) * inverse) * array(k2))
    out = []
    for z in roots(first * second, 1.0):
        w = array(flat + (z * lp * inverse) * normal)
        out.append((turn_onto(k1, p, w), turn_onto(k2, q, w)))
    return out


def _square(v: Vector) -> Scalar:
    return dot(v, v)


def _length(v: Vector) -> Scalar:
    return ops.sqrt(ops.maximum(dot(v, v), TINY))


def _one_minus(c: Scalar, s: Scalar) -> Scalar:
    """1 − cos, without cancellation."""
    return ops.where(c > 0.0, s * s / (1.0 + ops.abs(c)), 1.0 - c)


def _one_plus(c: Scalar, s: Scalar) -> Scalar:
    """1 + cos, without cancellation."""
    return ops.where(c < 0.0, s * s / (1.0 + ops.abs(c)), 1.0 + c)


def solve_quadratic(a: Scalar, b: Scalar, c: Scalar) -> list[Scalar]:
    r"""Both x with :math:`a x^2 + 2 b x + c = 0`, for a ≠ 0; the second is NaN when they are equal."""
    inverse = 1.0 / a
    middle = -b * inverse
    square = middle * middle - c * inverse
    return [middle + w for w in roots(square, middle * middle + ops.abs(c * inverse))]


def any_normal(h: Any) -> np.ndarray:
    """A unit vector at right angles to the numeric unit vector h, along a coordinate axis when possible."""
    h = np.asarray(h, float)
    v = np.eye(3)[int(np.argmin(np.abs(h)))]
    v = v - h * (h @ v)
    return v / np.linalg.norm(v)

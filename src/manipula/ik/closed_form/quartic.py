r"""Real roots of polynomials of degree four, and of trigonometric polynomials of degree two, without a branch on a number.

A trigonometric polynomial :math:`F(\theta) = f_0 + a_1\cos\theta + b_1\sin\theta + a_2\cos 2\theta + b_2\sin 2\theta` becomes a quartic
in the tangent of half of :math:`\theta - \theta_0`, where θ₀ is chosen among six so that the leading coefficient (the value of F
opposite to it) is largest. The quartic is split into two quadratics [Ferrari; Descartes 1637], and the angles are polished on F.
"""

from __future__ import annotations

import math

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.ik.closed_form.subproblems import DOUBLE, NAN, CosSin, direction

COMPLEX = 1e-5  # relative discriminant beyond which a pair of roots is complex and not a double root with rounding
POLISH = 3  # Newton steps on F
LONGEST = 0.02  # of a Newton step [rad]: next to a double root it must not leave
Affine = tuple[Scalar, Scalar, Scalar]  # x + y cos θ + z sin θ
Fourier = tuple[Scalar, Scalar, Scalar, Scalar, Scalar]  # f0, a1, b1, a2, b2


def product(x: Affine, y: Affine) -> Fourier:
    """Product of two affine functions of (cos, sin)."""
    return (
        x[0] * y[0] + 0.5 * (x[1] * y[1] + x[2] * y[2]),
        x[0] * y[1] + x[1] * y[0],
        x[0] * y[2] + x[2] * y[0],
        0.5 * (x[1] * y[1] - x[2] * y[2]),
        0.5 * (x[1] * y[2] + x[2] * y[1]),
    )


def combine(*terms: tuple[Scalar, tuple[Scalar, ...]]) -> Fourier:
    """Sum of (factor, function); affine functions are taken as such."""
    total = [0.0] * 5
    for factor, f in terms:
        total = [t + factor * x for t, x in zip(total, (*f, 0.0, 0.0)[:5])]
    return total[0], total[1], total[2], total[3], total[4]


def solve_trigonometric_quartic(f: Fourier) -> list[CosSin]:
    """Four angles with F(θ) = 0; NaN where the root is not real."""
    f0, a1, b1, a2, b2 = f
    best: Scalar = -1.0
    c0: Scalar = 1.0
    s0: Scalar = 0.0
    for k in range(6):
        c, s = math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)
        size = ops.abs(f0 - a1 * c - b1 * s + a2 * (c * c - s * s) + b2 * (2 * c * s))
        larger = size > best
        best, c0, s0 = ops.where(larger, size, best), ops.where(larger, c, c0), ops.where(larger, s, s0)
    c2, s2 = c0 * c0 - s0 * s0, 2.0 * c0 * s0
    a, b, A, B = a1 * c0 + b1 * s0, b1 * c0 - a1 * s0, a2 * c2 + b2 * s2, b2 * c2 - a2 * s2
    out = []
    for t in solve_quartic(f0 - a + A, 2.0 * b - 4.0 * B, 2.0 * f0 - 6.0 * A, 2.0 * b + 4.0 * B, f0 + a + A):
        turn = direction(1.0 - t * t, 2.0 * t)
        turn = CosSin(turn.c * c0 - turn.s * s0, turn.s * c0 + turn.c * s0)
        alive = ops.abs(t) < math.inf
        turn = _polished(f, turn)
        out.append(CosSin(ops.where(alive, turn.c, NAN), ops.where(alive, turn.s, NAN)))
    return out


def _polished(f: Fourier, t: CosSin) -> CosSin:
    f0, a1, b1, a2, b2 = f
    for _ in range(POLISH):
        c, s = t
        c2, s2 = c * c - s * s, 2.0 * c * s
        value = f0 + a1 * c + b1 * s + a2 * c2 + b2 * s2
        slope = b1 * c - a1 * s + 2.0 * (b2 * c2 - a2 * s2)
        safe = ops.abs(slope) * LONGEST > ops.abs(value)
        step = ops.where(safe, -value / ops.where(safe, slope, 1.0), 0.0)
        t = direction(c - s * step, s + c * step)
    return t


def solve_quartic(e4: Scalar, e3: Scalar, e2: Scalar, e1: Scalar, e0: Scalar) -> list[Scalar]:
    r"""Four real roots of :math:`e_4x^4+\dots+e_0` with :math:`e_4 \ne 0`; NaN where a root is not real.

    .. math:: y^4 + py^2 + qy + r = (y^2 + sy + A)(y^2 - sy + B),\quad x = y - e_3/(4e_4)

    where s² is the largest root of :math:`z^3 + 2pz^2 + (p^2-4r)z - q^2`.
    """
    inverse = 1.0 / e4
    h = 0.25 * e3 * inverse
    n2, n1, n0 = e2 * inverse, e1 * inverse, e0 * inverse
    p = n2 - 6.0 * h * h
    q = n1 - 2.0 * n2 * h + 8.0 * h * h * h
    r = n0 - n1 * h + n2 * h * h - 3.0 * h * h * h * h
    z = ops.maximum(_largest_cubic_root(2.0 * p, p * p - 4.0 * r, -q * q), 0.0)
    s = ops.sqrt(z)
    total = p + z
    size = ops.abs(p) + z + ops.sqrt(ops.abs(r))
    apart = z > 1e-10 * size
    # B − A
    difference = ops.where(apart, q / ops.where(apart, s, 1.0), ops.sqrt(ops.maximum(total * total - 4.0 * r, 0.0)))
    out = []
    for centre, constant in ((-0.5 * s, 0.5 * (total - difference)), (0.5 * s, 0.5 * (total + difference))):
        square = 0.25 * z - constant
        scale = 0.25 * z + ops.abs(constant) + h * h
        root = ops.where(square < -COMPLEX * scale, NAN, ops.sqrt(ops.maximum(square, 0.0)))
        out += [centre + root - h, ops.where(square > DOUBLE * scale, centre - root - h, NAN)]
    return out


def _largest_cubic_root(b: Scalar, c: Scalar, d: Scalar) -> Scalar:
    """Largest real x with x³ + b x² + c x + d = 0 [Cardano; Viète], polished by Newton."""
    third = b / 3.0
    P = c - b * third
    Q = 2.0 * third * third * third - c * third + d
    m, w = P / 3.0, 0.5 * Q
    delta = w * w + m * m * m
    one = delta > 0.0
    u = _cube_root(ops.abs(w) + ops.sqrt(ops.maximum(delta, 0.0)))
    single = ops.where(w > 0.0, -1.0, 1.0) * (u - m / ops.where(u > 0.0, u, 1.0))
    length = ops.sqrt(ops.maximum(-m, 0.0))
    cube = length * length * length
    ratio = ops.maximum(-1.0, ops.minimum(1.0, -w / ops.where(cube > 0.0, cube, 1.0)))
    x = ops.where(one, single, 2.0 * length * ops.cos(ops.acos(ratio) / 3.0)) - third
    for _ in range(2):
        value = ((x + b) * x + c) * x + d
        slope = (3.0 * x + 2.0 * b) * x + c
        safe = ops.abs(slope) > 1e-12 * (ops.abs(c) + b * b)
        x = x - ops.where(safe, value / ops.where(safe, slope, 1.0), 0.0)
    return x


def _cube_root(x: Scalar) -> Scalar:
    positive = x > 1e-290
    return ops.where(positive, ops.exp(ops.log(ops.where(positive, x, 1.0)) / 3.0), 0.0)

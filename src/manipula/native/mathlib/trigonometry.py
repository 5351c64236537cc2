r"""Sine, cosine and tangent.

Reduction to the octant around a multiple of π/2 [CodyWaite1980], π/2 in three parts and a fused multiply-add for each:

.. math:: n = \mathrm{round}(2x/\pi), \qquad r = ((x - n P_1) - n P_2) - n P_3, \qquad |r| \le \pi/4

``x − n·P₁`` is exact; the third part matters only where ``x`` lies close to a multiple of π/2 and the first two cancel
(with two parts the error there reaches hundreds of units). The kernels are minimax polynomials of degree 13 (sine) and
14 (cosine), fitted by Remez exchange with relative errors below 2⁻⁵⁷; the leading terms ``r`` and ``1 − r²/2`` are exact.
"""

from __future__ import annotations

from manipula.native.llvm_text import LlvmValue
from manipula.native.mathlib.lanes import Lanes, hex_floats

LIMIT = 1e7
"""Beyond |x| = LIMIT the three parts of π/2 do not hold enough digits: the C library takes over."""

TWO_OVER_PI = 0.6366197723675814
HALF_PI = hex_floats("0x1.921fb54442d18p+0", "0x1.1a62633145c06p-54", "0x1.c1cd129024e09p-107")
"""All three positive: x = −0 must give r = −0."""

SIN = hex_floats(
    "-0x1.5555555555549p-3",
    "0x1.111111110f886p-7",
    "-0x1.a01a019c12d7dp-13",
    "0x1.71de3578a3c67p-19",
    "-0x1.ae5e66da79014p-26",
    "0x1.5d932950c9b0fp-33",
)
"""(sin r / r − 1)/r² as a polynomial in r²."""

COS = hex_floats(
    "0x1.555555555554bp-5",
    "-0x1.6c16c16c14f93p-10",
    "0x1.a01a019c845cdp-16",
    "-0x1.27e4f7eabb0f7p-22",
    "0x1.1ee9d7a42eadcp-29",
    "-0x1.8fa48d4b039bfp-37",
)
"""(cos r − 1 + r²/2)/r⁴ as a polynomial in r²."""

_Result = tuple[list[LlvmValue], LlvmValue]


def _inside(v: Lanes, x: LlvmValue) -> LlvmValue:
    return v.ordered("le", v.abs(x), v.const(LIMIT))


def _kernels(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, LlvmValue, LlvmValue]:
    """sin r, cos r and the bits of n (the quadrant)."""
    n, quadrant = v.round(x, TWO_OVER_PI)
    minus_n = v.neg(n)
    r = x
    for part in HALF_PI:
        r = v.fma(minus_n, v.const(part), r)
    z = v.fmul(r, r)
    sine = v.fma(v.fmul(r, z), v.polynomial(z, SIN), r)
    sine = v.with_sign(sine, v.sign(r))  # r = −0 would give +0
    cosine = v.fma(z, v.fma(z, v.polynomial(z, COS), v.const(-0.5)), v.const(1.0))
    return sine, cosine, quadrant


def _odd(v: Lanes, quadrant: LlvmValue) -> LlvmValue:
    return v.differ(v.and_(quadrant, v.iconst(1)), v.iconst(0))


def _second_bit_as_sign(v: Lanes, quadrant: LlvmValue) -> LlvmValue:
    return v.and_(v.shl(quadrant, v.iconst(62)), v.iconst(-(2**63)))


def _sin_of(v: Lanes, sine: LlvmValue, cosine: LlvmValue, quadrant: LlvmValue) -> LlvmValue:
    return v.flip(v.select(_odd(v, quadrant), cosine, sine), _second_bit_as_sign(v, quadrant))


def _cos_of(v: Lanes, sine: LlvmValue, cosine: LlvmValue, quadrant: LlvmValue) -> LlvmValue:
    sign = _second_bit_as_sign(v, v.add(quadrant, v.iconst(1)))
    return v.flip(v.select(_odd(v, quadrant), sine, cosine), sign)


def sincos(v: Lanes, x: LlvmValue) -> _Result:
    """sin x and cos x from one reduction."""
    parts = _kernels(v, x)
    return [_sin_of(v, *parts), _cos_of(v, *parts)], _inside(v, x)


def sin(v: Lanes, x: LlvmValue) -> _Result:
    """sin x."""
    return [_sin_of(v, *_kernels(v, x))], _inside(v, x)


def cos(v: Lanes, x: LlvmValue) -> _Result:
    """cos x."""
    return [_cos_of(v, *_kernels(v, x))], _inside(v, x)


def tan(v: Lanes, x: LlvmValue) -> _Result:
    """tan x = sin r / cos r, or −cos r / sin r in odd quadrants.

    Numerator and denominator carry their rounding errors (r too), so that the quotient is good to about one unit.
    """
    n, quadrant = v.round(x, TWO_OVER_PI)
    minus_n = v.neg(n)
    r1 = v.fma(minus_n, v.const(HALF_PI[0]), x)
    p, p_error = v.two_product(minus_n, v.const(HALF_PI[1]))
    r, r_error = v.two_sum(r1, p)
    r_low = v.fma(minus_n, v.const(HALF_PI[2]), v.fadd(r_error, p_error))
    sign = v.xor(v.sign(r), v.shl(quadrant, v.iconst(63)))  # tan is odd in r; odd quadrants turn the sign
    r, r_low = v.fast_two_sum(r, r_low)
    z = v.fmul(r, r)
    # sin(r + r_low) = r + (r³·S(z) + r_low·cos r);  cos(r + r_low) = 1 + (−z/2 + z²·C(z) − r_low·r)
    minus_half_z = v.fmul(v.const(-0.5), z)
    sine_low = v.fma(v.fmul(r, z), v.polynomial(z, SIN), v.fma(r_low, minus_half_z, r_low))
    sine = v.fast_two_sum(r, sine_low)
    z_error = v.fma(r, r, v.neg(z))
    one, one_low = v.fast_two_sum(v.const(1.0), minus_half_z)
    rest = v.fma(v.const(-0.5), z_error, v.neg(v.fmul(r_low, r)))
    cosine_low = v.fma(v.fmul(z, z), v.polynomial(z, COS), v.fadd(one_low, rest))
    cosine = v.fast_two_sum(one, cosine_low)
    odd = _odd(v, quadrant)
    numerator = v.select(odd, cosine[0], sine[0]), v.select(odd, cosine[1], sine[1])
    denominator = v.select(odd, sine[0], cosine[0]), v.select(odd, sine[1], cosine[1])
    q, q_low = v.quotient(numerator, denominator)
    size = v.abs(v.fadd(q, q_low))
    return [v.with_sign(size, sign)], _inside(v, x)

r"""Exponential, logarithm, hyperbolic functions and power.

Everything rests on two reductions [Muller2016, ch. 10 and 11]:

.. math::
    e^x &= 2^n (1 + r + r^2 P(r)), & n &= \mathrm{round}(x/\ln 2), \; |r| \le \ln(2)/2 \\
    \ln x &= k \ln 2 + 2\,\mathrm{artanh}\,s, & x &= 2^k m, \; s = (m-1)/(m+1), \; \sqrt{1/2} \le m < \sqrt 2

Polynomials are minimax fits (Remez exchange) with relative errors of the whole function below 2⁻⁵⁸. Where two parts
nearly cancel or an error would be amplified, both carry their rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from manipula.native.llvm_text import LlvmValue
from manipula.native.mathlib.lanes import Lanes, hex_floats

EXP = hex_floats(
    "0x1.0000000000000p-1",
    "0x1.555555555555cp-3",
    "0x1.555555555555ep-5",
    "0x1.111111110ebb5p-7",
    "0x1.6c16c16c1354fp-10",
    "0x1.a01a01b3ba8b3p-13",
    "0x1.a01a01b461f22p-16",
    "0x1.71ddef94c0054p-19",
    "0x1.27e4bf1ee6dd8p-22",
    "0x1.af6ccbdf67b92p-26",
    "0x1.1f9e009e24696p-29",
)
"""P(r) = (eʳ − 1 − r)/r²."""

LOG = hex_floats(
    "0x1.5555555555592p-1",
    "0x1.999999997fe03p-2",
    "0x1.24924941ee37ep-2",
    "0x1.c71c520a7f899p-3",
    "0x1.74663ef20948dp-3",
    "0x1.39a1b2e2e2aa8p-3",
    "0x1.2f05f3ebce683p-3",
)
"""2(artanh s / s − 1)/s² as a polynomial in s²."""

LOG_TAIL = hex_floats(
    "0x1.9999999999b30p-3",
    "0x1.2492492457debp-3",
    "0x1.c71c722d600d8p-4",
    "0x1.745ce9e3b65c9p-4",
    "0x1.3b1eec416d478p-4",
    "0x1.0f7fdf3a11e88p-4",
    "0x1.0e43371e56ba7p-4",
)
"""((artanh s / s − 1)/s² − 1/3)/s² as a polynomial in s²: the part of the logarithm that needs no second word."""

SINH = hex_floats(
    "0x1.5555555555555p-3",
    "0x1.1111111111111p-7",
    "0x1.a01a01a019fbep-13",
    "0x1.71de3a55742f7p-19",
    "0x1.ae645673dde86p-26",
    "0x1.61246b1f90187p-33",
    "0x1.ae75571bf43fbp-41",
    "0x1.9a7f3a80165b5p-49",
)
"""(sinh x / x − 1)/x² as a polynomial in x², |x| ≤ 1."""

LOG2_E = 1.4426950408889634
LN2 = hex_floats("0x1.62e42fefa39efp-1", "0x1.abc9e3b39803fp-56")
LN2_SHORT = hex_floats("0x1.62e42fefa3800p-1", "0x1.ef35793c76730p-45")  # 42 bits, so that k·LN2_SHORT[0] is exact
THIRD = hex_floats("0x1.5555555555555p-2", "0x1.5555555555555p-56")

EXP_OVERFLOW, EXP_UNDERFLOW = 709.782712893384, -745.1332191019412
EXP_NEAR = 700.0  # |x| up to which 2ⁿ is neither subnormal nor infinite
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
TANH_ONE = 22.0  # 1 to the last bit beyond 19.1
ROUNDER_BITS = 0x4338000000000000

_Pair = tuple[LlvmValue, LlvmValue]


def _reduce(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, LlvmValue, _Pair]:
    """n as double and bits, and r = x − n·ln 2 as a pair."""
    n, bits = v.round(x, LOG2_E)
    minus_n = v.neg(n)
    first = v.fma(minus_n, v.const(LN2[0]), x)  # exact
    r = v.fma(minus_n, v.const(LN2[1]), first)
    return n, bits, (r, v.fma(minus_n, v.const(LN2[1]), v.fsub(first, r)))


def _scale(v: Lanes, value: LlvmValue, n_bits: LlvmValue) -> LlvmValue:
    """``value·2ⁿ`` for |n| < 2000 in two steps, so that subnormal results are rounded once."""
    half = v.lshr(v.sub(n_bits, v.iconst(ROUNDER_BITS - 2048)), v.iconst(1))  # ⌊n/2⌋ + 1024
    first = v.from_bits(v.shl(v.sub(half, v.iconst(1)), v.iconst(52)))
    second = v.from_bits(v.shl(v.sub(v.add(n_bits, v.iconst(2047)), half), v.iconst(52)))
    return v.fmul(v.fmul(value, first), second)


def exp(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """eˣ."""
    _, bits, (r, _) = _reduce(v, x)
    mantissa = v.fadd(v.const(1.0), v.fma(v.fmul(r, r), v.polynomial(r, EXP), r))
    value = _scale(v, mantissa, bits)
    value = v.select(v.ordered("gt", x, v.const(EXP_OVERFLOW)), v.const(math.inf), value)
    return [v.select(v.ordered("lt", x, v.const(EXP_UNDERFLOW)), v.const(0.0), value)], None


def exp_near(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, Callable[[], LlvmValue]]:
    """Where eˣ is an ordinary number, one step scales it, to the same bits."""

    def value() -> LlvmValue:
        _, bits, (r, _) = _reduce(v, x)
        mantissa = v.fadd(v.const(1.0), v.fma(v.fmul(r, r), v.polynomial(r, EXP), r))
        return v.fmul(mantissa, v.from_bits(v.shl(v.add(bits, v.iconst(1023)), v.iconst(52))))

    return v.ordered("lt", v.abs(x), v.const(EXP_NEAR)), value


def exp_settled(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
    """Where eˣ is below the smallest number: 0."""
    return v.ordered("lt", x, v.const(EXP_UNDERFLOW)), v.const(0.0)


def _exp_of_reduced(v: Lanes, r: LlvmValue, r_low: LlvmValue) -> _Pair:
    one, error = v.fast_two_sum(v.const(1.0), r)
    rest = v.fma(v.fmul(r, r), v.polynomial(r, EXP), v.fma(r, r_low, r_low))
    return v.fast_two_sum(one, v.fadd(error, rest))


def _sinh_cosh(v: Lanes, size: LlvmValue, sign: float) -> LlvmValue:
    """(eˣ ± e⁻ˣ)/2 for x ≥ 0 (x ≥ 1 for the difference), from eˣ/4 and e⁻ˣ/4: it overflows where they do."""
    _, bits, (r, r_low) = _reduce(v, size)
    high, low = _exp_of_reduced(v, r, r_low)  # e^size = 2ⁿ·(high + low), good to about 58 bits
    exponent = v.sub(bits, v.iconst(ROUNDER_BITS))
    up = v.power_of_two(v.sub(exponent, v.iconst(2)))
    down = v.power_of_two(v.sub(v.iconst(-2), exponent))
    inverse, inverse_low = v.quotient((v.const(1.0), v.const(0.0)), (high, low))
    matters = v.ordered("lt", size, v.const(40.0))
    down = v.select(matters, v.fmul(down, v.const(sign)), v.const(0.0))
    total, error = v.fast_two_sum(v.fmul(high, up), v.fmul(inverse, down))
    rest = v.fadd(error, v.fma(low, up, v.fmul(inverse_low, down)))
    value = v.fmul(v.const(2.0), v.fadd(total, rest))
    return v.select(v.ordered("gt", size, v.const(711.0)), v.const(math.inf), value)


def sinh(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """sinh x; a polynomial for |x| < 1, where the exponentials cancel."""
    size = v.abs(x)
    z = v.fmul(size, size)
    inner = v.fma(v.fmul(size, z), v.polynomial(z, SINH), size)
    value = v.select(v.ordered("lt", size, v.const(1.0)), inner, _sinh_cosh(v, size, -1.0))
    return [v.with_sign(value, v.sign(x))], None


def cosh(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """cosh x."""
    return [_sinh_cosh(v, v.abs(x), 1.0)], None


def tanh_settled(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
    """Where tanh x is ±1 to the last bit."""
    return v.ordered("gt", v.abs(x), v.const(TANH_ONE)), v.with_sign(v.const(1.0), v.sign(x))


def tanh(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    r"""tanh x = (E − 1)/(E + 1), E = exp(2|x|); E − 1 is formed without cancellation.

    .. math:: E - 1 = (2^n - 1) + 2^n r + 2^n r^2 P(r)
    """
    size = v.abs(x)
    size = v.select(v.ordered("gt", size, v.const(TANH_ONE)), v.const(TANH_ONE), size)
    _, bits, (r, r_low) = _reduce(v, v.fadd(size, size))
    power = v.power_of_two(v.sub(bits, v.iconst(ROUNDER_BITS)))
    rest = v.fma(v.fmul(r, r), v.polynomial(r, EXP), v.fma(r, r_low, r_low))
    total, error = v.fast_two_sum(v.fsub(power, v.const(1.0)), v.fmul(power, r))
    numerator = v.fast_two_sum(total, v.fma(power, rest, error))
    plus_two, error = v.two_sum(v.const(2.0), numerator[0])
    q, q_low = v.quotient(numerator, (plus_two, v.fadd(error, numerator[1])))
    return [v.with_sign(v.fadd(q, q_low), v.sign(x))], None


def _split(v: Lanes, x: LlvmValue) -> _Pair:
    """x = 2ᵏ·m for positive normal x: k as a double, m in [√½, √2)."""
    shifted = v.add(v.bits(x), v.iconst(0x3FF0000000000000 - SQRT_HALF_BITS))
    exponent = v.lshr(shifted, v.iconst(52))
    k = v.fsub(v.from_bits(v.or_(exponent, v.iconst(0x4330000000000000))), v.const(2.0**52 + 1023))
    return k, v.from_bits(v.add(v.and_(shifted, v.iconst(2**52 - 1)), v.iconst(SQRT_HALF_BITS)))


def log(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    r"""ln x: −∞ at 0, NaN below.

    .. math:: \ln m = f - f^2/2 + s\,(f^2/2 + s^2 L(s^2)), \qquad f = m - 1,\; s = f/(2 + f)
    """
    tiny = v.ordered("lt", x, v.const(2.0**-1022))
    k, m = _split(v, v.select(tiny, v.fmul(x, v.const(2.0**54)), x))
    k = v.select(tiny, v.fsub(k, v.const(54.0)), k)
    f = v.fsub(m, v.const(1.0))
    s = v.fdiv(f, v.fadd(v.const(2.0), f))
    z = v.fmul(s, s)
    half_square = v.fmul(v.fmul(f, v.const(0.5)), f)
    rest = v.fma(s, v.fma(z, v.polynomial(z, LOG), half_square), v.neg(half_square))
    total, error = v.fast_two_sum(v.fmul(k, v.const(LN2_SHORT[0])), f)
    value = v.fadd(total, v.fadd(error, v.fma(k, v.const(LN2_SHORT[1]), rest)))
    value = v.select(v.ordered("lt", x, v.const(math.inf)), value, x)
    special = v.select(v.ordered("eq", x, v.const(0.0)), v.const(-math.inf), v.const(math.nan))
    return [v.select(v.ordered("gt", x, v.const(0.0)), value, special)], None


def _log_pair(v: Lanes, x: LlvmValue) -> _Pair:
    r"""ln x as a pair good to about 64 bits, for positive normal x.

    .. math:: \ln x = k \ln 2 + 2s\,(1 + s^2 (\tfrac13 + s^2 Q(s^2)))
    """
    k, m = _split(v, x)
    f = v.fsub(m, v.const(1.0))
    s, s_low = v.fast_two_sum(*v.quotient((f, v.const(0.0)), v.two_sum(v.const(2.0), f)))
    z, z_low = v.two_product(s, s)
    twice, twice_low = v.fadd(s, s), v.fadd(s_low, s_low)
    z_low = v.fma(s, twice_low, z_low)
    c, c_low = v.fast_two_sum(v.const(THIRD[0]), v.fmul(z, v.polynomial(z, LOG_TAIL)))
    c_low = v.fadd(c_low, v.const(THIRD[1]))
    w, w_low = v.two_product(z, c)
    w_low = v.fadd(w_low, v.fma(z, c_low, v.fmul(z_low, c)))
    p, p_low = v.two_product(twice, w)
    p_low = v.fadd(p_low, v.fma(twice, w_low, v.fmul(twice_low, w)))
    high, error = v.fast_two_sum(twice, p)
    low = v.fadd(error, v.fadd(twice_low, p_low))
    total, error = v.fast_two_sum(v.fmul(k, v.const(LN2_SHORT[0])), high)
    return v.fast_two_sum(total, v.fadd(error, v.fma(k, v.const(LN2_SHORT[1]), low)))


def pow(v: Lanes, x: LlvmValue, y: LlvmValue) -> tuple[list[LlvmValue], LlvmValue]:
    """xʸ = exp(y·ln x) for positive normal x and results far from overflow; the C library does all other cases."""
    log_x, log_x_low = _log_pair(v, x)
    p, p_low = v.two_product(y, log_x)
    p_low = v.fma(y, log_x_low, p_low)
    _, bits, (r, r_low) = _reduce(v, p)
    high, low = _exp_of_reduced(v, *v.two_sum(r, v.fadd(r_low, p_low)))
    value = _scale(v, v.fadd(high, low), bits)
    inside = v.and_(v.ordered("ge", x, v.const(2.0**-1022)), v.ordered("lt", x, v.const(math.inf)))
    return [value], v.and_(inside, v.ordered("lt", v.abs(p), v.const(708.0)))

r"""Inverse tangent, sine and cosine.

Polynomials are minimax fits (Remez exchange) with relative errors of the whole function below 2⁻⁵⁸.
"""

from __future__ import annotations

from manipula.native.llvm_text import LlvmValue
from manipula.native.mathlib.lanes import Lanes, hex_floats

ATAN = hex_floats(
    "-0x1.555555555553dp-2",
    "0x1.99999999958ddp-3",
    "-0x1.24924922b0c01p-3",
    "0x1.c71c70e77ae28p-4",
    "-0x1.745cf9067e642p-4",
    "0x1.3b111c0f6eebap-4",
    "-0x1.10ebd9b5f30d6p-4",
    "0x1.df112cde14bafp-5",
    "-0x1.9cdb173a62fe3p-5",
    "0x1.37ea7c42b0fabp-5",
    "-0x1.2597158f6d82ep-6",
)
"""(atan t / t − 1)/t² as a polynomial in t², |t| ≤ √2 − 1."""

ASIN = hex_floats(
    "0x1.5555555555578p-3",
    "0x1.333333332df73p-4",
    "0x1.6db6db7226969p-5",
    "0x1.f1c71a8d8c2d7p-6",
    "0x1.6e8bdfacd28a4p-6",
    "0x1.1c49e242fd17bp-6",
    "0x1.ca20d9d78b3dcp-7",
    "0x1.757b15c477e35p-7",
    "0x1.61763a4ad3998p-7",
    "0x1.e29b05b2cf5a9p-9",
    "0x1.649dd37530e32p-6",
    "-0x1.5964bcf2d98dep-6",
    "0x1.0bb599f3da18dp-5",
)
"""(asin x / x − 1)/x² as a polynomial in x², |x| ≤ 1/2."""

TAN_PI_8 = 0.41421356237309503
HALF_PI = hex_floats("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54")
QUARTER_PI = (HALF_PI[0] / 2, HALF_PI[1] / 2)

ATAN2_LARGEST, ATAN2_SMALLEST = 2.0**1000, 2.0**-1000
"""Between these sizes of the larger argument nothing overflows or divides by zero; the C library does the rest."""

_Pair = tuple[LlvmValue, LlvmValue]


def _octant_angle(v: Lanes, a: LlvmValue, b: LlvmValue) -> tuple[LlvmValue, _Pair, _Pair]:
    r"""The pieces of atan(a/b) for a, b > 0: is a > b?, a constant and a small angle, both as pairs.

    With s = min(a,b), l = max(a,b): the angle of s/l is atan t for s/l ≤ tan(π/8), else π/4 + atan t with

    .. math:: t = s/l \quad\text{or}\quad t = (s - l)/(s + l), \qquad |t| \le \tan(\pi/8)

    and atan(a/b) = π/2 − that angle when a > b. One division; its remainder is carried.
    """
    swap = v.ordered("gt", a, b)
    small, large = v.select(swap, b, a), v.select(swap, a, b)
    big = v.ordered("gt", small, v.fmul(v.const(TAN_PI_8), large))
    difference, difference_low = v.two_sum(small, v.neg(large))
    total, total_low = v.two_sum(small, large)
    zero = v.const(0.0)
    numerator = v.select(big, difference, small), v.select(big, difference_low, zero)
    denominator = v.select(big, total, large), v.select(big, total_low, zero)
    t, t_low = v.quotient(numerator, denominator)
    z = v.fmul(t, t)
    t_low = v.fma(v.neg(z), t_low, t_low)  # derivative of atan, 1/(1 + z) ≈ 1 − z
    angle_low = v.fma(v.fmul(t, z), v.polynomial(z, ATAN), t_low)
    offset = v.select(big, v.const(QUARTER_PI[0]), zero), v.select(big, v.const(QUARTER_PI[1]), zero)
    return swap, offset, (t, angle_low)


def _combine(v: Lanes, offset: _Pair, angle: _Pair, turn: LlvmValue, base: _Pair) -> _Pair:
    """``base ± (offset + angle)`` with the sign bit in ``turn``, as constant pair and angle pair."""
    constant = tuple(v.fadd(c, v.flip(o, turn)) for c, o in zip(base, offset))
    part, part_low = v.flip(angle[0], turn), v.flip(angle[1], turn)
    total, error = v.fast_two_sum(constant[0], part)
    return total, v.fadd(error, v.fadd(part_low, constant[1]))


def _first_quadrant(v: Lanes, a: LlvmValue, b: LlvmValue, negative: LlvmValue | None) -> LlvmValue:
    """atan(a/b), or π − atan(a/b) where ``negative`` holds; a, b > 0."""
    swap, offset, angle = _octant_angle(v, a, b)
    zero, sign_bit = v.const(0.0), v.iconst(-(2**63))
    no_bit = v.iconst(0)
    turn = v.select(swap, sign_bit, no_bit)
    base = [v.select(swap, v.const(c), zero) for c in HALF_PI]
    if negative is not None:  # π − (base ± angle): the multiple of π/2 is exact in both parts
        turn = v.xor(turn, v.select(negative, sign_bit, no_bit))
        base = [v.select(negative, v.fsub(v.const(2 * c), part), part) for c, part in zip(HALF_PI, base)]
    total, low = _combine(v, offset, angle, turn, (base[0], base[1]))
    return v.fadd(total, low)


def atan(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """atan x."""
    size = v.abs(x)
    size = v.select(v.ordered("gt", size, v.const(2.0**60)), v.const(2.0**60), size)  # π/2 to the last bit beyond
    return [v.with_sign(_first_quadrant(v, size, v.const(1.0), None), v.sign(x))], None


def atan2(v: Lanes, y: LlvmValue, x: LlvmValue) -> tuple[list[LlvmValue], LlvmValue]:
    """The angle of the point (x, y), in [−π, π], signed zeros as in IEEE 754."""
    a, b = v.abs(y), v.abs(x)
    larger = v.select(v.ordered("gt", a, b), a, b)
    inside = v.and_(v.ordered("lt", larger, v.const(ATAN2_LARGEST)), v.ordered("gt", larger, v.const(ATAN2_SMALLEST)))
    inside = v.and_(inside, v.ordered("rd", y, x))
    negative = v.differ(v.sign(x), v.iconst(0))
    return [v.with_sign(_first_quadrant(v, a, b, negative), v.sign(y))], inside


def _asin_parts(v: Lanes, x: LlvmValue) -> tuple[LlvmValue, _Pair]:
    r"""(|x| ≥ ½?, asin s as a pair) with s = |x|, or s = √((1 − |x|)/2) where |x| ≥ ½.

    asin|x| = π/2 − 2 asin √((1 − |x|)/2); the square root carries its rounding error.
    """
    size = v.abs(x)
    outer = v.ordered("ge", size, v.const(0.5))
    half_rest = v.fmul(v.fsub(v.const(1.0), size), v.const(0.5))  # exact for |x| ≥ ½
    z = v.select(outer, half_rest, v.fmul(size, size))
    root = v.call("sqrt", half_rest)
    # the error of a square root: (z − root²)/(2·root); where root = 0 the tiny addition keeps the quotient 0
    root_low = v.fdiv(v.fma(v.neg(root), root, half_rest), v.fadd(v.fadd(root, root), v.const(2.0**-1000)))
    s = v.select(outer, root, size)
    s_low = v.select(outer, root_low, v.const(0.0))
    return outer, (s, v.fma(v.fmul(s, z), v.polynomial(z, ASIN), s_low))


def asin(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """asin x; NaN for |x| > 1."""
    outer, (s, low) = _asin_parts(v, x)
    inner = v.fadd(s, low)
    total, error = v.fast_two_sum(v.const(HALF_PI[0]), v.fmul(v.const(-2.0), s))
    far = v.fadd(total, v.fadd(error, v.fma(v.const(-2.0), low, v.const(HALF_PI[1]))))
    return [v.with_sign(v.select(outer, far, inner), v.sign(x))], None


def acos(v: Lanes, x: LlvmValue) -> tuple[list[LlvmValue], None]:
    """acos x: π/2 − asin x inside |x| < ½, 2 asin s for x ≥ ½, π − 2 asin s for x ≤ −½; NaN for |x| > 1."""
    outer, (s, low) = _asin_parts(v, x)
    negative = v.ordered("lt", x, v.const(0.0))
    factor = v.select(outer, v.const(2.0), v.const(1.0))
    # the sign in front of the small angle: − for 0 ≤ x < ½ and for x ≤ −½
    turned = v.xor(outer, negative)
    factor = v.select(turned, factor, v.neg(factor))
    zero = v.const(0.0)
    base = [v.select(outer, v.select(negative, v.const(2 * c), zero), v.const(c)) for c in HALF_PI]
    total, error = v.fast_two_sum(base[0], v.fmul(factor, s))
    return [v.fadd(total, v.fadd(error, v.fma(factor, low, base[1])))], None

"""Arithmetic on W doubles side by side, as LLVM instructions.

A :class:`Lanes` wraps an ``IRBuilder`` and a width W: every value is a ``double`` (W = 1) or a ``<W x double>``. Lane k
of each result depends on lane k of the operands only, and every method emits the same IEEE operations whatever W is.
Code written over it therefore gives the same bits alone and inside a vector. Multiply-add is always the explicit
``llvm.fma`` (one rounding); nothing is left to the contraction of the code generator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

DOUBLE = ir.DoubleType()
INT64 = ir.IntType(64)
BIT = ir.IntType(1)

Value = Any
"""An LLVM value; llvmlite's own classes do not say what attributes theirs have."""

WIDTHS = (1, 2, 4, 8)
SIGN_BIT = -(2**63)
ROUNDER = 1.5 * 2.0**52  # adding it rounds |x| < 2^51 to an integer, which then stands in the low bits


def hex_floats(*texts: str) -> tuple[float, ...]:
    """Doubles written bit for bit."""
    return tuple(map(float.fromhex, texts))


def lane_type(element: ir.Type, width: int) -> ir.Type:
    """``element`` for one lane, ``<W x element>`` for more."""
    return element if width == 1 else ir.VectorType(element, width)


def intrinsic(module: ir.Module, name: str, width: int, arguments: int) -> ir.Function:
    """The LLVM intrinsic ``name`` from ``arguments`` doubles to one, ``width`` lanes wide."""
    full_name = f"llvm.{name}." + ("f64" if width == 1 else f"v{width}f64")
    known = module.globals.get(full_name)
    if known is None:
        number = lane_type(DOUBLE, width)
        known = ir.Function(module, ir.FunctionType(number, [number] * arguments), full_name)
    return known


class Lanes:
    """Emits arithmetic on ``width`` doubles at the end of ``builder``'s block."""

    def __init__(self, builder: ir.IRBuilder, width: int) -> None:
        self.builder, self.width = builder, width
        self.number = lane_type(DOUBLE, width)
        self.integer = lane_type(INT64, width)
        for method in ("fadd", "fsub", "fmul", "fdiv", "and_", "or_", "xor", "add", "sub", "shl", "lshr"):
            setattr(self, method, getattr(builder, method))

    fadd: Callable[..., Value]
    fsub: Callable[..., Value]
    fmul: Callable[..., Value]
    fdiv: Callable[..., Value]
    and_: Callable[..., Value]
    or_: Callable[..., Value]
    xor: Callable[..., Value]
    add: Callable[..., Value]
    sub: Callable[..., Value]
    shl: Callable[..., Value]
    lshr: Callable[..., Value]

    # --- constants -------------------------------------------------------------------------------------------------
    def const(self, value: float) -> ir.Constant:
        """``value`` in every lane."""
        one = ir.Constant(DOUBLE, float(value))
        return one if self.width == 1 else ir.Constant(self.number, [one] * self.width)

    def iconst(self, value: int) -> ir.Constant:
        """The 64-bit integer ``value`` in every lane."""
        one = ir.Constant(INT64, value)
        return one if self.width == 1 else ir.Constant(self.integer, [one] * self.width)

    # --- numbers ---------------------------------------------------------------------------------------------------
    def call(self, name: str, *arguments: Value) -> Value:
        """The LLVM intrinsic ``name``, such as ``sqrt`` or ``floor``."""
        return self.builder.call(intrinsic(self.builder.module, name, self.width, len(arguments)), arguments)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """``a·b + c`` with one rounding."""
        return self.call("fma", a, b, c)

    def neg(self, a: Value) -> Value:
        """``−a``, the sign bit flipped."""
        return self.builder.fneg(a)

    def abs(self, a: Value) -> Value:
        """``|a|``, the sign bit cleared."""
        return self.call("fabs", a)

    def bits(self, a: Value) -> Value:
        """The 64 bits of each double."""
        return self.builder.bitcast(a, self.integer)

    def from_bits(self, a: Value) -> Value:
        """The doubles with these bits."""
        return self.builder.bitcast(a, self.number)

    def sign(self, a: Value) -> Value:
        """The sign bit of each double, the other 63 bits zero."""
        return self.and_(self.bits(a), self.iconst(SIGN_BIT))

    def flip(self, a: Value, sign_bits: Value) -> Value:
        """``a`` with its sign flipped where ``sign_bits`` holds the sign bit."""
        return self.from_bits(self.xor(self.bits(a), sign_bits))

    def with_sign(self, a: Value, sign_bits: Value) -> Value:
        """A non-negative ``a`` given the sign in ``sign_bits``."""
        return self.from_bits(self.or_(self.bits(a), sign_bits))

    def power_of_two(self, n: Value) -> Value:
        """``2^n`` for integers −1022 ≤ n ≤ 1023."""
        return self.from_bits(self.shl(self.add(n, self.iconst(1023)), self.iconst(52)))

    def round(self, x: Value, factor: float) -> tuple[Value, Value]:
        """``n = round(factor·x)``, ties to even, as a double and as bits (the low bits of n, plus a constant above)."""
        shifted = self.fma(x, self.const(factor), self.const(ROUNDER))
        return self.fsub(shifted, self.const(ROUNDER)), self.bits(shifted)

    # --- choices ---------------------------------------------------------------------------------------------------
    def compare(self, operator: str, a: Value, b: Value) -> Value:
        """Ordered comparison: false when a lane is not a number."""
        return self.builder.fcmp_ordered(operator, a, b)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        """``a`` where the condition holds, else ``b``."""
        return self.builder.select(condition, a, b)

    def all(self, condition: Value) -> Value:
        """One bit: does the condition hold in every lane?"""
        if self.width == 1:
            return condition
        mask: Value = self.builder.bitcast(condition, ir.IntType(self.width))
        return self.builder.icmp_unsigned("==", mask, ir.Constant(mask.type, -1))

    # --- sums with their rounding errors ---------------------------------------------------------------------------
    def two_sum(self, a: Value, b: Value) -> tuple[Value, Value]:
        """``s + e = a + b`` exactly, ``s`` the rounded sum [Knuth1998, §4.2.2]."""
        s = self.fadd(a, b)
        b_part = self.fsub(s, a)
        a_part = self.fsub(s, b_part)
        return s, self.fadd(self.fsub(a, a_part), self.fsub(b, b_part))

    def fast_two_sum(self, a: Value, b: Value) -> tuple[Value, Value]:
        """``s + e = a + b`` exactly when |a| ≥ |b| or a = 0 [Dekker1971]."""
        s = self.fadd(a, b)
        return s, self.fsub(b, self.fsub(s, a))

    def two_product(self, a: Value, b: Value) -> tuple[Value, Value]:
        """``p + e = a·b`` exactly, ``p`` the rounded product."""
        p = self.fmul(a, b)
        return p, self.fma(a, b, self.neg(p))

    def quotient(self, a: tuple[Value, Value], b: tuple[Value, Value]) -> tuple[Value, Value]:
        r"""``q + e ≈ (a₀ + a₁)/(b₀ + b₁)`` with one division.

        .. math:: q = a_0 \cdot b_0^{-1}, \quad e = (a_0 - q b_0 + a_1 - q b_1) \cdot b_0^{-1}
        """
        inverse = self.fdiv(self.const(1.0), b[0])
        q = self.fmul(a[0], inverse)
        rest = self.fma(self.neg(q), b[1], self.fadd(self.fma(self.neg(q), b[0], a[0]), a[1]))
        return q, self.fmul(rest, inverse)

    # --- polynomials -----------------------------------------------------------------------------------------------
    def polynomial(self, z: Value, coefficients: Sequence[float]) -> Value:
        """``c₀ + c₁z + c₂z² + …`` by Estrin's scheme: pairs first, so that the chain is short [Estrin1960]."""
        terms: list[Value] = [self.const(c) for c in coefficients]
        power = z
        while len(terms) > 1:
            pairs = [self.fma(power, high, low) for low, high in zip(terms[0::2], terms[1::2])]
            terms = pairs + (terms[-1:] if len(terms) % 2 else [])
            if len(terms) > 1:
                power = self.fmul(power, power)
        return terms[0]

"""Arithmetic on W doubles side by side, as LLVM instructions.

:class:`Lanes` writes a function in which every value is a ``double`` (W = 1) or a ``<W x double>``. Lane k of each result
depends on lane k of the operands only, and every method writes the same IEEE operations whatever W is. Code written over it
therefore gives the same bits alone and inside a vector. Multiply-add is always the explicit ``llvm.fma`` (one rounding);
nothing is left to the contraction of the code generator.
"""

from __future__ import annotations

from collections.abc import Sequence

from manipula.native.llvm_text import LlvmBuilder, LlvmValue, Type, hexadecimal

WIDTHS = (1, 2, 4, 8)
SIGN_BIT = -(2**63)
ROUNDER = 1.5 * 2.0**52  # adding it rounds |x| < 2^51 to an integer, which then stands in the low bits

Texts = dict[str, str]
"""Definitions and declarations of one module, by ``@symbol``."""


def hex_floats(*texts: str) -> tuple[float, ...]:
    """Doubles written bit for bit."""
    return tuple(map(float.fromhex, texts))


def intrinsic(texts: Texts, name: str, width: int, arguments: int) -> str:
    """The symbol of the LLVM intrinsic ``name`` from ``arguments`` doubles to one, ``width`` lanes wide."""
    number = Type("double", width)
    symbol = f"@llvm.{name}." + ("f64" if width == 1 else f"v{width}f64")
    texts[symbol] = f"declare {number} {symbol}({', '.join([str(number)] * arguments)})"
    return symbol


class Lanes(LlvmBuilder):
    """A function of ``arguments`` numbers, ``width`` lanes wide; what it needs beside itself goes into ``texts``."""

    def __init__(self, texts: Texts, symbol: str, result: Type, arguments: Sequence[Type], width: int) -> None:
        super().__init__(symbol, result, arguments, linkage="internal")
        self.texts, self.width = texts, width
        self.number, self.integer = Type("double", width), Type("i64", width)

    # --- constants -------------------------------------------------------------------------------------------------
    def const(self, value: float) -> LlvmValue:
        """``value`` in every lane."""
        return self._all_lanes(self.number, hexadecimal(value))

    def iconst(self, value: int) -> LlvmValue:
        """The 64-bit integer ``value`` in every lane."""
        return self._all_lanes(self.integer, str(value))

    def _all_lanes(self, kind: Type, literal: str) -> LlvmValue:
        one = f"{kind.element} {literal}"
        return LlvmValue(kind, literal if self.width == 1 else f"<{', '.join([one] * self.width)}>")

    # --- numbers ---------------------------------------------------------------------------------------------------
    def call(self, name: str, *arguments: LlvmValue) -> LlvmValue:
        """The LLVM intrinsic ``name``, such as ``sqrt`` or ``floor``."""
        return self.call_symbol(intrinsic(self.texts, name, self.width, len(arguments)), self.number, *arguments)

    def fma(self, a: LlvmValue, b: LlvmValue, c: LlvmValue) -> LlvmValue:
        """``a·b + c`` with one rounding."""
        return self.call("fma", a, b, c)

    def neg(self, a: LlvmValue) -> LlvmValue:
        """``−a``, the sign bit flipped."""
        return LlvmValue(a.type, self.let(f"fneg {a}"))

    def abs(self, a: LlvmValue) -> LlvmValue:
        """``|a|``, the sign bit cleared."""
        return self.call("fabs", a)

    def bits(self, a: LlvmValue) -> LlvmValue:
        """The 64 bits of each double."""
        return self.convert("bitcast", a, self.integer)

    def from_bits(self, a: LlvmValue) -> LlvmValue:
        """The doubles with these bits."""
        return self.convert("bitcast", a, self.number)

    def sign(self, a: LlvmValue) -> LlvmValue:
        """The sign bit of each double, the other 63 bits zero."""
        return self.and_(self.bits(a), self.iconst(SIGN_BIT))

    def flip(self, a: LlvmValue, sign_bits: LlvmValue) -> LlvmValue:
        """``a`` with its sign flipped where ``sign_bits`` holds the sign bit."""
        return self.from_bits(self.xor(self.bits(a), sign_bits))

    def with_sign(self, a: LlvmValue, sign_bits: LlvmValue) -> LlvmValue:
        """A non-negative ``a`` given the sign in ``sign_bits``."""
        return self.from_bits(self.or_(self.bits(a), sign_bits))

    def power_of_two(self, n: LlvmValue) -> LlvmValue:
        """``2^n`` for integers −1022 ≤ n ≤ 1023."""
        return self.from_bits(self.shl(self.add(n, self.iconst(1023)), self.iconst(52)))

    def round(self, x: LlvmValue, factor: float) -> tuple[LlvmValue, LlvmValue]:
        """``n = round(factor·x)``, ties to even, as a double and as bits (the low bits of n, plus a constant above)."""
        shifted = self.fma(x, self.const(factor), self.const(ROUNDER))
        return self.fsub(shifted, self.const(ROUNDER)), self.bits(shifted)

    # --- choices ---------------------------------------------------------------------------------------------------
    def ordered(self, operator: str, a: LlvmValue, b: LlvmValue) -> LlvmValue:
        """Ordered comparison ``lt``, ``ge``, …: false when a lane is not a number (``rd``: both are numbers)."""
        return self.compare(f"fcmp o{operator}", a, b)

    def all(self, condition: LlvmValue) -> LlvmValue:
        """One bit: does the condition hold in every lane?"""
        if self.width == 1:
            return condition
        return self.same(self.convert("bitcast", condition, Type(f"i{self.width}")), -1)

    # --- sums with their rounding errors ---------------------------------------------------------------------------
    def two_sum(self, a: LlvmValue, b: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
        """``s + e = a + b`` exactly, ``s`` the rounded sum [Knuth1998, §4.2.2]."""
        s = self.fadd(a, b)
        b_part = self.fsub(s, a)
        a_part = self.fsub(s, b_part)
        return s, self.fadd(self.fsub(a, a_part), self.fsub(b, b_part))

    def fast_two_sum(self, a: LlvmValue, b: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
        """``s + e = a + b`` exactly when |a| ≥ |b| or a = 0 [Dekker1971]."""
        s = self.fadd(a, b)
        return s, self.fsub(b, self.fsub(s, a))

    def two_product(self, a: LlvmValue, b: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
        """``p + e = a·b`` exactly, ``p`` the rounded product."""
        p = self.fmul(a, b)
        return p, self.fma(a, b, self.neg(p))

    def quotient(self, a: tuple[LlvmValue, LlvmValue], b: tuple[LlvmValue, LlvmValue]) -> tuple[LlvmValue, LlvmValue]:
        r"""``q + e ≈ (a₀ + a₁)/(b₀ + b₁)`` with one division.

        .. math:: q = a_0 \cdot b_0^{-1}, \quad e = (a_0 - q b_0 + a_1 - q b_1) \cdot b_0^{-1}
        """
        inverse = self.fdiv(self.const(1.0), b[0])
        q = self.fmul(a[0], inverse)
        rest = self.fma(self.neg(q), b[1], self.fadd(self.fma(self.neg(q), b[0], a[0]), a[1]))
        return q, self.fmul(rest, inverse)

    # --- polynomials -----------------------------------------------------------------------------------------------
    def polynomial(self, z: LlvmValue, coefficients: Sequence[float]) -> LlvmValue:
        """``c₀ + c₁z + c₂z² + …`` by Estrin's scheme: pairs first, so that the chain is short [Estrin1960]."""
        terms: list[LlvmValue] = [self.const(c) for c in coefficients]
        power = z
        while len(terms) > 1:
            pairs = [self.fma(power, high, low) for low, high in zip(terms[0::2], terms[1::2])]
            terms = pairs + (terms[-1:] if len(terms) % 2 else [])
            if len(terms) > 1:
                power = self.fmul(power, power)
        return terms[0]

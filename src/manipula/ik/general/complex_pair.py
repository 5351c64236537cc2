"""Complex numbers made of two scalars of any kind, so that complex formulas can be compiled."""

from __future__ import annotations

from typing import Any

from manipula.algebra import ops
from manipula.algebra.ops import Scalar


class ComplexPair:
    """``re + i·im``; mixes with real scalars."""

    __slots__ = ("im", "re")

    def __init__(self, re: Scalar, im: Scalar = 0.0) -> None:
        self.re, self.im = re, im

    def __add__(self, other: Any) -> ComplexPair:
        o = pair(other)
        return ComplexPair(self.re + o.re, self.im + o.im)

    __radd__ = __add__

    def __neg__(self) -> ComplexPair:
        return ComplexPair(-self.re, -self.im)

    def __sub__(self, other: Any) -> ComplexPair:
        o = pair(other)
        return ComplexPair(self.re - o.re, self.im - o.im)

    def __rsub__(self, other: Any) -> ComplexPair:
        return pair(other) - self

    def __mul__(self, other: Any) -> ComplexPair:
        if not isinstance(other, ComplexPair):
            return ComplexPair(self.re * other, self.im * other)
        return ComplexPair(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    __rmul__ = __mul__

    def square(self) -> Scalar:
        """|z|²."""
        return self.re * self.re + self.im * self.im

    def inverse(self) -> ComplexPair:
        scale = 1.0 / self.square()
        return ComplexPair(self.re * scale, -self.im * scale)

    def cos_sin(self) -> tuple[ComplexPair, ComplexPair]:
        r""":math:`\cos(x+iy) = \cos x\cosh y - i\sin x\sinh y`, :math:`\sin(x+iy) = \sin x\cosh y + i\cos x\sinh y`."""
        c, s = ops.cos(self.re), ops.sin(self.re)
        up = ops.exp(self.im)
        down = 1.0 / up
        ch, sh = 0.5 * (up + down), 0.5 * (up - down)
        return ComplexPair(c * ch, -s * sh), ComplexPair(s * ch, c * sh)


def pair(x: Any) -> ComplexPair:
    """A pair from a pair or a real scalar."""
    return x if isinstance(x, ComplexPair) else ComplexPair(x, 0.0)


def choose(condition: Any, a: ComplexPair, b: ComplexPair) -> ComplexPair:
    """``a`` where the condition holds, else ``b``."""
    return ComplexPair(ops.where(condition, a.re, b.re), ops.where(condition, a.im, b.im))


def solve(A: list[list[ComplexPair]], b: list[ComplexPair]) -> list[ComplexPair]:
    """``A⁻¹ b`` by elimination; the largest pivot is bubbled up by selections, without a branch."""
    n = len(b)
    rows = [[*row, x] for row, x in zip(A, b)]
    for k in range(n):
        for i in range(k + 1, n):
            larger = rows[i][k].square() > rows[k][k].square()
            for j in range(k, n + 1):
                up, low = rows[k][j], rows[i][j]
                rows[k][j], rows[i][j] = choose(larger, low, up), choose(larger, up, low)
        inverse = rows[k][k].inverse()
        for i in range(k + 1, n):
            factor = rows[i][k] * inverse
            rows[i] = [*rows[i][: k + 1], *(rows[i][j] - factor * rows[k][j] for j in range(k + 1, n + 1))]
        rows[k] = [*rows[k][:k], inverse, *rows[k][k + 1 :]]
    x: list[ComplexPair] = [ComplexPair(0.0)] * n
    for i in range(n - 1, -1, -1):
        total = rows[i][n]
        for j in range(i + 1, n):
            total = total - rows[i][j] * x[j]
        x[i] = total * rows[i][i]
    return x

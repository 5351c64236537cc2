"""Plain text in the papers' notation, and the same with Unicode subscripts and dots.

``-a1*(l2*m2 + a2*(m3 + m4))*s2*dq2*(2*dq1 + dq2)``: input for :mod:`manipula.algebra.expression`.
"""

from __future__ import annotations

from manipula.symbolic.expression_tree import Atom, Node, Product
from manipula.symbolic.writers.base import FormulaWriter, nested

_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class TextWriter(FormulaWriter):
    """ASCII."""

    times, divided = "*", "/"

    def atom(self, node: Atom) -> str:
        return self.names.text(node.key)

    def raised(self, base: str, power: int) -> str:
        return f"{base}^{power}"

    def product(self, node: Product) -> str:
        above, below = self.number(node.coefficient)
        parts = [self.factor(f, k) for f, k in node.factors]
        if above != "1" or not parts:
            parts.insert(0, above)
        return self.times.join(parts) + (f"{self.divided}{below}" if below else "")

    def factor(self, node: Node, power: int) -> str:
        body = self.atom(node) if isinstance(node, Atom) else self.formula(node)
        if nested(node):
            body = f"({body})"
        return body if power == 1 else self.raised(body, power)

    def matrix(self, rows: list[list[Node]]) -> str:
        """``[a, b; c, d]``, as MATLAB reads it."""
        return "[" + "; ".join(", ".join(self.formula(node) for node in row) for row in rows) + "]"


class UnicodeWriter(TextWriter):
    """``−a₁·(l₂·m₂ + a₂·(m₃ + m₄))·s₂·q̇₂·(2·q̇₁ + q̇₂)``."""

    times, minus = "·", "−"

    def operator(self, sign: str) -> str:
        return f" {'−' if sign == '-' else '+'} "

    def atom(self, node: Atom) -> str:
        return self.names.unicode(node.key)

    def raised(self, base: str, power: int) -> str:
        return base + str(power).translate(_POWERS)

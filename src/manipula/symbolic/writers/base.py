"""What every notation shares: signs are explicit, sums inside products are in parentheses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from manipula.symbolic.expression_tree import Atom, Node, Number, Product, Sum
from manipula.symbolic.names import SymbolNames
from manipula.symbolic.to_sympy import is_fraction


class FormulaWriter(ABC):
    """Writes formulas of one robot in one notation."""

    def __init__(self, names: SymbolNames) -> None:
        self.names = names

    def formula(self, node: Node) -> str:
        """The whole formula; a leading minus is written, a leading plus is not."""
        pieces = self.pieces(node)
        first_sign, first = pieces[0]
        return self.join(
            [(self.minus if first_sign == "-" else "") + first, *(self.operator(s) + t for s, t in pieces[1:])]
        )

    def pieces(self, node: Node) -> list[tuple[str, str]]:
        """Terms of the top level, each with its sign."""
        terms = node.terms if isinstance(node, Sum) else (node,)
        return [self._signed(term) for term in terms]

    def _signed(self, term: Node) -> tuple[str, str]:
        if isinstance(term, Product) and term.coefficient < 0:
            return "-", self.product(Product(-term.coefficient, term.factors))
        return "+", self.product(term) if isinstance(term, Product) else self.factor(term, 1)

    minus = "-"

    def join(self, pieces: list[str]) -> str:
        return "".join(pieces)

    def operator(self, sign: str) -> str:
        return f" {sign} "

    def inner(self, node: Sum) -> str:
        return self.formula(node)

    @abstractmethod
    def product(self, node: Product) -> str:
        """A product whose coefficient is not negative."""

    @abstractmethod
    def factor(self, node: Node, power: int) -> str:
        """One factor with its power."""


def split_number(x: Number) -> tuple[str, str]:
    """Numerator and denominator as digits; a decimal has no denominator."""
    if isinstance(x, int):
        return str(x), ""
    if isinstance(x, Fraction) and is_fraction(x):
        return str(x.numerator), "" if x.denominator == 1 else str(x.denominator)
    return decimal(float(x)), ""


def decimal(value: float) -> str:
    """The shortest text that reads back as the same float, without an empty fraction."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def is_atomic(key: Any) -> bool:
    """Is the SymPy expression behind an atom one that needs no parentheses in a product?"""
    return isinstance(key, tuple) or getattr(key, "is_Symbol", False) or getattr(key, "is_Function", False)


def nested(node: Node) -> bool:
    """Does the factor need parentheses?"""
    return isinstance(node, Sum) or (isinstance(node, Product) and (len(node.factors) != 1 or node.coefficient != 1)) or (
        isinstance(node, Atom) and not is_atomic(node.key)
    )  # fmt: skip

"""What every notation shares: signs are explicit, sums inside products are in parentheses, numbers have the digits that were asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from manipula.symbolic.expression_tree import Atom, Node, Number, Product, Sum, is_fraction
from manipula.symbolic.names import SymbolNames, decimal


class FormulaWriter(ABC):
    """Writes formulas of one robot in one notation.

    Args:
        digits: significant digits of decimals; without it the shortest text that reads back as the same float.
    """

    def __init__(self, names: SymbolNames, digits: int | None = None) -> None:
        self.names, self.digits = names, digits
        self.rounded = False  # has a decimal lost digits in what was written so far?

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
        sign, term = split_sign(term)
        return sign, self.product(term) if isinstance(term, Product) else self.factor(term, 1)

    minus = "-"

    def join(self, pieces: list[str]) -> str:
        return "".join(pieces)

    def operator(self, sign: str) -> str:
        return f" {sign} "

    def number(self, x: Number) -> tuple[str, str]:
        """Numerator and denominator as digits; a decimal has no denominator."""
        if isinstance(x, int):
            return str(x), ""
        if isinstance(x, Fraction) and is_fraction(x):
            return str(x.numerator), "" if x.denominator == 1 else str(x.denominator)
        text = decimal(float(x), self.digits)
        self.rounded |= text != decimal(float(x))
        return text, ""

    @abstractmethod
    def product(self, node: Product) -> str:
        """A product whose coefficient is not negative."""

    @abstractmethod
    def factor(self, node: Node, power: int) -> str:
        """One factor with its power."""

    @abstractmethod
    def matrix(self, rows: list[list[Node]]) -> str:
        """A matrix of formulas."""


def split_sign(term: Node) -> tuple[str, Node]:
    """The sign of a term, and the term without it."""
    if isinstance(term, Product) and term.coefficient < 0:
        return "-", Product(-term.coefficient, term.factors)
    return "+", term


def is_atomic(key: Any) -> bool:
    """Is the SymPy expression behind an atom one that needs no parentheses in a product?"""
    return isinstance(key, tuple) or getattr(key, "is_Symbol", False) or getattr(key, "is_Function", False)


def nested(node: Node) -> bool:
    """Does the factor need parentheses?"""
    return isinstance(node, Sum) or (isinstance(node, Product) and (len(node.factors) != 1 or node.coefficient != 1)) or (
        isinstance(node, Atom) and not is_atomic(node.key)
    )  # fmt: skip

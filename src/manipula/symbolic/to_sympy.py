"""Formulas as SymPy expressions."""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import sympy

from manipula.symbolic.expression_tree import Atom, Node, Number, Product, is_fraction
from manipula.symbolic.names import SymbolNames


def number(x: Number) -> Any:
    """An exact SymPy number for whole numbers and fractions, a Float for what came from decimals."""
    if isinstance(x, int):
        return sympy.Integer(x)
    if isinstance(x, Fraction) and is_fraction(x):
        return sympy.Rational(x.numerator, x.denominator)
    return sympy.Float(float(x), 17)


class SympyWriter:
    """Turns formulas into SymPy; brackets that occur again are converted once."""

    def __init__(self, names: SymbolNames) -> None:
        self._names = names
        self._known: dict[int, tuple[Node, Any]] = {}  # by identity: the collector shares its brackets
        self._powers: dict[tuple[Any, int], Any] = {}
        self._compared: dict[tuple[int, int], int] = {}
        self._order = cmp_to_key(self._compare)

    def write(self, node: Node) -> Any:
        found = self._known.get(id(node))
        if found is not None:
            return found[1]
        if isinstance(node, Atom):
            result = self._names.sympy(node.key)
        elif isinstance(node, Product):
            result = self._product(node)
        else:
            result = sympy.Add(*[self.write(term) for term in node.terms])
        self._known[id(node)] = (node, result)
        return result

    def _compare(self, a: Any, b: Any) -> int:
        """SymPy's order, remembered by identity (both live as long as this writer)."""
        found = self._compared.get((id(a), id(b)))
        if found is None:
            found = a.compare(b)
            self._compared[id(a), id(b)], self._compared[id(b), id(a)] = found, -found
        return found

    def _product(self, node: Product) -> Any:
        factors, bases = [], set()
        for base, k in node.factors:
            one = self.write(base)
            bases.add(one.base if one.is_Pow else one)
            if k != 1:
                key = (one, k)
                if key not in self._powers:
                    self._powers[key] = one**k
                one = self._powers[key]
            factors.append(one)
        coefficient = [] if node.coefficient == 1 else [number(node.coefficient)]
        if len(factors) == 1 and factors[0].is_Add and coefficient:  # SymPy would multiply the number out
            return sympy.Mul(coefficient[0], factors[0], evaluate=False)
        if len(factors) < 2 or len(bases) < len(factors) or any(f.is_Mul or f.is_Number for f in factors):
            return sympy.Mul(*coefficient, *factors)
        # different bases and one number: nothing to combine, they only need SymPy's order
        factors.sort(key=self._order)
        return sympy.Mul._from_args((*coefficient, *factors), is_commutative=True)

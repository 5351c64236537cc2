"""What the papers print, as data: one ``printed.toml`` beside each paper, numbers as texts with the digits of the print.

Formulas are in the notation of the papers (``c23``, ``dq1``) and are read by the grammar of formulas in files. Nothing in these files comes from a run of this
package: ``recomputed`` holds what other programs found where a paper prints no number, with its source.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import sympy

from manipula.algebra.expression import parse
from manipula.papers.base import PaperInfo

SHORT = re.compile(r"([cs])(\d+)")


@cache
def printed(paper: str) -> dict[str, Any]:
    """The data of a paper."""
    return tomllib.loads(files("manipula.papers").joinpath(paper, "printed.toml").read_text(encoding="utf-8"))


def paper_info(paper: str) -> PaperInfo:
    """Title, authors and place of a paper."""
    return PaperInfo(name=paper, **printed(paper)["paper"])


def evaluated(formula: str, values: Mapping[str, Any], angles: Mapping[str, Any] | None = None) -> Any:
    """A printed formula on numbers or arrays: ``c23`` and ``s23`` are found from the ``angles`` 1, 2, 3 …"""
    expression = parse(formula)
    known = dict(values)
    for name in expression.names:
        match = SHORT.fullmatch(name)
        if name not in known and match is not None and angles is not None:
            angle = sum(angles[digit] for digit in match[2])
            known[name] = np.cos(angle) if match[1] == "c" else np.sin(angle)
    return expression.evaluate(known)


def in_short_names(expression: Any, coordinates: Any) -> Any:
    """A SymPy expression with ``cos(q2 + q3)`` as the symbol ``c23``, as the papers write it."""
    numbers = {symbol: str(i + 1) for i, symbol in enumerate(coordinates)}
    table = {}
    for found in expression.atoms(sympy.cos, sympy.sin):
        parts = found.args[0].as_coefficients_dict()
        if all(symbol in numbers and k == 1 for symbol, k in parts.items()):
            letter = "c" if isinstance(found, sympy.cos) else "s"
            table[found] = sympy.Symbol(letter + "".join(sorted(numbers[symbol] for symbol in parts)))
    return expression.xreplace(table)


def terms(expression: Any) -> dict[str, Any]:
    """The terms of a sum of products: product of names → coefficient."""
    found: dict[str, Any] = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        coefficient, factors = term.as_coeff_Mul()
        if coefficient != 0:
            key = "1" if factors == 1 else _product(factors)
            found[key] = found.get(key, 0) + coefficient
    return {key: value for key, value in found.items() if value != 0}


def symbolic(formula: str) -> Any:
    """A printed formula as SymPy, its short names as symbols."""
    return parse(formula).to_sympy()


def _product(factors: Any) -> str:
    """Rates first, then constants, then functions of angles, each in the order of its name."""

    def rank(text: str) -> tuple[int, str]:
        return (0 if text.startswith("d") else 2 if SHORT.fullmatch(text.partition("^")[0]) else 1), text

    pieces = [
        str(base) if power == 1 else f"{base}^{power}"
        for base, power in (f.as_base_exp() for f in sympy.Mul.make_args(factors))
    ]
    return "*".join(sorted(pieces, key=rank))

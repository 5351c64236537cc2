"""A SymPy expression as text that our own parser reads back to the same expression."""

from __future__ import annotations

from typing import Any

from manipula.algebra.bounded import BITS, EXPONENT
from manipula.algebra.grammar import DEFAULT
from manipula.errors import DescriptionError, printable

_NAMES = {function.sympy_name: name for name, function in DEFAULT.items()}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)  # how tightly the outermost operator binds


def formula_text(expression: Any) -> str:
    """``m1*a1**2/12`` for a sum, product, power or known function of named parameters.

    Raises:
        DescriptionError: for functions that formulas in files do not have.
    """
    import sympy

    known: dict[Any, tuple[str, int]] = {}
    for e in sympy.postorder_traversal(expression):
        if e not in known:
            known[e] = _write(e, known)
    return known[expression][0]


def _write(e: Any, known: dict[Any, tuple[str, int]]) -> tuple[str, int]:
    if e.is_Symbol:
        return e.name, _ATOM
    if e.is_Rational and max(int(e.p).bit_length(), int(e.q).bit_length()) > BITS:
        raise DescriptionError(
            f"The number {float(e):g} has more than {BITS} binary digits as a fraction; no formula holds it."
        )
    if e.is_Integer:
        return str(int(e)), _ATOM if e >= 0 else _SUM
    if e.is_Rational:
        return f"{int(e.p)}/{int(e.q)}", _PRODUCT if e.p >= 0 else _SUM
    if e.is_Float:
        return repr(float(e)), _ATOM if e >= 0 else _SUM
    if e.is_NumberSymbol and str(e) in ("pi", "E"):
        return ("pi" if str(e) == "pi" else "exp(1)"), _ATOM
    if e.is_Add:
        text = ""
        for a in e.as_ordered_terms():
            part = known[a][0] if a in known else _write(a, known)[0]
            text += (f" - {part[1:]}" if part.startswith("-") else f" + {part}") if text else part
        return text, _SUM
    if e.is_Mul:
        return _product(e, known)
    if e.is_Pow:
        return _power(e.base, e.exp, known)
    name = _NAMES.get(type(e).__name__)
    if name is None:
        raise DescriptionError(f"'{printable(e, 60)}' cannot be written as a formula: no function of that kind exists.")
    return f"{name}({', '.join(known[a][0] for a in e.args)})", _ATOM


def _product(e: Any, known: dict[Any, tuple[str, int]]) -> tuple[str, int]:
    """Number, factors, divisors, then sums: ``-3*a/4/c*(x + y)``.

    SymPy multiplies a number into a sum as soon as it meets one, so that the two must not be neighbours.
    """
    number, rest = e.as_coeff_Mul(rational=True)
    above, below, sums = [], [], []
    for a in rest.as_ordered_factors():
        if a.is_Pow and a.exp.is_Rational and a.exp < 0:
            below.append(_grouped(_power(a.base, -a.exp, known), _POWER))
        else:
            (sums if a.is_Add else above).append(_grouped(known[a] if a in known else _write(a, known), _PRODUCT))
    size, sign = str(abs(int(number.p))), "-" if number < 0 else ""
    if sums and not above and not below:
        scale = "" if number == 1 else f"*({sign}{size})" + (f"/{int(number.q)}" if number.q != 1 else "")
        return "*".join(sums) + scale, _PRODUCT
    if size != "1" or not above:
        above.insert(0, size)
    if number.q != 1:
        below.insert(0, str(int(number.q)))
    text = "*".join(above) + "".join(f"/{b}" for b in below) + "".join(f"*{s}" for s in sums)
    return sign + text, _SUM if sign else _PRODUCT


def _power(base: Any, exponent: Any, known: dict[Any, tuple[str, int]]) -> tuple[str, int]:
    written = known[base] if base in known else _write(base, known)
    if exponent == 1:
        return written
    if exponent.is_Rational and exponent.p == 1 and exponent.q == 2:
        return f"sqrt({written[0]})", _ATOM
    if exponent.is_Number and abs(exponent) > EXPONENT:
        raise DescriptionError(
            f"An exponent of {float(exponent):g} cannot be written; formulas have at most {EXPONENT}."
        )
    above = known[exponent] if exponent in known else _write(exponent, known)
    return f"{_grouped(written, _ATOM)}**{_grouped(above, _ATOM)}", _POWER


def _grouped(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else f"({part[0]})"

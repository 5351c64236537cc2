"""Symbolic fields: SymPy expressions inside a description, and their evaluation on any scalar.

SymPy is imported only when a symbol is really used. Text never goes to SymPy: ``algebra.expression`` parses it and
builds the expression from whitelisted nodes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from manipula.algebra import ops
from manipula.errors import DescriptionError, printable, unknown_name


def is_symbolic(x: Any) -> bool:
    """Does ``x`` still contain named parameters?"""
    basic = getattr(sys.modules.get("sympy"), "Basic", None)  # none while another thread still loads SymPy
    return basic is not None and isinstance(x, basic) and bool(x.free_symbols)


def free_names(values: Any) -> Iterator[str]:
    """Names of the free parameters in nested tuples of scalars."""
    if isinstance(values, (tuple, list)):
        for v in values:
            yield from free_names(v)
    elif is_symbolic(values):
        for symbol in values.free_symbols:
            yield str(symbol)


def substitute(x: Any, values: Mapping[str, Any]) -> Any:
    """``x`` with named parameters replaced; a plain float when nothing is left free."""
    if not is_symbolic(x):
        return x
    chosen = {s.name: values[s.name] for s in x.free_symbols if s.name in values}
    if len(chosen) < len(x.free_symbols) or any(is_symbolic(v) for v in chosen.values()):
        from manipula.algebra.bounded import replaced

        return replaced(x, chosen)
    try:
        result = float(evaluate(x, {name: float(v) for name, v in chosen.items()}))
        if math.isfinite(result):
            return result
    except DescriptionError:
        raise
    except (ArithmeticError, TypeError, ValueError):  # 1/0, log(0), sqrt(-1), beyond the largest float
        pass
    given = ", ".join(f"{name} = {printable(v, 20)}" for name, v in sorted(chosen.items()))
    raise DescriptionError(f"'{printable(x, 60)}' has no finite value with {printable(given, 100)}.") from None


def exact_numbers(x: Any) -> Any:
    """A SymPy expression with every ``Float`` as the decimal that a file would say: 0.25 becomes 1/4.

    Equal numbers then make equal expressions, however they were computed, and a formula reads back as it was written.
    """
    import sympy

    floats = x.atoms(sympy.Float)
    exact = {f: decimal_fraction(float(f)) for f in floats if math.isfinite(float(f))}
    if not exact:
        return x
    from manipula.algebra.bounded import exchanged

    return exchanged(x, exact)


def decimal_fraction(value: float) -> Any:
    """The shortest decimal that reads back as ``value``, as an exact SymPy number."""
    import sympy

    return sympy.Rational(repr(float(value)))


def largest_number(expression: Any) -> float:
    """The largest number that a SymPy expression holds, in size; infinite when it is beyond the range of floats."""
    import sympy

    found = [abs(float(number)) for number in expression.atoms(sympy.Number)]
    return max(found, default=0.0)


def evaluate(expression: Any, values: Mapping[str, Any], known: dict[Any, Any] | None = None) -> Any:
    """A SymPy expression (or plain number) over any scalar type, by walking its tree, each part once.

    Args:
        values: scalar for every free symbol, by name.
        known: results of parts, kept from one expression to the next of the same symbols.
    """
    if isinstance(expression, (int, float)):
        return expression
    import sympy

    known = {} if known is None else known

    def one(e: Any) -> Any:
        if e.is_Symbol:
            if e.name not in values:
                raise unknown_name("parameter", e.name, values)
            return values[e.name]
        if e.is_Number or e.is_NumberSymbol:
            return float(e)
        args = [known[a] for a in e.args]
        if e.is_Add:
            total = args[0]
            for a in args[1:]:
                total = total + a
            return total
        if e.is_Mul:
            product = args[0]
            for a in args[1:]:
                product = product * a
            return product
        if e.is_Pow:
            power = e.args[1]
            if power == sympy.Rational(1, 2):
                return ops.sqrt(args[0])
            if power == sympy.Rational(-1, 2):
                return 1.0 / ops.sqrt(args[0])
            return args[0] ** (int(power) if power.is_Integer else args[1])
        name = {"Abs": "abs", "Min": "minimum", "Max": "maximum"}.get(type(e).__name__, type(e).__name__)
        function = getattr(ops, name, None)
        if function is None or name.startswith("_"):
            raise DescriptionError(f"The function '{name}' cannot be evaluated.")
        if name in ("minimum", "maximum"):
            result = args[0]
            for a in args[1:]:
                result = function(result, a)
            return result
        return function(*args)

    for e in from_leaves(expression, known):
        known[e] = one(e)
    return known[expression]


def from_leaves(expression: Any, known: Mapping[Any, Any]) -> Iterator[Any]:
    """Parts that ``known`` lacks, each after its arguments and once, if the caller enters them; no recursion."""
    waiting = [expression]
    while waiting:
        e = waiting[-1]
        missing = [a for a in e.args if a not in known]
        waiting += missing
        if not missing:
            waiting.pop()
            if e not in known:
                yield e

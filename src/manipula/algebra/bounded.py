"""SymPy expressions built under bounds, step by step.

SymPy computes what it can the moment an expression is made: ``9**(9**9)`` is written out digit by digit, and ``exp(exp(exp(3)))``
is compared with other numbers to as many digits as that takes. Parameters that cancel (``b - b``, ``0*y``) make constants where
the text has none, so that the bounds are checked here, on what is left after every step, and before SymPy sees the next:

- a part without parameters has a value, computed in floating point beside the expression; it must be finite and real;
- an exponent is at most ``EXPONENT`` in size, also that of powers of powers;
- an exact number has at most ``BITS`` binary digits above and below the line;
- a constant of many operations (roots of roots) is its value, since SymPy computes such things again and again;
- functions of parameters stay as they are written: SymPy's search for simpler forms takes exponential time in nests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from manipula.algebra.symbols import decimal_fraction, evaluate, exact_numbers, from_leaves
from manipula.errors import BudgetError, DescriptionError, ManipulaError

if TYPE_CHECKING:
    from fractions import Fraction

EXPONENT = 64  # also of powers of powers
BITS = 1020  # above and below the line: what a double holds, and what can be written down and read again
HIGHEST_ROOT = 4
BROKEN = 3  # SymPy asks each of (x^1.5)^1.5 for its sign, which asks the next twice
PARTS = 2000  # of an expression after other expressions have been put into it
LONG = 3  # roots, functions and pi in a constant such as sqrt(3)*pi/6; a longer one becomes its decimal value
FAILURES = (ArithmeticError, ValueError, TypeError, RecursionError, AttributeError, NotImplementedError)


class BoundedExpression(NamedTuple):
    """A SymPy expression and, when no parameter is left in it, its value."""

    expression: Any
    value: float | None


def part(expression: Any) -> BoundedExpression:
    """An expression with its value, when it has one."""
    return BoundedExpression(expression, None if expression.free_symbols else finite(evaluate(expression, {})))


def apply(
    build: Callable[..., Any], compute: Callable[..., Any], parts: Sequence[BoundedExpression]
) -> BoundedExpression:
    """The next step: ``build`` makes the expression, ``compute`` its value when all parts are constant.

    Raises:
        DescriptionError: the value is not a finite real number, or SymPy cannot make the expression.
        BudgetError: exact numbers or exponents become too large.
    """
    try:
        value = None
        if all(p.value is not None for p in parts):
            value = finite(compute(*(p.value for p in parts)))
        expression = build(*(p.expression for p in parts))
        if not expression.is_commutative or getattr(expression, "is_Boolean", False):
            raise DescriptionError("This is no number.")
        _check_numbers(expression)
        if value is None and not expression.free_symbols:
            value = finite(evaluate(expression, {}))
        if value is None:
            expression = _tidy(expression)
        elif _is_long(expression) or not _has_value(expression):
            expression = decimal_fraction(value)
    except ManipulaError:
        raise
    except FAILURES as problem:
        raise DescriptionError(f"This cannot be computed ({reason(problem)}).") from None
    return BoundedExpression(expression, value)


def _tidy(e: Any) -> Any:
    """A sum or product whose constant part is short, or one number."""
    if not (e.is_Add or e.is_Mul):
        return e
    if any(a.func is e.func for a in e.args):  # SymPy leaves a product inside a product where exp and log cancel
        e = e.func(*e.args)
    constants = [a for a in e.args if not a.free_symbols]
    if not constants or all(c.is_Rational for c in constants):
        return e
    for c in constants:
        if not c.is_Rational:
            finite(evaluate(c, {}))  # (sinh(sinh(7))/x)^64 has a factor that no double holds
    whole = e.func(*constants)
    if not _is_long(whole):
        return e
    return e.func(decimal_fraction(finite(evaluate(whole, {}))), *(a for a in e.args if a.free_symbols))


def _has_value(constant: Any) -> bool:
    """Can it be computed as SymPy wrote it? atan2(9, exp(-1e10)) can, atan(9*exp(1e10)) cannot."""
    import sympy

    # the latter are refused at the end
    if constant.is_Rational or constant.has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
        return True
    try:
        finite(evaluate(constant, {}))
    except (ManipulaError, *FAILURES):
        return False
    return True


def _is_long(constant: Any) -> bool:
    """Counted so that signs and rational factors, which SymPy moves about, make no difference."""
    import sympy

    count = 0
    a: Any
    for a in sympy.preorder_traversal(constant):
        count += not (a.is_Rational or a.is_Mul or a.is_Add)
        if count > LONG or (a.is_Pow and a.exp.is_Rational and not _is_simple(a.exp)):
            return True
    return False


def power(base: BoundedExpression, exponent: BoundedExpression) -> BoundedExpression:
    """``base ** exponent``."""
    if exponent.value is not None:
        if abs(exponent.value) > EXPONENT:
            raise BudgetError(f"An exponent is at most {EXPONENT}, found {exponent.value:g}.")
        if exponent.value < 0 and base.value == 0:
            raise DescriptionError("This divides by zero.")
    if base.value is not None and exponent.value is not None and not _is_simple(exponent.expression):
        value = base.value**exponent.value if base.value > 0 else math.nan
        return BoundedExpression(decimal_fraction(finite(value)), value)
    if _is_broken(exponent.expression) and _broken_powers(base.expression) >= BROKEN:
        raise BudgetError(f"Powers with a fractional exponent are nested at most {BROKEN} deep.")
    return apply(_power, lambda a, b: a**b, (base, exponent))


def _power(base: Any, exponent: Any) -> Any:
    """The factor of a product is taken out as a decimal where SymPy would look for a root of high order."""
    if exponent.is_Rational and not _is_simple(exponent) and base.is_Mul:
        factor, rest = base.as_coeff_Mul(rational=True)
        if factor > 0 and factor != 1:
            return decimal_fraction(finite(float(factor) ** float(exponent))) * rest**exponent
    return _flat(base**exponent)


def _flat(x: Any) -> Any:
    """A product without products in it, as it reads back from a file; SymPy leaves roots of products nested.

    Raises:
        DescriptionError: a root of a negative number, which SymPy takes out of (-abs(x))^(1/3), is not real.
    """
    import sympy

    while x.is_Mul and any(a.is_Mul for a in x.args):
        x = sympy.Mul(*(b for a in x.args for b in sympy.Mul.make_args(a)))
    factors: Any = sympy.Mul.make_args(x)
    for a in factors:
        if a.is_Pow and a.base.is_Rational and a.base < 0 and not a.exp.is_Integer:
            raise DescriptionError("The root of a negative number is not real.")
    return x


def call(
    name: str, build: Callable[..., Any], compute: Callable[..., Any], arguments: Sequence[BoundedExpression]
) -> BoundedExpression:
    """A function; those that ask for the sign of a constant get the answer from its value, not from SymPy."""
    import sympy

    if all(p.value is not None for p in arguments):
        if name in ("min", "max"):
            return (min if name == "min" else max)(arguments, key=lambda p: p.value or 0.0)
        if name in ("floor", "sign"):
            return apply(lambda _: sympy.Integer(int(compute(arguments[0].value))), compute, arguments)
    return apply(lambda *a: _called(build, a), compute, arguments)


def _broken_powers(x: Any) -> int:
    """How deep powers such as ^1.5 are nested in an expression."""
    return _folded(x, lambda e, below: int(e.is_Pow and _is_broken(e.exp)) + max(below, default=0))


def _folded(x: Any, rule: Callable[[Any, list[int]], int]) -> int:
    """``rule(e, numbers of its arguments)`` from the leaves up; no recursion, shared parts once."""
    known: dict[Any, int] = {}
    for e in from_leaves(x, known):
        known[e] = rule(e, [known[a] for a in e.args])
    return known[x]


def _is_simple(exponent: Any) -> bool:
    """2^(1/3) is kept as it is; roots of high order take SymPy seconds."""
    return bool(exponent.is_Rational and exponent.q <= HIGHEST_ROOT)


def _is_broken(exponent: Any) -> bool:
    return bool(exponent.is_Number and not exponent.is_Integer and abs(exponent) > 1)


def _called(function: Any, arguments: Sequence[Any]) -> Any:
    """A function of parameters as it is written: SymPy simplifies none, since nests of them take it exponential time."""
    import sympy

    from manipula.algebra.hyperbolic import OWN

    function = OWN.get(function, function)
    if function is sympy.sqrt or not any(a.free_symbols for a in arguments):
        return function(*arguments)
    if function in (sympy.Min, sympy.Max) and len(set(arguments)) == 1:
        return arguments[0]
    return function(*arguments, evaluate=False)


def number(exact: Fraction, value: float) -> BoundedExpression:
    """A decimal of a formula."""
    import sympy

    found = sympy.Rational(exact.numerator, exact.denominator)
    _check_numbers(found)
    return BoundedExpression(found, value)


def replaced(x: Any, values: Mapping[str, Any]) -> Any:
    """``x`` with parameters replaced by numbers or expressions, made anew from its leaves; a float when none is free."""
    import sympy

    known: dict[Any, BoundedExpression] = {}
    for e in from_leaves(x, known):
        if e.is_Symbol and e.name in values:
            given = values[e.name]
            known[e] = part(given if isinstance(given, sympy.Basic) else sympy.Float(given, 17))
        elif not e.args:
            known[e] = part(e)
        elif e.is_Pow:
            known[e] = power(*(known[a] for a in e.args))
        else:
            build = e.func if e.is_Add or e.is_Mul else lambda *a, e=e: _called(e.func, a)
            known[e] = apply(build, lambda *v, e=e: _evaluated(e, v), [known[a] for a in e.args])
    found = known[x]
    size = tree_size(found.expression)
    if size > PARTS:
        raise BudgetError(f"With its parameters put in, the formula has {size:.3g} parts; at most {PARTS}.")
    return exact_numbers(found.expression) if found.value is None else found.value


def exchanged(x: Any, leaves: Mapping[Any, Any]) -> Any:
    """``x`` with some of its leaves exchanged; what does not contain them stays as it is."""
    known: dict[Any, Any] = dict(leaves)
    for e in from_leaves(x, known):
        new = [known[a] for a in e.args]
        if all(a is b for a, b in zip(new, e.args)):
            known[e] = e
        elif e.is_Pow:
            known[e] = _power(*new)
        else:
            known[e] = e.func(*new) if e.is_Add or e.is_Mul else _called(e.func, new)
    return known[x]


def tree_size(x: Any) -> int:
    """How many numbers, names and operations an expression is written with; shared parts count each time."""
    return _folded(x, lambda e, below: 1 + sum(below))


def _evaluated(e: Any, values: Sequence[float]) -> Any:
    """The outermost step of ``e`` on plain numbers."""
    return evaluate(e, {}, dict(zip(e.args, values)))


def finite(value: Any) -> float:
    """A value as a float."""
    if isinstance(value, complex) or not math.isfinite(number := float(value)):
        raise DescriptionError("This is not a finite real number.")
    return number


def _check_numbers(e: Any) -> None:
    """Numbers on top of a new expression and of its arguments; those below have been checked before."""
    for a in (e, *e.args):
        for b in (a, *a.args):
            if b.is_Rational and (b.p.bit_length() > BITS or b.q.bit_length() > BITS):
                raise BudgetError(f"The formula forces exact numbers of more than {BITS} binary digits.")
        if a.is_Pow and a.exp.is_Number and abs(a.exp) > EXPONENT:
            raise BudgetError(f"Powers of powers come to an exponent of {float(a.exp):g}; at most {EXPONENT}.")


def reason(problem: BaseException) -> str:
    """What went wrong in the evaluation of a formula, in words."""
    if isinstance(problem, ZeroDivisionError):
        return "division by zero"
    if isinstance(problem, OverflowError):
        return "too large"
    return "outside the domain of the function"

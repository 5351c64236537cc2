"""Formulas in files, such as ``"m1*a1^2/12"``: read by an own grammar, never by ``eval`` or ``sympify``.

A formula becomes a short list of steps that runs on any scalar: floats, SymPy symbols, Taylor numbers, traced numbers.
Meaning of the operators:

- ``^`` and ``**`` are both powers and bind tighter than a sign on their left: ``-2^2`` is −4, ``2^-1`` is 0.5.
- ``2**3**2`` is 2⁹ as in Python. ``2^3^2`` is refused: MATLAB reads 64, mathematics 512; parentheses decide.
- A constant exponent is at most 64 in magnitude.
- Names are case sensitive and free: ``lambda``, ``E``, ``I``, ``S``, ``beta`` are ordinary parameters. ``pi``, ``nan``,
  ``inf`` and the names of the functions are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra import bounded, ops
from manipula.algebra.grammar import (
    CONSTANTS,
    DEFAULT,
    LIMITS,
    SIGNED_DECIMAL,
    FormulaFunction,
    FormulaLimits,
    Program,
    decimal,
    steps_of,
    tokens_of,
    tree_of,
)
from manipula.algebra.ops import Scalar
from manipula.errors import BudgetError, DescriptionError, ManipulaError, printable, unknown_name
from manipula.lazy import cached_property

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["DEFAULT", "LIMITS", "Coordinates", "Expression", "FormulaFunction", "FormulaLimits", "Work", "decimal", "parse",
           "scalar"]  # fmt: skip

_ARITHMETIC_FAILURES = (ArithmeticError, ValueError, TypeError, RecursionError)


_LOOKS = {"sinh": 2, "cosh": 2, "tanh": 3}  # how often SymPy goes through the argument


class Work:
    """How much symbolic work the formulas of one file may ask for, in steps weighted by the size of what they act on."""

    FORMULA = 3_000
    FILE = 12_000  # about a second

    def __init__(self, limit: int = FILE) -> None:
        self.spent, self.limit = 0, limit

    def spend(self, expression: Expression) -> None:
        if expression.names:
            self.add(expression.effort, expression._place())

    def add(self, units: int, place: str | None = None) -> None:
        self.spent += units
        if self.spent > self.limit:
            what = "This formula comes" if self.limit == self.FORMULA else "The formulas of this file come"
            raise BudgetError(
                f"{what} to more than {self.limit} units of symbolic work; give parameters values, or write shorter formulas.",
                field=place)  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """A formula that has been checked.

    Attributes:
        text: as it was written.
        names: the parameters in it, in order of appearance.
        program: its steps in postfix order: a kind, its payload, the column.
    """

    text: str
    names: tuple[str, ...]
    program: Program = field(repr=False)
    functions: Mapping[str, FormulaFunction] = field(default_factory=lambda: DEFAULT, repr=False, compare=False)

    def __reduce__(self) -> Any:
        return parse, (self.text,) if self.functions is DEFAULT else (self.text, self.names, self.functions)

    def evaluate(self, values: Mapping[str, Scalar] | None = None) -> Scalar:
        """The value for the given parameters, which may be any kind of scalar.

        Raises:
            DescriptionError: a parameter is missing, or the result is not a finite real number.
        """
        values = values or {}
        for name in self.names:
            if name not in values:
                raise unknown_name("value for the parameter", name, values, field=self._place())
        stack: list[Scalar] = []
        for kind, payload, column in self.program:
            if kind == "number":
                stack.append(float(payload))
            elif kind == "constant":
                stack.append(CONSTANTS[payload])
            elif kind == "name":
                given = values[payload]
                stack.append(float(given) if isinstance(given, int) else given)  # whole numbers would grow without end
            else:
                self._apply(stack, kind, payload, column)
        return stack[0]

    def _apply(self, stack: list[Scalar], kind: str, payload: Any, column: int) -> None:
        try:
            if kind == "call":
                name, count = payload
                arguments = stack[-count:]
                del stack[-count:]
                result = self.functions[name].compute(*arguments)
            else:
                result = _operate(kind, payload, stack)
        except ManipulaError:
            raise
        except _ARITHMETIC_FAILURES as problem:
            raise self._error(column, f"cannot be computed ({bounded.reason(problem)}).") from None
        if isinstance(result, complex) or (isinstance(result, (float, np.floating)) and not math.isfinite(result)):
            raise self._error(column, "is not a finite real number here.")
        stack.append(result)

    def to_sympy(self) -> Any:
        """The formula as a SymPy expression of plain ``Symbol`` s, built from the steps.

        With parameters in it every decimal is exact (``0.1`` is 1/10); without, the result is one ``Float``.
        """
        import sympy

        if not self.names:
            return sympy.Float(self.evaluate(), 17)
        return self.exact().expression

    @cached_property
    def effort(self) -> int:
        """What building the formula in SymPy costs: functions and powers look at everything below them, hyperbolic ones more than once."""
        sizes: list[int] = []
        looks: list[int] = []
        total = 0
        for kind, payload, _ in self.program:
            if kind in ("number", "constant", "name"):
                sizes.append(1)
                looks.append(1)
                continue
            count = payload[1] if kind == "call" else 1 if kind in ("negate", "same") else 2
            size = 1 + sum(sizes[-count:])
            del sizes[-count:]
            sizes.append(size)
            often = _LOOKS.get(payload[0], 1) if kind == "call" else 1
            looks[-count:] = [often * max(looks[-count:])]
            total += 3 * looks[-1] if often > 1 else 0
            total += size if kind in ("call", "**") else 1 + size // 10
            total += 12 * count * count if kind == "call" and payload[0] in ("min", "max") else 0
        return total

    def exact(self) -> bounded.BoundedExpression:
        """The formula in SymPy, and its value when its parameters cancel; no step may leave the bounds of ``bounded``."""
        import sympy

        Work(Work.FORMULA).spend(self)
        stack: list[bounded.BoundedExpression] = []
        for kind, payload, column in self.program:
            if kind == "number":
                stack.append(self._bounded(column, bounded.number, _exact(payload), float(payload)))
                continue
            if kind in ("constant", "name"):
                constant = kind == "constant"
                made = getattr(sympy, payload) if constant else sympy.Symbol(payload)
                stack.append(bounded.BoundedExpression(made, CONSTANTS[payload] if constant else None))
                continue
            count = payload[1] if kind == "call" else 1 if kind in ("negate", "same") else 2
            parts = stack[-count:]
            del stack[-count:]
            if kind == "call":
                function = self.functions[payload[0]]
                made = getattr(sympy, function.sympy_name)
                stack.append(self._bounded(column, bounded.call, payload[0], made, function.compute, parts))
            elif kind == "**":
                stack.append(self._bounded(column, bounded.power, *parts))
            else:
                operate = lambda *p, kind=kind: _operate(kind, None, list(p))  # noqa: E731
                stack.append(self._bounded(column, bounded.apply, operate, operate, parts))
        result = stack[0].expression
        if result.has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
            raise DescriptionError("Divides by zero or leaves the real numbers.", field=self._place())
        return stack[0]

    def _bounded(
        self, column: int, step: Callable[..., bounded.BoundedExpression], *arguments: Any
    ) -> bounded.BoundedExpression:
        try:
            return step(*arguments)
        except DescriptionError as error:
            raise type(error)(f"Column {column}: {error.problem}", field=self._place()) from None

    def _place(self) -> str:
        return f"formula '{printable(self.text, 60)}'"

    def _error(self, column: int, problem: str) -> DescriptionError:
        return DescriptionError(f"The step at column {column} {problem}", field=self._place())


@dataclass(frozen=True)
class Coordinates:
    """Formulas in one variable as a function that gives the value of each."""

    formulas: tuple[Expression, ...]
    variable: str
    constants: Mapping[str, float] = field(default_factory=dict[str, float])

    def __call__(self, value: Scalar) -> list[Scalar]:
        return [f.evaluate({self.variable: value, **self.constants}) for f in self.formulas]


def parse(
    text: str,
    names: Collection[str] | None = None,
    functions: Mapping[str, FormulaFunction] = DEFAULT,
    *,
    limits: FormulaLimits = LIMITS,
) -> Expression:
    """Check a formula and make it computable.

    Args:
        text: the formula.
        names: parameters that exist; ``None`` accepts every well-formed name.
        functions: functions that may be called.

    Raises:
        DescriptionError: says the column, what was found and what is allowed.
    """
    if not isinstance(text, str):
        raise DescriptionError(f"A formula is a text, found {printable(text, 40)}.")
    if functions is DEFAULT and limits is LIMITS:
        found = _parsed_once(text)
        if names is None or set(found.names) <= set(names):
            return found
    return _parsed(text, names, functions, limits)


@lru_cache(256)
def _parsed_once(text: str) -> Expression:
    return _parsed(text, None, DEFAULT, LIMITS)


def _parsed(
    text: str, names: Collection[str] | None, functions: Mapping[str, FormulaFunction], limits: FormulaLimits
) -> Expression:
    try:
        tokens = tokens_of(text, functions, limits)
        tree = tree_of(tokens)
        program = _check(text, tuple(steps_of(tree, tokens, names, functions)), functions, limits)
    except DescriptionError as error:
        raise error.at(field=f"formula '{printable(text, 60)}'") from None
    used = dict.fromkeys(payload for kind, payload, _ in program if kind == "name")
    return Expression(text, tuple(used), program, functions)


def scalar(value: Any, names: Collection[str] | None = None, work: Work | None = None) -> Any:
    """A field of a description: a float for a number or a formula without parameters, else a SymPy expression.

    Args:
        work: what the formulas of the same file have cost so far.
    """
    if isinstance(value, str):
        if SIGNED_DECIMAL.fullmatch(value.strip(" \t")):
            return decimal(value)
        expression = parse(value, names)
        if not expression.names:
            return float(expression.evaluate())
        if work is not None:
            work.spend(expression)
        found = expression.exact()
        return found.expression if found.value is None else found.value
    if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise DescriptionError(f"A finite number is needed, found {printable(value, 40)}.")
        return number
    symbols = getattr(value, "free_symbols", None)
    if symbols is not None and getattr(value, "is_commutative", False):
        return value if symbols else scalar(float(value))
    raise DescriptionError(f"A number or a formula is needed, found {printable(repr(value), 40)}.")


def _check(text: str, program: Program, functions: Mapping[str, FormulaFunction], limits: FormulaLimits) -> Program:
    """The program with constant exponents filled in; constant parts must be computable, exact numbers small."""
    stack: list[
        tuple[float | None, int, bool]
    ] = []  # value of constant parts, bound on the bits of exact numbers; a sum?
    out: list[tuple[str, Any, int]] = []
    for kind, payload, column in program:
        if kind in ("number", "constant", "name"):
            value = float(payload) if kind == "number" else CONSTANTS[payload] if kind == "constant" else None
            stack.append((value, _bits(payload) if kind == "number" else 2, False))
            out.append((kind, payload, column))
            continue
        count = payload[1] if kind == "call" else 1 if kind in ("negate", "same") else 2
        parts = stack[-count:]
        del stack[-count:]
        bits = sum(b for _, b, _ in parts) + 1
        total = kind in ("+", "-") or (kind in ("negate", "same") and parts[0][2])
        if kind == "**":
            payload = parts[1][0]
            if payload is not None and abs(payload) > limits.exponent:
                raise BudgetError(f"Column {column}: an exponent is at most {limits.exponent}, found {payload:g}.")
            # powers of sums are not multiplied out
            if payload is not None and (parts[0][0] is not None or not parts[0][2]):
                bits = math.ceil(parts[0][1] * max(abs(payload), 1.0))
        if bits > limits.bits:
            raise BudgetError(f"Column {column}: the formula forces numbers of more than {limits.bits} binary digits.")
        value = None
        if all(v is not None for v, _, _ in parts):
            numbers: list[Any] = [v for v, _, _ in parts]
            Expression(text, (), (), functions)._apply(numbers, kind, payload, column)
            value = float(numbers[0])
        stack.append((value, bits, total))
        out.append((kind, payload, column))
    return tuple(out)


def _operate(kind: str, exponent: float | None, stack: list[Scalar]) -> Scalar:
    b = stack.pop()
    if kind == "negate":
        return -b
    if kind == "same":
        return b
    a = stack.pop()
    match kind:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
    if exponent is None:
        return a**b
    if exponent == 0.5:
        return ops.sqrt(a)
    return a ** int(exponent) if float(exponent).is_integer() else a**exponent


@lru_cache(4096)
def _bits(text: str) -> int:
    exact = _exact(text)
    return exact.numerator.bit_length() + exact.denominator.bit_length()


def _exact(text: str) -> Fraction:
    """The decimal as a fraction; zero first, so that ``0e999999`` builds no giant."""
    from fractions import Fraction  # and with it decimal: only formulas need it

    return Fraction(text) if float(text) != 0.0 else Fraction(0)

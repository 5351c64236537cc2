"""Formulas in files, such as ``"m1*a1^2/12"``: read by an own grammar, never by ``eval`` or ``sympify``.

The text is cut into tokens first (decimal numbers, ASCII names, ``+ - * / ^ ** ( ) ,``). Every number and name is
replaced by a numbered placeholder, so that Python's ``ast`` sees nothing but our own words and operators; of its tree
only sums, products, quotients, powers, signs and calls of named functions are accepted. The result is a short list of
steps that runs on any scalar: floats, SymPy symbols, Taylor numbers, traced numbers.

Meaning of the operators:

- ``^`` and ``**`` are both powers and bind tighter than a sign on their left: ``-2^2`` is −4, ``2^-1`` is 0.5.
- ``2**3**2`` is 2⁹ as in Python. ``2^3^2`` is refused: MATLAB reads 64, mathematics 512; parentheses decide.
- A constant exponent is at most 64 in magnitude.
- Names are case sensitive and free: ``lambda``, ``E``, ``I``, ``S``, ``beta`` are ordinary parameters. ``pi``, ``nan``,
  ``inf`` and the names of the functions are taken.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.errors import BudgetError, DescriptionError, ManipulaError, printable, unknown_name


class Limits(NamedTuple):
    """How large a formula may be; checked before Python's parser sees it."""

    characters: int = 2048
    nodes: int = 400
    depth: int = 50  # parentheses
    exponent: int = 64
    bits: int = 1 << 16  # of an exact number that the formula could force SymPy to write out


LIMITS = Limits()
Program = tuple[tuple[str, Any, int], ...]


class Function(NamedTuple):
    """A named function of a formula: how to compute it, how many arguments it takes, its name in SymPy."""

    compute: Callable[..., Scalar]
    arguments: range
    sympy_name: str


def _fold(pair: Callable[[Scalar, Scalar], Scalar]) -> Callable[..., Scalar]:
    def function(*values: Scalar) -> Scalar:
        result = values[0]
        for v in values[1:]:
            result = pair(result, v)
        return result

    return function


_ONE, _TWO, _SEVERAL = range(1, 2), range(2, 3), range(1, 17)
DEFAULT: Mapping[str, Function] = {
    **{name: Function(getattr(ops, name), _ONE, name) for name in
       ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "floor")},
    "abs": Function(ops.abs, _ONE, "Abs"),
    "atan2": Function(ops.atan2, _TWO, "atan2"),
    "min": Function(_fold(ops.minimum), _SEVERAL, "Min"),
    "max": Function(_fold(ops.maximum), _SEVERAL, "Max"),
}  # fmt: skip
CONSTANTS: Mapping[str, float] = {"pi": math.pi}
LONGEST_NAME = 64

_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SIGNED_DECIMAL = re.compile(rf"[+-]?{_DECIMAL}")
_TOKEN = re.compile(rf"[ \t]*(?:(?P<number>{_DECIMAL})|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(),]))")
_STUCK = re.compile(r"[A-Za-z0-9_.]")
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_ALLOWED = "Allowed are decimal numbers, names, + - * / ^ ( ) and the functions " + ", ".join(DEFAULT) + "."
_ARITHMETIC_FAILURES = (ArithmeticError, ValueError, TypeError, RecursionError)


def decimal(text: str) -> float:
    """A finite decimal number such as ``-1.5e-3``; no nan, inf, underscores, hexadecimal or foreign digits."""
    stripped = text.strip(" \t\r\n")
    if len(stripped) > 400 or not _SIGNED_DECIMAL.fullmatch(stripped):
        raise DescriptionError(f"'{printable(stripped, 40)}' is not a decimal number such as -1.5e-3.")
    value = float(stripped)
    if math.isinf(value):
        raise DescriptionError(f"'{printable(stripped, 40)}' is larger than any number the computer holds (1.8e308).")
    return value


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
    functions: Mapping[str, Function] = field(default_factory=lambda: DEFAULT, repr=False, compare=False)

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
                stack.append(values[payload])
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
            raise self._error(column, f"cannot be computed ({_reason(problem)}).") from None
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
        stack: list[Any] = []
        try:
            for kind, payload, _ in self.program:
                if kind == "number":
                    exact = _exact(payload)
                    stack.append(sympy.Rational(exact.numerator, exact.denominator))
                elif kind == "constant":
                    stack.append(getattr(sympy, payload))
                elif kind == "name":
                    stack.append(sympy.Symbol(payload))
                elif kind == "call":
                    name, count = payload
                    arguments = stack[-count:]
                    del stack[-count:]
                    stack.append(getattr(sympy, self.functions[name].sympy_name)(*arguments))
                else:
                    stack.append(_operate(kind, None, stack))
        except _ARITHMETIC_FAILURES as problem:
            raise DescriptionError(f"Cannot be written in symbols ({_reason(problem)}).", field=self._place()) from None
        if stack[0].has(sympy.nan, sympy.zoo, sympy.oo, sympy.I):
            raise DescriptionError("Divides by zero or leaves the real numbers.", field=self._place())
        return stack[0]

    def _place(self) -> str:
        return f"formula '{printable(self.text, 60)}'"

    def _error(self, column: int, problem: str) -> DescriptionError:
        return DescriptionError(f"The step at column {column} {problem}", field=self._place())


def parse(
    text: str,
    names: Collection[str] | None = None,
    functions: Mapping[str, Function] = DEFAULT,
    *,
    limits: Limits = LIMITS,
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
    try:
        tokens = _tokens(text, functions, limits)
        tree = _tree(tokens)
        program = _check(text, tuple(_steps(tree, tokens, names, functions)), functions, limits)
    except DescriptionError as error:
        raise error.at(field=f"formula '{printable(text, 60)}'") from None
    used = dict.fromkeys(payload for kind, payload, _ in program if kind == "name")
    return Expression(text, tuple(used), program, functions)


def scalar(value: Any, names: Collection[str] | None = None) -> Any:
    """A field of a description: a float for a number or a formula without parameters, else a SymPy expression."""
    if isinstance(value, str):
        if _SIGNED_DECIMAL.fullmatch(value.strip(" \t")):
            return decimal(value)
        expression = parse(value, names)
        if not expression.names:
            return float(expression.evaluate())
        symbolic = expression.to_sympy()
        return symbolic if symbolic.free_symbols else float(symbolic)
    if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise DescriptionError(f"A finite number is needed, found {printable(value, 40)}.")
        return number
    if hasattr(value, "free_symbols") and getattr(value, "is_commutative", False):
        return value if value.free_symbols else scalar(float(value))
    raise DescriptionError(f"A number or a formula is needed, found {printable(repr(value), 40)}.")


class _Token(NamedTuple):
    kind: str  # number, name, function, constant or the operator itself
    text: str
    column: int  # 1-based


def _tokens(text: str, functions: Mapping[str, Function], limits: Limits) -> list[_Token]:
    if len(text) > limits.characters:
        raise BudgetError(f"A formula has at most {limits.characters} characters, found {len(text)}.")
    out: list[_Token] = []
    place, end, depth, nodes = 0, len(text.rstrip(" \t\r\n")), 0, 0
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            spot = place + len(text[place:]) - len(text[place:].lstrip(" \t"))
            raise DescriptionError(f"Column {spot + 1}: '{printable(text[spot])}' is not allowed. {_ALLOWED}")
        kind, word = str(match.lastgroup), match.group(str(match.lastgroup))
        column, place = match.start(kind) + 1, match.end()
        if kind == "number" and place < end and _STUCK.match(text[place]):
            raise DescriptionError(
                f"Column {column}: '{printable(text[column - 1 : column + 20])}' is neither a decimal number nor a name; "
                "a product needs a *.")  # fmt: skip
        if kind == "number":
            decimal(word)
        elif kind == "name":
            kind = _kind_of_name(word, column, text, place, functions)
        else:
            kind = word
        depth += (kind == "(") - (kind == ")")
        nodes += kind not in "(),"
        if depth > limits.depth or nodes > limits.nodes:
            raise BudgetError(
                f"Column {column}: a formula has at most {limits.nodes} numbers, names and operators and "
                f"{limits.depth} open parentheses.")  # fmt: skip
        if depth < 0:
            raise DescriptionError(f"Column {column}: this parenthesis was never opened.")
        out.append(_Token(kind, word, column))
    if not out:
        raise DescriptionError("The formula is empty.")
    if depth:
        raise DescriptionError(f"{depth} opened but not closed: a parenthesis is missing at the end.")
    return out


def _kind_of_name(word: str, column: int, text: str, place: int, functions: Mapping[str, Function]) -> str:
    called = text[place:].lstrip(" \t").startswith("(")
    if len(word) > LONGEST_NAME:
        raise DescriptionError(f"Column {column}: a name has at most {LONGEST_NAME} characters.")
    if word in functions:
        if not called:
            raise DescriptionError(f"Column {column}: '{word}' is a function and needs its argument in parentheses.")
        return "function"
    if called:
        error = unknown_name("function", word, functions)
        raise type(error)(f"Column {column}: {error.problem} A product needs a *.")
    if word.lower() in ("nan", "inf", "infinity"):
        raise DescriptionError(f"Column {column}: '{word}' is not a number that a formula may hold.")
    return "constant" if word in CONSTANTS else "name"


def _tree(tokens: list[_Token]) -> ast.expr:
    """Python's tree of the tokens, in which token k is the word ``_k``: nothing written by others is parsed."""
    words = [f"_{k}" if t.kind in ("number", "name", "function", "constant") else t.kind for k, t in enumerate(tokens)]
    source = " ".join("**" if w == "^" else w for w in words)
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError as problem:
        before = source[: max((problem.offset or 1) - 1, 0)].count(" ")
        found = tokens[min(before, len(tokens) - 1)]
        raise DescriptionError(
            f"Column {found.column}: unexpected '{printable(found.text, 30)}'; an operator or a value is missing near it."
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise BudgetError("The formula is nested too deeply.") from None


def _steps(
    tree: ast.expr, tokens: list[_Token], names: Collection[str] | None, functions: Mapping[str, Function]
) -> Iterator[tuple[str, Any, int]]:
    """Postfix steps of the whitelisted tree, without recursion."""
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            yield node
        elif isinstance(node, ast.Name):
            token = tokens[int(node.id[1:])]
            if token.kind == "name" and names is not None and token.text not in names:
                error = unknown_name("parameter", token.text, names)
                raise type(error)(f"Column {token.column}: {error.problem}")
            yield token.kind, token.text, token.column
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            kind = _OPERATORS[type(node.op)]
            column = _column(node.left, tokens)
            if kind == "**":
                _refuse_ambiguous_chain(node, tokens)
            todo += [(kind, None, column), node.right, node.left]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            todo += [("negate" if isinstance(node.op, ast.USub) else "same", None, _column(node.operand, tokens))]
            todo += [node.operand]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            token = tokens[int(node.func.id[1:])]
            expected = functions[token.text].arguments if token.kind == "function" else range(0)
            if len(node.args) not in expected:
                wanted = str(expected[0]) if len(expected) == 1 else f"{expected[0]} to {expected[-1]}"
                raise DescriptionError(
                    f"Column {token.column}: '{token.text}' takes {wanted} argument(s), found {len(node.args)}."
                )
            todo += [("call", (token.text, len(node.args)), token.column), *reversed(node.args)]
        else:
            raise DescriptionError(f"Only arithmetic is allowed in a formula. {_ALLOWED}")


def _column(node: ast.expr, tokens: list[_Token]) -> int:
    """Column of the first word of a subtree."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.BinOp():
                node = node.left
            case ast.UnaryOp():
                node = node.operand
            case ast.Call():
                node = node.func
            case _:
                return 1
    return tokens[int(node.id[1:])].column


def _refuse_ambiguous_chain(node: ast.BinOp, tokens: list[_Token]) -> None:
    right = node.right
    while isinstance(right, ast.UnaryOp):
        right = right.operand
    if not (isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow)):
        return
    first = next(k for k, t in enumerate(tokens) if t.column == _column(right, tokens))
    before = first - 1
    while tokens[before].kind in ("+", "-"):
        before -= 1
    if tokens[before].kind == "^":
        raise DescriptionError(
            f"Column {tokens[before].column}: a^b^c is ambiguous (MATLAB reads (a^b)^c, mathematics a^(b^c)); "
            "write the parentheses.")  # fmt: skip


def _check(text: str, program: Program, functions: Mapping[str, Function], limits: Limits) -> Program:
    """The program with constant exponents filled in; constant parts must be computable, exact numbers small."""
    stack: list[tuple[float | None, int]] = []  # value of constant parts, bound on the bits of exact numbers
    out: list[tuple[str, Any, int]] = []
    for kind, payload, column in program:
        if kind in ("number", "constant", "name"):
            exact = _exact(payload) if kind == "number" else Fraction(1)
            value = {"number": lambda p: float(p), "constant": CONSTANTS.get, "name": lambda p: None}[kind](payload)
            stack.append((value, exact.numerator.bit_length() + exact.denominator.bit_length()))
            out.append((kind, payload, column))
            continue
        count = payload[1] if kind == "call" else 1 if kind in ("negate", "same") else 2
        parts = stack[-count:]
        del stack[-count:]
        bits = sum(b for _, b in parts) + 1
        if kind == "**":
            payload = parts[1][0]
            if payload is not None and abs(payload) > limits.exponent:
                raise BudgetError(f"Column {column}: an exponent is at most {limits.exponent}, found {payload:g}.")
            bits = math.ceil(parts[0][1] * max(abs(payload), 1.0)) if payload is not None else bits
        if bits > limits.bits:
            raise BudgetError(f"Column {column}: the formula forces numbers of more than {limits.bits} binary digits.")
        value = None
        if all(v is not None for v, _ in parts):
            numbers: list[Any] = [v for v, _ in parts]
            Expression(text, (), (), functions)._apply(numbers, kind, payload, column)
            value = float(numbers[0])
        stack.append((value, bits))
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


def _exact(text: str) -> Fraction:
    """The decimal as a fraction; zero first, so that ``0e999999`` builds no giant."""
    return Fraction(text) if float(text) != 0.0 else Fraction(0)


def _reason(problem: BaseException) -> str:
    if isinstance(problem, ZeroDivisionError):
        return "division by zero"
    if isinstance(problem, OverflowError):
        return "too large"
    return "outside the domain of the function" if isinstance(problem, ValueError) else printable(problem, 60)

"""The grammar of formulas: from text to postfix steps, with Python's ``ast`` as the parser of precedence.

The text is cut into tokens first (decimal numbers, ASCII names, ``+ - * / ^ ** ( ) ,``). Every number and name is
replaced by a numbered placeholder, so that ``ast`` sees nothing but our own words and operators; of its tree only sums,
products, quotients, powers, signs and calls of named functions are accepted. See ``expression`` for the meaning.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.errors import BudgetError, DescriptionError, printable, unknown_name


class FormulaLimits(NamedTuple):
    """How large a formula may be; checked before Python's parser sees it."""

    characters: int = 2048
    nodes: int = 400
    depth: int = 50  # parentheses
    exponent: int = 64
    bits: int = 1 << 16  # of an exact number that the formula could force SymPy to write out


LIMITS = FormulaLimits()
Program = tuple[tuple[str, Any, int], ...]


class FormulaFunction(NamedTuple):
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
DEFAULT: Mapping[str, FormulaFunction] = {
    **{name: FormulaFunction(getattr(ops, name), _ONE, name) for name in
       ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "floor")},
    "abs": FormulaFunction(ops.abs, _ONE, "Abs"),
    "atan2": FormulaFunction(ops.atan2, _TWO, "atan2"),
    "min": FormulaFunction(_fold(ops.minimum), _SEVERAL, "Min"),
    "max": FormulaFunction(_fold(ops.maximum), _SEVERAL, "Max"),
}  # fmt: skip
CONSTANTS: Mapping[str, float] = {"pi": math.pi}
LONGEST_NAME = 64

_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
SIGNED_DECIMAL = re.compile(rf"[+-]?{_DECIMAL}")
_TOKEN = re.compile(rf"[ \t]*(?:(?P<number>{_DECIMAL})|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(),]))")
_CALL = re.compile(r"[ \t]*\(")
_STUCK = re.compile(r"[A-Za-z0-9_.]")
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_ALLOWED = "Allowed are decimal numbers, names, + - * / ^ ( ) and the functions " + ", ".join(DEFAULT) + "."


def decimal(text: str) -> float:
    """A finite decimal number such as ``-1.5e-3``; no nan, inf, underscores, hexadecimal or foreign digits."""
    stripped = text.strip(" \t\r\n")
    if len(stripped) > 400 or not SIGNED_DECIMAL.fullmatch(stripped):
        raise DescriptionError(f"'{printable(stripped, 40)}' is not a decimal number such as -1.5e-3.")
    value = float(stripped)
    if math.isinf(value):
        raise DescriptionError(f"'{printable(stripped, 40)}' is larger than any number the computer holds (1.8e308).")
    return value


class Token(NamedTuple):
    """One token of a formula and the column where it begins."""

    kind: str  # number, name, function, constant or the operator itself
    text: str
    column: int  # 1-based


def tokens_of(text: str, functions: Mapping[str, FormulaFunction], limits: FormulaLimits) -> list[Token]:
    """The tokens of a formula."""
    if len(text) > limits.characters:
        raise BudgetError(f"A formula has at most {limits.characters} characters, found {len(text)}.")
    out: list[Token] = []
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
                f"Column {column}: '{printable(text[column - 1 : column + 20])}' is neither a number nor a name; "
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
        out.append(Token(kind, word, column))
    if not out:
        raise DescriptionError("The formula is empty.")
    if depth:
        raise DescriptionError(f"{depth} opened but not closed: a parenthesis is missing at the end.")
    return out


def _kind_of_name(word: str, column: int, text: str, place: int, functions: Mapping[str, FormulaFunction]) -> str:
    called = _CALL.match(text, place) is not None
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


def tree_of(tokens: list[Token]) -> ast.expr:
    """Python's tree of the tokens, in which token k is the word ``_k``: nothing written by others is parsed."""
    words = [f"_{k}" if t.kind in ("number", "name", "function", "constant") else t.kind for k, t in enumerate(tokens)]
    source = " ".join("**" if w == "^" else w for w in words)
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError as problem:
        last = tokens[-1]
        if last.kind in "+-*/^":
            raise DescriptionError(
                f"Column {last.column + len(last.text)}: the formula ends after '{last.text}'; a value is missing."
            ) from None
        before = source[: max((problem.offset or 1) - 1, 0)].count(" ")
        found = tokens[min(before, len(tokens) - 1)]
        raise DescriptionError(
            f"Column {found.column}: unexpected '{printable(found.text, 30)}'; an operator or a value is missing."
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise BudgetError("The formula is nested too deeply.") from None


def steps_of(
    tree: ast.expr, tokens: list[Token], names: Collection[str] | None, functions: Mapping[str, FormulaFunction]
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
            if token.kind != "function":
                raise DescriptionError(f"Column {token.column}: '{token.text}' is no function; a product needs a *.")
            expected = functions[token.text].arguments
            if len(node.args) not in expected:
                wanted = str(expected[0]) if len(expected) == 1 else f"{expected[0]} to {expected[-1]}"
                raise DescriptionError(
                    f"Column {token.column}: '{token.text}' takes {wanted} argument(s), found {len(node.args)}."
                )
            todo += [("call", (token.text, len(node.args)), token.column), *reversed(node.args)]
        else:
            raise DescriptionError(f"Only arithmetic is allowed in a formula. {_ALLOWED}")


def _first_word(node: ast.expr) -> int | None:
    """Number of the first word of a subtree; None where it begins with what is no arithmetic, and is refused for that."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.BinOp():
                node = node.left
            case ast.UnaryOp():
                node = node.operand
            case ast.Call():
                node = node.func
            case _:
                return None
    return int(node.id[1:])


def _column(node: ast.expr, tokens: list[Token]) -> int:
    """Column of the first word of a subtree."""
    first = _first_word(node)
    return 1 if first is None else tokens[first].column


def _refuse_ambiguous_chain(node: ast.BinOp, tokens: list[Token]) -> None:
    right = node.right
    while isinstance(right, ast.UnaryOp):
        right = right.operand
    if not (isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow)):
        return
    first = _first_word(right)
    if first is None:
        return
    before = first - 1
    while tokens[before].kind in ("+", "-"):
        before -= 1
    if tokens[before].kind == "^":
        raise DescriptionError(
            f"Column {tokens[before].column}: a^b^c is ambiguous (MATLAB reads (a^b)^c, mathematics a^(b^c)); "
            "write the parentheses.")  # fmt: skip

"""A value against its declaration. Only plain values are looked at: traced and symbolic numbers pass."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.arguments import Extensible, is_masked
from manipula.algebra.expression import parse
from manipula.algebra.fields import freeze
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, LengthError, UnknownNameError, nearest, printable, unknown_name
from manipula.parts.declared import FieldDeclaration, declared

MANY = 1000  # entries that are looked at one by one


class DeclaredPart(Extensible):
    """A frozen dataclass of plain values, which are what their declarations say. Also the base of what somebody writes."""

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)


def check_part(part: Any) -> None:
    """Refuse a part whose fields are not what its class declares.

    Raises:
        DescriptionError: with the part, the field, what was found and what is allowed.
    """
    whose = label(part)
    for d in declared(type(part)):
        check_value(getattr(part, d.name), d, whose)


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any], whose: str) -> None:
    """The same for the arguments of a function that makes a part."""
    for d in declared(function):
        if d.name in given:
            check_value(given[d.name], d, whose)


def check_fit(part: Any, n: int, field: str, count: Callable[[str], int | None] | None = None) -> None:
    """A part for a robot with n joints: its fields once more, and the length of those that hold one number per joint.

    Args:
        count: how many there are of what else a field counts ("coordinate", "parameter"); None where nobody knows.
    """
    try:
        check_part(part)
    except DescriptionError as error:
        error.field = f"{field}.{error.field}"
        raise error.at() from None
    for d in declared(type(part)):
        value = getattr(part, d.name)
        if d.field.kind == "one per joint" and isinstance(value, (tuple, list, np.ndarray)):
            needed = n if d.field.each == "joint" else count(d.field.each) if count else None
            if needed is not None and len(value) != needed:
                raise LengthError(
                    f"'{d.name}' of {label(part)}: one number, or one per {d.field.each} is needed ({needed}), found {len(value)}.",
                    field=f"{field}.{d.name}",
                )
        elif d.field.kind == "parts" and d.declared:
            for i, inner in enumerate(value):
                check_fit(inner, n, f"{field}.{d.name}[{i}]", count)


def label(part: Any) -> str:
    """``friction law 'viscous'``, or the name of the class."""
    what, name = getattr(part, "part", None), getattr(part, "name", getattr(part, "kind", None))
    kind = part.__name__ if isinstance(part, type) else type(part).__name__
    return f"{what} '{printable(name)}'" if isinstance(what, str) and isinstance(name, str) else kind


def check_value(value: Any, d: FieldDeclaration, whose: str) -> None:
    """One value of one field."""
    if not d.declared or (value is None and d.optional):
        return
    f = d.field
    if isinstance(value, str) and f.kind not in ("choice", "text", "frame", "file", "formula") and f.choices:
        if value not in f.choices:
            raise unknown_name(f"word for '{d.name}' of {whose}", value, f.choices, field=d.name)
        return
    _CHECKS[f.kind](value, d, whose)


def check_numbers(values: np.ndarray, d: FieldDeclaration, whose: str, runs: bool = False) -> None:
    """Many values of one field at once; ``runs``: one per run of a batch, which a message counts."""
    f = d.field
    if not d.declared or f.kind not in ("number", "one per joint", "vector", "numbers", "rows", "formula", "formulas"):
        return
    wrong = np.isnan(values) if f.infinite else ~np.isfinite(values)
    for bound, beyond in ((f.least, np.less), (f.above, np.less_equal), (f.most, np.greater), (f.below, np.greater_equal)):  # fmt: skip
        if bound is not None:
            wrong |= beyond(values, bound)
    if f.nonzero:
        wrong |= values == 0.0
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise _out_of_range(float(values.flat[at]), d, whose, run=at if runs and values.size > 1 else None)


def _refused(d: FieldDeclaration, whose: str, needed: str, value: Any, at: str = "") -> DescriptionError:
    shown = printable(repr(value), 60)
    return DescriptionError(f"'{d.name}{at}' of {whose} must be {needed}, found {shown}.", field=d.name)


def _out_of_range(
    value: float, d: FieldDeclaration, whose: str, at: str = "", run: int | None = None
) -> DescriptionError:
    allowed = d.field.range or "a finite number"
    if d.field.range and not math.isfinite(value):
        allowed = f"a finite number, {allowed}"
    if d.field.kind.startswith("whole"):
        allowed = f"a whole number, {allowed}"
    unit = f" [{d.field.unit}]" if d.field.unit not in ("", "1") else ""
    where = "" if run is None else f" in run {run}"
    return DescriptionError(f"'{d.name}{at}' of {whose} must be {allowed}{unit}, found {value:g}{where}.", field=d.name)


def _as_float(value: Any) -> float | None:
    """A plain real number; ``None`` for what is traced or symbolic. TypeError for what is no number."""
    if is_masked(value):
        raise TypeError
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_, str, bytes, complex)) or value is None:
        raise TypeError
    if isinstance(value, (float, int, np.floating, np.integer, numbers.Real)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf  # pyright: ignore[reportOperatorIssue]
    if isinstance(value, np.generic):  # a date, say
        raise TypeError
    if is_symbolic(value):
        return None
    if getattr(value, "is_number", False):  # a constant of SymPy
        return float(value)
    if isinstance(value, (np.ndarray, Sequence, Mapping)) or not hasattr(type(value), "__truediv__"):
        raise TypeError
    return None


def _number(value: Any, d: FieldDeclaration, whose: str, at: str = "") -> None:
    try:
        found = _as_float(value)
    except (TypeError, ValueError):
        raise _refused(d, whose, "one number" if d.field.kind == "number" else "a number", value, at) from None
    if found is not None:
        _within(found, d, whose, at)


def _within(found: float, d: FieldDeclaration, whose: str, at: str = "") -> None:
    f = d.field
    if (
        math.isnan(found)
        or (math.isinf(found) and not f.infinite)
        or (f.nonzero and found == 0.0)
        or (f.least is not None and found < f.least)
        or (f.above is not None and found <= f.above)
        or (f.most is not None and found > f.most)
        or (f.below is not None and found >= f.below)
    ):
        raise _out_of_range(found, d, whose, at)


def _is_list(value: Any) -> bool:
    return isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _numbers(value: Any, d: FieldDeclaration, whose: str, at: str = "") -> None:
    if not _is_list(value):
        raise _refused(d, whose, "numbers in a list", value, at)
    if len(value) > MANY and (array := np.asarray(value)).dtype.kind in "fiu":
        check_numbers(array, d, whose)
        return
    for i, v in enumerate(value):
        _number(v, d, whose, f"{at}[{i}]")


def _per_joint(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not _is_list(value):
        _number(value, d, whose)
    elif not len(value):
        raise LengthError(
            f"'{d.name}' of {whose} must be one number, or one per {d.field.each}, found an empty list.", field=d.name
        )
    else:
        _numbers(value, d, whose)


def _vector(value: Any, d: FieldDeclaration, whose: str) -> None:
    _count(value, d, whose, "numbers")
    _numbers(value, d, whose)


def _count(value: Any, d: FieldDeclaration, whose: str, of: str) -> None:
    wanted = f"a list of {' or '.join(str(k) for k in d.field.lengths)} {of}"
    if not _is_list(value):
        raise _refused(d, whose, wanted, value)
    if d.field.lengths and len(value) not in d.field.lengths:
        raise LengthError(f"'{d.name}' of {whose} must be {wanted}, found {len(value)}.", field=d.name)


def _rows(value: Any, d: FieldDeclaration, whose: str, at: str = "") -> None:
    if isinstance(value, np.ndarray) and value.ndim > 1 and value.dtype.kind in "fiu":
        check_numbers(value, d, whose)
        return
    if not _is_list(value) or not all(_is_list(row) for row in value):
        error = _refused(d, whose, "rows of numbers", value, at)
        raise LengthError(error.problem, field=error.field) if _is_list(value) else error
    if len(value) > MANY and len({len(row) for row in value}) == 1 and (array := np.asarray(value)).dtype.kind in "fiu":
        check_numbers(array, d, whose)
        return
    for i, row in enumerate(value):
        (_rows if len(row) and _is_list(row[0]) else _numbers)(row, d, whose, f"{at}[{i}]")


def _formula(value: Any, d: FieldDeclaration, whose: str) -> None:
    if callable(value):
        return
    if not isinstance(value, str):
        _number(value, d, whose)
        return
    if not d.field.names:  # its author knows them
        return
    try:
        parse(value, names=d.field.names)
    except DescriptionError as error:
        raise type(error)(f"'{d.name}' of {whose}: {error.problem}", field=d.name) from None


def _formulas(value: Any, d: FieldDeclaration, whose: str) -> None:
    if callable(value):
        return
    _count(value, d, whose, "numbers or formulas")
    for v in value:
        _formula(v, d, whose)


def _choice(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not isinstance(value, str) or value not in d.field.choices:
        close = nearest(str(value), d.field.choices)
        hint = f" Did you mean '{close}'?" if close else ""
        allowed = ", ".join(d.field.choices)
        raise UnknownNameError(
            f"'{d.name}' of {whose} is {printable(repr(value), 60)}; allowed: {allowed}.{hint}", field=d.name
        )


def _whole(value: Any, d: FieldDeclaration, whose: str) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer, float)) or value != value // 1:
        raise _refused(d, whose, "a whole number", value)
    _within(_as_float(value) or 0.0, d, whose)


def _wholes(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not _is_list(value):
        raise _refused(d, whose, "a list of whole numbers", value)
    for v in value:
        _whole(v, d, whose)


def _file(value: Any, d: FieldDeclaration, whose: str) -> None:
    """The path of a file, as a text or a path of Python's."""
    if not isinstance(value, os.PathLike):
        _text(value, d, whose)


def _text(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not isinstance(value, str):
        raise _refused(d, whose, "a text", value)


def _texts(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not _is_list(value) or not all(isinstance(v, (str, int)) and not isinstance(v, bool) for v in value):
        raise _refused(d, whose, "a list of names or numbers from 0", value)


def _flag(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise _refused(d, whose, "true or false", value)


def _function(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not callable(value):
        raise _refused(d, whose, "a function", value)


def _part(value: Any, d: FieldDeclaration, whose: str) -> None:
    if _as_part(value) is None:
        raise _refused(d, whose, f"a {d.field.of}", value)


def _parts(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not _is_list(value) or any(_as_part(v) is None for v in value):
        raise _refused(d, whose, f"a list of {d.field.of}s", value)


def _as_part(value: Any) -> Any:
    plain = (type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, np.generic, np.ndarray)
    return None if isinstance(value, plain) else value


def _constants(value: Any, d: FieldDeclaration, whose: str) -> None:
    if not isinstance(value, Mapping):
        raise _refused(d, whose, "a table of named numbers", value)
    for v in value.values():
        _number(v, d, whose)


def _anything(value: Any, d: FieldDeclaration, whose: str) -> None:
    pass


_CHECKS: dict[str, Callable[[Any, FieldDeclaration, str], None]] = {
    "number": _number, "one per joint": _per_joint, "vector": _vector, "numbers": _numbers, "rows": _rows, "formula": _formula,
    "formulas": _formulas, "frame": _text, "choice": _choice, "whole number": _whole, "whole numbers": _wholes, "text": _text,
    "texts": _texts, "flag": _flag, "file": _file, "part": _part, "parts": _parts, "constants": _constants,
    "function": _function, "any": _anything,
}  # fmt: skip

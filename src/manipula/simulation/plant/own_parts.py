"""Friction laws and drives that somebody wrote: do they give what the equations take? Asked once on plain numbers, before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.identity import is_own

SPEEDS = (0.5, -0.3, 1.2)


def check_own_parts(friction: Sequence[Any], drives: Sequence[Any]) -> None:
    """Every law and drive that is not of this package: one number as torque, as many rates and initial values as it has states.

    Raises:
        DescriptionError: with the joint's place, the part, and what it gives instead.
    """
    for name, parts in (("friction", friction), ("drives", drives)):
        for i, part in enumerate(parts):
            if part is None or isinstance(part, (str, float)) or is_own(part):
                continue
            place = f"{name}[{i}]"
            if name == "drives" and not hasattr(part, "state_rate"):
                _asked(part, "", lambda part=part: part(0.1), place)  # a torque as a function of t
                continue
            _check(part, name == "drives", place)


def _check(part: Any, drive: bool, place: str) -> None:
    state = (0.1,) * _count(part, place)
    given = lambda v: (v, 0.1, 0.2, v, state, 0.01) if drive else (v, state, 2.0)  # noqa: E731
    if drive:
        _asked(part, "initial_state", lambda: part.initial_state(0.2, 0.5), place, len(state))
    found = [_asked(part, "torque", lambda v=v: part.torque(*given(v)), place) for v in SPEEDS]
    failed = [error for error in found if isinstance(error, Exception)]
    if len(failed) == len(found):
        raise _fails(f"{_who(part)}, torque", failed[0], place)
    if not any(np.isfinite(v) for v in found if isinstance(v, float)):
        odd = next(v for v in found if isinstance(v, float))
        fields = f"; look at its fields: {_fields(part)}" * bool(_fields(part))
        raise DescriptionError(
            f"{_who(part)}: its torque is no finite number ({odd}) at any speed{fields}.", field=place
        )
    for v in SPEEDS if state else ():
        _asked(part, "state_rate", lambda v=v: part.state_rate(*given(v)), place, len(state))


def _fails(what: str, error: Exception, place: str) -> DescriptionError:
    return DescriptionError(f"{what} fails: {type(error).__name__}: {error}.", field=place)


def _who(part: Any) -> str:
    return f"'{printable(getattr(part, 'name', type(part).__name__), 40)}'"


def _fields(part: Any) -> str:
    return printable(
        ", ".join(f"{k} = {v!r}" for k, v in vars(part).items()) if hasattr(part, "__dict__") else part, 100
    )


def _count(part: Any, place: str) -> int:
    count = getattr(part, "states", 0)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise DescriptionError(f"{_who(part)}: 'states' is a whole number, found {count!r}.", field=place)
    return count


def _asked(part: Any, method: str, call: Callable[[], Any], place: str, count: int | None = None) -> Any:
    """One number (``count`` of them) from a method of the part."""
    what = f"{_who(part)}{f', {method}' * bool(method)}"
    try:
        with np.errstate(all="ignore"):
            found = call()
    except ManipulaError:
        raise
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        return error  # at numbers that it may never see; the run will tell
    except Exception as error:  # user code
        raise _fails(what, error, place) from error
    wanted = "one number" if count is None else f"{count} number{'s' * (count != 1)}, one per state,"
    odd = any(v is None or isinstance(v, (bool, np.bool_)) for v in np.ravel(np.array(found, object)))
    try:
        numbers = np.zeros((0, 0)) if odd else np.asarray(found, float)
    except (TypeError, ValueError):
        raise DescriptionError(f"{what} gives {printable(repr(found), 60)}; {wanted} is needed.", field=place) from None
    if numbers.shape != (() if count is None else (count,)):
        raise DescriptionError(f"{what} gives {printable(repr(found), 60)}; {wanted} is needed.", field=place)
    return float(numbers) if count is None else numbers

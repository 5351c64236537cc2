"""A law written by the user, as text or as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manipula.algebra.arguments import finite_array, rows_of
from manipula.errors import DescriptionError, printable
from manipula.motion.timing.base import FunctionProfile, Profile, TimeLaw, checked_duration


@dataclass(frozen=True)
class Formula(TimeLaw):
    """s(t) = the formula, over 0 ≤ t ≤ T; it must run from 0 to the length L and stay between.

    In a text, ``t`` is the time, ``T`` the duration and ``L`` the length; a Python function takes t (or t, L, T when it
    has three parameters) and is written over :mod:`manipula.algebra.ops`.
    """

    formula: str | Callable[..., Any]
    duration: float
    breaks: tuple[float, ...] = ()
    kind: ClassVar[str] = "formula"

    def __post_init__(self) -> None:
        checked_duration(self.duration, "duration")
        inner = finite_array(self.breaks, "breaks")
        if inner.ndim != 1 or np.any(np.diff([0.0, *inner, self.duration]) <= 0):
            raise DescriptionError("'breaks' must increase strictly between 0 and the duration.", field="breaks")
        if not callable(self.formula):
            if not isinstance(self.formula, str):
                raise DescriptionError(
                    f"The formula of s(t) is a text or a function; found {printable(repr(self.formula), 60)}.",
                    field="formula",
                )
            self._parsed()

    def _parsed(self) -> Any:
        from manipula.algebra.expression import parse

        assert isinstance(self.formula, str)
        return parse(self.formula, ["t", "T", "L"])

    def _function(self, length: float) -> Callable[[Any], Any]:
        T = self.duration
        if callable(self.formula):
            user = self.formula
            count = getattr(getattr(user, "__code__", None), "co_argcount", 1)
            return (lambda t: user(t, length, T)) if count == 3 else user
        expression = self._parsed()
        return lambda t: expression.evaluate({"t": t, "T": T, "L": length})

    def profile(self, length: float) -> Profile:
        profile = FunctionProfile(self._function(length), self.duration, self.breaks)
        s = profile.evaluate(np.linspace(0.0, self.duration, 513), 0)[0]
        slack = 1e-9 * length
        if not np.all(np.isfinite(s)):
            raise DescriptionError("The formula s(t) is not finite everywhere between 0 and the duration.")
        if abs(s[0]) > slack or abs(s[-1] - length) > slack:
            raise DescriptionError(
                f"The formula runs from {s[0]:.9g} to {s[-1]:.9g}; it must run from 0 to the path's length {length:.9g}."
            )
        if s.min() < -slack or s.max() > length + slack:
            raise DescriptionError(f"The formula leaves the path: s reaches {s.min():.6g} and {s.max():.6g}.")
        return profile


def formula(text_or_function: str | Callable[..., Any], duration: float, breaks: Sequence[float] = ()) -> Formula:
    """``formula("L*(t/T)^2*(3 - 2*t/T)", 2.0)``; ``breaks`` are times where it is not smooth."""
    return Formula(text_or_function, duration, rows_of(breaks, "breaks"))

"""A law written by the user, as text or as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.errors import DescriptionError
from manipula.motion.timing.base import LONGEST, SHORTEST, FunctionProfile, Profile, TimeLaw
from manipula.parts.field import Formula as Expression
from manipula.parts.field import Number, Numbers


@dataclass(frozen=True)
class Formula(TimeLaw):
    """s(t) = the formula, over 0 ≤ t ≤ T; it must run from 0 to the length L and stay between.

    In a text, ``t`` is the time, ``T`` the duration and ``L`` the length; a Python function takes t (or t, L, T when it
    has three parameters) and is written over :mod:`manipula.algebra.ops`.
    """

    formula: Annotated[
        str | Callable[..., Any],
        Expression(
            "m",
            "s(t): a formula in t, the duration T and the length L, or a function",
            names=("t", "T", "L"),
            example="L*t/T",
        ),
    ]
    duration: Annotated[float, Number("s", "duration T of the motion", least=SHORTEST, most=LONGEST)]
    breaks: Annotated[tuple[float, ...], Numbers("s", "times where it is not smooth", above=0.0)] = ()
    kind: ClassVar[str] = "formula"

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.any(np.diff([0.0, *self.breaks, self.duration]) <= 0):
            raise DescriptionError("'breaks' must increase strictly between 0 and the duration.", field="breaks")

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
        with np.errstate(all="ignore"):  # it is reported in words
            s = profile.evaluate(np.union1d(np.linspace(0.0, self.duration, 513), profile.looks().places), 0)[0]
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


def formula(formula: str | Callable[..., Any], duration: float, breaks: Sequence[float] = ()) -> Formula:
    """``formula("L*(t/T)^2*(3 - 2*t/T)", 2.0)``; ``breaks`` are times where it is not smooth."""
    return Formula(formula, duration, breaks)  # pyright: ignore[reportArgumentType]

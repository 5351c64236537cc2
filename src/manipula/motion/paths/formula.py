"""A path given by a formula of one parameter, written in Python or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from manipula.algebra.arguments import finite_array, function_of, real_array
from manipula.errors import DescriptionError, ShapeError, printable
from manipula.motion.looks import LookPlaces, looks_at
from manipula.motion.paths.base import Curve, Path
from manipula.motion.paths.primitive import primitive
from manipula.parts.field import Formulas, Numbers


class FunctionCurve(Curve):
    """p(u) = f(u) for any function written over :mod:`manipula.algebra.ops`."""

    def __init__(self, function: Callable[[Any], Sequence[Any]], breaks: np.ndarray, dimension: int) -> None:
        self.function, self.breaks, self.dimension, self.padding = function, breaks, max(dimension, 3), 3 - dimension

    def looks(self) -> LookPlaces:
        return looks_at(
            [lambda u, k=k: self.function(u)[k] for k in range(3 - self.padding)],
            float(self.breaks[0]),
            float(self.breaks[-1]),
        )

    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        return [*self.function(u), *[0.0] * self.padding]


@primitive
def formula(
    function: Annotated[
        Any, Formulas("m", "two or three coordinates: formulas in u, or a function of u", lengths=(2, 3), names=("u",))
    ],
    u: Annotated[Any, Numbers("1", "start and end of u, with places between where the formula is not smooth")],
) -> Path:
    """The curve p(u) for u over an interval.

    Args:
        function: two or three coordinates: a Python function of u over ``manipula.algebra.ops``, or a list of texts
            such as ``["0.3*cos(u)", "0.2*sin(3*u)", "0.1"]``.
        u: start and end of the parameter, with the places between where the formula is not smooth.
    """
    breaks = finite_array(u, "u")
    if breaks.ndim != 1 or len(breaks) < 2 or np.any(np.diff(breaks) <= 0):
        raise DescriptionError(f"'u' must hold two or more increasing numbers; found {breaks}.", field="u")
    call: Callable[[Any], Sequence[Any]] = (
        function_of(function, "function", "u") if callable(function) else _parsed(function)
    )
    first = call(float(breaks[0]))
    dimension = len(first) if isinstance(first, (list, tuple, np.ndarray)) else 0
    if dimension not in (2, 3):
        raise ShapeError(f"A path has 2 or 3 coordinates; the formula gives {printable(repr(first), 60)}.")
    real_array(first, "coordinates of the formula")
    return Path([FunctionCurve(call, breaks, dimension)])


def _parsed(texts: Any) -> Callable[[Any], Sequence[Any]]:
    from manipula.algebra.expression import Coordinates, parse

    if not isinstance(texts, (list, tuple)) or not all(
        isinstance(text, (str, int, float)) and not isinstance(text, bool) for text in texts
    ):
        raise DescriptionError("A path formula is a list of two or three texts, one a coordinate.", field="function")
    return Coordinates(tuple(parse(str(text), ["u"]) for text in texts), "u")

"""A motion whose coordinates are formulas in time, written as text or as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from manipula.algebra.arguments import choice, finite_array, function_of, number, real_array, rows_of, whole_number
from manipula.algebra.jet import Jet
from manipula.algebra.value import read_only
from manipula.errors import DescriptionError, ShapeError, printable
from manipula.lazy import cached_property
from manipula.motion.looks import LookPlaces, looks_at
from manipula.motion.paths.base import HIGHEST_ORDER, Side
from manipula.motion.paths.fields import Space
from manipula.motion.timing.base import LONGEST, SHORTEST
from manipula.motion.trajectory import OrientedTrajectory
from manipula.parts.checks import check_arguments
from manipula.parts.field import Constants, Formulas, Number, Numbers

PLACES = (0.137, 0.391, 0.618, 0.873)  # of the duration, at which a user's function is asked on plain numbers
SAME = 1e-9
INSTANT = 1e-14  # of the duration: a time this near a break is taken to be on it


class FormulaMotion(OrientedTrajectory):
    """``p(t)`` given by formulas; derivatives are exact (Taylor numbers).

    Attributes:
        coordinates: texts in ``t`` and the constants, or a function of t. angles: roll, pitch, yaw of the tool, or ``None``.
        description: what a scenario file holds, or ``None`` for Python functions.
    """

    def __init__(
        self,
        coordinates: Callable[[Any], Sequence[Any]],
        duration: float,
        breaks: np.ndarray,
        space: Literal["task", "joint"],
        angles: Callable[[Any], Sequence[Any]] | None,
        description: Mapping[str, Any] | None,
    ) -> None:
        self._coordinates, self._angles, self.duration, self.space = coordinates, angles, duration, space
        self._breaks, self.description = read_only(breaks), description
        given = len(coordinates(0.0))
        self._padding = max(0, 3 - given) if space == "task" else 0
        self.dimension = given + self._padding

    def __repr__(self) -> str:
        return f"FormulaMotion({self.description or 'function'}, duration={self.duration:.6g})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, FormulaMotion) and self.description is not None and self.description == other.description
        )

    def __hash__(self) -> int:
        return hash(repr(self.description)) if self.description is not None else id(self)

    @property
    def breaks(self) -> np.ndarray:
        return self._breaks

    @property
    def has_orientation(self) -> bool:
        return self._angles is not None

    def looks(self) -> LookPlaces:
        return self._kept_looks if self.description is not None else self._looks()

    @cached_property
    def _kept_looks(self) -> LookPlaces:
        return self._looks()

    def _looks(self) -> LookPlaces:
        return looks_at(
            [*self._each("coordinates", self._coordinates), *self._each("orientation", self._angles)],
            0.0,
            self.duration,
        )

    def _each(self, field: str, together: Callable[[Any], Sequence[Any]] | None) -> list[Callable[[Any], Any]]:
        """The formulas one by one."""
        if together is None:
            return []
        if self.description is not None:
            constants = self.description.get("constants", {})
            each = [_function([text], constants, field)[0] for text in self.description[field]]
            return [lambda t, f=f: f(t)[0] for f in each]
        return [lambda t, f=together, k=k: f(t)[k] for k in range(len(together(0.0)))]

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        times, slope = self._inside(t, side)
        order = whole_number(order, "order", 0, HIGHEST_ORDER)
        columns = [*self._coordinates(self._series(times, order, side)), *[0.0] * self._padding]
        out = np.stack([_taken(c, times, order) for c in columns], axis=-1)
        out[1:, ~slope] = 0.0
        return out.reshape(order + 1, *np.shape(t), self.dimension)

    def _inside(self, t: Any, side: Side) -> tuple[np.ndarray, np.ndarray]:
        """Times within the motion, and which of them move (outside the motion rests)."""
        flat = real_array(t, "t").ravel()
        if not np.all(np.isfinite(flat)):
            raise DescriptionError(f"A time is not finite; the motion lasts from 0 to {self.duration:g} s.", field="t")
        choice(side, "side", ("right", "left"))
        slack = 1e-12 * self.duration
        moving = (flat >= -slack) & (flat <= self.duration + slack)
        if side == "left":
            moving &= flat > 0.0
        return np.clip(flat, 0.0, self.duration), moving

    def _series(self, times: np.ndarray, order: int, side: Side) -> Jet:
        """t as a Taylor number; on a break it is moved into the piece that ``side`` names, so that the formula's branch is that one."""
        near = np.abs(times[:, None] - self._breaks[None, :]) <= INSTANT * self.duration
        on = near.any(axis=1)
        value = times.copy()
        if on.any():
            which = self._breaks[np.argmax(near[on], axis=1)]
            into = np.where((which > 0.0) & (which < self.duration), 1.0 if side == "right" else -1.0, 0.0)
            value[on] = which + into * 4.0 * np.spacing(max(1.0, self.duration))
        return Jet.variable(value, order)

    # orientation -------------------------------------------------------------------------------------------------

    def rotation_rates(self, t: Any, order: int, side: Side = "right") -> np.ndarray:
        """``[R, Ṙ, …]`` at times t: shape (order + 1, *t.shape, 3, 3)."""
        from manipula.algebra.rotation import from_rpy

        if self._angles is None:
            raise DescriptionError("This motion says nothing about the orientation of the tool.", field="orientation")
        times, moving = self._inside(t, side)
        R = np.asarray(from_rpy(*self._angles(self._series(times, order, side))), dtype=object)
        out = np.stack([_taken(c, times, order) for c in R.ravel()], axis=-1).reshape(order + 1, len(times), 3, 3)
        out[1:, ~moving] = 0.0
        return out.reshape(order + 1, *np.shape(t), 3, 3)


def formula_motion(
    coordinates: Annotated[
        Any,
        Formulas("m or rad", "formulas in t, or a function of t: two or three of the tip, or one per joint", names=()),
    ],
    duration: Annotated[float, Number("s", "duration", least=SHORTEST, most=LONGEST)],
    *,
    breaks: Annotated[Sequence[float], Numbers("s", "times where the formulas are not smooth", above=0.0)] = (),
    space: Space = "task",
    orientation: Annotated[
        Any, Formulas("rad", "roll, pitch, yaw of the tool, or a function; none leaves it open", lengths=(3,), names=())
    ] = None,
    constants: Annotated[Mapping[str, float] | None, Constants("values of other names in the formulas")] = None,
) -> FormulaMotion:
    """The motion ``p(t)`` over ``0 ≤ t ≤ duration``.

    Args:
        coordinates: texts such as ``["0.3 + 0.1*cos(2*t)", "0.1*sin(2*t)", "0.2"]`` (two or three in task space, one per joint in
            joint space), or a Python function of t written over ``manipula.algebra.ops``.
        breaks: times where the formulas are not smooth.
        orientation: roll, pitch, yaw of the tool as three texts or a function; ``None`` leaves it open.
        constants: values of other names in the texts.
    """
    check_arguments(formula_motion, locals(), "a motion by formulas")
    T = float(duration)
    inner = finite_array(rows_of(breaks, "breaks"), "breaks")
    if inner.ndim != 1 or np.any(np.diff([0.0, *inner, T]) <= 0):
        shown = np.array2string(np.asarray(inner), precision=6, threshold=6)
        raise DescriptionError(
            f"'breaks' must increase strictly between 0 and the duration, {T:g} s; found {shown}.", field="breaks"
        )
    named = {str(k): number(v, f"constants.{printable(k, 40)}") for k, v in (constants or {}).items()}
    f, texts = _function(coordinates, named, "coordinates")
    angles, turned = (None, None) if orientation is None else _function(orientation, named, "orientation")
    count = _count(f, "coordinates")
    if space == "task" and count not in (2, 3):
        raise ShapeError(f"A motion of the tip has 2 or 3 coordinates; the formulas give {count}.")
    if count == 0:
        raise ShapeError("'coordinates' of a motion are empty; at least one is needed.")
    if angles is not None and _count(angles, "orientation") != 3:
        raise ShapeError(f"'orientation' is roll, pitch and yaw [rad]; found {_count(angles, 'orientation')} entries.")
    description = None
    if texts is not None and (orientation is None or turned is not None):
        description = {"kind": "formula", "coordinates": texts, "duration": T, "space": space}
        description |= {"breaks": inner.tolist()} if len(inner) else {}
        description |= {"orientation": turned} if turned is not None else {}
        description |= {"constants": named} if named else {}
    motion = FormulaMotion(f, T, np.array([0.0, *inner, T]), space, angles, description)
    with np.errstate(all="ignore"):  # it is reported in words
        whole = np.isfinite(motion.derivatives(np.linspace(0.0, T, 129), 2)).all()
    if not whole:
        raise DescriptionError(
            f"The formulas, or their first two derivatives, are not finite everywhere from 0 to {T:g} s.",
            field="coordinates",
        )
    if texts is None:
        _check_plain(f, motion)
    return motion


def _check_plain(f: Callable[..., Any], motion: FormulaMotion) -> None:
    """A user's function that catches exceptions, or looks at types, may be another one when it is differentiated.

    Raises:
        DescriptionError: when plain numbers give other coordinates.
    """
    for t in motion.duration * np.array(PLACES):
        seen = motion.derivatives(t, 0)[0]
        try:
            plain = np.array([float(v) for v in f(float(t))])
        except Exception:  # written for other scalars only, or told elsewhere
            return
        if np.abs(plain - seen[: len(plain)]).max() > SAME * max(1.0, float(np.abs(plain).max())):
            raise DescriptionError(
                f"Differentiated it passes other positions than by itself, at t = {t:.6g} s {seen[: len(plain)].tolist()} in the place of "
                f"{plain.tolist()} (does it catch exceptions, or look at types?); write it with manipula.algebra.ops.",
                field="coordinates",
            )


def _function(given: Any, constants: Mapping[str, float], field: str) -> tuple[Callable[..., Any], list[str] | None]:
    from manipula.algebra.expression import Coordinates, parse

    if callable(given):
        return function_of(given, field, "t"), None
    if not isinstance(given, (list, tuple)) or not all(
        isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in given
    ):
        raise DescriptionError("A list of formulas in quotes is needed, one per coordinate.", field=field)
    texts = [v if isinstance(v, str) else repr(number(v, field)) for v in given]
    parsed = []
    for k, text in enumerate(texts):
        try:
            parsed.append(parse(text, ["t", *constants]))
        except DescriptionError as error:
            error.field = f"{field}[{k}]"
            raise error.at() from None
    return Coordinates(tuple(parsed), "t", constants), texts


def _count(f: Callable[[Any], Any], field: str) -> int:
    """How many coordinates a function gives at t = 0."""
    first = f(0.0)
    if not isinstance(first, (list, tuple, np.ndarray)):
        raise ShapeError(f"'{field}' must give a list of numbers; found {printable(repr(first), 60)}.")
    return len(real_array(first, field))


def _taken(value: Any, times: np.ndarray, order: int) -> np.ndarray:
    """Derivatives 0 … order of one coordinate, (order + 1, N)."""
    if isinstance(value, Jet):
        return np.array([np.broadcast_to(value.derivative(k), times.shape) for k in range(order + 1)], float)
    out = np.zeros((order + 1, len(times)))
    out[0] = value
    return out


__all__ = ["FormulaMotion", "formula_motion"]

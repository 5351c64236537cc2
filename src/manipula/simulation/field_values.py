"""Values of the fields of a scenario: what each one may be, and an error that names the field where it is something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.arguments import is_masked
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.parts.declared import declared
from manipula.robot.link import TIP

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.scenario import Scenario

REFERENCE = ("space", "dimension", "duration", "derivatives")
ROOM = {"parameters": 1, "vary": 2}  # axes that a value may have
LARGEST = 1e15  # rad, m or per s: a state beyond this has no digits left behind the point

LEAST_TOLERANCE = 1e-13  # of the relative error: a thousand roundings


def found(value: Any) -> str:
    """What was found, in few words."""
    try:
        text = repr(value)
    except Exception:  # the user's __repr__
        text = ""
    return printable(text, 60) if text and " object at " not in text else f"a {type(value).__name__}"


def real(field: str, value: Any) -> float:
    """A finite number; True and texts are none."""
    plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        number = float(value) if plain else float("nan")
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number):
        raise DescriptionError(f"A finite number is needed, found {found(value)}.", field=field)
    return number


def positive(field: str, value: Any) -> float:
    """A finite number greater than 0."""
    number = real(field, value)
    if number <= 0.0:
        raise DescriptionError(f"A finite number greater than 0 is needed, found {number:g}.", field=field)
    return number


def tolerance(value: Any) -> float:
    """A relative error that is above the rounding of a run."""
    number = positive("tolerance", value)
    if number < LEAST_TOLERANCE:
        raise DescriptionError(
            f"A relative error of {number:g} is below the rounding of a run; the least allowed is {LEAST_TOLERANCE:g}.",
            field="tolerance",
        )
    return number


def not_negative(field: str, value: Any) -> float:
    """A finite number of at least 0."""
    number = real(field, value)
    if number < 0.0:
        raise DescriptionError(f"A number of at least 0 is needed, found {number:g}.", field=field)
    return number


def whole(field: str, value: Any) -> int:
    """A whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise DescriptionError(f"A whole number of at least 0 is needed, found {found(value)}.", field=field)
    return int(value)


def yes_or_no(field: str, value: Any) -> bool:
    """A flag."""
    if not isinstance(value, (bool, np.bool_)):
        raise DescriptionError(f"True or False is needed, found {found(value)}.", field=field)
    return bool(value)


def text(field: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise DescriptionError(f"A text is needed, found {found(value)}.", field=field)
    return value


def one_of(field: str, value: Any, known: Iterable[str], what: str | None = None) -> str:
    """One of the known names."""
    if not isinstance(value, str) or value not in known:
        raise unknown_name(what or field, value if isinstance(value, str) else found(value), known, field=field)
    return value


def mapping(field: str, value: Any) -> Mapping[str, Any] | None:
    """Entries by name, or None."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or any(not isinstance(name, str) for name in value):
        raise DescriptionError(f"Values by name are needed, {{'name': value}}; found {found(value)}.", field=field)
    return value


def several(field: str, value: Any, kinds: tuple[type, ...], what: str) -> tuple[Any, ...]:
    """Parts of given kinds as a tuple; one of them may stand alone."""
    parts = (value,) if isinstance(value, kinds) else value
    if not isinstance(parts, (list, tuple)):
        raise DescriptionError(f"A list of {what} is needed, found {found(value)}.", field=field)
    for i, part in enumerate(parts):
        if not isinstance(part, kinds):
            raise DescriptionError(f"{what} is needed, found {type(part).__name__}.", field=f"{field}[{i}]")
    return tuple(parts)


def reference(field: str, value: Any) -> None:
    """A motion over time, or None."""
    missing = [name for name in REFERENCE if not hasattr(value, name)]
    if value is not None and (missing or isinstance(value, type)):
        raise DescriptionError(
            f"A trajectory is needed (mp.trajectory, mp.joint_move, …), found {found(value)}.", field=field
        )


def state(field: str, value: Any, robot: Robot, batch: bool = True) -> Any:
    """One number per joint, (n,), or a row for every run of a batch, (N, n), as tuples; or None."""
    if value is None:
        return None
    expected = f"({robot.n},) or (N, {robot.n})" if batch else f"({robot.n},)"
    try:
        if is_masked(value):
            raise DescriptionError("masked")
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "fiu":
            numbers = np.array([real(field, v) for v in np.asarray(value, object).ravel()]).reshape(np.shape(value))
        numbers = numbers.astype(float)
    except DescriptionError:
        raise DescriptionError(
            f"Numbers of shape {expected} are needed, one per joint of '{robot.name}'; found {found(value)}.",
            field=field,
        ) from None
    except (TypeError, ValueError):
        raise ShapeError(f"{field} of '{robot.name}' has rows of different lengths, expected {expected}.") from None
    if numbers.ndim not in ((1, 2) if batch else (1,)) or np.shape(numbers)[-1:] != (robot.n,) or not numbers.size:
        raise ShapeError(f"{field} of '{robot.name}' has shape {numbers.shape}, expected {expected}.")
    if not (np.abs(numbers) <= LARGEST).all():
        where = np.argwhere(~(np.abs(numbers) <= LARGEST))[0].tolist()
        raise DescriptionError(
            f"Every entry must be finite (at most {LARGEST:g}); entry {where if len(where) > 1 else where[0]} is {numbers[tuple(where)]:g}.",
            field=field,
        )
    return tuple(numbers.tolist()) if numbers.ndim == 1 else tuple(map(tuple, numbers.tolist()))


def check_batch(s: Scenario) -> None:
    """Are the values of ``parameters`` and ``vary`` numbers, and do all fields of the batch count the same runs?"""
    sizes = {name: len(v) for name in ("q0", "qd0") if np.ndim(v := getattr(s, name)) == 2}
    for group, axes in ROOM.items():
        for path, value in (getattr(s, group) or {}).items():
            field = f"{group}.{path}"
            numbers = _numbers(value, field)
            if numbers.ndim > axes:
                raise ShapeError(f"{field} has shape {numbers.shape}; it may have {axes} axis or axes, the runs first.")
            endless = np.isinf(numbers) & path.endswith(".stop")
            if not (np.isfinite(numbers) | endless).all():
                raise DescriptionError("Every value must be finite.", field=field)
            if numbers.ndim:
                sizes[field] = len(numbers)
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {count}" for name, count in sizes.items())
        raise ShapeError(f"The run is a batch of different sizes: {told}.")


def _numbers(value: Any, field: str) -> np.ndarray:
    try:
        numbers = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{field} has rows of different lengths: {found(value)}.") from None
    if numbers.dtype.kind not in "fiu" or not numbers.size:
        raise DescriptionError(
            f"A number, or one for every run of a batch, is needed; found {found(value)}.", field=field
        )
    return numbers.astype(float)


def frames(part: Any, robot: Robot, field: str) -> None:
    """Do the frames that a part names exist on this robot, those of the parts inside it too?

    Raises:
        UnknownNameError: with the field, and the known names.
    """
    for d in declared(type(part)):
        value = getattr(part, d.name, None)
        if d.field.kind == "frame" and isinstance(value, str):
            if value not in (TIP, "tip", "base", *robot.frame_names):
                known = dict.fromkeys([*robot.frame_names, "tip", "base"])
                raise unknown_name(f"frame in robot '{robot.name}'", value, known, field=f"{field}.{d.name}")
        elif d.field.kind == "parts" and isinstance(value, tuple):
            for i, inner in enumerate(value):
                frames(inner, robot, f"{field}.{d.name}[{i}]")

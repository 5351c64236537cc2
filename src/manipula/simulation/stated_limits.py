"""The limits that a robot and a scenario state, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.symbols import free_names, is_symbolic, substitute
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot
from manipula.simulation.point_motion import ORIGIN, point_of_text, read_point, text_of_point

QUANTITIES = ("position", "velocity", "acceleration", "jerk", "torque", "power")
TIP_QUANTITIES = ("velocity", "acceleration", "jerk")
FIELDS = {"velocity": "velocity", "acceleration": "acceleration", "jerk": "jerk", "torque": "effort"}

OUTSIDE = 1e-9  # rad or m beyond a limit that rounding explains

StatedLimit = float | tuple[float, float]
Limit = StatedLimit | None


def stated_limits(
    robot: Robot | None, own: Any = None, n: int | None = None, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Every stated limit as plain values that a file can hold: by quantity one entry per joint, ``None`` where nothing is stated.

    Args:
        own: limits of a scenario (or of a question), which take the place of the robot's for the quantities they name; one
            number for all joints, one per joint, pairs for positions; "tip" with quantities of its own, "points" with those of other points by their names.
        parameters: values of the robot's free parameters, for limits that are made of them.
    """
    count = robot.n if robot is not None else n or 0
    out: dict[str, Any] = {}
    if robot is not None:
        symbolic = bool(parameters) and not robot.is_numeric
        out = _valued(robot, parameters or {}) if symbolic else dict(_of_robot(robot))
    if own is not None and not isinstance(own, Mapping):
        raise DescriptionError(
            f"Limits by quantity are needed, {{'velocity': 2.0}}; found {type(own).__name__}.", field="limits"
        )
    for quantity, value in (own or {}).items():
        if quantity == "tip":
            if not isinstance(value, Mapping) or not value:
                raise DescriptionError(
                    f"Limits of the tip are named: {{'velocity': 0.5}}; found {printable(value, 80)}.",
                    field="limits.tip",
                )
            if robot is not None and robot.tip is None:
                raise DescriptionError(
                    f"'{robot.name}' has several end links and no tip, so limits of the tip cannot be checked.",
                    field="limits.tip",
                )
            out["tip"] = {key: _size(key, size) for key, size in value.items()}
        elif quantity == "points":
            out["points"] = _of_points(robot, value)
        elif quantity in QUANTITIES:
            out[quantity] = _own(quantity, value, count)
        else:
            raise unknown_name("limited quantity", quantity, (*QUANTITIES, "tip", "points"), field="limits")
    return {q: v for q, v in out.items() if v and (q in ("tip", "points") or any(x is not None for x in v))}


def with_named_points(limits: Any) -> Any:
    """The same limits, points that are given as a link and a place by the text that names them: ``link3@0.1,0,0``."""
    points = limits.get("points") if isinstance(limits, Mapping) else None
    if not isinstance(points, Mapping) or all(isinstance(key, str) for key in points):
        return limits
    named = {
        key if isinstance(key, str) else text_of_point(read_point(point=key) or ("", ORIGIN)): v
        for key, v in points.items()
    }
    return {**limits, "points": named}


def _of_points(robot: Robot | None, given: Any) -> dict[str, dict[str, float]]:
    """Limits of points by their names: ``{"elbow": {"velocity": 0.5}, "link3@0.1,0,0": {"jerk": 9}}``."""
    if not isinstance(given, Mapping) or not given:
        raise DescriptionError(
            f"Limits of points are named: {{'elbow': {{'velocity': 0.5}}}}; found {printable(repr(given), 80)}.",
            field="limits.points",
        )
    out: dict[str, dict[str, float]] = {}
    for key, wanted in given.items():
        try:
            where = point_of_text(key) if isinstance(key, str) else read_point(point=key)
        except DescriptionError as error:
            raise DescriptionError(error.problem, field=f"limits.points.{printable(key, 60)}") from None
        assert where is not None
        name, field = text_of_point(where), f"limits.points.{key if isinstance(key, str) else text_of_point(where)}"
        if robot is not None and where[0] not in ("tip", "base", *robot.frame_names):
            known = dict.fromkeys([*robot.frame_names, "tip", "base"])
            raise unknown_name(f"frame in robot '{robot.name}'", where[0], known, field=field)
        if not isinstance(wanted, Mapping) or not wanted:
            raise DescriptionError(
                f"Limits of a point are named: {{'velocity': 0.5}}; found {printable(repr(wanted), 80)}.", field=field
            )
        out[name] = {quantity: _size(quantity, size, f"points.{name}") for quantity, size in wanted.items()}
    return out


@once_per_mechanism(64)
def _of_robot(robot: Robot) -> dict[str, Any]:
    return _valued(robot, {})


def _valued(robot: Robot, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The robot's own limits, with the values of free parameters in them."""

    def number(joint: Any, field: str) -> float | None:
        value = getattr(joint.limits, field)
        if is_symbolic(value):
            names = list(free_names(value))
            if any(np.ndim(parameters.get(name, 0.0)) for name in names):
                raise DescriptionError(
                    f"'{field}' of joint '{joint.name}' is '{printable(value, 60)}' and differs from run to run, but a batch has one set of "
                    "limits: give it numbers in limits=….",
                    field="parameters",
                )
            if all(name in parameters for name in names):
                value = substitute(value, {name: parameters[name] for name in names})
        return _number(value)

    rows = [[number(j, "lower"), number(j, "upper")] for j in robot.joints]
    out: dict[str, Any] = {"position": [None if row == [None, None] else row for row in rows]}
    for quantity, field in FIELDS.items():
        out[quantity] = [number(j, field) for j in robot.joints]
    return out


def _number(value: Any) -> float | None:
    """A stated number; None for one that is not stated, is infinite, or is still a symbol."""
    if value is None or is_symbolic(value):
        return None
    number = float(value)
    return number if np.isfinite(number) else None


def _size(key: str, value: Any, of: str = "tip") -> float:
    if key not in TIP_QUANTITIES:
        raise unknown_name(
            f"quantity of {'the tip' if of == 'tip' else 'a point'}", key, TIP_QUANTITIES, field=f"limits.{of}"
        )
    try:
        return _checked(f"{of}.{key}", np.asarray(value, float)).item()
    except (TypeError, ValueError) as error:
        if isinstance(error, DescriptionError):
            raise
        raise DescriptionError(
            f"One number is needed, found {printable(value, 80)}.", field=f"limits.{of}.{key}"
        ) from None


def _checked(quantity: str, sizes: np.ndarray) -> np.ndarray:
    if np.isnan(sizes).any() or (sizes < 0).any():
        raise DescriptionError(
            f"A limit is a number, zero or more; found {sizes.tolist()}.", field=f"limits.{quantity}"
        )
    return sizes


def _own(quantity: str, value: Any, n: int) -> list[Any]:
    try:
        sizes = np.asarray(value, float)
        if quantity == "position":
            if n == 2 and sizes.shape == (2,):
                a, b = printable(value[0], 20), printable(value[1], 20)
                raise DescriptionError(
                    f"Two numbers for two joints are a range or one for each: write [[{a}, {b}], [{a}, {b}]] for the range, "
                    f"[[-{a}, {a}], [-{b}, {b}]] for one each.",
                    field="limits.position",
                )
            shaped = sizes.shape in ((2,), (n, 2))
            rows = np.broadcast_to(sizes, (n, 2)) if shaped else np.stack([-np.broadcast_to(sizes, n), np.broadcast_to(sizes, n)], 1)  # fmt: skip
            if np.isnan(rows).any() or (rows[:, 0] > rows[:, 1]).any():
                raise DescriptionError(
                    "A range of positions goes from the lower to the upper.", field="limits.position"
                )
            pairs = [[_number(a), _number(b)] for a, b in rows]
            return [None if pair == [None, None] else pair for pair in pairs]
        return [_number(v) for v in _checked(quantity, np.broadcast_to(sizes, n))]
    except (TypeError, ValueError) as error:
        if isinstance(error, DescriptionError):
            raise
        kinds = "one range, or one range per joint" if quantity == "position" else "one number or one per joint"
        count = f"{len(value)}: " if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) else ""
        raise ShapeError(f"limits.{quantity} is {kinds} ({n}); found {count}{printable(value, 80)}.") from None


def limit_of(entry: Any) -> Limit:
    """One stated entry as a limit: a size, or a range with ±inf where a side is open."""
    if entry is None:
        return None
    if isinstance(entry, (list, tuple)):
        low, high = entry
        return (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    return float(entry)


def stored_limits(stored: Any, n: int) -> dict[str, Any]:
    """Limits as :func:`stated_limits` made them and a file held them; ValueError or TypeError when they are something else."""
    out: dict[str, Any] = {}
    for quantity, values in dict(stored or {}).items():
        if quantity == "tip":
            out["tip"] = {key: float(values[key]) for key in TIP_QUANTITIES if key in values}
            continue
        if quantity == "points":
            out["points"] = {
                str(name): {key: float(v[key]) for key in TIP_QUANTITIES if key in v}
                for name, v in dict(values).items()
            }
            continue
        if quantity not in QUANTITIES or len(values) != n:
            raise ValueError(f"{n} entries of a known quantity are needed, found '{printable(quantity, 40)}'")
        for value in values:
            limit = limit_of(value)
            if limit is not None and np.isnan(np.asarray(limit, float)).any():
                raise ValueError(f"a limit of {quantity} is no number")
        out[quantity] = list(values)
    return out


def position_limits(
    robot: Robot, own: Any = None, parameters: Mapping[str, Any] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the joints' ranges, (n,) each; ±inf where none is stated as a number.

    Args:
        own: limits of a scenario, which take the place of the robot's. parameters: values of the robot's free parameters.
    """
    stated = stated_limits(robot, own, parameters=parameters).get("position") or [None] * robot.n
    low, high = np.array([limit_of(entry or (None, None)) for entry in stated], float).T
    return low - OUTSIDE, high + OUTSIDE

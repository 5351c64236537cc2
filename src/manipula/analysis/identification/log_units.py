"""Units of measured signals: as somebody says, for all joints or joint by joint, else as the file says of its columns, else SI.

A unit belongs to a joint that turns or to one that slides; what a joint cannot be measured in is refused, and nothing is converted unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.analysis.identification.log_tables import DATE, MeasuredColumns
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.robot.robot import Robot

TURN, MINUTE = 2.0 * np.pi, 60.0
DEGREE = TURN / 360.0
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
CURRENT_UNITS = {"A": 1.0, "mA": 1e-3}
TURNING = {
    "q": {"rad": 1.0, "deg": DEGREE, "rev": TURN},
    "qd": {"rad/s": 1.0, "deg/s": DEGREE, "rpm": TURN / MINUTE},
    "tau": {"N·m": 1.0, "N.m": 1.0, "Nm": 1.0, "mNm": 1e-3},
    "current": CURRENT_UNITS,
}
SLIDING = {"q": {"m": 1.0, "mm": 1e-3}, "qd": {"m/s": 1.0, "mm/s": 1e-3}, "tau": {"N": 1.0}, "current": CURRENT_UNITS}
SPELT = {  # as files say it, in small letters without spaces around
    "radian": "rad", "radians": "rad", "degree": "deg", "degrees": "deg", "°": "deg", "rad s-1": "rad/s", "radian s-1": "rad/s", "radians/s": "rad/s",
    "deg s-1": "deg/s", "degree s-1": "deg/s", "degrees/s": "deg/s", "°/s": "deg/s", "metre": "m", "meter": "m", "metres": "m", "meters": "m",
    "millimetre": "mm", "millimeter": "mm", "millimetres": "mm", "millimeters": "mm", "m s-1": "m/s", "mm s-1": "mm/s", "n m": "Nm", "n*m": "Nm",
    "n.m": "Nm", "n·m": "Nm", "nm": "Nm", "n": "N", "a": "A", "ampere": "A", "amperes": "A", "ma": "mA", "mn m": "mNm", "mnm": "mNm",
    "second": "s", "seconds": "s", "sec": "s", "millisecond": "ms", "milliseconds": "ms", "microsecond": "us", "microseconds": "us", "µs": "us",
    "nanosecond": "ns", "nanoseconds": "ns",
}  # fmt: skip


def time_scale(table: MeasuredColumns, column: str, said: Any) -> float:
    """Seconds per unit of a column of times."""
    told = table.units.get(column)
    if told == DATE:
        if said is not None:
            raise DescriptionError(
                f"The column '{printable(column)}' holds dates; it has no unit that could be said.", field="units.t"
            )
        return 1.0
    return _scale("t", TIME_UNITS, said, told, f"column '{printable(column, 60)}'")


def joint_scales(table: MeasuredColumns, robot: Robot, signal: str, columns: Sequence[str], said: Any) -> np.ndarray:
    """(n,) SI per unit of a signal of every joint, whose columns are given.

    Args:
        said: a unit for all joints, or one per joint; None takes that of the file.
    """
    n = len(columns)
    each: list[Any] = [said] * n if said is None or isinstance(said, str) else list(said)
    if len(each) != n:
        raise ShapeError(f"units.{signal}: one unit, or one per joint ({n}), is needed; found {len(each)}.")
    out = []
    for joint, column, unit in zip(robot.joints, columns, each):
        known = (TURNING if joint.is_revolute else SLIDING)[signal]
        other = (SLIDING if joint.is_revolute else TURNING)[signal]
        if unit in other and unit not in known:
            way = "turns" if joint.is_revolute else "slides"
            raise DescriptionError(
                f"Joint '{printable(joint.name, 60)}' {way}: '{unit}' is no unit of its '{signal}', {' or '.join(known)} is. Give one unit per joint, "
                f"such as units={{'{signal}': {_example(robot, signal)}}}, on the command line --units {signal}={','.join(_example(robot, signal))}.",
                field=f"units.{signal}",
            )
        out.append(_scale(signal, known, unit, table.units.get(column), f"column '{printable(column, 60)}'"))
    return np.array(out)


def named_units(table: MeasuredColumns, robot: Robot) -> dict[str, str]:
    """Columns by name without the unit behind it, ``q1 [deg]`` → ``q1``, whose unit the table then knows; brackets around a joint are none."""
    found: dict[str, str] = {}
    joints = {name.lower() for name in robot.joint_names}
    for name in table:
        parts = re.fullmatch(r"(.*\S)\s*[\[(]\s*([^\[\]()]+?)\s*[\])]", name)
        if parts is not None and parts[2].lower() not in joints and _known(parts[2]):
            table.units.setdefault(name, parts[2])
            found[parts[1]] = name
        else:
            found[name] = name
    return found


def _known(word: str) -> bool:
    return word.lower() in SPELT or any(word in units for units in (TIME_UNITS, *TURNING.values(), *SLIDING.values()))


def units_of(given: Mapping[str, Any], signals: Sequence[str]) -> dict[str, Any]:
    """Units by signal; every signal is one of those that there are."""
    for name in given:
        if name not in signals:
            raise unknown_name("signal", name, tuple(signals), field="units")
    return dict(given)


def scale_of(signal: str, known: Mapping[str, float], said: Any) -> float:
    """SI per unit that somebody says; 1 where nobody does."""
    return _scale(signal, known, said, None, "")


def _scale(signal: str, known: Mapping[str, float], said: Any, told: str | None, where: str) -> float:
    if said is not None:
        if not isinstance(said, str) or said not in known:
            raise unknown_name(f"unit of '{signal}'", said, known, field="units")
        return known[said]
    if told is None:
        return 1.0
    word = told.split(" since ")[0].strip()
    unit = word if word in known else SPELT.get(word.lower(), word)
    if unit not in known:
        raise DescriptionError(
            f"The file says that {where} is in '{printable(told, 40)}'; '{signal}' is read in {', '.join(known)}. Say which it is with "
            f"units={{'{signal}': …}}, on the command line --units {signal}=….",
            field=f"units.{signal}",
        )
    return known[unit]


def _example(robot: Robot, signal: str) -> tuple[str, ...]:
    turning, sliding = ({"q": ("deg", "m"), "qd": ("deg/s", "m/s")}.get(signal) or ("Nm", "N"))[:2]
    return tuple(turning if joint.is_revolute else sliding for joint in robot.joints)

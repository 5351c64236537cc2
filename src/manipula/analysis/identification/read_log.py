"""Logs as they come from robots: columns found by name, units, gaps, doubled and disordered times; what was done is said."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array, real_array
from manipula.analysis.identification.log import SIGNALS, Log
from manipula.analysis.identification.log_tables import TIMES, MeasuredColumns, read_table
from manipula.analysis.identification.log_units import joint_scales, named_units, time_scale, units_of
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.model import Model, model_of
from manipula.robot.robot import Robot

WORDS = {  # what columns are called before the joint's name or number
    "q": ("q", "pos", "position", "positions", "actual_q", "joint_position", "measured_q"),
    "qd": ("qd", "dq", "vel", "velocity", "velocities", "actual_qd", "joint_velocity", "v"),
    "tau": ("tau", "torque", "torques", "effort", "tau_j", "actual_torque", "joint_torque", "tau_measured"),
    "current": ("current", "currents", "i", "actual_current", "cur", "motor_current"),
}
FEWEST = 20  # samples of a log
TWICE = 2.0  # of a joint's range: a log beyond that is told
MISSING = 0.2  # of all samples: more without numbers are no accident


def read_log(
    source: str | os.PathLike[str] | Mapping[str, Any],
    robot: Robot | Model,
    *,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str | Sequence[str]] | None = None,
    repair: bool = True,
) -> Log:
    """Measured signals of a robot.

    Columns are found by name: a word for the signal (``q``, ``position``; ``qd``, ``velocity``; ``tau``, ``torque``, ``effort``;
    ``current``) followed by the joint's name or number, ``q_elbow``, ``q1``, ``velocity[3]``, or behind it, ``elbow/position``, ``joint_1_pos``;
    numbers count from 1, or from 0 where there is a 0. Times are ``t``, ``time`` or ``timestamp``, numbers or dates.

    Args:
        source: a file (.csv .parquet .nc .npz), or columns by name from Python; a column of Python may be (samples, n).
        columns: which columns are what, where their names do not say it: {"t": name, "q": pattern or names, …}; in a pattern
            ``{}`` stands for the joint's number from 1, ``{name}`` for its name.
        units: {"q": "deg", "t": "ms", …}, for all joints or one per joint; when omitted, those that a NetCDF file states, else rad, m, s, N·m, N and A.
        repair: rows in disorder are sorted, rows with a time that was there before and rows without numbers are left out, and
            the notes say so; False refuses such logs.
    """
    model = model_of(robot).robot
    if not isinstance(source, (str, os.PathLike, Mapping)):
        raise DescriptionError(
            f"A log is the name of a file or columns by name, as {{'t': …, 'q': …}}; found {type(source).__name__}.",
            field="source",
        )
    file = None if isinstance(source, Mapping) else os.fspath(source)
    table = _from_python(source) if isinstance(source, Mapping) else read_table(source)
    try:
        return _log(table, model, dict(columns or {}), dict(units or {}), bool(repair), file or "")
    except DescriptionError as error:
        raise error.at(file=file) from None


def _from_python(source: Mapping[str, Any]) -> MeasuredColumns:
    found = MeasuredColumns()
    for name, values in source.items():
        array = finite_array(values, str(name)) if np.size(values) == 0 else real_array(values, str(name))
        if array.ndim == 2:
            found.update({f"{name}{k + 1}": array[:, k] for k in range(array.shape[1])})
        elif array.ndim == 1:
            found[str(name)] = array
        else:
            raise ShapeError(f"{name}: a column is (samples,) or (samples, n), got {array.shape}.")
    if len({len(v) for v in found.values()}) > 1:
        raise ShapeError(
            "Columns have different lengths: " + ", ".join(f"{k} {len(v)}" for k, v in found.items()) + "."
        )
    return found


def _log(
    table: MeasuredColumns, robot: Robot, columns: dict[str, Any], units: dict[str, Any], repair: bool, source: str
) -> Log:
    for name in columns:
        if name not in ("t", *SIGNALS):
            raise unknown_name("signal", name, ("t", *SIGNALS), field="columns")
    units = units_of(units, ("t", *SIGNALS))
    clock = _time(table, robot, columns.get("t"))
    t = table[clock] * time_scale(table, clock, units.get("t"))
    found = {s: columns_of(table, robot, s, columns.get(s)) for s in SIGNALS}
    for name in units:
        if name != "t" and found[name] is None:
            raise DescriptionError(
                f"A unit is given for '{name}', and the log has no columns of it.", field=f"units.{name}"
            )
    if found["q"] is None:
        raise DescriptionError(
            f"No positions of all {robot.n} joints: columns q1 … q{robot.n} or q_{robot.joint_names[0]} … are needed; found "
            f"{_listed(table)}. Say which they are with columns={{'q': 'name_{{}}'}}, on the command line --column q=name_{{}}; {{}} is the joint's number.",
            field="q",
        )
    notes = [f"Not in the log: {', '.join(missing)}."] if (missing := [s for s in SIGNALS if found[s] is None]) else []
    signals = {
        s: None if names is None else signal_of(table, robot, s, names, units.get(s)) for s, names in found.items()
    }
    t, signals = _repaired(t, signals, repair, notes)
    notes += _beyond(robot, signals["q"])
    return Log(t=t, joints=robot.joint_names, source=source, notes=tuple(notes), **signals)  # pyright: ignore[reportArgumentType]


def _beyond(robot: Robot, q: np.ndarray | None) -> list[str]:
    """A note on joints that are measured where they cannot be, as degrees taken for radians are."""
    if q is None:
        return []
    farthest = np.abs(q).max(axis=0)
    reach = np.abs(np.asarray(robot.position_limits, float)).max(axis=1)
    seen = [
        f"'{joint.name}' ({size:.4g} {'rad' if joint.is_revolute else 'm'}, range up to {end:.4g})"
        for joint, size, end in zip(robot.joints, farthest, reach)
        if np.isfinite(end) and size > TWICE * end
    ]
    if not seen:
        return []
    return [
        f"Measured far beyond their ranges: {', '.join(seen)}; units={{'q': 'deg'}} says where q is not in rad and m."
    ]


def _listed(table: MeasuredColumns) -> str:
    names = [f"'{printable(name, 30)}'" for name in table]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _time(table: MeasuredColumns, robot: Robot, said: Any) -> str:
    if said is not None:
        return _present(table, said)
    found = [name for plain, name in named_units(table, robot).items() if plain.lower() in TIMES]
    if len(found) != 1:
        fault = "No column" if not found else f"{len(found)} columns"
        raise DescriptionError(
            f"{fault} of times ({', '.join(TIMES)}); found {_listed(table)}. Say which it is with columns={{'t': …}}, on the "
            "command line --column t=….",
            field="t",
        )
    return found[0]


def _present(table: MeasuredColumns, name: Any) -> str:
    if not isinstance(name, str) or name not in table:
        raise unknown_name("column", name, tuple(table), field="columns")
    return name


def signal_of(table: MeasuredColumns, robot: Robot, signal: str, names: list[str], unit: Any) -> np.ndarray:
    """(samples, n) in SI, from its columns."""
    return np.stack([table[name] for name in names], axis=1) * joint_scales(table, robot, signal, names, unit)


def columns_of(table: MeasuredColumns, robot: Robot, signal: str, said: Any) -> list[str] | None:
    """The column of every joint, or None where the table has none of them."""
    joints = robot.joint_names
    if isinstance(said, str):
        if "{" not in said:
            raise DescriptionError(
                f"A pattern holds {{}} or {{name}}, found '{printable(said)}'.", field=f"columns.{signal}"
            )
        said = [said.replace("{name}", name).replace("{}", str(k + 1)) for k, name in enumerate(joints)]
    if said is not None:
        if len(said) != len(joints):
            raise ShapeError(f"columns.{signal}: one column per joint is needed ({len(joints)}), found {len(said)}.")
        return [_present(table, name) for name in said]
    plain = {
        re.sub(r"[\s\[\](){}./]+", "_", plain.lower()).strip("_"): name
        for plain, name in named_units(table, robot).items()
    }
    for word in WORDS[signal]:
        by_name = [
            [plain.get(text.format(name.lower())) for name in joints] for text in (f"{word}_{{}}", f"{{}}_{word}")
        ]
        counted = [
            [plain.get(text.format(k + zero)) for k in range(len(joints))]
            for text in (f"{word}{{}}", f"{word}_{{}}", f"joint{{}}_{word}", f"joint_{{}}_{word}", f"j{{}}_{word}")
            for zero in ((0, 1) if text.format(0) in plain else (1,))
        ]
        alone = [plain.get(word)] if len(joints) == 1 else []
        choices = [*by_name, *counted, alone]
        for names in choices:
            if names and all(name is not None for name in names):
                found = [str(name) for name in names]
                if set(found) == set(joints) and found != [*joints]:
                    raise DescriptionError(
                        f"Joints of '{robot.name}' are called as the columns are, {', '.join(map(repr, found))}, and stand in another order: do the "
                        f"columns mean names or numbers? Say it with columns={{'{signal}': [one column per joint]}}.",
                        field=signal,
                    )
                return found
        some = [(names, len([n for n in names if n])) for names in choices if any(names)]
        if some and (best := max(some, key=lambda pair: pair[1]))[1] > len(joints) // 2:
            lost = [joints[k] for k, name in enumerate(best[0]) if name is None]
            raise DescriptionError(f"Column '{signal}' of joint {', '.join(map(repr, lost))} is missing.", field=signal)
    return None


def _repaired(
    t: np.ndarray, signals: dict[str, np.ndarray | None], repair: bool, notes: list[str]
) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
    """Strictly increasing times and finite numbers."""
    total = len(t)
    good = np.isfinite(t)
    for values in signals.values():
        if values is not None:
            good &= np.isfinite(values).all(axis=1)
    t, order = t[good], np.argsort(t[good], kind="stable")
    kept = np.flatnonzero(good)
    bad = total - len(kept)
    _note(bad, total, f"{bad} of {total} rows without finite numbers", " were left out", repair, notes)
    disorder = int(np.sum(np.diff(t) < 0.0))
    _note(disorder, total, f"Times ran backwards {disorder} times", "; the rows were sorted", repair, notes)
    t, kept = t[order], kept[order]
    fresh = np.concatenate([[True], np.diff(t) > 0.0]) if len(t) else np.zeros(0, bool)
    doubled = int(np.sum(~fresh))
    _note(doubled, total, f"{doubled} rows with a time that was there before", " were left out", repair, notes)
    t, kept = t[fresh], kept[fresh]
    if len(t) < FEWEST:
        raise DescriptionError(
            f"A log needs at least {FEWEST} rows of finite numbers, this one has {len(t)} of {total}."
        )
    return t, {s: None if x is None else np.ascontiguousarray(x[kept]) for s, x in signals.items()}


def _note(count: int, total: int, fault: str, mended: str, repair: bool, notes: list[str]) -> None:
    if not count:
        return
    if count > MISSING * total:
        raise DescriptionError(f"{fault}. These are too many to be mended; repair the log itself.")
    if not repair:
        raise DescriptionError(f"{fault}. repair=True mends this.")
    notes.append(f"{fault}{mended}.")

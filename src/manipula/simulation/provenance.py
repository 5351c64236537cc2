"""What a stored result must carry so that it can be read without the program that made it: the robot and the settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.errors import ManipulaError, printable
from manipula.formats.toml_writer import to_toml
from manipula.identity import identity
from manipula.native import Kept
from manipula.robot.robot import Robot
from manipula.simulation.limits import stated_limits

_TEXTS: Kept[str] = Kept(64)
LEFT_OUT = frozenset({"robot", "name"})
MOST_RUNS, MOST_TIMES = 64, 2000  # of a batch, and of given torques, that are kept as text
MOST_NUMBERS = 12  # of one setting that are written out; longer ones are described by their shape


def robot_text(robot: Robot) -> str:
    """The robot as TOML, or nothing when it holds a part that no file can hold (a law written in Python)."""
    key = identity(robot, robot.notes)
    if key is None:  # a part of the user's own, whose numbers may have changed
        return _text(robot)
    return _TEXTS.get(key) or _TEXTS.put(key, _text(robot))


def _text(robot: Robot) -> str:
    try:
        return to_toml(robot)
    except (ManipulaError, TypeError):
        return ""


def provenance(scenario: Any) -> dict[str, Any]:
    """``robot_toml``, the values of its free ``parameters``, the ``settings`` that differ from their defaults, and the ``limits``."""
    free = {name: _plain(value) for name, value in (scenario.parameters or {}).items()}
    return {
        "robot_toml": robot_text(scenario.robot), "parameters": free, "settings": settings(scenario),
        "limits": stated_limits(scenario.robot, scenario.limits), "scenario_toml": scenario_text(scenario),
    }  # fmt: skip


def scenario_text(scenario: Any) -> str:
    """The scenario as TOML, so that what was not recorded can be found later; nothing when no file can hold it, or a long table would."""
    from manipula.simulation.scenario_file import file_text

    torques = getattr(scenario, "torques", None)
    if getattr(scenario, "batch", 1) > MOST_RUNS or (torques is not None and len(torques[0]) > MOST_TIMES):
        return ""
    try:
        return file_text(scenario)
    except (ManipulaError, TypeError, ValueError):
        return ""


def scenario_of(result: Any) -> Any:
    """The scenario of a result: the one at hand, else the one that was stored; None when neither describes this run."""
    if result.scenario is not None:
        return result.scenario
    from manipula.simulation.scenario_file import load_text

    text = str(result.meta.get("scenario_toml") or "")
    try:
        found = load_text(text) if text else None  # files that it names are refused: nothing but this text is read
    except ManipulaError:
        return None
    if found is None or found.robot.digest != result.meta.get("robot_digest"):
        return None
    return found if "run" not in result.meta else _member(found, int(result.meta["run"]))


def _member(scenario: Any, run: int) -> Any:
    """One run of a batch that differs by its initial state alone, as a scenario of its own."""
    if any(np.ndim(v) >= 1 for group in (scenario.parameters, scenario.vary) for v in (group or {}).values()):
        return None
    changes = {name: getattr(scenario, name)[run] for name in ("q0", "qd0") if np.ndim(getattr(scenario, name)) == 2}
    return scenario.replace(**changes)


def robot_of(result: Any) -> Robot | None:
    """The robot of a result with numbers in it, from its scenario or from what was stored; None when it cannot be known."""
    robot: Robot | None = None
    if result.scenario is not None:
        robot = result.scenario.robot
    elif result.meta.get("robot_toml"):
        from manipula.formats.toml import from_toml

        try:
            robot = from_toml(str(result.meta["robot_toml"]) + "\n")  # text, never the name of a file
        except ManipulaError:
            return None
    if robot is None or robot.is_numeric:
        return robot
    values = {}
    for name, value in dict(result.meta.get("parameters") or {}).items():
        if np.ndim(value) == 0:
            values[name] = float(value)
        elif "run" in result.meta:
            values[name] = float(value[result.meta["run"]])
    robot = robot.with_parameters(**{name: v for name, v in values.items() if name in robot.parameters})
    return robot if robot.is_numeric else None


def limits_of(result: Any) -> dict[str, Any]:
    """The limits that a result carries; those of its robot where it was stored before results carried any."""
    if "limits" in result.meta:
        return dict(result.meta["limits"] or {})
    robot = robot_of(result)
    return {} if robot is None else stated_limits(robot)


def settings(scenario: Any) -> dict[str, str]:
    """Every setting of a run that was chosen, by its dotted name, as text."""
    rows: dict[str, str] = {}
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if field.name not in LEFT_OUT and value is not None and not _is_default(value, field.default):
            _describe(field.name, value, rows)
    return rows


def program_settings(program: Any) -> dict[str, str]:
    """Drives, friction and parameters of a programmed motion, by joint name."""
    rows: dict[str, str] = {}
    for kind, parts in (("drive", program.drives), ("friction", program.friction)):
        for joint, part in zip(program.robot.joint_names, parts):
            if part is not None:
                _describe(f"{kind} of {printable(joint, 40)}", part, rows)
    _describe("parameters", dict(program.parameters), rows)
    return rows


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, float, int, tuple)) and value == default)


def _describe(name: str, value: Any, rows: dict[str, str]) -> None:
    """One row a value; the fields of a part (a controller, a law) follow it with their dotted names."""
    if isinstance(value, Robot):
        rows[name] = f"robot {printable(value.name, 60)}"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        rows[name] = str(getattr(value, "name", type(value).__name__))
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            if field.init and field.repr and inner is not None and not field.name.startswith("_"):
                _describe(f"{name}.{field.name}", inner, rows)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _describe(f"{name}.{printable(key, 40)}", inner, rows)
    elif isinstance(value, tuple) and any(dataclasses.is_dataclass(v) for v in value):
        for i, inner in enumerate(value):
            if inner is not None:
                _describe(f"{name}[{i}]", inner, rows)
    elif isinstance(value, (tuple, list, np.ndarray)):
        rows[name] = _numbers(value)
    elif isinstance(value, (bool, str)):
        rows[name] = printable(value, 200)
    elif isinstance(value, (int, float, np.integer, np.floating)):
        rows[name] = f"{value:g}"
    else:
        rows[name] = type(value).__name__


def _numbers(value: Any) -> str:
    try:
        entries = np.asarray(value, float)
    except (TypeError, ValueError):
        return printable(value, 200)
    if entries.size > MOST_NUMBERS:
        return f"{' × '.join(str(k) for k in entries.shape)} numbers"
    if entries.ndim == 1:
        return ", ".join(f"{x:g}" for x in entries)
    return "; ".join(", ".join(f"{x:g}" for x in row.ravel()) for row in entries)


def _plain(value: Any) -> Any:
    return np.asarray(value, float).tolist()

"""What a stored result must carry so that it can be read without the program that made it: the robot and the settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.formats.toml import to_toml
from manipula.identity import identity
from manipula.motion.words import motion_words, value_words
from manipula.native import Kept
from manipula.robot.robot import Robot
from manipula.simulation.verdicts.limits import stated_limits, stored_limits

_TEXTS: Kept[str] = Kept(64)
LEFT_OUT = frozenset({"robot", "name", "limits"})
MOST_RUNS, MOST_TIMES = 64, 2000  # of a batch, and of given torques, that are kept as text


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
        "acting": acting(scenario.robot, scenario.friction, scenario.drives, tuple(scenario.vary or ())),
    }  # fmt: skip


def scenario_text(scenario: Any) -> str:
    """The scenario as TOML, so that what was not recorded can be found later; nothing when no file can hold it, or a long table would."""
    from manipula.simulation.files.scenario_file import file_text

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
    from manipula.simulation.files.scenario_file import load_text

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
    if "limits" not in result.meta:
        robot = robot_of(result)
        return {} if robot is None else stated_limits(robot)
    try:
        return stored_limits(result.meta["limits"], np.shape(result.arrays["q"])[-1])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DescriptionError(
            f"The limits in this result are damaged: {printable(error, 200)}.", field="limits"
        ) from None


def settings(scenario: Any) -> dict[str, str]:
    """Every setting of a run that was chosen, by its dotted name, as text."""
    rows: dict[str, str] = {}
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if field.name not in LEFT_OUT and value is not None and not _is_default(value, field.default):
            _describe(field.name, value, rows)
    return rows


def program_settings(program: Any) -> dict[str, str]:
    """Drives and parameters of a programmed motion, by joint name."""
    rows: dict[str, str] = {}
    for joint, part in zip(program.robot.joint_names, program.drives):
        if part is not None:
            _describe(f"drive of {printable(joint, 40)}", part, rows)
    _describe("parameters", dict(program.parameters), rows)
    return rows


def acting(robot: Robot, friction: Any, drives: Any, varied: Any = ()) -> dict[str, tuple[str, ...]]:
    """What acted in every joint of a run, in words: ``friction`` and ``drives``; "" where there was none.

    Args:
        friction, drives: those of the scenario; ``None`` takes the robot's own, an empty one means none.
        varied: paths of numbers that differ from run to run of a batch.
    """
    own = {"friction": [j.friction for j in robot.joints], "drives": [j.drive for j in robot.joints]}
    out = {}
    for name, given in (("friction", friction), ("drives", drives)):
        parts = own[name] if given is None else (tuple(given) or (None,) * robot.n)
        told = []
        for i, part in enumerate(parts):
            text = "" if part is None else part_words(part)
            changed = [path.partition(".")[2] for path in varied if path.startswith((f"{name}[{i}].", f"{name}."))]
            told.append(text + (f", {', '.join(changed)} varied" if changed and text else ""))
        out[name] = tuple(told)
    return out


def part_words(part: Any) -> str:
    """A law, drive or torque in one line: its name and its numbers, zeros left out."""
    if isinstance(part, str) or not dataclasses.is_dataclass(part) or isinstance(part, type):
        return f"torque {value_words(part)}"
    told = []
    for field in dataclasses.fields(part):
        inner = getattr(part, field.name)
        if field.init and field.repr and inner is not None and not (isinstance(inner, (int, float)) and inner == 0):
            told.append(
                f"{field.name} {part_words(inner) if dataclasses.is_dataclass(inner) and not isinstance(inner, type) else value_words(inner)}"
            )
    name = str(getattr(part, "name", type(part).__name__)).replace("_", " ")
    return f"{name} ({', '.join(told)})" if told else name


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, float, int, tuple)) and value == default)


def _describe(name: str, value: Any, rows: dict[str, str]) -> None:
    """One row a value; the fields of a part (a controller, a law) follow it with their dotted names."""
    if isinstance(value, Robot):
        rows[name] = f"robot {printable(value.name, 60)}"
    elif name in ("reference", "motion") or hasattr(value, "derivatives"):
        rows[name] = motion_words(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "name"):
            rows[name] = str(value.name)  # pyright: ignore[reportAttributeAccessIssue]
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
    elif name == "torques":
        times, values = (np.asarray(part, float) for part in tuple(value))  # pyright: ignore[reportArgumentType]
        rows[name] = f"{len(times)} times, {times[0]:g} … {times[-1]:g} s, linear between them: {value_words(values)}"
    elif not (isinstance(value, (tuple, list)) and not value):
        rows[name] = value_words(value)


def _plain(value: Any) -> Any:
    return np.asarray(value, float).tolist()

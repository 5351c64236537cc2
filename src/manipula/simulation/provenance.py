"""What a stored result must carry so that it can be read without the code that made it: the robot and the settings."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.value import FrozenDict
from manipula.bounded_cache import BoundedCache
from manipula.errors import ManipulaError, printable
from manipula.formats.toml import to_toml
from manipula.identity import identity
from manipula.motion.words import motion_words, value_words
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.plant.contact.base import Contact
from manipula.version import __version__

if TYPE_CHECKING:
    from manipula.simulation.programmed.equations import ProgrammedPlant
    from manipula.simulation.scenario import Scenario

_TEXTS: BoundedCache[str] = BoundedCache(64)
LEFT_OUT = frozenset({"robot", "name", "limits"})


def robot_text(robot: Robot) -> str:
    """The robot as TOML, or nothing when it holds a part that no file can hold (a law written in Python)."""
    key = identity(robot, robot.notes, robot.appearance)
    if key is None:  # a part of the user's own, whose numbers may have changed
        return _text(robot)
    return _TEXTS.get(key) or _TEXTS.put(key, _text(robot))


def _text(robot: Robot) -> str:
    try:
        return to_toml(robot)
    except (ManipulaError, TypeError):
        return ""


def settings(scenario: Scenario) -> dict[str, str]:
    """Every setting of a run that was chosen, by its dotted name, as text."""
    rows: dict[str, str] = {}
    for field in dataclasses.fields(scenario):
        value = getattr(scenario, field.name)
        if field.name not in LEFT_OUT and value is not None and not _is_default(value, field.default):
            _describe(field.name, value, rows)
    return rows


def programmed_settings(plant: ProgrammedPlant) -> dict[str, str]:
    """Drives and parameters of a programmed motion, by joint name."""
    rows: dict[str, str] = {}
    for joint, part in zip(plant.robot.joint_names, plant.drives):
        if part is not None:
            _describe(f"drive of {printable(joint, 40)}", part, rows)
    _describe("parameters", dict(plant.parameters), rows)
    return rows


def acting(
    robot: Robot,
    friction: Sequence[FrictionLaw | None] | None,
    drives: Sequence[Drive | None] | None,
    varied: Iterable[str] = (),
) -> dict[str, tuple[str, ...]]:
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


def columns(
    robot: Robot, friction: Sequence[FrictionLaw | None] | None, contacts: Sequence[Contact] | None = ()
) -> dict[str, tuple[str, ...]]:
    """What the columns of ``bristles`` and of the signals of contacts are: the joint of every state of a friction law, the kind of every
    contact (numbered where there are several of it) and the unit of its force.

    Args:
        friction: that of the scenario; ``None`` takes the robot's own, an empty one means none.
    """
    laws = [j.friction for j in robot.joints] if friction is None else list(friction)
    states = tuple(name for name, law in zip(robot.joint_names, laws) if law is not None for _ in range(law.states))
    kinds = [contact.name.replace("_", " ") for contact in contacts or ()]
    names = tuple(
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[:k].count(kind) + 1}" for k, kind in enumerate(kinds)
    )
    return {"bristles": states, "contacts": names, "contact_units": tuple(c.unit(robot) for c in contacts or ())}


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


@cache
def versions() -> dict[str, str]:
    """Versions that numbers may depend on; looked up once."""
    found = {"manipula": __version__, "python": sys.version.split()[0], "machine": machine()}
    return FrozenDict(found | {name: installed(name) or "missing" for name in ("numpy", "scipy", "llvmlite")})


def machine() -> str:
    """The architecture of this machine, as ``platform.machine`` says it."""
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform

    return platform.machine()


def installed(name: str) -> str | None:
    """The version of an installed library, as ``importlib.metadata.version`` says it, or None.

    The name of the folder of metadata says it too (PEP 491), and reading it does not load the parser of letters behind ``importlib.metadata``, which
    takes longer than a short run.
    """
    for place in sys.path:
        with contextlib.suppress(OSError):
            found = [e for e in os.listdir(place or ".") if e.startswith(f"{name}-") and e.endswith(".dist-info")]
            if len(found) == 1:
                return found[0].removeprefix(f"{name}-").removesuffix(".dist-info")
            if found:
                break
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None

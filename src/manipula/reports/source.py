"""What a report reads from a result: its robot, its units, its finite samples."""

from __future__ import annotations

import re
from math import isnan
from typing import Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.robot.robot import Robot
from manipula.simulation.recorded import robot_of
from manipula.simulation.result import Result

ANGULAR = {"q": "rad", "qd": "rad/s", "qdd": "rad/s²", "jerk": "rad/s³", "tau": "N·m", "command": "N·m", "friction": "N·m", "external": "N·m",
           "reaction": "N·m", "applied": "N·m", "observed_torque": "N·m", "power": "W", "error": "rad"}  # fmt: skip
LINEAR = {"q": "m", "qd": "m/s", "qdd": "m/s²", "jerk": "m/s³", "tau": "N", "command": "N", "friction": "N", "external": "N",
          "reaction": "N", "applied": "N", "observed_torque": "N", "power": "W", "error": "m"}  # fmt: skip


def needed_robot(result: Result) -> Robot:
    """The robot, or an error that says why there is none."""
    robot = robot_of(result)
    if robot is None:
        raise DescriptionError(
            "The result does not say which robot moved (it was stored without one, or its parameters differ from run to run)."
        )
    return robot


def verified(result: Result) -> bool:
    """Was the run repeated with other steps? Along a given motion without friction that remembers nothing may be integrated at all."""
    exact = result.meta.get("kind") == "inverse_dynamics" and "bristles" not in result.arrays
    integrated = result.meta.get("integrated", "target" in result.arrays)  # rates of a redundant arm are
    return (exact and not integrated) or not isnan(result.trusted_until)


def is_batch(result: Result) -> bool:
    """Does the result hold several runs?"""
    return result.arrays["q"].ndim == 3


def chosen_run(result: Result, run: int) -> Result:
    """One run of a batch, by its number from 0."""
    if not is_batch(result):
        raise DescriptionError("This is a single run, not a batch.", field="run")
    count = result.arrays["q"].shape[0]
    if not 0 <= run < count:
        raise DescriptionError(f"Runs 0 to {count - 1} exist, found {run}.", field="run")
    return result.run(run)


def joint_count(result: Result) -> int:
    """How many joints the arm has."""
    return int(result.arrays["q"].shape[-1])


def names_of(result: Result) -> tuple[str, ...]:
    """Joint names; joint1 … when nobody gave any."""
    n = joint_count(result)
    names = tuple(str(name) for name in result.joint_names)
    return names if len(names) == n else tuple(f"joint{i + 1}" for i in range(n))


def prismatic(result: Result) -> tuple[bool, ...]:
    """One flag per joint: is it prismatic?"""
    kinds = tuple(result.meta.get("joint_kinds", ()))
    n = joint_count(result)
    return tuple(kind == "prismatic" for kind in kinds) if len(kinds) == n else (False,) * n


def unit_of(result: Result, signal: str, joint: int | None = None) -> str:
    """Unit of a signal per joint, or of the whole panel when joints of both kinds share it."""
    slides = prismatic(result)
    if joint is not None:
        return (LINEAR if slides[joint] else ANGULAR).get(signal, "")
    kinds = {(LINEAR if s else ANGULAR).get(signal, "") for s in slides}
    return " or ".join(sorted(kinds, key=len, reverse=True))


def columns_of(result: Result, signal: str) -> list[tuple[str, int | None, str]]:
    """Name, joint and unit of every column of ``bristles``, ``contact_force`` or ``penetration``; results of before say less."""
    said = dict(result.meta.get("columns") or {})
    count = int(result.arrays[signal].shape[-1])
    if signal == "bristles":
        names = names_of(result)
        joints = [names.index(name) for name in said.get("bristles", ()) if name in names]
        if len(joints) != count:
            return [(f"state {k + 1}", None, "rad or m" if any(prismatic(result)) else "rad") for k in range(count)]
        return [(names[i], i, unit_of(result, "q", i)) for i in joints]
    known, units = tuple(said.get("contacts", ())), tuple(said.get("contact_units", ()))
    if not len(known) == len(units) == count:
        known, units = tuple(f"contact {k + 1}" for k in range(count)), ("N or N·m",) * count
    depth = {"N": "m", "N·m": "rad"}
    return [
        (name, None, unit if signal == "contact_force" else depth.get(unit, "m or rad"))
        for name, unit in zip(known, units)
    ]


def finite_until(result: Result) -> int:
    """Number of leading samples of a single run in which q is finite."""
    good = np.asarray(np.isfinite(result.arrays["q"]).all(axis=-1))
    return int(len(good) if good.all() else np.argmin(good))


def decimated(count: int, most: int) -> np.ndarray:
    """At most ``most`` indices of ``count`` samples, evenly spread, first and last included."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(max(count, 1), most)).round().astype(int))


def summary(value: Any) -> str:
    """A number for people: four digits, no noise."""
    number = float(value)
    if not np.isfinite(number):
        return "–"
    if number == 0.0:
        return "0"
    if 1e-3 <= abs(number) < 1e5:
        return f"{float(f'{number:.4g}'):.10g}".replace("-", "−")
    return typeset(f"{number:.1e}")


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NUMBER = re.compile(r"(?<![\w.])(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?(?![\w.]*\w)")


def typeset(words: object) -> str:
    """A sentence whose numbers are written as on a page: ``-2.2e-11`` becomes −2.2·10⁻¹¹; ``web/src/numbers.ts`` does the same."""

    def number(found: re.Match[str]) -> str:
        minus, digits, exponent = found.groups()
        power = "" if exponent is None else f"·10{str(int(exponent)).translate(RAISED)}"
        return f"{'−' if minus else ''}{digits}{power}"

    return NUMBER.sub(number, str(words))

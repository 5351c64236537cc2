"""Numbers that differ from run to run of a batch: are they legal together, and would every disturbance act?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.algebra.symbols import is_symbolic
from manipula.control.base import Controller
from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.parts.checks import label
from manipula.redundancy.criterion import Criterion
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.simulation.checks.idle_parts import check_payload_times, disturbance_idle, loaded_before
from manipula.simulation.plant.disturbances import Actuator, PayloadChange, Wrench
from manipula.simulation.plant.numbers import stands_for_all
from manipula.simulation.plant.parameters import rebuild

if TYPE_CHECKING:
    from manipula.simulation.plant.plant import Plant
    from manipula.simulation.scenario import Scenario

INSTANTS = ("start", "stop", "time", "mass")
ALONE = {Controller.__post_init__, FrictionLaw.__post_init__, Drive.__post_init__, Criterion.__post_init__, Actuator.__post_init__,
         PayloadChange.__post_init__, Wrench.__post_init__}  # look at one field at a time (a wrench: below)  # fmt: skip


def check_together(parts: dict[str, Any], varied: tuple[str, ...], paths: list[str], p: np.ndarray) -> None:
    """Are fields that are legal alone legal together in every run? The parts that look at several fields are asked.

    Args:
        parts: the parts of the plant by their name, "friction" and so on. varied: paths of ``vary``.
        paths, p: as for ``check_runs``.

    Raises:
        DescriptionError: what the part says, with the run.
    """
    for head, whole in parts.items():
        for path, part in _looking(whole, head):
            if not any(
                name.startswith((f"{path}.", f"{path}[")) or f"{path}.".startswith(f"{name}.") for name in varied
            ):
                continue
            columns = {name: k for k, name in enumerate(paths) if name.startswith(f"{path}.")}
            _, firsts = np.unique(p[:, list(columns.values())], axis=0, return_index=True)
            for k in sorted(firsts):
                made = rebuild(part, lambda name, _, k=k, columns=columns: float(p[k, columns[name]]), path)
                try:
                    type(made).__post_init__(made)
                except (ManipulaError, ValueError, TypeError, ArithmeticError) as error:
                    told = getattr(error, "problem", None) or f"it refuses these values: {printable(error, 200)}."
                    field = next(name for name in varied if name.startswith(path) or path.startswith(name))
                    raise DescriptionError(f"In run {k} {label(part)}: {told}", field=f"vary.{field}") from None


def _looking(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Parts, nested ones too, that look at their fields together when they are made."""
    if isinstance(value, tuple):
        for i, v in enumerate(value):
            yield from _looking(v, f"{path}[{i}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        if getattr(type(value), "__post_init__", None) not in (None, *ALONE):
            yield path, value
        for x in dataclasses.fields(value):
            yield from _looking(getattr(value, x.name), f"{path}.{x.name}")


def vary_notes(vary: Mapping[str, Any] | None, plant: Plant) -> tuple[str, ...]:
    """A sentence on every number of ``vary`` that stands for several."""
    counted = {path: stands_for_all(plant, path, value) for path, value in (vary or {}).items()}
    return tuple(f"vary.{path}: one number per run stands for all {n} entries." for path, n in counted.items() if n)


def check_runs(s: Scenario, paths: list[str], p: np.ndarray) -> None:
    """Is every disturbance that varies one that acts in every run, and does every gear stay that of its joint?

    Args:
        paths: names of the columns of p. p: the numbers of all runs, (N, k).

    Raises:
        DescriptionError: with the path, the run, and why it would not.
    """
    for i, d in enumerate(s.disturbances):
        own = {name: paths.index(path) for name in INSTANTS if (path := f"disturbances[{i}].{name}") in paths}
        varied = [path for path in s.vary if path.startswith(f"disturbances[{i}].")]
        rows = np.unique(p[:, list(own.values())], axis=0, return_index=True)[1] if varied and own else ()
        for k in sorted(rows):
            numbers = {name: float(p[k, column]) for name, column in own.items()}
            if "stop" in numbers and numbers["start"] >= numbers["stop"]:
                why = f"the wrench starts at {numbers['start']:g} s and stops at {numbers['stop']:g} s: it would never act."
            else:
                why = disturbance_idle(
                    replace(d, **numbers),
                    float(s.duration or 0.0),
                    s.robot,
                    s.base_motion is not None,
                    loaded_before(s, i),
                )
            if why:
                raise DescriptionError(f"In run {k} {why}", field=f"vary.{varied[0]}")
    for i, joint in enumerate(s.robot.joints):
        path = f"drives[{i}].gear_ratio"
        for k, ratio in enumerate(p[:, paths.index(path)] if path in paths else ()):
            if not is_symbolic(joint.gear_ratio) and float(joint.gear_ratio) not in (1.0, ratio):
                raise DescriptionError(
                    f"In run {k} the drive has a gear ratio of {ratio:g}, its joint '{printable(joint.name)}' one of {joint.gear_ratio:g}, "
                    "with which its rotor acts: vary the gear of a joint that states none.",
                    field=f"vary.{path}" if path in s.vary else path,
                )
    columns = {i: paths.index(f"disturbances[{i}].time") for i, d in enumerate(s.disturbances) if d.name == "payload"}
    for k, row in enumerate(p if len(columns) > 1 else ()):
        check_payload_times({i: float(row[column]) for i, column in columns.items()}, f"In run {k} ")

"""Controllers, criteria, friction laws, drives and disturbances ⇄ tables: a name in a registry, and dataclass fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manipula.control import KIND as CONTROLLERS
from manipula.control.base import Controller
from manipula.errors import DescriptionError
from manipula.formats.toml.fields import Fields
from manipula.formats.toml.part_tables import read_part
from manipula.parts.declared import declared
from manipula.redundancy.criterion import Criterion
from manipula.redundancy.null_space import KIND as CRITERIA
from manipula.redundancy.tasks import KIND as TASKS
from manipula.redundancy.tasks.base import ArmTask
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.drives.base import Drive
from manipula.robot.friction import KIND as FRICTION
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.plant.contact import KIND as CONTACTS
from manipula.simulation.plant.disturbances import KIND as DISTURBANCES
from manipula.simulation.plant.per_joint import no_such_joint


def read_controller(table: Fields) -> Controller:
    """A controller with its criteria and tasks."""
    return read_part(table, CONTROLLERS, {"criterion": read_criterion, "task": read_task})


def read_task(table: Fields) -> ArmTask:
    """One task with its priority."""
    return read_part(table, TASKS)


def read_criterion(table: Fields) -> Criterion:
    """One criterion for a redundant arm."""
    return read_part(table, CRITERIA)


def read_criteria(table: Fields, key: str = "criteria") -> tuple[Criterion, ...]:
    """A list of criteria."""
    return tuple(read_criterion(t) for t in table.tables(key))


def read_law(table: Fields) -> FrictionLaw | None:
    """A friction law, or ``None`` from an empty table."""
    return read_part(table, FRICTION) if table.names() else None


def read_drive(table: Fields) -> Drive | None:
    """A drive, or ``None`` from an empty table."""
    return read_part(table, DRIVES) if table.names() else None


def read_disturbance(table: Fields) -> Any:
    """One disturbance."""
    return read_part(table, DISTURBANCES)


def read_each(root: Fields, key: str, robot: Robot, reader: Callable[..., Any]) -> tuple[Any, ...] | None:
    """One part per joint: a list of n tables (``{}`` is none), one table for all joints, tables by joint name, or ``"none"``."""
    if not root.has(key):
        return None
    value, joints, n = root.raw(key), robot.joint_names, robot.n
    if value == "none" or value == []:
        return ()
    if isinstance(value, dict):
        if "law" in value or "drive" in value:
            return (root.read(key, reader),) * n
        if not value:
            raise root.error(
                f"The table '{key}' is empty: {key} = \"none\" means none at any joint; left out, the robot's own act.",
                key,
            )
        table = root.table(key)
        assert table is not None
        for name in table.names():
            if name not in joints:
                what = {"friction": "friction law", "drives": "drive"}.get(key, key)
                raise no_such_joint(robot, name, what, **table.document.place(table.where(name)))
        found = tuple(table.read(name, reader, empty=True) for name in joints)
        table.close()
        return found
    tables = root.tables(key)
    if len(tables) != n:
        raise root.error(f"One table per joint is needed ({n}), found {len(tables)}; {{}} stands for none.", key)
    return tuple(reader(t) for t in tables)


KINDS = {
    "controller": CONTROLLERS,
    "criteria": CRITERIA,
    "tasks": TASKS,
    "friction": FRICTION,
    "drives": DRIVES,
    "disturbances": DISTURBANCES,
    "contacts": CONTACTS,
}


def part_table(part: Any, group: str | None = None) -> dict[str, Any]:
    """A part as plain values: its name in the registry of its ``group`` and the fields that differ from their defaults.

    Raises:
        DescriptionError: when a file with it could not be read again, because it holds a function or is in no registry.
    """
    out: dict[str, Any] = {}
    if group is not None:
        KINDS[group].check_registered(part, field=group)
        out[KINDS[group].key] = part.name
    for d in declared(type(part)):
        value, kind = getattr(part, d.name), d.field.kind
        if value is None or (not d.required and value == d.default):
            continue
        if callable(value):
            raise DescriptionError(
                "A Python function cannot be written to a file; give it as a formula in quotes.", field=d.name
            )
        if kind == "parts":
            value = [part_table(c, d.name) for c in value]
        elif kind in ("whole number", "whole numbers"):
            value = [int(v) for v in value] if isinstance(value, tuple) else int(value)
        out[d.name] = value
    return out


def each_table(parts: tuple[Any, ...] | None, group: str) -> Any:
    """One part a joint, as ``read_each`` reads it."""
    if parts is None:
        return None
    return [{} if p is None else part_table(p, group) for p in parts] if parts else "none"

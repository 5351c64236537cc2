"""Controllers, criteria, friction laws, drives and disturbances ⇄ tables: a name in a registry, and dataclass fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from manipula.algebra.expression import parse
from manipula.control import REGISTRY as CONTROLLERS
from manipula.errors import DescriptionError, ManipulaError, check_registered, unknown_name
from manipula.formats.toml.fields import Fields
from manipula.redundancy.null_space import REGISTRY as CRITERIA
from manipula.robot.drives import REGISTRY as DRIVES
from manipula.robot.friction import REGISTRY as FRICTION
from manipula.simulation.plant.disturbances import DISTURBANCES

ANGLES = ("goal", "position", "velocity")  # fields that may also be given in degrees, with _deg behind their name
TEXTS = ("frame",)
FORMULAS = ("motor", "wrench")  # fields whose texts stay formulas in t
WHOLE = ("seed",)
IN_PYTHON_ONLY = ("user",)


def read_controller(table: Fields) -> Any:
    return read_registered(
        table, "law", "controller", {k: v for k, v in CONTROLLERS.items() if k not in IN_PYTHON_ONLY}
    )


def read_criteria(table: Fields, key: str = "criteria") -> tuple[Any, ...]:
    return tuple(read_registered(t, "criterion", "criterion", CRITERIA) for t in table.tables(key))


def read_law(table: Fields) -> Any:
    """A friction law, or ``None`` from an empty table."""
    return read_registered(_one_joint(table), "law", "friction law", FRICTION) if table.names() else None


def read_drive(table: Fields) -> Any:
    """A drive, or ``None`` from an empty table."""
    return read_registered(_one_joint(table), "drive", "drive", DRIVES) if table.names() else None


def _one_joint(table: Fields) -> Fields:
    """Laws and drives belong to one joint: their parameters are single numbers."""
    for key in table.names():
        if isinstance(table.peek(key), list):
            raise table.error("One number is needed, found a list; every joint has a table of its own.", key)
    return table


def read_disturbance(table: Fields) -> Any:
    return read_registered(table, "kind", "disturbance", DISTURBANCES)


def read_each(root: Fields, key: str, joints: Sequence[str], reader: Any) -> tuple[Any, ...] | None:
    """One part a joint: a list of n tables (``{}`` is none), one table for all joints, tables by joint name, or ``"none"``."""
    if not root.has(key):
        return None
    value, n = root.raw(key), len(joints)
    if value == "none" or value == []:
        return ()
    if isinstance(value, dict):
        if "law" in value or "drive" in value:
            return (root.read(key, reader),) * n
        table = root.table(key)
        assert table is not None
        found = tuple(table.read(name, reader) for name in joints)
        table.close()
        return found
    tables = root.tables(key)
    if len(tables) != n:
        raise root.error(f"One table a joint is needed ({n}), found {len(tables)}; {{}} stands for none.", key)
    return tuple(reader(t) for t in tables)


def read_registered(table: Fields, key: str, what: str, registry: Mapping[str, Any]) -> Any:
    """The part that ``key`` names, with the numbers of the table; the table is closed."""
    name = table.required_text(key)
    if name not in registry:
        raise unknown_name(what, name, registry, **table.document.place(table.where(key)))
    return read_dataclass(table, registry[name], f"{what} '{name}'")


def read_dataclass(table: Fields, cls: Any, what: str) -> Any:
    arguments: dict[str, Any] = {}
    fields = [f for f in dataclasses.fields(cls) if f.init]
    keys = [
        table.either(f.name, f"{f.name}_deg") if f.name in ANGLES else f.name if table.has(f.name) else None
        for f in fields
    ]
    table.close()  # a misspelt key is told before the one that it leaves missing
    for f, key in zip(fields, keys):
        if key is not None:
            arguments[f.name] = _value(table, key, f)
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise table.error(f"The {what} needs '{f.name}'.")
    try:
        return cls(**arguments)
    except (ManipulaError, TypeError, ValueError) as error:
        raise table.document.explain(error, table.path) from None  # pyright: ignore[reportAttributeAccessIssue]


def _value(table: Fields, key: str, f: dataclasses.Field[Any]) -> Any:
    document: Any = table.document
    if f.name == "criteria":
        return read_criteria(table, key)
    if "bool" in str(f.type):
        return table.flag(key, False)
    if f.name in TEXTS or (f.name == "limit" and table.raw(key) == "effort"):
        return table.required_text(key)
    if f.name in WHOLE:
        from manipula.simulation.files.document import whole_number

        return whole_number(table, key, 0)
    if f.name in FORMULAS:
        raw = table.raw(key)
        if isinstance(raw, list):
            return tuple(read_formula(table, v, f"{table.where(key)}[{i}]") for i, v in enumerate(raw))
        return read_formula(table, raw, table.where(key))
    return document.numbers(table.raw(key), table.where(key), degrees=key != f.name)


def read_formula(table: Fields, value: Any, path: str, names: tuple[str, ...] = ("t",)) -> Any:
    """A number, or a text that is a formula in t and stays one."""
    if not isinstance(value, str):
        return table.document.scalar(value, path)
    try:
        parse(value, names=names)
    except DescriptionError as error:
        raise table.document.located(error, path) from None
    return value


REGISTRIES: dict[str, tuple[str, Mapping[str, Any], str]] = {
    "controller": ("controller", CONTROLLERS, "manipula.control.REGISTRY"),
    "criteria": ("criterion", CRITERIA, "manipula.redundancy.null_space.REGISTRY"),
    "friction": ("friction law", FRICTION, "manipula.robot.friction.REGISTRY"),
    "drives": ("drive", DRIVES, "manipula.robot.drives.REGISTRY"),
    "disturbances": ("disturbance", DISTURBANCES, "manipula.simulation.plant.disturbances.DISTURBANCES"),
}
KEYS = {"controller": "law", "criteria": "criterion", "friction": "law", "drives": "drive", "disturbances": "kind"}


def part_table(part: Any, group: str | None = None) -> dict[str, Any]:
    """A part as plain values: its name in the registry of its ``group`` and the fields that differ from their defaults.

    Raises:
        DescriptionError: when a file with it could not be read again, because it holds a function or is in no registry.
    """
    name, key = getattr(part, "name", None), None if group is None else KEYS[group]
    if group is not None:
        what, registry, where = REGISTRIES[group]
        check_registered(what, part, name, registry, where, field=group)
    out: dict[str, Any] = {} if key is None else {key: name}
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        if not f.init or value is None or (f.default is not dataclasses.MISSING and value == f.default):
            continue
        if callable(value):
            raise DescriptionError(
                "A Python function cannot be written to a file; give it as a formula in quotes.", field=f.name
            )
        if f.name == "criteria":
            out[f.name] = [part_table(c, "criteria") for c in value]
        else:
            out[f.name] = int(value) if f.name in WHOLE else value
    return out


def each_table(parts: tuple[Any, ...] | None, group: str) -> Any:
    """One part a joint, as ``read_each`` reads it."""
    if parts is None:
        return None
    return [{} if p is None else part_table(p, group) for p in parts] if parts else "none"

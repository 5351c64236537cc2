"""The argument struct: which numbers of a robot stay arguments of the generated functions.

A robot with free parameters keeps exactly those. For a robot of plain numbers the struct holds what identification can
change: mass, centre of mass and inertia of every link, rotor inertia, friction and gravity; geometry stays in the code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.symbols import evaluate, is_symbolic
from manipula.codegen.base import ParameterField
from manipula.codegen.names import Identifiers, comment
from manipula.errors import DescriptionError, unknown_name
from manipula.robot.robot import Robot

MODES = ("baked", "struct")
_AXES = ("x", "y", "z")
_SIX = ((0, 0, "Ixx"), (0, 1, "Ixy"), (0, 2, "Ixz"), (1, 1, "Iyy"), (1, 2, "Iyz"), (2, 2, "Izz"))


@dataclasses.dataclass(frozen=True)
class Parametrised:
    """A robot whose free symbols are the fields of the struct, in order."""

    robot: Robot
    symbols: tuple[str, ...]
    fields: tuple[ParameterField, ...]


def parametrised(robot: Robot, mode: str) -> Parametrised:
    """The robot as the export sees it: no free symbol ("baked") or one symbol a field ("struct")."""
    if not isinstance(mode, str) or mode not in MODES:
        raise unknown_name("way to treat parameters", mode, MODES, field="parameters")
    if mode == "baked":
        robot = robot.with_values()
        if robot.parameters:
            raise DescriptionError(
                f"Robot '{comment(robot.name)}' has free parameters ({', '.join(map(comment, robot.parameters[:12]))}); "
                "give them numbers with robot.with_parameters(...) or export with parameters='struct'."
            )
        return Parametrised(robot, (), ())
    names = Identifiers(("p", "q", "qd", "qdd"))
    if robot.parameters:
        known = dict(robot.values)
        fields = tuple(
            ParameterField(names.unique(s), f"parameter {comment(s, 60)}", known.get(s)) for s in robot.parameters
        )
        return Parametrised(robot, robot.parameters, fields)
    return _opened(robot, names)


class _Opener:
    """Replaces numbers by symbols and remembers what they were."""

    def __init__(self, names: Identifiers) -> None:
        self.names = names
        self.fields: list[ParameterField] = []

    def __call__(self, value: Any, name: str, meaning: str) -> Any:
        import sympy

        field = ParameterField(self.names.unique(name), meaning, float(value))
        self.fields.append(field)
        return sympy.Symbol(field.name)


def _opened(robot: Robot, names: Identifiers) -> Parametrised:
    free = _Opener(names)
    links, joints = [], []
    for k, (link, joint) in enumerate(zip(robot.bodies, robot.moving_joints), start=1):
        shown = f"link {k} ({comment(link.name, 40)})"
        mass = free(link.mass, f"m{k}", f"mass of {shown} [kg]")
        com = tuple(free(c, f"c{k}{a}", f"centre of mass of {shown}, {a} [m]") for c, a in zip(link.com, _AXES))
        inertia = [[0.0] * 3 for _ in range(3)]
        for i, j, label in _SIX:
            entry = free(
                link.inertia[i][j], f"{label}{k}", f"inertia of {shown} about its centre of mass, {label} [kg m2]"
            )
            inertia[i][j] = inertia[j][i] = entry
        links.append(dataclasses.replace(link, mass=mass, com=com, inertia=tuple(map(tuple, inertia))))
        changes: dict[str, Any] = {"friction": _opened_friction(joint, k, free)}
        if joint.armature != 0.0:
            unit = "kg m2" if joint.is_revolute else "kg"
            armature = free(
                joint.armature, f"Ir{k}", f"rotor inertia at joint {k} ({comment(joint.name, 40)}) [{unit}]"
            )
            changes |= {"rotor_inertia": armature, "gear_ratio": 1.0}
        joints.append(dataclasses.replace(joint, **changes))
    payload = robot.payload
    if payload is not None:
        payload = dataclasses.replace(payload, mass=free(payload.mass, "payload", "mass carried at the tip [kg]"))
    gravity = tuple(free(g, f"g{a}", f"acceleration of gravity, {a} [m/s2]") for g, a in zip(robot.gravity, _AXES))
    followers = tuple(
        dataclasses.replace(f, joint=j, link=x) for f, j, x in zip(robot.followers, joints[robot.n :], links[robot.n :])
    )
    opened = dataclasses.replace(
        robot,
        links=tuple(links[: robot.n]),
        joints=tuple(joints[: robot.n]),
        followers=followers,
        gravity=gravity,
        payload=payload,
    )
    return Parametrised(opened, tuple(f.name for f in free.fields), tuple(free.fields))


def _opened_friction(joint: Any, k: int, free: _Opener) -> Any:
    law = joint.friction
    if law is None:
        return None
    changes = {
        f.name: free(value, f"{f.name}{k}", f"{comment(f.name, 40)} of the friction in joint {k} ({comment(joint.name, 40)})")
        for f in dataclasses.fields(law)
        for value in (getattr(law, f.name),)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }  # fmt: skip
    return dataclasses.replace(law, **changes)


def on_scalars(part: Any, values: Mapping[str, Any]) -> Any:
    """A frozen part (a friction law) with its symbols replaced by scalars of any kind."""
    changes = {
        f.name: evaluate(value, values)
        for f in dataclasses.fields(part)
        for value in (getattr(part, f.name),)
        if is_symbolic(value)
    }
    return dataclasses.replace(part, **changes) if changes else part


def sample_values(fields: Sequence[ParameterField], rng: np.random.Generator) -> np.ndarray:
    """Numbers for the stored tests: the robot's own, or something positive for what it leaves free."""
    drawn = rng.uniform(0.5, 1.5, len(fields))
    return np.array([x if f.value is None else f.value for f, x in zip(fields, drawn)], float)

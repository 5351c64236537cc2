"""Gains and references that change during a run: at a time, or when a formula of the state crosses zero."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Target, target_of
from manipula.errors import DescriptionError
from manipula.parts.checks import check_part
from manipula.parts.field import Choice, Number, Part, Text

if TYPE_CHECKING:
    from manipula.control.base import Controller
    from manipula.simulation.plant.plant import Plant

DIRECTIONS = ("up", "down")
WAITING, ARMED = -2.0, -1.0  # in the place of the instant: the formula is beyond zero; it is before it
SNAP = 1e-14  # of a time of size 1, as for steps


@dataclass(frozen=True)
class Switch:
    """From an instant on the controller has other gains, or follows another reference, which begins then.

    The instant is a ``time``, or where a formula of the time t, the positions q1, q2 … and the speeds qd1, qd2 … first crosses zero in one
    direction; it is found to rounding, and steps end there. A digital controller learns of it at its next instant. States of
    the controller go on. Where several switches have happened, the last one in the list holds.
    """

    time: Annotated[Any, Number("s", "from when on", least=0.0)] = None
    when: Annotated[Any, Text("formula of t, q1, qd1 … that crosses 0 when it happens")] = None
    direction: Annotated[str, Choice("in which direction the formula crosses 0", *DIRECTIONS)] = "up"
    controller: Annotated[Any, Part("controller", "the law of the run with other gains")] = None
    reference: Annotated[Any, Part("reference", "another reference in the same space, whose time begins then")] = None
    structure: ClassVar[frozenset[str]] = frozenset({"reference"})

    def __post_init__(self) -> None:
        check_part(self)
        if (self.time is None) == (self.when is None):
            raise DescriptionError(
                "A switch happens at a time, or when a formula crosses zero: give one of them.", field="time"
            )
        if self.when is None and self.direction != "up":
            raise DescriptionError("A time has no direction; this one would never act.", field="direction")
        if self.controller is None and self.reference is None:
            raise DescriptionError("A switch needs another controller, or another reference.", field="controller")

    def formula(self, n: int) -> Any:
        """The parsed formula, whose names are those of a robot with n joints."""
        return parse(self.when, names_of(n))

    def level(self, t: Scalar, q: Vector, qd: Vector) -> Scalar:
        """Below zero before it happens, zero or more from then on."""
        value = self.formula(len(q)).evaluate(dict(zip(names_of(len(q)), (t, *q, *qd))))
        return value if self.direction == "up" else -value


def names_of(n: int) -> tuple[str, ...]:
    """What a formula of the state may name: t, q1 … and qd1 …"""
    return ("t", *(f"q{i + 1}" for i in range(n)), *(f"qd{i + 1}" for i in range(n)))


def conditional(switches: tuple[Switch, ...]) -> list[Switch]:
    """Those that depend on the state, in the order of their states."""
    return [s for s in switches if s.when is not None]


def happened(plant: Plant, switch: Switch, t: Scalar, x: Vector) -> tuple[Any, Scalar]:
    """Has it happened, and when?"""
    if switch.when is None:
        return t >= switch.time - SNAP * (1.0 + ops.abs(t)), switch.time
    k = next(i for i, s in enumerate(conditional(plant.switches)) if s is switch)
    instant = plant.layout.switch_states(x)[k]
    return instant >= 0.0, instant


def acting_controller(plant: Plant, t: Scalar, x: Vector) -> Controller | None:
    """The controller with the gains in force."""
    controller = plant.controller
    for switch in plant.switches:
        if switch.controller is not None and controller is not None:
            controller = blended(happened(plant, switch, t, x)[0], switch.controller, controller)
    return controller


def acting_target(plant: Plant, t: Scalar, x: Vector) -> Target:
    """The target of the reference in force."""
    target = plant.reference(t)
    for switch, follow in zip(plant.switches, plant.switched_references):
        if follow is None:
            continue
        on, instant = happened(plant, switch, t, x)
        since, before = t - ops.where(on, instant, t), target
        target = target_of(
            lambda k, on=on, since=since, before=before, follow=follow: np.array(
                [ops.where(on, a, b) for a, b in zip(follow(k)(since), before.derivative(k))]
            )
        )
    return target


def levels(plant: Plant, t: Scalar, x: Vector) -> list[Scalar]:
    """The formulas of the switches that depend on the state."""
    lay = plant.layout
    return [s.level(t, lay.q(x), lay.qd(x)) for s in conditional(plant.switches)]


def breach(plant: Plant, t: Scalar, x: Vector) -> Scalar:
    """Below zero once a switch has happened, or may happen from now on, that did not or might not when its state was written."""
    worst: Scalar = 1.0
    for level, instant in zip(levels(plant, t, x), plant.layout.switch_states(x)):
        beyond = ops.where(level >= 0.0, -1.0, 1.0)
        waiting = ops.where(instant < 0.5 * (WAITING + ARMED), -beyond, beyond)
        worst = ops.minimum(worst, ops.where(instant >= 0.0, 1.0, waiting))
    return worst


def state_after_switches(plant: Plant, t: Scalar, x: Vector) -> Vector:
    """The state with the instants of the switches that happen now."""
    lay, found = plant.layout, levels(plant, t, x)
    if not found:
        return x
    x = np.array(x, dtype=object)
    first = lay.size - len(lay.works) - lay.switches
    for k, level in enumerate(found):
        instant = x[first + k]
        armed = ops.where(instant < 0.5 * (WAITING + ARMED), WAITING, t)
        x[first + k] = ops.where(instant >= 0.0, instant, ops.where(level >= 0.0, armed, ARMED))
    return x


def blended(on: Any, new: Any, old: Any) -> Any:
    """The part ``new`` where the condition holds, else ``old``: the same structure, number by number.

    Raises:
        DescriptionError: the two differ in more than numbers.
    """
    if isinstance(on, (bool, np.bool_)):
        return new if on else old
    if isinstance(new, tuple) != isinstance(old, tuple):
        new, old = (v if isinstance(v, tuple) else (v,) * len(w) for v, w in ((new, old), (old, new)))
    if isinstance(new, tuple):
        return tuple(blended(on, a, b) for a, b in zip(new, old, strict=True))
    if dataclasses.is_dataclass(old) and type(new) is type(old):
        made = object.__new__(type(old))
        for f in dataclasses.fields(old):
            a, b = getattr(new, f.name), getattr(old, f.name)
            object.__setattr__(made, f.name, b if f.name in getattr(old, "structure", ()) else blended(on, a, b))
        return made
    plain = (type(None), str, bool)
    if isinstance(new, plain) or isinstance(old, plain):
        if new is old or (type(new) is type(old) and new == old):
            return old
        raise DescriptionError(f"A switch changes gains, and not what a law is: found {new!r} in the place of {old!r}.")
    return ops.where(on, new, old)


def check_same_kind(old: Controller | None, new: Controller, field: str) -> None:
    """Is it the same law?

    Raises:
        DescriptionError: with the field.
    """
    if type(new) is not type(old) or not dataclasses.is_dataclass(old):
        found = "none" if old is None else f"'{old.name}'"
        raise DescriptionError(
            f"A switch changes the gains of a law; the run has {found}, the switch '{new.name}'.", field=field
        )


def check_alike(new: Any, old: Any, field: str) -> None:
    """Are there other numbers in the same places, and nothing else? Both as they are made ready for the run.

    Raises:
        DescriptionError: with the field.
    """
    for f in dataclasses.fields(old):
        a, b = getattr(new, f.name), getattr(old, f.name)
        parts = [isinstance(v, tuple) and any(map(dataclasses.is_dataclass, v)) for v in (a, b)]
        if any(parts):  # tasks, criteria
            if not all(parts) or [type(v) for v in a] != [type(v) for v in b]:
                raise DescriptionError(
                    f"A switch changes gains, and not what a law is: '{f.name}' has other parts than in the run.",
                    field=f"{field}.{f.name}",
                )
            for k, (own, before) in enumerate(zip(a, b)):
                check_alike(own, before, f"{field}.{f.name}[{k}]")
            continue
        number = (int, float, tuple, np.ndarray)
        alike = (isinstance(a, number) and isinstance(b, number) and not isinstance(a, bool)) or a == b
        if f.name in getattr(type(old), "structure", ()):
            alike = a == b
        if not alike:
            raise DescriptionError(
                f"A switch changes gains, and not what a law is: '{f.name}' is {b!r} in the run.",
                field=f"{field}.{f.name}",
            )

"""What disturbs a run: external wrenches, payload changes, measurement noise, real actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeGuard

from manipula.algebra.fields import freeze
from manipula.errors import DescriptionError
from manipula.parts.checks import check_part
from manipula.parts.field import Formulas, Frame, Number, PerJoint, VectorField, Whole
from manipula.parts.registry import PartKind
from manipula.robot.link import TIP


def _plain(value: Any) -> TypeGuard[float]:
    """Is it a number that can be looked at, and not one that is being traced?"""
    return isinstance(value, (int, float))


@dataclass(frozen=True)
class Wrench:
    """A force and moment on a frame during an interval, in base axes, force first."""

    wrench: Annotated[
        Any, Formulas("N, N·m", "force x, y, z and moment x, y, z: numbers, or formulas in t", lengths=(6,))
    ]
    frame: Annotated[str, Frame("where it acts")] = TIP
    start: Annotated[Any, Number("s", "when it begins to act")] = 0.0
    stop: Annotated[Any, Number("s", "when it ceases to act", infinite=True)] = float("inf")
    part: ClassVar[str] = "disturbance"
    name: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if _plain(self.start) and _plain(self.stop) and self.start >= self.stop:
            raise DescriptionError(
                f"It would never act: it starts at {self.start:g} s and stops at {self.stop:g} s.", field="stop"
            )


@dataclass(frozen=True)
class PayloadChange:
    """From a time on the tip carries another point mass."""

    time: Annotated[Any, Number("s", "from when on")]
    mass: Annotated[Any, Number("kg", "mass that the tip carries", least=0.0)]
    com: Annotated[Any, VectorField("m", "where it is, in the tool frame")] = (0.0, 0.0, 0.0)
    part: ClassVar[str] = "disturbance"
    name: ClassVar[str] = "payload"

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)


@dataclass(frozen=True)
class Noise:
    """Normal measurement noise, fresh every step and held during it."""

    position: Annotated[float, Number("rad or m", "standard deviation of the positions", least=0.0, degrees=True)] = 0.0
    velocity: Annotated[float, Number("rad/s or m/s", "standard deviation of the speeds", least=0.0, degrees=True)] = (
        0.0
    )
    seed: Annotated[
        int, Whole("the noise of run i in a batch is drawn from (seed, i), whatever the order", least=0)
    ] = 0

    def __post_init__(self) -> None:
        check_part(self)
        for name in ("position", "velocity"):
            object.__setattr__(self, name, float(getattr(self, name)))


@dataclass(frozen=True)
class Actuator:
    """Limits between command and drive.

    The command decided at the beginning of a step acts from ``delay`` later on, for one step; any time is allowed. Until the first
    one arrives the command decided at the start is held. Torques that are played back come later by ``delay``, and are not held in steps.
    """

    limit: Annotated[
        Any,
        PerJoint(
            "N·m or N",
            'largest torque commanded; "effort" takes the robot\'s effort limits, none no limit',
            least=0.0,
            choices=("effort",),
        ),
    ] = None
    delay: Annotated[float, Number("s", "time between decision and action", least=0.0)] = 0.0
    structure: ClassVar[frozenset[str]] = frozenset({"delay"})

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)


DISTURBANCES = {d.name: d for d in (Wrench, PayloadChange)}
KIND = PartKind("disturbance", "kind", DISTURBANCES, "manipula.simulation.plant.disturbances.DISTURBANCES")
IDEAL = Actuator()
QUIET = Noise()

"""What disturbs a run: external wrenches, payload changes, measurement noise, real actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

from manipula.algebra.fields import freeze
from manipula.errors import DescriptionError, unknown_name
from manipula.robot.link import TIP


def _plain(value: Any) -> TypeGuard[float]:
    """Is it a number that can be looked at, and not one that is being traced?"""
    return isinstance(value, (int, float))


@dataclass(frozen=True)
class Wrench:
    """A force and moment on a frame during an interval, in base axes, force first [N, N·m].

    Attributes:
        wrench: six numbers or formulas in ``t``.
        frame: where it acts. start, stop: when [s].
    """

    wrench: Any
    frame: str = TIP
    start: Any = 0.0
    stop: Any = float("inf")
    name: ClassVar[str] = "wrench"

    def __post_init__(self) -> None:
        freeze(self)
        if not isinstance(self.wrench, tuple) or len(self.wrench) != 6:
            raise DescriptionError(
                "Six numbers or formulas in t are needed: force x, y, z [N], moment x, y, z [N·m].", field="wrench"
            )
        if _plain(self.start) and _plain(self.stop) and self.start >= self.stop:
            raise DescriptionError(
                f"It would never act: it starts at {self.start:g} s and stops at {self.stop:g} s.", field="stop"
            )


@dataclass(frozen=True)
class PayloadChange:
    """From time ``time`` on the tip carries ``mass`` [kg] as a point at ``com`` in the tool frame."""

    time: Any
    mass: Any
    com: Any = (0.0, 0.0, 0.0)
    name: ClassVar[str] = "payload"

    def __post_init__(self) -> None:
        freeze(self)
        if not isinstance(self.com, tuple) or len(self.com) != 3:
            raise DescriptionError("Three coordinates are needed [m].", field="com")
        if _plain(self.mass) and not self.mass >= 0.0:
            raise DescriptionError(f"A payload has a mass of at least 0 kg, found {self.mass:g}.", field="mass")


@dataclass(frozen=True)
class Noise:
    """Normal measurement noise, fresh every step and held during it.

    Attributes:
        position, velocity: standard deviations [rad or m, per s].
        seed: the noise of run i in a batch is drawn from (seed, i), independent of order and threads.
    """

    position: float = 0.0
    velocity: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("position", "velocity"):
            value = float(getattr(self, name))
            if not 0.0 <= value < float("inf"):
                raise DescriptionError(f"A standard deviation is at least 0, found {value:g}.", field=name)
            object.__setattr__(self, name, value)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise DescriptionError(f"A seed is a whole number of at least 0, found {self.seed!r}.", field="seed")


@dataclass(frozen=True)
class Actuator:
    """Limits between command and drive.

    Attributes:
        limit: largest |tau| commanded, one number or one a joint; ``None`` takes nothing away. ``"effort"`` uses the robot's
            effort limits.
        delay: the command decided at the beginning of a step acts from ``delay`` [s] later on, for one step; any time is allowed.
            Until the first one arrives the command decided at the start is held.
    """

    limit: Any = None
    delay: float = 0.0
    structure: ClassVar[frozenset[str]] = frozenset({"delay"})

    def __post_init__(self) -> None:
        freeze(self)
        if not 0.0 <= self.delay < float("inf"):
            raise DescriptionError(f"A delay is at least 0 s, found {self.delay:g}.", field="delay")
        if isinstance(self.limit, str) and self.limit != "effort":
            raise unknown_name("limit of an actuator", self.limit, ("effort",), field="actuator.limit")
        for value in self.limit if isinstance(self.limit, tuple) else (self.limit,):
            if _plain(value) and not value >= 0.0:
                raise DescriptionError(f"A limit of the torque is at least 0, found {value:g}.", field="actuator.limit")


DISTURBANCES = {d.name: d for d in (Wrench, PayloadChange)}
IDEAL = Actuator()
QUIET = Noise()

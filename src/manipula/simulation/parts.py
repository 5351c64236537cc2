"""What disturbs a run: outside wrenches, payload changes, measurement noise, real actuators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from manipula.control.base import freeze
from manipula.errors import DescriptionError
from manipula.robot.link import TIP


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


@dataclass(frozen=True)
class Actuator:
    """Limits between command and drive.

    Attributes:
        limit: largest |tau| commanded, one number or one a joint; ``None`` takes nothing away. ``"effort"`` uses the robot's
            effort limits.
        delay: the command decided at the beginning of a step acts from ``delay`` [s] later on, for one step; any time is allowed.
    """

    limit: Any = None
    delay: float = 0.0
    structure: ClassVar[frozenset[str]] = frozenset({"delay"})

    def __post_init__(self) -> None:
        freeze(self)
        if not 0.0 <= self.delay < float("inf"):
            raise DescriptionError(f"A delay is at least 0 s, found {self.delay:g}.", field="delay")


DISTURBANCES = {d.name: d for d in (Wrench, PayloadChange)}
IDEAL = Actuator()
QUIET = Noise()

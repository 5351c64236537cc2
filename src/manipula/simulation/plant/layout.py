"""Where everything stands in the state vector of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw

WORKS = ("drives", "friction", "external")


class Audit(NamedTuple):
    """Work since the start [J]: done by the drives on the links, lost in friction, done by external wrenches, by contacts, by the moving base."""

    drives: Any
    friction: Any
    external: Any
    contact: Any = 0.0
    base: Any = 0.0


@dataclass(frozen=True)
class StateLayout:
    """x = (q, qd, friction states, drive states, controller states, instants of switches, works).

    Every run has those of drives, friction and external wrenches.
    """

    n: int
    friction: tuple[int, ...]
    drives: tuple[int, ...]
    controller: int
    works: tuple[str, ...] = WORKS
    switches: int = 0  # that depend on the state

    @classmethod
    def of(
        cls, n: int, friction: tuple[FrictionLaw | None, ...], drives: tuple[Drive | None, ...], controller: int,
        works: tuple[str, ...] = WORKS, switches: int = 0,
    ) -> StateLayout:  # fmt: skip
        return cls(
            n,
            tuple(0 if law is None else law.states for law in friction),
            tuple(0 if drive is None else drive.states for drive in drives),
            controller,
            works,
            switches,
        )

    @property
    def size(self) -> int:
        return 2 * self.n + sum(self.friction) + sum(self.drives) + self.controller + self.switches + len(self.works)

    def q(self, x: Any) -> Any:
        return x[..., : self.n]

    def qd(self, x: Any) -> Any:
        return x[..., self.n : 2 * self.n]

    def friction_states(self, x: Any) -> list[tuple[Any, ...]]:
        return self._slices(x, 2 * self.n, self.friction)

    def friction_start(self, joint: int) -> int:
        """Where the states of one joint's friction begin in x."""
        return 2 * self.n + sum(self.friction[:joint])

    def drive_states(self, x: Any) -> list[tuple[Any, ...]]:
        return self._slices(x, 2 * self.n + sum(self.friction), self.drives)

    def controller_states(self, x: Any) -> Any:
        start = 2 * self.n + sum(self.friction) + sum(self.drives)
        return x[..., start : start + self.controller]

    def switch_states(self, x: Any) -> Any:
        """When each switch happened; below zero: not yet."""
        start = 2 * self.n + sum(self.friction) + sum(self.drives) + self.controller
        return x[..., start : start + self.switches]

    def audit(self, x: Any) -> Audit:
        count = len(self.works)
        return Audit(**{name: x[..., k - count][()] for k, name in enumerate(self.works)})

    def join(self, *parts: Any) -> np.ndarray:
        """One object vector from parts that are vectors or tuples of scalars."""
        out: list[Any] = []
        for part in parts:
            out.extend(list(part))
        return np.array(out, dtype=object)

    @staticmethod
    def _slices(x: Any, start: int, counts: tuple[int, ...]) -> list[tuple[Any, ...]]:
        out = []
        for count in counts:
            out.append(tuple(x[..., start + k][()] for k in range(count)))  # [()]: a number, not an array of none
            start += count
        return out

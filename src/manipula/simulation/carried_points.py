r"""Points of an arm whose base moves, or whose tip becomes that of another tool during the run: their motion in the world.

With the base at :math:`b(t), R(t)` and the point at :math:`x(t)` in its axes the k-th derivative of :math:`p = b + Rx` is

.. math:: p^{(k)} = b^{(k)} + \sum_{i=0}^k \binom ki R^{(k-i)}x^{(i)}.

A change of tool makes the word "tip" mean another point of the last link: at that instant both points count, the old one before and the new one
after it, and what one of them does is no jump of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.rotation import from_rpy
from manipula.robot.link import TIP
from manipula.robot.robot import Robot
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.disturbances import Disturbance, PayloadChange
from manipula.simulation.point_motion import ORIGIN, Point, point_rates
from manipula.simulation.stepping.grid import margin

TIPS = ("tip", TIP)
BESIDE = 4.0  # margins of time: so far on either side an instant is one of a look


class Tool(NamedTuple):
    """From a time on the tip is here in the tool frame that the robot describes."""

    time: float
    p: tuple[float, float, float]
    R: np.ndarray


@dataclass(frozen=True)
class Carrying:
    """What moves points of an arm beside its joints, in one run."""

    base: BaseMotion | None = None
    tools: tuple[Tool, ...] = ()

    def changes(self, point: Point) -> list[float]:
        """When the point becomes another one, in order."""
        return [tool.time for tool in self.tools] if point[0] in TIPS else []

    def rates(self, robot: Robot, point: str | Point, t: np.ndarray, *motion: np.ndarray, side: Any = "right") -> list[np.ndarray]:  # fmt: skip
        """``[p, ṗ, …]`` of a point in axes of the world, (S, 3) each, from ``q, qd, …`` (S, n) each at times t (S,)."""
        where = (point, ORIGIN) if isinstance(point, str) else point
        t = np.asarray(t, float)
        found = [np.zeros((len(t), 3)) for _ in motion]
        sign = 1.0 if side == "left" else -1.0
        behind = [t > time + sign * BESIDE * margin(t) if sign > 0 else t >= time + sign * BESIDE * margin(t) for time in self.changes(where)]  # fmt: skip
        count = np.sum(behind, axis=0) if behind else np.zeros(len(t), int)
        for k in np.unique(count):
            own = count == k
            for into, values in zip(found, point_rates(robot, self.place(where, int(k)), *(part[own] for part in motion))):  # fmt: skip
                into[own] = values
        if self.base is None:
            return found
        b, R = self.base.rates(t, len(motion) - 1, side)
        turned = lambda k: sum(comb(k, i) * np.einsum("sij,sj->si", R[k - i], found[i]) for i in range(k + 1))  # noqa: E731
        return [b[k] + turned(k) for k in range(len(motion))]

    def place(self, point: Point, k: int) -> Point:
        """Where the point is in its described frame after k changes of the tool."""
        if not k or point[0] not in TIPS:
            return point
        tool = self.tools[k - 1]
        at = np.array(tool.p) + tool.R @ np.array(point[1])
        return point[0], (float(at[0]), float(at[1]), float(at[2]))


def carrying(base: BaseMotion | None, disturbances: Sequence[Disturbance]) -> Carrying | None:
    """What carries points in a run with these parts (numbers in them); ``None`` where nothing does."""
    changed = [d for d in disturbances if isinstance(d, PayloadChange) and d.tool is not None]
    tools = sorted((Tool(float(d.time), _place(d.tool), np.asarray(from_rpy(*d.tool_rpy), float)) for d in changed), key=lambda tool: tool.time)  # fmt: skip
    return None if base is None and not tools else Carrying(base, tuple(tools))


def _place(given: Any) -> tuple[float, float, float]:
    return float(given[0]), float(given[1]), float(given[2])


def rates_of(
    found: Carrying | None, robot: Robot, point: str | Point, t: np.ndarray, *motion: np.ndarray, side: Any = "right"
) -> list[np.ndarray]:
    """The same whether something carries the point or not."""
    return point_rates(robot, point, *motion) if found is None else found.rates(robot, point, t, *motion, side=side)

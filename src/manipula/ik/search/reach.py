r"""How far a frame can be from the shoulder: a bound that makes hopeless targets cheap.

The shoulder is the last joint origin that no joint moves. From there on the links are bars of constant length (bars of variable
length at prismatic joints), so the distance lies between :math:`\max(0,\ \ell_k - \sum_{j\ne k}\ell_j)` for the longest bar and
:math:`\sum_k \ell_k`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from manipula.physics.kinematics import place
from manipula.physics.mechanism import Body, Mechanism, mechanism_of
from manipula.robot.link import TIP
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

STILL = 1e-12  # [m] an origin that moves less than this does not move


class Reach(NamedTuple):
    """Distances of a frame's origin from ``centre`` [m] that are possible at most."""

    centre: np.ndarray
    nearest: float
    farthest: float

    def gap(self, p: np.ndarray) -> np.ndarray:
        """How far positions (..., 3) are outside the shell, 0 inside."""
        r = np.linalg.norm(np.asarray(p, float) - self.centre, axis=-1)
        return np.maximum(0.0, np.maximum(r - self.farthest, self.nearest - r))

    def gap_of(self, x: float, y: float, z: float) -> float:
        """The same for one position in plain numbers."""
        a, b, c = self.centre.tolist()
        r = math.sqrt((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2)
        return max(0.0, r - self.farthest, self.nearest - r)


@once_per_mechanism(256)
def reach_of(robot: Robot, frame: str = TIP, limited: bool = True) -> Reach | None:
    """The shell around the shoulder, or None for a frame that does not move."""
    mechanism = mechanism_of(robot)
    found = mechanism.frames[frame]
    if found.link < 0:
        return None
    links = [*reversed(mechanism.ancestors(found.link)), found.link]
    rng = np.random.default_rng(0)
    origins = np.array([[place(mechanism, q).p[i] for i in links] for q in rng.uniform(-1, 1, (4, mechanism.n))], float)
    still = np.abs(origins - origins[0]).max(axis=(0, 2)) < STILL
    shoulder = int(np.argmin(still)) if not still.all() else len(links)  # how many origins no joint moves
    centre = origins[0, shoulder - 1] if shoulder else np.zeros(3)
    bars = []
    for i in links[shoulder:]:
        bars.append(_bar(mechanism.bodies[i], *(_range(robot, mechanism, i) if limited else (-np.inf, np.inf))))
    tool = float(np.linalg.norm(np.asarray(found.pose.p, float)))
    bars.append((tool, tool))
    longest = int(np.argmax([low for low, _ in bars]))
    rest = sum(high for j, (_, high) in enumerate(bars) if j != longest)
    return Reach(centre, max(0.0, float(bars[longest][0] - rest)), float(sum(high for _, high in bars)))


def _range(robot: Robot, mechanism: Mechanism, i: int) -> tuple[float, float]:
    """Between which positions joint i of the mechanism moves."""
    coupling = mechanism.coupling
    joint, ratio = (i, 1.0) if coupling is None else (coupling.coordinate[i], float(coupling.ratio[i]))
    ends = [ratio * float(v) for v in robot.position_limits[joint]]
    return min(ends), max(ends)


def _bar(b: Body, low: float, high: float) -> tuple[float, float]:
    """Least and greatest distance of a joint's origin from its parent's."""
    p = np.asarray(b.p0, float)
    if b.revolute:
        return float(np.linalg.norm(p)), float(np.linalg.norm(p))
    z = np.asarray(b.R0, float)[:, 2]
    foot = float(np.clip(-z @ p, low, high))
    ends = [np.linalg.norm(p + z * q) if np.isfinite(q) else np.inf for q in (low, high)]
    return float(np.linalg.norm(p + z * foot)), float(max(ends))

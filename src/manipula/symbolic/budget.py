r"""How large a robot may be at a level, told before the work is done.

A link beyond a revolute joint multiplies the functions that occur in a composite inertia by at most five
(:math:`1, c, s, c^2, cs`), by fewer when axes are parallel. The estimate multiplies these through the tree and counts the entries of
M that contain them. It is an upper bound of the right order, made in microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.trigpoly import TrigPoly
from manipula.errors import BudgetError
from manipula.robot.robot import Robot
from manipula.symbolic.angle_sums import AngleSums

DEFAULT_TERMS = 400_000


@dataclass(frozen=True)
class TermBudget:
    """The largest number of terms in M that a derivation starts with."""

    terms: int = DEFAULT_TERMS
    level: str = "compact"

    def check(self, robot: Robot, sums: AngleSums) -> None:
        """Refuse a robot whose mass matrix would be larger.

        Raises:
            BudgetError: with the estimate and the level to use instead.
        """
        size = estimate(robot, sums)
        if size > self.terms:
            raise BudgetError(
                f"The mass matrix of '{robot.name}' ({robot.n} joints) would have about {_rounded(size)} terms at level "
                f"'{self.level}', more than the limit of {self.terms}. Use level='recursive', which grows linearly with "
                f"the number of joints, or raise limit=."
            )


def estimate(robot: Robot, sums: AngleSums) -> int:
    """Estimated number of terms of M before folding."""
    weight = _parameters_a_link(sums)
    home = {joint: g for g, group in enumerate(sums.groups) for joint in group}
    beyond = [1.0] * robot.n  # how many functions a composite second moment beyond joint i has
    for i in range(robot.n - 1, -1, -1):
        parent = robot.joints[i].parent
        if parent < 0:
            continue
        joint = robot.joints[i]
        same = joint.is_revolute and i in home and home.get(parent) == home[i]
        growth = 1.0 if same else 2.6 if joint.is_revolute else 1.5
        linear = 2.0 * len(sums.groups[home[i]]) if same else 0.0
        beyond[parent] += growth * beyond[i] + linear
    depth = [0] * robot.n
    total = 0.0
    for i in range(robot.n):
        parent = robot.joints[i].parent
        depth[i] = depth[parent] + 1 if parent >= 0 else 1
        total += depth[i] * beyond[i] * weight
    return int(total)


def _parameters_a_link(sums: AngleSums) -> float:
    """Mean number of different parameter products in the moments of a link; numbers merge with each other."""
    count = 0
    for b in sums.mechanism.bodies:
        entries = [b.moments.mass, *b.moments.first, *(b.moments.second[k] for k in zip(*np.triu_indices(3)))]
        found = set()
        for x in entries:
            if isinstance(x, TrigPoly):
                found |= {k & ~x.ring.trig_mask for k in x.terms}
        count += len(found - {0})
    return max(1.5, count / max(1, len(sums.mechanism.bodies)))


def _rounded(size: float) -> str:
    if size < 1e3:
        return f"{size:.0f}"
    if size < 1e6:
        return f"{size / 1e3:.0f} 000"
    return f"{size:.1e}"

r"""Weight that something else carries: forces, not bodies.

What a link's ``balance`` carries is a mass m at a point c of the link. Gravity g acts on it as on everything else, and the force
:math:`-m g` at c takes that away again: seen from the recursion of Newton and Euler it is :math:`f = m g,\ n = (m c)\times g` that a
joint need not give. It moves with the link and has no inertia.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from manipula.algebra.linear import array, cross
from manipula.algebra.ops import Scalar

if TYPE_CHECKING:
    from manipula.physics.joint_transform import JointTransform
    from manipula.physics.mechanism import Mechanism


class Lift(NamedTuple):
    """Mass and first moment (3,) whose weight is carried."""

    mass: Scalar
    first: np.ndarray

    def seen_from(self, R: np.ndarray, p: np.ndarray) -> Lift:
        """The same in frame A, when this is in frame B and ``X_AB = (R, p)``."""
        return Lift(self.mass, array(R @ self.first + array([self.mass * x for x in p])))

    def wrench(self, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Force and moment about the origin that the joints need not give; gravity in the same axes."""
        return array([self.mass * x for x in gravity]), cross(self.first, gravity)


def is_lifted(mechanism: Mechanism) -> bool:
    """Is the weight of some body carried?"""
    return any(b.lift is not None for b in mechanism.bodies)


def add_lifts(
    mechanism: Mechanism, at: list[JointTransform], force: list[np.ndarray], moment: list[np.ndarray]
) -> None:
    """Add what is carried to the force and moment of every body, at E_i in the axes of E_i."""
    if not is_lifted(mechanism):
        return
    gravity: list[np.ndarray] = []
    for i, (b, turn) in enumerate(zip(mechanism.bodies, at)):
        gravity.append(turn.down(gravity[b.parent] if b.parent >= 0 else mechanism.gravity))
        if b.lift is not None:
            f, n = b.lift.wrench(gravity[i])
            force[i], moment[i] = force[i] + f, moment[i] + n

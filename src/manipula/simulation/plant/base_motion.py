r"""A base that moves as given: a ship, a vehicle, a shaken support.

The robot's outer frame stands in the world at :math:`X_{WO}(t)`. Newton–Euler's recursion then begins with the motion of that frame in place of
rest, and gravity turns into its axes; M does not change. The base takes whatever force keeps it on its motion, and that force does work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from manipula.algebra.derivatives import derivatives
from manipula.algebra.expression import parse
from manipula.algebra.fields import freeze
from manipula.algebra.linear import array, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.rotation import from_rpy
from manipula.errors import DescriptionError
from manipula.parts.checks import check_part
from manipula.parts.field import Formulas
from manipula.physics import energy, newton_euler
from manipula.physics.mechanism import Mechanism, MovingBase


class BaseState(NamedTuple):
    """The base at one instant, in axes of the world: rotation, origin, its velocity and acceleration, angular velocity and acceleration."""

    R: np.ndarray
    p: np.ndarray
    v: np.ndarray
    a: np.ndarray
    w: np.ndarray
    alpha: np.ndarray

    def matrix(self) -> np.ndarray:
        """The pose of the base in the world, 4 × 4."""
        X = zeros(4, 4)
        X[:3, :3], X[:3, 3], X[3, 3] = self.R, self.p, 1.0
        return array(X)


@dataclass(frozen=True)
class BaseMotion:
    r"""The motion of the base in the world, by formulas in t; derivatives are exact.

    With :math:`R = R_z(yaw)R_y(pitch)R_x(roll)` the angular velocity is :math:`\hat\omega = \dot R R^T` and the angular acceleration the
    antisymmetric part of :math:`\ddot R R^T`.
    """

    position: Annotated[Any, Formulas("m", "x, y, z of the base in the world: numbers, or formulas in t", lengths=(3,))] = (0.0, 0.0, 0.0)  # fmt: skip
    rotation: Annotated[Any, Formulas("rad", "roll, pitch, yaw of the base: numbers, or formulas in t", lengths=(3,))] = (0.0, 0.0, 0.0)  # fmt: skip
    part: ClassVar[str] = "base motion"
    name: ClassVar[str] = "formula"

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if callable(self.position) or callable(self.rotation):
            raise DescriptionError("The motion of the base is given by numbers and formulas in t.", field="position")

    @property
    def turns(self) -> bool:
        """Is the base ever turned?"""
        return any(isinstance(v, str) or not isinstance(v, float) or v != 0.0 for v in self.rotation)

    def at(self, t: Scalar) -> BaseState:
        """Where the base is and how it moves."""

        def values(given: Any, t: Scalar) -> list[Any]:
            return [parse(v, ("t",)).evaluate({"t": t}) if isinstance(v, str) else v for v in given]

        p, v, a = (array(x) for x in derivatives(lambda s: np.array(values(self.position, s), object), t, 2))
        if not self.turns:
            return BaseState(np.eye(3), p, v, a, np.zeros(3), np.zeros(3))
        R, Rd, Rdd = (array(x) for x in derivatives(lambda s: from_rpy(*values(self.rotation, s)), t, 2))
        return BaseState(R, p, v, a, _axial(Rd @ R.T), _axial(Rdd @ R.T))


def _axial(A: np.ndarray) -> np.ndarray:
    """The vector of the antisymmetric part of a matrix."""
    return array([0.5 * (A[2, 1] - A[1, 2]), 0.5 * (A[0, 2] - A[2, 0]), 0.5 * (A[1, 0] - A[0, 1])])


def carried(mechanism: Mechanism, base: BaseState) -> Mechanism:
    """The mechanism on its moving base: everything in the axes of the base."""
    into = lambda x: array(base.R.T @ x)  # noqa: E731
    moving = MovingBase(into(base.v), into(base.w), into(base.a), into(base.alpha))
    return replace(mechanism, gravity=into(mechanism.gravity), base=moving)


def inertial_torques(still: Mechanism, moving: Mechanism, q: Vector, qd: Vector) -> np.ndarray:
    """What the motion of the base adds to C q̇ + g, (n,): inertial forces, and gravity in turned axes."""
    return array(newton_euler.nonlinear_effects(moving, q, qd) - newton_euler.nonlinear_effects(still, q, qd))


def base_power(moving: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> Scalar:
    """Power of the forces that move the arm with its base [W], before external wrenches take their part of it."""
    wrench, base = newton_euler.base_wrench(moving, q, qd, qdd), moving.base
    assert base is not None
    return dot(wrench[:3], base.v) + dot(wrench[3:], base.w)


def energies(moving: Mechanism, gravity: Vector, base: BaseState, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
    """Kinetic and potential energy in the world [J]; the latter is zero at the world's origin."""
    mass: Scalar = 0.0
    for b in moving.bodies:
        mass = mass + b.moments.mass
    return energy.kinetic_energy(moving, q, qd), energy.potential_energy(moving, q) - mass * dot(gravity, base.p)

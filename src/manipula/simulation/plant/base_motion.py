r"""A base that moves as given: a ship, a vehicle, a shaken support.

The robot's outer frame stands in the world at :math:`X_{WO}(t)`. Newton–Euler's recursion then begins with the motion of that frame in place of
rest, and gravity turns into its axes; M does not change. The base takes whatever force keeps it on its motion, and that force does work.

The motion is given by formulas, or by any motion in task space (``base_table.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from manipula.algebra.derivatives import derivatives
from manipula.algebra.expression import parse
from manipula.algebra.fields import freeze
from manipula.algebra.jet import Jet
from manipula.algebra.linear import array, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.rotation import about_x, about_y, about_z, from_rpy, sin_cos
from manipula.errors import DescriptionError
from manipula.parts.checks import check_part
from manipula.parts.field import Formulas, Part
from manipula.physics import composite, energy, newton_euler
from manipula.physics.mechanism import Mechanism, MovingBase
from manipula.simulation.field_values import reference


class BaseState(NamedTuple):
    """The base at one instant: rotation, origin, its velocity and acceleration in axes of the world, angular velocity and acceleration in its own.

    ``angles``: roll, pitch and yaw, where formulas turn it.
    """

    R: np.ndarray
    p: np.ndarray
    v: np.ndarray
    a: np.ndarray
    own_w: np.ndarray
    own_alpha: np.ndarray
    angles: np.ndarray | None = None

    @property
    def w(self) -> np.ndarray:
        """Angular velocity in axes of the world."""
        return array(self.R @ self.own_w)

    @property
    def alpha(self) -> np.ndarray:
        """Angular acceleration in axes of the world."""
        return array(self.R @ self.own_alpha)

    def into(self, x: Vector) -> np.ndarray:
        """A vector of the world in axes of the base; three turns about axes cost less than one matrix."""
        if self.angles is None:
            return array(self.R.T @ x)
        roll, pitch, yaw = self.angles
        return array(about_x(-roll) @ (about_y(-pitch) @ (about_z(-yaw) @ x)))

    def matrix(self) -> np.ndarray:
        """The pose of the base in the world, 4 × 4."""
        X = zeros(4, 4)
        X[:3, :3], X[:3, 3], X[3, 3] = self.R, self.p, 1.0
        return array(X)


@dataclass(frozen=True)
class BaseMotion:
    r"""The motion of the base in the world: by formulas in t, whose derivatives are exact, or by a motion in task space.

    With :math:`R = R_z(\psi)R_y(\theta)R_x(\varphi)` the angular velocity in axes of the base is :math:`\hat\omega = R^T\dot R`,

    .. math::
        \omega = (\dot\varphi - \dot\psi s_\theta,\ \dot\theta c_\varphi + \dot\psi c_\theta s_\varphi,\
        \dot\psi c_\theta c_\varphi - \dot\theta s_\varphi)

    and the angular acceleration in these axes is its derivative. A ``motion`` (``mp.trajectory``, ``mp.waypoints``, ``mp.reference_from``,
    ``mp.formula_motion``, …) takes the place of ``position``, and where it says how it is turned also that of ``rotation``; before and after it
    the base rests.
    """

    position: Annotated[Any, Formulas("m", "x, y, z of the base in the world: numbers, or formulas in t", lengths=(3,))] = (0.0, 0.0, 0.0)  # fmt: skip
    rotation: Annotated[Any, Formulas("rad", "roll, pitch, yaw of the base: numbers, or formulas in t", lengths=(3,))] = (0.0, 0.0, 0.0)  # fmt: skip
    motion: Annotated[Any, Part("reference", "a motion in task space in the place of these formulas")] = None
    part: ClassVar[str] = "base motion"
    name: ClassVar[str] = "formula"
    structure: ClassVar[frozenset[str]] = frozenset({"motion"})

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        if callable(self.position) or callable(self.rotation):
            raise DescriptionError(
                "The motion of the base is given by numbers and formulas in t, or as motion = a motion in task space.",
                field="position",
            )
        if self.motion is not None:
            self._check_motion()

    def _check_motion(self) -> None:
        reference("motion", self.motion)
        if self.motion.space != "task":
            raise DescriptionError(
                f"The base moves in space: a motion in task space is needed, found one in {self.motion.space} space.",
                field="motion",
            )
        both = "The motion says {}, so that these formulas would never act; give one of them."
        if not _is_still(self.position):
            raise DescriptionError(both.format("where the base is"), field="position")
        if getattr(self.motion, "has_orientation", False) and not _is_still(self.rotation):
            raise DescriptionError(both.format("how the base is turned"), field="rotation")

    @property
    def turns(self) -> bool:
        """Do formulas ever turn the base?"""
        return not _is_still(self.rotation)

    def tabled(self) -> BaseMotion:
        """The same, with its motion as a table that compiled loops read."""
        if self.motion is None:
            return self
        from manipula.simulation.plant.base_table import table_for_a_run  # and with it every path and time law

        return replace(self, motion=table_for_a_run(self.motion))

    def at(self, t: Scalar) -> BaseState:
        """Where the base is and how it moves."""
        if self.motion is not None:
            from manipula.simulation.plant.base_table import table_of, tabled_state

            p, v, a, turned = tabled_state(table_of(self.motion), t)
            if turned is not None:
                R = turned.R
                return BaseState(R, p, v, a, array(R.T @ turned.omega), array(R.T @ turned.alpha))
        else:
            p, v, a = (array(x) for x in derivatives(lambda s: np.array(_values(self.position, s), object), t, 2))
        if not self.turns:
            return BaseState(np.eye(3), p, v, a, np.zeros(3), np.zeros(3))
        angles, rates, second = derivatives(lambda s: np.array(_values(self.rotation, s), object), t, 2)
        turns = not all(isinstance(rate, float) and rate == 0.0 for rate in rates)
        return BaseState(from_rpy(*angles), p, v, a, *_turning(angles, rates, second), array(angles) if turns else None)

    def rates(self, t: np.ndarray, order: int, side: Any = "right") -> tuple[np.ndarray, np.ndarray]:
        """Origin and rotation of the base with their derivatives at times t (S,): (order + 1, S, 3) and (order + 1, S, 3, 3)."""
        if self.motion is not None:
            from manipula.simulation.plant.base_table import motion_rates

            p, R = motion_rates(self.motion, t, order, side)
            if R is not None:
                return p, R
        else:
            p = _series(lambda s: np.array(_values(self.position, s), object), t, order)
        return p, _series(lambda s: from_rpy(*_values(self.rotation, s)), t, order)


def _values(given: Any, t: Scalar) -> list[Any]:
    return [parse(v, ("t",)).evaluate({"t": t}) if isinstance(v, str) else v for v in given]


def _is_still(given: Any) -> bool:
    return all(isinstance(v, float) and v == 0.0 for v in given)


def _series(f: Callable[[Any], Any], t: np.ndarray, order: int) -> np.ndarray:
    """A function of time and its derivatives at times t (S,): (order + 1, S, …)."""
    found = np.asarray(f(Jet([np.asarray(t, float), np.ones(len(t)), *[np.zeros(len(t))] * (order - 1)][: order + 1], 1)), object)  # fmt: skip
    out = np.zeros((order + 1, len(t), *found.shape))
    for index, entry in np.ndenumerate(found):
        if isinstance(entry, Jet):
            for k in range(order + 1):
                out[(k, slice(None), *index)] = entry.coefficients[k] * factorial(k)
        else:
            out[(0, slice(None), *index)] = float(entry)
    return out


def _turning(angles: Vector, rates: Vector, second: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration in the turned axes, of roll, pitch and yaw with both derivatives."""
    (s, c), (sp, cp) = sin_cos(angles[0]), sin_cos(angles[1])
    (x, y, z), (xx, yy, zz) = rates, second
    along, across = z * sp, z * cp
    along_rate, across_rate = zz * sp + y * across, zz * cp - y * along
    w = array([x - along, y * c + across * s, across * c - y * s])
    alpha = [xx - along_rate, yy * c + across_rate * s + x * w[2], across_rate * c - yy * s - x * w[1]]
    return w, array(alpha)


def carried(mechanism: Mechanism, base: BaseState) -> Mechanism:
    """The mechanism on its moving base: everything in the axes of the base."""
    moving = MovingBase(base.into(base.v), base.own_w, base.into(array(base.a - mechanism.gravity)), base.own_alpha)
    return replace(mechanism, gravity=base.into(mechanism.gravity), base=moving)


def inertial_torques(mechanism: Mechanism, base: BaseState, q: Vector, qd: Vector) -> np.ndarray:
    """What the motion of the base adds to C q̇ + g, (n,): inertial forces, and gravity in turned axes."""
    moving = carried(mechanism.lean, base)
    return array(newton_euler.nonlinear_effects(moving, q, qd) - newton_euler.nonlinear_effects(mechanism.lean, q, qd))


def base_power(mechanism: Mechanism, at: BaseState, q: Vector, qd: Vector, qdd: Vector) -> Scalar:
    """Power of the forces that move the arm with its base [W], before external wrenches take their part of it.

    What the links have handed to the base needs a force that depends on time alone.
    """
    moving = carried(mechanism.lean, at)
    assert moving.base is not None
    return newton_euler.fixed_power(mechanism.lean_base, moving.base) + composite.base_power(moving, q, qd, qdd)


def energies(moving: Mechanism, gravity: Vector, base: BaseState, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
    """Kinetic and potential energy in the world [J]; the latter is zero at the world's origin."""
    mass: Scalar = 0.0
    for b in moving.bodies:
        mass = mass + b.moments.mass - (0.0 if b.lift is None else b.lift.mass)
    return energy.kinetic_energy(moving, q, qd), energy.potential_energy(moving, q) - mass * dot(gravity, base.p)

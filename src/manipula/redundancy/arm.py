"""The robot's own equations as a controller may use them, on any scalar."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.linear import array, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError
from manipula.lazy import cached_property
from manipula.physics import composite, coriolis, kinematics, newton_euler, regressor
from manipula.physics.mechanism import Mechanism, mechanism_of, prepare
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.link import TIP
from manipula.robot.robot import Robot


class Motors(NamedTuple):
    """What encoders on the motors measure, behind the gear (joint side), (n,) each; a rigid drive turns with its joint."""

    position: np.ndarray
    velocity: np.ndarray


def without_rotors(mechanism: Mechanism, own: Sequence[bool]) -> Mechanism:
    """The mechanism without the rotors of the joints whose drives move them on their own."""
    if not any(own):
        return mechanism
    bodies = list(mechanism.bodies)
    for joint, apart in enumerate(own):
        i = joint if mechanism.coupling is None else mechanism.coupling.body[joint]
        bodies[i] = replace(bodies[i], armature=0.0) if apart else bodies[i]
    return replace(mechanism, bodies=tuple(bodies))


class Arm:
    """M, h, g, Jacobians of a robot: the controller's model of the plant, and what secondary criteria are computed from.

    ``task`` are the rows of the frame's velocity that count: unless they are given, those of the linear velocity that the arm can move
    at all (x and y for a planar arm). ``turn`` says how much of the frame's orientation belongs to the task (``orientation.py``).
    """

    turn = "free"

    def __init__(
        self, robot: Robot, mechanism: Mechanism | None = None, shares_plant: bool = False, frame: str = TIP,
        rows: tuple[int, ...] | None = None, friction: tuple[FrictionLaw | None, ...] | None = None,
        drives: tuple[Drive | None, ...] | None = None, rotors: Sequence[Scalar] | None = None,
    ) -> None:  # fmt: skip
        """``shares_plant``: the plant's own M and h + g are computed anyway, so torques are made from them.

        ``friction``, ``drives``, ``rotors``: the laws, the drives and the rotor inertias (joint side) that are believed to act, one
        per joint; those of the robot's joints when omitted.
        """
        self.robot, self.shares_plant, self.frame, self._rows = robot, shares_plant, frame, rows
        self.full = mechanism_of(robot) if mechanism is None else mechanism
        self.n = robot.n
        self.friction_laws = tuple(j.friction for j in robot.joints) if friction is None else friction
        self.drives = tuple(j.drive for j in robot.joints) if drives is None else drives
        self._rotors, self._motors, self._wrench = rotors, None, None

    @cached_property
    def lean(self) -> Mechanism:
        """The mechanism with base parameters regrouped: the same equations of motion in fewer operations."""
        return self.full.lean

    @property
    def motors(self) -> Motors:
        """What is measured on the motors at this moment, for controllers whose class says ``measures = ("motors",)``."""
        if self._motors is None:
            raise DescriptionError(
                "The controller looks at arm.motors, which is measured only for classes that ask for it: "
                'measures: ClassVar[tuple[str, ...]] = ("motors",).',
                field="controller",
            )
        return self._motors

    @property
    def wrench(self) -> np.ndarray:
        """What a force sensor at the tip measures, force first, in axes of the base, for controllers whose class says ``measures = ("wrench",)``."""
        if self._wrench is None:
            raise DescriptionError(
                "The controller looks at arm.wrench, which is measured only for classes that ask for it: "
                'measures: ClassVar[tuple[str, ...]] = ("wrench",).',
                field="controller",
            )
        return self._wrench

    def measuring(self, motors: Motors | None, wrench: np.ndarray | None = None) -> Arm:
        """The same arm at a moment at which this is measured on its motors and at its tip."""
        seen = copy.copy(self)
        seen._motors, seen._wrench = motors, wrench
        return seen

    @cached_property
    def rotors(self) -> np.ndarray:
        """Rotor inertias B seen from the joints, (n,) [kg·m² or kg]."""
        return array([j.armature for j in self.robot.joints] if self._rotors is None else self._rotors)

    @cached_property
    def links(self) -> Arm:
        """The arm without the rotors that drives move on their own: M, h and g of what hangs behind the springs."""
        own = [d is not None and d.separates_rotor for d in self.drives]
        if not any(own):
            return self
        return Arm(self.robot, without_rotors(self.full, own), False, self.frame, self._rows, self.friction_laws, self.drives, self._rotors)  # fmt: skip

    def compliance(self) -> np.ndarray:
        """1/K of every transmission, (n,) [rad/(N·m) or m/N]; 0 where motor and link turn as one."""
        soft = [d is not None and d.separates_rotor and hasattr(d, "stiffness") for d in self.drives]
        drives: Any = self.drives
        return array([1.0 / d.stiffness if flexible else 0.0 for d, flexible in zip(drives, soft)])

    def mass_matrix(self, q: Vector) -> np.ndarray:
        """M(q) of the model."""
        return composite.mass_matrix(self.lean, q)

    def nonlinear_effects(self, q: Vector, qd: Vector) -> np.ndarray:
        """C(q, q̇) q̇ + g(q) of the model."""
        return newton_euler.nonlinear_effects(self.lean, q, qd)

    def gravity(self, q: Vector) -> np.ndarray:
        """g(q) of the model."""
        return newton_euler.gravity(self.lean, q)

    def inverse_dynamics(self, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
        """M(q) q̈ + C(q, q̇) q̇ + g(q) of the model."""
        if self.shares_plant:
            return self.mass_matrix(q) @ qdd + self.nonlinear_effects(q, qd)
        return newton_euler.inverse_dynamics(self.lean, q, qd, qdd)

    def coriolis_matrix(self, q: Vector, qd: Vector) -> np.ndarray:
        """C(q, q̇) of the model."""
        return coriolis.coriolis_matrix(self.lean, q, qd)

    def regressor(self, q: Vector, qd: Vector, qdd: Vector, gravity: bool = True) -> np.ndarray:
        """Y(q, q̇, q̈) with τ = Y π of the model."""
        mechanism = self.full if gravity else newton_euler.weightless(self.full)
        return regressor.regressor(mechanism, q, qd, qdd)

    def position(self, q: Vector) -> np.ndarray:
        """The position of the tip [m]."""
        return kinematics.position(self.full, q, self.frame)

    def pose(self, q: Vector) -> np.ndarray:
        """The pose of the tip, 4 × 4."""
        return kinematics.pose(self.full, q, self.frame)

    def jacobian(self, q: Vector) -> np.ndarray:
        """The Jacobian of the tip, 6 × n."""
        return kinematics.jacobian(self.full, q, self.frame)

    def jacobian_rate(self, q: Vector, qd: Vector) -> np.ndarray:
        """The time derivative of the Jacobian of the tip."""
        return kinematics.jacobian_rate(self.full, q, qd, self.frame)

    def friction(self, qd: Vector) -> np.ndarray:
        """Friction torque of the laws that have no state and no load: what a controller can compensate."""
        tau = zeros(self.n)
        for i, law in enumerate(self.friction_laws):
            if law is not None and law.states == 0 and not law.needs_load:
                tau[i] = law.torque(qd[i])
        return array(tau)

    @cached_property
    def task(self) -> tuple[int, ...]:
        """Rows of the frame's Jacobian: those given, else the indices among x, y, z that it can move in, seen from three postures."""
        if self._rows is not None:
            return self._rows
        J = np.hstack([np.asarray(seen[:3], float) for seen in self._three_jacobians])
        return tuple(k for k in range(3) if np.abs(J[k]).max() > 1e-12)

    @cached_property
    def _three_jacobians(self) -> list[np.ndarray]:
        """The frame's Jacobian in three postures."""
        rng = Scattered(0)
        free = self.robot.parameters
        mechanism = (
            prepare(self.robot, {name: float(rng.uniform(0.5, 1.5)) for name in free})
            if free
            else mechanism_of(self.robot)
        )
        return [kinematics.jacobian(mechanism, q, self.frame) for q in rng.uniform(-1, 1, (3, self.n))]

    @cached_property
    def turn_axes(self) -> np.ndarray:
        """Directions about which the frame can be turned at all, seen from three postures: (k, 3) with k = 0, 1 (one fixed axis), 2 or 3."""
        axes = np.hstack([np.asarray(J[3:], float) for J in self._three_jacobians])
        sigma, V = np.linalg.svd(axes.T, full_matrices=False)[1:]
        found = V[sigma > 1e-9 * max(1.0, float(sigma[0]))]
        return array([v * (1.0 if v[np.argmax(np.abs(v))] > 0 else -1.0) for v in found]).reshape(-1, 3)

    def facing(self, turn: str) -> Arm:
        """The same arm with as much of the orientation in its task as ``turn`` says."""
        if turn == self.turn:
            return self
        out = copy.copy(self)
        out.turn = turn
        return out

    def task_jacobian(self, q: Vector) -> np.ndarray:
        """Rows of the Jacobian that belong to ``task``, and below them those of the angular velocity that ``turn`` asks for."""
        J = self.jacobian(q)
        rows = J[list(self.task)]
        if self.turn == "free":
            return rows
        if self.turn == "full":
            return array(np.concatenate([rows, J[3:]]))
        if self.turn == "angle":
            return array(np.concatenate([rows, [[dot(self.turn_axes[0], J[3:, i]) for i in range(self.n)]]]))
        k = "xyz".index(self.turn)
        beside = self.pose(q)[:3, [(k + 1) % 3, (k + 2) % 3]]
        return array(np.concatenate([rows, beside.T @ J[3:]]))

    def task_jacobian_rate(self, q: Vector, qd: Vector) -> np.ndarray:
        """The time derivative of the rows that belong to ``task``."""
        return self.jacobian_rate(q, qd)[list(self.task)]

r"""The equations of a programmed motion over any scalar: arm, constraints, friction and drives in one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.linear import array, dot, ldl, solve_pivoted, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics import composite, energy, kinematics, newton_euler
from manipula.physics.constrained import ConstraintRows, least_norm_correction, multiplier_response, multipliers
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.programmed import gpme_response, partition
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.robot import Robot
from manipula.simulation.plant.friction_loads import balanced, loop_gain, rates
from manipula.simulation.plant.layout import StateLayout
from manipula.simulation.programmed.constraint import Constraint, rows_of

LEFT = 1e-3  # rad or m from the constraints, in joints: a motion this far off has left them


def unit_rows(rows: ConstraintRows) -> ConstraintRows:
    """The same constraints with gradients of length 1, so that their sizes can be compared."""
    scale = [1.0 / ops.sqrt(dot(a, a)) for a in rows.A]
    A = np.array([array(a * s) for a, s in zip(rows.A, scale)])
    return ConstraintRows(A, *(array([v * s for v, s in zip(part, scale)]) for part in (rows.b, rows.value, rows.rate)))


class ProgrammedFlow(NamedTuple):
    """Everything known at one instant of a programmed motion."""

    rate: np.ndarray
    qdd: np.ndarray
    applied: np.ndarray  # torques of the drives
    friction: np.ndarray
    loads: np.ndarray
    reaction: np.ndarray  # generalised forces Aᵀμ of the constraints
    mu: np.ndarray
    rows: ConstraintRows


@dataclass(frozen=True)
class ProgrammedPlant:
    """The parts of a programmed motion.

    ``drives[i]`` is a torque (number, formula in t, function of t), a Drive, or ``None`` for a joint that no drive moves.
    """

    robot: Robot
    constraints: tuple[Constraint, ...]
    drives: tuple[Any, ...]
    friction: tuple[FrictionLaw | None, ...]
    parameters: Mapping[str, Any]
    formulation: str = "gpme"
    independent: tuple[int, ...] = ()
    stabilisation: str = "none"
    gain: Any = 0.0
    # kernels of one run, by their options
    traced: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def layout(self) -> StateLayout:
        drives = tuple(d if isinstance(d, Drive) and getattr(d, "motor", None) is None else None for d in self.drives)
        return StateLayout.of(self.robot.n, self.friction, drives, 0)

    @property
    def has_corners(self) -> bool:
        """May the equations bend within a step: a law or drive with corners, somebody's function?"""
        laws = [law for law in (*self.friction, *self.drives) if law is not None]
        return any(callable(law) if not isinstance(law, (FrictionLaw, Drive)) else not law.smooth for law in laws)

    def mechanism(self) -> Mechanism:
        return mechanism_of(self.robot)

    def rows(self, mechanism: Mechanism, q: Vector, qd: Vector, t: Scalar) -> ConstraintRows:
        return rows_of(self.constraints, mechanism, q, qd, t, self.parameters)

    def applied(
        self, t: Scalar, q: Vector, qd: Vector, motors: list[tuple[Scalar, ...]]
    ) -> tuple[np.ndarray, list[Scalar]]:
        """Torques of the drives, (n,), and rates of their own states."""
        tau = zeros(self.robot.n)
        rates: list[Scalar] = []
        for i, drive in enumerate(self.drives):
            if drive is None:
                continue
            if isinstance(drive, Drive):
                rotor = self.robot.joints[i].armature
                tau[i] = drive.torque(0.0, t, q[i], qd[i], motors[i], rotor)
                rates.extend(drive.state_rate(0.0, t, q[i], qd[i], motors[i], rotor) if motors[i] else ())
            elif isinstance(drive, str):
                tau[i] = parse(drive, ("t", *sorted(self.parameters))).evaluate({"t": t, **self.parameters})
            else:
                tau[i] = drive(t) if callable(drive) else drive
        return array(tau), rates

    def flow(self, t: Scalar, x: Vector) -> ProgrammedFlow:
        lay = self.layout
        q, qd = lay.q(x), lay.qd(x)
        states, motors = lay.friction_states(x), lay.drive_states(x)
        mechanism = self.mechanism()
        lean = mechanism.lean
        rows = self.stabilised(self.rows(mechanism, q, qd, t))
        applied, motor_rates = self.applied(t, q, qd, motors)
        M = composite.mass_matrix(lean, q)
        effects = newton_euler.nonlinear_effects(lean, q, qd)
        force = array(applied - effects)
        if self.formulation == "gpme":
            response = gpme_response(M, partition(unit_rows(rows), self.independent), force)
        else:
            response = multiplier_response(composite.inverse_mass_matrix(lean, q), rows, force)
        qdd, friction, loads = balanced(self.friction, mechanism, q, qd, states, response)
        reaction = array(M @ qdd + effects + friction - applied)
        mu = multipliers(composite.inverse_mass_matrix(lean, q), rows, array(force - friction))
        bristles = rates(self.friction, qd, states, loads)
        works = [np.sum(array(applied * qd)), np.sum(array(friction * qd)), np.sum(array(reaction * qd))]
        rate = lay.join(qd, qdd, bristles, motor_rates, works)
        return ProgrammedFlow(rate, qdd, applied, friction, loads, reaction, mu, rows)

    def friction_gain(self, x: np.ndarray, t: float = 0.0) -> tuple[float, int]:
        """Gain of the loop load → friction → acceleration → load on plain numbers, and the joint that matters most."""
        mechanism, (q, qd) = self.mechanism(), (self.layout.q(x), self.layout.qd(x))
        lean = mechanism.lean
        force = -newton_euler.nonlinear_effects(lean, q, qd)
        response = multiplier_response(composite.inverse_mass_matrix(lean, q), self.rows(mechanism, q, qd, t), force)
        return loop_gain(self.friction, mechanism, q, qd, self.layout.friction_states(x), response)

    def stabilised(self, rows: ConstraintRows) -> ConstraintRows:
        r"""Baumgarte: :math:`A\ddot q = b - 2\alpha\dot\Phi - \alpha^2\Phi` (velocity level: :math:`b - \alpha\varphi`)."""
        if self.stabilisation != "baumgarte":
            return rows
        b = np.asarray(rows.b, dtype=object).copy()
        for k, c in enumerate(self.constraints):
            if c.level == "position":
                b[k] = b[k] - 2.0 * self.gain * rows.rate[k] - self.gain * self.gain * rows.value[k]
            elif c.level == "velocity":
                b[k] = b[k] - self.gain * rows.value[k]
        return rows._replace(b=array(b))

    def settled(self, t: Scalar, x: Vector) -> tuple[np.ndarray, ConstraintRows]:
        """The state after a step and the rows there.

        With projection it is moved onto the constraints: positions by one Newton step, then velocities exactly.
        """
        lay = self.layout
        mechanism = self.mechanism()
        q, qd = lay.q(x), lay.qd(x)
        if self.stabilisation != "projection":
            return array(x), self.rows(mechanism, q, qd, t)
        holonomic = [k for k, c in enumerate(self.constraints) if c.level == "position"]
        if holonomic:
            rows = unit_rows(self.rows(mechanism, q, qd, t))
            q = array(q + least_norm_correction(rows.A[holonomic], rows.value[holonomic]))
        rows = self.rows(mechanism, q, qd, t)
        moving = [k for k, c in enumerate(self.constraints) if c.level != "acceleration"]
        if moving:
            unit = unit_rows(rows)
            qd = array(qd + least_norm_correction(unit.A[moving], unit.rate[moving]))
        return lay.join(q, qd, x[2 * lay.n :]), rows

    def health(self, rows: ConstraintRows) -> Scalar:
        """How well the constraints determine the motion: 1 at best, 0 where they are singular, −1 where the motion has left them.

        The smallest pivot of A_d with rows of length 1 (GPME), or of :math:`AA^T` (multipliers).
        """
        unit = unit_rows(rows)
        if self.formulation == "gpme":
            dependent = [j for j in range(self.robot.n) if j not in self.independent]
            _, pivot = solve_pivoted(unit.A[:, dependent], np.zeros((len(dependent), 1)))
        else:
            pivot = 1.0
            for d in ldl(unit.A @ unit.A.T)[1]:
                pivot = ops.minimum(pivot, d)
        off: Scalar = 0.0
        for k, c in enumerate(self.constraints):
            if c.level == "position":
                off = ops.maximum(off, ops.abs(unit.value[k]))
        return ops.where(off > LEFT, -1.0, pivot)

    def energies(self, t: Scalar, x: Vector) -> tuple[Scalar, Scalar]:
        lay, mechanism = self.layout, self.mechanism()
        return energy.kinetic_energy(mechanism, lay.q(x), lay.qd(x)), energy.potential_energy(mechanism, lay.q(x))

    def tip(self, q: Vector) -> np.ndarray:
        return kinematics.pose(self.mechanism(), q)

    def start(self, q: Vector, qd: Vector) -> np.ndarray:
        lay = self.layout
        motors: list[Scalar] = []
        for i, count in enumerate(lay.drives):
            if count:
                motors.extend(self.drives[i].initial_state(q[i], qd[i]))
        return lay.join(q, qd, [0.0] * sum(lay.friction), motors, [0.0] * 3)

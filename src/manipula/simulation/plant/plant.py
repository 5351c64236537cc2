r"""The equations of a run, over any scalar: arm, friction, drives, controller, reference and disturbances in one function.

.. math:: \ddot q = M^{-1}\left(\tau - \tau_f(\dot q, z, f_n) - C\dot q - g + \sum J^T w\right)

Normal forces :math:`f_n` of load-dependent friction depend on :math:`\ddot q` in turn; ``friction_loads.py`` solves that loop
inside every evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.expression import parse
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.symbols import evaluate, is_symbolic
from manipula.control.base import Controller, Target, checked_states, checked_torques, unwritable
from manipula.errors import DescriptionError, ManipulaError
from manipula.identity import is_own
from manipula.lazy import cached_property
from manipula.physics import composite, energy, kinematics, newton_euler, reactions
from manipula.physics.constrained import Response
from manipula.physics.forward import forward_dynamics, uses_articulated
from manipula.physics.mechanism import Mechanism, mechanism_of, prepare
from manipula.redundancy.arm import Arm, Motors, without_rotors
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw
from manipula.robot.link import Payload
from manipula.robot.robot import Robot
from manipula.simulation.plant.disturbances import Actuator, PayloadChange, Wrench
from manipula.simulation.plant.friction_loads import Balance, balanced, loaded, loop_gain, rates, unloaded
from manipula.simulation.plant.layout import StateLayout


def acting(d: Wrench, t: Scalar) -> np.ndarray:
    """The six components of a wrench at time t, zero outside its interval."""
    on = (t >= d.start) & (t <= d.stop)
    if isinstance(on, (bool, np.bool_)) and not on:  # a formula need not be a number where it does not act
        return np.zeros(6)
    values = [parse(v, ("t",)).evaluate({"t": t}) if isinstance(v, str) else v for v in d.wrench]
    return array([ops.where(on, v, 0.0) for v in values])


def _exchanged(before: Payload | None, change: PayloadChange, changed: Any) -> Payload:
    """What the tip carries: a point mass once the change has happened, the robot's own payload until then."""
    if before is None:
        return Payload(ops.where(changed, change.mass, 0.0), change.com)
    com = [ops.where(changed, new, old) for new, old in zip(change.com, before.com)]
    inertia = [[ops.where(changed, 0.0, entry) for entry in row] for row in before.inertia]
    return Payload(ops.where(changed, change.mass, before.mass), tuple(com), tuple(map(tuple, inertia)))  # pyright: ignore[reportArgumentType]


class Flow(NamedTuple):
    """Everything that is known at one instant."""

    rate: np.ndarray  # of the whole state
    qdd: np.ndarray
    command: np.ndarray  # by the controller
    tau: np.ndarray  # that reaches the links
    friction: np.ndarray
    external: np.ndarray  # Jᵀ w
    loads: np.ndarray  # normal forces, zero where nothing needs them


@dataclass(frozen=True)
class Plant:
    """The parts of one run. ``reference(t)`` gives a Target; ``controller`` may be None."""

    robot: Robot
    model: Robot | None  # of the controller; None: it believes the plant itself, with the friction that acts
    controller: Controller | None
    reference: Callable[[Scalar], Target]
    friction: tuple[FrictionLaw | None, ...]
    drives: tuple[Drive | None, ...]
    disturbances: tuple[Wrench | PayloadChange, ...]
    actuator: Actuator
    layout: StateLayout
    torques: Callable[[Scalar], Vector] | None = None
    robot_values: dict[str, Any] | None = None  # scalars for free parameters of the robot
    prepared: Arm | None = None  # the controller's model, when it is asked many times on plain numbers

    def mechanism(self, t: Scalar) -> Mechanism:
        """The arm at time t: payload changes switched, rotors that move on their own taken out of M."""
        if not self._payload_changes:
            return self._unchanging
        robot = self.robot
        latest: Scalar = -1e300
        for change in self._payload_changes:  # in whatever order they are listed, the latest one holds
            changed = (t >= change.time) & (change.time >= latest)
            latest = ops.where(changed, change.time, latest)
            robot = replace(robot, payload=_exchanged(robot.payload, change, changed))
        return self._without_own_rotors(prepare(robot, self.robot_values))

    def _without_own_rotors(self, mechanism: Mechanism) -> Mechanism:
        return without_rotors(mechanism, [d is not None and d.separates_rotor for d in self.drives])

    @cached_property
    def _described(self) -> Mechanism:
        """The mechanism of the robot as it is described, prepared once."""
        return prepare(self.robot, self.robot_values) if self.robot_values else mechanism_of(self.robot)

    @cached_property
    def _unchanging(self) -> Mechanism:
        return self._without_own_rotors(self._described)

    def arm(self) -> Arm:
        """What the controller believes."""
        if self.prepared is not None:
            return self.prepared
        if self.model is None:
            own = {"friction": self.friction, "drives": self.drives, "rotors": self.rotors()}
            return Arm(self.robot, self._described, self._shares_arm, **own)
        return Arm(self.model, self._described if self.model is self.robot else None, self._shares_arm)

    @property
    def _payload_changes(self) -> list[PayloadChange]:
        return [d for d in self.disturbances if isinstance(d, PayloadChange)]

    @cached_property
    def _shares_arm(self) -> bool:
        """Does the controller believe exactly what the plant is, so that both need the same M and h + g?"""
        own_rotor = any(d is not None and d.separates_rotor for d in self.drives)
        same = (self.model is None or self.model is self.robot) and not own_rotor and not self._payload_changes
        return same and not uses_articulated(self.mechanism(0.0))

    def rotors(self) -> list[Scalar]:
        """Rotor inertia of every joint, seen from the joint."""
        values = self.robot_values or {}
        return [evaluate(j.armature, values) if is_symbolic(j.armature) else j.armature for j in self.robot.joints]

    def command(self, t: Scalar, x: Vector, measured_q: Vector, measured_qd: Vector) -> np.ndarray:
        """Torques that the controller asks for, cut by the actuator."""
        n = self.layout.n
        if self.torques is not None:
            u = self.torques(t)
        elif self.controller is None:
            u = np.zeros(n)
        else:
            u = self._asked(self.controller, t, x, unwritable(measured_q), unwritable(measured_qd))
        limit = self.actuator.limit
        if limit is None:
            return array(u)
        bound = per_joint(limit, n)
        return array([ops.minimum(bound[i], ops.maximum(-bound[i], u[i])) for i in range(n)])

    def _asked(self, controller: Controller, t: Scalar, x: Vector, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The torques of the controller; it may look at the state, not change it."""
        state = self.layout.controller_states(x)
        try:
            arm = self.seen_by(controller, t, x, q, qd)
            return checked_torques(controller.torque(arm, t, q, qd, self.reference(t), state), self.layout.n)
        except ManipulaError:
            raise
        except Exception as error:  # somebody's code, unless the controller is one of ours
            if "read-only" not in str(error):
                if is_own(controller) or not isinstance(t, float):
                    raise
                raise DescriptionError(
                    f"The controller '{controller.name}' fails at t = {t:.6g} s: {type(error).__name__}: {error}.",
                    field="controller",
                ) from error
            raise DescriptionError(
                "The controller writes into q or qd, which are the state of the robot; let it work on a copy: q = q.copy().",
                field="controller",
            ) from error

    def seen_by(self, controller: Controller, t: Scalar, x: Vector, q: Vector, qd: Vector) -> Arm:
        """The controller's model, with what it measures beside q and qd."""
        arm = self.arm()
        return arm.measuring(self.motors(t, x, q, qd)) if "motors" in controller.measures else arm

    def motors(self, t: Scalar, x: Vector, q: Vector, qd: Vector) -> Motors:
        """Positions and speeds of the motors where the joints are measured at q, qd."""
        rigid = [(a, b) for a, b in zip(q, qd)]
        states = self.layout.drive_states(x)
        seen = [
            own if d is None else d.motor_motion(t, *own, state) for d, own, state in zip(self.drives, rigid, states)
        ]
        return Motors(array([a for a, _ in seen]), array([b for _, b in seen]))

    def flow(self, t: Scalar, x: Vector, noise: Vector | None = None, command: Vector | None = None) -> Flow:
        """The state's rate at (t, x) and the torques behind it.

        Args:
            noise: added to measured q, qd, (2n,). command: torques already decided (held over a step, delayed).
        """
        lay = self.layout
        n = lay.n
        q, qd = lay.q(x), lay.qd(x)
        seen_q, seen_qd = (q, qd) if noise is None else (q + noise[:n], qd + noise[n:])
        u = self.command(t, x, seen_q, seen_qd) if command is None else command
        mechanism = self.mechanism(t)
        lean = mechanism.lean
        states, motors = lay.friction_states(x), lay.drive_states(x)
        armature = self.rotors()
        tau = zeros(n)
        motor_rates: list[Scalar] = []
        for i, drive in enumerate(self.drives):
            if drive is None:
                tau[i] = u[i]
            else:
                tau[i] = drive.torque(u[i], t, q[i], qd[i], motors[i], armature[i])
                motor_rates.extend(drive.state_rate(u[i], t, q[i], qd[i], motors[i], armature[i]))
        external = self.external_torques(mechanism, t, q)
        push, relief = array(tau + external), self.relief(mechanism, t, q)
        qdd, friction, loads = self.accelerate(mechanism, lean, q, qd, push, states, relief)
        bristles = rates(self.friction, qd, states, loads)
        if self.controller is not None and lay.controller:
            held = lay.controller_states(x)
            arm = self.seen_by(self.controller, t, x, seen_q, seen_qd)
            own = self.controller.state_rate(arm, t, seen_q, seen_qd, self.reference(t), held)
            own = checked_states(own, lay.controller, self.controller, "state_rate")
        else:
            own = np.zeros(lay.controller)
        works = [np.sum(array(tau * qd)), np.sum(array(friction * qd)), np.sum(array(external * qd))]
        rate = lay.join(qd, qdd, bristles, motor_rates, own, works)
        return Flow(rate, qdd, u, array(tau), friction, external, loads)

    def accelerate(self, mechanism: Mechanism, lean: Mechanism, q: Vector, qd: Vector, push: Vector, states: list[tuple[Scalar, ...]],
                   relief: Any = 0.0) -> Balance:  # fmt: skip
        """Accelerations, friction torques and normal forces under the torques ``push``."""
        if not loaded(self.friction):
            return unloaded(self.friction, qd, states, lambda tau: forward_dynamics(lean, q, qd, array(push - tau)))
        return balanced(self.friction, mechanism, q, qd, states, self.response(lean, q, qd, push), relief)

    def response(self, lean: Mechanism, q: Vector, qd: Vector, push: Vector) -> Response:
        """Answer of the arm to further torques when ``push`` acts."""
        M_inv = composite.inverse_mass_matrix(lean, q)
        return Response(array(M_inv @ (push - composite.nonlinear_effects(lean, q, qd))), M_inv)

    def friction_gain(self, x: np.ndarray, t: float = 0.0) -> tuple[float, int]:
        """Gain of the loop load → friction → acceleration → load on plain numbers, and the joint that matters most."""
        mechanism, (q, qd) = self.mechanism(t), (self.layout.q(x), self.layout.qd(x))
        response = self.response(mechanism.lean, q, qd, np.zeros(len(q)))
        return loop_gain(self.friction, mechanism, q, qd, self.layout.friction_states(x), response)

    def relief(self, mechanism: Mechanism, t: Scalar, q: Vector) -> Any:
        """What external forces take off the forces across the joints, (n, 2); nothing where no friction asks for it."""
        total: Any = 0.0
        if loaded(self.friction):
            for d in self.disturbances:
                if isinstance(d, Wrench):
                    link = kinematics.find_frame(mechanism, d.frame).link
                    total = total + reactions.relieved(mechanism, q, link, acting(d, t)[:3])
        return total

    def external_torques(self, mechanism: Mechanism, t: Scalar, q: Vector) -> np.ndarray:
        """Σ Jᵀ w of the external wrenches, (n,)."""
        total = zeros(self.layout.n)
        for d in self.disturbances:
            if isinstance(d, Wrench):
                total = total + kinematics.jacobian(mechanism, q, d.frame).T @ acting(d, t)
        return array(total)

    def energies(self, t: Scalar, x: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic and potential energy of the arm, energy stored in the drives [J]."""
        lay = self.layout
        q, qd = lay.q(x), lay.qd(x)
        mechanism = self.mechanism(t)
        stored: Scalar = 0.0
        armature = self.rotors()
        for i, drive in enumerate(self.drives):
            if drive is not None:
                stored = stored + drive.stored_energy(q[i], qd[i], lay.drive_states(x)[i], armature[i], t)
        return energy.kinetic_energy(mechanism, q, qd), energy.potential_energy(mechanism, q), stored

    def start(self, q: Vector, qd: Vector) -> np.ndarray:
        """State at the beginning: bristles at rest, drives without torque, no work done."""
        lay = self.layout
        motors: list[Scalar] = []
        loads = np.zeros(lay.n)
        if any(getattr(d, "initial_position", None) == "balanced" for d in self.drives):
            loads = newton_euler.gravity(self.mechanism(0.0), q)
        for i, drive in enumerate(self.drives):
            if drive is not None:
                motors.extend(drive.balanced_state(q[i], qd[i], loads[i]))
        own = np.zeros(0)
        if self.controller is not None and lay.controller:
            own = self.controller.initial_state(self.arm())
            own = checked_states(own, lay.controller, self.controller, "initial_state")
        return lay.join(q, qd, [0.0] * sum(lay.friction), motors, own, [0.0] * 3)

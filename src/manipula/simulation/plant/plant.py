r"""The equations of a run, over any scalar: arm, friction, drives, controller, reference and disturbances in one function.

.. math:: \ddot q = M^{-1}\left(\tau - \tau_f(\dot q, z, f_n) - C\dot q - g + \sum J^T w\right)

Normal forces :math:`f_n` of load-dependent friction depend on :math:`\ddot q` in turn; ``friction_loads.py`` solves that loop
inside every evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra import ops
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
from manipula.robot.robot import Robot
from manipula.simulation.plant.base_motion import BaseMotion, base_power, carried, energies, inertial_torques
from manipula.simulation.plant.contact import Contact, Touch
from manipula.simulation.plant.disturbances import Actuator, Disturbance, PayloadChange, is_wrench
from manipula.simulation.plant.encoder import PERFECT, Encoder
from manipula.simulation.plant.force_sensor import measured_wrench
from manipula.simulation.plant.friction_loads import LoadBalance, balanced, loaded, loop_gain, rates, unloaded
from manipula.simulation.plant.layout import StateLayout
from manipula.simulation.plant.sticking import Sticking, sign, sticking_at, sticky, while_held
from manipula.simulation.plant.surroundings import Surroundings
from manipula.simulation.plant.switch import WAITING, Switch, acting_controller, acting_target, conditional
from manipula.simulation.plant.tool_change import exchanged, with_tool
from manipula.simulation.plant.wrenches import acting


class Flow(NamedTuple):
    """Everything that is known at one instant."""

    rate: np.ndarray  # of the whole state
    qdd: np.ndarray
    command: np.ndarray  # by the controller
    tau: np.ndarray  # that reaches the links
    friction: np.ndarray
    external: np.ndarray  # Jᵀ w
    loads: np.ndarray  # normal forces, zero where nothing needs them
    touches: list[Touch]  # one per contact
    sticking: Sticking | None = None  # joints that friction may hold


@dataclass(frozen=True)
class Plant:
    """The parts of one run. ``reference(t)`` gives a Target; ``controller`` may be None."""

    robot: Robot
    model: Robot | None  # of the controller; None: it believes the plant itself, with the friction that acts
    controller: Controller | None
    reference: Callable[[Scalar], Target]
    friction: tuple[FrictionLaw | None, ...]
    drives: tuple[Drive | None, ...]
    disturbances: tuple[Disturbance, ...]
    actuator: Actuator
    layout: StateLayout
    contacts: tuple[Contact, ...] = ()
    base_motion: BaseMotion | None = None
    torques: Callable[[Scalar], Vector] | None = None
    robot_values: dict[str, Any] | None = None  # scalars for free parameters of the robot
    turned: bool = False  # does the reference say how the tool is turned?
    encoder: Encoder = PERFECT
    switches: tuple[Switch, ...] = ()
    switched_references: tuple[Callable[[int], Any] | None, ...] = ()  # derivatives of each by their own time
    prepared: Arm | None = None  # the controller's model, when it is asked many times on plain numbers
    apart: bool = False  # known: nothing touches and no joint rests, so that contacts and reactions of joints at rest are left out

    def mechanism(self, t: Scalar) -> Mechanism:
        """The arm at time t: payload changes switched, rotors that move on their own taken out of M."""
        if not self._payload_changes:
            return self._unchanging
        robot, tool = exchanged(self.robot, self._payload_changes, t)
        mechanism = self._without_own_rotors(prepare(robot, self.robot_values))
        return mechanism if tool is None else with_tool(mechanism, tool, self.robot.frame_names)

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

    def command(
        self, t: Scalar, x: Vector, measured_q: Vector, measured_qd: Vector, motors: Motors | None = None
    ) -> np.ndarray:
        """Torques that the controller asks for, cut by the actuator; ``motors``: as they are measured, where that differs."""
        n = self.layout.n
        if self.torques is not None:
            u = self.torques(t)
        elif self.controller is None:
            u = np.zeros(n)
        else:
            controller: Any = acting_controller(self, t, x)
            u = self._asked(controller, t, x, unwritable(measured_q), unwritable(measured_qd), motors)
        limit = self.actuator.limit
        if limit is None:
            return array(u)
        bound = per_joint(limit, n)
        return array([ops.minimum(bound[i], ops.maximum(-bound[i], u[i])) for i in range(n)])

    def _asked(
        self, controller: Controller, t: Scalar, x: Vector, q: np.ndarray, qd: np.ndarray, motors: Motors | None
    ) -> np.ndarray:
        """The torques of the controller; it may look at the state, not change it."""
        state = self.layout.controller_states(x)
        try:
            arm = self.seen_by(controller, t, x, q, qd, motors)
            return checked_torques(controller.torque(arm, t, q, qd, self.target(t, x), state), self.layout.n)
        except ManipulaError:
            raise
        except Exception as error:  # user code, unless the controller is one of ours
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

    @property
    def measures_motors(self) -> bool:
        """Does the controller measure positions and speeds of the motors?"""
        return self.controller is not None and "motors" in self.controller.measures

    def target(self, t: Scalar, x: Vector) -> Target:
        """What the controller follows in this state."""
        return acting_target(self, t, x)

    def seen_by(self, controller: Controller, t: Scalar, x: Vector, q: Vector, qd: Vector, motors: Motors | None = None) -> Arm:  # fmt: skip
        """The controller's model, with what it measures beside q and qd."""
        arm = self.arm()
        if not controller.measures:
            return arm
        if "motors" in controller.measures:
            motors = self.motors(t, x, q, qd) if motors is None else motors
        return arm.measuring(motors, self.measured_wrench(t, x) if "wrench" in controller.measures else None)

    def motors(self, t: Scalar, x: Vector, q: Vector, qd: Vector, noise: Vector | None = None) -> Motors:
        """Positions and speeds of the motors where the joints are measured at q, qd; ``noise``: of encoders of their own, (2n,)."""
        n, states = self.layout.n, self.layout.drive_states(x)
        position, velocity = zeros(n), zeros(n)
        for i, drive in enumerate(self.drives):
            if drive is None or not drive.separates_rotor:
                position[i], velocity[i] = q[i], qd[i]
                continue
            seen = drive.motor_motion(t, q[i], qd[i], states[i])
            position[i], velocity[i] = seen if noise is None else (seen[0] + noise[i], seen[1] + noise[n + i])
        return Motors(array(position), array(velocity))

    def updated(self, t: Scalar, x: Vector, q: Vector, qd: Vector, motors: Motors | None, period: Scalar) -> np.ndarray:
        """The state after a digital controller has taken its own states to its next instant."""
        lay, controller = self.layout, acting_controller(self, t, x)
        assert controller is not None
        arm = self.seen_by(controller, t, x, q, qd, motors)
        own = controller.update(arm, t, q, qd, self.target(t, x), lay.controller_states(x), period)
        own = checked_states(own, lay.controller, controller, "update")
        first = lay.size - len(lay.works) - lay.switches - lay.controller
        return array([*x[:first], *own, *x[first + lay.controller :]])

    def flow(self, t: Scalar, x: Vector, noise: Vector | None = None, command: Vector | None = None) -> Flow:
        """The state's rate at (t, x) and the torques behind it.

        Args:
            noise: added to measured q, qd, (2n,). command: torques already decided (held over a step, delayed).
        """
        lay, n = self.layout, self.layout.n
        q, qd = lay.q(x), lay.qd(x)
        seen_q, seen_qd = (q, qd) if noise is None else (q + noise[:n], qd + noise[n:])
        u = self.command(t, x, seen_q, seen_qd) if command is None else command
        around = self.surroundings(t, x)
        mechanism, base, lean = around.mechanism, around.base, around.mechanism.lean
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
        external, powers = self.external_torques(around, t)
        touches = [c.touch(around) for c in self._touching]
        push, relief = array(tau + external), self.relief(around, t, touches)
        for touch in touches:
            push = array(push + touch.torque)
        if base is not None and self._solves_once:
            free = array(push - newton_euler.nonlinear_effects(carried(mechanism.lean, base), q, qd))
            forward = lambda tau: composite.accelerations(mechanism.lean, q, array(free - tau))  # noqa: E731
            (qdd, friction, loads), stuck = unloaded(self.friction, qd, states, forward, self.apart), None
        else:
            moving = mechanism if base is None else carried(mechanism, base)
            if base is not None:
                push = array(push - inertial_torques(mechanism, base, q, qd))
            (qdd, friction, loads), stuck = self.accelerate(moving, lean, q, qd, push, states, relief)
        bristles = rates(self.friction, qd, states, loads)
        if self.controller is not None and lay.controller:
            controller: Any = acting_controller(self, t, x)
            arm = self.seen_by(controller, t, x, seen_q, seen_qd)
            own = controller.state_rate(arm, t, seen_q, seen_qd, self.target(t, x), lay.controller_states(x))
            own = checked_states(own, lay.controller, controller, "state_rate")
        else:
            own = np.zeros(lay.controller)
        own = [*own, *[0.0] * lay.switches]
        works = [np.sum(array(tau * qd)), np.sum(array(friction * qd)), np.sum(array(external * qd))]
        if self.contacts:
            works.append(sum((touch.power for touch in touches), 0.0))
        if base is not None:
            works[2] = sum(powers, 0.0)
            carrying = base_power(mechanism, base, q, qd, qdd) - works[2] + np.sum(array(external * qd))
            for touch in touches:
                carrying = carrying - touch.power + np.sum(array(touch.torque * qd))
            works.append(carrying)
        rate = lay.join(qd, qdd, bristles, motor_rates, own, works)
        return Flow(rate, qdd, u, array(tau), friction, external, loads, touches, stuck)

    @property
    def _touching(self) -> tuple[Contact, ...]:
        """The contacts that may act."""
        return () if self.apart else self.contacts

    @property
    def _resting(self) -> list[int]:
        """The joints that friction may hold."""
        return [] if self.apart else sticky(self.friction)

    @property
    def _solves_once(self) -> bool:
        """Do accelerations follow from M and one vector of torques, without joints that rest and friction that depends on them?"""
        return not self._resting and not loaded(self.friction) and not uses_articulated(self.mechanism(0.0))

    def accelerate(self, mechanism: Mechanism, lean: Mechanism, q: Vector, qd: Vector, push: Vector, states: list[tuple[Scalar, ...]],
                   relief: Any = 0.0) -> tuple[LoadBalance, Sticking | None]:  # fmt: skip
        """Accelerations, friction torques and normal forces under the torques ``push``, and what holds joints at rest."""
        joints = self._resting
        if not joints and not loaded(self.friction):
            forward = lambda tau: forward_dynamics(lean, q, qd, array(push - tau))  # noqa: E731
            return unloaded(self.friction, qd, states, forward, self.apart), None
        response = self.response(lean, q, qd, push)
        if not joints:
            return balanced(self.friction, mechanism, q, qd, states, response, relief), None
        stuck = [ops.where(ops.abs(states[i][0]) > 0.5, 0.0, 1.0) for i in joints]
        if loaded(self.friction):
            found = balanced(self.friction, mechanism, q, qd, states, while_held(response, joints, stuck), relief)
        else:
            found = unloaded(self.friction, qd, states, lambda tau: tau)  # accelerations follow from the reactions
        at, friction = sticking_at(response, joints, stuck, found.friction), found.friction.astype(object)
        for k, i in enumerate(joints):
            friction[i] = friction[i] + at.reaction[k]
        qdd = (response.free - response.K @ friction).astype(object)
        for k, i in enumerate(joints):
            qdd[i] = ops.where(stuck[k] > 0.5, 0.0, qdd[i])
        return LoadBalance(array(qdd), array(friction), found.loads), at

    def response(self, lean: Mechanism, q: Vector, qd: Vector, push: Vector) -> Response:
        """Answer of the arm to further torques when ``push`` acts."""
        M_inv = composite.inverse_mass_matrix(lean, q)
        return Response(array(M_inv @ (push - composite.nonlinear_effects(lean, q, qd))), M_inv)

    def friction_gain(self, x: np.ndarray, t: float = 0.0) -> tuple[float, int]:
        """Gain of the loop load → friction → acceleration → load on plain numbers, and the joint that matters most."""
        mechanism, (q, qd) = self.mechanism(t), (self.layout.q(x), self.layout.qd(x))
        response = self.response(mechanism.lean, q, qd, np.zeros(len(q)))
        return loop_gain(self.friction, mechanism, q, qd, self.layout.friction_states(x), response)

    def relief(self, around: Surroundings, t: Scalar, touches: Sequence[Touch] = ()) -> Any:
        """What external forces take off the forces across the joints, (n, 2); nothing where no friction asks for it."""
        total: Any = 0.0
        if not loaded(self.friction):
            return total
        wrenches = filter(is_wrench, self.disturbances)
        forces: list[Any] = [(d.frame, acting(d, t, lambda d=d: around.frame(d.frame))[:3]) for d in wrenches]
        framed: Any = [(c, touch) for c, touch in zip(self._touching, touches) if hasattr(c, "frame")]
        forces += [(c.frame, touch.wrench[:3]) for c, touch in framed]
        for frame, force in forces:
            link = kinematics.find_frame(around.mechanism, frame).link
            force = force if around.base is None else array(around.base.R.T @ force)
            total = total + reactions.relieved(around.mechanism, around.q, link, force)
        return total

    def external_torques(self, around: Surroundings, t: Scalar) -> tuple[np.ndarray, list[Scalar]]:
        """Σ Jᵀ w of the external wrenches, (n,), and under a moving base the power of each."""
        total = zeros(self.layout.n)
        powers: list[Scalar] = []
        for d in self.disturbances:
            if not is_wrench(d):
                continue
            if around.base is None and not d.needs_state:
                total = total + kinematics.jacobian(around.mechanism, around.q, d.frame).T @ acting(d, t)
                continue
            at = around.frame(d.frame)
            torques, power = around.work_of(at, acting(d, t, lambda at=at: at))
            total = total + torques
            powers.append(power)
        return array(total), powers

    def measured_wrench(self, t: Scalar, x: Vector) -> np.ndarray:
        """What a force sensor at the tip reads, in axes of the base, force first, (6,)."""
        return measured_wrench(self.surroundings(t, x), t, self.disturbances, self._touching)

    def surroundings(self, t: Scalar, x: Vector) -> Surroundings:
        """Where the arm is in the world, as wrenches and contacts see it."""
        base = None if self.base_motion is None else self.base_motion.at(t)
        return Surroundings(self.mechanism(t), self.layout.q(x), self.layout.qd(x), base)

    def energies(self, t: Scalar, x: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic and potential energy of the arm, energy stored in the drives [J]."""
        lay = self.layout
        q, qd, mechanism = lay.q(x), lay.qd(x), self.mechanism(t)
        stored: Scalar = 0.0
        armature = self.rotors()
        for i, drive in enumerate(self.drives):
            if drive is not None:
                stored = stored + drive.stored_energy(q[i], qd[i], lay.drive_states(x)[i], armature[i], t)
        if self.base_motion is not None:
            base = self.base_motion.at(t)
            return *energies(carried(mechanism, base), mechanism.gravity, base, q, qd), stored
        return energy.kinetic_energy(mechanism, q, qd), energy.potential_energy(mechanism, q), stored

    @property
    def has_events(self) -> bool:
        """Are there instants that depend on the state: joints that come to rest or break away, contacts that open or close, switches?"""
        return self.may_rest_or_touch or bool(conditional(self.switches))

    @property
    def may_rest_or_touch(self) -> bool:
        """Are there contacts, or joints that friction can hold?"""
        return bool(self.contacts or sticky(self.friction))

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
            own = self.controller.state_at(self.arm(), q, qd, self.reference(0.0))
            own = checked_states(own, lay.controller, self.controller, "initial_state")
        bristles: list[Scalar] = []
        for i, law in enumerate(self.friction):
            if law is not None:
                bristles.extend([sign(qd[i])] if law.sticks else [0.0] * law.states)
        return lay.join(q, qd, bristles, motors, own, [WAITING] * lay.switches, [0.0] * len(lay.works))

"""The reference of a certificate: recursive Newton–Euler on plain floats, without regrouping, tracing or compiling."""

from __future__ import annotations

import numpy as np

from manipula.certificate.comparison import (
    ACCELERATION,
    BIAS,
    FRICTION,
    GRAVITY,
    HOPELESS,
    JACOBIAN,
    MASS,
    POSE,
    TORQUE,
    Answers,
)
from manipula.certificate.states import CertifiedStates
from manipula.errors import UnphysicalError
from manipula.physics import kinematics, newton_euler
from manipula.physics.forward import check_inertia
from manipula.physics.mechanism import mechanism_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot


def frame_of(robot: Robot) -> str:
    """Where pose and Jacobian are compared: at the tip, or where a robot has none, at its last frame."""
    return TIP if robot.tip is not None or not robot.frames else robot.frames[-1].name


class NewtonEuler:
    """The numbers that every other route is compared with.

    Attributes:
        answers: by quantity, the states first.
        tau: torques for the forward dynamics. condition: the largest condition number of M.
        singular: why there are no accelerations; empty when there are.
    """

    def __init__(self, robot: Robot, states: CertifiedStates) -> None:
        n = robot.n
        plain, weightless = mechanism_of(robot), mechanism_of(robot.replace(gravity=(0.0, 0.0, 0.0)))
        torque = lambda m, q, qd, qdd: np.asarray(newton_euler.inverse_dynamics(m, q, qd, qdd), float)  # noqa: E731
        rest, frame = np.zeros(n), frame_of(robot)
        rows = [(q, qd, qdd) for q, qd, qdd in zip(states.q, states.qd, states.qdd)]
        found: Answers = {
            TORQUE: np.array([torque(plain, *row) for row in rows]),
            MASS: np.array([np.stack([torque(weightless, q, rest, e) for e in np.eye(n)], 1) for q in states.q]),
            BIAS: np.array([torque(weightless, q, qd, rest) for q, qd, _ in rows]),
            GRAVITY: np.array([torque(plain, q, rest, rest) for q in states.q]),
        }
        self.tau = np.array([torque(plain, *row) for row in zip(states.q, states.qd, states.other)])
        self.condition, self.singular = 1.0, ""
        try:
            check_inertia(robot)
            self.condition = float(np.linalg.cond(found[MASS]).max())
            if not self.condition < HOPELESS:
                self.singular = f"M is singular to working precision (condition number {self.condition:.1e})."
            else:
                load = self.tau - found[BIAS] - found[GRAVITY]
                found[ACCELERATION] = np.linalg.solve(found[MASS], load[..., None])[..., 0]
        except UnphysicalError as problem:
            self.singular = str(problem)
        found[POSE] = np.array([np.asarray(kinematics.pose(robot, q, frame), float) for q in states.q])
        found[JACOBIAN] = np.array([np.asarray(kinematics.jacobian(robot, q, frame), float) for q in states.q])
        laws = [j.friction for j in robot.joints]
        if any(law is not None for law in laws):
            self.friction = friction_inputs(robot, states)
            found[FRICTION] = plain_friction(robot, self.friction)
        self.answers = found


def friction_inputs(robot: Robot, states: CertifiedStates) -> dict[str, np.ndarray]:
    """Speeds, internal states and loads at which friction laws are compared."""
    count = sum(j.friction.states for j in robot.joints if j.friction is not None)
    rng = np.random.default_rng(len(states))
    inputs = {"qd": states.qd, "load": rng.uniform(0.0, 100.0, states.qd.shape)}
    return inputs | {"state": rng.uniform(-1e-4, 1e-4, (len(states), count))}


def plain_friction(robot: Robot, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """tau_f of every law called on plain floats, (S, n)."""
    out = np.zeros(inputs["qd"].shape)
    for k, (qd, load, state) in enumerate(zip(inputs["qd"], inputs["load"], inputs["state"])):
        rest = list(state)
        for i, joint in enumerate(robot.joints):
            law = joint.friction
            if law is not None:
                own, rest = tuple(rest[: law.states]), rest[law.states :]
                out[k, i] = float(law.torque(float(qd[i]), own, float(load[i])))
    return out

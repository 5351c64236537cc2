"""Arms, references and one example of every controller, shared by the tests of this folder."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import manipula as mp
from manipula import control, drives
from manipula.simulation.loops.fixed import RunSamples, run_fixed
from manipula.simulation.loops.setup import prepare_run

GOAL = {"planar-2r": [0.3, -0.4], "scara-khang": [0.2, 0.5, -0.3, 0.1], "panda": [0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2]}


def swinging(t: Any, q: Any, qd: Any, target: Any) -> Any:
    """A user's own law: plain PD."""
    return 40.0 * (target.position - q) - 8.0 * qd


EXAMPLES: dict[str, control.Controller] = {
    "pd": control.PD(60.0, 12.0),
    "pd_gravity": control.PDGravity(60.0, 12.0),
    "pid": control.PID(60.0, 30.0, 12.0, limit=40.0),
    "computed_torque": control.ComputedTorque(100.0, 20.0),
    "task_space_computed_torque": control.TaskSpaceComputedTorque(100.0, 20.0, null_damping=5.0),
    "operational_space": control.OperationalSpace(100.0, 20.0, null_damping=5.0, criteria=(control.Posture(0.1),)),
    "impedance": control.Impedance(400.0, 60.0, joint_damping=2.0),
    "task_priorities": control.TaskPriorities(
        (control.FramePosition(), control.JointPosture(0.1, priority=2)), null_damping=5.0
    ),
    "slotine_li": control.SlotineLi(8.0, 15.0, 4.0, links=(2,)),
    "adaptive_payload": control.AdaptivePayload(8.0, 15.0, 4.0, estimates="inertia"),
    "sliding_mode": control.SlidingMode(8.0, 20.0, layer=0.1),
    "lqr": control.LQR([0.3, -0.4, 0.2]),
    "model_predictive": control.ModelPredictive([0.3, -0.4, 0.2], horizon=6, moves=2, effort_limit=500.0),
    "gravity": control.GravityCompensation(2.0),
    "admittance": control.Admittance(2.0, 20.0, 100.0),
    "hybrid_force_position": control.HybridForcePosition(
        [5.0, 0.0, 0.0], [[1.0, 0.0, 0.0]], 100.0, 20.0, kf=0.2, force_damping=30.0, ki=0.1
    ),
    "cascade": control.Cascade(10.0, 12.0, 30.0, every=3),
    "feedforward_pd": control.FeedforwardPD(60.0, 12.0),
    "torque_table": mp.control.TorqueTable.of(
        [0.0, 0.5, 1.0], [[1.0, 2.0, 3.0], [0.5, 2.5, 1.0], [0.0, 1.0, 2.0]], kp=50.0, kv=8.0
    ),
    "momentum_observer": control.MomentumObserver(60.0, 12.0, 30.0, compensate=True),
    "motor_pd": control.MotorPD(60.0, 12.0),
    "flexible_computed_torque": control.FlexibleComputedTorque(12.0),
    "user": control.UserFunction(swinging),
}


SPRINGS = (drives.Flexible(stiffness=900.0),)  # at every joint where a controller measures motors


@cache
def arm(name: str) -> mp.Robot:
    return mp.load(name)


def quintic(name: str, start: Any, duration: float = 1.0) -> Any:
    """A joint move from ``start`` to the arm's goal, at rest at both ends."""
    return mp.trajectory(mp.paths.joint([start, GOAL[name]]), mp.timing.quintic(duration))


def integrate(scenario: mp.Scenario) -> tuple[np.ndarray, np.ndarray, np.ndarray, RunSamples]:
    """t, q, qd of one run, without the observer (one compilation less)."""
    run = prepare_run(scenario)
    samples = run_fixed(run)
    n = scenario.robot.n
    return samples.t, samples.x[0, :, :n], samples.x[0, :, n : 2 * n], samples

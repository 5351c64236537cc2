"""MuJoCo: inverse and forward dynamics from Python, and its rollout of a closed loop (all inside C).

The closed loop is a step of 1 ms with RK4, position servos (stiffness and damping) and gravity compensation; contacts and
limits of joints and efforts are switched off, so that the same motion is computed as elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .timing import GOAL, missing, nanoseconds, servo_gains, states

STEP = 1e-3
ROLLOUT_STEPS = 500
TIMED_STEPS = 100


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("mujoco")


def available() -> bool:
    """Is MuJoCo installed?"""
    return not reason()


def mass_diagonal(model: Any, q: np.ndarray) -> np.ndarray:
    """M_ii(q): the change of inverse dynamics at rest per unit of each acceleration."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = q

    def torques(acceleration: np.ndarray) -> np.ndarray:
        data.qacc[:] = acceleration
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse.copy()

    at_rest = torques(np.zeros(model.nv))
    return np.array([(torques(unit) - at_rest)[i] for i, unit in enumerate(np.eye(model.nv))])


def _free(model: Any) -> Any:
    """Without contacts, limits of joints and efforts, damping and friction."""
    import mujoco

    disabled = mujoco.mjtDisableBit
    model.opt.disableflags |= disabled.mjDSBL_CONTACT | disabled.mjDSBL_LIMIT | disabled.mjDSBL_CONSTRAINT
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    model.jnt_actfrclimited[:] = 0  # the limit of effort in a URDF
    return model


def closed_loop_model(urdf_path: str | Path) -> Any:
    """The arm with a servo on every joint, gravity compensation and RK4."""
    import mujoco

    arm = _free(mujoco.MjModel.from_xml_path(str(urdf_path)))
    gains = servo_gains(mass_diagonal(arm, np.full(arm.nq, GOAL)))
    spec = mujoco.MjSpec.from_file(str(urdf_path))
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for body in spec.bodies:
        body.gravcomp = 1.0
    for joint, stiffness, damping in zip(spec.joints, *gains):
        servo = spec.add_actuator(name=f"servo_{joint.name}", target=joint.name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0] = stiffness
        servo.biasprm[1], servo.biasprm[2] = -stiffness, -damping
    return _free(spec.compile())


def rollout_of(urdf_path: str | Path, q0: np.ndarray, steps: int) -> Callable[[], np.ndarray]:
    """A call that moves the arm from rest at every ``q0`` (runs, n) and gives its positions after each step (runs, steps, n).

    All of it is one call into C, on one thread.
    """
    import mujoco
    from mujoco import rollout

    model = closed_loop_model(urdf_path)
    data = mujoco.MjData(model)
    start = np.zeros((len(q0), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + model.nq] = q0  # after the time
    goal = np.full((len(q0), steps, model.nu), GOAL)
    return lambda: rollout.rollout(model, data, start, goal)[0][:, :, 1 : 1 + model.nq]


def time_functions(urdf_path: str | Path) -> dict[str, float]:
    """Nanoseconds per evaluation of each function, for the arm in a URDF file."""
    import mujoco
    from mujoco import rollout

    model = _free(mujoco.MjModel.from_xml_path(str(urdf_path)))
    data = mujoco.MjData(model)
    (data.qpos[:],), (data.qvel[:],), (data.qacc[:],) = states(model.nv)
    data.qfrc_applied[:] = 1.0
    times = {
        "inverse_dynamics": nanoseconds(lambda: mujoco.mj_inverse(model, data)),
        "forward_dynamics": nanoseconds(lambda: mujoco.mj_forward(model, data)),
        "forward_kinematics": nanoseconds(lambda: mujoco.mj_kinematics(model, data)),
    }
    servo_model = closed_loop_model(urdf_path)
    servo_data = mujoco.MjData(servo_model)
    start = np.zeros((1, mujoco.mj_stateSize(servo_model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    goal = np.full((1, ROLLOUT_STEPS, servo_model.nu), GOAL)
    reached = rollout.rollout(servo_model, servo_data, start, goal)[0][0, -1, 1 : 1 + servo_model.nq]
    if not np.allclose(reached, GOAL, atol=0.5 * GOAL):
        raise RuntimeError(f"MuJoCo's arm is not on its way to the goal after {ROLLOUT_STEPS} steps: {reached}.")

    short = goal[:, :TIMED_STEPS]

    def run() -> None:
        rollout.rollout(servo_model, servo_data, start, short)

    times["closed_loop_step"] = nanoseconds(run, total=1.0) / TIMED_STEPS
    return times

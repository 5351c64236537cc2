"""MuJoCo moves the same arms the same way: free motion and PD control, through the MJCF files written here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula import control

mujoco = pytest.importorskip("mujoco")

ARMS = {
    "stanford": ([0.2, 0.6, 0.5, 0.3, 0.5, -0.2], 0.3),  # one joint slides
    "ur5e": ([0.1, -1.2, 0.8, -0.5, 0.4, 0.2], 0.3),
    "panda": ([0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2], 0.3),
}
STEP = 1e-4
FREE = 2e-9  # both integrate with errors of 1e-12; the file keeps 15 digits, and a falling arm doubles a difference every 0.1 s
SERVO = 1e-8  # MuJoCo's RK4 at 0.1 ms with servo poles up to 300/s


def theirs(robot: mp.Robot, path: Path) -> mujoco.MjModel:
    """The arm as MuJoCo reads it, without friction, limits and contacts; RK4 with small steps."""
    mp.save(robot, path)
    model = mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_CONSTRAINT
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    return model


def rolled(model: mujoco.MjModel, q0: np.ndarray, steps: int) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:] = q0
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return data.qpos.copy()


@pytest.mark.parametrize("name", sorted(ARMS))
def test_free_motion(name: str, tmp_path: Path) -> None:
    robot = mp.load(name)
    q0, duration = np.array(ARMS[name][0]), ARMS[name][1]
    model = theirs(robot, tmp_path / f"{name}.xml")
    expected = rolled(model, q0, round(duration / STEP))
    result = mp.simulate(
        mp.Scenario(
            robot=robot,
            q0=q0,
            duration=duration,
            sample=duration,
            friction=(),
            drives=(),
            integrator="rk4",
            verify=False,
            step=5e-4,
        )
    )
    assert np.abs(result.q[-1] - q0).max() > 0.05
    assert np.abs(result.q[-1] - expected).max() <= FREE


@pytest.mark.parametrize("name", sorted(ARMS))
def test_servo_with_the_same_gains(name: str, tmp_path: Path) -> None:
    robot = mp.load(name)
    q0, duration = np.array(ARMS[name][0]), ARMS[name][1]
    goal = q0 + 0.1
    inertia = np.diag(mp.compile(robot).mass_matrix(q0))
    kp, kv = 100.0 * inertia, 12.0 * inertia
    model = theirs(robot, tmp_path / f"{name}.xml")
    data = mujoco.MjData(model)
    data.qpos[:] = q0

    def servo(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.qfrc_applied[:] = kp * (goal - data.qpos) - kv * data.qvel

    mujoco.set_mjcb_control(servo)
    try:
        for _ in range(round(duration / STEP)):
            mujoco.mj_step(model, data)
    finally:
        mujoco.set_mjcb_control(None)
    result = mp.simulate(
        mp.Scenario(robot=robot, controller=control.PD(kp, kv, goal=goal), q0=q0, duration=duration, sample=duration, friction=(), drives=(),
                    integrator="rk4", step=2.5e-4, verify=False)
    )  # fmt: skip
    assert np.abs(result.q[-1] - data.qpos).max() <= SERVO

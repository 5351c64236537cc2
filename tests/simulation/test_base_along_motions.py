"""A base that follows a motion of the package: Pinocchio with a driven free flyer, differences of poses, the same by formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import file_text, load_text

ARM = mp.load("ur5e")
END = 0.8
Q0, QD0 = np.random.default_rng(4).uniform(-1, 1, (2, 6))


def measured() -> tuple[np.ndarray, np.ndarray]:
    """A ship's log: poses with noise, quaternions of either sign."""
    rng = np.random.default_rng(8)
    t = np.linspace(3.0, 3.0 + END, 81)
    x = np.stack([0.2 * np.sin(2 * (t - 3)), 0.1 * (t - 3), 0.05 * np.cos(4 * t)], axis=1)
    angles = np.stack([0.3 * np.sin(2 * t), 0.2 * (t - 3), 0.4 * np.cos(t)], axis=1)
    q = Rotation.from_euler("xyz", angles).as_quat()[:, [3, 0, 1, 2]]
    rows = np.column_stack([x, q]) + 1e-4 * rng.standard_normal((81, 7))
    rows[::3, 3:] *= -1.0
    return t, rows


def motions() -> dict[str, Any]:
    circle = mp.trajectory(mp.paths.arc([0.3, 0, 0], [0, 0.3, 0.1], [-0.3, 0, 0]), mp.timing.quintic(0.7))
    turned = mp.formula_motion(
        ["0.2*sin(3*t)", "0.1*t^2", "0.05*cos(5*t)"], duration=END, orientation=["0.3*sin(2*t)", "0.2*t", "3*t"]
    )
    t, rows = measured()
    points = [[0, 0, 0], [0.1, 0.05, 0], [0.2, 0, 0.1]]
    return {
        "path": circle,
        "waypoints": mp.waypoints([0, 0.3, END], points, space="task", method="quintic"),
        "formulas": turned,
        "log": mp.reference_from(t, rows[:, :3], space="task", noise=1e-4),
        "poses": mp.reference_from(t, rows, space="pose", noise=1e-4),
    }


NAMES = ("path", "waypoints", "formulas", "log", "poses")


def differences(motion: Any, t: float) -> tuple[np.ndarray, ...]:
    """R, p, v, a, ω, ω̇ of the base from positions and rotations alone: differences of order 4."""
    h = 1e-3
    at = t + h * np.arange(-2, 3)
    p = motion.position(at)
    R = motion.rotation(at) if motion.has_orientation else np.broadcast_to(np.eye(3), (5, 3, 3))
    first, second = np.array([1, -8, 0, 8, -1]) / (12 * h), np.array([-1, 16, -30, 16, -1]) / (12 * h * h)
    Rd, Rdd = np.tensordot(first, R, 1), np.tensordot(second, R, 1)
    vee = lambda A: 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
    return R[2], p[2], first @ p, second @ p, vee(Rd @ R[2].T), vee(Rdd @ R[2].T)


def driven(t: float, motion: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Torques of Pinocchio's free flyer on this base."""
    pin = pytest.importorskip("pinocchio")
    from manipula.formats.urdf import to_urdf

    theirs = pin.buildModelFromXML(to_urdf(ARM), pin.JointModelFreeFlyer())
    theirs.armature[6:] = [float(j.armature) for j in ARM.joints]
    R, p, v, a, w, alpha = differences(motion, t)
    vb, wb = R.T @ v, R.T @ w
    turn = Rotation.from_matrix(np.array(R)).as_quat()
    states = np.concatenate([p, turn, q]), np.concatenate([vb, wb, qd])
    return pin.rnea(
        theirs, theirs.createData(), *states, np.concatenate([R.T @ a - np.cross(wb, vb), R.T @ alpha, qdd])
    )[6:]


INSIDE = (0.1, 0.25, 0.5, 0.65)


@pytest.mark.parametrize("name", NAMES)
def test_a_free_arm_on_a_moving_base_is_that_of_pinocchio(name: str) -> None:
    motion = motions()[name]
    s = mp.Scenario(robot=ARM, q0=Q0, qd0=QD0, duration=END, sample=0.05, friction=(), base_motion=mp.BaseMotion(motion=motion))  # fmt: skip
    r = mp.simulate(s).check()
    for t in INSIDE:
        k = int(np.argmin(np.abs(r.t - t)))
        tau = driven(t, motion, r.q[k], r.qd[k], r.qdd[k])
        np.testing.assert_allclose(tau, 0.0, atol=2e-5)  # of the differences: a log bends sharply
        np.testing.assert_allclose(r.base_pose[k][:3, 3], motion.position(t), atol=1e-11)
    assert np.abs(r.audit).max() < 1e-7
    assert np.abs(r.work_base).max() > 0.1


@pytest.mark.parametrize("name", ["path", "formulas", "poses"])
def test_torques_along_a_reference_on_a_moving_base_are_those_of_pinocchio(name: str) -> None:
    motion = motions()[name]
    move = mp.trajectory(mp.paths.joint([Q0, Q0 + 0.4]), mp.timing.quintic(END))
    s = mp.Scenario(robot=ARM, kind="inverse_dynamics", reference=move, sample=0.05, friction=(), base_motion=mp.BaseMotion(motion=motion))  # fmt: skip
    r = mp.simulate(s).check()
    for t in INSIDE:
        k = int(np.argmin(np.abs(r.t - t)))
        np.testing.assert_allclose(driven(t, motion, r.q[k], r.qd[k], r.qdd[k]), r.tau[k], atol=2e-5)
    still = mp.simulate(s.replace(base_motion=None)).check()
    assert np.abs(r.tau - still.tau).max() > 1.0
    np.testing.assert_array_equal(r.q, still.q)


def test_a_kinematic_run_is_carried_with_its_base() -> None:
    """References stay in axes of the base; the tip is told in those of the world."""
    base = motions()["formulas"]
    x = mp.compile(ARM).position(Q0)
    along = mp.trajectory(mp.paths.line(x, x + np.array([0.05, 0.05, -0.05])), mp.timing.quintic(END))
    s = mp.Scenario(robot=ARM, kind="kinematic", reference=along, q0=Q0, sample=0.1, friction=())
    still, r = mp.simulate(s).check(), mp.simulate(s.replace(base_motion=mp.BaseMotion(motion=base))).check()
    np.testing.assert_array_equal(r.q, still.q)
    R, p = base.rotation(r.t), base.position(r.t)
    np.testing.assert_allclose(r.tip, p + np.einsum("kij,kj->ki", R, still.tip), atol=1e-11)
    np.testing.assert_allclose(r.error, still.error, atol=1e-15)
    k = 4
    np.testing.assert_allclose(driven(r.t[k], base, r.q[k], r.qd[k], r.qdd[k]), r.tau[k], atol=2e-5)


def test_a_batch_under_control_has_the_bits_of_single_runs() -> None:
    base = mp.BaseMotion(motion=motions()["poses"])
    control = mp.control.PDGravity(kp=300, kv=40, goal=Q0)
    s = mp.Scenario(robot=ARM, q0=Q0, duration=0.3, sample=0.05, controller=control, friction=(), base_motion=base)
    starts = Q0 + 0.1 * np.arange(5)[:, None]
    batch = mp.simulate(s.replace(q0=starts)).check()
    for k, q0 in enumerate(starts):
        one = mp.simulate(s.replace(q0=q0)).check()
        np.testing.assert_array_equal(batch.q[k], one.q)
    assert np.abs(batch.audit).max() < 1e-7


def test_formulas_and_the_motion_of_the_same_formulas_agree() -> None:
    texts = ["0.2*sin(3*t)", "0.1*t^2", "0.05*cos(5*t)"], ["0.3*sin(2*t)", "0.2*t", "3*t"]
    s = mp.Scenario(robot=ARM, q0=Q0, qd0=QD0, duration=END, sample=0.1, friction=(), base_motion=mp.BaseMotion(*texts))
    motion = mp.formula_motion(texts[0], duration=END, orientation=texts[1])
    apart = mp.BaseMotion(motion=mp.formula_motion(texts[0], duration=END), rotation=texts[1])
    r = mp.simulate(s).check()
    for base in (mp.BaseMotion(motion=motion), apart):
        np.testing.assert_allclose(mp.simulate(s.replace(base_motion=base)).check().q, r.q, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_motion_of_a_base_is_written_and_read(name: str) -> None:
    s = mp.Scenario(robot=mp.load("planar-2r"), duration=0.2, base_motion=mp.BaseMotion(motion=motions()[name]))
    again = load_text(file_text(s))
    assert again.base_motion.motion.position(0.1) == pytest.approx(s.base_motion.motion.position(0.1), abs=1e-15)
    np.testing.assert_array_equal(mp.simulate(again).q, mp.simulate(s).q)


def test_poses_of_a_log_are_smoothed_within_their_noise() -> None:
    t, rows = measured()
    motion = mp.reference_from(t, rows, space="pose")
    assert motion.rms[:3] == pytest.approx(1e-4, rel=0.4)
    assert motion.rms[3:].max() < 1.4e-4  # of unit quaternions: their length takes one direction of the noise away
    turn = Rotation.from_matrix(motion.rotation(t - t[0]))
    exact = Rotation.from_euler("xyz", np.stack([0.3 * np.sin(2 * t), 0.2 * (t - 3), 0.4 * np.cos(t)], axis=1))
    assert np.abs((turn * exact.inv()).as_rotvec()).max() < 5e-4
    with pytest.raises(DescriptionError, match="7 numbers"):
        mp.reference_from(t, rows[:, :6], space="pose")
    with pytest.raises(DescriptionError, match="length"):
        mp.reference_from(t, np.column_stack([rows[:, :3], 0 * rows[:, 3:]]), space="pose")


def test_what_no_base_can_do_is_refused() -> None:
    s = mp.Scenario(robot=mp.load("planar-2r"), duration=END)
    square = mp.paths.polyline([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]])
    for motion, why in (
        (mp.trajectory(square, mp.timing.constant_speed(0.25)), "jumps"),
        (mp.trajectory(mp.paths.line([0, 0, 0], [0.1, 0, 0]), mp.timing.constant_speed(0.25)), "ends with a speed"),
    ):
        with pytest.raises(DescriptionError, match=why) as error:
            mp.simulate(s.replace(base_motion=mp.BaseMotion(motion=motion)))
        assert error.value.field == "base_motion.motion"
    joints = mp.joint_move([0.0] * 3, [0.1] * 3, velocity=1.0, acceleration=1.0, jerk=1.0)
    with pytest.raises(DescriptionError, match="task space"):
        mp.BaseMotion(motion=joints)
    with pytest.raises(DescriptionError, match="never act"):
        mp.BaseMotion(position=("t", 0, 0), motion=motions()["path"])
    with pytest.raises(DescriptionError, match="never act"):
        mp.BaseMotion(rotation=("t", 0, 0), motion=motions()["formulas"])
    with pytest.raises(DescriptionError, match="reference"):
        mp.BaseMotion(motion="ship")


@pytest.mark.parametrize("turned", [False, True])
def test_a_scenario_is_read_without_a_table_of_its_base(turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick motions have long tables: one of 640 rad/s took twenty seconds, before anything was asked to run."""
    from manipula.motion.pose_motion import PoseMotion
    from manipula.motion.trajectory import Trajectory

    words = 'kind = "formula"\nduration = 3.0\ncoordinates = ["0.1*t^2", "0", "0.2*sin(640*t)^2"]\n'
    words += 'orientation = ["0.1*sin(t)^2", "0", "0.2"]\n' * turned
    text = f'robot = "planar-2r"\nq0 = [0.1, 0.2]\nduration = 0.01\n[base_motion.motion]\n{words}'

    def refused(*_: object) -> None:
        raise AssertionError("a table was made")

    monkeypatch.setattr(Trajectory, "to_piecewise", refused)
    monkeypatch.setattr(PoseMotion, "_signs", property(refused))  # which are followed along the whole motion
    assert isinstance(load_text(text), mp.Scenario)

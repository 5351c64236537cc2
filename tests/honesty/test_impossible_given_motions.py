"""Inverse-dynamics and kinematic runs: what is asked for enters the torques, and what cannot be is not finished."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.errors import DescriptionError
from manipula.motion.formula_motion import formula_motion
from manipula.simulation.stepping.corners import jumps

ARM = mp.planar([0.5, 0.5], [2.0, 1.0])
SWING = formula_motion(["0.4*sin(3*t)", "1.1 - 0.5*sin(2*t)"], 1.0, space="joint")
RUN = mp.Scenario(ARM, SWING, kind="inverse_dynamics", step=0.01)


# ---------------------------------------------------------------------- forces and masses
def test_a_wrench_on_the_tip_enters_the_torques() -> None:
    """Virtual work: the drives do not have to do what the outside does for them."""
    wrench = np.array([3.0, -4.0, 0.0, 0.0, 0.0, 0.7])
    pushed = mp.simulate(RUN.replace(disturbances=(mp.Wrench(tuple(wrench), start=0.3, stop=0.605),)))
    free = mp.simulate(RUN)
    J = mp.compile(ARM).jacobian(free.q)
    acting = (free.t >= 0.3) & (free.t <= 0.605)
    expected = free.tau - acting[:, None] * np.einsum("kij,i->kj", J, wrench)
    np.testing.assert_allclose(pushed.tau, expected, atol=1e-11)
    np.testing.assert_allclose(pushed.external[acting], np.einsum("kij,i->kj", J, wrench)[acting], atol=1e-11)


def test_a_weight_hung_on_the_tip_is_a_payload_at_rest() -> None:
    still = formula_motion(["0.3", "0.8"], 1.0, space="joint")
    hung = mp.simulate(RUN.replace(reference=still, disturbances=(mp.Wrench((0.0, -1.5 * 9.81, 0.0, 0.0, 0.0, 0.0)),)))
    carried = mp.simulate(RUN.replace(reference=still, robot=ARM.replace(payload=mp.Payload(1.5))))
    np.testing.assert_allclose(hung.tau, carried.tau, atol=1e-11)


def test_a_payload_change_changes_the_torques_from_its_instant_on() -> None:
    run = mp.simulate(RUN.replace(disturbances=(mp.PayloadChange(0.5, 2.0, (0.1, 0.0, 0.0)),)))
    loaded = mp.compile(ARM.replace(payload=mp.Payload(2.0, (0.1, 0.0, 0.0)))).inverse_dynamics(run.q, run.qd, run.qdd)
    empty = mp.compile(ARM).inverse_dynamics(run.q, run.qd, run.qdd)
    late = run.t >= 0.5
    np.testing.assert_allclose(run.tau, np.where(late[:, None], loaded, empty), atol=1e-11)


def test_free_parameters_are_honoured() -> None:
    robot = mp.planar([0.5, 0.5], ["m1", 1.0])
    runs = mp.simulate(RUN.replace(robot=robot, parameters={"m1": (2.0, 5.0)}))
    for k, mass in enumerate((2.0, 5.0)):
        one = mp.simulate(RUN.replace(robot=mp.planar([0.5, 0.5], [mass, 1.0])))
        np.testing.assert_allclose(runs.tau[k], one.tau, atol=1e-11)


# ---------------------------------------------------------------------- limits of what can be done
def test_torques_beyond_the_actuators_are_told() -> None:
    free = mp.simulate(RUN)
    at, joint = np.unravel_index(np.argmax(np.abs(free.tau)), free.tau.shape)
    result = mp.simulate(RUN.replace(actuator=mp.Actuator(limit=0.9 * float(np.abs(free.tau).max()))))
    assert result.status == "failed"
    assert ARM.joint_names[joint] in result.reason
    assert f"t = {free.t[at]:.6g} s" in result.reason
    assert mp.simulate(RUN.replace(actuator=mp.Actuator(limit=1.01 * float(np.abs(free.tau).max())))).ok


def test_a_start_that_is_not_the_references_is_refused() -> None:
    with pytest.raises(DescriptionError, match=r"0\.25") as told:
        mp.simulate(RUN.replace(q0=[0.0, 1.35]))
    assert told.value.field == "q0"
    with pytest.raises(DescriptionError) as told:
        mp.simulate(RUN.replace(qd0=[0.0, 0.0]))
    assert told.value.field == "qd0"
    assert mp.simulate(RUN.replace(q0=[0.0, 1.1], qd0=[1.2, -1.0])).ok
    line = mp.trajectory(mp.paths.line([0.6, 0.3, 0.0], [0.3, 0.5, 0.0]), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="project") as told:
        mp.simulate(RUN.replace(reference=line, q0=[0.3, 0.5]))
    assert told.value.field == "q0"
    moved = mp.simulate(RUN.replace(reference=line, q0=[0.3, 0.5], start="project"))
    assert moved.ok, moved.reason
    assert "°" in moved.notes[0]


@pytest.mark.parametrize("announced", [True, False])
def test_a_corner_passed_with_speed_is_named_with_its_time(announced: bool) -> None:
    kink = formula_motion(
        lambda t: [ops.where(t < 0.37, t, 0.37 - 2.0 * (t - 0.37)), 1.0 + 0.0 * t], 1.0,
        breaks=(0.37,) if announced else (), space="joint",
    )  # fmt: skip
    result = mp.simulate(RUN.replace(reference=kink))
    assert result.status == "failed"
    assert "t = 0.37 s" in result.reason
    assert "velocity by 3 rad/s" in result.reason
    assert 0.36 <= result.trusted_until < 0.37


@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-4, 1e-5])
def test_a_small_corner_that_nobody_announces_is_found(size: float) -> None:
    """As small as one that is announced may be; the rest of the motion is smooth and quick."""
    kink = formula_motion(lambda t: [t + 0.5 * size * ops.abs(t - 0.3702), 0.1 * ops.sin(20.0 * t)], 1.0, space="joint")
    (found,) = jumps(kink, 1.0)
    assert found.order == 1
    assert found.t == pytest.approx(0.3702, abs=1e-9)
    assert found.size == pytest.approx(size, rel=1e-6)
    result = mp.simulate(RUN.replace(reference=kink, limits={"acceleration": 1e3}))
    assert result.status == "failed"
    assert "t = 0.3702 s" in result.reason
    assert result.feasible is False


def test_rest_after_a_reference_that_ends_with_speed_is_a_corner() -> None:
    result = mp.simulate(RUN.replace(duration=1.5))
    assert result.status == "failed"
    assert "t = 1 s" in result.reason
    stop = mp.joint_move([0.0, 0.5], [1.0, 1.0], velocity=1.0, acceleration=4.0, jerk=30.0)
    assert mp.simulate(RUN.replace(reference=stop, duration=stop.duration + 0.5)).ok


def test_quick_motions_have_no_corners() -> None:
    quick = formula_motion(["sin(300*t)", "exp(-2e6*(t - 0.5)^2)"], 1.0, space="joint")
    assert jumps(quick, 1.0) == []
    rng = np.random.default_rng(777030)
    for rate, narrow in 10.0 ** rng.uniform((0.0, -4.0), (3.5, -1.0), (40, 2)):
        words = [f"sin({rate}*t) + t^3", f"tanh((t - 0.4123)/{narrow})", "t*abs(t - 0.7)*(t - 0.7)"]
        assert jumps(formula_motion(words, 1.0, space="joint"), 1.0) == []


def test_kinematic_runs_name_corners_in_a_note() -> None:
    square = mp.trajectory(mp.paths.polyline([[0.6, 0.3], [0.4, 0.3], [0.4, 0.5]]), mp.timing.constant_speed(0.4))
    q0 = mp.solve_ik(ARM, [0.6, 0.3, 0.0]).q
    result = mp.simulate(mp.Scenario(ARM, square, kind="kinematic", q0=q0, step=1e-3))
    assert result.ok, result.reason
    assert any("t = 0.5 s" in note for note in result.notes)
    for sample in (None, 0.3):
        run = mp.Scenario(ARM, square, kind="kinematic", q0=q0, sample=sample, limits={"acceleration": 1e6})
        broken = mp.simulate(run).feasibility.broken
        assert broken[0].first == pytest.approx(0.5), "no machine passes a corner with speed"
        assert "velocity jumps" in broken[0].sentence()


@pytest.mark.parametrize("step", [0.01, 0.007])
@pytest.mark.parametrize("kind", ["inverse_dynamics", "kinematic"])
def test_a_line_through_the_fold_is_singular(kind: str, step: float) -> None:
    """Both links have one length: the tip meets the first joint, whether a sample falls on that instant or not."""
    line = mp.trajectory(mp.paths.line([0.6, 0.0, 0.0], [-0.6, 0.0, 0.0]), mp.timing.quintic(1.0))
    q0 = mp.solve_ik(ARM, [0.6, 0.0, 0.0]).q
    result = mp.simulate(mp.Scenario(ARM, line, kind=kind, q0=q0, step=step))  # pyright: ignore[reportArgumentType]
    assert result.status == "singular"
    named = float(result.reason.split("t = ")[1].split(" ")[0])
    assert abs(named - 0.5) <= 1.001 * step


@pytest.mark.parametrize("kind", ["inverse_dynamics", "kinematic"])
def test_a_path_out_of_the_arms_plane_is_not_followed(kind: str) -> None:
    q0 = mp.solve_ik(ARM, [0.6, 0.2, 0.0]).q
    out = mp.trajectory(mp.paths.line([0.6, 0.2, 0.0], [0.6, 0.4, 0.5]), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(ARM, out, kind=kind, q0=q0, step=1e-2))  # pyright: ignore[reportArgumentType]
    assert result.status == "failed"
    assert "0.5 m" in result.reason
    assert "t = 1 s" in result.reason
    assert "cannot move in z" in result.reason


def test_a_kinematic_run_off_its_path_is_refused_or_pulled_onto_it() -> None:
    line = mp.trajectory(mp.paths.line([0.6, 0.2, 0.0], [0.5, 0.4, 0.0]), mp.timing.quintic(1.0))
    run = mp.Scenario(ARM, line, kind="kinematic", q0=mp.solve_ik(ARM, [0.57, 0.2, 0.0]).q, step=1e-3)
    with pytest.raises(DescriptionError, match=r"0\.03 m") as told:
        mp.simulate(run)
    assert told.value.field == "q0"
    pulled = mp.simulate(run.replace(gain=10.0))
    assert pulled.ok, pulled.reason
    assert "0.03 m" in pulled.notes[0]
    on = mp.simulate(run.replace(start="project"))
    assert on.ok
    assert np.abs(on.error).max() < 1e-8


def test_joint_limits_are_watched_between_samples() -> None:
    robot = ARM.replace(joints=tuple(
        j if i else j.__class__(**{**vars(j), "limits": type(j.limits)(lower=-0.3, upper=0.3)}) for i, j in enumerate(ARM.joints)
    ))  # fmt: skip
    result = mp.simulate(RUN.replace(robot=robot, sample=1.0, step=1e-3, stop_at_limits=True))
    assert result.status == "limit"
    named = float(result.reason.split("t = ")[1].split(" ")[0])
    assert abs(named - np.arcsin(0.75) / 3.0) <= 1e-3


def test_a_controlled_run_moved_onto_its_path_says_so() -> None:
    line = mp.trajectory(mp.paths.line([0.6, 0.2, 0.0], [0.5, 0.4, 0.0]), mp.timing.quintic(1.0))
    run = mp.Scenario(
        ARM, line, mp.control.TaskSpaceComputedTorque(100.0, 20.0), q0=[0.2, 0.6], duration=0.02, start="project"
    )
    result = mp.simulate(run)
    change = result.q[0] - run.q0
    worst = int(np.argmax(np.abs(change)))
    assert f"'{ARM.joint_names[worst]}' by {np.rad2deg(change[worst]):+.3g}°" in result.notes[0]

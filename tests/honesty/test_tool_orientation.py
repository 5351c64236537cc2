"""A reference that says how the tool is turned: honoured where the tool is turned so, refused everywhere else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.motion.formula_motion import formula_motion
from manipula.motion.paths import orientation

Q0 = np.array([0.2, 0.5, -0.1, -1.2, 0.3, 0.8, 0.1])
TASK_CONTROLLERS = {
    "task_space_computed_torque": control.TaskSpaceComputedTorque(100.0, 20.0),
    "operational_space": control.OperationalSpace(100.0, 20.0),
    "impedance": control.Impedance(500.0, 50.0),
    "hybrid_force_position": control.HybridForcePosition([0, 0, -5.0], [[0, 0, 1]], 100.0, 20.0, 0.2, 30.0),
    "user": control.UserFunction(lambda t, q, qd, target: 0.0 * q, "task"),
    "admittance": control.Admittance(1.0, 20.0, 100.0),
}
POSITIONS_ONLY = ("admittance", "user")


@pytest.fixture(scope="module")
def arm() -> mp.Robot:
    return mp.load("iiwa14")


def line(arm: mp.Robot, turned: bool = True) -> mp.paths.Path:
    X = mp.compile(arm).pose(Q0)
    path = mp.paths.line(X[:3, 3], X[:3, 3] + [0.1, -0.1, 0.05])
    return path.with_orientation(orientation.constant(X[:3, :3])) if turned else path


def formula(arm: mp.Robot) -> mp.motion.FormulaMotion:
    x, y, z = mp.compile(arm).position(Q0)
    return formula_motion(lambda t: [x + 0.1 * t, y, z], 1.0, orientation=lambda t: [np.pi, 0.0, 0.3 * t])


def test_every_task_controller_is_here() -> None:
    """The list of tasks has tests of its own: ``tests/control/test_task_priorities.py``."""
    assert set(TASK_CONTROLLERS) == {n for n, c in control.REGISTRY.items() if c.space == "task"} - {
        "task_priorities"
    } | {"user"}


@pytest.mark.parametrize("name", POSITIONS_ONLY)
@pytest.mark.parametrize("kind", ["path", "formula"])
def test_controllers_that_look_at_positions_only_refuse_an_orientation(arm: mp.Robot, kind: str, name: str) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0)) if kind == "path" else formula(arm)
    run = mp.Scenario(robot=arm, reference=reference, controller=TASK_CONTROLLERS[name], q0=Q0, duration=0.01)
    with pytest.raises(DescriptionError, match=rf"'{name}' follows positions only.*inverse_dynamics.*track"):
        mp.simulate(run)


@pytest.mark.parametrize("name", sorted(set(TASK_CONTROLLERS) - set(POSITIONS_ONLY)))
def test_task_controllers_honour_an_orientation_or_are_told_to_leave_it_open(arm: mp.Robot, name: str) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0))
    controller = TASK_CONTROLLERS[name]
    run = mp.Scenario(robot=arm, reference=reference, controller=controller, q0=Q0, duration=0.01, integrator="rk4")
    if name == "impedance":
        with pytest.raises(DescriptionError, match=r"'impedance' needs 'stiffness_rotation'.*orientation = 'free'"):
            mp.simulate(run)
        run = run.replace(controller=dataclasses.replace(controller, stiffness_rotation=5.0, damping_rotation=0.1))
    result = mp.simulate(run)
    assert result.ok
    assert result.arrays["orientation_error"].shape == (len(result.t), 3)
    integrals = len(getattr(controller, "directions", ()))
    assert result.arrays["controller_states"].shape == (len(result.t), 3 + integrals)
    free = mp.simulate(run.replace(controller=dataclasses.replace(controller, orientation="free")))
    assert free.ok
    assert np.shape(free.arrays.get("controller_states", np.zeros((1, 0))))[1] == integrals


REFUSED = {
    "nothing is said": (control.TaskSpaceComputedTorque(100.0, 20.0, orientation="full"), False, "'orientation'.*would never act"),
    "an idle gain": (control.OperationalSpace(100.0, 20.0, kp_rotation=50.0), False, "'kp_rotation'.*would never act"),
    "left free": (control.OperationalSpace(100.0, 20.0, orientation="free", kv_rotation=5.0), True, "'kv_rotation' would never act"),
    "three gains for seven": (control.OperationalSpace((1.0, 2.0, 3.0), 20.0), True, "needs 'kp_rotation'"),
    "one angle in space": (control.TaskSpaceComputedTorque(100.0, 20.0, orientation="angle"), True, "more than one axis"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_pose_controller_cannot_honour_is_refused(arm: mp.Robot, case: str) -> None:
    controller, turned, message = REFUSED[case]
    reference = mp.trajectory(line(arm, turned), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match=message):
        mp.simulate(mp.Scenario(robot=arm, reference=reference, controller=controller, q0=Q0, duration=0.01))


def test_gains_of_the_orientation_have_its_length(arm: mp.Robot) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0))
    for turn, right in (("full", 3), ("z", 2)):
        for size in (right, right + 1):
            controller = control.OperationalSpace(100.0, 20.0, orientation=turn, kp_rotation=[100.0] * size)
            if size == right:
                mp.Scenario(robot=arm, reference=reference, controller=controller, q0=Q0)
            else:
                with pytest.raises(DescriptionError, match=rf"one per rotation is needed \({right}\), found {size}"):
                    mp.Scenario(robot=arm, reference=reference, controller=controller, q0=Q0)


def test_arms_with_too_few_joints_or_axes_are_told_what_they_can_do() -> None:
    scara, planar = mp.load("scara-khang"), mp.load("planar-2r")
    controller = control.TaskSpaceComputedTorque(100.0, 20.0)
    with pytest.raises(DescriptionError, match="cannot be turned as the reference says: at t = 1 s"):
        mp.simulate(mp.Scenario(robot=scara, reference=tilted(), controller=controller, q0=[0.2, 0.9, -0.3, 0.1]))
    flat = formula_motion(["1.2", "0.3*t"], 1.0, orientation=["0", "0", "t"])
    with pytest.raises(DescriptionError, match=r"3 coordinates of the tool with the 2 joints.*free"):
        mp.simulate(mp.Scenario(robot=planar, reference=flat, controller=controller, q0=[0.3, 0.9]))
    with pytest.raises(DescriptionError, match="turns about one axis only"):
        mp.simulate(mp.Scenario(robot=scara, reference=flat, controller=dataclasses.replace(controller, orientation="z"), q0=[0.2, 0.9, 0, 0]))  # fmt: skip


def test_kinematic_runs_honour_an_orientation(arm: mp.Robot) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=Q0, step=0.01))
    assert result.ok, result.reason
    assert np.abs(mp.compile(arm).pose(result.q)[:, :3, :3] - reference.rotation(0.0)).max() < 1e-9
    off = Q0 + 0.5 * np.eye(7)[6]
    with pytest.raises(DescriptionError, match=r"The tool starts 0\.5 rad away"):
        mp.simulate(mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=off, step=0.01))


def test_paths_without_an_orientation_are_not_refused(arm: mp.Robot) -> None:
    reference = mp.trajectory(line(arm, turned=False), mp.timing.quintic(1.0))
    run = mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=Q0, start="project", step=0.01)
    assert mp.simulate(run).ok


def test_files_with_an_orientation_are_read_and_written(tmp_path: Path) -> None:
    file = tmp_path / "turned.toml"
    file.write_text(
        'robot = "iiwa14"\nq0 = [0.2, 0.5, -0.1, -1.2, 0.3, 0.8, 0.1]\n[controller]\nlaw = "operational_space"\nkp = 100\nkv = 20\n'
        'orientation = "z"\nkp_rotation = [80, 90]\n[reference]\nkind = "formula"\n'
        'coordinates = ["0.5", "0.1*t", "0.5"]\norientation = ["pi", "0", "0"]\nduration = 1\n'
    )
    run = mp.Scenario.load(file)
    assert run.controller == control.OperationalSpace(100.0, 20.0, orientation="z", kp_rotation=(80.0, 90.0))
    run.save(tmp_path / "again.toml")
    assert mp.Scenario.load(tmp_path / "again.toml") == run


def test_a_turning_tool_is_followed_by_inverse_dynamics_and_by_track(arm: mp.Robot) -> None:
    """The outside judge is forward kinematics: the tool turns by 0.5 rad about its own axis as the path says."""
    X = mp.compile(arm).pose(Q0)
    c, s = np.cos(0.5), np.sin(0.5)
    end = X[:3, :3] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    path = mp.paths.line(X[:3, 3], X[:3, 3] + [0.05, 0.0, 0.05])
    reference = mp.trajectory(path.with_orientation(orientation.slerp_keys([X[:3, :3], end])), mp.timing.quintic(1.0))
    found = mp.track(arm, reference, q0=Q0)
    assert found.ok, found.reason
    assert found.trajectory is not None
    result = mp.simulate(mp.Scenario(robot=arm, reference=reference, kind="inverse_dynamics", q0=Q0, step=0.02))
    assert result.ok
    for t, q in ((result.t, result.q), (result.t, found.trajectory.position(result.t))):
        turned = mp.compile(arm).pose(q)[:, :3, :3]
        assert np.abs(turned - reference.rotation(t)).max() < 2e-6


def tilted() -> mp.motion.FormulaMotion:
    """A SCARA's tool points down; this motion asks for a tilt of up to 1 rad."""
    return formula_motion(["0.3 + 0.1*t", "0.2", "0.3"], 1.0, orientation=["pi + t", "0", "0"])


def test_a_tilt_that_no_joint_makes_is_not_followed_silently() -> None:
    scara = mp.load("scara-khang")
    run = mp.Scenario(robot=scara, reference=tilted(), kind="inverse_dynamics", step=0.1)
    result = mp.simulate(run)
    assert result.status == "failed"
    assert "cannot be turned as the reference says: at t = 1 s" in result.reason
    found = mp.track(scara, tilted())
    assert found.status == "unreachable"
    assert "every direction" in found.reason


def test_a_path_out_of_the_plane_is_not_tracked() -> None:
    arm = mp.load("zlajpah-5r")
    found = mp.track(arm, mp.trajectory(mp.paths.line([1.0, 0.5, 0.0], [1.0, 0.6, 0.2]), mp.timing.quintic(1.0)))
    assert found.status == "unreachable"
    assert found.residual == pytest.approx(0.2)


def test_tables_and_files_do_not_lose_an_orientation(arm: mp.Robot, tmp_path: Path) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="positions only"):
        reference.to_piecewise()
    run = mp.Scenario(robot=arm, reference=reference, kind="inverse_dynamics", q0=Q0)
    with pytest.raises(DescriptionError, match="how the tool is turned"):
        run.save(tmp_path / "run.toml")


def test_criteria_of_a_scenario_are_refused_where_they_would_not_act(arm: mp.Robot) -> None:
    free = mp.Scenario(robot=arm, q0=Q0, duration=0.01)
    with pytest.raises(DescriptionError, match=r"criteria.*kinematic"):
        mp.simulate(free.replace(criteria=(control.Manipulability(),)))
    with pytest.raises(DescriptionError, match=r"gain.*kinematic"):
        mp.simulate(free.replace(gain=5.0))

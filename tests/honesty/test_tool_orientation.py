"""A reference that says how the tool is turned: honoured where the tool is turned so, refused everywhere else."""

from __future__ import annotations

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
    "user": control.UserFunction(lambda t, q, qd, target: 0.0 * q, "task"),
}


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
    assert set(TASK_CONTROLLERS) == {n for n, c in control.REGISTRY.items() if c.space == "task"} | {"user"}


@pytest.mark.parametrize("kind", ["path", "formula"])
@pytest.mark.parametrize("name", TASK_CONTROLLERS)
def test_task_controllers_refuse_an_orientation(arm: mp.Robot, name: str, kind: str) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0)) if kind == "path" else formula(arm)
    run = mp.Scenario(robot=arm, reference=reference, controller=TASK_CONTROLLERS[name], q0=Q0, duration=0.01)
    with pytest.raises(DescriptionError, match=f"'{name}' follows positions only.*inverse_dynamics.*track"):
        mp.simulate(run)


def test_kinematic_runs_refuse_an_orientation(arm: mp.Robot) -> None:
    reference = mp.trajectory(line(arm), mp.timing.quintic(1.0))
    with pytest.raises(DescriptionError, match="kinematic run follows positions only"):
        mp.simulate(mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=Q0, step=0.01))


def test_paths_without_an_orientation_are_not_refused(arm: mp.Robot) -> None:
    reference = mp.trajectory(line(arm, turned=False), mp.timing.quintic(1.0))
    run = mp.Scenario(robot=arm, reference=reference, kind="kinematic", q0=Q0, start="project", step=0.01)
    assert mp.simulate(run).ok


def test_files_with_an_orientation_are_refused_when_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "turned.toml"
    file.write_text(
        'robot = "iiwa14"\nkind = "kinematic"\nq0 = [0.2, 0.5, -0.1, -1.2, 0.3, 0.8, 0.1]\n[reference]\nkind = "formula"\n'
        'coordinates = ["0.5", "0.1*t", "0.5"]\norientation = ["pi", "0", "0"]\nduration = 1\n'
    )
    with pytest.raises(DescriptionError, match="how the tool is turned"):
        mp.Scenario.load(file)


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

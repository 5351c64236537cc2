"""What is asked for in a direction in which no joint can move the arm is told or refused, and so are weights and dampings of tasks that never act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp

C = mp.control
ARM = mp.load("planar-2r")
Q = np.array([0.4, 0.9])
TIP = mp.compile(ARM).position(Q)


def line(by: tuple[float, ...], duration: float = 0.1) -> Any:
    return mp.trajectory(mp.paths.line(TIP, TIP + np.array(by)), mp.timing.quintic(duration))


OUT, WITHIN = line((-0.1, 0.0, 0.3)), line((-0.1, 0.0, 0.0))
LAWS = {
    "task_space_computed_torque": C.TaskSpaceComputedTorque(100.0, 20.0),
    "operational_space": C.OperationalSpace(100.0, 20.0),
    "impedance": C.Impedance(400.0, 40.0),
    "admittance": C.Admittance(2.0, 30.0, 100.0),
    "task_priorities": C.TaskPriorities((C.FramePosition(),)),
}


@pytest.mark.parametrize("name", LAWS)
def test_reference_out_of_the_plane_is_told(name: str) -> None:
    told = mp.simulate(mp.Scenario(ARM, OUT, LAWS[name], q0=Q)).notes
    assert any("0.3 m along z" in note and note.startswith("reference:") for note in told)
    assert not mp.simulate(mp.Scenario(ARM, WITHIN, LAWS[name], q0=Q)).notes


def test_reference_of_a_switch_is_told() -> None:
    switch = mp.Switch(time=0.05, reference=line((0.0, 0.05, -0.2)))
    run = mp.Scenario(ARM, WITHIN, LAWS["operational_space"], q0=Q, switches=(switch,))
    assert any(
        note.startswith("switches[0].reference:") and "0.2 m along z" in note
        for note in mp.simulate(run.replace(duration=0.2)).notes
    )


def test_tasks_of_a_kinematic_run_tell_it() -> None:
    run = mp.simulate(mp.Scenario(ARM, OUT, kind="kinematic", tasks=(C.FramePosition(),), q0=Q))
    assert any("0.3 m along z" in note for note in run.notes)


@pytest.mark.parametrize(
    "task",
    [
        C.FramePosition(goal=(1.0, 0.5, 0.3)),
        C.FramePose(goal=(1.0, 0.5, 0.3, 0.0, 0.0, 1.0)),
        C.CentreOfMass(goal=(0.5, 0.5, 0.3)),
    ],
    ids=lambda task: task.name,
)
def test_goal_out_of_the_plane_is_refused(task: Any) -> None:
    with pytest.raises(mp.DescriptionError, match=r"controller\.tasks\[0\]\.goal: .* along z: it stays at 0 m"):
        mp.simulate(mp.Scenario(ARM, None, C.TaskPriorities((task,), null_damping=1.0), q0=Q, duration=0.1))


def test_the_same_goal_within_the_plane_acts() -> None:
    law = C.TaskPriorities((C.FramePosition(goal=(1.0, 0.5, 0.0), gain=30.0),))
    end = mp.simulate(mp.Scenario(ARM, None, law, q0=Q, duration=1.0)).tip[-1]
    assert np.abs(end - (1.0, 0.5, 0.0)).max() < 1e-6


@pytest.mark.parametrize(
    "task", [C.FramePosition(coordinates="xyz"), C.CentreOfMass(coordinates="z")], ids=lambda task: task.name
)
def test_coordinates_that_no_joint_changes_are_refused(task: Any) -> None:
    with pytest.raises(mp.DescriptionError, match=r"controller\.tasks\[0\]\.coordinates: .* along z"):
        mp.simulate(mp.Scenario(ARM, WITHIN, C.TaskPriorities((task,)), q0=Q))
    with pytest.raises(mp.DescriptionError, match=r"tasks\[0\]\.coordinates: .* along z"):
        mp.simulate(mp.Scenario(ARM, WITHIN, kind="kinematic", tasks=(task,), q0=Q))


def test_weight_of_a_task_that_is_alone_is_refused() -> None:
    tasks = (C.FramePosition(weight=3.0), C.JointPosture(goal=(0.2, 0.3), priority=2))
    with pytest.raises(mp.DescriptionError, match=r"controller\.tasks\[0\]\.weight: .*alone in priority 1"):
        mp.simulate(mp.Scenario(ARM, WITHIN, C.TaskPriorities(tasks), q0=Q))
    with pytest.raises(mp.DescriptionError, match=r"tasks\[0\]\.weight"):
        mp.simulate(mp.Scenario(ARM, WITHIN, kind="kinematic", tasks=tasks, q0=Q))
    together = (tasks[0], replace(tasks[1], priority=1))
    heavy = (replace(tasks[0], weight=9.0), together[1])
    ends = [mp.simulate(mp.Scenario(ARM, WITHIN, C.TaskPriorities(t), q0=Q)).q[-1] for t in (together, heavy)]
    assert np.abs(ends[0] - ends[1]).max() > 1e-4


def test_dampings_of_one_priority_are_one() -> None:
    tasks = (C.FramePosition(damping=0.1), C.JointPosture(goal=(0.2, 0.3), damping=0.2))
    with pytest.raises(mp.DescriptionError, match=r"controller\.tasks\[0\]\.damping: .*different ones"):
        mp.simulate(mp.Scenario(ARM, WITHIN, C.TaskPriorities(tasks), q0=Q))


def test_plane_that_the_arm_cannot_approach_is_refused() -> None:
    """A ground whose normal was left at z, below an arm that moves in x and y."""
    ground = mp.contact.PlaneContact(stiffness=1e4, point=(0.0, -0.5, 0.0))
    with pytest.raises(mp.DescriptionError, match=r"contacts\[0\]: .*along the normal \[0\.0, 0\.0, 1\.0\]"):
        mp.simulate(mp.Scenario(ARM, q0=Q, duration=0.1, contacts=(ground,)))
    assert mp.simulate(mp.Scenario(ARM, q0=Q, duration=0.1, contacts=(replace(ground, normal=(0, 1, 0)),))).ok


def test_varied_wrench_on_a_moving_base_acts() -> None:
    """A force out of the plane moves a planar arm whose base is tilted."""
    run = mp.Scenario(
        ARM,
        q0=Q,
        duration=0.1,
        disturbances=(mp.Wrench([0, 0, 5.0, 0, 0, 0], start=0.01),),
        base_motion=mp.BaseMotion(rotation=(0, 0.5, 0)),
        vary={"disturbances[0].start": [0.01, 0.05]},
    )
    ends = mp.simulate(run).q[:, -1]
    assert np.abs(ends[0] - ends[1]).max() > 1e-6

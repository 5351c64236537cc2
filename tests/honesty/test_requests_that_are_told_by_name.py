"""Requests that cannot act, or lack something, are refused in the words of the field where they stand."""

from __future__ import annotations

import dataclasses

import pytest

import manipula as mp
from manipula.errors import DescriptionError, UnknownNameError

ARM = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, -1.0]]), mp.timing.quintic(1.0))


def free(**more) -> mp.Scenario:
    return mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.1, **more)


def refused(run, words: str, field: str | None) -> None:
    with pytest.raises(DescriptionError, match=words) as told:
        run()
    assert told.value.field == field


def test_a_wrench_on_the_base_never_acts() -> None:
    push = mp.Wrench((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), frame="base")
    refused(lambda: mp.simulate(free(disturbances=(push,))), "No joint moves the frame 'base'", "disturbances[0]")


def test_a_torque_limit_in_a_free_run_never_acts() -> None:
    limited = mp.drives.Rigid(torque_limit=3.0)
    refused(lambda: mp.simulate(free(drives=limited)), "could never act", "drives[0].torque_limit")
    played = free(drives=limited, torques=([0.0, 1.0], [[5.0, 5.0], [5.0, 5.0]]))
    assert mp.simulate(played).status == "finished"


@pytest.mark.parametrize(
    "along", [{"q0": [0.1, 0.2], "duration": 0.1}, {"reference": MOVE, "kind": "inverse_dynamics"}]
)
@pytest.mark.parametrize("formula", ["1/t", "sqrt(t - 1)"])
def test_a_formula_that_is_no_number_is_told_with_its_field(along, formula) -> None:
    push = mp.Wrench((0.0, formula, 0.0, 0.0, 0.0, 0.0))
    scenario = mp.Scenario(ARM, disturbances=(push,), **along)
    refused(lambda: mp.simulate(scenario), "cannot be computed", "disturbances[0].wrench[1]")


def test_a_formula_need_not_be_a_number_where_it_does_not_act() -> None:
    late = mp.Wrench(("1/t", 0.0, 0.0, 0.0, 0.0, 0.0), start=0.05)
    assert mp.simulate(free(disturbances=(late,))).status == "finished"


def test_parameters_without_a_value_are_asked_for() -> None:
    arm = dataclasses.replace(mp.load("abdelsatar-2r", symbolic=True), values=())
    some = {"a1": 1.0, "a2": 1.0, "gc": 9.81, "m1": 1.0}
    scenario = mp.Scenario(arm, q0=[0.0, 0.0], duration=0.1, parameters=some)
    refused(lambda: mp.simulate(scenario), "free parameter m2 without a value", "parameters.m2")


def test_simulate_says_how_a_programmed_motion_is_run() -> None:
    motion = mp.ProgramScenario(ARM, ["x = 1.2"], q0=[0.155055, 1.20212], duration=0.01)
    refused(lambda: mp.simulate(motion), r"found ProgramScenario; .* scenario.run\(\)", None)  # type: ignore[arg-type]


def test_joints_of_a_programmed_motion_have_names() -> None:
    def motion(**more) -> mp.ProgramScenario:
        return mp.ProgramScenario(ARM, ["x = 1.2"], q0=[0.155055, 1.20212], duration=0.01, **more)

    named = motion(drives={"joint1": 5.0}, independent=["joint2"])
    assert named == motion(drives={0: 5.0}, independent=[1])
    with pytest.raises(UnknownNameError, match="joint9"):
        motion(drives={"joint9": 5.0})
    with pytest.raises(UnknownNameError, match="joint9"):
        motion(independent=["joint9"])
    refused(lambda: motion(drives={"joint1": 5.0, 0: 5.0}), "has two drives", "drives")


def test_the_last_run_counts_from_either_end() -> None:
    batch = mp.simulate(mp.Scenario(ARM, q0=[[0.0, 0.0], [0.1, 0.1]], duration=0.1))
    assert batch.run(-1) == batch.run(1)
    assert batch.run(-1).meta["run"] == 1


TOOL = [[1.0, 0.0, 0.0, 0.1], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
COUPLED = """<mujoco><worldbody><body name="a"><inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/><joint name="j1" axis="0 1 0"/>
<body name="b" pos="0 0 .3"><inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/><joint name="j2" axis="0 1 0"/>
<body name="c" pos="0 0 .3"><inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/><joint name="j3" axis="0 1 0"/></body></body></body>
</worldbody><equality><joint joint1="j3" joint2="j2" polycoef="0 1 0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize("chosen", [{"drop": ["joint2"]}, {"chain": ("base", "link1")}])
def test_a_tool_that_is_left_out_is_told(chosen) -> None:
    less = ARM.replace(tool=TOOL).select(**chosen)
    assert less.tool.is_identity
    assert any("tool at 'link2' is left out" in note for note in less.notes)
    assert not any("tool" in note for note in ARM.select(**chosen).notes)


@pytest.mark.parametrize("ends", [("link1", "link1"), ("base", "base")])
def test_a_chain_has_a_joint_that_moves(ends) -> None:
    refused(lambda: ARM.select(chain=ends), "No joint moves between", "chain")


def test_notes_about_followers_go_with_them() -> None:
    arm = mp.from_mjcf(COUPLED)
    law = "joint 'j3' follows 'j2': q = 1·q_leader."
    assert law in arm.notes
    assert law in arm.select(lock={"j1": 0.0}).notes
    assert law not in arm.select(lock={"j2": 0.0}).notes
    assert law not in arm.select(drop=["j2"]).notes


def test_a_follower_can_be_dropped_while_a_file_is_read(tmp_path) -> None:
    path = tmp_path / "coupled.toml"
    mp.save(mp.from_mjcf(COUPLED), path)
    assert mp.load(path, drop=["j3"]).joint_names == ("j1", "j2")
    with pytest.raises(DescriptionError, match="hold both") as told:
        mp.load(path).select(drop=["j3"])
    assert "load(" not in str(told.value)
    xml = tmp_path / "coupled.xml"
    xml.write_text(COUPLED)
    assert mp.load(xml, drop=["j3"]).joint_names == ("j1", "j2")


def test_one_quantity_of_the_tip_has_one_limit() -> None:
    """The looser of two was taken, and the motion that breaks the other one was not told."""
    run = mp.simulate(free(sample=0.001))
    twice = {"tip": {"velocity": 1e-3}}
    refused(lambda: mp.feasibility(run, twice, tip={"velocity": 9.0}), "limited twice", "tip")
    assert mp.feasibility(run, twice, tip={"acceleration": 1e6}).feasible is False
    assert mp.feasibility(MOVE, ARM, tip={"velocity": 1e-3}).feasible is False


def test_a_function_for_the_tip_speed_needs_the_speed() -> None:
    refused(
        lambda: mp.time_optimal(MOVE.path, velocity=1.0, acceleration=3.0, tip_velocity=lambda q, qd: qd),
        "'tip_speed' is missing",
        "tip_speed",
    )

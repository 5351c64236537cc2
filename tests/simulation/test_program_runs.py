"""Programmed motions in batches, and controllers that realise one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, ShapeError
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.programmed.kernels import rows_at

EXAMPLES = Path(__file__).parents[2] / "examples"
VISCOUS = tuple(mp.friction.Viscous(1.0) for _ in range(4))
PROGRAM = mp.ProgramScenario.load(EXAMPLES / "programmed_ellipse.toml").replace(
    duration=0.3, sample=0.01, step=1e-3, friction=VISCOUS, tolerance=1e-4
)


def test_a_batch_is_its_single_runs() -> None:
    widths = [0.48, 0.5, 0.52]
    batch = PROGRAM.run_batch(parameters={"a": widths}).check()
    assert batch.q.shape == (3, 31, 4)
    for k, a in enumerate(widths):
        alone = PROGRAM.with_parameters({"a": a}).run()
        np.testing.assert_array_equal(batch.run(k).q, alone.q)
        assert batch.statuses[k] == alone.status
        assert batch.run(k).tip[:, 0] @ batch.run(k).tip[:, 0] > 0
    starts = np.asarray(PROGRAM.q0) + np.array([[0.0] * 4, [0.01, 0, 0, 0]])
    assert PROGRAM.run_batch(q0=starts).check().tip.shape == (2, 31, 3)


def test_runs_on_several_cores_are_those_of_one_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the same bits; what one of them refuses is told, whoever runs it."""
    widths = [0.5, 0.49, 0.51, 0.48, 0.52]
    batches = []
    for cores in ("1", "4"):
        monkeypatch.setenv("MANIPULA_THREADS", cores)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
        batches.append(PROGRAM.run_batch(parameters={"a": widths}))
        with pytest.raises(DescriptionError, match="initial state breaks"):
            PROGRAM.run_batch(parameters={"a": [0.5, 0.49, 3.5, 0.51]})
    first, second = batches
    assert first.statuses == second.statuses
    assert first.reasons == second.reasons
    for name, values in first.arrays.items():
        np.testing.assert_array_equal(values, second.arrays[name])


def test_a_batch_of_nothing_or_of_unequal_sizes_is_refused() -> None:
    with pytest.raises(DescriptionError, match="several starts"):
        PROGRAM.run_batch()
    with pytest.raises(ShapeError, match="different sizes"):
        PROGRAM.run_batch(q0=np.tile(PROGRAM.q0, (2, 1)), parameters={"a": [0.5, 0.5, 0.5]})
    with pytest.raises(DescriptionError, match="'c'"):
        PROGRAM.run_batch(parameters={"c": [0.1, 0.2]})


def test_the_realised_motion_obeys_the_program_where_friction_is_compensated() -> None:
    worst = {}
    for compensated in (True, False):
        r = mp.simulate(PROGRAM.realised(compensated=compensated)).check()
        rows = rows_at(PROGRAM.motion.plant, r.q, r.qd, r.t)  # no constraint acts in this run
        worst[compensated] = np.abs(rows.value).max()
    assert worst[True] < 1e-6
    assert worst[False] > 1e-4
    without = mp.simulate(PROGRAM.realised(friction=False)).check()
    assert np.abs(without.error).max() < 1e-6
    assert np.abs(without.friction).max() == 0.0


def test_starts_beside_the_program_find_back() -> None:
    plan = PROGRAM.realised()
    starts = np.asarray(plan.q0) + np.array([[0.0] * 4, [0.02, 0, 0, 0], [0, -0.03, 0.01, 0]])
    r = mp.simulate(PROGRAM.realised(q0=starts)).check()
    gone = np.abs(r.error[:, -1]).max(axis=-1) / np.maximum(np.abs(r.error[:, 0]).max(axis=-1), 1e-3)
    assert np.all(gone < 2 * (1 + 20 * 0.3) * np.exp(-20 * 0.3))
    assert load_text(file_text(plan)) == plan


def test_another_controller_may_realise_it() -> None:
    r = mp.simulate(PROGRAM.realised(mp.control.ComputedTorque(kp=400.0, kv=40.0), friction=False)).check()
    assert np.abs(r.error).max() < 1e-6


def test_a_table_of_torques_fits_its_robot() -> None:
    table = mp.control.TorqueTable.of([0.0, 1.0], [[0.0], [1.0]])
    move = mp.joint_move([0.0, 0.5], [0.1, 0.6], velocity=1.0, acceleration=1.0, jerk=1.0)
    with pytest.raises(DescriptionError, match="2 torques per row"):
        mp.simulate(mp.Scenario(mp.load("planar-2r"), move, table))
    with pytest.raises(DescriptionError, match="increase"):
        mp.control.TorqueTable.of([0.0, 0.0], [[0.0], [1.0]])


def test_columns_of_torques_are_found_by_the_names_of_joints(tmp_path: Path) -> None:
    robot = mp.load("planar-2r")
    first, second = robot.joint_names
    move = mp.joint_move([0.0, 0.5], [0.1, 0.6], velocity=1.0, acceleration=1.0, jerk=1.0)

    def pushed(source: str | Path) -> list[float]:
        scenario = mp.Scenario(robot, move, mp.control.TorqueTable(source), duration=0.01)
        assert load_text(file_text(scenario)) == scenario
        return mp.simulate(scenario).command[0].tolist()

    file = tmp_path / "torques.csv"
    for names, rows in (("", "0,1,2\n1,1,2\n"), (f"{second},time,{first}\n", "2,0,1\n2,1,1\n")):
        file.write_text(names + rows)
        assert pushed(names + rows) == pushed(file) == [1.0, 2.0]
    with pytest.raises(DescriptionError, match=f"t \\(or time\\), {first}, {second}, in any order"):
        pushed("t,a,b\n0,1,2\n1,1,2\n")
    for names in ("a,b,c", f"t,{first},{first}", f"t,{first}"):
        with pytest.raises(DescriptionError, match="in any order"):
            mp.control.TorqueTable(f"{names}\n0,1,2\n1,1,2\n")


def test_friction_that_is_left_out_of_the_torques_leaves_the_motion_as_it_is() -> None:
    """Dampers settle the joints that a program leaves free: fed forward or not, the arm is to follow the same motion."""
    program = mp.ProgramScenario.load(EXAMPLES / "program_elbow.toml").replace(duration=0.3, sample=0.01)
    robot, motion = program.robot, program.run().check()
    known, unknown = (program.realised(compensated=c) for c in (True, False))
    t = np.linspace(0.0, 0.3, 31)
    np.testing.assert_array_equal(unknown.reference.position(t), known.reference.position(t))
    np.testing.assert_allclose(unknown.reference.position(t), motion.q, atol=1e-9)
    run = mp.simulate(unknown).check()
    held = mp.compile(robot).inverse_dynamics(motion.q, motion.qd, motion.qdd)  # what is fed forward knows no damper
    np.testing.assert_allclose(run.command[0], held[0], atol=1e-6)
    assert np.abs(run.error).max() > 1e-3  # the dampers act

"""A programmed motion starts where its file says, or the result says how far from there."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import load_file
from manipula.simulation.programmed.motion import ProgrammedMotion
from manipula.simulation.programmed.start import consistent_start

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("program*.toml"))
ARM = mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0])
MOTION = mp.programmed_motion(ARM, ["x = 0.6", "y = 0.5"])
FAR = np.array([0.2, 0.9, -2.0])


def test_a_start_far_from_the_program_is_refused_with_joint_and_size() -> None:
    with pytest.raises(DescriptionError, match=r"start = 'project'") as told:
        MOTION.run(FAR, duration=0.01, step=1e-3)
    assert re.search(r"joint '\w+' by [+-][\d.]+°", str(told.value))
    assert told.value.field == "q0"


def test_the_smallest_change_is_made_and_told() -> None:
    result = MOTION.run(FAR, duration=0.01, step=1e-3, start="project")
    change = result.q[0] - FAR
    np.testing.assert_allclose(result.tip[0, :2], [0.6, 0.5], atol=1e-12)
    model = mp.compile(ARM)
    on = {"type": "eq", "fun": lambda q: model.position(q)[:2] - [0.6, 0.5]}
    best = min(
        (minimize(lambda q: np.sum((q - FAR) ** 2), start, constraints=on, tol=1e-14) for start in (FAR, result.q[0])),
        key=lambda found: found.fun if found.success else np.inf,
    )
    assert np.linalg.norm(change) <= np.sqrt(best.fun) * (1 + 1e-5)
    (note,) = result.notes
    worst = int(np.argmax(np.abs(change)))
    assert f"'{ARM.joint_names[worst]}'" in note
    told = float(re.search(r"by ([+-][\d.]+)°", note)[1])  # pyright: ignore[reportOptionalSubscript]
    assert told == pytest.approx(np.rad2deg(change[worst]), rel=5e-3)


def test_a_start_close_by_is_moved_and_told() -> None:
    on = MOTION.run(FAR, duration=0.01, step=1e-3, start="project").q[0]
    assert not MOTION.run(on, duration=0.01, step=1e-3).notes
    moved = MOTION.run(on + np.array([0.03, 0.0, 0.0]), duration=0.01, step=1e-3)
    assert "moved onto them" in moved.notes[0]
    with pytest.raises(DescriptionError, match="project"):
        MOTION.run(on + np.array([0.03, 0.0, 0.0]), duration=0.01, step=1e-3, start="refuse")


def test_whole_turns_are_taken_into_the_joint_ranges() -> None:
    """The same posture may be written with a joint outside its range: the start is found inside."""
    robot = mp.load("puma560")
    motion = mp.programmed_motion(robot, ["x = 0.45", "y = -0.03", "z = 0.15"])
    q0 = np.deg2rad([0, 45, 180, 0, 45, 0])
    result = motion.run(q0, duration=0.002, step=1e-3, start="project")
    low, high = np.asarray(robot.position_limits, float).T
    assert np.all(result.q[0] >= low)
    assert np.all(result.q[0] <= high)


def test_changed_velocities_are_told() -> None:
    motion = mp.programmed_motion(ARM, ["x = 0.6 + 0.2*t", "y = 0.5"])
    on = MOTION.run(FAR, duration=0.01, step=1e-3, start="project").q[0]
    result = motion.run(on, [0.0, 0.0, 1.0], 0.01, 1e-3)
    (note,) = result.notes
    worst = int(np.argmax(np.abs(result.qd[0] - [0.0, 0.0, 1.0])))
    assert "velocities" in note
    assert f"'{ARM.joint_names[worst]}'" in note
    assert "/s" in note


def test_both_roads_have_the_same_defaults() -> None:
    """``programmed_motion(…).run(…)`` and a scenario (or a file) that say nothing do the same."""
    route = {k: p.default for k, p in inspect.signature(ProgrammedMotion.run).parameters.items()}
    fields = {f.name: f.default for f in dataclasses.fields(mp.ProgramScenario)}
    for name in ("duration", "step", "formulation", "stabilisation", "gain", "start", "sample", "integrator", "tolerance", "verify"):  # fmt: skip
        assert route[name] == fields[name], name
    assert route["verify"] is True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_start_where_their_files_say(path: Path) -> None:
    scenario = load_file(path)
    assert scenario.start == "near"
    q = consistent_start(scenario.motion.plant, np.array(scenario.q0), None, scenario.start).x[: scenario.robot.n]
    assert np.abs(q - np.array(scenario.q0)).max() <= 0.1
    low, high = np.asarray(scenario.robot.position_limits, float).T
    assert np.all((q >= low) & (q <= high))


def test_a_file_may_ask_for_any_distance() -> None:
    from manipula.simulation.files.scenario_file import file_text, load_text

    scenario = mp.ProgramScenario(ARM, ["x = 0.6", "y = 0.5"], tuple(FAR), duration=0.01, step=1e-3, start="project")
    again = load_text(file_text(scenario))
    assert again == scenario
    assert "by " in again.run().notes[0]
    with pytest.raises(DescriptionError):
        scenario.replace(start="near").run()

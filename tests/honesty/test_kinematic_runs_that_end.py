"""A kinematic run that comes into a singular posture or leaves the reach ends there: nothing behind it is kept, and no limit is judged by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manipula as mp

ARM = mp.load("planar-2r")
OUT = mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [2.5, 0.3, 0.0]), mp.timing.quintic(1.0))
START = mp.solve_ik(ARM, [1.2, 0.3, 0.0]).q
LEAVES = 0.552643  # s, where the line leaves the reach


@pytest.mark.parametrize("options", [{}, {"verify": False}, {"step": 0.01}, {"gain": 5.0}, {"sample": 0.05}])
def test_a_line_out_of_reach(options: dict[str, Any], tmp_path: Path) -> None:
    limits = {"torque": 1e6, "velocity": 1e5}
    run = mp.simulate(mp.Scenario(ARM, OUT, kind="kinematic", q0=START, limits=limits, **options))
    assert run.status == "failed"
    assert "leaves the reach" in run.reason
    kept = np.isfinite(run.q).all(axis=1)
    assert kept[0]
    assert not kept[run.t > LEAVES].any()
    for name, values in run.arrays.items():
        assert np.isnan(values[~kept]).all(), name
    assert np.abs(run.power[kept]).max() < 1e6
    assert run.feasible is None
    assert np.isnan(mp.feasibility(run).slow_down) or mp.feasibility(run).slow_down == 1.0
    run.save(tmp_path / "run.npz")
    assert mp.load_result(tmp_path / "run.npz").feasible is None


def test_a_limit_that_is_broken_before_the_end_stays_broken() -> None:
    run = mp.simulate(mp.Scenario(ARM, OUT, kind="kinematic", q0=START, limits={"velocity": 1.0}))
    assert run.status == "failed"
    assert "leaves the reach" in run.reason
    assert run.feasible is False
    assert run.feasibility.broken[0].first < LEAVES


def test_other_runs_of_a_batch_keep_theirs() -> None:
    start = np.array([START, mp.solve_ik(ARM, [1.2, 0.3, 0.0], all_solutions=True).q[-1]])
    both = mp.simulate(mp.Scenario(ARM, OUT, kind="kinematic", q0=start, limits={"velocity": 1e5}))
    assert set(both.statuses) == {"failed"}
    assert both.feasibility.runs == (None, None)


@pytest.mark.parametrize("gain", [0.0, 20.0])
def test_a_reference_that_leaves_the_reach_is_named_as_such(gain: float) -> None:
    """It was called inaccurate, with the advice to reduce the step."""
    arm = mp.planar([0.4, 0.3], [1.0, 1.0])
    away = mp.trajectory(mp.paths.line([0.5, 0.0, 0.0], [1.0, 0.0, 0.0]), mp.timing.quintic(1.0))
    s = mp.Scenario(arm, reference=away, kind="kinematic", q0=mp.solve_ik(arm, [0.5, 0.0, 0.0]).q, gain=gain)
    result = mp.simulate(s)
    assert result.status == "failed"
    assert "leaves the reach" in result.reason
    assert "t = 0.446254 s" in result.reason
    assert "0.3 m" in result.reason
    assert 0.4 < result.trusted_until < 0.446254
    assert np.isnan(result.q[result.t > 0.45]).all()
    assert np.isfinite(result.q[result.t <= result.trusted_until]).all()


def test_corners_are_named_with_their_times() -> None:
    arm = mp.planar([0.4, 0.3], [1.0, 1.0])
    corners = mp.paths.polyline([[0.5, 0.0, 0.0], [0.5, 0.2, 0.0], [0.3, 0.2, 0.0]])
    reference = mp.trajectory(corners, mp.timing.constant_speed(0.8))
    start = mp.solve_ik(arm, [0.5, 0.0, 0.0]).q
    result = mp.simulate(mp.Scenario(arm, reference=reference, kind="kinematic", q0=start, duration=0.4))
    assert any("its velocity by" in note and "t = 0.25 s" in note for note in result.notes), result.notes

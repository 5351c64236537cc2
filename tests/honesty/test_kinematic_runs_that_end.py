"""A kinematic run that comes into a singular posture ends there: nothing behind it is kept, and no limit is judged by it."""

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
    assert run.status == "singular"
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
    assert run.status == "singular"
    assert run.feasible is False
    assert run.feasibility.broken[0].first < LEAVES


def test_other_runs_of_a_batch_keep_theirs() -> None:
    start = np.array([START, mp.solve_ik(ARM, [1.2, 0.3, 0.0], all_solutions=True).q[-1]])
    both = mp.simulate(mp.Scenario(ARM, OUT, kind="kinematic", q0=start, limits={"velocity": 1e5}))
    assert set(both.statuses) == {"singular"}
    assert both.feasibility.runs == (None, None)

"""What is found about some runs of a batch changes their verdicts, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.verdicts.criteria import with_criteria_notes
from manipula.simulation.verdicts.unstopped import with_unstopped_verdicts

ROD = mp.planar([0.5], [1.0])


def batch(**options: Any) -> mp.Result:
    common: dict[str, Any] = {"q0": [[0.1], [0.2], [0.3]], "duration": 0.1, "sample": 0.01}
    return mp.simulate(mp.Scenario(ROD, **common | options))


@pytest.mark.parametrize("name", ["task_bounds", "mpc_optimal"])
def test_runs_that_missed_a_minimum(name: str) -> None:
    result = batch()
    scenario = result.scenario
    assert isinstance(scenario, mp.Scenario)
    solved = np.ones((3, len(result.t)))
    solved[1, 4:6], solved[2, 7] = 0.0, 0.0
    marked = with_criteria_notes(replace(result, arrays={**result.arrays, name: solved}), scenario)
    assert marked.status == "inaccurate"
    assert marked.reason.startswith("2 of 3 runs: At t = 0.04 s")
    assert marked.statuses == ("finished", "inaccurate", "inaccurate")
    assert marked.reasons[0] == result.reasons[0]
    assert "At t = 0.04 s" in marked.reasons[1]
    assert "At t = 0.07 s" in marked.reasons[2]
    assert marked.trusted_untils == pytest.approx((0.1, 0.04, 0.07))
    assert marked.trusted_until == pytest.approx(0.04)
    states = ("diverged", "finished", "finished")
    died = replace(result, status="diverged", statuses=states, arrays={**result.arrays, name: solved})
    died = with_criteria_notes(died, scenario)
    assert (died.status, died.statuses) == ("diverged", ("diverged", "inaccurate", "inaccurate"))
    assert any("At t = 0.04 s" in note for note in died.notes)
    solved[0, 2] = 0.0
    died = with_criteria_notes(replace(died, arrays={**result.arrays, name: solved}), scenario)
    assert died.statuses[0] == "diverged"


def test_a_run_that_diverged_stays_diverged_where_it_also_passed_a_limit() -> None:
    result = batch(stop_at_limits=True, limits={"position": [[-9.0, 9.0]]})
    scenario = result.scenario
    assert isinstance(scenario, mp.Scenario)
    passed = tuple((k, "position", 0, 0.0, 0.0, 9.1, 0.05, 0.04) for k in range(2))
    meta = {**result.meta, "peaks": passed}
    marked = with_unstopped_verdicts(
        replace(result, status="diverged", statuses=("diverged", "finished", "finished"), meta=meta), scenario
    )
    assert marked.statuses == ("diverged", "inaccurate", "finished")
    assert (marked.status, marked.reason) == ("diverged", result.reason)
    assert marked.trusted_untils == pytest.approx((0.1, 0.04, 0.1))

"""No silent wrong answer: a run is right to ten times its tolerance, or its status says that it is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError, SolveError

sys.path.insert(0, str(Path(__file__).parent))
from hard_inputs import INPUTS
from hard_problems import CLASSIC, Problem
from hard_runs import RUNS

ALLOWED = 10.0  # tolerances of error in an answer that is called finished
PROBLEMS = [*CLASSIC, *INPUTS, *RUNS]


SLOW = ("a formula of a gigahertz", "blinking in Python", "stiff gains, explicit", "tip held beyond reach")
TIERED = [pytest.param(p, id=p.name, marks=[pytest.mark.slow] if p.name in SLOW else []) for p in PROBLEMS]


@pytest.mark.parametrize("problem", TIERED)
def test_answer_is_right_or_flagged(problem: Problem) -> None:
    scenario = problem.scenario()
    if problem.solvable:
        result = mp.simulate(scenario)
    else:
        try:
            result = mp.simulate(scenario)
        except (DescriptionError, SolveError):
            return  # refused in words
    right = np.array([s == "finished" for s in result.statuses]) if scenario.is_batch else np.array(result.ok)
    if right.any():
        truth = problem.answer()
        found = result.q[..., -1, :]
        error = (np.abs(found - truth) / np.maximum(1.0, np.abs(truth))).max(axis=-1)
        assert np.isfinite(truth).all(), f"'{problem.name}' has no answer, yet the run calls itself finished."
        assert (error[right] <= ALLOWED * scenario.tolerance).all(), f"{error[right].max():.1e}: {result.reason}"
    if not right.all():
        assert result.reason
        assert result.trusted_until < float(scenario.duration or 0.0) or np.isnan(result.trusted_until)
        assert not problem.solvable, f"'{problem.name}' should be solved: {result.reason}"


def test_there_are_enough_problems() -> None:
    assert len(PROBLEMS) >= 100
    assert len({p.name for p in PROBLEMS}) == len(PROBLEMS)
    assert sum(p.solvable for p in PROBLEMS) >= 0.7 * len(PROBLEMS)

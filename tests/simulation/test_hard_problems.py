"""No silent wrong answer: a run is right to ten times its tolerance, or its status says that it is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import manipula as mp

sys.path.insert(0, str(Path(__file__).parent))
from hard_problems import PROBLEMS, Problem

ALLOWED = 10.0  # tolerances of error in an answer that is called finished
SOLVABLE = {
    "small swing", "wide swing", "almost upright", "long run", "five links falling", "fast spin", "free fall", "viscous slowing",
    "stiff damping, implicit", "stiff gains, implicit", "dry friction",
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_answer_is_right_or_flagged(problem: Problem) -> None:
    scenario = problem.scenario()
    result = mp.simulate(scenario)
    truth = problem.answer()
    if result.ok:
        assert np.isfinite(truth).all(), f"'{problem.name}' has no answer, yet the run calls itself finished."
        error = np.abs(result.q[-1] - truth).max() / max(1.0, np.abs(truth).max())
        assert error <= ALLOWED * scenario.tolerance, f"{error:.1e}: {result.reason}"
    else:
        assert result.reason
        assert problem.name not in SOLVABLE, f"'{problem.name}' should be solved with default settings: {result.reason}"


def test_there_are_enough_problems() -> None:
    assert len(PROBLEMS) >= 20
    assert len({p.name for p in PROBLEMS}) == len(PROBLEMS)

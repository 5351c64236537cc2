"""Inverse dynamics along what cannot be followed: a status with its reason, in every run of a batch; integrators that give no state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.integrators import FIXED, FixedStep

ROBOT = mp.load("planar-2r")
REACH = np.array([2.0, 0.0, 0.0])


def along(start: float, end: float, **settings: Any) -> mp.Result:
    line = mp.trajectory(mp.paths.line(start * REACH, end * REACH), mp.timing.quintic(0.5))
    return mp.simulate(mp.Scenario(ROBOT, line, kind="inverse_dynamics", **settings))


@pytest.mark.parametrize(
    ("start", "end", "status", "told"),
    [
        (0.9, 1.2, "failed", "leaves the reach"),
        (1.1, 1.2, "failed", "start is not reachable"),
        (0.9, 1.0, "singular", "singular posture"),
        (0.5, -0.5, "singular", "singular posture"),
    ],
)
def test_the_failure_is_a_status(start: float, end: float, status: str, told: str, tmp_path: Any) -> None:
    result = along(start, end)
    assert result.status == status
    assert told in result.reason
    assert result.q.shape == (len(result.t), 2)
    result.save(tmp_path / "run.npz")
    assert mp.load_result(tmp_path / "run.npz").status == status


def test_every_run_of_a_batch_says_so() -> None:
    q0 = mp.solve_ik(ROBOT, 0.9 * REACH, all_solutions=True).q
    result = along(0.9, 1.2, q0=q0)
    assert result.statuses == ("failed", "failed")
    assert np.allclose(result.q[:, 0], q0)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda self, f, t, x, h, n: None, "integrator: .*'own' gives None"),
        (lambda self, f, t, x, h, n: x[:1], "integrator: .*'own' gives array"),
        (lambda self, f, t, x, h, n: 1 / 0, "integrator: .*'own' fails.*ZeroDivisionError"),
    ],
)
def test_integrators_that_give_no_state_are_named(step: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = type("Own", (FixedStep,), {"name": "own", "order": 1, "step": step})()
    monkeypatch.setitem(FIXED, "own", own)
    with pytest.raises(DescriptionError, match=message):
        mp.simulate(mp.Scenario(ROBOT, q0=(0.1, 0.2), duration=0.1, integrator="own"))


def test_integrators_of_another_signature_are_named() -> None:
    with pytest.raises(DescriptionError, match="'step' of Own must take"):
        type("Own", (FixedStep,), {"name": "own", "order": 1, "step": lambda self, f, t, x: x, "__module__": "mine"})

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


def elbow(x: np.ndarray) -> np.ndarray:
    """Second joint of an arm with two links of 1 m whose tip is x from its shoulder."""
    return np.arccos(x * x / 2.0 - 1.0)


@pytest.mark.parametrize("friction", [None, mp.friction.LuGre(100.0, 1.0, 0.1, 0.1, 0.02, 0.01, 0.05)])
def test_what_can_be_done_is_kept_with_right_numbers(friction: Any) -> None:
    line = mp.trajectory(mp.paths.line(0.9 * REACH, 1.2 * REACH), mp.timing.quintic(0.5))
    result = along(0.9, 1.2, friction=friction)
    times = np.linspace(0.0, 0.5, 500_001)
    end = float(times[np.argmax(line.position(times)[:, 0] > 2.0)])
    assert result.trusted_until == pytest.approx(end, abs=2e-6)
    assert result.reached == pytest.approx(end, abs=1e-3)
    assert f"t = {result.trusted_until:.6g} s" in result.reason
    assert "missed by up to 0.4 m (at t = 0.5 s)" in result.reason
    known = np.isfinite(result.q).all(axis=1)
    assert known.sum() == np.sum(result.t <= end)
    for name in result.signals:
        assert np.isfinite(result.arrays[name][known]).all(), name
        assert name == "target" or not np.isfinite(result.arrays[name][~known]).any(), name
    assert np.abs(np.abs(result.q[known, 1]) - elbow(line.position(result.t[known])[:, 0])).max() < 1e-6
    whole = mp.compile(ROBOT).inverse_dynamics(result.q[known], result.qd[known], result.qdd[known])
    np.testing.assert_allclose(result.tau[known] - result.friction[known], whole, rtol=1e-9, atol=1e-9)
    middle = known & (result.t > 0.05) & (result.t < 0.15)
    slope = np.gradient(result.q, result.t, axis=0)
    np.testing.assert_allclose(result.qd[middle], slope[middle], atol=1e-3)


def test_every_run_of_a_batch_says_so() -> None:
    q0 = mp.solve_ik(ROBOT, 0.9 * REACH, all_solutions=True).q
    result = along(0.9, 1.2, q0=q0)
    assert result.statuses == ("failed", "failed")
    assert np.allclose(result.q[:, 0], q0)
    for k in (0, 1):
        one = along(0.9, 1.2, q0=q0[k])
        np.testing.assert_array_equal(result.tau[k], one.tau)
        assert result.trusted_untils[k] == one.trusted_until


def test_runs_that_arrive_keep_their_answers_beside_those_that_do_not() -> None:
    """An arm with four postures near the middle of its reach and two further out: on the way there two of them end in a singular one."""
    body = {"mass": 1.0, "inertia": [0.02, 0.02, 0.02, 0.0, 0.0, 0.0]}
    rows = [{"a": 1.0, "alpha": -np.pi / 2}, {"a": 2.0, "alpha": np.pi / 2, "d": 1.0}, {"a": 1.5}]
    robot = mp.from_dh([{**row, **body} for row in rows], "standard")
    starts = mp.solve_ik(robot, [2.6, 0.0, 0.3], all_solutions=True).q
    assert len(starts) == 4
    line = mp.trajectory(mp.paths.line([2.6, 0.0, 0.3], [3.6, 0.0, 0.3]), mp.timing.quintic(1.0))
    run = mp.Scenario(robot, line, kind="inverse_dynamics", step=1e-2, limits={"torque": 1e9})
    batch, alone = mp.simulate(run.replace(q0=starts)), [mp.simulate(run.replace(q0=q)) for q in starts]
    assert sorted(batch.statuses) == ["finished", "finished", "singular", "singular"]
    assert batch.status == "singular"
    for k, one in enumerate(alone):
        assert (batch.statuses[k], batch.reasons[k]) == (one.status, one.reason)
        for name in ("q", "qd", "qdd", "tau", "error"):
            np.testing.assert_array_equal(batch.arrays[name][k], one.arrays[name])
        assert batch.trusted_untils[k] == one.trusted_until
        assert one.ok or (0.2 < one.trusted_until < 0.9 and "singular posture" in one.reason)
        assert batch.run(k).feasible is (True if one.ok else None)


def test_varied_runs_end_together() -> None:
    result = along(0.9, 1.2, vary={"friction[0].damping": (0.0, 1.0)}, friction=mp.friction.Viscous(0.5))
    assert result.statuses == ("failed", "failed")
    known = np.isfinite(result.q[0]).all(axis=1)
    np.testing.assert_allclose(
        result.friction[1, known, 0] - result.friction[0, known, 0], result.qd[0, known, 0], atol=1e-12
    )


def test_a_reference_is_not_looked_at_beyond_the_run() -> None:
    result = along(0.9, 1.2, duration=0.2)
    assert result.ok, result.reason
    assert result.trusted_until == 0.2


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

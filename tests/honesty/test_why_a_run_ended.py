"""The reason of a run is the reason why it ended, and until when it can be trusted is said."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp

DAMPED = mp.planar([1.0], [3.0], damping=1e9, gravity=(0, 0, 0))
DOUBLE = mp.planar([0.3, 0.3], [1.0, 1.0])


def test_free_motion_falls_back_like_controlled_motion() -> None:
    """An exponential of 1 ns: no explicit method gets anywhere."""
    run = mp.Scenario(DAMPED, q0=[0.0], qd0=[1.0], duration=1.0, sample=0.5)
    result = mp.simulate(run)
    assert result.ok
    assert result.meta["integrator"] == "rodas"
    assert any("repeated with rodas" in note for note in result.notes)
    assert abs(result.q[-1, 0] - 1e-9) <= 1e-11


def test_a_step_that_vanishes_is_not_called_a_state_out_of_bounds() -> None:
    stated = mp.simulate(mp.Scenario(DAMPED, q0=[0.0], qd0=[1.0], duration=1.0, sample=0.5, integrator="dop853"))
    assert stated.status == "step_too_small"
    assert "bounds" not in stated.reason
    assert "steps" in stated.reason
    assert np.abs(stated.q[np.isfinite(stated.q)]).max() < 1.0


def test_a_pole_of_the_equations_makes_the_step_too_small() -> None:
    """q̈ = 1/(0.25 − t)² is met at t = 0.25 s: the step vanishes while the state is still small."""

    def torque(t, q, qd, target):
        return np.array([1.0 / (0.25 - t) ** 2 * 1e-3])

    rod = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
    run = mp.Scenario(
        rod, q0=[0.0], controller=mp.control.UserFunction(torque), duration=1.0, sample=0.2, integrator="dop853"
    )
    result = mp.simulate(run)
    assert not result.ok
    assert "0.25 s" in result.reason
    assert ("bounds" in result.reason) == (result.status == "diverged")


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_state_out_of_bounds_is_called_so(method: str) -> None:
    """q̈ = 400 q leaves 1e10 after about 1.2 s."""
    rod = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
    run = mp.Scenario(
        rod,
        q0=[1.0],
        controller=mp.control.LQR([0.0], gain=[[-400.0, 0.0]]),
        duration=3.0,
        sample=0.1,
        integrator=method,
    )
    result = mp.simulate(run)
    assert result.status == "diverged"
    assert "left all bounds" in result.reason
    when = float(result.reason.split("t = ")[1].split(" s")[0])
    assert abs(when - np.log(1e10 / 10.5) / 20.0) <= 0.02


def test_no_number_is_called_no_number() -> None:
    def torque(t, q, qd, target):
        return np.array([(0.1 - t) ** 0.5])

    rod = mp.planar([1.0], [3.0], gravity=(0, 0, 0))
    result = mp.simulate(
        mp.Scenario(rod, q0=[0.0], controller=mp.control.UserFunction(torque), duration=1.0, integrator="rk4")
    )
    assert result.status == "not_finite"
    assert "0.1" in result.reason


def test_a_chaotic_run_says_until_when() -> None:
    run = mp.Scenario(DOUBLE, q0=[0.3, 0.2], duration=30.0, sample=0.1)
    result = mp.simulate(run)
    assert result.status == "inaccurate"
    assert 1.0 < result.trusted_until < 20.0
    assert f"until t = {result.trusted_until:.6g} s" in result.reason
    finer = mp.simulate(run.replace(tolerance=1e-9, duration=result.trusted_until))
    sound = result.t <= result.trusted_until + 1e-9
    assert np.abs(result.q[sound] - finer.q).max() <= 10 * run.tolerance * np.abs(finer.q).max()
    assert mp.simulate(run.replace(duration=result.trusted_until)).ok


def test_every_run_has_its_own_time() -> None:
    starts = [[0.3, 0.2], [-np.pi / 2 + 0.05, 0.0]]
    result = mp.simulate(mp.Scenario(DOUBLE, q0=starts, duration=20.0, sample=0.1))
    assert result.statuses == ("inaccurate", "finished")
    assert result.trusted_untils[1] == 20.0
    assert result.trusted_until == result.trusted_untils[0] < 20.0
    assert result.run(1).trusted_until == 20.0


def test_finished_runs_are_trusted_to_their_end_and_unverified_ones_are_not_said_to_be() -> None:
    run = mp.Scenario(DOUBLE, q0=[-1.5, 0.1], duration=0.5)
    assert mp.simulate(run).trusted_until == 0.5
    assert np.isnan(mp.simulate(run.replace(verify=False)).trusted_until)


@pytest.mark.parametrize("many", [False, True])
def test_a_limit_that_only_the_second_method_can_find_is_the_answer(many: bool) -> None:
    """Light links under strong gains: RK4 is not exact enough, and rodas stops at the limit as it was asked to."""
    arm = mp.planar([0.5, 0.4], [2.0, 1.0])
    move = mp.trajectory(mp.paths.joint([[0.4, 0.7], [0.8, 0.2]]), mp.timing.quintic(0.3))
    s = mp.Scenario(
        arm, move, mp.control.PDGravity(kp=100, kv=20), q0=[0.4, 0.7], duration=0.3, limits={"position": [[-1, 0.6], [-1, 1.0]]},
        stop_at_limits=True,
    )  # fmt: skip
    exact = mp.simulate(s.replace(integrator="dop853"))
    assert exact.status == "limit"
    result = mp.simulate(s.replace(q0=[[0.4, 0.7], [0.4, 0.69]]) if many else s)
    assert set(result.statuses) == {"limit"}
    first = result.run(0) if many else result
    assert "Joint 'joint1' passed its limit at t = 0.16694" in first.reason
    assert any("repeated with rodas" in note for note in result.notes)
    assert first.reached == exact.reached
    seen = np.isfinite(exact.q[:, 0])
    np.testing.assert_allclose(first.q[seen], exact.q[seen], atol=1e-6)
    assert first.feasible is False

"""Ways in which a limit could be passed without anybody noticing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.limit_checks import Check

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis


@pytest.mark.parametrize(
    ("limit", "outside", "inside"),
    [
        ((1.0, np.inf), [0.5, -3.0, 0.0], [1.0, 1.5]),
        ((-np.inf, -1.0), [-0.5, 0.0, 3.0], [-1.0, -7.0]),
        ((-1.0, np.inf), [-1.5], [0.0, 9.0]),
        ((0.0, np.inf), [-1e-3], [0.0, 1.0]),
        ((1.0, 2.0), [0.9, 2.1, -1.5], [1.0, 1.5, 2.0]),
    ],
)
def test_a_range_that_does_not_hold_zero(limit: Any, outside: list[float], inside: list[float]) -> None:
    assert not any(Check("position", value, 0.0, limit).ok for value in outside)
    assert all(Check("position", value, 0.0, limit).ok for value in inside)


def test_a_joint_that_must_stay_above_one_radian() -> None:
    bounded = ROD.replace(joints=tuple(replace(j, limits=replace(j.limits, lower=1.0)) for j in ROD.joints))
    result = mp.simulate(mp.Scenario(bounded, q0=[2.0], qd0=[-1.5], duration=1.0, sample=0.5))
    assert result.feasible is False
    assert mp.feasibility(result).feasible is False


def test_a_short_piece_of_a_trajectory_is_looked_at() -> None:
    """Ten seconds at one speed, and within them a millisecond at another: the acceleration between is large."""
    t = np.array([0.0, 4.0003, 4.0008, 4.0013, 10.0])
    move = mp.trajectory(mp.paths.joint([[0.0], [1.0]]), mp.timing.quintic(10.0))
    assert mp.feasibility(move, {"acceleration": 1.0}).feasible is True
    bump = mp.formula_motion(["0.1*t"], 10.0, space="joint")
    assert mp.feasibility(bump, {"acceleration": 1e-3}).feasible is True
    table = mp.trajectory(mp.paths.joint([[0.0], [1.0]]), mp.timing.table(t, [0.0, 0.4, 0.40051, 0.40052, 1.0]))
    dense = np.concatenate([np.linspace(a, b, 200) for a, b in zip(table.breaks[:-1], table.breaks[1:])])
    largest = np.abs(np.asarray(table.derivatives(dense, 2))[2]).max()
    assert mp.feasibility(table, {"acceleration": 0.7 * float(largest)}).feasible is False


def test_tighter_limits_asked_of_a_run_of_a_batch() -> None:
    """Of a batch only broken limits are kept; a tighter one was never looked at between coarse samples."""
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.50013, stop=0.50063)
    batch = mp.simulate(
        mp.Scenario(ROD, q0=[[0.0], [0.1]], duration=1.0, disturbances=push, sample=0.25, limits={"acceleration": 1e4})
    )
    assert batch.feasible is True
    assert mp.feasibility(batch.run(0), {"acceleration": 100.0}).feasible is None


@pytest.mark.parametrize("delay", [0.0, 0.012])
def test_a_held_command_pushes_until_the_next_one(delay: float) -> None:
    """Under a torque held over a step the power is largest at the end of the step."""

    s = mp.Scenario(
        ROD, q0=[0.0], duration=0.5, step=0.1, controller=mp.control.UserFunction(lambda t, q, qd, target: np.array([10.0 - 20.0 * t])),
        noise=mp.Noise(position=1e-12, velocity=0.0, seed=1), actuator=mp.Actuator(delay=delay), integrator="rk4", limits={"power": 1e3}, verify=False,
    )  # fmt: skip
    result = mp.simulate(s)
    found = result.feasibility.checks[0].worst
    fine = 0.0
    qd, held = 0.0, [10.0 - 20.0 * 0.1 * k for k in range(6)]
    for k in range(5):
        now = held[k] if not delay else None
        if now is None:
            before = held[max(k - 1, 0)]
            qd_mid = qd + before * delay
            fine = max(fine, abs(before * qd), abs(before * qd_mid), abs(held[k] * qd_mid))
            qd = qd_mid + held[k] * (0.1 - delay)
            fine = max(fine, abs(held[k] * qd))
        else:
            fine = max(fine, abs(now * qd), abs(now * (qd + 0.1 * now)))
            qd += 0.1 * now
    assert abs(found) == pytest.approx(fine, rel=1e-6)


def test_limits_with_free_parameters_count() -> None:
    top = sympy.Symbol("top", positive=True)
    bounded = ROD.replace(joints=tuple(replace(j, limits=replace(j.limits, lower=-9.0, upper=top)) for j in ROD.joints))
    for value, kept in ((0.5, False), (5.0, True)):
        result = mp.simulate(mp.Scenario(bounded, q0=[0.0], qd0=[1.0], duration=1.0, parameters={"top": value}))
        assert result.feasible is kept
        assert mp.feasibility(result).feasible is kept
    with pytest.raises(DescriptionError, match="differs from run to run"):
        mp.simulate(mp.Scenario(bounded, q0=[0.0], qd0=[1.0], duration=1.0, parameters={"top": [0.5, 5.0]}))
    stopped = mp.Scenario(bounded, q0=[0.0], qd0=[1.0], duration=1.0, parameters={"top": 0.5}, stop_at_limits=True)
    assert mp.simulate(stopped).status == "limit"


def test_what_follows_the_end_of_a_wrench_is_looked_at() -> None:
    """The wrench holds the rod against gravity; the acceleration is largest just after it lets go, between two steps."""
    arm = mp.planar([1.0], [3.0])
    hold = mp.Wrench((0, 0, 0, 0, 0, 3 * 9.81 * 0.5), start=0.0, stop=0.0504)
    free = 3 * 9.81 * 0.5 / 1.0  # N·m on 1 kg·m², at rest and level until then
    s = mp.Scenario(arm, q0=[0.0], duration=0.06, step=0.01, disturbances=hold, limits={"acceleration": 1e3})
    for integrator in ("rk4", "dop853"):
        check = mp.simulate(s.replace(integrator=integrator)).feasibility.checks[0]
        assert abs(check.worst) == pytest.approx(free, rel=1e-9)
        assert check.time == pytest.approx(0.0504, abs=1e-9)

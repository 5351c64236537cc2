"""Whether a machine can do a motion does not depend on how often it was recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
PULSE = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.50013, stop=0.50063)  # half a millisecond inside one step


def run(limits: Any, **options: Any) -> mp.Result:
    common: dict[str, Any] = {"q0": [0.0], "duration": 1.0, "limits": limits}
    return mp.simulate(mp.Scenario(ROD, **common | options))


@pytest.mark.parametrize("method", ["rk4", "dop853", "rodas"])
@pytest.mark.parametrize("sample", [None, 0.25, 0.0137])
def test_a_pulse_inside_a_step_breaks_the_acceleration_limit(method: str, sample: float | None) -> None:
    result = run({"acceleration": 100.0}, disturbances=PULSE, integrator=method, sample=sample)
    assert result.ok, result.reason
    assert result.feasible is False
    check = result.feasibility.broken[0]
    assert check.worst == pytest.approx(2000.0)
    assert 0.50013 - 1e-9 <= check.first <= 0.50063
    assert 0.50013 - 1e-9 <= check.time <= 0.50063 + 1e-9
    assert run({"acceleration": 2001.0}, disturbances=PULSE, integrator=method, sample=sample).feasible


PUSH = {"disturbances": mp.Wrench((0, 0, 0, 0, 0, "30*sin(40*t)"))}
SWINGS: dict[str, tuple[Any, dict[str, Any], float]] = {
    "position": ({"position": [[-0.2, 0.0187]]}, {**PUSH, "qd0": [-0.75]}, 0.002),
    "velocity": ({"velocity": 1.4}, PUSH, 0.002),
    "acceleration": ({"acceleration": 29.9}, PUSH, 0.002),
    "power": ({"power": 20.0}, {"torques": ((0.0, 0.31, 0.32, 0.33, 1.0), ((0.0,), (0.0,), (90.0,), (0.0,), (0.0,)))}, 0.002),
    "torque": ({"torque": 80.0}, {"torques": ((0.0, 0.31, 0.32, 0.33, 1.0), ((0.0,), (0.0,), (90.0,), (0.0,), (0.0,)))}, 0.002),
}  # fmt: skip


@pytest.mark.parametrize("quantity", sorted(SWINGS))
def test_the_verdict_does_not_depend_on_samples(quantity: str) -> None:
    limits, options, near = SWINGS[quantity]
    fine = run(limits, step=1e-3, **options).feasibility
    assert fine.feasible is False
    for sample in (0.1, 0.37, 1.0):
        coarse = run(limits, step=1e-3, sample=sample, **options).feasibility
        assert coarse.feasible is False
        assert coarse.broken[0].worst == pytest.approx(fine.broken[0].worst, rel=1e-6)
        assert coarse.broken[0].first == pytest.approx(fine.broken[0].first, abs=near)
        assert coarse.broken[0].time == pytest.approx(fine.broken[0].time, abs=near)


def test_stored_results_keep_their_verdict(tmp_path: Any) -> None:
    result = run({"velocity": 1.4}, sample=1.0, **PUSH)
    for name in ("run.nc", "run.npz", "run.csv"):
        result.save(tmp_path / name)
        again = mp.load_result(tmp_path / name)
        assert again == result
        assert again.feasible is False
        assert mp.feasibility(again).feasible is False


def test_a_batch_is_watched_run_by_run() -> None:
    starts = np.array([0.2, 0.3, 0.4])
    push = mp.Wrench((0, 0, 0, 0, 0, 2000.0), start=0.2, stop=0.4005)
    result = run({"acceleration": 100.0}, disturbances=push, vary={"disturbances[0].start": starts}, sample=0.5)
    assert result.feasibility.runs == (False, False, False)
    calm = run({"velocity": 2.0}, disturbances=push, vary={"disturbances[0].start": starts[2:]}, sample=0.5)
    assert calm.feasibility.runs == (True,)
    assert result.run(2).feasible is False


def test_limits_that_are_kept_stay_kept() -> None:
    """Nothing is invented between samples: a swing that just keeps its range does so at every sampling."""
    arm = mp.planar([1.0], [1.0])
    top = replace(arm.joints[0].limits, lower=-np.pi - 0.3 - 1e-7, upper=0.3 + 1e-7)
    arm = arm.replace(joints=(replace(arm.joints[0], limits=top),))
    for sample in (None, 0.05, 0.5):
        assert mp.simulate(mp.Scenario(arm, q0=[0.3], duration=4.0, sample=sample)).feasible


ARM = mp.planar([1.0, 0.8], [2.0, 1.5])
TIP = mp.compile(ARM).position(np.array([0.3, 0.8]))
WAVE = mp.formula_motion(["0.3 + 0.02*sin(50*t)", "0.8"], 1.0, space="joint")
PATH = mp.formula_motion([f"{TIP[0]} - 0.004*sin(50*t)^2", f"{TIP[1]}", "0"], 0.5)
GIVEN: dict[str, dict[str, Any]] = {
    "inverse_dynamics": {"reference": WAVE, "kind": "inverse_dynamics"},
    "kinematic": {"reference": PATH, "kind": "kinematic", "q0": [0.3, 0.8]},
}


@pytest.mark.parametrize("kind", sorted(GIVEN))
@pytest.mark.parametrize("quantity", ["velocity", "acceleration", "torque"])
def test_given_motions_are_held_against_limits_on_every_step(kind: str, quantity: str) -> None:
    fine = mp.simulate(mp.Scenario(ARM, **GIVEN[kind], limits={quantity: 0.0}))
    worst = {c.name: c.worst for c in fine.feasibility.checks}
    for sample in (0.0613, 0.25):
        coarse = mp.simulate(mp.Scenario(ARM, **GIVEN[kind], limits={quantity: 0.0}, sample=sample))
        assert coarse.feasible is False
        for c in coarse.feasibility.checks:
            assert abs(c.worst) == pytest.approx(abs(worst[c.name]), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("kind", sorted(GIVEN))
def test_a_short_push_is_asked_of_the_actuators(kind: str) -> None:
    push = mp.Wrench((0, 0, 0, 0, 0, 500.0), start=0.10013, stop=0.10043)
    held = mp.simulate(mp.Scenario(ARM, **GIVEN[kind], disturbances=push, limits={"torque": 400.0}, sample=0.05))
    assert held.feasible is False
    assert 0.1001 <= held.feasibility.broken[0].time <= 0.1005
    strong = mp.simulate(
        mp.Scenario(ARM, **GIVEN[kind], disturbances=push, actuator=mp.Actuator(limit=400.0), sample=0.05)
    )
    assert strong.status == "failed"
    assert "t = 0.1001" in strong.reason or "t = 0.1004" in strong.reason


def test_programmed_motions_are_held_against_limits_on_every_step() -> None:
    common: dict[str, Any] = {
        "q0": [0.3, 0.8],
        "duration": 0.2,
        "step": 1e-3,
        "start": "project",
        "limits": {"torque": 1.0, "velocity": 0.1},
    }
    runs = [mp.ProgramScenario(ARM, ["x = 1.3 + 0.002*sin(60*t)"], sample=h, **common).run() for h in (None, 0.05, 0.2)]
    for run in runs:
        assert run.ok, run.reason
        assert run.feasible is False
    for a, b, c in zip(*(r.feasibility.checks for r in runs)):
        assert a.worst == pytest.approx(b.worst, rel=1e-6) == c.worst
    np.testing.assert_allclose(runs[1].q, runs[0].q[::50], atol=1e-12)


def test_the_instant_of_a_passage_under_constant_acceleration_is_exact() -> None:
    """q = v t + a t²/2 passes its limit at a known time; the state is looked at 20 ms later."""
    from manipula.simulation.verdicts.judge import crossing

    arm = mp.load("planar-2r")
    for v, a in ((1.0, 3.0), (2.0, -4.0), (0.0, 5.0)):
        passed, t = 0.3, 0.32
        limit = v * passed + a * passed**2 / 2
        state = tuple(np.array([x, 0.0]) for x in (v * t + a * t**2 / 2, v + a * t, a))
        joint, when = crossing(arm, {"position": [(-9.0, limit), (-9.0, 9.0)]}, state, t)
        assert joint == 0
        assert abs(when - passed) < 1e-6

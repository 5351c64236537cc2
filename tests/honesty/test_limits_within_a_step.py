"""A run that is to end at a joint limit, and a joint that passes it and turns back within a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp

SPEED = 3.0
TURNS = float(np.arcsin(SPEED**2 / 29.43))  # where q̈ = −14.715 cos q turns back that begins at 0


def thrown(below: float, **options: Any) -> mp.Result:
    """The rod is thrown at a limit so far below the place where it turns."""
    rod = mp.planar([1.0], [3.0])
    joints = tuple(replace(j, limits=replace(j.limits, lower=-10.0, upper=TURNS - below)) for j in rod.joints)
    common: dict[str, Any] = {"q0": [0.0], "qd0": [SPEED], "duration": 1.0, "sample": 1.0, "stop_at_limits": True}
    return mp.simulate(mp.Scenario(rod.replace(joints=joints), **common | options))


@pytest.mark.parametrize("below", [1e-3, 1e-4, 5e-6, 2e-6])
@pytest.mark.parametrize(("method", "step"), [("rk4", 1e-3), ("rk4", 1e-2), ("rk4", 3e-2), ("dop853", 0.1), ("rodas", 0.1)])  # fmt: skip
def test_it_ends_there_or_is_not_finished(method: str, step: float, below: float) -> None:
    result = thrown(below, integrator=method, step=step)
    assert result.status in ("limit", "inaccurate")
    assert result.feasible is not True
    assert "inf" not in result.reason
    if result.status == "limit":
        before = np.sqrt(
            2.0 * below / (14.715 * np.cos(TURNS))
        )  # it passes about so long before it turns, at 0.20925 s
        assert float(result.reason.split("t = ")[1].split(" s")[0]) == pytest.approx(0.20925 - before, abs=2e-4)


def test_what_is_passed_within_a_step_is_named() -> None:
    result = thrown(2e-6, integrator="rk4", step=1e-2)
    assert result.status == "inaccurate"
    assert "Joint 'joint1' passes its limit by 2e-06 rad at t = 0.209" in result.reason
    assert result.trusted_until == pytest.approx(0.20925, abs=1e-3)


def test_less_than_the_run_is_exact_to_is_no_passage() -> None:
    assert thrown(1e-8).status == "finished"
    assert thrown(1e-8, tolerance=1e-9, integrator="dop853").status != "finished"


def test_of_a_batch_only_the_run_that_passes() -> None:
    result = thrown(2e-6, integrator="rk4", step=1e-2, q0=[[0.0], [0.0]], qd0=[[SPEED], [1.0]])
    assert result.statuses == ("inaccurate", "finished")
    assert result.status == "inaccurate"
    assert result.reason.startswith("1 of 2 runs: ")
    assert thrown(2e-6, integrator="rk4", step=1e-2, stop_at_limits=False).status == "finished"


def test_a_repetition_that_ends_earlier_is_told_in_words() -> None:
    assert "passes its limit by 0.00057 rad at t = 0.209" in thrown(5.7e-4, integrator="rk4", step=2e-2).reason


@pytest.mark.parametrize("sample", [1e-2, 0.5])
def test_it_is_the_same_whatever_samples_were_asked_for(sample: float) -> None:
    result = thrown(2e-6, integrator="rk4", step=1e-2, sample=sample)
    assert result.status == "inaccurate"
    assert "Joint 'joint1' passes its limit by 2e-06 rad at t = 0.209" in result.reason
    assert result.trusted_until == pytest.approx(0.20925, abs=1e-3)


@pytest.mark.parametrize(("method", "step"), [("rk4", 1e-2), ("rodas", 1e-2), ("dop853", 1e-2)])
@pytest.mark.parametrize("sample", [1e-2, 1.0])
def test_a_repetition_that_only_touches_the_limit_goes_on(sample: float, method: str, step: float) -> None:
    """It turns beyond the limit by less than the run is exact: whichever step ends there, the motion is right to its end."""
    for below in (1e-10, 1e-8, 1e-7, 3e-7, 5e-7, 9e-7):
        result = thrown(below, integrator=method, step=step, sample=sample)
        assert result.status in ("finished", "limit"), result.reason


def test_a_limit_that_is_passed_before_the_one_it_stopped_at_is_told() -> None:
    """A swinging rod turns at the same place again and again; a later step ends there, beyond the limit."""
    rod = mp.planar([0.5], [1.0])
    told = set()
    for below in np.linspace(1e-5, 1e-4, 8):
        limits = replace(rod.joints[0].limits, lower=-np.pi - 0.5 + below, upper=1.1)
        swinging = rod.replace(joints=(replace(rod.joints[0], limits=limits),))
        common: dict[str, Any] = {
            "q0": [0.5],
            "duration": 6.0,
            "integrator": "rk4",
            "step": 1e-2,
            "stop_at_limits": True,
        }
        result = mp.simulate(mp.Scenario(swinging, sample=1e-2, **common))
        told.add(result.status)
        assert result.status in ("limit", "inaccurate")
        assert float(result.reason.split("t = ")[1].split(" s")[0]) == pytest.approx(0.788, abs=5e-3)
        assert result.trusted_until < 0.79
    assert told == {"limit", "inaccurate"}

"""Programmed motions that cannot go on: what is kept is right, ``trusted_until`` says how far, the reason is the true one, no warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import manipula as mp

TWO = mp.planar([0.5, 0.4], [1.0, 1.0])
THREE = mp.planar([0.5, 0.4, 0.3], [2.0, 1.5, 1.0])
BENT = [0.3, 0.8, -0.5]


def run(robot: mp.Robot, constraints: list[str], q0: Any = BENT, **options: Any) -> mp.Result:
    friction = options.pop("friction", ())
    motion = mp.programmed_motion(robot, constraints, friction=friction, drives=options.pop("drives", None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = motion.run(q0, **{"duration": 1.0, "step": 2e-3, "start": "project", **options})
        repr(result)
        assert result.feasible is not True or result.ok
    return result


def two_joints(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The posture of the arm with links of 0.5 m and 0.4 m that puts its tip there, elbow to the right."""
    q2 = np.arccos((x * x + y * y - 0.41) / 0.4)
    return np.stack([np.arctan2(y, x) - np.arctan2(0.4 * np.sin(q2), 0.5 + 0.4 * np.cos(q2)), q2], axis=1)


@pytest.mark.parametrize("stabilisation", ["projection", "none", "baumgarte"])
@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_samples_before_the_end_of_reach_are_right(formulation: str, stabilisation: str) -> None:
    """Every joint is programmed, so that the closed form of the inverse kinematics is the motion."""
    options = {"formulation": formulation, "stabilisation": stabilisation}
    result = run(TWO, ["x = 0.66 + 0.2*t", "y = 0.5"], [0.3, 0.8], **options)
    end = (np.sqrt(0.81 - 0.25) - 0.66) / 0.2
    assert result.status == "singular"
    assert end - 0.02 < result.trusted_until <= result.reached < end
    known = np.isfinite(result.q).all(axis=1)
    assert np.abs(result.residual[known]).max() <= 1e-6
    t = result.t[result.t <= result.trusted_until]
    assert np.abs(result.q[: len(t)] - two_joints(0.66 + 0.2 * t, 0.5 + 0.0 * t)).max() < 1e-5
    assert f"trusted until t = {result.trusted_until:.6g} s" in result.reason


@pytest.mark.parametrize("stabilisation", ["projection", "none", "baumgarte"])
def test_what_has_left_the_program_is_not_kept(stabilisation: str) -> None:
    result = run(THREE, ["x = 0.8 + 0.5*t"], stabilisation=stabilisation)
    known = np.isfinite(result.q).all(axis=1)
    assert not result.ok
    assert np.abs(result.residual[known]).max() <= 1e-6
    assert np.abs(result.tip[known, 0] - 0.8 - 0.5 * result.t[known]).max() <= 1e-6
    assert 0.0 < result.trusted_until <= result.reached < 0.8
    finer = run(THREE, ["x = 0.8 + 0.5*t"], step=1e-4, duration=result.trusted_until, sample=2e-3)
    sound = result.t <= result.trusted_until
    assert np.abs(result.q[sound] - finer.q).max() < 2e-5


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (["x = 0.8 + 0.5*t"], ["'x = 0.8 + 0.5*t'", "out of reach", "t = 0.8000"]),
        (["x = 1.19 + 0.5*t"], ["out of reach", "t = 0.02000"]),
        (["y = 0.3", "x = 0.4 + log(1 - t)/20"], ["the curve ends", "t = 1 s"]),
        (["x^2 + y^2 = 1.44"], ["gradient", "vanishes", "largest or smallest"]),
        (["(q1 - 0.3)*(1 - t) = 0"], ["gradient", "vanishes"]),
    ],
)
def test_the_reason_is_not_the_step(constraints: list[str], words: list[str]) -> None:
    result = run(THREE, constraints, duration=2.0)
    assert result.status == "singular"
    for word in words:
        assert word in result.reason
    assert "smaller step" not in result.reason


def test_how_far_a_motion_can_be_trusted_is_always_known() -> None:
    whole = run(THREE, ["x = 0.8", "y = 0.3"], duration=0.2)
    assert whole.ok
    assert whole.trusted_until == 0.2
    assert "trusted until" not in whole.reason
    assert np.isnan(run(THREE, ["x = 0.8", "y = 0.3"], duration=0.2, verify=False).trusted_until)
    jumping = run(THREE, ["y = 0.3 + 0.1*sign(t - 0.5)"], sample=0.02)
    assert jumping.status == "failed"
    assert jumping.trusted_until == pytest.approx(0.48)
    aliased = run(THREE, ["y = 0.3"], drives={0: "30*cos(2*3.141592653589793*4000*t)"}, duration=0.2, step=1e-3)
    assert aliased.status == "inaccurate"
    assert aliased.trusted_until < 0.2


@pytest.mark.parametrize(
    "options",
    [
        {"drives": {0: 1e9}},
        {"drives": {0: "1e300*t"}},
        {"drives": {0: "1e6*exp(-((t - 0.05)/1e-3)^2)"}, "step": 5e-3},
        {"friction": mp.friction.LuGre(100.0, 1.0, 0.1, 0.1, 0.2, 0.1, 0.05)},
        {"friction": mp.friction.Viscous(500.0), "step": 1e-2},
    ],
)
def test_runs_that_blow_up_warn_nobody(options: dict[str, Any]) -> None:
    result = run(THREE, ["y = 0.3"], duration=0.3, **options)
    assert result.trusted_until <= result.reached
    assert result.status in ("diverged", "singular", "inaccurate", "finished")

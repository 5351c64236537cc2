"""Joint moves whose ends contradict their limits, or the straight line that was asked for, are refused; the fastest ones keep them everywhere."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError

LIMITS = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}


@pytest.mark.parametrize(
    ("field", "value"),
    [("start_velocity", [5.0, 0.5]), ("goal_velocity", [0.0, -1.5]), ("start_acceleration", 3.0), ("goal_acceleration", -2.1)],
)  # fmt: skip
def test_ends_beyond_the_limits(field: str, value: object) -> None:
    with pytest.raises(DescriptionError, match=rf"'{field}' of joint \d is .* its limit is") as error:
        mp.joint_move([0.0, 0.0], [1.0, 2.0], **LIMITS, **{field: value})
    assert error.value.field == field


def test_a_straight_line_starts_and_ends_at_rest() -> None:
    with pytest.raises(DescriptionError, match="starts and ends at rest") as error:
        mp.joint_move([0.0, 0.0], [1.0, 2.0], **LIMITS, synchronise="phase", start_velocity=0.5)
    assert error.value.field == "synchronise"


def near_cusp(width: float) -> Any:
    """A curve that nearly comes back on itself."""
    return mp.paths.joint([[-0.5, 0.2], [0.3, 0.8], [-0.4, 0.2 + width]])


@pytest.mark.parametrize(("points", "tolerance"), [(1000, 1e-3), (200, 0.1), (50, 10.0), (20, 0.1)])
@pytest.mark.parametrize("seed", range(4))
def test_the_fastest_motion_keeps_its_limits_everywhere(seed: int, points: int, tolerance: float) -> None:
    """Between the places that were looked at too, on curves that bend sharply between the points of the grid."""
    rng = np.random.default_rng(seed)
    path = mp.paths.joint(rng.uniform(-1.5, 1.5, (5, 2))) if seed else near_cusp(0.05)
    limits = {"velocity": [1.0, 0.8], "acceleration": [3.0, 4.0]}
    motion = mp.time_optimal(path, **limits, points=points, tolerance=tolerance)
    report = mp.check_limits(motion, **limits, samples=20_001)
    assert report.kept, str(report)
    t = np.linspace(0.0, motion.duration, 100_003)
    _, qd, qdd = motion.derivatives(t, 2)
    assert np.abs(qd / limits["velocity"]).max() <= 1.0 + 1e-9
    assert np.abs(qdd / limits["acceleration"]).max() <= 1.0 + 1e-9
    if points == 1000:
        assert np.abs(qdd / limits["acceleration"]).max() > 0.99


def test_a_bend_that_no_grid_can_follow_is_told() -> None:
    path = mp.paths.spline([[0.0, 0.0], [1.0, 0.0], [0.0, 1e-9]])
    with pytest.raises(mp.SolveError, match=r"turns more sharply than can be followed between s = 0\.9999"):
        mp.time_optimal(path, velocity=1.0, acceleration=3.0)
    straight = mp.paths.joint([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], interpolation="polyline")
    assert mp.check_limits(mp.time_optimal(straight, velocity=1.0, acceleration=3.0), velocity=1.0, acceleration=3.0)


def test_a_value_beside_its_limit_is_told_with_the_digits_that_differ() -> None:
    motion = mp.trajectory(mp.paths.joint([[0.0], [1.0]]), mp.timing.quintic(1.0))
    told = str(mp.check_limits(motion, velocity=1.875 * (1.0 - 1e-8)))
    value, limit = re.findall(r"is (\S+?)(?: at|\.\n|\.$)", told.splitlines()[0])
    assert float(value) > float(limit)
    run = mp.simulate(
        mp.Scenario(mp.planar([1.0], [3.0]), motion, kind="inverse_dynamics", limits={"velocity": 1.875 * (1.0 - 1e-7)})
    )
    assert run.feasible is False
    limit, value = re.findall(r"(?:limit of|reaches) (\S+)", run.feasibility.reason)
    assert float(value) > float(limit)
    told = str(mp.check_limits(motion, speed=1.0))
    assert told.startswith("speed is 1.875 ")

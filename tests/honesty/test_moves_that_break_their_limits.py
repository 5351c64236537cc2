"""Joint moves whose ends contradict their limits, or the straight line that was asked for, are refused."""

from __future__ import annotations

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

"""A robot with the numbers of one run in the place of its free parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.robot.robot import Robot


def numeric_robot(robot: Robot, parameters: Any, run: int | None) -> Robot | None:
    """A robot with the values of its free parameters, of one run of a batch where they vary; None where a value is missing."""
    if robot.is_numeric:
        return robot
    values = {}
    for name, value in dict(parameters or {}).items():
        if np.ndim(value) == 0:
            values[name] = float(value)
        elif run is not None:
            values[name] = float(value[run])
    robot = robot.with_parameters(**{name: v for name, v in values.items() if name in robot.parameters})
    return robot if robot.is_numeric else None

"""The motion of one point of the arm in a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.errors import DescriptionError
from manipula.simulation.carried_points import rates_of
from manipula.simulation.point_motion import ORIGIN, point_name, read_point
from manipula.simulation.recorded import carrying_of, robot_of
from manipula.simulation.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class PointMotion(Value):
    """The motion of one point, (S, 3) each in the axes of the base (of the world where the base moves), (N, S, 3) of a batch.

    Attributes:
        name: of the frame, or of the link with the place on it. t: times [s].
        position, velocity, acceleration: [m], [m/s], [m/s²].
    """

    name: str
    t: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def traced_point(result: Result, frame: str | None = None, point: Any = None) -> PointMotion:
    """How a point of the arm moved in a result; the tip when neither is given.

    Args:
        frame: name of a frame. point: ``("link3", (0.1, 0, 0))``, a place fixed to a link, in its axes [m].
    """
    where = read_point(frame, point) or ("tip", ORIGIN)
    robot = robot_of(result)
    if robot is None:
        raise DescriptionError("The result does not say which robot moved, so the motion of a point is not known.", field="frame")  # fmt: skip
    robot.frame(where[0])
    motion = [np.asarray(result.arrays[name], float) for name in ("q", "qd", "qdd")]
    if motion[0].ndim == 2:
        return PointMotion(point_name(where), result.t, *rates_of(carrying_of(result, where[0]), robot, where, result.t, *motion))  # fmt: skip
    runs = [
        rates_of(carrying_of(result, where[0], k), robot, where, result.t, *(part[k] for part in motion))
        for k in range(len(motion[0]))
    ]
    return PointMotion(point_name(where), result.t, *(np.stack(rows) for rows in zip(*runs)))

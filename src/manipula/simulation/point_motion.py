r"""How a point of the arm moves when its joints do: position, velocity, acceleration and jerk, exactly.

The joints are Taylor numbers :math:`q + \dot q\,\varepsilon + \tfrac12\ddot q\,\varepsilon^2 + \dots`; forward kinematics on them gives the point's
own series. All samples go through at once. A point is a named frame, or a place fixed to a link: ``("link3", (0.1, 0, 0))`` [m, in its axes].
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array
from manipula.algebra.jet import Jet
from manipula.errors import DescriptionError, printable
from manipula.physics import kinematics
from manipula.physics.mechanism import mechanism_of
from manipula.robot.link import check_frame_name
from manipula.robot.robot import Robot

Point = tuple[str, tuple[float, float, float]]
"""Frame, and where the point is in its axes [m]."""
ORIGIN = (0.0, 0.0, 0.0)


def read_point(frame: Any = None, point: Any = None) -> Point | None:
    """The point that ``frame="elbow"`` or ``point=("link3", (0.1, 0, 0))`` names; ``None`` for neither.

    Raises:
        DescriptionError: both, or what is no point.
    """
    if frame is not None and point is not None:
        raise DescriptionError("A point is a frame or a place on a link: give frame or point.", field="point")
    if point is None:
        if frame is None:
            return None
        check_frame_name(frame)
        return frame, ORIGIN
    if not isinstance(point, (tuple, list)) or len(point) != 2 or not isinstance(point[0], str):
        raise DescriptionError(
            f'A point is a link and a place in its axes, ("link3", (0.1, 0, 0)); found {printable(repr(point), 60)}.',
            field="point",
        )
    x = finite_array(point[1], "point")
    if x.shape != (3,):
        raise DescriptionError(f"The place of a point has 3 numbers, found shape {x.shape}.", field="point")
    return point[0], (float(x[0]), float(x[1]), float(x[2]))


def point_of_text(text: str) -> Point:
    """The point that ``elbow`` or ``link3@0.1,0,0`` names.

    Raises:
        DescriptionError: a place that is not three numbers.
    """
    frame, at, place = text.partition("@")
    if not at:
        return text, ORIGIN
    try:
        numbers = [float(v) for v in place.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not np.isfinite(numbers).all():
        raise DescriptionError(
            f"A point is a frame, or a link and a place in its axes, link3@0.1,0,0; found '{printable(text, 60)}'.",
            field="point",
        )
    return frame, (numbers[0], numbers[1], numbers[2])


def text_of_point(point: Point) -> str:
    """``elbow``, or ``link3@0.1,0,0``, which :func:`point_of_text` reads."""
    return point[0] if point[1] == ORIGIN else f"{point[0]}@{','.join(repr(v) for v in point[1])}"


def point_name(point: Point) -> str:
    """``elbow``, or ``link3 + (0.1, 0, 0)``"""
    return point[0] if point[1] == ORIGIN else f"{point[0]} + ({', '.join(f'{v:g}' for v in point[1])})"


def point_rates(robot: Robot, point: str | Point, *motion: np.ndarray) -> list[np.ndarray]:
    """``[p, ṗ, p̈, …]`` of a point, (..., 3) each, from ``q, qd, qdd, …`` (..., n) each."""
    frame, offset = (point, ORIGIN) if isinstance(point, str) else point
    shape = motion[0].shape[:-1]
    flat = [np.asarray(part, float).reshape(-1, robot.n) for part in motion]
    order = len(flat) - 1
    joints = np.empty(robot.n, object)
    for i in range(robot.n):
        joints[i] = Jet([part[:, i] / factorial(k) for k, part in enumerate(flat)], 1)
    mechanism = mechanism_of(robot)
    if offset == ORIGIN:
        place = kinematics.position(mechanism, joints, frame)
    else:
        X = kinematics.pose(mechanism, joints, frame)
        place = X[:3, 3] + X[:3, :3] @ np.array(offset, object)
    out = [np.zeros((len(flat[0]), 3)) for _ in range(order + 1)]
    for axis in range(3):
        entry = place[axis]
        for k in range(order + 1):
            if isinstance(entry, Jet):
                out[k][:, axis] = entry.coefficients[k] * factorial(k)
            elif k == 0:
                out[0][:, axis] = float(entry)
    return [values.reshape(*shape, 3) for values in out]

r"""How a point of the arm moves when its joints do: position, velocity, acceleration and jerk, exactly.

The joints are Taylor numbers :math:`q + \dot q\,\varepsilon + \tfrac12\ddot q\,\varepsilon^2 + \dots`; forward kinematics on them gives the point's
own series. All samples go through at once.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from manipula.algebra.jet import Jet
from manipula.physics import kinematics
from manipula.physics.mechanism import mechanism_of
from manipula.robot.robot import Robot


def point_rates(robot: Robot, frame: str, *motion: np.ndarray) -> list[np.ndarray]:
    """``[p, ṗ, p̈, …]`` of a frame's origin, (..., 3) each, from ``q, qd, qdd, …`` (..., n) each."""
    shape = motion[0].shape[:-1]
    flat = [np.asarray(part, float).reshape(-1, robot.n) for part in motion]
    order = len(flat) - 1
    joints = np.empty(robot.n, object)
    for i in range(robot.n):
        joints[i] = Jet([part[:, i] / factorial(k) for k, part in enumerate(flat)], 1)
    point = kinematics.position(mechanism_of(robot), joints, frame)
    out = [np.zeros((len(flat[0]), 3)) for _ in range(order + 1)]
    for axis in range(3):
        entry = point[axis]
        for k in range(order + 1):
            if isinstance(entry, Jet):
                out[k][:, axis] = entry.coefficients[k] * factorial(k)
            elif k == 0:
                out[0][:, axis] = float(entry)
    return [values.reshape(*shape, 3) for values in out]

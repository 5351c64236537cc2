"""An initial posture moved onto the start of a task reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.control.arm import Arm
from manipula.errors import DescriptionError
from manipula.robot.robot import Robot

CLOSE = 1e-14  # m, per metre of reach: rounding of the tip's position
FAR = 1e-9  # m, a posture further away than this does not stand on the start
MOST = 100


def projected(robot: Robot, reference: Any, q: np.ndarray) -> np.ndarray:
    r"""Newton's method with the smallest change of joints, :math:`q \leftarrow q + J^+(x_d(0) - x(q))`.

    Raises:
        DescriptionError: when no posture near ``q`` puts the tip there.
    """
    arm = Arm(robot)
    rows = list(arm.task)
    goal = np.zeros(3)
    at = np.asarray(reference.position(0.0), float)
    goal[: len(at)] = at
    found, best = q, np.inf
    for _ in range(MOST):
        e = goal[rows] - np.asarray(arm.position(q), float)[rows]
        size = float(np.linalg.norm(e))
        if size >= best and best < FAR:
            break
        if size < best:
            found, best = q, size
        if size <= CLOSE:
            break
        J = np.asarray(arm.task_jacobian(q), float)
        q = q + np.linalg.pinv(J, rcond=1e-10) @ e
    if best > FAR:
        raise DescriptionError(
            f"No posture near the given one puts the tip at the start of the reference ({_text(goal)} m); it stays {best:.3g} m away.",
            field="q0",
        )
    return found


def _text(v: np.ndarray) -> str:
    return ", ".join(f"{x:.6g}" for x in v)

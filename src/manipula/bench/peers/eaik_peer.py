"""EAIK: every posture of an arm of six revolute joints, by closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manipula.ik.closed_form.geometry import lines_of
from manipula.robot.robot import Robot

from .timing import missing


def reason() -> str:
    """Why it cannot be timed here; empty if it can."""
    return missing("eaik")


def available() -> bool:
    """Is EAIK installed?"""
    return not reason()


def postures(robot: Robot, X: np.ndarray) -> Callable[[], np.ndarray]:
    """A call that gives its postures (k, 6) at the pose X.

    It is given the axes, the offsets between them, and the target without the tool's rotation.
    """
    from eaik.IK_HP import HPRobot

    lines = lines_of(robot)
    if lines is None or lines.kinds != "RRRRRR":
        raise RuntimeError(f"EAIK knows arms of six revolute joints only; '{robot.name}' is another.")
    points = np.array([axis.p for axis in lines.axes] + [lines.home[:3, 3]])
    arm = HPRobot(np.array([axis.h for axis in lines.axes]), np.diff(points, axis=0, prepend=np.zeros((1, 3))))
    target = X.copy()
    target[:3, :3] = X[:3, :3] @ lines.home[:3, :3].T
    return lambda: np.asarray(arm.IK(target).Q).reshape(-1, 6)

"""Closed forms beside EAIK, when it is installed: the same postures for arms of six revolute joints."""

from __future__ import annotations

import numpy as np
import pytest

import manipula as mp
from arm_families import POSE, distance, postures, robot_of
from manipula.ik.closed_form import find
from manipula.ik.closed_form.geometry import lines_of
from manipula.robot.robot import Robot

hp = pytest.importorskip("eaik.IK_HP")
SAME = 1e-5  # rad
REACHED = 1e-7  # what EAIK's postures must reach to be counted: it also gives least-squares answers
RANDOM = ("RRR 23∥ + wrist", "RRR 12x + wrist")


def _eaik(robot: Robot, T: np.ndarray) -> np.ndarray:
    """EAIK's postures; it is given the axes, the offsets between them, and the target without the tool's rotation."""
    lines = lines_of(robot)
    assert lines is not None
    assert lines.kinds == "RRRRRR"  # it takes slides for turns
    points = np.array([a.p for a in lines.axes] + [lines.home[:3, 3]])
    arm = hp.HPRobot(np.array([a.h for a in lines.axes]), np.diff(points, axis=0, prepend=np.zeros((1, 3))))
    X = T.copy()
    X[:3, :3] = T[:3, :3] @ lines.home[:3, :3].T
    q = np.asarray(arm.IK(X).Q).reshape(-1, 6)
    return q[np.abs(mp.compile(robot).pose(q) - T).max(axis=(1, 2), initial=0.0) < REACHED]


@pytest.mark.parametrize("name", ["puma560", "ur5e", *RANDOM])
def test_same_postures_as_eaik(name: str) -> None:
    rng = np.random.default_rng(21)
    robot = robot_of(POSE[name](rng), rng) if name in RANDOM else mp.load(name)
    form = find(robot)
    assert form is not None
    for T in mp.compile(robot).pose(postures(robot, 30, rng)):
        ours, theirs = form.solve(T), _eaik(robot, T)
        assert len(theirs) >= 1
        assert distance(robot, theirs[:, None], ours[None]).min(axis=1).max() < SAME

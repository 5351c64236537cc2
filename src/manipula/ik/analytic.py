"""Closed forms seen from the driver: which applies, and which of its branches to take."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.ik.driver import SLACK, Walls
from manipula.ik.task import Task
from manipula.robot.robot import Robot


class Analytic:
    """All branches of a closed form, brought into the limits by whole turns."""

    def __init__(self, solver: Any, robot: Robot, limited: bool) -> None:
        self.solver, self.limited = solver, limited
        self.name = str(getattr(solver, "name", "closed_form"))
        self.walls = Walls(robot, limited)
        self.turning = np.array([j.is_revolute for j in robot.joints])
        hard = self.walls.hard
        self.low, self.high = hard[:, 0] - SLACK, hard[:, 1] + SLACK
        middle = 0.5 * (hard[:, 0] + hard[:, 1])
        self.middle = np.where(np.isfinite(middle), middle, 0.0)

    def all(self, X: np.ndarray) -> np.ndarray:
        """(k, n) branches within the limits."""
        return self._kept(np.asarray(self.solver.solve(X), float).reshape(-1, len(self.turning)), self.middle)

    def _kept(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Branches moved by whole turns as near to a posture as the limits allow, those outside left out."""
        turn = 2.0 * np.pi
        whole = np.where(self.turning, turn, 0.0)
        q = q - whole * np.round((q - near) / turn)
        q = np.where(q > self.high, q - whole, np.where(q < self.low, q + whole, q))
        good = np.all((q >= self.low) & (q <= self.high), axis=1) & np.isfinite(q).all(axis=1)
        return np.clip(q[good], self.walls.hard[:, 0], self.walls.hard[:, 1])

    def best(self, X: np.ndarray, q0: np.ndarray | None) -> np.ndarray | None:
        """The branch nearest to q0 (to the middle of the ranges without one), or None."""
        near = self.middle if q0 is None else q0
        found = self._kept(np.asarray(self.solver.solve(X), float).reshape(-1, len(self.turning)), near)
        if not len(found):
            return None
        return found[np.argmin(np.max(np.abs(found - near), axis=1))]


def analytic_for(robot: Robot, task: Task, limited: bool) -> Analytic | None:
    """The closed form for the tip's pose, when the geometry has one."""
    if len(task.parts) != 1 or task.parts[0][0] != "tip" or len(task.parts[0][1]) != 6:
        return None
    try:
        from manipula.ik.closed_form import find  # pyright: ignore
    except ImportError:
        return None
    solver = find(robot)
    return None if solver is None else Analytic(solver, robot, limited)

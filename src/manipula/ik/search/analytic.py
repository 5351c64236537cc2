"""Closed forms seen from the driver: which applies, and which of its branches to take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.identity import identity
from manipula.ik.search.inspection import NONE
from manipula.ik.search.joint_box import SLACK, JointBox
from manipula.ik.task import Task
from manipula.lazy import cached_property
from manipula.robot.robot import Robot


class Branches:
    """Postures from elsewhere, brought into the limits by whole turns."""

    def __init__(self, robot: Robot, limited: bool, branches: int = 16) -> None:
        self.robot = robot
        self.joint_box = JointBox(robot, limited)
        self.turning = np.array([j.is_revolute for j in robot.joints])
        self.middle = np.where(np.isfinite(self.joint_box.hard).all(axis=1), self.joint_box.centre, 0.0)
        self.rows = np.full((branches, robot.n), np.nan)

    def kept(self, q: np.ndarray) -> np.ndarray:
        """Of postures (k, n) those that whole turns bring within the limits."""
        turned, cost = self.turn(q, self.middle) if len(q) else (q, np.zeros(0))
        return np.asarray(turned, float).reshape(-1, self.robot.n)[np.atleast_1d(cost) < NONE]

    # ------------------------------------------------------------------ machine code
    @property
    def _made_of(self) -> bytes | None:
        return identity(self.robot.bare, self.joint_box.hard.tolist())

    def turned(self, q: Any, near: Any) -> tuple[np.ndarray, Any]:
        """A posture moved by whole turns as near to another as the limits allow, and its largest distance from it (NONE beyond them)."""
        turn = 2.0 * math.pi
        out, cost = [], 0.0
        for (low, high), x, goal, turning in zip(self.joint_box.hard.tolist(), q, near, self.turning):
            if turning:
                x = x - turn * ops.floor((x - goal) * (1.0 / turn) + 0.5)
                if math.isfinite(high):
                    x = ops.where(x > high + SLACK, x - turn * ops.floor((x - high - SLACK) * (1.0 / turn) + 1.0), x)
                if math.isfinite(low):
                    x = ops.where(x < low - SLACK, x + turn * ops.floor((low - SLACK - x) * (1.0 / turn) + 1.0), x)
            cost = ops.maximum(cost, ops.abs(x - goal))
            out.append(x)
        outside, within = self.joint_box.beyond(out), self.joint_box.clipped(out)
        if outside is not False:
            cost = ops.where(outside, NONE, cost)
            within = array([ops.where(outside, x, y) for x, y in zip(out, within)])
        return within, ops.where(cost <= NONE, cost, NONE)  # NaN becomes NONE

    @cached_property
    def turn(self) -> native.Kernel:
        """``turn(q, near)`` → posture and cost."""
        n = self.robot.n
        body = lambda q, near: dict(zip(("q", "cost"), self.turned(q, near)))  # noqa: E731
        return native.kernel_of(body, {"q": (n,), "near": (n,)}, f"{self.robot.name}.ik_turn", self._made_of)

    @cached_property
    def pick(self) -> native.Kernel:
        """``pick(rows, near)`` → the best of several postures, and its cost."""
        branches, n = self.rows.shape

        def body(rows: Any, near: Any) -> dict[str, Any]:
            best, least = array(rows[0]), NONE
            for row in rows:
                q, cost = self.turned(row, near)
                better = cost < least
                best = array([ops.where(better, a, b) for a, b in zip(q, best)])
                least = ops.minimum(least, cost)
            return {"q": best, "cost": least}

        return native.kernel_of(
            body, {"rows": (branches, n), "near": (n,)}, f"{self.robot.name}.ik_pick", self._made_of
        )


class Analytic(Branches):
    """All branches of a closed form; ``at_once``: can machine code answer whole targets with it?"""

    at_once = True

    def __init__(self, solver: Any, robot: Robot, limited: bool, positions: bool) -> None:
        super().__init__(robot, limited, int(solver.branches))
        self.solver, self.positions = solver, positions
        self.name = str(solver.name)
        self.redundant = solver.parameter is not None
        self.exact = bool(solver.exact)

    def every(self, X: np.ndarray) -> np.ndarray:
        """(k, n) branches, whether within the limits or not; of a redundant arm for several values of its parameter."""
        return self.solver.solve_position(X[:3, 3]) if self.positions else self.solver.solve(X)

    def counted(self, count: int) -> str:
        """``branches of the closed form``"""
        return f"{'branch' if count == 1 else 'branches'} of the closed form"

    def best(self, X: np.ndarray, q0: np.ndarray | None) -> np.ndarray | None:
        """The branch nearest to q0 (to the middle of the ranges without one), or None."""
        q = self.every(X)
        if not len(q):
            return None
        if len(q) > len(self.rows) or self.redundant:
            turned, cost = self.turn(q, self.middle if q0 is None else q0)
            best = int(np.argmin(cost))
            return turned[best] if cost[best] < NONE else None
        return self._picked(q, self.middle if q0 is None else q0)

    def _picked(self, q: np.ndarray, near: np.ndarray) -> np.ndarray | None:
        rows = self.rows.copy()
        rows[: len(q)] = q
        picked, cost = self.pick(rows, near)
        return picked if cost < NONE else None

    def best_of_many(self, X: np.ndarray, q0: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The same for poses (N, 4, 4): postures (N, n), and which exist."""
        rows = self.solver.solve_position_batch(X[:, :3, 3]) if self.positions else self.solver.solve_batch(X)
        picked, cost = self.pick(rows, self.middle if q0 is None else q0)
        return np.atleast_2d(picked), np.atleast_1d(cost) < NONE


def kinds_of(robot: Robot) -> str:
    """R and P for every joint."""
    return "".join("R" if j.is_revolute else "P" for j in robot.joints)


def analytic_for(robot: Robot, task: Task, limited: bool) -> Analytic | None:
    """The closed form for a task of one frame, when the geometry has one."""
    if len(task.parts) != 1 or task.parts[0][1] not in ((0, 1, 2), (0, 1, 2, 3, 4, 5)):
        return None
    from manipula.ik.closed_form import find

    frame, rows = task.parts[0]
    solver = find(robot, frame)
    positions = len(rows) == 3
    if solver is None or (positions and solver.kind != "position"):
        return None
    return Analytic(solver, robot, limited, positions)

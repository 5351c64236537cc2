r"""A compiled step along a motion: Newton towards the next target, and self-motion that keeps off the limits or improves a criterion.

.. math:: \Delta q = J^+e + (1-J^+J)\,z,\qquad z = -k\nabla H

The limit potential :math:`H = \sum_i \frac{(q_i^{max}-q_i^{min})^2}{4(q_i^{max}-q_i)(q_i-q_i^{min})}` grows without bound at a limit
[Zghal, Dubey & Euler 1990], so its pull is weak in the middle and wins near the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot, solve_spd
from manipula.identity import identity
from manipula.ik.methods.base import FLOOR
from manipula.ik.search.driver import Walls
from manipula.ik.task import Task
from manipula.physics.kinematics import jacobian, position
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.newton_euler import gravity
from manipula.robot.robot import Robot

MARGIN = 0.02  # of a joint's range: the potential is flattened nearer than this
STEPS = 10.0
DAMPING = 1e-6
LONGEST_PULL = 0.05  # rad or m of self-motion in one step


class View:
    """What a secondary criterion may ask of the arm (the names that ``manipula.redundancy.null_space`` uses)."""

    def __init__(self, robot: Robot, task: Task) -> None:
        self.robot, self.full, self.n = robot, mechanism_of(robot), robot.n
        self.frame, self.rows = task.parts[0]

    def position(self, q: Any) -> np.ndarray:
        return position(self.full, q, self.frame)

    def task_jacobian(self, q: Any) -> np.ndarray:
        return jacobian(self.full, q, self.frame)[list(self.rows)]

    def gravity(self, q: Any) -> np.ndarray:
        return gravity(self.full, q)


def limit_pull(robot: Robot, q: Any) -> np.ndarray:
    r""":math:`-\nabla H` scaled to the joints' ranges, (n,); 0 for joints without limits."""
    out = []
    for (low, high), x in zip(np.asarray(robot.position_limits, float).tolist(), q):
        if not (math.isfinite(low) and math.isfinite(high) and high > low):
            out.append(0.0)
            continue
        u = (x - 0.5 * (low + high)) * (2.0 / (high - low))  # −1 … 1
        room = ops.maximum(1.0 - u * u, 2.0 * MARGIN)
        out.append(-0.5 * (high - low) * u / (room * room))
    return array(out)


def compile_tracking_step(
    robot: Robot, task: Task, limited: bool, criteria: tuple[Any, ...] = (), weight: Callable[[Any], Any] | None = None,
    inset: float = 0.0,
) -> native.Kernel:  # fmt: skip
    """``kernel(targets, q, gain, tolerance)`` → q at the target nearest to the given posture, its error, and steps taken.

    Joints are kept ``inset`` inside their limits.
    """
    mechanism: Mechanism = mechanism_of(robot)
    walls = Walls(robot, limited, inset)
    n = robot.n
    redundant = n > task.size
    view = View(robot, task)

    def advance(targets: Any, q: Any, gain: Any, tolerance: Any) -> Any:
        pull = limit_pull(robot, q) if limited else np.zeros(n)
        for criterion in criteria:
            pull = array(pull + criterion.direction(view, q))

        def iterate(x: Any, error: Any, k: Any) -> Any:
            e, J, now = task.error_and_jacobian(mechanism, x, targets)
            held = walls.held(x, [dot(J[:, i], e) for i in range(n)])
            columns = [
                J[:, i] if at is False else array([ops.where(at, 0.0, c) for c in J[:, i]]) for i, at in enumerate(held)
            ]
            J = np.stack(columns, axis=1)
            spread = J.T if weight is None else array(solve_spd(weight(x), J.T))
            wanted = e
            null: Any = np.zeros(n)
            if redundant:
                null = array([ops.where(k < 0.5, gain * p, 0.0) for p in pull])
                longest: Any = 1e-30
                for p in null:
                    longest = ops.maximum(longest, ops.abs(p))
                null = array(null * ops.minimum(1.0, LONGEST_PULL / longest))
                wanted = array(e - J @ null)
            if task.size <= n:
                gram = J @ spread
                damping = DAMPING * dot(e, e) + FLOOR
                gram = array(
                    [[gram[i, j] + (damping if i == j else 0.0) for j in range(task.size)] for i in range(task.size)]
                )
                dq = array(null + spread @ solve_spd(gram, wanted))
            else:
                gram = J.T @ J
                dq = array(
                    solve_spd(
                        array([[gram[i, j] + (FLOOR if i == j else 0.0) for j in range(n)] for i in range(n)]), J.T @ e
                    )
                )
            moved = walls.clipped(array(x + dq))
            ended = (now <= tolerance) & (k > 0.5)
            return array([ops.where(ended, a, b) for a, b in zip(x, moved)]), now, k + 1.0

        finish = lambda x, error, k: (error <= tolerance) & (k > 1.5)  # noqa: E731
        (x, error, _), count = native.until(iterate, (array(q), 1e30, 0.0), finish, STEPS)
        return {"q": x, "error": error, "steps": count}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (n,), "gain": (), "tolerance": ()}
    parts = identity(robot.bare, task, limited, criteria, weight, inset, View)
    return native.kernel_of(advance, inputs, f"{robot.name}.ik_track", parts)

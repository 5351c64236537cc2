r"""A compiled step along a motion: Newton towards the next target, and self-motion that keeps off the limits or improves a criterion.

.. math:: \Delta q = J^+e + (1-J^+J)\,z,\qquad z = -k\nabla H

The limit potential :math:`H = \sum_i \frac{(q_i^{max}-q_i^{min})^2}{4(q_i^{max}-q_i)(q_i-q_i^{min})}` grows without bound at a limit
[Zghal, Dubey & Euler 1990], so its pull is weak in the middle and wins near the ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot, zeros
from manipula.identity import identity
from manipula.ik.methods.base import FLOOR
from manipula.ik.search.joint_box import JointBox
from manipula.ik.task import Task
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import combined
from manipula.redundancy.joint_limits import ranges
from manipula.redundancy.pseudoinverse import pseudoinverse_times
from manipula.robot.robot import Robot

MARGIN = 0.02  # of a joint's range: the potential is flattened nearer than this
STEPS = 10.0
DAMPING = 1e-6
LONGEST_PULL = 0.05  # rad or m of self-motion in one step


def limit_pull(arm: Arm, q: Any) -> np.ndarray:
    r""":math:`-\nabla H` scaled to the joints' ranges, (n,); 0 for joints without limits."""
    out = zeros(arm.n)
    for i, e, room, length in ranges(arm, q):
        room = ops.maximum(room, 2.0 * MARGIN)
        out[i] = -length * e / (room * room)
    return array(out)


def compile_tracking_step(
    robot: Robot, task: Task, limited: bool, criteria: tuple[Any, ...] = (), weight: Callable[[Any], Any] | None = None,
    inset: float = 0.0,
) -> native.Kernel:  # fmt: skip
    """``kernel(targets, q, gain, tolerance)`` → q at the target nearest to the given posture, its error, and steps taken.

    Joints are kept ``inset`` inside their limits.
    """
    mechanism: Mechanism = mechanism_of(robot)
    joint_box = JointBox(robot, limited, inset)
    n = robot.n
    redundant = n > task.size
    frame, rows = task.parts[0]
    arm = Arm(robot, frame=frame, rows=rows)

    def advance(targets: Any, q: Any, gain: Any, tolerance: Any) -> Any:
        pull = combined(criteria, arm, q)
        if limited:
            pull = array(pull + limit_pull(arm, q))

        def iterate(x: Any, error: Any, k: Any) -> Any:
            e, J, now = task.error_and_jacobian(mechanism, x, targets)
            blocked = joint_box.blocked(x, [dot(J[:, i], e) for i in range(n)])
            columns = [
                J[:, i] if at is False else array([ops.where(at, 0.0, c) for c in J[:, i]])
                for i, at in enumerate(blocked)
            ]
            J = np.stack(columns, axis=1)
            null: Any = np.zeros(n)
            if redundant:
                null = array([ops.where(k < 0.5, gain * p, 0.0) for p in pull])
                longest: Any = 1e-30
                for p in null:
                    longest = ops.maximum(longest, ops.abs(p))
                null = array(null * ops.minimum(1.0, LONGEST_PULL / longest))
            damping = DAMPING * dot(e, e) + FLOOR if task.size <= n else FLOOR
            wanted = array(e - J @ null) if redundant else e
            dq = null + pseudoinverse_times(J, wanted, damping, None if weight is None else weight(x))
            moved = joint_box.clipped(array(x + dq))
            ended = (now <= tolerance) & (k > 0.5)
            return array([ops.where(ended, a, b) for a, b in zip(x, moved)]), now, k + 1.0

        finish = lambda x, error, k: (error <= tolerance) & (k > 1.5)  # noqa: E731
        (x, error, _), count = native.until(iterate, (array(q), 1e30, 0.0), finish, STEPS)
        return {"q": x, "error": error, "steps": count}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (n,), "gain": (), "tolerance": ()}
    parts = identity(robot.bare, task, limited, criteria, weight, inset)
    return native.kernel_of(advance, inputs, f"{robot.name}.ik_track", parts)

r"""Polish and search in machine code: damped Gauss–Newton from many starts side by side.

.. math:: (J^TJ + \lambda\,|e|^2\,1)\,\Delta q = J^Te

The damping vanishes with the error, so that the end is Newton's, and a step is at most 1 rad. Lanes that stall are given up.
"""

from __future__ import annotations

from typing import Any

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot
from manipula.identity import identity
from manipula.ik.task import turn_error
from manipula.physics.kinematics import jacobian, pose
from manipula.physics.mechanism import mechanism_of
from manipula.redundancy.pseudoinverse import normal_equations
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

DAMPING = 1e-3
LONGEST = 1.0  # rad
PATIENCE = 6.0  # iterations without progress
PROGRESS = 0.8
MOST_ITERATIONS = 1000.0  # whatever is asked for
FLOOR = 1e-24  # of the damping: singular postures
TOLERANCE = 1e-13  # where polishing stops; the caller judges what was reached


@once_per_mechanism(32)
def descent_kernel(robot: Robot, frame: str) -> native.Kernel:
    """``kernel(T, q, most)`` → q, error (norm of position [m] and rotation error [rad])."""
    mechanism = mechanism_of(robot)
    n = robot.n

    def solve(T: Any, q: Any, most: Any) -> Any:
        def look(q: Any) -> tuple[Any, Any]:
            X = pose(mechanism, q, frame)
            turn, _ = turn_error(T, X)
            e = array([*(T[i][3] - X[i, 3] for i in range(3)), *turn])
            return e, dot(e, e)

        def step(q: Any, best_q: Any, best: Any, stalls: Any) -> Any:
            e, square = look(q)
            better = square < PROGRESS * best
            best_q = array([ops.where(square < best, a, b) for a, b in zip(q, best_q)])
            stalls = ops.where(better, 0.0, stalls + 1.0)
            best = ops.minimum(best, square)
            J = jacobian(mechanism, q, frame)
            dq = normal_equations(J, e, DAMPING * square + FLOOR)
            longest: Any = 0.0
            for x in dq:
                longest = ops.maximum(longest, ops.abs(x))
            q = array(q + ops.minimum(1.0, LONGEST / ops.maximum(longest, 1e-30)) * dq)
            return q, best_q, best, stalls

        done = lambda q, best_q, best, stalls: (best < TOLERANCE * TOLERANCE) | (stalls > PATIENCE)  # noqa: E731
        (_, q, best, _), count = native.until(
            step, (array(q), array(q), 1e30, 0.0), done, ops.minimum(most, MOST_ITERATIONS)
        )
        return {"q": q, "error": ops.sqrt(best), "iterations": count}

    parts = identity(robot.bare, frame)
    return native.kernel_of(solve, {"T": (4, 4), "q": (n,), "most": ()}, f"{robot.name}.descent", parts)

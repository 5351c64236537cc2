"""One driver for all iterative methods, in machine code: one start, followed until it arrives or is given up.

Every lane of a batch iterates on its own. A step of the method is cut to its longest stride and kept within the limits: a joint that
stands on a limit and is pushed outwards is left out of the step. Lanes may also ignore the limits until they have arrived
(``free``), and are then brought back by whole turns. What happens to lanes that were given up is decided in ``search.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, dot, solve_spd
from manipula.identity import identity
from manipula.ik.methods import REGISTRY
from manipula.ik.methods.base import Situation
from manipula.ik.search.joint_box import JointBox
from manipula.ik.task import Task
from manipula.physics.mechanism import mechanism_of
from manipula.redundancy.pseudoinverse import plus_diagonal, pseudoinverse_times
from manipula.robot.robot import Robot

PROGRESS = 0.9  # the error must fall below this fraction of its best to count
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-18, 1e3  # of refinement
REFINING_STRIDE = 0.3  # rad or m
WEAK = 1e-6  # damping of a correction: directions with singular values below 1e-3 stay as they are
RUNNING, SOLVED, LOST = 0.0, 1.0, 2.0


def compile_descent(robot: Robot, task: Task, method: str, limited: bool) -> native.Kernel:
    """``kernel(targets, q, free, tolerance, most)`` → q, error, iterations, verdict (1 solved, 2 given up, 0 unfinished)."""
    mechanism = mechanism_of(robot)
    n = robot.n
    rule = REGISTRY[method]
    joint_box = JointBox(robot, limited)

    def solve(targets: Any, q: Any, free: Any, tolerance: Any, most: Any) -> Any:
        roaming = free > 0.5

        def iterate(q: Any, error: Any, best: Any, stalls: Any, age: Any, verdict: Any) -> Any:
            e, J, now = task.error_and_jacobian(mechanism, q, targets)
            J = _without_blocked(J, joint_box.blocked(q, [dot(J[:, i], e) for i in range(n)]), roaming)
            dq = rule.move(Situation(mechanism, task, q, targets, start, age), e, J)
            stride: Any = 0.0
            for value in dq:
                stride = ops.maximum(stride, ops.abs(value))
            moved = array(q + ops.minimum(1.0, rule.longest / ops.maximum(stride, 1e-30)) * dq)
            moved = array([_where(roaming, a, b) for a, b in zip(moved, joint_box.clipped(moved))])
            back = joint_box.home(q)
            back = array([_where(roaming, a, b) for a, b in zip(back, q)]) if limited else back
            arrived = now <= tolerance
            outside = joint_box.beyond(back)
            stalls = ops.where(now < PROGRESS * best, 0.0, stalls + 1.0)
            lost = (stalls > rule.patience) | (age > rule.lifetime) | ~native.is_finite(now) | (outside & arrived)
            verdict = ops.where(lost, LOST, ops.where(arrived, SOLVED, RUNNING))
            ended = verdict > 0.5
            q = array([ops.where(ended, b, m) for b, m in zip(joint_box.clipped(back), moved)])
            return q, now, ops.minimum(best, now), stalls, age + 1.0, verdict

        start = array([_where(roaming, a, b) for a, b in zip(q, joint_box.clipped(q))])
        finish = lambda *state: state[-1] > 0.5  # noqa: E731
        state = (start, 1e30, 1e30, 0.0, 0.0, RUNNING)
        longest = ops.minimum(most, rule.lifetime + 2.0)  # a start as old as that is lost anyway
        (q, error, _, _, _, verdict), count = native.until(iterate, state, finish, longest)
        return {"q": q, "error": error, "iterations": count, "verdict": verdict}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (n,), "free": (), "tolerance": (), "most": ()}
    return native.kernel_of(solve, inputs, f"{robot.name}.ik_{method}", identity(robot.bare, task, rule, limited))


def compile_refinement(robot: Robot, task: Task, limited: bool) -> native.Kernel:
    r"""``kernel(targets, q, tolerance, most)`` → q and the size of its error, never larger than at the start.

    Newton's method on :math:`e^Te/2`, :math:`(J^TJ - S + \lambda)\,\Delta q = J^Te` with the curvature S of the task, λ divided by 5 after a step that
    lowers the error and multiplied by 5 after one that does not, which is then not taken. Near a singular posture :math:`J^TJ` alone
    says nothing about the weak directions and steps crawl along a curved valley; each step is brought back to its bottom by one
    damped step in the strong directions.
    """
    mechanism = mechanism_of(robot)
    n = robot.n
    joint_box = JointBox(robot, limited)

    def moved(q: Any, dq: Any) -> np.ndarray:
        stride: Any = 0.0
        for value in dq:
            stride = ops.maximum(stride, ops.abs(value))
        return joint_box.clipped(array(q + ops.minimum(1.0, REFINING_STRIDE / ops.maximum(stride, 1e-30)) * dq))

    def look(targets: Any, q: Any) -> tuple[Any, np.ndarray, Any]:
        e, J, size = task.error_and_jacobian(mechanism, q, targets)
        return e, _without_blocked(J, joint_box.blocked(q, [dot(J[:, i], e) for i in range(n)]), False), size

    def newton(q: Any, e: Any, J: np.ndarray, damping: Any) -> np.ndarray:
        H = J.T @ J - task.curvature(mechanism, q, e)
        return moved(q, solve_spd(plus_diagonal(H, damping), J.T @ e))

    def refine(targets: Any, q: Any, tolerance: Any, most: Any) -> Any:
        def iterate(q: Any, size: Any, damping: Any) -> Any:
            e, J, now = look(targets, q)
            trial = newton(q, e, J, damping)
            there, J, _ = look(targets, trial)
            trial = moved(trial, pseudoinverse_times(J, there, WEAK))
            there, _, smaller = task.error_and_jacobian(mechanism, trial, targets)
            better = dot(there, there) < dot(e, e)
            q = array([ops.where(better, a, b) for a, b in zip(trial, q)])
            damping = ops.where(better, ops.maximum(0.2 * damping, LEAST_DAMPING), 5.0 * damping)
            return q, ops.where(better, smaller, now), damping

        done = lambda q, size, damping: (size <= tolerance) | (damping > MOST_DAMPING)  # noqa: E731
        (q, size, _), _ = native.until(iterate, (joint_box.clipped(q), 1e30, FIRST_DAMPING), done, most)
        return {"q": q, "size": size}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (n,), "tolerance": (), "most": ()}
    return native.kernel_of(refine, inputs, f"{robot.name}.ik_refinement", identity(robot.bare, task, limited))


def _without_blocked(J: np.ndarray, blocked: list[Any], roaming: Any) -> np.ndarray:
    columns = []
    for i, at in enumerate(blocked):
        if at is False:
            columns.append(J[:, i])
        else:
            stays = at if roaming is False else at & ~roaming
            columns.append(array([ops.where(stays, 0.0, x) for x in J[:, i]]))
    return np.stack(columns, axis=1)


def _where(condition: Any, a: Any, b: Any) -> Any:
    return a if a is b else ops.where(condition, a, b)


def compile_residual(robot: Robot, task: Task) -> native.Kernel:
    """``kernel(targets, q)`` → largest of position error [m] and angle error [rad]: forward kinematics again, by itself."""
    mechanism = mechanism_of(robot)
    inputs = {"targets": (len(task.parts), 4, 4), "q": (robot.n,)}
    parts = identity(robot.bare, task)
    return native.kernel_of(lambda x, q: task.residual(mechanism, q, x), inputs, f"{robot.name}.ik_residual", parts)


def compile_errors(robot: Robot, task: Task) -> native.Kernel:
    """``kernel(targets, q)`` → error (rows,), Jacobian (rows, n) and the size of the error."""
    mechanism = mechanism_of(robot)

    def errors(targets: Any, q: Any) -> Any:
        e, J, size = task.error_and_jacobian(mechanism, q, targets)
        return {"e": e, "J": J, "size": size}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (robot.n,)}
    return native.kernel_of(errors, inputs, f"{robot.name}.ik_errors", identity(robot.bare, task))

"""One driver for all iterative methods, in machine code: limits, restarts, stalls, tolerance.

Every lane of a batch iterates on its own: a step of the method, cut to its longest stride; limits by projection on even starts and free
on odd ones (angles are brought back by whole turns at the end); a start that stalls is abandoned for the next point of a
low-discrepancy sequence over the joint ranges. The loop ends when the residual is below the tolerance within the limits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.ik.methods import REGISTRY
from manipula.ik.task import Task, size_of_error
from manipula.physics.chain import chain_of
from manipula.robot.robot import Robot

PATIENCE = 5.0  # iterations without progress after which a start is abandoned
PROGRESS = 0.9  # the error must fall below this fraction of its best to count
LONGEST_START = 40.0  # iterations after which any start is abandoned
FREE_RANGE = math.pi  # where joints without limits are started
FREE_STROKE = 1.0


class Solved(NamedTuple):
    """Last posture, its error, iterations and starts used, for every lane."""

    q: np.ndarray
    error: np.ndarray
    iterations: np.ndarray
    starts: np.ndarray


def golden_steps(n: int) -> np.ndarray:
    """Irrational steps of the additive sequence in n dimensions: powers of the root of x^(n+1) = x + 1 [Roberts 2018]."""
    phi = 2.0
    for _ in range(60):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    return np.array([(1.0 / phi) ** (j + 1) % 1.0 for j in range(n)])


def ranges(robot: Robot) -> np.ndarray:
    """(n, 2) where starts are drawn and solutions are kept: the limits, or a full turn where there are none."""
    out = np.asarray(robot.position_limits, float).copy()
    for i, joint in enumerate(robot.joints):
        wide = FREE_RANGE if joint.is_revolute else FREE_STROKE
        low, high = out[i]
        if not np.isfinite(low) and not np.isfinite(high):
            out[i] = -wide, wide
        elif not np.isfinite(low):
            out[i, 0] = high - 2 * wide
        elif not np.isfinite(high):
            out[i, 1] = low + 2 * wide
    return out


@lru_cache(maxsize=64)
def kernel(robot: Robot, task: Task, method: str, limited: bool) -> native.Kernel:
    """``kernel(targets, q, start, tolerance, iterations)`` → q, error, iterations, starts."""
    chain = chain_of(robot)
    n = robot.n
    rule = REGISTRY[method]
    box = ranges(robot)
    hard = np.asarray(robot.position_limits, float) if limited else np.array([[-np.inf, np.inf]] * n)
    golden = golden_steps(n)
    turning = [j.is_revolute for j in robot.joints]

    def solve(targets: Any, q: Any, start: Any, tolerance: Any, most: Any) -> Any:
        def fresh(number: Any) -> Any:
            out = []
            for i in range(n):
                u = number * float(golden[i]) + 0.5
                u = u - ops.floor(u)
                out.append(float(box[i, 0]) + u * float(box[i, 1] - box[i, 0]))
            return array(out)

        def home(q: Any) -> Any:
            """Angles brought back by whole turns to where the limits are."""
            out = []
            for i in range(n):
                low, high = hard[i]
                if not turning[i]:
                    out.append(q[i])
                    continue
                centre = (
                    0.5 * (low + high)
                    if np.isfinite(low + high)
                    else (
                        0.0
                        if not np.isfinite(low) and not np.isfinite(high)
                        else (low + math.pi if np.isfinite(low) else high - math.pi)
                    )
                )
                turns = ops.floor((q[i] - float(centre)) * (1.0 / (2.0 * math.pi)) + 0.5)
                out.append(q[i] - turns * (2.0 * math.pi))
            return array(out)

        def clipped(q: Any) -> Any:
            return array(
                [
                    ops.minimum(float(hard[i, 1]), ops.maximum(float(hard[i, 0]), q[i]))
                    if np.isfinite(hard[i]).any()
                    else q[i]
                    for i in range(n)
                ]
            )

        def outside(q: Any) -> Any:
            worst: Any = 0.0
            for i in range(n):
                if np.isfinite(hard[i, 0]):
                    worst = ops.maximum(worst, float(hard[i, 0]) - q[i])
                if np.isfinite(hard[i, 1]):
                    worst = ops.maximum(worst, q[i] - float(hard[i, 1]))
            return worst

        def iterate(q: Any, error: Any, best: Any, stalls: Any, age: Any, number: Any) -> Any:
            e, J = task.error_and_jacobian(chain, q, targets)
            now = size_of_error(e)
            dq = rule.step(e, J)
            stride: Any = 0.0
            for value in dq:
                stride = ops.maximum(stride, ops.abs(value))
            cut = ops.minimum(1.0, rule.longest / ops.maximum(stride, 1e-30))
            moved = array(q + cut * dq)
            free = number - 2.0 * ops.floor(0.5 * number) > 0.5  # odd starts ignore the limits until they have arrived
            kept = clipped(moved)
            moved = array([ops.where(free, a, b) for a, b in zip(moved, kept)])
            arrived = now <= tolerance
            back = home(q)
            inside = outside(back) <= 0.0
            progress = now < PROGRESS * best
            stalls = ops.where(progress, 0.0, stalls + 1.0)
            best = ops.minimum(best, now)
            lost = (stalls > PATIENCE) | (age > LONGEST_START) | (arrived & ~inside) | ~native.is_finite(now)
            again = fresh(number + 1.0)
            done = arrived & inside
            q = array([ops.where(done, b, ops.where(lost, a, m)) for a, b, m in zip(again, back, moved)])
            fresh_error = ops.where(done, now, ops.where(lost, 1e30, now + tolerance * 2.0))
            return (
                q, fresh_error, ops.where(lost, 1e30, best), ops.where(lost, 0.0, stalls), ops.where(lost, 0.0, age + 1.0),
                ops.where(lost & ~done, number + 1.0, number),
            )  # fmt: skip

        finish = lambda q, error, best, stalls, age, number: error <= tolerance  # noqa: E731
        first = array([ops.where(start > 0.5, a, b) for a, b in zip(fresh(start), q)])
        (q, error, _, _, _, number), count = native.until(iterate, (first, 1e30, 1e30, 0.0, 0.0, start), finish, most)
        return {"q": q, "error": error, "iterations": count, "starts": number - start}

    inputs = {"targets": (len(task.parts), 4, 4), "q": (n,), "start": (), "tolerance": (), "iterations": ()}
    return native.compile_function(solve, inputs, name=f"{robot.name}.ik_{method}")

r"""Following postures along a path of problems, in machine code: all paths side by side, each with its own step.

A problem is 31 numbers: the table (a, α, d, offset of six joints), a quaternion and a position. It moves as
:math:`P(t) = (1-t)P_0 + tP_1 + t(1-t)B` with a complex start P₀ and a complex bend B. The predictor extrapolates the last four points, the corrector is
Newton's method on the posture.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.ik.general.complex_pair import ComplexPair, pair, solve

NUMBERS = 31
FAR = 12.0  # imaginary part of an angle [rad] from which a posture counts as gone to infinity
FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 1e-3, 1e-8, 0.05
CLOSE = 1e-8  # last Newton step of a point that is accepted
STRAY = 0.02  # rad: how far the corrector may lead from the prediction
CORRECTIONS = 3
HISTORY = 4


def _cross(a: Any, b: Any) -> list[ComplexPair]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _target(numbers: list[ComplexPair]) -> list[list[ComplexPair]]:
    """Columns of the rotation of a quaternion of any complex length."""
    w, x, y, z = numbers
    s = (w * w + x * x + y * y + z * z).inverse() * 2.0
    one = ComplexPair(1.0)
    rows = [
        [one - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), one - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), one - s * (x * x + y * y)],
    ]
    return [[rows[i][j] for i in range(3)] for j in range(3)]


def newton_step(numbers: list[ComplexPair], q: list[ComplexPair]) -> list[ComplexPair]:
    """J⁻¹e of a posture q (6) of a problem (31)."""
    a, alpha, d, offset = (numbers[6 * k : 6 * k + 6] for k in range(4))
    columns: list[list[ComplexPair]] = [[ComplexPair(float(i == j)) for i in range(3)] for j in range(3)]
    p = [ComplexPair(0.0)] * 3
    axes, points = [], []
    for i in range(6):
        axes.append(columns[2])
        points.append(p)
        c, s = (q[i] + offset[i]).cos_sin()
        ca, sa = alpha[i].cos_sin()
        x = [c * u + s * v for u, v in zip(columns[0], columns[1])]
        y = [c * v - s * u for u, v in zip(columns[0], columns[1])]
        p = [r + a[i] * u + d[i] * w for r, u, w in zip(p, x, columns[2])]
        columns = [
            x,
            [ca * v + sa * w for v, w in zip(y, columns[2])],
            [ca * w - sa * v for v, w in zip(y, columns[2])],
        ]
    goal = _target(numbers[24:28])
    turn = [ComplexPair(0.0)] * 3  # vee((E − Eᵀ)/2) = ½ Σ r × g of the columns of R and R_d
    for r, g in zip(columns, goal):
        turn = [t + 0.5 * u for t, u in zip(turn, _cross(r, g))]
    e = [numbers[28 + k] - p[k] for k in range(3)] + turn
    J: list[list[ComplexPair]] = [[] for _ in range(6)]
    for h, x in zip(axes, points):
        for k, value in enumerate([*_cross(h, [u - v for u, v in zip(p, x)]), *h]):
            J[k].append(value)
    return solve(J, e)


def _pairs(values: Any) -> list[ComplexPair]:
    return [ComplexPair(v[0], v[1]) for v in values]


def _flat(values: list[ComplexPair]) -> np.ndarray:
    return np.array([[z.re, z.im] for z in values], dtype=object)


def _trace(start: Any, end: Any, bend: Any, q: Any, most: Any) -> Any:
    start, bend = _pairs(start), _pairs(bend)
    finish = [pair(x) for x in end]

    def numbers(t: Any) -> list[ComplexPair]:
        return [(1.0 - t) * a + t * b + (t * (1.0 - t)) * c for a, b, c in zip(start, finish, bend)]

    def advance(times: Any, points: Any, count: Any, step: Any, verdict: Any) -> Any:
        now = times[0]
        last = step >= 1.0 - now
        then = ops.where(last, 1.0, now + step)
        guess = _extrapolated(times, points, count, then)
        problem = numbers(then)

        def correct(_: Any, q: Any, size: Any) -> Any:
            del size
            dq = newton_step(problem, _pairs(q))
            largest: Any = 0.0
            for z in dq:
                largest = ops.maximum(largest, z.square())
            return _flat([u + v for u, v in zip(_pairs(q), dq)]), ops.sqrt(largest)

        (found, size), _, _ = native.repeat(correct, (guess, 1.0), CORRECTIONS)
        stray: Any = 0.0
        wide: Any = 0.0
        for u, v in zip(np.ravel(found), np.ravel(guess)):
            stray = ops.maximum(stray, ops.abs(u - v))
        for row in points[0]:
            wide = ops.maximum(wide, ops.abs(row[1]))
        good = (size < CLOSE) & (stray < STRAY)
        shifted_t = np.array([then, *times[:-1]], dtype=object)
        shifted_q = np.concatenate([found[None], points[:-1]])
        times = ops.where(good, shifted_t, times)
        points = ops.where(good, shifted_q, points)
        count = ops.where(good, ops.minimum(count + 1.0, float(HISTORY)), count)
        grown = ops.minimum(step * ops.where(stray < 0.1 * STRAY, 2.0, 1.0), LARGEST_STEP)
        step = ops.where(good, grown, 0.3 * step)
        gone = (step < SMALLEST_STEP) | (wide > FAR)
        verdict = ops.where(good & last, 1.0, ops.where(gone, 2.0, 0.0))
        return times, points, count, step, verdict

    points = np.array([np.asarray(q, dtype=object)] * HISTORY, dtype=object)
    times = np.array([0.0] * HISTORY, dtype=object)
    done = lambda *state: state[-1] > 0.5  # noqa: E731
    (_, points, _, _, verdict), count = native.until(advance, (times, points, 1.0, FIRST_STEP, 0.0), done, most)
    return {"q": points[0], "verdict": verdict, "steps": count}


def _extrapolated(times: Any, points: Any, count: Any, then: Any) -> np.ndarray:
    """Newton's divided differences through the last ``count`` points, at ``then``."""
    table = [points[k] for k in range(HISTORY)]
    total, weight = points[0], 1.0
    for order in range(1, HISTORY):
        known = count > order + 0.5
        fresh = []
        for k in range(HISTORY - order):
            gap = times[k] - times[k + order]
            fresh.append((table[k] - table[k + 1]) * (1.0 / ops.where(gap > 0.0, gap, 1.0)))
        table = fresh
        weight = weight * (then - times[order - 1])
        total = total + ops.where(known, weight, 0.0) * table[0]
    return total


@lru_cache(maxsize=1)
def path_kernel() -> native.Kernel:
    """``kernel(start (31, 2), end (31,), bend (31, 2), q (6, 2), most)`` → q (6, 2), verdict (1 arrived, 2 lost), steps."""
    inputs = {"start": (NUMBERS, 2), "end": (NUMBERS,), "bend": (NUMBERS, 2), "q": (6, 2), "most": ()}
    return native.compile_function(_trace, inputs, name="follow_6r")

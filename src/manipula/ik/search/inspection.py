r"""All branches of a closed form in one piece of machine code: found, turned into the limits, judged by forward kinematics, put in order.

A list of branches is *ordinary* when none of them is singular, inexact, or beside another one; then it is complete and nothing
more needs to be known. How regular a posture is says a bound from below of :math:`(s_n/s_1)^2` of its Jacobian: with :math:`G=J^TJ` the other
singular values give at most :math:`s_1^2\cdots s_{n-1}^2\le(\mathrm{tr}\,G/(n-1))^{n-1}`, so
:math:`s_n^2\ge\det G\,((n-1)/\mathrm{tr}\,G)^{n-1}`. Two postures within :data:`TWINS` of each other in every joint have
:math:`|f_i-f_j|\le\mathrm{TWINS}\sum_k|w_k|` for every :math:`f=\sum_k w_k\,(\cos q_k, \sin q_k)`; where one such f differs by more they
are no twins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.identity import identity
from manipula.ik.targets import ORTHOGONAL
from manipula.ik.task import Task
from manipula.physics.mechanism import mechanism_of

if TYPE_CHECKING:
    from manipula.ik.search.analytic import Analytic

SINGULAR = 1e-4  # singular value of J against the largest, below which a direction counts as free
REGULAR = SINGULAR**2
TWINS = 1e-3  # rad or m between postures that an engineer would take for one
UNEVEN = (0.6180339887498949, 0.41421356237309515)  # their multiples spread evenly between 0 and 1
NONE = 1e30  # cost of a branch that does not exist or is outside the limits


def compile_best(analytic: Analytic, task: Task, *parameter: float) -> native.Kernel:
    """``kernel(target, near)`` → the branch nearest to a posture within the limits, and its residual; infinite when there is none."""
    mechanism = mechanism_of(analytic.robot)

    def best(target: Any, near: Any) -> dict[str, Any]:
        chosen, least = array([math.nan] * analytic.robot.n), NONE
        for q, cost, reached in _branches(analytic, target, near, *parameter):
            better = reached & (cost < least)
            chosen = array([ops.where(better, a, b) for a, b in zip(q, chosen)])
            least = ops.where(better, cost, least)
        residual = task.residual(mechanism, chosen, _pose(target)[None])
        exists = (least < NONE) & _is_pose(target)
        return {"q": chosen, "residual": ops.where(exists, residual, math.inf)}

    return _kernel(best, analytic, (task, *parameter), "ik_best", {})


def compile_all(analytic: Analytic, task: Task, active: Task) -> native.Kernel:
    """``kernel(target, near, tolerance)`` → all branches (branches, n) within the limits, in order, their residuals, and how many there
    are: 0 when there is none, or when the list is not ordinary."""
    mechanism, n = mechanism_of(analytic.robot), analytic.robot.n

    def every(target: Any, near: Any, tolerance: Any) -> dict[str, Any]:
        found = []
        fine, targets = _is_pose(target), _pose(target)[None]
        for q, cost, reached in _branches(analytic, target, near):
            residual, here = task.residual(mechanism, q, targets), reached & (cost < NONE)
            _, J, _ = active.error_and_jacobian(mechanism, q, targets)
            fine = fine & (~reached | (_regularity(J) > REGULAR)) & (~here | (residual <= tolerance))
            found.append((here, q, residual))
        marks = [_marks(analytic, q) for _, q, _ in found]
        order = [[ops.floor(1e6 * x + 0.5) for x in q] for _, q, _ in found]
        rank: list[Any] = [0.0] * len(found)
        for j in range(len(found)):
            for i in range(j):
                here = found[i][0] & found[j][0]
                fine = fine & (~here | _apart(marks[i], marks[j], n))
                first = _before(order[i], order[j])
                rank[j] = rank[j] + ops.where(here & first, 1.0, 0.0)
                rank[i] = rank[i] + ops.where(here & ~first, 1.0, 0.0)
        rows = [[math.nan] * (n + 1) for _ in found]
        for (here, q, residual), place in zip(found, rank):
            for k, row in enumerate(rows):
                mine = here & (place == float(k))
                rows[k] = [ops.where(mine, a, b) for a, b in zip([*q, residual], row)]
        count = sum(ops.where(here, 1.0, 0.0) for here, _, _ in found)
        return {
            "q": array([row[:n] for row in rows]),
            "residual": array([row[n] for row in rows]),
            "count": ops.where(fine, count, 0.0),
        }

    return _kernel(every, analytic, (task, active), "ik_all", {"tolerance": ()})


def _kernel(f: Any, analytic: Analytic, made_of: tuple[Any, ...], name: str, more: dict[str, tuple]) -> native.Kernel:
    target = (3,) if analytic.positions else (4, 4)
    parts = identity(analytic.solver._made_of, analytic.robot.bare, analytic.joint_box.hard.tolist(), *made_of)
    known = None if analytic.solver._made_of is None else parts
    inputs = {"target": target, "near": (analytic.robot.n,), **more}
    return native.kernel_of(f, inputs, f"{analytic.robot.name}.{name}", known)


def _branches(analytic: Analytic, target: Any, near: Any, *parameter: float) -> list[tuple[np.ndarray, Any, Any]]:
    """Every branch turned as near to a posture as the limits allow, its distance from it, and whether it reaches the target."""
    out = []
    for row in analytic.solver.postures(target, *parameter):
        q, cost = analytic.turned(row, near)
        out.append((q, cost, analytic.solver.reached(q, target)))
    return out


def _pose(target: Any) -> np.ndarray:
    """A target as a pose, of which a position says the last column only."""
    if np.ndim(target) == 2:
        return np.asarray(target, object)
    out = np.eye(4).astype(object)
    out[:3, 3] = target
    return out


def _is_pose(target: Any) -> Any:
    """Is the rotation part a rotation, and the last row 0 0 0 1?"""
    if np.ndim(target) == 1:
        return ops.abs(target[0] + target[1] + target[2]) < math.inf
    X = np.asarray(target, object)
    R = X[:3, :3]
    wrong = [*np.ravel(R @ R.T - np.eye(3)), R[0] @ np.cross(R[1], R[2]) - 1.0, *(X[3] - np.eye(4)[3])]
    largest: Any = 0.0
    for x in wrong:
        largest = ops.maximum(largest, ops.abs(x))
    return largest <= ORTHOGONAL


def _regularity(J: Any) -> Any:
    """The bound from below of (s_n/s_1)² above; det G by elimination."""
    G, n = np.array(J.T @ J, object), J.shape[1]
    trace = sum(G[i, i] for i in range(n))
    share, regular = (n - 1.0) / trace, 1.0 / trace
    for k in range(n):
        regular = regular * G[k, k] * (share if k else 1.0)
        inverse = 1.0 / G[k, k]
        for i in range(k + 1, n):
            factor = G[i, k] * inverse
            for j in range(i, n):
                G[i, j] = G[i, j] - factor * G[j, k]
                G[j, i] = G[i, j]
    return regular


def _marks(analytic: Analytic, q: Any) -> list[Any]:
    """Two sums f that tell postures apart; their weights are at most 1 and have no pattern."""
    parts: list[Any] = []
    for x, turning in zip(q, analytic.turning):
        parts += [ops.cos(x), ops.sin(x)] if turning else [x]
    return [sum((0.5 + 0.5 * ((k + 1) * step % 1.0)) * part for k, part in enumerate(parts)) for step in UNEVEN]


def _apart(a: list[Any], b: list[Any], joints: int) -> Any:
    """Is it certain that two postures are no twins?"""
    gap = ops.maximum(ops.abs(a[0] - b[0]), ops.abs(a[1] - b[1]))
    return gap > TWINS * 2.0 * joints


def _before(a: list[Any], b: list[Any]) -> Any:
    """Does a come before b, compared entry after entry?"""
    first: Any = a[-1] < b[-1]
    for x, y in zip(a[-2::-1], b[-2::-1]):
        first = (x < y) | ((x == y) & first)
    return first

r"""A list of tasks with strict priorities under torque control, within the limits of joints or motors.

.. math:: \tau = M\ddot q^* + C\dot q + g\;(+\;\tau_f),\qquad \ddot q^* = \text{the answer of the hierarchy } J_k\ddot q = b_k + 2k\dot e_k + k^2e_k

Without bounds the freedom that the tasks leave is resolved in the metric of M, :math:`\min(\ddot q - z)^TM(\ddot q - z)`: the dynamically
consistent null space of [Khatib 1987], with :math:`z = -k\dot q + \bar m M^{-1}c` and the gradient c of the secondary criteria, which acts as a
torque there (see ``OperationalSpace``). With bounds the unknowns are the accelerations (limits of position and speed,
``redundancy/tasks/priorities.py``) or the torques (limits of effort), and their own length is what is made small. With both, torques keep their limits
always, and the bounds of motion are broken as little as possible where the torques do not suffice to keep them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cholesky, solve_spd, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, FrictionCompensation, Space, Target
from manipula.errors import DescriptionError
from manipula.parts.field import Choice, Number, Parts
from manipula.redundancy.arm import Arm
from manipula.redundancy.hierarchy import SIZE, Level, Solution, solve, solve_between
from manipula.redundancy.null_space import Criterion, combined
from manipula.redundancy.tasks.base import ArmTask
from manipula.redundancy.tasks.priorities import (
    FREE,
    acceleration_bounds,
    check_bounds_act,
    check_followed,
    check_shared,
    checked_tasks,
    decided_tasks,
    levels_of,
)

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

GIVING = 1e-5  # what bounds of motion give way where torques do not suffice (``redundancy/quadratic_program.py``)
APPROACH = 20.0  # 1/s
FORGETTING = 10.0  # 1/s, how fast what is remembered follows an error that jumps


@dataclass(frozen=True)
class TaskPriorities(Controller):
    """Tasks in strict order: none disturbs one of a smaller number, whatever it asks for."""

    tasks: Annotated[tuple[ArmTask, ...], Parts("task", "what the arm is to do")]
    bounds: Annotated[
        str,
        Choice(
            "hard bounds: none, the stated limits of position and speed, those of effort, or all of them",
            "none",
            "motion",
            "torque",
            "motion and torque",
        ),
    ] = "none"
    approach: Annotated[
        Any,
        Number("1/s", "κ: how fast a joint may come near its limit under bounds of motion; 20 when omitted", above=0.0),
    ] = None
    null_damping: Annotated[Any, Number("1/s", "damping of the freedom that is left", least=0.0)] = 0.0
    criteria: Annotated[tuple[Criterion, ...], Parts("criterion", "secondary criteria, below all tasks")] = ()
    friction: FrictionCompensation = True
    name: ClassVar[str] = "task_priorities"
    space: ClassVar[Space] = "task"
    follows_orientation: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.approach is not None and "motion" not in self.bounds:
            raise DescriptionError(
                f'It says how joints come near bounds of motion; with bounds = "{self.bounds}" it would never act.',
                field="approach",
            )

    @property
    def goal(self) -> Any:
        """What it holds without a reference: itself, when no task follows one."""
        return None if any(t.follows for t in self.tasks) else self.tasks or None

    def facing(self, arm: Arm, reference: Trajectory) -> Controller:
        check_followed(checked_tasks(self.tasks, "controller.tasks"), reference, "controller.tasks")
        check_shared(self.tasks, "controller.tasks")
        if "motion" in self.bounds:
            check_bounds_act(arm.robot, "controller.bounds")
        missing = [j.name for j in arm.robot.joints if not j.limits.effort]
        if "torque" in self.bounds and missing:
            raise DescriptionError(f"No effort limit is stated for {', '.join(missing)}.", field="controller.bounds")
        return dataclasses.replace(self, tasks=decided_tasks(self.tasks, arm, "controller.tasks"))

    def states(self, n: int) -> int:
        return sum(t.states for t in self.tasks)

    def _remembered(self, state: Vector | None) -> dict[int, Any]:
        """What is remembered of every task's error, by the task's identity."""
        out, at = {}, 0
        for t in self.tasks:
            out[id(t)] = state[at : at + t.states] if t.states and state is not None and len(state) else None
            at += t.states
        return out

    def state_at(self, arm: Arm, q: Vector, qd: Vector, target: Target | None) -> Vector:
        turned = [t for t in self.tasks if t.states]
        if not turned or target is None:
            return self.initial_state(arm)
        return array(np.concatenate([t.rows(arm, q, qd, target).e[-t.states :] for t in turned]))

    def state_rate(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        near, out = self._remembered(state), []
        for task in self.tasks:
            if task.states:
                found = task.rows(arm, q, qd, target, near[id(task)])
                e, rate = found.e[-task.states :], found.rate[-task.states :]
                out += list(rate + FORGETTING * (e - near[id(task)]))
        return array(out) if out else np.zeros(0)

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return self._solved(arm, q, qd, target, state)[0]

    def signals(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> dict[str, Any]:
        """``task_bounds``: 1 where the bounded least squares reached their minimum; ``task_margin``: 0 where the first priority is singular."""
        found = self._solved(arm, q, qd, target, state)[1]
        return {"task_bounds": found.optimal, "task_margin": found.margin}

    def _solved(self, arm: Arm, q: Vector, qd: Vector, target: Target, state: Vector) -> tuple[np.ndarray, Solution]:
        near = self._remembered(state)
        levels = levels_of(self.tasks, lambda task: task.acceleration(arm, q, qd, target, near[id(task)]))
        damped = not (isinstance(self.null_damping, float) and self.null_damping == 0.0)
        slope = combined(self.criteria, arm, q, qd) if self.criteria else zeros(arm.n)
        braked = array(-self.null_damping * qd) if damped else zeros(arm.n)
        approach = APPROACH if self.approach is None else self.approach
        rubbing = arm.friction(qd) if self.friction else np.zeros(arm.n)
        if self.bounds == "torque":
            M, h = arm.mass_matrix(q), arm.nonlinear_effects(q, qd)
            inverse = array(solve_spd(M, np.eye(arm.n)))
            levels = [Level(array(v.J @ inverse), array(v.b + v.J @ array(inverse @ h)), v.damping) for v in levels]
            most = np.array([float(j.limits.effort) for j in arm.robot.joints])
            mean = np.trace(M) * (1.0 / arm.n)
            wanted = array(mean * mean * (inverse @ slope) + M @ braked + h)
            found = solve(levels, wanted, (array(-most - rubbing), array(most - rubbing)))
            return array(found.x + rubbing), found
        if self.bounds == "motion and torque":
            M, h = arm.mass_matrix(q), arm.nonlinear_effects(q, qd)
            found = _within_all(arm, q, qd, levels, array(slope + braked), approach, M, array(h + rubbing))
            tau, most = array(M @ found.x + h + rubbing), [float(j.limits.effort) for j in arm.robot.joints]
            return array([ops.minimum(ops.maximum(v, -m), m) for v, m in zip(tau, most)]), found
        if self.bounds == "motion":
            found = solve(levels, array(slope + braked), acceleration_bounds(arm, q, qd, approach))
        else:
            found = _consistent(arm, q, levels, slope, braked)
        return array(arm.inverse_dynamics(q, qd, found.x) + rubbing), found


def _within_all(
    arm: Arm, q: Vector, qd: Vector, levels: list[Level], wanted: Vector, approach: Scalar, M: np.ndarray, h: Vector
) -> Solution:
    r"""Accelerations with :math:`-\tau^+ \le M\ddot q + h \le \tau^+` always, and within the bounds of motion as far as these torques allow it."""
    n = arm.n
    most = np.array([float(j.limits.effort) for j in arm.robot.joints])
    low, high = acceleration_bounds(arm, q, qd, approach)
    bounded = [i for i in range(n) if not (_is_free(low[i]) and _is_free(high[i]))]
    C = np.concatenate([(np.eye(n)[bounded] / SIZE).astype(object), array([M[i] * (1.0 / most[i]) for i in range(n)])])
    share = array(h * (1.0 / most))
    below = [-np.inf if _is_free(low[i]) else low[i] * (1.0 / SIZE) for i in bounded] + list(-1.0 - share)
    above = [np.inf if _is_free(high[i]) else high[i] * (1.0 / SIZE) for i in bounded] + list(1.0 - share)
    return solve_between(levels, wanted, C, below, above, [GIVING] * len(bounded) + [0.0] * n)


def _is_free(bound: Scalar) -> bool:
    return isinstance(bound, float) and abs(bound) >= FREE


def _consistent(arm: Arm, q: Vector, levels: list[Level], slope: Vector, braked: Vector) -> Solution:
    r"""The hierarchy in the metric of :math:`M = GG^T`: unknowns :math:`G^T\ddot q`, rows :math:`JG^{-T}`.

    The criteria's gradient is a torque, times the mean inertia: in this metric only then does the projection lower their cost.
    """
    M = arm.mass_matrix(q)
    G = cholesky(M)
    turned = [Level(array(_forward(G, v.J.T).T), v.b, v.damping) for v in levels]
    push = np.trace(M) * (1.0 / arm.n) * slope
    found = solve(turned, array(_forward(G, array(push)[:, None])[:, 0] + G.T @ braked))
    return found._replace(x=_backward(G, found.x))


def _forward(G: np.ndarray, B: np.ndarray) -> np.ndarray:
    """G⁻¹B of a lower triangular G, B (n, k)."""
    out = zeros(*B.shape)
    for i in range(len(G)):
        row = B[i]
        for k in range(i):
            row = row - G[i, k] * out[k]
        out[i] = row / G[i, i]
    return array(out)


def _backward(G: np.ndarray, b: Vector) -> np.ndarray:
    """G⁻ᵀb of a lower triangular G, b (n,)."""
    n = len(G)
    out = zeros(n)
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, n):
            total = total - G[k, i] * out[k]
        out[i] = total / G[i, i]
    return array(out)

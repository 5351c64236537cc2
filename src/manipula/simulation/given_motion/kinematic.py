r"""Kinematic closed loop: resolved motion rate with null-space criteria, no dynamics in the loop.

.. math:: \dot q = J^+\left(\dot x_d + k(x_d - x)\right) + (1 - J^+J)\,z

Where the reference says how the tool is turned, the rows of its orientation error stand below those of the position
(:mod:`manipula.redundancy.orientation`): both errors then decay as :math:`e^{-kt}`, whatever their size.

Accelerations are the exact time derivative of this law along its own motion; torques follow from inverse dynamics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.jet import Jet
from manipula.algebra.linear import array
from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError
from manipula.identity import identity, is_own
from manipula.model import Model
from manipula.motion.pose_motion import COORDINATES, PoseMotion
from manipula.redundancy.arm import Arm
from manipula.redundancy.hierarchy import Solution, solve
from manipula.redundancy.null_space import combined
from manipula.redundancy.orientation import turn_error, turn_target
from manipula.redundancy.pseudoinverse import null_space_times, pseudoinverse_times
from manipula.redundancy.tasks.base import TaskTarget
from manipula.redundancy.tasks.priorities import decided_tasks, levels_of, rate_bounds
from manipula.simulation.given_motion.joint_motion import JointMotion, conditions
from manipula.simulation.integrators import FIXED
from manipula.simulation.loops.loop import ReferenceTable
from manipula.simulation.plant_of_scenario import turn_of
from manipula.simulation.progress import phase
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import MOST_PARTS, RATIO, WHOLE, Grid, first_after, halved, margin, stage_times
from manipula.simulation.stepping.instants import table_marks
from manipula.simulation.stepping.verification import compare, shrinkage

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory

SAME = 1e-7  # of a rate and 1: rounding of one that divides by small differences
APPROACH = 20.0  # 1/s: κ of the bounds of position
PROBES = 4  # postures around the start at which somebody's criteria are compared with themselves


def law(s: Scenario, arm: Arm, q: Any, x: Any, v: Any) -> np.ndarray:
    """Joint rates at posture q for a target position x and velocity v: of the task's coordinates, then of a quaternion if the arm is turned."""
    if s.tasks:
        return tasks_law(s, arm, q, x, v).x
    rows = list(arm.task)
    k = len(rows)
    if arm.turn == "free":
        J = arm.task_jacobian(q)
        rate = pseudoinverse_times(J, array(v + s.gain * (x - arm.position(q)[rows])))
    else:
        whole = arm.jacobian(q)
        target = turn_target(x[k:], v[k:], 0.0 * v[k:])
        axis = arm.turn_axes[0] if arm.turn == "angle" else None
        turn = turn_error(arm.turn, arm.pose(q)[:3, :3], np.zeros(3), target, axis=axis)
        J = array(np.concatenate([whole[rows], turn.rows @ whole[3:]]))
        wanted = [*(v[:k] + s.gain * (x[:k] - arm.position(q)[rows])), *(turn.drift + s.gain * turn.e)]
        rate = pseudoinverse_times(J, array(wanted))
    if s.criteria:
        rate = rate + null_space_times(J, combined(s.criteria, arm, q))
    return array(rate)


def tasks_law(s: Scenario, arm: Arm, q: Any, x: Any, v: Any) -> Solution:
    """Joint rates of a list of tasks with strict priorities, criteria in what they leave free, within bounds where they are asked for."""
    nothing = np.zeros(3)
    turn = turn_target(x[3:], v[3:], 0.0 * v[3:]) if len(x) > 3 else None
    target = TaskTarget(x[:3], v[:3], nothing, turn)
    levels = levels_of(s.tasks, lambda task: task.velocity(arm, q, target))
    z = combined(s.criteria, arm, q) if s.criteria else np.zeros(arm.n)
    return solve(levels, z, rate_bounds(arm, q, APPROACH) if s.bounds == "motion" else None)


def kernels(s: Scenario) -> tuple[native.Kernel, native.Kernel]:
    """The compiled loop over q and the observer that gives qd, qdd at a sample."""
    s, arm = _decided(s)
    rows = task_rows(arm) if not s.tasks else list(range(3 if arm.turn == "free" else COORDINATES))
    n = s.robot.n
    method = FIXED[s.integrator]
    width = 3 if arm.turn == "free" else COORDINATES
    shapes: dict[str, tuple[Any, ...]] = {"q": (n,), "breaks": ("m+1",), "coefficients": ("m", width, 6)}
    grid: dict[str, tuple[Any, ...]] = {"times": ("s",), "marks": ("k+1",), "ends": ("k", 1), "samples": ()}

    def target(breaks: Any, coefficients: Any) -> Any:
        table = native.table(breaks, coefficients)
        first, second = table.derivative(), table.derivative(2)
        return lambda t: (table(t)[rows], first(t)[rows], second(t)[rows])

    def loop(
        q: Any, breaks: Any, coefficients: Any, times: Any, marks: Any, ends: Any, samples: Any, h: Any, ratio: Any
    ) -> Any:
        at, after = target(breaks, coefficients), first_after(marks, ends)

        def part(goal: Any, t: Any, y: Any, i: Any, half: Any) -> Any:
            border = (i + 1.0) * h
            end = ops.minimum(ops.minimum(goal, border), after(t))
            stop, half = halved(t, end, half, ratio)
            inside = stage_times(t, stop - t)
            y = method.step(lambda t, y: law(s, arm, y, *at(inside(t))[:2]), t, y, stop - t, 0)
            return stop, y, ops.where((half < 0.5) & (end >= border - margin(border)), i + 1.0, i), half

        def step(k: Any, *state: Any) -> Any:
            goal = native.lookup(times, k + 1.0)
            there = lambda t, *_: t >= goal - margin(goal)  # noqa: E731
            return native.until(lambda *now: part(goal, *now), state, there, MOST_PARTS).state

        done = native.repeat(step, (0.0, q, 0.0, 0.0), samples, record=lambda k, t, y, *_: y)
        return {"samples": done.samples, "last": done.state[1]}

    def observe(q: Any, breaks: Any, coefficients: Any, t: Any) -> Any:
        x, v, a = target(breaks, coefficients)(t)
        if s.tasks:
            found = tasks_law(s, arm, q, x, v)
            qdd = native.time_derivative(found.x, {t: 1.0, **dict(zip(q, found.x))})
            return {"qd": found.x, "qdd": array(qdd), "optimal": found.optimal, "margin": found.margin}
        qd = law(s, arm, q, x, v)
        moving = lambda value, rate: np.array([Jet([c, r]) for c, r in zip(value, rate)], dtype=object)  # noqa: E731
        along = law(s, arm, moving(q, qd), moving(x, v), moving(v, a))
        qdd = array([y.derivative(1) if isinstance(y, Jet) else 0.0 for y in along])
        return {"qd": qd, "qdd": qdd}

    read = s.robot, s.criteria, s.gain, s.tasks, s.bounds, arm.turn  # by ``law``
    parts = identity(*read, method, Arm)
    run = native.kernel_of(
        loop, {**shapes, **grid, "h": (), "ratio": ()}, f"{s.robot.name}.kinematic", parts,
        ("breaks", "coefficients", *grid),
    )  # fmt: skip
    look = native.kernel_of(
        observe, {**shapes, "t": ()}, f"{s.robot.name}.kinematic_observer", parts, ("breaks", "coefficients")
    )
    return run, look


def _decided(s: Scenario) -> tuple[Scenario, Arm]:
    """The scenario with its tasks decided for its robot, and the arm with as much orientation as the table of its reference."""
    if not s.tasks:
        return s, Arm(s.robot).facing(turn_of(s))
    arm = Arm(s.robot)
    turned = "full" if getattr(s.reference, "has_orientation", False) else "free"
    return s.replace(tasks=decided_tasks(s.tasks, arm)), arm.facing(turned)


def task_rows(arm: Arm) -> list[int]:
    """Rows of a table of the tip that the law follows: coordinates that the arm can move, and the quaternion if it is turned."""
    return [*arm.task, *(range(3, COORDINATES) if arm.turn != "free" else ())]


def table_of(reference: Trajectory) -> ReferenceTable:
    """A task reference as a table: the tip's coordinates, and a quaternion where it says how the tool is turned."""
    if getattr(reference, "has_orientation", False):
        return ReferenceTable.of(PoseMotion(reference), COORDINATES)
    return ReferenceTable.of(reference, 3)


def check_kinematic(s: Scenario) -> None:
    """Can resolved rates be integrated along this reference, with this method?"""
    if s.reference is None or s.reference.space != "task":
        raise DescriptionError("A kinematic run follows a task reference.", field="reference")
    if s.integrator not in FIXED:
        raise DescriptionError(
            f"A kinematic run takes fixed steps: {', '.join(FIXED)}; found '{s.integrator}'.", field="integrator"
        )


def run_kinematic(s: Scenario, q0: np.ndarray, t: np.ndarray | None = None) -> JointMotion:
    """The motion of a kinematic run at times t (its samples), (N, S, n), and the error estimate of a repetition with divided steps."""
    check_kinematic(s)
    table = table_of(s.reference)
    run, look = kernels(s)
    _check_criteria(s, look, table, q0[0])
    phase("integrating")
    t = s.times if t is None else t
    free = np.full(s.robot.n, np.inf)
    grid = Grid.of(t, table_marks(table.breaks, table.coefficients), -free, free)
    given = table.breaks, table.coefficients, t, grid.marks, grid.ends, grid.intervals, s.step
    q, _ = run(q0, *given, WHOLE)
    estimate, agreed = float("nan"), float("nan")
    if s.verify:
        phase("verifying")
        fine, _ = run(q0, *given, RATIO)
        estimate, agreed = compare(q, fine, t, s.tolerance, shrinkage(FIXED[s.integrator].order))
    after, before = (look(q, table.breaks, table.coefficients, t - side) for side in (0.0, 2.0 * margin(t)))
    if s.tasks:
        served = np.asarray(after[2]) > 0.5
        left = np.where(served, np.asarray(after[3]), np.nan)  # a minimum that was not reached is no motion
        return JointMotion(t, np.asarray(q), after[0], after[1], before[:2], estimate, left, True, agreed)
    J = _task_jacobians(s, q)
    return JointMotion(t, np.asarray(q), after[0], after[1], before, estimate, conditions(J), True, agreed)


def _task_jacobians(s: Scenario, q: np.ndarray) -> np.ndarray:
    """The rows that the rates were solved with, (..., S, k, n)."""
    arm, J = Arm(s.robot).facing(turn_of(s)), Model(s.robot).jacobian(q)
    if arm.turn == "angle":
        return np.concatenate([J[..., list(arm.task), :], np.asarray(arm.turn_axes, float) @ J[..., 3:, :]], axis=-2)
    return J[..., [*arm.task, *((3, 4, 5) if arm.turn == "full" else ())], :]


def _check_criteria(s: Scenario, look: native.Kernel, table: ReferenceTable, q0: np.ndarray) -> None:
    """Somebody's criteria, compiled and in Python, must be the same functions; code that looks at types may be two."""
    if is_own(s.criteria, s.tasks):
        return
    s, arm = _decided(s)
    rows = task_rows(arm) if not s.tasks else list(range(table.coefficients.shape[1]))
    x, v = (table.coefficients[0, rows, k] for k in (0, 1))
    for offset in 0.1 * Scattered(0).uniform(-1.0, 1.0, (PROBES, s.robot.n)):
        found = np.asarray(look(q0 + offset, table.breaks, table.coefficients, table.breaks[0])[0], float)
        own = np.asarray(law(s, arm, q0 + offset, x, v), float)
        if np.any((np.abs(found - own) > SAME * (1.0 + np.abs(own))) & np.isfinite(own)):
            raise DescriptionError(
                "Compiled they give other rates than in Python (do they catch exceptions, or look at types?); write them with "
                "manipula.algebra.ops.",
                field="criteria",
            )

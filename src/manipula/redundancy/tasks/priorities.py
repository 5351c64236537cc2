r"""A list of tasks as levels of a hierarchy, and the limits of the joints as bounds on rates or accelerations.

A joint keeps its range :math:`[q^-, q^+]` and its speed :math:`v` under

.. math:: \max(-v, \kappa(q^- - q)) \le \dot q \le \min(v, \kappa(q^+ - q)),\qquad
          \kappa\max(-v - \dot q, \kappa(q^- - q) - 2\dot q) \le \ddot q \le \kappa\min(v - \dot q, \kappa(q^+ - q) - 2\dot q):

the first makes :math:`q^+ - q` decay no faster than :math:`e^{-\kappa t}`, the second is the same for :math:`q^+ - q - \dot q/\kappa`, which a joint keeps
positive that began so. The lower bound never passes the upper one inside the range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, printable
from manipula.redundancy.arm import Arm
from manipula.redundancy.hierarchy import Level
from manipula.redundancy.tasks.base import ArmTask
from manipula.robot.robot import Robot

FREE = 1e12  # rad/s, m/s and per s²: the bound of a joint without a limit


def checked_tasks(tasks: Any, field: str = "tasks") -> tuple[ArmTask, ...]:
    """A list of tasks, at least one.

    Raises:
        DescriptionError: for anything else.
    """
    if not len(tasks):
        raise DescriptionError("A list of tasks needs at least one.", field=field)
    for task in tasks:
        if not isinstance(task, ArmTask):
            raise DescriptionError(
                f"A task extends redundancy.tasks.ArmTask; found {printable(repr(task), 60)}.", field=field
            )
    return tuple(tasks)


def check_shared(tasks: Sequence[ArmTask], field: str = "tasks") -> None:
    """Does every weight and every damping act? Weights count among tasks of one priority, which share one damping.

    Raises:
        DescriptionError: for a weight of a task that is alone in its priority, or dampings of which only the larger one would act.
    """
    for i, task in enumerate(tasks):
        others = [t for t in tasks if t is not task and _plain(t.priority) == _plain(task.priority)]
        weight, damping = _plain(task.weight), _plain(task.damping)
        if weight not in (None, 1.0) and not others:
            raise DescriptionError(
                f"A weight of {weight:g} counts among tasks of the same priority; this one is alone in priority {task.priority:g}, so that it "
                "would never act.",
                field=f"{field}[{i}].weight",
            )
        if damping and any(_plain(t.damping) not in (None, 0.0, damping) for t in others):
            raise DescriptionError(
                f"Tasks of one priority are solved together, with one damping; those of priority {task.priority:g} have different ones.",
                field=f"{field}[{i}].damping",
            )


def _plain(value: Any) -> float | None:
    """A number as it is given; none where it is another scalar."""
    return float(value) if isinstance(value, (int, float)) else None


def decided_tasks(tasks: Sequence[ArmTask], arm: Arm, field: str = "tasks") -> tuple[ArmTask, ...]:
    """The tasks with everything that depends on the arm decided.

    Raises:
        DescriptionError: with the place in the list of a task that does not fit the arm.
    """
    out = []
    for i, task in enumerate(tasks):
        try:
            out.append(task.decided(arm))
        except DescriptionError as error:
            own = f".{error.field}" if error.field else ""
            raise type(error)(error.problem, field=f"{field}[{i}]{own}") from None
    return tuple(out)


def check_followed(tasks: Sequence[ArmTask], reference: Any, field: str = "tasks") -> None:
    """Does somebody follow what the reference says, and does it say what they follow?

    Raises:
        DescriptionError: when not.
    """
    turned = getattr(reference, "has_orientation", False)
    for i, task in enumerate(tasks):
        if task.follows and reference is None:
            raise DescriptionError(
                f"The task '{task.name}' has no goal and there is no reference to follow.", field=f"{field}[{i}].goal"
            )
        if task.follows and task.follows_turn and not turned:
            raise DescriptionError(
                f"The task '{task.name}' follows the orientation of the reference, which does not say how the tool is turned; give it a goal.",
                field=f"{field}[{i}].goal",
            )
    if reference is not None and not any(t.follows for t in tasks):
        raise DescriptionError(
            "No task follows the reference: all have goals of their own. Leave it out.", field="reference"
        )
    if turned and not any(t.follows and t.follows_turn for t in tasks):
        raise DescriptionError(
            "The reference says how the tool is turned, and no task follows that: add a task 'frame_orientation' or 'frame_pose'.",
            field="reference.orientation",
        )


def levels_of(tasks: Sequence[ArmTask], rows: Callable[[ArmTask], tuple[np.ndarray, np.ndarray]]) -> list[Level]:
    """Tasks by priority, those of one priority together: :math:`\\sqrt{w}J` below each other."""
    levels = []
    for priority in sorted({float(t.priority) for t in tasks}):
        together = [t for t in tasks if float(t.priority) == priority]
        found = [(t, *rows(t)) for t in together]
        J = np.concatenate([_weighted(t, J) for t, J, _ in found])
        b = np.concatenate([_weighted(t, b) for t, _, b in found])
        damping: Scalar = found[0][0].damping
        for t in together[1:]:
            damping = ops.maximum(damping, t.damping)
        levels.append(Level(array(J), array(b), damping))
    return levels


def _weighted(task: ArmTask, values: np.ndarray) -> np.ndarray:
    one = isinstance(task.weight, float) and task.weight == 1.0
    return values if one else array(ops.sqrt(task.weight) * values)


def rate_bounds(arm: Arm, q: Vector, approach: Scalar) -> tuple[np.ndarray, np.ndarray]:
    """l and u of the joint rates."""
    low, high = [], []
    for (below, above), v, x in zip(arm.robot.position_limits, _speeds(arm.robot), q):
        low.append(_greatest([-v], [approach * (float(below) - x)] if np.isfinite(below) else []))
        high.append(_least([v], [approach * (float(above) - x)] if np.isfinite(above) else []))
    return array(low), array(high)


def acceleration_bounds(arm: Arm, q: Vector, qd: Vector, approach: Scalar) -> tuple[np.ndarray, np.ndarray]:
    """l and u of the joint accelerations."""
    low, high = [], []
    for (below, above), v, x, xd in zip(arm.robot.position_limits, _speeds(arm.robot), q, qd):
        slow = [] if v >= FREE else [approach * (-v - xd)]
        fast = [] if v >= FREE else [approach * (v - xd)]
        near = [approach * (approach * (float(below) - x) - 2.0 * xd)] if np.isfinite(below) else []
        far = [approach * (approach * (float(above) - x) - 2.0 * xd)] if np.isfinite(above) else []
        low.append(_greatest([-FREE], [*slow, *near]))
        high.append(_least([FREE], [*fast, *far]))
    return array(low), array(high)


def check_bounds_act(robot: Robot, field: str) -> None:
    """Refuse bounds of motion where no joint states a limit of position or speed."""
    if not np.isfinite(np.asarray(robot.position_limits, float)).any() and all(v >= FREE for v in _speeds(robot)):
        raise DescriptionError(
            f"No joint of '{robot.name}' states a limit of position or speed: these bounds would never act.",
            field=field,
        )


def _speeds(robot: Robot) -> list[float]:
    return [float(j.limits.velocity) if j.limits.velocity else FREE for j in robot.joints]


def _greatest(first: list[Any], more: list[Any]) -> Scalar:
    out = first[0]
    for v in more:
        out = ops.maximum(out, v)
    return out


def _least(first: list[Any], more: list[Any]) -> Scalar:
    out = first[0]
    for v in more:
        out = ops.minimum(out, v)
    return out

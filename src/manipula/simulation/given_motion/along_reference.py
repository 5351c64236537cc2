r"""Joint motion along a reference: of joints, or of the tip (positions by inverse kinematics, rates from the Jacobian).

.. math:: J\dot q = v,\qquad J\ddot q = a - \dot J\dot q

over the rows that the arm can move (x, y, z and the turn about z for a SCARA). A redundant arm follows the resolved rates
:math:`\dot q = J^+v` and their exact derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import DescriptionError, SolveError
from manipula.ik.search.driver import compile_errors, compile_residual
from manipula.ik.solve import solve_ik
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.ik.tracking.continuation import follow, poses_along
from manipula.ik.tracking.track import track
from manipula.model import Model
from manipula.motion.oriented import has_orientation
from manipula.motion.paths.base import Side
from manipula.simulation.given_motion.joint_motion import JointMotion, conditions
from manipula.simulation.given_motion.kinematic import run_kinematic
from manipula.simulation.given_motion.reach import reference_until
from manipula.simulation.initial_posture import restored
from manipula.simulation.scenario import Scenario
from manipula.simulation.stepping.grid import margin

if TYPE_CHECKING:
    from manipula.motion.trajectory import OrientedTrajectory

STANDING = 1e-6  # m or rad: a posture further away does not stand on the start of the reference


MISSED = 1e-8  # m or rad, ten times what the inverse kinematics leaves


def along_joints(s: Scenario, t: np.ndarray) -> JointMotion:
    """The motion of a joint reference."""
    reference: OrientedTrajectory = s.reference
    after, before = (np.asarray(reference.derivatives(t, 2, side), float) for side in ("right", "left"))
    return JointMotion(t, after[0], after[1], after[2], (before[1], before[2]), float("nan"), np.ones(len(t)))


def along_task(s: Scenario, t: np.ndarray) -> JointMotion:
    """The motion along a task reference, starting with q0 or with solution number ``ik_solution``."""
    reference: OrientedTrajectory = s.reference
    turned = has_orientation(reference)
    task = movable(s.robot, Task.of("pose" if turned else "position"))
    if task is None:
        raise DescriptionError(f"No joint of '{s.robot.name}' moves its tip.", field="reference")
    q0 = first_posture(s)
    rows = list(task.parts[0][1])
    if s.robot.n > len(rows):
        return _redundant(s, t, q0, turned, rows)
    errors = compile_errors(s.robot, task)
    q = follow(errors, lambda at: poses_along(reference, at), t, q0)
    if turned:
        _check_turn(s, t, q)
    model = Model(s.robot)
    J = model.jacobian(q)[:, rows]

    def rates(side: Side) -> tuple[np.ndarray, np.ndarray]:
        d = reference.derivatives(t, 2, side)
        v, a = np.zeros((len(t), 6)), np.zeros((len(t), 6))
        v[:, :3], a[:, :3] = d[1][:, :3], d[2][:, :3]
        if turned:
            at = t if side == "right" else np.maximum(t - 4.0 * margin(t), 0.0)
            v[:, 3:], a[:, 3:] = reference.angular_velocity(at), reference.angular_acceleration(at)
        qd = _solved(J, v[:, rows])
        return qd, _solved(J, a[:, rows] - (model.jacobian_rate(q, qd)[:, rows] @ qd[:, :, None])[:, :, 0])

    return JointMotion(t, q, *rates("right"), rates("left"), float("nan"), conditions(J))


def _check_turn(s: Scenario, t: np.ndarray, q: np.ndarray) -> None:
    """Is the tool turned as the reference says, also about axes that no joint of this arm turns it about?"""
    missed = np.asarray(compile_residual(s.robot, Task.of("pose"))(poses_along(s.reference, t), q), float)
    worst = int(np.argmax(missed))
    if missed[worst] > MISSED:
        raise SolveError(
            f"The tool of '{s.robot.name}' cannot be turned as the reference says: at t = {t[worst]:.6g} s "
            f"{missed[worst]:.2g} rad or m remain.",
            q[worst],
        )


def _solved(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    """J x = b for every sample; least squares where there are more rows than joints."""
    if J.shape[-1] == J.shape[-2]:
        try:
            return np.linalg.solve(J, b[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            pass
    return (np.linalg.pinv(J) @ b[:, :, None])[:, :, 0]


def first_posture(s: Scenario) -> np.ndarray:
    """The posture in which a run starts: q0, projected where that is asked for, or a solution of the inverse kinematics."""
    turned = has_orientation(s.reference)
    task: Any = movable(s.robot, Task.of("pose" if turned else "position"))
    target = poses_along(s.reference, 0.0)[0]
    if s.q0 is not None:
        q0 = np.asarray(s.q0, float)
        errors = compile_errors(s.robot, task)
        if s.start == "project":

            def rows_at(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                e, J, _ = errors(target, q)
                return np.asarray(J), -np.asarray(e)

            q0 = restored(s.robot, rows_at, q0, STANDING)[0]
        missed = float(errors(target, q0)[2])
        if missed > STANDING:
            raise DescriptionError(
                f"The start of the reference is {missed:.3g} m or rad away from the tip at q0; leave q0 out, or give "
                "start = 'project' to move it there by the smallest change of joints.",
                field="q0",
            )
        return q0
    found = solve_ik(s.robot, target[0] if turned else target[0, :3, 3], all_solutions=True)
    if found.status != "solved":
        raise SolveError(f"The reference's start is not reachable: {found.reason}", found)
    if not 0 <= s.ik_solution < len(found.q):
        raise DescriptionError(
            f"Solution {s.ik_solution} is asked for, but the start of the reference has {len(found.q)} (numbered from 0).",
            field="ik_solution",
        )
    return found.q[s.ik_solution]


def _redundant(s: Scenario, t: np.ndarray, q0: np.ndarray, turned: bool, rows: list[int]) -> JointMotion:
    if turned:
        found = track(
            s.robot, reference_until(s.reference, float(s.duration or 0.0)), q0=q0, criteria=s.criteria
        ).check()
        after, before = (np.asarray(found.trajectory.derivatives(t, 2, side), float) for side in ("right", "left"))
        condition = conditions(Model(s.robot).jacobian(after[0])[:, rows])
        return JointMotion(t, after[0], after[1], after[2], (before[1], before[2]), float("nan"), condition)
    method = "rk4" if s.integrator == "auto" else s.integrator
    return run_kinematic(s.replace(integrator=method), np.array([q0]), t).member(0)

r"""Joint motion along a task reference: positions by inverse kinematics, rates from the Jacobian.

.. math:: J\dot q = v,\qquad J\ddot q = a - \dot J\dot q

over the rows that the arm can move (x, y, z and the turn about z for a SCARA). A redundant arm follows the resolved rates
:math:`\dot q = J^+v` and their exact derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.errors import DescriptionError, SolveError
from manipula.ik.continuation import follow, has_orientation, poses_along
from manipula.ik.driver import compile_errors, compile_residual
from manipula.ik.solve import solve_ik
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.model import Model
from manipula.simulation.scenario import Scenario

MISSED = 1e-8  # m or rad, ten times what the inverse kinematics leaves


def along_task(s: Scenario, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd (S, n) along the reference of a scenario, starting with its q0 or with solution number ``elbow``."""
    reference: Any = s.reference
    turned = has_orientation(reference)
    task = movable(s.robot, Task.of("pose" if turned else "position"))
    if task is None:
        raise DescriptionError(f"No joint of '{s.robot.name}' moves its tip.", field="reference")
    q0 = _first(s, turned)
    rows = list(task.parts[0][1])
    if s.robot.n > len(rows):
        return _redundant(s, t, q0, turned)
    errors = compile_errors(s.robot, task)
    q = follow(errors, lambda at: poses_along(reference, at), t, q0)
    if turned:
        _check_turn(s, t, q)
    d = reference.derivatives(t, 2)
    v, a = np.zeros((len(t), 6)), np.zeros((len(t), 6))
    v[:, :3], a[:, :3] = d[1][:, :3], d[2][:, :3]
    if turned:
        v[:, 3:], a[:, 3:] = reference.angular_velocity(t), reference.angular_acceleration(t)
    model = Model(s.robot)
    J = model.jacobian(q)[:, rows]
    qd = _solved(J, v[:, rows])
    rate = (model.jacobian_rate(q, qd)[:, rows] @ qd[:, :, None])[:, :, 0]
    return q, qd, _solved(J, a[:, rows] - rate)


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


def _first(s: Scenario, turned: bool) -> np.ndarray:
    if s.q0 is not None:
        return np.atleast_2d(np.asarray(s.q0, float))[0]
    target = poses_along(s.reference, 0.0)[0, 0]
    found = solve_ik(s.robot, target if turned else target[:3, 3], all_solutions=True)
    if found.status != "solved":
        raise SolveError(f"The reference's start is not reachable: {found.reason}", found)
    if not 0 <= s.elbow < len(found.q):
        raise DescriptionError(
            f"Solution {s.elbow} is asked for, but the start of the reference has {len(found.q)} (numbered from 0).",
            field="elbow",
        )
    return found.q[s.elbow]


def _redundant(s: Scenario, t: np.ndarray, q0: np.ndarray, turned: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if turned:
        from manipula.ik.track import track

        found = track(s.robot, s.reference, q0=q0, criteria=s.criteria).check()
        d = found.trajectory.derivatives(t, 2)
        return d[0], d[1], d[2]
    from manipula.simulation.kinematic import run_kinematic

    fixed = s if s.integrator not in ("auto", "dopri5", "dop853", "rodas") else s.replace(integrator="rk4")
    done = run_kinematic(fixed, np.array([q0]))
    return done["q"][0], done["qd"][0], done["qdd"][0]

"""Where the tip goes: inverse kinematics for a dragged tip, and the reference of a run along its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array
from manipula.algebra.expression import parse
from manipula.analysis.manipulability import manipulability
from manipula.errors import DescriptionError, ShapeError
from manipula.ik.solve import solve_ik
from manipula.model import model_of
from manipula.physics.mechanism import mechanism_of
from manipula.redundancy.arm import Arm
from manipula.simulation.programmed.constraint import values_at
from manipula.simulation.programmed.scenario import ProgramScenario
from manipula.studio import documents
from manipula.studio.runs import RunStore
from manipula.studio.wire import to_json

POINTS = 400  # of a path that is looked at
POSTURES = 64  # of all solutions that are listed


def ik(runs: RunStore, document: Any, target: Any, q: Any = None, every: Any = False) -> dict[str, Any]:
    """Joints that bring the tip to a position (3) or a pose (4 × 4), near ``q``; with ``every`` all postures."""
    robot = documents.numeric_robot_from_document(document)
    wanted = finite_array(target, "target")
    if wanted.shape not in ((3,), (4, 4)):
        raise ShapeError(f"A target is a position (3) or a pose (4 × 4), found shape {wanted.shape}.")
    start = None if q is None else finite_array(q, "q")
    # a planar arm is dragged in its plane
    rows = tuple("xyz"[k] for k in Arm(robot).task) if wanted.shape == (3,) else None
    found = solve_ik(robot, wanted, q0=start, all_solutions=every is True, rows=rows)
    postures = np.atleast_2d(found.q)[:POSTURES]
    return to_json({
        "q": postures[0] if len(postures) else None, "postures": postures, "ok": found.ok, "status": found.status, "reason": found.reason,
        "residual": found.residual, "method": found.method,
    })  # fmt: skip


def path(runs: RunStore, document: Any) -> dict[str, Any]:
    """The reference of a document: points of the tip or the joints, speeds, and for task motions where the arm reaches it and how well it can move there."""
    robot, reference, q0 = documents.reference_from_document(document)
    t = np.linspace(0.0, float(reference.duration), POINTS)
    points = reference.position(t)
    out: dict[str, Any] = {
        "space": reference.space, "t": t, "points": points, "velocity": reference.velocity(t), "duration": reference.duration,
        "breaks": reference.breaks,
    }  # fmt: skip
    model = model_of(robot.numeric)
    if reference.space == "joint":
        return to_json(out | {"tip": model.position(points), "reached": np.ones(len(t), bool)})
    poses = getattr(reference, "pose", None)
    wanted = poses(t) if poses is not None and reference.has_orientation else points
    start = None if q0 is None else np.atleast_2d(np.asarray(q0, float))[0]
    found = solve_ik(model, wanted, q0=start)
    reached = np.asarray(found.status) == "solved"
    lost = np.flatnonzero(~reached)
    out |= {"q": found.q, "reached": reached, "manipulability": manipulability(model, found.q).manipulability}
    if len(lost):
        out["reason"] = f"t = {t[lost[0]]:.4g} s: {np.asarray(found.reason)[lost[0]]}"
    return to_json(out)


def residual(runs: RunStore, document: Any, q: Any) -> dict[str, Any]:
    """How far a posture is from the programmed constraints on position: the value of each formula, 0 where it is obeyed."""
    scenario = documents.scenario_from(document)
    if not isinstance(scenario, ProgramScenario):
        raise DescriptionError("The document has no programmed constraints.", field="program")
    robot, at = scenario.robot.numeric, finite_array(q, "q")
    if at.shape != (robot.n,):
        raise ShapeError(f"q has one number per joint, shape ({robot.n},); found {at.shape}.")
    known = values_at(mechanism_of(robot), frozenset(), at, None, None, 0.0, dict(scenario.parameters or {}))
    rows = []
    for c in scenario.motion.constraints:
        if isinstance(c.formula, str) and c.level == "position":
            rows.append({"equation": c.equation, "value": float(parse(c.formula).evaluate(known))})
        else:
            rows.append({"equation": c.equation, "value": None})
    return to_json({"constraints": rows})


VERBS = {"ik": ik, "path": path, "residual": residual}

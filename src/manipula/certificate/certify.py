"""``certify(robot)``: every route to the equations of one robot, compared with each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.certificate import comparison
from manipula.certificate.certificate import DISAGREES, NOT_RUN, Certificate, CertifiedRow
from manipula.certificate.comparison import ACCELERATION, error, tolerance
from manipula.certificate.exported_code import EXPORTED, ToolMissingError
from manipula.certificate.free_runs import METHOD as OF_FREE_RUNS
from manipula.certificate.free_runs import energy_rows
from manipula.certificate.identities import LAWS, Laws
from manipula.certificate.mujoco import MUJOCO
from manipula.certificate.newton_euler import NewtonEuler, frame_of
from manipula.certificate.own_routes import OWN, Certified, Route
from manipula.certificate.pinocchio import PINOCCHIO
from manipula.certificate.states import random_states
from manipula.certificate.surroundings import machine, now, versions
from manipula.errors import DescriptionError, ManipulaError, printable
from manipula.model import Model
from manipula.robot.robot import Robot

ALL_ROUTES: tuple[Route, ...] = (*OWN, *EXPORTED, PINOCCHIO, MUJOCO)
TERMS = 20_000  # of M in closed form: what is derived and compiled within seconds
Progress = Callable[[str], None]


def certify(
    robot: Robot | Model, *, states: int = 20, seed: int = 0, limit: int = TERMS, progress: Progress | None = None
) -> Certificate:
    """How far the routes to the equations of ``robot`` differ, and whether the laws of mechanics hold in them.

    Lagrange by matrices and by symbols, composite and articulated bodies, machine code (one state, batch, interpreter), exported C,
    JavaScript and Python, Pinocchio and MuJoCo are compared with Newton–Euler on plain floats at random states within the limits; what
    is not installed, or too large, is reported as not run.

    Args:
        states: how many random states, 2 to 10 000. seed: they are drawn from.
        limit: number of terms of M up to which the closed form is derived.
        progress: called with what comes next.

    Raises:
        DescriptionError: no robot, free parameters without a value, no joint.
    """
    if isinstance(robot, Model):
        robot = robot.robot
    if not isinstance(robot, Robot):
        raise DescriptionError(f"certify() takes a Robot, found {type(robot).__name__}; read a file with load(...).")
    robot = robot.numeric
    if robot.n == 0:
        raise DescriptionError(
            f"Robot '{printable(robot.name, 60)}' has no moving joint, so there is nothing to certify."
        )
    count, seed = whole_number(states, "states", 2, 10_000), whole_number(seed, "seed", 0, 2**63 - 1)
    limit = whole_number(limit, "limit", 0, 10**9)
    tell = progress or (lambda _: None)
    drawn = random_states(robot, count, seed)
    tell("Newton–Euler")
    case = Certified(robot, drawn, NewtonEuler(robot, drawn), frame_of(robot), limit)
    rows: list[CertifiedRow] = []
    if case.reference.singular:
        rows.append(CertifiedRow.left_out("routes", "Newton–Euler", ACCELERATION, case.reference.singular))
    for route in ALL_ROUTES:
        tell(route.name)
        rows += _compared(case, route)
    tell("laws of mechanics")
    rows += _laws(case)
    tell("free motion")
    rows += energy_rows(case)
    method = (*comparison.METHOD, OF_FREE_RUNS)
    return Certificate(
        robot.name, robot.digest, _kind(robot), tuple(rows), count, seed, method, now(), versions(), machine()
    )


def _compared(case: Certified, route: Route) -> list[CertifiedRow]:
    """One row per quantity of a route that the reference has too."""
    reference = case.reference.answers
    wanted = [q for q in route.quantities if q in reference]
    size = comparison.scales(reference)
    try:
        ways: Any = route.ways(case)
    except Exception as problem:
        return [_left_out("routes", route.name, q, problem, route.ours) for q in wanted]
    rows = []
    for quantity in wanted:
        if quantity not in ways:
            continue
        try:
            found = np.asarray(_numbers(ways[quantity]()), float)
        except Exception as problem:
            rows.append(_left_out("routes", route.name, quantity, problem, route.ours))
            continue
        gap = error(found, reference[quantity], size[quantity])
        allowed = tolerance(quantity, case.robot.n, case.reference.condition)
        rows.append(CertifiedRow.of("routes", route.name, quantity, gap, allowed, len(case.states)))
    return rows


def _numbers(found: Any) -> Any:
    """Arrays of objects that hold floats as floats."""
    return [np.asarray(row, float) for row in found] if isinstance(found, list) else found


def _laws(case: Certified) -> list[CertifiedRow]:
    laws, rows = Laws(case), []
    for name, (law, divides) in LAWS.items():
        if divides and case.reference.singular:
            rows.append(CertifiedRow.left_out("identities", "laws", name, case.reference.singular))
            continue
        try:
            gap, allowed = law(laws)
        except Exception as problem:
            rows.append(_left_out("identities", "laws", name, problem, True))
            continue
        rows.append(CertifiedRow.of("identities", "laws", name, gap, allowed, len(laws.s)))
    return rows


def _left_out(group: str, route: str, quantity: str, problem: Exception, ours: bool) -> CertifiedRow:
    """A refusal of ours, or whatever another program says, leaves a row out; a failure of our own route is a disagreement."""
    refused = isinstance(problem, ManipulaError) and not (ours and _is_failure(problem))
    told = str(problem) if refused else f"It says: {problem}" if not ours else f"{type(problem).__name__}: {problem}"
    why = printable(" ".join(told.split()), 600)
    return CertifiedRow.left_out(group, route, quantity, why, NOT_RUN if refused or not ours else DISAGREES)


def _is_failure(problem: Exception) -> bool:
    """Did exported code not compile or not run, although its tool is there?"""
    return isinstance(problem, ToolMissingError) and problem.failed


def _kind(robot: Robot) -> str:
    turning = sum(j.is_revolute for j in robot.joints)
    words = [f"{turning} revolute" if turning else "", f"{robot.n - turning} prismatic" if robot.n - turning else ""]
    kind = f"{' and '.join(filter(None, words))} joint{'s' if robot.n > 1 else ''}"
    parts = {"coupled joints": bool(robot.followers), "a payload": robot.payload is not None, "branches": not robot.is_chain and not robot.followers,
             "friction": any(j.friction is not None for j in robot.joints), "drives": any(j.drive is not None for j in robot.joints)}  # fmt: skip
    has = [name for name, there in parts.items() if there]
    return f"{kind} with {', '.join(has)}" if has else kind

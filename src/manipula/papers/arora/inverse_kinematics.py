"""Every method of inverse kinematics that the paper surveys, by name, on its arm [Arora]."""

from __future__ import annotations

import time

import numpy as np

import manipula as mp
from manipula.errors import DescriptionError
from manipula.papers.base import CheckedRow, PaperSection, PaperTable, Words, agreement
from manipula.papers.printed import printed
from manipula.robot.robot import Robot

SURVEYED = (
    ("newton_raphson", "Newton–Raphson [6]"), ("optimisation", "optimisation, nonlinear programming [7, 8]"), ("ccd", "cyclic coordinate descent [9]"),
    ("pseudoinverse", "pseudoinverse, resolved motion rate [10]"), ("continuation", "continuation [5]"), ("elimination", "symbolic elimination [4]"),
    ("geometric", "algebraic and geometric closed forms [2, 3]"),
)  # fmt: skip
TARGETS = ((2.0, 2.0), (1.0, 2.0), (1.0, 1.0), (2.0, 1.0))
TOLERANCE = 1e-8


def comparison(robot: Robot, quick: bool) -> PaperSection:
    """Solved or not, iterations, residual and time for the corners of the square; refusals with their reason; closed forms of the arm with two joints held."""
    model = mp.compile(robot)
    q0 = np.radians([float(x) for x in printed("arora")["table_5_1"]["angle"]])
    limits = np.radians([float(x) for x in printed("arora")["table_5_1"]["limit"]])
    cells, rows = [], []
    for name, words in SURVEYED:
        found, reason, took = [], "", []
        for x, y in TARGETS:
            try:
                answer = mp.solve_ik(model, [x, y, 0.0], q0=q0, method=name)
                begin = time.perf_counter()
                answer = mp.solve_ik(model, [x, y, 0.0], q0=q0, method=name) if not quick else answer
                took.append(time.perf_counter() - begin)
            except DescriptionError as error:
                reason = error.args[0] if error.args else str(error)
                break
            found.append(answer)
        if reason:
            cells.append((words, name, "refused", "–", "–", "–"))
            rows.append(CheckedRow(f"{name}: refused with a reason", reason.partition(";")[0].removeprefix("method: "), 0.0, 0.0,
                                   remark="not applicable to five joints and a place in the plane; below with two joints "
                                          "held" if name == "geometric" else "it is a method for six revolute joints"))  # fmt: skip
            continue
        solved = sum(answer.status == "solved" for answer in found)
        off = max(float(np.abs(model.position(a.q)[:2] - t).max()) for a, t in zip(found, TARGETS))
        beyond = max(0.0, max(float((np.abs(a.q) - limits).max()) for a in found))
        iterations = ", ".join(str(int(answer.iterations)) for answer in found)
        one_call = "–" if quick else f"{1e6 * float(np.median(took)):.0f} µs"
        cells.append((words, name, f"{solved} of {len(TARGETS)}", iterations, f"{off:.1e}", one_call))
        rows.append(agreement(f"{name}: distance of the tip from the corners "
                              f"[m]", off, TOLERANCE, "forward kinematics, evaluated again", computed=f"{solved} of {len(TARGETS)} solved"))  # fmt: skip
        rows.append(agreement(f"{name}: beyond the joint limits [rad]", beyond, 0.0))
    rows += _held(robot, q0)
    head = ("*Method of the survey", "*Name here", "Solved", "Iterations", "Largest residual [m]", "Time of one call")
    blocks = (
        Words("The survey names closed forms (algebraic, geometric), elimination, continuation and iterations. Each runs by its name, `solve_ik(model, "
              "target, method=…)`, from the angles of Table 5.1 to the four corners of the square. "
              "Five joints and two coordinates leave three free: iterations find one posture of infinitely many, closed forms have nothing to solve for and "
              "refuse.".replace("`", "")),
        PaperTable(head, tuple(cells), "All surveyed methods on the 5-R arm"),
        Words("With joints 2 and 4 held at their angles the arm has three joints, and place and direction of the tip leave two postures, which the closed "
              "form finds both."),
    )  # fmt: skip
    return PaperSection("Inverse kinematics: the surveyed methods", blocks, tuple(rows))


def _held(robot: Robot, q0: np.ndarray) -> list[CheckedRow]:
    """The closed form on the arm with two joints held, against Newton–Raphson from many starts."""
    names = robot.joint_names
    held = robot.select(lock={names[1]: float(q0[1]), names[3]: float(q0[3])})
    model = mp.compile(held)
    target = model.pose(q0[[0, 2, 4]])
    exact = mp.solve_ik(model, target, method="geometric", all_solutions=True)
    rng = np.random.default_rng(0)
    limits = np.array([float(joint.limits.upper) for joint in held.joints])
    seen: list[np.ndarray] = []
    for start in rng.uniform(-1.0, 1.0, (24, 3)) * limits:
        answer = mp.solve_ik(model, target, q0=start, method="newton_raphson")
        if answer.status == "solved" and not any(np.abs(answer.q - q).max() < 1e-6 for q in seen):
            seen.append(answer.q)
    worst = max(float(np.abs(model.pose(q) - target).max()) for q in exact.q)
    missed = max((min(float(np.abs(q - e).max()) for e in exact.q) for q in seen), default=np.inf)
    return [
        agreement("geometric, joints 2 and 4 held: pose of every posture found", worst, 1e-12, computed=f"{len(exact.q)} postures"),
        agreement("geometric, joints 2 and 4 held: the angles of Table 5.1 are among them "
                  "[rad]", min(float(np.abs(q - q0[[0, 2, 4]]).max()) for q in exact.q), 1e-9),
        agreement("geometric, joints 2 and 4 held: postures that Newton–Raphson finds from 24 starts are among them "
                  "[rad]", missed, 1e-6, computed=f"{len(seen)} found"),
    ]  # fmt: skip

"""All postures for one target: closed forms, completed by many starts, duplicates removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.ik.search.analytic import Branches
from manipula.ik.search.driver import SOLVED
from manipula.ik.search.joint_box import JointBox
from manipula.ik.search.starts import RELAXED

if TYPE_CHECKING:
    from manipula.ik.solver import Solver

SAME = 1e-5  # rad or m: postures nearer than this are one
BATCH = 256  # starts a round
ROUNDS = 16
QUIET = 3  # rounds without a new posture after which the list counts as complete
MOST = 64  # postures kept of a continuum


class Enumerated(NamedTuple):
    """The different solutions of one target and how they were found."""

    q: np.ndarray
    residual: np.ndarray
    iterations: int
    reason: str
    method: str


def difference(a: np.ndarray, b: np.ndarray, turning: np.ndarray) -> np.ndarray:
    """Joint differences with whole turns taken out."""
    d = a - b
    return d - turning * (2 * np.pi) * np.round(d * (0.5 / np.pi))


def joint_distances(q: np.ndarray, turning: np.ndarray) -> np.ndarray:
    """Largest joint difference between every two postures of q (k, n), (k, k); infinite on the diagonal."""
    out = np.abs(difference(q[:, None], q[None], turning)).max(axis=2, initial=0.0)
    out.flat[:: len(q) + 1] = np.inf
    return out


def distinct(q: np.ndarray, turning: np.ndarray, known: list[np.ndarray], same: float = SAME) -> int:
    """Append to ``known`` the postures of q (k, n) that are new; how many were."""
    if not known and len(q) and joint_distances(q, turning).min() > same:
        known.extend(q)
        return len(q)
    new = 0
    for row in q:
        if not known or np.min(np.max(np.abs(difference(np.array(known), row, turning)), axis=1)) > same:
            known.append(row)
            new += 1
    return new


def enumerate_solutions(
    solver: Solver, targets: np.ndarray, exact: np.ndarray | None, tolerance: float, most: int | None, seed: int
) -> Enumerated:
    """Every distinct posture: the branches of a closed form, else what many starts arrive at."""
    robot = solver.robot
    turning = np.array([j.is_revolute for j in robot.joints])
    known: list[np.ndarray] = []
    redundant = robot.n > solver.active.size
    if exact is not None and len(exact) and solver.analytic is not None:
        good = np.asarray(solver.check(targets[None], exact), float) <= tolerance
        polished = not good.all()
        if polished:
            free = np.zeros(len(exact))
            better, _, _, verdict = solver.search.descend(targets[None], exact, free, tolerance * RELAXED, 40.0)
            good = (verdict == SOLVED) & (np.asarray(solver.check(targets[None], better), float) <= tolerance)
            exact = np.asarray(better, float)
        distinct(exact[good], turning, known)
        if known and (redundant or not polished):  # two branches beside each other may be polished to one
            q, residual = _sorted(solver, targets, known)
            words = "samples of a continuum: the arm is redundant" if redundant else solver.analytic.counted(len(q))
            return Enumerated(q, residual, 0, f"{len(q)} {words}.", solver.analytic.name)
    if known_general(solver):
        from manipula.ik.general import all_postures

        found = all_postures(robot, targets[0], solver.task.parts[0][0])
        q = Branches(robot, solver.limited).kept(found.q)
        q = q[np.asarray(solver.check(targets[None], q), float) <= tolerance] if len(q) else q
        if len(q):
            known.clear()  # what a closed form gave is among them, and exact here
            distinct(q, turning, known)
            q, residual = _sorted(solver, targets, known)
            sure = "elimination and search agree" if found.agreed else "found by elimination and search together"
            return Enumerated(q, residual, 0, f"{_postures(q)} ({sure}).", "general_6r")
    iterations, complete = _many_starts(solver, targets, known, turning, tolerance, most, seed, redundant)
    q, residual = _sorted(solver, targets, known)
    words = (
        f"{len(q)} samples of a continuum: the arm is redundant."
        if redundant
        else f"{_postures(q)} found from many starts."
    )
    if not complete:
        words = f"{words[:-1]}, of perhaps more: the search ended after {iterations} iterations."
    return Enumerated(q, residual, iterations, words, solver.numeric)


def _postures(q: np.ndarray) -> str:
    return "1 posture" if len(q) == 1 else f"{len(q)} postures"


def known_general(solver: Solver) -> bool:
    """Is it the pose of a chain of six revolute joints, for which elimination finds all postures?"""
    robot, parts = solver.robot, solver.task.parts
    return (
        robot.n == 6
        and robot.is_chain
        and all(j.is_revolute for j in robot.joints)
        and len(parts) == 1
        and len(parts[0][1]) == 6
        and solver.numeric == "levenberg_marquardt"
        and solver.automatic
    )


def _many_starts(
    solver: Solver, targets: Any, known: list[np.ndarray], turning: np.ndarray, tolerance: float, most: int | None,
    seed: int, redundant: bool,
) -> tuple[int, bool]:  # fmt: skip
    """Iterations used, and whether the search ended because it found nothing new."""
    from manipula.ik.search.starts import Search

    search = solver.search if isinstance(solver.search, Search) else solver.free or Search(solver.robot, solver.active)
    joint_box = JointBox(solver.robot, solver.limited)
    rng = np.random.default_rng(seed)
    quiet, total = 0, 0
    free = (np.arange(BATCH) % 2).astype(float)
    for _ in range(ROUNDS):
        start = rng.uniform(search.box[:, 0], search.box[:, 1], (BATCH, solver.robot.n))
        left = np.inf if most is None else most - total
        share = np.clip(left - search.rule.lifetime * np.arange(BATCH), 0.0, search.rule.lifetime)
        q, _, count, verdict = search.descend(targets[None], start, free, tolerance * RELAXED, share)
        total += int(np.sum(count))
        q = q[verdict == SOLVED]
        q = q[np.asarray(solver.check(targets[None], q), float) <= tolerance] if len(q) else q
        if len(q):
            q = np.array([joint_box.clipped(joint_box.home(row)) for row in q], float)
            q = q[np.asarray(solver.check(targets[None], q), float) <= tolerance]
        new = distinct(q, turning, known, 0.2 if redundant else SAME)
        if redundant and len(known) >= MOST:
            del known[MOST:]
            return total, True
        quiet = 0 if new or left < BATCH * search.rule.lifetime else quiet + 1
        if quiet >= QUIET:
            return total, True
        if most is not None and total >= most:
            break
    return total, False


def _sorted(solver: Solver, targets: np.ndarray, known: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Postures in a stable order, with their residuals."""
    if not known:
        return np.zeros((0, solver.robot.n)), np.zeros(0)
    q = np.array(known)
    q = q[np.lexsort(np.round(q, 6).T[::-1])]
    return q, np.atleast_1d(np.asarray(solver.check(targets[None], q), float))

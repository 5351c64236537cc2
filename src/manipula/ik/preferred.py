"""Which of all solutions: the one nearest to q0, or to the middle of the joint ranges."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from manipula.algebra.arguments import choice
from manipula.errors import DescriptionError
from manipula.ik.base import IkResult
from manipula.ik.search.continuum import continua
from manipula.ik.solver import FEW_ITERATIONS, MAX_ITERATIONS, Solver

PREFERENCES = ("middle", "nearest")
SAME = 1e-7  # rad or m: what is nearer by less is the same solution, found again


def checked_preference(prefer: Any, q0: Any) -> str | None:
    """The preference that was asked for.

    Raises:
        DescriptionError: an unknown word, or nearest to nothing.
    """
    if prefer is None:
        return None
    if choice(prefer, "prefer", PREFERENCES) == "nearest" and q0 is None:
        raise DescriptionError("The nearest solution is nearest to q0; give it.", field="prefer")
    return str(prefer)


def preferred(
    solver: Solver, prefer: str, targets: np.ndarray, q0: np.ndarray | None, every: bool, tolerance: float, most: int | None, seed: int
) -> IkResult:  # fmt: skip
    """Of all solutions for one target the preferred one, or all of them in that order; the largest joint difference counts.

    Where solutions form a continuum, those found are samples of it: what a search from the preferred posture itself reaches is among them.

    Args:
        targets: (parts, 4, 4). every: give all.
    """
    near = solver.unwound.middle if prefer == "middle" or q0 is None else q0
    found = solver.all(targets, near, tolerance, most, seed)
    if found.status != "solved":
        return found if every else dataclasses.replace(found, q=solver.one(targets, q0, tolerance, 1, seed).q, residual=np.inf, continuum=None)  # fmt: skip
    q = solver.unwound(found.q, near)
    if solver.every is None or found.continuum.any():
        own = _nearer(solver, targets, near, q, tolerance, most, seed)
        if own is not None:
            free, _ = continua(solver, targets, own[None], tolerance)
            residual, q = float(solver.check(targets, own)), np.concatenate([own[None], q])
            found = dataclasses.replace(
                found, residual=np.r_[residual, found.residual], continuum=np.r_[free, found.continuum]
            )
    order = np.argsort(np.max(np.abs(q - near), axis=1), kind="stable")
    if every:
        rows: Any = order
        return dataclasses.replace(found, q=q[rows], residual=found.residual[rows], continuum=found.continuum[rows])
    k = int(order[0])
    return dataclasses.replace(found, q=q[k], residual=float(found.residual[k]), continuum=None)


def _nearer(
    solver: Solver, targets: np.ndarray, near: np.ndarray, q: np.ndarray, tolerance: float, most: int | None, seed: int
) -> np.ndarray | None:
    """The solution of the posture ``near`` itself, as without a preference or by descent from there, if it is nearer than all of ``q``."""
    most = MAX_ITERATIONS if most is None else most
    plain = solver.one(targets, near, tolerance, most, seed)
    candidates = [plain.q] if plain.status == "solved" else []
    descended = solver.search.one(targets, near, tolerance, min(most, FEW_ITERATIONS), seed)
    if descended.solved and float(solver.check(targets, descended.q)) <= tolerance:
        candidates.append(np.asarray(descended.q, float))
    turned = [solver.unwound(own, near) for own in candidates]
    best = min(turned, key=lambda own: float(np.max(np.abs(own - near))), default=None)
    if best is None or np.max(np.abs(best - near)) > np.min(np.max(np.abs(q - near), axis=1)) - SAME:
        return None
    return best


def stacked(rows: list[IkResult]) -> IkResult:
    """Answers for single targets as one for a batch."""
    columns = (
        [getattr(r, name) for r in rows] for name in ("q", "status", "residual", "iterations", "reason", "method")
    )
    q, status, residual, iterations, reason, method = columns
    return IkResult(
        np.array(q), np.array(status, "<U13"), np.array(residual, float), np.array(iterations, int),
        np.array(reason, object), np.array(method, object), units=rows[0].units,
    )  # fmt: skip

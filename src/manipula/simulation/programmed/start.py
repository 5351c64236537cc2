"""The initial state of a programmed motion: on its constraints, which neither repeat nor contradict each other."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError
from manipula.physics.constrained import ConstraintRows
from manipula.simulation.initial_posture import amount, least_change, nearest
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.kernels import rows_at

CONSISTENT = 1e-9  # residual of the constraints below which an initial state counts as obeying them
NEAR = {True: 0.1, False: 0.05}  # rad (revolute), m: a start moved further is another posture, not a rounded one
DEPENDENT = 1e-9  # singular values of A (rows of length 1) below this make constraints redundant
ZERO = 1e-12
CONTRADICTION = 1e-6
INVOLVED = 1e-6  # of a combination of unit gradients: a constraint with less of it takes no part
TIMES = 9  # at which constraints that are redundant at the start are compared
ROUNDING = 1e-15
MOST = 60


class Start(NamedTuple):
    """The initial state on the constraints, and what the user should know about it."""

    x: np.ndarray
    notes: tuple[str, ...]


def consistent_start(
    plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray | None, start: str, duration: float = 0.0
) -> Start:
    """The initial state on the constraints, or an error that names what is wrong with it.

    Args:
        start: "near" moves a start that breaks the constraints by up to ``NEAR``, "project" by any distance, "refuse" not at all.
        qd: ``None`` takes the smallest velocities that the constraints allow.
        duration: of the run, in which constraints that are redundant at the start may part.
    """
    given = np.zeros(len(q)) if qd is None else qd
    rows = rows_at(plant, q, given, 0.0)
    check_gradients(plant, rows)
    off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
    if off.max() <= CONSISTENT:
        check_independent(plant, q, given, True, duration)
        return Start(np.asarray(plant.start(q, given), float), ())
    worst = int(np.argmax(off))
    said = f"The initial state breaks '{plant.constraints[worst].name}' by {off[worst]:.3g}"
    if start == "refuse":
        raise DescriptionError(f"{said}; start='project' moves it onto the constraints.", field="q0")
    moved = _posture(plant, q)
    found, left = _velocity(plant, moved, given)
    if not left.max() <= CONSISTENT:
        check_independent(plant, moved, found, False, duration)
        worst = int(np.nanargmax(left)) if np.isfinite(left).any() else worst
        raise DescriptionError(
            f"{said}, and no nearby posture obeys the constraints: '{plant.constraints[worst].name}' may be out of reach.",
            field="q0",
        )
    check_independent(plant, moved, found, True, duration)
    joint, size = _largest(plant, moved - q)
    if start != "project" and size > 1.0:
        raise DescriptionError(
            f"{said}. The nearest posture found that obeys the constraints moves joint {_amount(plant, joint, moved - q)}, "
            f"which is more than a rounded number explains: give q0 = [{', '.join(f'{v:.6g}' for v in moved)}], or "
            f"start = 'project' to accept it.",
            field="q0",
        )
    return Start(np.asarray(plant.start(moved, found), float), _notes(plant, moved - q, found - given, qd is not None))


def _largest(plant: ProgrammedPlant, change: np.ndarray) -> tuple[int, float]:
    """The joint that is moved most, in units of what counts as near."""
    size = [abs(d) / NEAR[j.is_revolute] for d, j in zip(change, plant.robot.joints)]
    return int(np.argmax(size)), float(np.max(size))


def _amount(plant: ProgrammedPlant, joint: int, change: np.ndarray, per: str = "") -> str:
    return amount(plant.robot, joint, float(change[joint])) + per


def _notes(plant: ProgrammedPlant, dq: np.ndarray, dv: np.ndarray, said: bool) -> tuple[str, ...]:
    out = []
    if np.abs(dq).max() > 0.0:
        joint, _ = _largest(plant, dq)
        out.append(
            f"The given start does not obey the constraints; it was moved onto them by the smallest change of joints found, "
            f"most of all joint {_amount(plant, joint, dq)}."
        )
    if np.abs(dv).max() > CONSISTENT:
        joint, _ = _largest(plant, dv)
        what = "The given velocities do" if said else "Rest at the start does"
        out.append(
            f"{what} not obey the constraints; the velocities were changed by the least amount, most of all that of joint "
            f"{_amount(plant, joint, dv, '/s')}."
        )
    return tuple(out)


def _posture(plant: ProgrammedPlant, given: np.ndarray, t: float = 0.0) -> np.ndarray:
    """The posture on the constraints that is closest to the given one."""
    holonomic = [k for k, c in enumerate(plant.constraints) if c.level == "position"]
    if not holonomic:
        return given
    still = np.zeros(len(given))

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = rows_at(plant, q, still, t)
        return found.A[holonomic], found.value[holonomic]

    return nearest(plant.robot, rows, given, CONSISTENT)[0]


def _velocity(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Velocities that obey the constraints, changed least, and what is left of every constraint."""
    moving = [k for k, c in enumerate(plant.constraints) if c.level != "acceleration"]
    best, found, off = np.inf, qd, np.full(len(plant.constraints), np.inf)
    for _ in range(MOST):
        rows = rows_at(plant, q, qd, t)
        left = np.maximum(np.abs(rows.value), np.abs(rows.rate))
        worst = float(left.max()) if np.isfinite(left).all() else np.inf
        if not worst < best:
            break
        best, found, off = worst, qd, left
        if best < ROUNDING or not moving or not np.isfinite(rows.A).all():
            break
        qd = qd - least_change(rows.A[moving], rows.rate[moving])
    return found, off


def check_gradients(plant: ProgrammedPlant, rows: ConstraintRows) -> None:
    """Constraints without a value, and idle ones, are named."""
    for k, size in enumerate(np.linalg.norm(rows.A, axis=1)):
        if not np.isfinite([size, rows.value[k], rows.b[k]]).all():
            raise DescriptionError(
                f"'{plant.constraints[k].name}' has no value or no gradient at the start posture.", field="q0"
            )
        if not size > ZERO:
            raise DescriptionError(
                f"'{plant.constraints[k].name}' does not restrict the joints at the start (its gradient is zero).",
                field="constraints",
            )


def check_independent(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray, obeyed: bool, duration: float) -> None:
    """Constraints whose gradients depend on each other at a start are named: redundant, contradictory, or dependent in this posture alone.

    Args:
        q, qd: the state that obeys the constraints, or comes closest to that. obeyed: does it?
    """
    rows = rows_at(plant, q, qd, 0.0)
    check_gradients(plant, rows)
    found = _dependent(rows.A)
    if found is None:
        return
    last, weight = found
    names = [repr(plant.constraints[k].name) for k in np.flatnonzero(weight)]
    told = f"The constraints {', '.join(names)}"
    if not _everywhere(plant, q):
        if not obeyed:
            return
        raise DescriptionError(
            f"The start posture is singular: the gradients of {', '.join(names)} depend on each other there (the arm is stretched "
            "out or folded), but not in postures close by; start in one of those.",
            field="q0",
        )
    scale = np.linalg.norm(rows.A, axis=1)
    parts = [np.asarray(v, float) / scale for v in (rows.value, rows.rate, rows.b)]
    if any(abs(float(weight @ v)) > CONTRADICTION * (1.0 + np.abs(v).max()) for v in parts):
        raise DescriptionError(f"{told} contradict each other at the start.", field="constraints")
    parted = _parted(plant, last, q, qd, duration)
    if parted is not None:
        raise DescriptionError(
            f"{told} agree at the start, but contradict each other at t = {parted:.6g} s.", field="constraints"
        )
    others = " and ".join(names[:-1])
    raise DescriptionError(
        f"{told} are redundant at the start: {plant.constraints[last].name!r} follows from {others}; leave it out.",
        field="constraints",
    )


def _dependent(A: np.ndarray) -> tuple[int, np.ndarray] | None:
    """The first row of A that depends on those before it, and the combination of unit rows that is zero, (m,); None: there is none."""
    unit = A / np.linalg.norm(A, axis=1)[:, None]
    for k in range(1, len(A)):
        U, sigma, _ = np.linalg.svd(unit[: k + 1], full_matrices=True)
        if sigma[-1] < DEPENDENT:
            weight = np.zeros(len(A))
            weight[: k + 1] = np.where(np.abs(U[:, -1]) > INVOLVED, U[:, -1], 0.0)
            return k, weight
    return None


def _everywhere(plant: ProgrammedPlant, q: np.ndarray) -> bool:
    """Do the gradients depend on each other around q as well: in any posture, or in those that obey the constraints?"""
    still, near = np.zeros(len(q)), 0.05 * Scattered(0).uniform(-1.0, 1.0, (3, len(q)))
    if all(_dependent(rows_at(plant, q + d, still, 0.0).A) for d in near):
        return True
    on = [_posture(plant, q + d) for d in near]
    return all(_dependent(rows_at(plant, there, still, 0.0).A) for there in on)


def _parted(plant: ProgrammedPlant, last: int, q: np.ndarray, qd: np.ndarray, duration: float) -> float | None:
    """When a constraint that follows from the others at the start does so no longer; None where no such time is found."""
    others = replace(plant, constraints=plant.constraints[:last] + plant.constraints[last + 1 :], traced={})
    for t in np.linspace(0.0, duration, TIMES)[1:]:
        q = _posture(others, q, float(t))
        qd, left = _velocity(others, q, qd, float(t))
        if not left.max() <= CONSISTENT:
            return None  # nobody knows: the others cannot be followed so far
        rows = rows_at(plant, q, qd, float(t))
        wanted = np.delete(rows.A, last, axis=0), np.delete(rows.b, last)
        off = (
            rows.value[last],
            rows.rate[last],
            (rows.A[last] @ least_change(*wanted) - rows.b[last]) / (1.0 + np.abs(rows.b).max()),
        )
        if np.abs(np.asarray(off, float)).max() > CONTRADICTION:
            return float(t)
    return None

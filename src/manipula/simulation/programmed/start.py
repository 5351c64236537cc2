"""The initial state of a programmed motion: on its constraints, which neither repeat nor contradict each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
ROUNDING = 1e-15
MOST = 60


class Start(NamedTuple):
    """The initial state on the constraints, and what the user should know about it."""

    x: np.ndarray
    notes: tuple[str, ...]


def consistent_start(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray | None, start: str) -> Start:
    """The initial state on the constraints, or an error that names what is wrong with it.

    Args:
        start: "near" moves a start that breaks the constraints by up to ``NEAR``, "project" by any distance, "refuse" not at all.
        qd: ``None`` takes the smallest velocities that the constraints allow.
    """
    given = np.zeros(len(q)) if qd is None else qd
    rows = rows_at(plant, q, given, 0.0)
    check_independent(plant, rows)
    off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
    if off.max() <= CONSISTENT:
        return Start(np.asarray(plant.start(q, given), float), ())
    worst = int(np.argmax(off))
    said = f"The initial state breaks '{plant.constraints[worst].name}' by {off[worst]:.3g}"
    if start == "refuse":
        raise DescriptionError(f"{said}; start='project' moves it onto the constraints.", field="q0")
    moved = _posture(plant, q)
    found, left = _velocity(plant, moved, given)
    if not left.max() <= CONSISTENT:
        worst = int(np.nanargmax(left)) if np.isfinite(left).any() else worst
        raise DescriptionError(
            f"{said}, and no nearby posture obeys the constraints: '{plant.constraints[worst].name}' may be out of reach.",
            field="q0",
        )
    check_independent(plant, rows_at(plant, moved, found, 0.0))
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


def _posture(plant: ProgrammedPlant, given: np.ndarray) -> np.ndarray:
    """The posture on the constraints that is closest to the given one."""
    holonomic = [k for k, c in enumerate(plant.constraints) if c.level == "position"]
    if not holonomic:
        return given
    still = np.zeros(len(given))

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = rows_at(plant, q, still, 0.0)
        return found.A[holonomic], found.value[holonomic]

    return nearest(plant.robot, rows, given, CONSISTENT)[0]


def _velocity(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities that obey the constraints, changed least, and what is left of every constraint."""
    moving = [k for k, c in enumerate(plant.constraints) if c.level != "acceleration"]
    best, found, off = np.inf, qd, np.full(len(plant.constraints), np.inf)
    for _ in range(MOST):
        rows = rows_at(plant, q, qd, 0.0)
        left = np.maximum(np.abs(rows.value), np.abs(rows.rate))
        worst = float(left.max()) if np.isfinite(left).all() else np.inf
        if not worst < best:
            break
        best, found, off = worst, qd, left
        if best < ROUNDING or not moving or not np.isfinite(rows.A).all():
            break
        qd = qd - least_change(rows.A[moving], rows.rate[moving])
    return found, off


def check_independent(plant: ProgrammedPlant, rows: ConstraintRows) -> None:
    """Redundant, contradictory and idle constraints are named."""
    scale = np.linalg.norm(rows.A, axis=1)
    for k, size in enumerate(scale):
        if not np.isfinite([size, rows.value[k], rows.b[k]]).all():
            raise DescriptionError(
                f"'{plant.constraints[k].name}' has no value or no gradient at the start posture.", field="q0"
            )
        if not size > ZERO:
            raise DescriptionError(
                f"'{plant.constraints[k].name}' does not restrict the joints at the start (its gradient is zero).",
                field="constraints",
            )
    U, sigma, _ = np.linalg.svd(rows.A / scale[:, None], full_matrices=True)
    if sigma[-1] >= DEPENDENT:
        return
    weight = np.abs(U[:, -1])
    names = [repr(plant.constraints[k].name) for k in np.flatnonzero(weight > 0.1 * weight.max())]
    parts = [np.asarray(v, float) / scale for v in (rows.value, rows.rate, rows.b)]
    against = any(abs(float(U[:, -1] @ v)) > CONTRADICTION * (1.0 + np.abs(v).max()) for v in parts)
    kind = "contradict each other" if against else "are redundant"
    if len(names) == 1:
        raise DescriptionError(f"The constraint {names[0]} cannot be obeyed at the start.", field="constraints")
    raise DescriptionError(f"The constraints {', '.join(names)} {kind} at the start.", field="constraints")

"""The initial state of a programmed motion: on the program, with constraints that neither repeat nor contradict each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.errors import DescriptionError
from manipula.physics.constrained import ConstraintRows
from manipula.simulation.initial_posture import amount, least_change, nearest
from manipula.simulation.programmed.equations import Program
from manipula.simulation.programmed.kernels import rows_at

CONSISTENT = 1e-9  # residual of the program below which an initial state counts as obeying it
NEAR = {True: 0.1, False: 0.05}  # rad (revolute), m: a start moved further is another posture, not a rounded one
DEPENDENT = 1e-9  # singular values of A (rows of length 1) below this make constraints redundant
ZERO = 1e-12
CONTRADICTION = 1e-6
ROUNDING = 1e-15
MOST = 60


class Start(NamedTuple):
    """The initial state on the program, and what the user should know about it."""

    x: np.ndarray
    notes: tuple[str, ...]


def consistent_start(program: Program, q: np.ndarray, qd: np.ndarray | None, start: str) -> Start:
    """The initial state on the program, or an error that names what is wrong with it.

    Args:
        start: "near" moves a start that breaks the program by up to ``NEAR``, "project" by any distance, "refuse" not at all.
        qd: ``None`` takes the smallest velocities that the program allows.
    """
    given = np.zeros(len(q)) if qd is None else qd
    rows = rows_at(program, q, given, 0.0)
    check_independent(program, rows)
    off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
    if off.max() <= CONSISTENT:
        return Start(np.asarray(program.start(q, given), float), ())
    worst = int(np.argmax(off))
    said = f"The initial state breaks '{program.constraints[worst].name}' by {off[worst]:.3g}"
    if start == "refuse":
        raise DescriptionError(f"{said}; start='project' moves it onto the program.", field="q0")
    moved = _posture(program, q)
    found, left = _velocity(program, moved, given)
    if not left.max() <= CONSISTENT:
        worst = int(np.nanargmax(left)) if np.isfinite(left).any() else worst
        raise DescriptionError(
            f"{said}, and no nearby posture obeys the program: '{program.constraints[worst].name}' may be out of reach.",
            field="q0",
        )
    check_independent(program, rows_at(program, moved, found, 0.0))
    joint, size = _largest(program, moved - q)
    if start != "project" and size > 1.0:
        raise DescriptionError(
            f"{said}. The nearest posture found that obeys the program moves joint {_amount(program, joint, moved - q)}, "
            f"which is more than a rounded number explains: give q0 = [{', '.join(f'{v:.6g}' for v in moved)}], or "
            f"start = 'project' to accept it.",
            field="q0",
        )
    return Start(
        np.asarray(program.start(moved, found), float), _notes(program, moved - q, found - given, qd is not None)
    )


def _largest(program: Program, change: np.ndarray) -> tuple[int, float]:
    """The joint that is moved most, in units of what counts as near."""
    size = [abs(d) / NEAR[j.is_revolute] for d, j in zip(change, program.robot.joints)]
    return int(np.argmax(size)), float(np.max(size))


def _amount(program: Program, joint: int, change: np.ndarray, per: str = "") -> str:
    return amount(program.robot, joint, float(change[joint])) + per


def _notes(program: Program, dq: np.ndarray, dv: np.ndarray, said: bool) -> tuple[str, ...]:
    out = []
    if np.abs(dq).max() > 0.0:
        joint, _ = _largest(program, dq)
        out.append(
            f"The given start does not obey the program; it was moved onto it by the smallest change of joints found, "
            f"most of all joint {_amount(program, joint, dq)}."
        )
    if np.abs(dv).max() > CONSISTENT:
        joint, _ = _largest(program, dv)
        what = "The given velocities do" if said else "Rest at the start does"
        out.append(
            f"{what} not obey the program; the velocities were changed by the least amount, most of all that of joint "
            f"{_amount(program, joint, dv, '/s')}."
        )
    return tuple(out)


def _posture(program: Program, given: np.ndarray) -> np.ndarray:
    """The posture on the program that is closest to the given one."""
    holonomic = [k for k, c in enumerate(program.constraints) if c.level == "position"]
    if not holonomic:
        return given
    still = np.zeros(len(given))

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = rows_at(program, q, still, 0.0)
        return found.A[holonomic], found.value[holonomic]

    return nearest(program.robot, rows, given, CONSISTENT)[0]


def _velocity(program: Program, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities that obey the program, changed least, and what is left of every constraint."""
    moving = [k for k, c in enumerate(program.constraints) if c.level != "acceleration"]
    best, found, off = np.inf, qd, np.full(len(program.constraints), np.inf)
    for _ in range(MOST):
        rows = rows_at(program, q, qd, 0.0)
        left = np.maximum(np.abs(rows.value), np.abs(rows.rate))
        worst = float(left.max()) if np.isfinite(left).all() else np.inf
        if not worst < best:
            break
        best, found, off = worst, qd, left
        if best < ROUNDING or not moving or not np.isfinite(rows.A).all():
            break
        qd = qd - least_change(rows.A[moving], rows.rate[moving])
    return found, off


def check_independent(program: Program, rows: ConstraintRows) -> None:
    """Redundant, contradictory and idle constraints are named."""
    scale = np.linalg.norm(rows.A, axis=1)
    for k, size in enumerate(scale):
        if not np.isfinite([size, rows.value[k], rows.b[k]]).all():
            raise DescriptionError(
                f"'{program.constraints[k].name}' has no value or no gradient at the start posture.", field="q0"
            )
        if not size > ZERO:
            raise DescriptionError(
                f"'{program.constraints[k].name}' does not restrict the joints at the start (its gradient is zero).",
                field="constraints",
            )
    U, sigma, _ = np.linalg.svd(rows.A / scale[:, None], full_matrices=True)
    if sigma[-1] >= DEPENDENT:
        return
    weight = np.abs(U[:, -1])
    names = [repr(program.constraints[k].name) for k in np.flatnonzero(weight > 0.1 * weight.max())]
    parts = [np.asarray(v, float) / scale for v in (rows.value, rows.rate, rows.b)]
    against = any(abs(float(U[:, -1] @ v)) > CONTRADICTION * (1.0 + np.abs(v).max()) for v in parts)
    kind = "contradict each other" if against else "say the same"
    if len(names) == 1:
        raise DescriptionError(f"The constraint {names[0]} cannot be obeyed at the start.", field="constraints")
    raise DescriptionError(f"The constraints {', '.join(names)} {kind} at the start.", field="constraints")

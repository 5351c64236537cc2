"""The initial state of a programmed motion: on the program, with constraints that neither repeat nor contradict each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError
from manipula.physics.constrained import Rows
from manipula.simulation.program import Program
from manipula.simulation.program_kernels import rows_at

CONSISTENT = 1e-9  # residual of the program below which an initial state counts as obeying it
NEAR = {True: 0.1, False: 0.05}  # rad (revolute), m: a start moved further is another posture, not a rounded one
DEPENDENT = 1e-9  # singular values of A (rows of length 1) below this make constraints redundant
ZERO = 1e-12
CONTRADICTION = 1e-6
ROUNDING = 1e-15
MOST = 60
LONGEST = 0.3  # rad or m, of one step towards the program: larger ones lose the neighbourhood
CLOSER = 1e-10  # of the way, by which a further round must shorten it


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
    j = program.robot.joints[joint]
    size = f"{np.rad2deg(change[joint]):+.3g}°" if j.is_revolute else f"{change[joint]:+.3g} m"
    return f"'{j.name}' by {size}{per}"


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
    r"""The posture on the program that is closest to the given one, seen from there, with turns taken into the joint ranges.

    First Newton's method with short steps, :math:`q \leftarrow q - \Phi_q^+\Phi`, then the nearest point by
    :math:`q \leftarrow q_0 - \Phi_q^+\left(\Phi + \Phi_q(q_0 - q)\right)`, which holds still where :math:`q_0 - q` stands
    upright on the program.
    """
    holonomic = [k for k, c in enumerate(program.constraints) if c.level == "position"]
    if not holonomic:
        return given
    still = np.zeros(len(given))

    def rows(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = rows_at(program, q, still, 0.0)
        return found.A[holonomic], found.value[holonomic]

    def restored(q: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton's method from q; the best posture and what is left there."""
        best, found = np.inf, q
        for _ in range(MOST):
            A, value = rows(q)
            size = float(np.abs(value).max()) if np.isfinite(value).all() else np.inf
            if not size < best and best < CONSISTENT:
                break
            if size < best:
                best, found = size, q
            if best < ROUNDING or not np.isfinite(A).all() or not np.isfinite(value).all():
                break
            step = -_least(A, value)
            q = q + step * min(1.0, LONGEST / max(float(np.abs(step).max()), ZERO))
        return found, best

    q, left = restored(given)
    if not left <= CONSISTENT:
        return q
    q = _turned(program, given, q, rows)
    for _ in range(MOST):
        A, value = rows(q)
        step = given - _least(A, value + A @ (given - q)) - q
        size, now = 1.0, float(np.linalg.norm(q - given))
        while size > 1e-3:
            new, left = restored(q + size * step)
            if left <= CONSISTENT and np.linalg.norm(new - given) < (1.0 - CLOSER) * now:
                break
            size *= 0.5
        else:
            break
        q = new
    return _turned(program, given, q, rows)


def _turned(program: Program, given: np.ndarray, q: np.ndarray, rows: Any) -> np.ndarray:
    """Revolute joints turned by whole turns into their range, or else towards the given start, where the program allows that."""
    out = q.copy()
    for i, j in enumerate(program.robot.joints):
        if not j.is_revolute:
            continue
        low, high = program.robot.position_limits[i]
        turns = q[i] + 2 * np.pi * np.arange(-8, 9)
        inside = turns[(turns >= low) & (turns <= high)]
        choice = inside if len(inside) else turns
        trial = out.copy()
        trial[i] = choice[np.argmin(np.abs(choice - given[i]))]
        if abs(trial[i] - out[i]) > np.pi and np.abs(rows(trial)[1]).max() <= CONSISTENT:
            out = trial
    return out


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
        qd = qd - _least(rows.A[moving], rows.rate[moving])
    return found, off


def _least(A: np.ndarray, residual: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(A, residual, rcond=None)[0]


def check_independent(program: Program, rows: Rows) -> None:
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

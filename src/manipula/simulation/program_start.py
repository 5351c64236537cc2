"""The initial state of a programmed motion: on the program, with constraints that neither repeat nor contradict each other."""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError
from manipula.physics.constrained import Rows
from manipula.simulation.program import Program
from manipula.simulation.program_kernels import rows_at

CONSISTENT = 1e-9  # residual of the program below which an initial state counts as obeying it
DEPENDENT = 1e-9  # singular values of A (rows of length 1) below this make constraints redundant
ZERO = 1e-12
CONTRADICTION = 1e-6
ROUNDING = 1e-15
MOST = 60


def consistent_start(program: Program, q: np.ndarray, qd: np.ndarray, start: str) -> np.ndarray:
    """The initial state on the program, or an error that names what is wrong with it."""
    rows = rows_at(program, q, qd, 0.0)
    check_independent(program, rows)
    off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
    if off.max() > CONSISTENT:
        worst = int(np.argmax(off))
        said = f"The initial state breaks '{program.constraints[worst].name}' by {off[worst]:.3g}"
        if start == "refuse":
            raise DescriptionError(f"{said}; start='project' moves it onto the program.", field="q0")
        q, qd, off = _projected(program, q, qd)
        if not off.max() <= CONSISTENT:
            worst = int(np.nanargmax(off)) if np.isfinite(off).any() else worst
            raise DescriptionError(
                f"{said}, and no nearby posture obeys the program: '{program.constraints[worst].name}' may be out of reach.",
                field="q0",
            )
        check_independent(program, rows_at(program, q, qd, 0.0))
    return np.asarray(program.start(q, qd), float)


def _projected(program: Program, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Newton's method with the smallest change, :math:`q \leftarrow q - \Phi_q^+\Phi`, then velocities likewise.

    Returns q, qd and what is left of every constraint.
    """
    holonomic = [k for k, c in enumerate(program.constraints) if c.level == "position"]
    moving = [k for k, c in enumerate(program.constraints) if c.level != "acceleration"]
    best, found = np.inf, (q, qd, np.full(len(program.constraints), np.inf))
    stuck = 0
    for _ in range(MOST):
        rows = rows_at(program, q, qd, 0.0)
        if holonomic and np.isfinite(rows.A).all():
            q = q - _least(rows.A[holonomic], rows.value[holonomic])
            rows = rows_at(program, q, qd, 0.0)
        if moving and np.isfinite(rows.A).all():
            qd = qd - _least(rows.A[moving], rows.rate[moving])
        rows = rows_at(program, q, qd, 0.0)
        off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
        worst = float(off.max()) if np.isfinite(off).all() else np.inf
        if worst < best:
            best, found, stuck = worst, (q, qd, off), 0
        else:
            stuck += 1
        if not np.isfinite(q).all() or best < ROUNDING or (best < CONSISTENT and stuck):
            break
    return found


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

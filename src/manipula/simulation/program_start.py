"""The initial state of a programmed motion: on the program, with constraints that neither repeat nor contradict each other."""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError
from manipula.physics.constrained import Rows
from manipula.simulation.program import Program

CONSISTENT = 1e-9  # residual of the program below which an initial state counts as obeying it
DEPENDENT = 1e-9  # singular values of A (rows of length 1) below this make constraints redundant
ZERO = 1e-12
CONTRADICTION = 1e-6
MOST = 60


def numeric_rows(program: Program, x: np.ndarray, t: float) -> Rows:
    """A, b and residuals at a state, as floats."""
    lay = program.layout
    rows = program.rows(program.chain(), lay.q(x), lay.qd(x), t)
    return Rows(*(np.asarray(part, float) for part in rows))


def consistent_start(program: Program, q: np.ndarray, qd: np.ndarray, start: str) -> np.ndarray:
    """The initial state on the program, or an error that names what is wrong with it."""
    x = np.asarray(program.start(q, qd), float)
    rows = numeric_rows(program, x, 0.0)
    check_independent(program, rows)
    off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
    if off.max() > CONSISTENT:
        worst = int(np.argmax(off))
        said = f"The initial state breaks '{program.constraints[worst].name}' by {off[worst]:.3g}"
        if start == "refuse":
            raise DescriptionError(f"{said}; start='project' moves it onto the program.", field="q0")
        x, off = _projected(program, x)
        if not np.isfinite(x).all() or off.max() > CONSISTENT:
            worst = int(np.nanargmax(off)) if np.isfinite(off).any() else worst
            raise DescriptionError(
                f"{said}, and no nearby posture obeys the program: '{program.constraints[worst].name}' may be out of reach.",
                field="q0",
            )
        check_independent(program, numeric_rows(program, x, 0.0))
    return x


def _projected(program: Program, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method with the smallest change; the state found and what is left of the residual."""
    off = np.full(len(program.constraints), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(MOST):
            try:
                x = np.asarray(program.settled(0.0, x, project=True)[0], float)
                rows = numeric_rows(program, x, 0.0)
            except (DescriptionError, ArithmeticError):  # a formula left its domain on the way
                return np.full_like(x, np.nan), off
            off = np.maximum(np.abs(rows.value), np.abs(rows.rate))
            if not np.isfinite(x).all() or off.max() < 1e-14:
                break
    return x, off


def check_independent(program: Program, rows: Rows) -> None:
    """Redundant, contradictory and idle constraints are named."""
    scale = np.linalg.norm(rows.A, axis=1)
    for k, size in enumerate(scale):
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

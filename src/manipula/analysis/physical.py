r"""The closest parameters that belong to bodies which can exist.

Minimise over free numbers θ (``log_cholesky``: ten a link; squares for friction and rotor inertia)

.. math:: \|A\,K\pi(\theta) - b\|^2 + \gamma^2\,\|\theta - \theta_0\|^2

where A, b are the weighted equations of the data. The data enter only through the triangle R of A (b × b numbers), so one iteration
costs microseconds however many samples were measured. :math:`\gamma` is small: it decides only what the data leave open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manipula.analysis.base_parameters import BaseParameters
from manipula.analysis.log_cholesky import nearest_physical, parameters_of, theta_of

PRIOR = 1e-2  # γ: a change of θ by one weighs as much as a hundredth of a standard deviation of the data
SETTLED = 1e-3  # a fall of χ² this small changes nothing
MOST_STEPS = 500
LONGEST_STEP = 2.0  # of any θ: a factor e² in a length or a mass
SMALL = 1e-3  # start of friction and rotor inertia [SI]


def consistent_parameters(base: BaseParameters, A: np.ndarray, b: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Full parameters π (p,), every link's pseudo-inertia positive definite, friction and rotor inertia not negative.

    Args:
        A, b: weighted equations in base parameters, A β ≈ b.
        start: (10 n,) inertial parameters to begin with and to lean to.
    """
    n, p = base.columns.n, base.columns.size
    signed = np.zeros(p, bool)
    for extra in base.columns.extras:
        signed[base.columns.part(extra)] = extra in base.columns.SIGNED
    R = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))[: base.count]
    T, c = R[:, :-1] @ base.K, R[:, -1]
    theta0 = np.concatenate([theta_of(nearest_physical(start[10 * i : 10 * i + 10])) for i in range(n)])
    rest = np.where(signed[10 * n :], 0.0, np.sqrt(SMALL))
    x0 = np.concatenate([theta0, rest])

    def parameters(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """π and the diagonal blocks of ∂π/∂x, one matrix."""
        pi, slope = np.empty(p), np.zeros((p, p))
        for i in range(n):
            block = slice(10 * i, 10 * i + 10)
            pi[block], slope[block, block] = parameters_of(x[block])
        y, free = x[10 * n :], signed[10 * n :]
        pi[10 * n :] = np.where(free, y, y * y)
        slope[range(10 * n, p), range(10 * n, p)] = np.where(free, 1.0, 2.0 * y)
        return pi, slope

    def equations(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pi, slope = parameters(x)
        return np.concatenate([T @ pi - c, PRIOR * (x - x0)]), np.vstack([T @ slope, PRIOR * np.eye(p)])

    return parameters(_least_squares(equations, x0))[0]


def _least_squares(equations: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], x: np.ndarray) -> np.ndarray:
    """Levenberg–Marquardt until χ² stops falling.

    The sum of squares is in units of the measurement's variance, so a change of SETTLED means nothing; an ordinary relative
    stop would follow the curved valley of directions that the data leave open for thousands of steps.
    """
    r, J = equations(x)
    cost, damping, quiet = float(r @ r), 1e-2, 0
    for _ in range(MOST_STEPS):
        scale = np.maximum(np.linalg.norm(J, axis=0), 1e-6)
        S = J / scale
        step = -np.linalg.solve(S.T @ S + damping * np.eye(len(x)), S.T @ r) / scale
        largest = float(np.max(np.abs(step)))
        trial = x + step * min(1.0, LONGEST_STEP / largest if largest > 0 else 1.0)
        r_new, J_new = equations(trial)
        new = float(r_new @ r_new)
        if not new < cost:
            damping *= 4.0
            if damping > 1e12:
                break
            continue
        quiet = quiet + 1 if cost - new < SETTLED else 0
        x, r, J, cost, damping = trial, r_new, J_new, new, max(damping / 5.0, 1e-12)
        if quiet >= 3:
            break
    return x

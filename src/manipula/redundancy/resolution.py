r"""Resolving redundancy at one instant: which of the many joint motions that serve a task.

Velocity level :math:`\dot q = J_W^{\#}v + (1 - J_W^{\#}J)z`, acceleration level :math:`\ddot q = J_W^{\#}(a - \dot J\dot q) + (1-J_W^{\#}J)z` with
:math:`J_W^{\#}` of ``pseudoinverse.py``, its damping squared. Everything here works on any scalar, so it can be traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, ShapeError
from manipula.redundancy.pseudoinverse import weighted_inverse


def resolved_rate(
    J: np.ndarray, v: Vector, *, weight: Any = None, damping: Scalar = 0.0, null: Vector | None = None
) -> np.ndarray:
    r"""Joint rates (n,) for a task velocity v (rows,): :math:`J_W^{\#}v + (1-J_W^{\#}J)z`, z = ``null``."""
    inverse = weighted_inverse(J, weight, damping * damping)
    if null is None:
        return array(inverse @ array(v))
    null = array(null)
    return array(null + inverse @ (array(v) - J @ null))


def resolved_acceleration(
    J: np.ndarray, bias: Vector, a: Vector, *, weight: Any = None, damping: Scalar = 0.0, null: Vector | None = None
) -> np.ndarray:
    r"""Joint accelerations (n,) for a task acceleration a (rows,); ``bias`` is :math:`\dot J\dot q`."""
    return resolved_rate(J, array(a) - array(bias), weight=weight, damping=damping, null=null)


def null_space(J: np.ndarray, weight: Any = None) -> np.ndarray:
    r""":math:`1 - J_W^{\#}J`, (n, n): joint motion that the task does not see."""
    return array(np.eye(J.shape[1]) - weighted_inverse(J, weight) @ J)


def prioritised(tasks: Sequence[tuple[np.ndarray, Vector]], damping: float = 1e-6) -> np.ndarray:
    r"""Joint rates of a strict hierarchy of tasks (J_k, v_k), most important first [Siciliano & Slotine 1991].

    .. math:: \dot q_k = \dot q_{k-1} + (J_kN_{k-1})^{+}(v_k - J_k\dot q_{k-1}),\qquad N_k = N_{k-1} - (J_kN_{k-1})^{+}(J_kN_{k-1})

    A lower task never disturbs a higher one; where it conflicts, its pseudoinverse drops the directions that are left with less than
    ``damping`` of the largest. Plain numbers only: the rank is decided here.
    """
    if not tasks:
        raise DescriptionError("A hierarchy needs at least one task.")
    n = np.shape(tasks[0][0])[1]
    qd, N = np.zeros(n), np.eye(n)
    for J, v in tasks:
        J, v = np.asarray(J, float), np.asarray(v, float)
        if J.shape != (len(v), n):
            raise ShapeError(f"A task has J {J.shape} and v {v.shape}; expected ({len(v)}, {n}) and ({len(v)},).")
        seen = J @ N
        scale = float(np.linalg.norm(J, 2)) or 1.0
        U, s, Vt = np.linalg.svd(seen, full_matrices=False)
        keep = s > damping * scale
        inverse = (Vt[keep].T / s[keep]) @ U[:, keep].T
        qd = qd + inverse @ (v - J @ qd)
        N = N - Vt[keep].T @ Vt[keep]
    return qd

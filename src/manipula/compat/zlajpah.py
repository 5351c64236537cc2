r"""``kinmodel`` and ``dynmodel`` of Žlajpah's package for n-R planar arms, with its arguments and its order of results.

``[x, J, Jd] = kinmodel(q, L, qd)`` there is ``x, J, Jd = kinmodel(q, L, qd)`` here. The arm moves in the vertical x–y plane, gravity is 9.81 m/s² along −y,
and its model is

.. math:: \tau = H(q)\ddot q + h(q, \dot q) + B\dot q + g(q)

[Žlajpah, dynamic simulation of n-R planar manipulators, (2)–(15), corrected]. The paper hands ``ml`` to the model and does not say what it
is: it is a point mass at the tip here. B is an argument there and in none of the results; here ``found.friction`` is :math:`B\dot q`,
``h`` is without it, and ``found.torque(qdd)`` has everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array, number, whole_number
from manipula.errors import DescriptionError, ShapeError
from manipula.physics.planar import PlanarModel, arm_constants, planar_kinematics, planar_model

GRAVITY = 9.81
MOST_JOINTS = 2000


class DynModel(PlanarModel):
    """x, J, Jd, H, h, g in the order of the paper; beside them the torques of viscous friction."""

    friction: np.ndarray

    def torque(self, qdd: Any) -> np.ndarray:
        r""":math:`\tau = H\ddot q + h + B\dot q + g`, (..., n) [Žlajpah, (7)]."""
        qdd = finite_array(qdd, "qdd")
        if qdd.shape != self.h.shape:
            raise ShapeError(f"'qdd' has shape {qdd.shape}; it must be {self.h.shape}, as q has.")
        return np.einsum("...ij,...j->...i", self.H, qdd) + self.h + self.friction + self.g


def kinmodel(q: Any, L: Any, qd: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tip x (..., 2), its Jacobian J (..., 2, n) and the rate of J, Jd (..., 2, n).

    Args:
        q: joint angles (..., n) [rad]. L: lengths of the links (n,) [m]. qd: joint speeds, as q [rad/s].
    """
    L = _lengths(L)
    q, qd = _states(q, qd, len(L))
    x, J, Jd = zip(*(planar_kinematics(L, a, b) for a, b in zip(*_flat(q, qd))))
    lead = q.shape[:-1]
    return _stacked(x, lead), _stacked(J, lead), _stacked(Jd, lead)


def dynmodel(q: Any, qd: Any, nj: int, L: Any, Lc: Any, m: Any, ml: Any, I: Any, B: Any) -> DynModel:
    """The complete model: x, J, Jd, H (..., n, n), h (..., n), g (..., n), in this order.

    Args:
        q: joint angles (..., n) [rad]. qd: joint speeds, as q [rad/s]. nj: number of joints n.
        L: lengths of the links (n,) [m]. Lc: from each joint to the centre of mass of its link (n,) [m].
        m: masses of the links (n,) [kg]. ml: point mass at the tip [kg]. I: moments of inertia about the centres of mass (n,) [kg·m²].
        B: viscous friction, a matrix (n, n) or its diagonal (n,) [N·m·s/rad].
    """
    n = whole_number(nj, "nj", 1, MOST_JOINTS)
    L = _lengths(L, n)
    Lc, m, I = (_per_link(values, name, n) for values, name in ((Lc, "Lc"), (m, "m"), (I, "I")))
    ml = number(ml, "ml")
    for name, values in (("m", m), ("I", I), ("ml", np.array([ml]))):
        if (values < 0.0).any():
            raise DescriptionError(f"'{name}' is {values.min():g}; masses and moments of inertia are not negative.", field=name)  # fmt: skip
    viscous = finite_array(B, "B")
    if viscous.shape not in ((n,), (n, n)):
        raise ShapeError(f"'B' has shape {viscous.shape}; it must be ({n}, {n}), or its diagonal ({n},).")
    viscous = np.diag(viscous) if viscous.ndim == 1 else viscous
    q, qd = _states(q, qd, n)
    arm = arm_constants(L, Lc, m, I, ml, GRAVITY)
    parts = zip(*(planar_model(arm, a, b) for a, b in zip(*_flat(q, qd))))
    found = DynModel(*(_stacked(part, q.shape[:-1]) for part in parts))
    found.friction = qd @ viscous.T
    return found


def _per_link(values: Any, name: str, n: int) -> np.ndarray:
    """One number per link; a row or a column is as good as a list."""
    found = finite_array(values, name)
    if found.size != n or found.ndim > 2 or max(found.shape, default=0) != n:
        raise ShapeError(f"'{name}' has shape {found.shape}; it must hold one number per joint, ({n},).")
    return found.ravel()


def _lengths(values: Any, n: int | None = None) -> np.ndarray:
    found = finite_array(values, "L")
    if found.size == 0:
        raise ShapeError("'L' is empty; a planar arm has at least one link.")
    found = _per_link(found, "L", max(found.shape, default=1) if n is None else n)
    if len(found) > MOST_JOINTS:
        raise DescriptionError(f"'L' has {len(found)} links; at most {MOST_JOINTS} are allowed.", field="L")
    if not (found > 0.0).all():
        raise DescriptionError(f"'L' holds {found.min():g}; every link has a length above zero.", field="L")
    return found


def _states(q: Any, qd: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    q, qd = finite_array(q, "q"), finite_array(qd, "qd")
    if q.shape == qd.shape == (n, 1) and n > 1:  # columns, as MATLAB writes them
        q, qd = q[:, 0], qd[:, 0]
    if q.ndim == 0 or q.shape[-1] != n or qd.shape != q.shape:
        raise ShapeError(f"'q' has shape {q.shape} and 'qd' {qd.shape}; both must be (..., {n}).")
    return q, qd


def _flat(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return q.reshape(-1, q.shape[-1]), qd.reshape(-1, q.shape[-1])


def _stacked(parts: Any, lead: tuple[int, ...]) -> np.ndarray:
    out = np.array(parts, float)
    return out.reshape(*lead, *out.shape[1:])

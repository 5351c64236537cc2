r"""The complete model of an n-R planar arm by running sums: x, J, J̇, H, h, g in 2n² + 34n − 30 operations.

[Žlajpah, dynamic simulation of n-R planar manipulators, equations (2)–(15), corrected], rearranged: with
:math:`\varphi_i = q_1 + … + q_i`, :math:`u_i = (\cos\varphi_i, \sin\varphi_i)` and :math:`p_k = m_k l_{ck} + l_k(\sum_{i>k} m_i + m_l)`,

.. math:: S_j = \sum_{k\ge j} p_k u_k,\qquad H_{ij} = H_{i+1,j} + l_i\,u_i\cdot S_j,\qquad H_{ii} = H_{i,i+1} + l_i\,u_i\cdot S_{i+1} + d_i

so an entry of H costs four operations; h needs two running sums and g is :math:`9.81\,S_{i,x}`. (x_i, y_i) runs from joint i to the tip.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError
from manipula.physics.lift import is_lifted
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot


class NotPlanarError(DescriptionError, AttributeError):
    """Only planar n-R arms have this model: ``hasattr(model, "planar_model")`` says no."""


class PlanarConstants(NamedTuple):
    """Constants of an arm: lengths l, products p_k, diagonal constants d_k, gravity."""

    l: list[Scalar]
    p: list[Scalar]
    d: list[Scalar]
    weight: Scalar


class PlanarModel(NamedTuple):
    """Tip x (2,), Jacobian J (2, n), its rate Jd (2, n), inertia H (n, n), bias h (n,), gravity torques g (n,)."""

    x: np.ndarray
    J: np.ndarray
    Jd: np.ndarray
    H: np.ndarray
    h: np.ndarray
    g: np.ndarray


def arm_constants(
    l: Vector, lc: Vector, m: Vector, inertia: Vector, payload: Scalar, weight: Scalar
) -> PlanarConstants:
    """p_k and d_k, once per arm: d_k = I_k + m_k lc_k² + l_k² (Σ_{i>k} m_i + m_l)."""
    n = len(l)
    p: list[Scalar] = [0.0] * n
    d: list[Scalar] = [0.0] * n
    beyond = payload
    for k in range(n - 1, -1, -1):
        first, carried = m[k] * lc[k], l[k] * beyond
        p[k] = first + carried
        d[k] = inertia[k] + first * lc[k] + l[k] * carried
        if k:
            beyond = beyond + m[k]
    return PlanarConstants(list(l), p, d, weight)


def planar_arm(robot: Robot | Mechanism) -> PlanarConstants:
    """The constants of a robot that is an n-R arm in a plane, or an error that says why it is not."""
    mechanism = mechanism_of(robot)
    free = mechanism.coupling is None
    tip = mechanism.frames.get(TIP)
    axes_ok = all(b.revolute and b.parent == i - 1 and b.p0[2] == 0.0 for i, b in enumerate(mechanism.bodies))
    turned = any(not np.array_equal(b.R0, np.eye(3)) or b.phase != 0.0 for b in mechanism.bodies)
    along_x = all(b.p0[1] == 0.0 and b.moments.first[1] == 0.0 for b in mechanism.bodies)
    if tip is None or not free or not axes_ok or turned or not along_x or any(v != 0.0 for v in mechanism.bodies[0].p0):
        raise NotPlanarError(f"Robot '{mechanism.name}' is not a planar n-R arm with links along x.")
    l = [b.p0[0] for b in mechanism.bodies[1:]] + [tip.pose.p[0]]
    p: list[Scalar] = []
    d: list[Scalar] = []
    beyond: Scalar = 0.0
    for k in range(mechanism.n - 1, -1, -1):
        m = mechanism.bodies[k].moments
        p.insert(0, m.first[0] + l[k] * beyond)
        d.insert(0, m.second[2, 2] + l[k] * (l[k] * beyond))
        beyond = beyond + m.mass
    if is_lifted(mechanism):
        raise DescriptionError(
            f"Some of the weight of robot '{mechanism.name}' is carried, which this model does not know."
        )
    if mechanism.gravity[0] != 0.0 or mechanism.gravity[2] != 0.0:
        raise DescriptionError(f"Robot '{mechanism.name}' has gravity outside the y axis of its plane.")
    return PlanarConstants(l, p, d, -mechanism.gravity[1])


def planar_model(arm: PlanarConstants, q: Vector, qd: Vector) -> PlanarModel:
    r"""x, J, J̇, H, h, g of the arm at q, qd.

    In absolute angles the velocity terms are
    :math:`b_i = l_i(s_i A^x_{i+1} - c_i A^y_{i+1}) + p_i(s_i P^x_i - c_i P^y_i)` with the running sums
    :math:`A_k = \sum_{j\ge k} p_j u_j w_j^2` and :math:`P_i = \sum_{j<i} l_j u_j w_j^2`; then :math:`h_i = \sum_{k\ge i} b_k`.
    """
    l, p, d, weight = arm
    n = len(l)
    kin = _kinematics(l, q, qd)
    c, s, lc, ls = kin.c, kin.s, kin.lc, kin.ls
    pc, ps = _times(p, c), [0.0, *_times(p[1:], s[1:])]  # nothing needs the first y
    Sx, Sy = _suffix(pc), [0.0, *_suffix(ps[1:])]
    g = zeros(n)
    for i in range(n):
        g[i] = weight * Sx[i]
    h = _bias(kin.w, lc, ls, kin.lcw, kin.lsw, pc, ps)
    return PlanarModel(kin.x, kin.J, kin.Jd, _inertia(d, lc, ls, Sx, Sy), h, g)


def planar_kinematics(l: Vector, q: Vector, qd: Vector) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (2,), J (2, n) and J̇ (2, n) of an arm with links l at q, qd: 12n − 2 operations."""
    found = _kinematics(list(l), q, qd)
    return found.x, found.J, found.Jd


class _Kinematics(NamedTuple):
    """What the dynamics uses again of x, J and J̇: speeds w of the links, their cosines and sines, products with lengths and speeds."""

    x: np.ndarray
    J: np.ndarray
    Jd: np.ndarray
    w: list[Scalar]
    c: list[Scalar]
    s: list[Scalar]
    lc: list[Scalar]
    ls: list[Scalar]
    lcw: list[Scalar]
    lsw: list[Scalar]


def _kinematics(l: list[Scalar], q: Vector, qd: Vector) -> _Kinematics:
    n = len(l)
    phi, w = [q[0]], [qd[0]]
    for i in range(1, n):
        phi.append(phi[-1] + q[i])
        w.append(w[-1] + qd[i])
    c, s = [ops.cos(a) for a in phi], [ops.sin(a) for a in phi]
    lc, ls = _times(l, c), _times(l[:-1], s[:-1])  # of the last link only −l s is needed
    lcw, lsw = _times(lc[:-1], w[:-1]), _times(ls, w[:-1])
    back = -l[-1]
    J, Jd = zeros(2, n), zeros(2, n)
    J[0], J[1] = _suffix_less(ls, back * s[-1]), _suffix(lc)
    Jd[0], Jd[1] = _suffix_less(lcw, back * (c[-1] * w[-1])), _suffix_less(lsw, back * (s[-1] * w[-1]))
    x = np.array([J[1, 0], -J[0, 0] if n == 1 else ls[0] - J[0, 1]], dtype=object)
    return _Kinematics(x, J, Jd, w, c, s, lc, ls, lcw, lsw)


def _inertia(d: list[Scalar], lc: list[Scalar], ls: list[Scalar], Sx: list[Scalar], Sy: list[Scalar]) -> np.ndarray:
    """H, (n, n), row by row from the tip: four operations an entry."""
    n = len(d)
    plain = array([*d, *lc, *ls, *Sx, *Sy]).dtype != object
    H = np.zeros((n, n)) if plain else zeros(n, n)
    x, y = array(Sx), array(Sy)
    H[n - 1, n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        reach = x[i + 1 :] * lc[i] + y[i + 1 :] * ls[i]  # the array first: numbers of any kind multiply its entries
        H[i, i + 1 :] = H[i + 1 :, i] = H[i + 1, i + 1 :] + reach
        H[i, i] = H[i, i + 1] + reach[0] + d[i]
    return H


def _bias(w: list[Scalar], lc: list[Scalar], ls: list[Scalar], lcw: list[Scalar], lsw: list[Scalar],
          pc: list[Scalar], ps: list[Scalar]) -> np.ndarray:  # fmt: skip
    """h, (n,): the two running sums A and P, then a sum from the tip."""
    n = len(w)
    squares = [a * a for a in w[1:]]
    Ax, Ay = _suffix(_times(pc[1:], squares)), _suffix(_times(ps[1:], squares))
    h = zeros(n)
    terms: list[Scalar] = []
    Px: Scalar = 0.0
    Py: Scalar = 0.0
    for i in range(n):
        if i == 0:
            b = ls[0] * Ax[0] - lc[0] * Ay[0] if n > 1 else 0.0
        else:
            dx, dy = lcw[i - 1] * w[i - 1], lsw[i - 1] * w[i - 1]
            Px, Py = (dx, dy) if i == 1 else (Px + dx, Py + dy)
            b = ps[i] * Px - pc[i] * Py
            if i < n - 1:
                b = b + (ls[i] * Ax[i] - lc[i] * Ay[i])
        terms.append(b)
    h[n - 1] = terms[n - 1]
    for i in range(n - 2, -1, -1):
        h[i] = h[i + 1] + terms[i]
    return h


def _times(a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
    return [x * y for x, y in zip(a, b)]


def _suffix(a: list[Scalar]) -> list[Scalar]:
    """Sums from each entry to the end."""
    out = list(a)
    for i in range(len(a) - 2, -1, -1):
        out[i] = out[i + 1] + out[i]
    return out


def _suffix_less(a: list[Scalar], last: Scalar) -> list[Scalar]:
    """Negative sums from each entry to the end, where ``last`` is the negative of the last entry."""
    out = [*a, last]
    for i in range(len(a) - 1, -1, -1):
        out[i] = out[i + 1] - a[i]
    return out

r"""Errors of orientation whose closed loop is linear: how the tool is turned, as far as it is asked for.

Each choice gives coordinates e of the error, and rows W with

.. math:: \dot e = W(\cdot)\,(\ldots) - W\omega,\qquad \ddot e = b - W\dot\omega,

so that :math:`W\dot\omega = b + K_v\dot e + K_pe` gives :math:`\ddot e + K_v\dot e + K_pe = 0` exactly, whatever the size of the error:

``full``     the rotation vector :math:`e = \log(R_dR^T)` in base axes, :math:`W = J_r^{-1}(e)`; regular for |e| < 2π
``x y z``    the direction of one axis of the tool: the shortest rotation vector that takes it to the wanted direction, two coordinates in the
             wanted tool's axes; singular only where the two are opposite
``angle``    of an arm whose tool turns about one fixed axis a: :math:`e = a\cdot\log(R_dR^T)`, :math:`W = a^T`

The shortest rotation vector jumps by 2π at a half turn. ``near`` is the error that is remembered from just before; of the vectors of one
rotation the one next to it is taken, so e passes π without a jump. See ``algebra/rotation_vector.py``.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot, skew
from manipula.algebra.ops import Scalar, Vector
from manipula.algebra.rotation import from_quaternion_wxyz
from manipula.algebra.rotation_vector import LONGEST, _polynomial, curvature, rotation_vector
from manipula.errors import DescriptionError
from manipula.redundancy.arm import Arm

Turn = Literal["free", "full", "x", "y", "z", "angle"]
TURNS: tuple[Turn, ...] = ("free", "full", "x", "y", "z", "angle")
SIZES: dict[str, int] = {"free": 0, "full": 3, "x": 2, "y": 2, "z": 2, "angle": 1}
AXES = "xyz"
DIRECTIONS = [1.0]  # of θ/sin θ in powers of 1 − cos θ: n!/(2n+1)!!
for _n in range(1, 18):
    DIRECTIONS.append(DIRECTIONS[-1] * _n / (2 * _n + 1))
LOOKS = 201  # times at which an orientation is looked at
TILTED = 1e-6  # rad
CLOSE = 0.2  # of 1 − cos θ: below, the series


def resolved_turn(asked: str, arm: Arm, who: str) -> str:
    """How much of a reference's orientation is controlled: "auto" is all that this arm can turn.

    Raises:
        DescriptionError: when the arm cannot do that.
    """
    name, axes, place = arm.robot.name, len(arm.turn_axes), len(arm.task)
    turn = {0: "free", 1: "angle"}.get(axes, "full") if asked == "auto" else asked
    field = "reference.orientation" if asked == "auto" else "orientation"
    if axes == 0 and asked != "free":
        raise DescriptionError(
            f"The reference says how the tool is turned, and no joint of '{name}' turns it.", field=field
        )
    if turn == "angle" and axes != 1:
        raise DescriptionError(
            f"The tool of '{name}' turns about more than one axis, and one angle does not say how; allowed: full, x, y, z, free.",
            field=field,
        )
    if turn not in ("angle", "free") and axes == 1:
        raise DescriptionError(f"The tool of '{name}' turns about one axis only; allowed: angle, free.", field=field)
    rows = place + SIZES[turn]
    if rows > arm.n:
        fewer = ", ".join(t for t in TURNS if place + SIZES[t] <= arm.n and t != "angle")
        raise DescriptionError(
            f"{who} would have to control {rows} coordinates of the tool with the {arm.n} joints of '{name}'; a controller may be told to "
            f"control less of the orientation: {fewer}.",
            field=field,
        )
    return turn


def check_reachable(turn: str, arm: Arm, motion: Any) -> None:
    """Can a tool that turns about one axis follow this orientation?

    Raises:
        DescriptionError: with the largest tilt that is left.
    """
    if turn != "angle":
        return
    axis = arm.turn_axes[0]
    seen = np.asarray(arm.pose(np.zeros(arm.n))[:3, :3], float).T @ axis  # the same in every posture
    t = np.linspace(0.0, float(motion.duration), LOOKS)
    off = np.linalg.norm(np.asarray(motion.rotation(t), float) @ seen - axis, axis=1)
    worst = int(np.argmax(off))
    if off[worst] > TILTED:
        raise DescriptionError(
            f"The tool of '{arm.robot.name}' cannot be turned as the reference says: at t = {t[worst]:.6g} s it would have to tilt by "
            f"{off[worst]:.2g} rad.",
            field="reference.orientation",
        )


class TurnTarget(NamedTuple):
    """Where the tool is to be turned: R (3, 3), ω and its rate (3,), in base axes."""

    R: np.ndarray
    omega: np.ndarray
    alpha: np.ndarray


class TurnError(NamedTuple):
    """Coordinates e, their rate, rows W and b (see above); ``drift`` is the rate at ω = 0."""

    e: np.ndarray
    rate: np.ndarray
    rows: np.ndarray
    bias: np.ndarray
    drift: np.ndarray


def turn_target(q: Vector, qd: Vector, qdd: Vector) -> TurnTarget:
    r"""From a quaternion of any length and its derivatives: :math:`\omega = 2\,\mathrm{vec}(\dot q\bar q)/|q|^2`, and its derivative."""
    square, rate = dot(q, q), dot(q, qd)
    first, second = _vec_times_conjugate(qd, q), _vec_times_conjugate(qdd, q)
    omega = array([2.0 * v / square for v in first])
    alpha = array([2.0 * (b - 2.0 * a * (rate / square)) / square for a, b in zip(first, second)])
    return TurnTarget(from_quaternion_wxyz(q), omega, alpha)


def _vec_times_conjugate(p: Vector, q: Vector) -> list[Scalar]:
    """The vector part of p q̄."""
    return [
        p[1] * q[0] - p[0] * q[1] - p[2] * q[3] + p[3] * q[2],
        p[2] * q[0] - p[0] * q[2] - p[3] * q[1] + p[1] * q[3],
        p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1],
    ]


def turn_error(
    turn: str, R: np.ndarray, omega: Vector, target: TurnTarget, near: Vector | None = None, axis: Vector | None = None
) -> TurnError:
    """The error of a tool turned by R with angular velocity ω.

    Args:
        turn: "full", "x", "y", "z" or "angle". near: the error just before (as many numbers), or None for the short way.
        axis: of an arm whose tool turns about one only ("angle").
    """
    if turn == "full":
        return _full(R, omega, target, near)
    if turn == "angle":
        return _angle(R, omega, target, near, array([0.0, 0.0, 1.0] if axis is None else axis))
    return _direction(AXES.index(turn), R, omega, target, near)


def _full(R: np.ndarray, omega: Vector, target: TurnTarget, near: Vector | None) -> TurnError:
    r""":math:`\dot e = J_l^{-1}\omega_d - J_r^{-1}\omega`, because :math:`\dot EE^T` belongs to :math:`\omega_d - E\omega`."""
    e = rotation_vector(array(target.R @ R.T), near)
    s = dot(e, e)
    c, slope = curvature(s)
    even = array([[c * (e[i] * e[j] - (s if i == j else 0.0)) + float(i == j) for j in range(3)] for i in range(3)])
    half = 0.5 * skew(e)
    rows = array(even + half)
    drift = array((even - half) @ target.omega)
    rate = array(drift - rows @ omega)
    apart, together = array(target.omega - omega), array(target.omega + omega)
    inner, turning = dot(e, rate), dot(e, apart)
    squared = array(e * turning - apart * s)
    mixed = array(e * dot(rate, apart) + rate * turning - apart * (2.0 * inner))
    bias = (even - half) @ target.alpha + squared * (2.0 * slope * inner) + c * mixed - 0.5 * cross(rate, together)
    return TurnError(e, rate, rows, array(bias), drift)


def _angle(R: np.ndarray, omega: Vector, target: TurnTarget, near: Vector | None, a: np.ndarray) -> TurnError:
    e = dot(a, rotation_vector(array(target.R @ R.T)))
    if near is not None:
        e = e + 2.0 * math.pi * ops.floor((near[0] - e) / (2.0 * math.pi) + 0.5)
    drift = array([dot(a, target.omega)])
    return TurnError(array([e]), array(drift - dot(a, omega)), array([a]), array([dot(a, target.alpha)]), drift)


def _direction(k: int, R: np.ndarray, omega: Vector, target: TurnTarget, near: Vector | None) -> TurnError:
    r"""With :math:`p = R_d^TR\,a` the direction as the wanted tool sees it and :math:`\nu = R_d^T(\omega-\omega_d)`: :math:`\dot p = \nu\times p`,
    :math:`e = g\,(p_j, -p_i)` with :math:`g = \theta/\sin\theta` of :math:`w = \cos\theta = p_k`, :math:`g' = (wg-1)/(1-w^2)`,
    :math:`g'' = (g+3wg')/(1-w^2)`.
    """
    i, j = (k + 1) % 3, (k + 2) % 3
    p = array(target.R.T @ R[:, k])
    nu = array(target.R.T @ array(omega - target.omega))
    pd = cross(nu, p)
    u, ud = array([p[j], -p[i]]), array([pd[j], -pd[i]])
    g, g1, g2 = _stretch(p[k], u, near)
    P = -skew(p)
    G = array([[g1 * u[0] * P[k, m] + g * P[j, m], g1 * u[1] * P[k, m] - g * P[i, m]] for m in range(3)]).T
    rows = array(-(G @ target.R.T))
    rate = array(G @ nu)
    p2 = cross(nu, pd)
    curved = array(g * array([p2[j], -p2[i]]) + 2.0 * g1 * pd[k] * ud + (g1 * p2[k] + g2 * pd[k] * pd[k]) * u)
    bias = rows @ array(target.alpha + cross(target.omega, omega)) + curved
    return TurnError(array(g * u), rate, rows, array(bias), array(rows @ target.omega))


def _stretch(w: Scalar, u: np.ndarray, near: Vector | None) -> tuple[Scalar, Scalar, Scalar]:
    """g, g′ and g″ of :func:`_direction` at w = cos θ; the series where w is near 1."""
    square = dot(u, u)  # sin² θ
    close = w > 1.0 - CLOSE
    x = ops.where(close, 1.0 - w, 0.0)
    first = [n * a for n, a in enumerate(DIRECTIONS)][1:]
    second = [n * a for n, a in enumerate(first)][1:]
    inside = _polynomial(DIRECTIONS, x), -_polynomial(first, x), _polynomial(second, x)
    outside = ops.where(close, 1.0, square)
    sine = ops.sqrt(outside)
    angle = ops.atan2(sine, w)
    if near is not None:  # of θ and θ − 2π along the same axis the one next to ``near``
        far = (angle - math.pi > dot(near, u) / sine) & (angle > 2.0 * math.pi - LONGEST)
        angle = ops.where(far, angle - 2.0 * math.pi, angle)
    g = angle / sine
    g1 = (w * g - 1.0) / outside
    g2 = (g + 3.0 * w * g1) / outside
    return ops.where(close, inside[0], g), ops.where(close, inside[1], g1), ops.where(close, inside[2], g2)

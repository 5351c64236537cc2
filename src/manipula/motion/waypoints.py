r"""Motions through points at given times.

A cubic or quintic piece between two waypoints is fixed by position, velocity (and acceleration) at both ends. What is not given follows
from continuity. With :math:`h=t_{i+1}-t_i`, :math:`\Delta=p_{i+1}-p_i` the derivatives at the start of a piece are

.. math::
    \text{cubic:}\quad \ddot p &= 6\Delta/h^2-(4v_0+2v_1)/h \\
    \text{quintic:}\quad \dddot p &= 60\Delta/h^3-(36v_0+24v_1)/h^2-(9a_0-3a_1)/h \\
    p^{(4)} &= -360\Delta/h^4+(192v_0+168v_1)/h^3+(36a_0-24a_1)/h^2

and at its end the same with time reversed. Equal accelerations (cubic), or equal jerks and fourth derivatives (quintic), on both sides of every
inner waypoint are a banded system for the velocities and accelerations there.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from manipula.algebra.arguments import finite_array
from manipula.errors import DescriptionError, LengthError
from manipula.motion.paths.fields import Space
from manipula.motion.piecewise import PiecewiseTrajectory, hermite
from manipula.motion.timing.base import checked_duration
from manipula.parts.checks import check_arguments
from manipula.parts.field import Choice, Number, Numbers, Rows

NARROWEST = 1e-9  # of the duration: waypoints closer in time than this are refused

# row of (Δ/h^k, v_0, v_1, a_0, a_1), each divided by its power of h, that gives a derivative at the start and at the end of a piece
_CUBIC_BEND = ((6.0, -4.0, -2.0), (-6.0, 2.0, 4.0))
_JERK = ((60.0, -36.0, -24.0, -9.0, 3.0), (60.0, -24.0, -36.0, -3.0, 9.0))
_SNAP = ((-360.0, 192.0, 168.0, 36.0, -24.0), (360.0, -168.0, -192.0, -24.0, 36.0))


def waypoints(
    times: Annotated[Any, Numbers("s", "times of the waypoints, increasing from 0", least=0.0)],
    points: Annotated[
        Any, Rows("rad or m", "waypoints, one row per time: one number per joint, or coordinates of the tip")
    ],
    velocities: Annotated[
        Any,
        Rows(
            "rad/s or m/s",
            "velocities at the waypoints; none: chosen so that the acceleration (quintic: and two more) is continuous",
        ),
    ] = None,
    space: Space = "joint",
    *,
    method: Annotated[
        Literal["cubic", "quintic", "blended"],
        Choice(
            "polynomials through the points, or straight lines with parabolic blends near them",
            "cubic",
            "quintic",
            "blended",
        ),
    ] = "cubic",
    ends: Annotated[
        Literal["clamped", "natural"] | None,
        Choice(
            "clamped: starts and ends at rest; natural: the lowest free derivatives vanish there; none: clamped, where something is free",
            "clamped",
            "natural",
        ),
    ] = None,
    accelerations: Annotated[
        Any,
        Rows(
            "rad/s² or m/s²",
            "accelerations at the waypoints of a quintic with velocities; none: the jerk is continuous",
        ),
    ] = None,
    blend: Annotated[Any, Number("s", "duration of every parabolic blend", above=0.0)] = None,
) -> PiecewiseTrajectory:
    r"""The motion through ``points`` (k, d) at ``times`` (k,), as polynomials with exact derivatives; it starts at ``times[0]`` = 0.

    ============  ===================  ===============================================================================
    method        velocities           what is continuous, what holds at the ends
    ============  ===================  ===============================================================================
    ``cubic``     none                 acceleration; at rest (clamped), or no acceleration (natural)
    ``cubic``     given                velocity; the acceleration jumps at waypoints, which are known instants of a run
    ``quintic``   none                 four derivatives; no velocity and acceleration (clamped), or no 3rd and 4th (natural)
    ``quintic``   given                jerk; no acceleration (clamped) or no jerk (natural) at the ends
    ``quintic``   and accelerations    acceleration; the jerk jumps
    ``blended``   not allowed          velocity; from rest to rest (clamped), or at the speed of the outer lines (natural)
    ============  ===================  ===============================================================================

    Blends meet the first and last point and pass the inner ones at the distance :math:`|v_i-v_{i-1}|\,t_b/8`; every blend lasts ``blend`` and is
    centred at its waypoint's time, the two at the ends inside the motion.

    Raises:
        DescriptionError: times that do not increase from 0, rows that do not fit, what is not a finite number, blends
            that overlap, and options that the method does not have.
    """
    optional = {"velocities": velocities, "ends": ends, "accelerations": accelerations, "blend": blend}
    given = {"times": times, "points": points, "space": space, "method": method}
    given |= {name: value for name, value in optional.items() if value is not None}
    check_arguments(waypoints, given, "waypoints")
    t, p = checked_times(times, "times"), checked_rows(points, "points", space)
    if len(t) != len(p) or len(t) < 2:
        raise LengthError(
            f"'times' and 'points' must have one entry per waypoint, at least two; found {len(t)} and {len(p)}.",
            field="points",
        )
    if t[0] != 0.0:
        raise DescriptionError(
            f"'times' must start at 0; found {t[0]:g}. A motion begins at 0: subtract it from all.", field="times"
        )
    if len(t) == 2 and method == "quintic" and ends == "natural" and velocities is None:
        raise LengthError(
            "Two points leave a natural quintic open; give three, velocities, or ends='clamped'.", field="points"
        )
    _refuse_what_does_not_act(method, velocities, accelerations, blend, ends)
    rates = [
        _rates(x, name, p.shape, space) for x, name in ((velocities, "velocities"), (accelerations, "accelerations"))
    ]
    at_rest = ends != "natural"
    try:
        with np.errstate(all="ignore"):  # what overflows is reported below
            if method == "blended":
                breaks, c = _blended(t, p, float(blend), at_rest)
            else:
                breaks, c = t, (_cubic if method == "cubic" else _quintic)(t, p, rates, at_rest)
    except np.linalg.LinAlgError:
        breaks, c = t, np.array(np.nan)
    if not np.isfinite(c).all():
        raise DescriptionError("The polynomials between these waypoints are not finite numbers.", field="points")
    motion = PiecewiseTrajectory(breaks, c, space)
    arrays = {"times": t, "points": p, "velocities": rates[0], "accelerations": rates[1]}
    given |= {name: x.tolist() for name, x in arrays.items() if x is not None}
    motion.description = {"kind": "waypoints", **given}
    return motion


def checked_times(times: Any, name: str) -> np.ndarray:
    """Increasing times (k,) of a motion."""
    t = finite_array(times, name)
    if t.ndim != 1 or len(t) < 2:
        raise LengthError(f"'{name}' must be a list of at least two times [s]; found shape {t.shape}.", field=name)
    gaps = np.diff(t)
    if not gaps.min() > 0.0:
        i = int(np.argmax(gaps <= 0.0))
        raise DescriptionError(
            f"'{name}' must increase; {name}[{i}] is {t[i]:g} s and {name}[{i + 1}] is {t[i + 1]:g} s.", field=name
        )
    duration = checked_duration(t[-1] - t[0], f"duration of '{name}'")
    if gaps.min() < NARROWEST * duration:
        i = int(np.argmin(gaps))
        raise DescriptionError(
            f"{name}[{i}] and {name}[{i + 1}] are {gaps[i]:g} s apart, less than {NARROWEST:g} of the whole duration.",
            field=name,
        )
    return t


def checked_rows(rows: Any, name: str, space: str) -> np.ndarray:
    """Rows (k, d) of numbers: one per joint, or two or three coordinates of the tip (two: z = 0)."""
    p = finite_array(rows, name)
    if p.ndim != 2 or not p.shape[1]:
        raise LengthError(f"'{name}' must be rows of numbers, one row per time; found shape {p.shape}.", field=name)
    if space == "task" and p.shape[1] not in (2, 3):
        raise LengthError(f"'{name}' in task space have 2 or 3 coordinates; found {p.shape[1]}.", field=name)
    return np.column_stack([p, np.zeros(len(p))]) if space == "task" and p.shape[1] == 2 else p


def _rates(given: Any, name: str, shape: tuple[int, ...], space: str) -> np.ndarray | None:
    if given is None:
        return None
    rates = checked_rows(given, name, space)
    if rates.shape != shape:
        raise LengthError(f"'{name}' must have the shape of the points, {shape}; found {rates.shape}.", field=name)
    return rates


def _refuse_what_does_not_act(method: str, velocities: Any, accelerations: Any, blend: Any, ends: Any) -> None:
    if (blend is not None) != (method == "blended"):
        raise DescriptionError(
            f"'blend' [s] belongs to method='blended', and is needed there; found method='{method}'.", field="blend"
        )
    if velocities is not None and method == "blended":
        raise DescriptionError(
            "'velocities' follow from the lines of method='blended'; leave them out.", field="velocities"
        )
    if accelerations is not None and (method != "quintic" or velocities is None):
        raise DescriptionError("'accelerations' belong to method='quintic' with 'velocities'.", field="accelerations")
    if ends is not None and (accelerations is not None or (method == "cubic" and velocities is not None)):
        raise DescriptionError("'ends' has nothing to choose where everything is given; leave it out.", field="ends")


def _cubic(t: np.ndarray, p: np.ndarray, rates: list[np.ndarray | None], at_rest: bool) -> np.ndarray:
    h, rise = np.diff(t)[:, None], np.diff(p, axis=0)
    v = rates[0]
    if v is None:
        start, end = ([k[0] * rise / h**2, k[1] / h, k[2] / h] for k in _CUBIC_BEND)
        v = _continuous(((start, end),), len(t), at_rest)[0]
    bend = (h * (v[:-1] + v[1:]) - 2.0 * rise) / h**3
    return np.stack([p[:-1], v[:-1], (rise / h - v[:-1]) / h - bend * h, bend], axis=1)


def _quintic(t: np.ndarray, p: np.ndarray, rates: list[np.ndarray | None], at_rest: bool) -> np.ndarray:
    h, rise = np.diff(t)[:, None], np.diff(p, axis=0)
    v, a = rates
    jerk, snap = (
        tuple(
            [k[0] * rise / h**n, k[1] / h ** (n - 1), k[2] / h ** (n - 1), k[3] / h ** (n - 2), k[4] / h ** (n - 2)]
            for k in rows
        )
        for rows, n in ((_JERK, 3), (_SNAP, 4))
    )
    if v is None:
        v, a = _continuous((jerk, snap), len(t), at_rest)
    elif a is None:
        known = tuple([c[0] + c[1] * v[:-1] + c[2] * v[1:], c[3], c[4]] for c in jerk)
        a = _continuous((known,), len(t), at_rest)[0]
    assert a is not None
    data = np.stack([p, v, a])
    return hermite(data[:, :-1], data[:, 1:], h[:, 0])


def _continuous(derivatives: Any, k: int, at_rest: bool) -> np.ndarray:
    """Unknowns at k waypoints, (u, k, d), that make u derivatives continuous; at the ends they are 0 (``at_rest``), or the derivatives are.

    A derivative at the start and at the end of every piece is ``c[0] + c[1] x_0 + c[2] x_1 (+ c[3] y_0 + c[4] y_1)``, where x and y
    are the unknowns at the two ends.
    """
    from scipy.linalg import solve_banded

    u = len(derivatives)
    wide = 2 * u - 1
    band = np.zeros((2 * wide + 1, u * k))
    right = np.zeros((u * k, np.shape(derivatives[0][0][0])[1]))

    def put(row: np.ndarray, column: np.ndarray, values: np.ndarray) -> None:
        band[wide + row - column, column] += values

    for r, (start, end) in enumerate(derivatives):
        scale = 1.0 / np.abs(start[1]).ravel()  # of the pieces, so that rows of short and long ones are alike
        for c, at, sign in ((start, np.arange(k - 1), 1.0), (end, np.arange(1, k), -1.0)):
            inner = (at > 0) & (at < k - 1)
            use = inner if at_rest else np.ones(k - 1, bool)
            piece, rows = np.arange(k - 1)[use], u * at[use] + r
            weight = sign * np.minimum(scale[np.maximum(at[use] - 1, 0)], scale[np.minimum(at[use], k - 2)])
            right[rows] -= weight[:, None] * c[0][piece]
            for j in range(u):
                for side in (0, 1):
                    put(rows, u * (piece + side) + j, weight * c[1 + 2 * j + side].ravel()[piece])
        if at_rest:
            for row in (r, u * (k - 1) + r):
                put(np.array(row), np.array(row), np.array(1.0))
    return solve_banded((wide, wide), band, right, check_finite=False).reshape(k, u, -1).transpose(1, 0, 2)


def _blended(t: np.ndarray, p: np.ndarray, blend: float, at_rest: bool) -> tuple[np.ndarray, np.ndarray]:
    """Breaks and coefficients (pieces, 3, d) of lines with parabolas of duration ``blend`` around the waypoints."""
    h = np.diff(t)
    low, high = t - blend / 2, t + blend / 2  # of every blend
    low[0], high[0] = 0.0, blend if at_rest else 0.0
    low[-1], high[-1] = t[-1] - (blend if at_rest else 0.0), t[-1]
    room = low[1:] - high[:-1]
    if room.min() < -1e-12 * t[-1]:
        i = int(np.argmin(room))
        raise DescriptionError(
            f"'blend' is {blend:g} s; the blends of waypoints {i + 1} and {i + 2} overlap, which are {h[i]:g} s apart.",
            field="blend",
        )
    if at_rest:  # half a blend is lost at either end
        h[0] -= blend / 2
        h[-1] -= blend / 2
    lines = np.diff(p, axis=0) / h[:, None]
    outside = np.zeros_like(lines[:1])
    v = np.vstack([outside if at_rest else lines[:1], lines, outside if at_rest else lines[-1:]])
    knots, speed = np.stack([low, high], axis=1).ravel(), np.stack([v[:-1], v[1:]], axis=1).reshape(-1, p.shape[1])
    keep = np.append(np.diff(knots) > 1e-12 * t[-1], True)  # blends that touch, and ends without one, leave no piece
    knots, speed = knots[keep], speed[keep]
    knots[0], knots[-1] = 0.0, t[-1]
    x = np.diff(knots)[:, None]
    passed = p[0] + np.vstack([outside, np.cumsum(x * (speed[:-1] + speed[1:]) / 2, axis=0)])
    return knots, np.stack([passed[:-1], speed[:-1], np.diff(speed, axis=0) / (2 * x)], axis=1)

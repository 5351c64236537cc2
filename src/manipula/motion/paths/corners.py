r"""Rounding of a polyline's corners, and the curves that do it.

A corner at P between unit directions a (in) and b (out) is cut at distance d on both sides:

``parabolic``
    the parabola with control points P − d a, P, P + d b; the tangent is continuous, the curvature jumps.
``circular``
    the arc of radius d / tan(φ/2), φ the turning angle; likewise.
``quintic``
    a quintic Bézier whose first three control points lie evenly on the incoming line and last three on the outgoing one,
    so that the curvature starts and ends at 0: position, tangent and curvature are continuous (C²).
"""

from __future__ import annotations

import numpy as np

from manipula.errors import DescriptionError
from manipula.motion.paths.base import Curve
from manipula.motion.paths.circle import CircularArc
from manipula.motion.paths.polynomial import bezier, joined

STRAIGHT = 1e-9  # [rad] a corner that turns less is a straight run
QUINTIC_SPACING = 0.4  # of d between control points; 0.5 would put the middle two on the corner itself


def blended(points: np.ndarray, gaps: np.ndarray, closed: bool, blend: float, shape: str, name: str) -> list[Curve]:
    """The polyline through ``points`` (last = first when closed) with every corner rounded.

    A closed figure starts on its first side just after the first corner, which is rounded last.
    """
    directions = np.diff(points, axis=0) / gaps[:, None]
    n = len(gaps)
    corner_after = [i for i in range(n) if closed or i < n - 1]  # corner at the end of side i
    cut_start, cut_end = np.zeros(n), np.zeros(n)
    curves_at: dict[int, np.ndarray | Curve] = {}
    for i in corner_after:
        a, b, P = directions[i], directions[(i + 1) % n], points[i + 1]
        turn = 2.0 * np.arctan2(np.linalg.norm(b - a), np.linalg.norm(b + a))
        if turn < STRAIGHT:
            continue
        if np.pi - turn < 1e-6:
            raise DescriptionError(f"'{name}' turns back on itself at point {i + 1}; such a corner cannot be blended.")
        cut_end[i] = cut_start[(i + 1) % n] = blend
        curves_at[i] = _corner(P, a, b, blend, turn, shape)
    rest = gaps - cut_start - cut_end
    if np.any(rest < -1e-12 * gaps):
        i = int(np.argmin(rest))
        raise DescriptionError(
            f"'blend' is {blend} but side {i} of '{name}' is only {gaps[i]:.6g} long [m or rad]; it must keep both cuts.",
            field="blend",
        )
    out: list[Curve] = []
    pieces: list[np.ndarray] = []
    widths: list[float] = []

    def flush() -> None:
        if pieces:
            out.append(joined(pieces, widths))
            pieces.clear()
            widths.clear()

    for i in range(n):
        if rest[i] > 1e-12 * gaps[i]:
            start = points[i] + cut_start[i] * directions[i]
            pieces.append(np.array([start, rest[i] * directions[i]]))
            widths.append(float(rest[i]))
        corner = curves_at.get(i)
        if isinstance(corner, Curve):
            flush()
            out.append(corner)
        elif corner is not None:
            pieces.append(corner)
            widths.append(1.6 * blend)
    flush()
    return out


def _corner(P: np.ndarray, a: np.ndarray, b: np.ndarray, d: float, turn: float, shape: str) -> np.ndarray | Curve:
    A, B = P - d * a, P + d * b
    if shape == "parabolic":
        return bezier(np.array([A, P, B]))
    if shape == "quintic":
        c = QUINTIC_SPACING * d
        return bezier(np.array([A, A + c * a, A + 2 * c * a, B - 2 * c * b, B - c * b, B]))
    inward = b - a * (a @ b)
    inward /= np.linalg.norm(inward)
    radius = d / np.tan(turn / 2)
    return CircularArc(A + radius * inward, -inward, a, radius, turn)

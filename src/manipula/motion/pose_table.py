r"""A motion of position and orientation as polynomials: x y z and a quaternion wxyz of any length, piece by piece.

With the unit quaternion of :math:`q(t)` the rotation is

.. math:: R = \mathbf 1 + \frac{2}{|q|^2}\left(w\,[u]_\times + [u]_\times^2\right),\qquad q = (w, u),

and its derivatives are those of this quotient, exactly. Measured poses become one by ``reference_from(t, rows, space="pose")``.
"""

from __future__ import annotations

from math import factorial
from typing import Annotated, Any

import numpy as np

from manipula.algebra.jet import Jet
from manipula.algebra.rotation import from_quaternion_wxyz
from manipula.errors import DescriptionError
from manipula.motion.paths.base import Side
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.trajectory import OrientedTrajectory
from manipula.parts.checks import check_arguments
from manipula.parts.field import Numbers, Rows

COORDINATES = 7
SHORTEST = 1e-3  # of a quaternion: a shorter one does not say how the tool is turned
LOOKS = 8  # in a piece


class PoseTable(OrientedTrajectory):
    """A motion of the tool, or of a base, by a table of seven coordinates.

    Args:
        table: x y z and a quaternion wxyz, (7,), of continuous sign.
    """

    space = "task"
    dimension = 3

    def __init__(self, table: PiecewiseTrajectory) -> None:
        if table.dimension != COORDINATES:
            raise DescriptionError(
                f"A motion of position and orientation has 7 coordinates, x y z and a quaternion wxyz; found {table.dimension}.",
                field="coefficients",
            )
        self.table, self.duration = table, table.duration
        b = table.breaks
        t = np.append((b[:-1, None] + np.diff(b)[:, None] * np.arange(LOOKS) / LOOKS).ravel(), b[-1])
        size = np.linalg.norm(table.derivatives(t, 0)[0][:, 3:], axis=1)
        if size.min() < SHORTEST:
            raise DescriptionError(
                f"The quaternion is {size.min():.2g} long at t = {t[int(np.argmin(size))]:.6g} s and does not say how the tool is turned.",
                field="coefficients",
            )

    def __repr__(self) -> str:
        return f"PoseTable({len(self.table.coefficients)} pieces, duration={self.duration:.6g})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PoseTable) and self.table == other.table

    def __hash__(self) -> int:
        return hash((PoseTable, self.table))

    @property
    def description(self) -> dict[str, Any]:
        """As a scenario file holds it."""
        return {"kind": "pose_table", "breaks": self.table.breaks.tolist(), "coefficients": self.table.coefficients.tolist()}  # fmt: skip

    @property
    def has_orientation(self) -> bool:
        return True

    @property
    def breaks(self) -> np.ndarray:
        return self.table.breaks

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        return self.table.derivatives(t, order, side)[..., :3]

    def rotation_rates(self, t: Any, order: int, side: Side = "right") -> np.ndarray:
        """``[R, Ṙ, …]`` at times t: shape (order + 1, *t.shape, 3, 3)."""
        times = np.asarray(t, float)
        q = self.table.derivatives(times.ravel(), order, side)[..., 3:]
        return rotation_series(q).reshape(order + 1, *times.shape, 3, 3)


def rotation_series(q: np.ndarray) -> np.ndarray:
    """R and its derivatives (order + 1, S, 3, 3) from those of a quaternion of any length (order + 1, S, 4)."""
    order = len(q) - 1
    series = [Jet([q[k, :, i] / factorial(k) for k in range(order + 1)], 1) for i in range(4)]
    out = np.zeros((order + 1, q.shape[1], 3, 3))
    for index, entry in np.ndenumerate(from_quaternion_wxyz(series)):
        for k in range(order + 1):
            out[(k, slice(None), *index)] = entry.coefficients[k] * factorial(k)
    return out


def continuous(rows: np.ndarray) -> np.ndarray:
    """Rows x y z and quaternion wxyz (N, 7), the quaternions of length 1 and of the sign of the one before.

    Raises:
        DescriptionError: a quaternion of length 0, or neighbours so far apart that nobody knows which way it turned.
    """
    size = np.linalg.norm(rows[:, 3:], axis=1)
    if size.min() < SHORTEST:
        raise DescriptionError(f"The quaternion of sample {int(np.argmin(size))} has the length {size.min():.3g}.", field="q")  # fmt: skip
    q = rows[:, 3:] / size[:, None]
    inner = np.sum(q[1:] * q[:-1], axis=1)
    q[1:][np.cumsum(inner < 0.0) % 2 == 1] *= -1.0
    far = int(np.argmin(np.abs(inner)))
    if abs(inner[far]) < np.cos(np.pi / 4):
        turned = np.degrees(2.0 * np.arccos(abs(inner[far])))
        raise DescriptionError(
            f"Between samples {far} and {far + 1} the tool turns by {turned:.0f}°; more than 90° does not say which way.",
            field="q",
        )
    return np.column_stack([rows[:, :3], q])


def pose_table(
    breaks: Annotated[Any, Numbers("s", "ends of the pieces, increasing", example=(0.0, 1.0))],
    coefficients: Annotated[Any, Rows("m, 1", "for every piece rows of 7 coefficients, lowest power first")],
) -> PoseTable:
    """A table of polynomials of position and quaternion: breaks (pieces + 1,), coefficients (pieces, degree + 1, 7)."""
    check_arguments(pose_table, {"breaks": breaks, "coefficients": coefficients}, "a reference")
    return PoseTable(PiecewiseTrajectory(breaks, np.asarray(coefficients, float), "task"))

r"""Trajectories as tables of polynomials, for compiled loops and for exact joint moves.

On the i-th piece :math:`p(t)=\sum_k c_{ik}(t-t_i)^k`. Any trajectory becomes such a table of quintic Hermite pieces,
which meet position, velocity and acceleration at both ends of each piece; pieces are halved until the three agree
everywhere. A motion that is a polynomial of degree 5 or less (a quintic law on a line) is reproduced exactly by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from manipula.algebra.arguments import positive
from manipula.algebra.value import read_only
from manipula.errors import BudgetError, DescriptionError, ShapeError
from manipula.lazy import cached_property
from manipula.motion.looks import cuts_at
from manipula.motion.paths.base import Side
from manipula.motion.timing.base import PiecewiseProfile, is_one, locate, taylor
from manipula.motion.trajectory import Trajectory

MAX_PIECES = 1_000_000
ROUNDS = 60  # of cutting pieces where a motion was seen to be another than they say
MISSED = 30.0  # times what its pieces are known to miss: by so much more a table does not show the motion
LOST = 1e-8  # of a position of size 1: by so much nothing may be missing in the end
NARROWEST = 1e-8  # of the duration: of a piece
ROUNDING = 3e-14  # of a position of size 1, as a bound; it shows as 2/h of it in the velocity, 6/h² in the acceleration
_CHECK = np.array([0.07, 0.2, 0.35, 0.5, 0.65, 0.8, 0.93])  # where a piece is compared, in fractions of its length

# c_3, c_4, c_5 on [0, 1] from what the quadratic start misses at the end: in position, velocity, acceleration
_HERMITE = np.linalg.inv(np.array([[1.0, 1.0, 1.0], [3.0, 4.0, 5.0], [6.0, 12.0, 20.0]]))


class PiecewiseTrajectory(Trajectory):
    """A motion given by polynomials.

    Args:
        breaks: increasing times from 0, shape (pieces + 1,).
        coefficients: shape (pieces, degree + 1, dimension), lowest power first, in time since the piece's start.
        space: ``"task"`` or ``"joint"``.
        accuracy: largest error found in position, velocity and acceleration when the table stands for another motion.
    """

    def __init__(
        self,
        breaks: Any,
        coefficients: Any,
        space: Literal["task", "joint"] = "task",
        accuracy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        self.accuracy = accuracy
        # what a scenario file holds, when less than the table says it
        self.description: Mapping[str, Any] | None = None
        self._breaks, self.coefficients = (
            read_only(np.asarray(breaks, float)),
            read_only(np.asarray(coefficients, float)),
        )
        if self.coefficients.ndim != 3 or self._breaks.shape != (len(self.coefficients) + 1,):
            raise ShapeError(
                f"A table needs coefficients (pieces, degree + 1, dimension) and pieces + 1 breaks; found "
                f"{self.coefficients.shape} and {self._breaks.shape}."
            )
        if self._breaks[0] != 0 or np.any(np.diff(self._breaks) <= 0):
            shown = np.array2string(self._breaks, precision=6, threshold=6)
            raise DescriptionError(
                f"The breaks of a trajectory [s] must start at 0 and increase; found {shown}.", field="breaks"
            )
        self.duration, self.dimension, self.space = float(self._breaks[-1]), self.coefficients.shape[2], space

    def __repr__(self) -> str:
        what = dict(self.description) if self.description else f"{len(self.coefficients)} pieces, degree {self.coefficients.shape[1] - 1}"  # fmt: skip
        return f"PiecewiseTrajectory({what}, duration={self.duration:.6g}, space='{self.space}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PiecewiseTrajectory) and (
            self.space == other.space
            and np.array_equal(self._breaks, other._breaks)
            and np.array_equal(self.coefficients, other.coefficients)
        )

    def __hash__(self) -> int:
        return hash((self.space, self._breaks.tobytes(), self.coefficients.tobytes()))

    @property
    def breaks(self) -> np.ndarray:
        return self._breaks

    def native_table(self) -> tuple[np.ndarray, np.ndarray]:
        """Breaks, and coefficients in the order (piece, coordinate, power) that ``manipula.native.table`` reads."""
        return self._breaks, np.ascontiguousarray(self.coefficients.transpose(0, 2, 1))

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        if is_one(t, order, side):
            inside, piece, resting = locate(self._breaks, self.duration, t, side)
            x = inside - self._breaks.item(piece)
            one = np.array([taylor(c, x, order) for c in self.coefficients[piece].T.tolist()]).T
            if resting:
                one[1:] = 0.0
            return one
        return self._profile.evaluate(t, order, side)

    @cached_property
    def _profile(self) -> PiecewiseProfile:
        return PiecewiseProfile(self._breaks, self.coefficients)


def to_piecewise(trajectory: Trajectory, tolerance: float = 1e-9) -> PiecewiseTrajectory:
    """Quintic pieces that agree with ``trajectory`` in position, velocity and acceleration.

    The error of each is at most ``tolerance``·(1 + its largest magnitude) at the points compared, seven per piece. A piece is
    left as it is when its halves would not be better and rounding explains its error, for rounding grows by 1/h² in the
    acceleration (about 1e-9 of a sharply curved motion is the floor). ``accuracy`` of the result says what was reached.
    """
    if isinstance(trajectory, PiecewiseTrajectory):
        return trajectory
    if getattr(trajectory, "has_orientation", False):
        raise DescriptionError(
            "A table of polynomials holds positions only, and this motion also says how the tool is turned; "
            "make the table from the motion without its orientation.",
            field="orientation",
        )
    tolerance = positive(tolerance, "tolerance")
    looks, edges = trajectory.looks().places, np.asarray(trajectory.breaks, float)
    table = _table(trajectory, tolerance, edges)
    if not len(looks):
        return table
    seen = trajectory.derivatives(looks, 2)
    scale = 1.0 + np.abs(seen).max(axis=(1, 2))[:, None]
    for _ in range(ROUNDS):
        missed = (
            np.abs(table.derivatives(looks, 2) - seen).max(axis=2)
            > MISSED * np.maximum(tolerance * scale, np.array(table.accuracy)[:, None])
        ).any(axis=0)
        if not missed.any():
            break
        edges = cuts_at(looks, missed, edges)
        table = _table(trajectory, tolerance, edges)
    off = np.abs(table.derivatives(looks, 0)[0] - seen[0]).max(axis=1)
    if off.max() > max(LOST, MISSED * tolerance) * scale[0, 0]:
        raise DescriptionError(
            f"At t = {looks[int(np.argmax(off))]:.9g} s this motion does something within less than {NARROWEST * trajectory.duration:.1g} s that changes its "
            f"position by {off.max():.3g}; a table cannot follow it. Make it wider, or leave it out.",
            field="reference",
        )
    return table


def _table(trajectory: Trajectory, tolerance: float, edges: np.ndarray) -> PiecewiseTrajectory:
    """The table whose pieces begin at ``edges`` and are halved where they are not good enough."""
    fit = _Fit(trajectory, edges[:-1], edges[1:])
    scale = 1.0 + fit.magnitude
    done: list[_Fit] = []
    count = 0
    while len(fit.low):
        good = np.all(fit.error <= tolerance * scale[:, None], axis=0)
        done.append(fit.chosen(good))
        parent = fit.chosen(~good)
        middle = (parent.low + parent.high) / 2
        first, second = _Fit(trajectory, parent.low, middle), _Fit(trajectory, middle, parent.high)
        scale = 1.0 + np.maximum(scale - 1.0, np.maximum(first.magnitude, second.magnitude))
        halves = np.max(np.maximum(first.error, second.error) / scale[:, None], axis=0)
        h = parent.high - parent.low
        noise = np.all(
            parent.error <= ROUNDING * scale[0] * np.array([[1], [2], [6]]) / h ** np.arange(3)[:, None], axis=0
        )
        keep = (noise & (halves > 0.5 * np.max(parent.error / scale[:, None], axis=0))) | (
            h < NARROWEST * trajectory.duration
        )
        done.append(parent.chosen(keep))
        fit = _Fit.joined([first.chosen(~keep), second.chosen(~keep)])
        count += int(good.sum()) + int(keep.sum())
        if count + len(fit.low) > MAX_PIECES:
            raise BudgetError(
                f"to_piecewise(): a tolerance of {tolerance:g} (m or rad) needs more than {MAX_PIECES} pieces; give a larger one.",
                field="tolerance",
            )
    pieces = _Fit.joined(done)
    order = np.argsort(pieces.low)
    a, b, c = (float(x) for x in pieces.error.max(axis=1))
    breaks = np.append(pieces.low[order], trajectory.duration)
    return PiecewiseTrajectory(breaks, pieces.coefficients[order], trajectory.space, (a, b, c))


class _Fit:
    """Quintic pieces on intervals [low, high] with their largest errors in position, velocity and acceleration."""

    def __init__(self, trajectory: Trajectory | None, low: np.ndarray, high: np.ndarray) -> None:
        self.low, self.high = low, high
        self.magnitude = np.zeros(3)
        if trajectory is None or not len(low):
            dimension = 0 if trajectory is None else trajectory.dimension
            self.coefficients, self.error = np.zeros((0, 6, dimension)), np.zeros((3, 0))
            return
        h = high - low
        self.coefficients = hermite(trajectory.derivatives(low, 2), trajectory.derivatives(high, 2, "left"), h)
        t = low[:, None] + h[:, None] * _CHECK
        exact = trajectory.derivatives(t, 2)
        self.magnitude = np.abs(exact).max(axis=(1, 2, 3))
        self.error = np.abs(_evaluate(self.coefficients, t - low[:, None]) - exact).max(axis=(2, 3))

    def chosen(self, which: np.ndarray) -> _Fit:
        out = _Fit(None, self.low[which], self.high[which])
        out.coefficients, out.error = self.coefficients[which], self.error[:, which]
        return out

    @classmethod
    def joined(cls, parts: list[_Fit]) -> _Fit:
        out = cls(None, np.concatenate([p.low for p in parts]), np.concatenate([p.high for p in parts]))
        out.coefficients = np.concatenate([p.coefficients for p in parts])
        out.error = np.concatenate([p.error for p in parts], axis=1)
        return out


def hermite(start: np.ndarray, end: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Power coefficients (pieces, 6, d) from [p, v, a] at both ends, shape (3, pieces, d) each."""
    width = h[:, None]
    c0, c1, c2 = start[0], start[1] * width, start[2] * width**2 / 2  # on [0, 1]
    missing = np.stack([end[0] - (c0 + c1 + c2), end[1] * width - (c1 + 2 * c2), end[2] * width**2 - 2 * c2])
    c3, c4, c5 = np.tensordot(_HERMITE, missing, axes=1)
    return np.stack([c / width**k for k, c in enumerate((c0, c1, c2, c3, c4, c5))], axis=1)


def _evaluate(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """[p, v, a] of the pieces at local times x (pieces, points): shape (3, pieces, points, d)."""
    x = x[:, :, None]
    c = c[:, :, None, :]
    p = c[:, 5]
    v, a = 5 * c[:, 5], 20 * c[:, 5]
    for k in range(4, -1, -1):
        p = p * x + c[:, k]
        if k >= 1:
            v = v * x + k * c[:, k]
        if k >= 2:
            a = a * x + k * (k - 1) * c[:, k]
    return np.stack(np.broadcast_arrays(p, v, a))

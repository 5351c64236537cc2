r"""What a path is: a curve :math:`p(s)` over its arc length s, from 0 to ``length``.

A primitive writes only :meth:`Curve.point`, a plain formula over :mod:`manipula.algebra.ops` of its own parameter u.
Everything else follows here: Taylor numbers give the derivatives by u, :class:`~.arc_length.ArcLength` gives s(u) and
its inverse, and the chain

.. math:: \frac{du}{ds} = \frac{1}{|p'(u)|}

applied to the Taylor series gives the derivatives by s, so :math:`|dp/ds| = 1` to rounding.

At a corner the derivatives have two values. ``side="right"`` (the default) is the value just after, ``"left"`` the one
just before; at the end of the path only the left value exists and is returned.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manipula.algebra.arguments import Extensible, between, choice, real_array, whole_number
from manipula.algebra.jet import Jet
from manipula.algebra.value import read_only
from manipula.errors import DescriptionError, ManipulaError, ShapeError, printable
from manipula.identity import is_own
from manipula.motion.breaks import Side, located, located_one
from manipula.motion.looks import NONE, LookPlaces, joined, looks_at
from manipula.motion.paths.arc_length import AHEAD, ArcLength, expansion, measured

if TYPE_CHECKING:
    from manipula.motion.paths.orientation import Orientation

HIGHEST_ORDER = 64  # of a derivative
SNAP = 1e-14  # of the length: an s this near a break is taken to be on it
STANDSTILL = 1e-9  # of the mean |dp/du|: below this a cusp is assumed and the tangent is taken just beside it


class Curve(Extensible, ABC):
    """A curve over its own parameter u, smooth between consecutive ``breaks``.

    Attributes:
        dimension: number of coordinates.
        breaks: increasing parameters, shape (pieces + 1,); the first and last are the ends.
        speed: |dp/du| when it is the same everywhere (line, circle, helix), else None.
        halvings: how far ahead its length is looked at, see :class:`~.arc_length.ArcLength`.
    """

    dimension: int = 3
    breaks: np.ndarray
    speed: float | None = None
    halvings: tuple[tuple[int, int], ...] = AHEAD[1:]

    @abstractmethod
    def point(self, u: Any, piece: Any) -> Sequence[Any]:
        """Coordinates at u, for any scalar; ``piece`` is the index of the smooth piece (an int array over a grid)."""

    def series(self, u: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        """Taylor coefficients by u on a grid, shape (order + 1, N, dimension)."""
        out = np.zeros((order + 1, len(u), self.dimension))
        who = f"'point' of {type(self).__name__}"
        try:
            given = self.point(Jet.variable(u, order), piece)
        except ManipulaError:
            raise
        except Exception as error:  # user code
            raise DescriptionError(f"{who} fails: {type(error).__name__}: {error}.", field="path") from error
        if not hasattr(given, "__len__") or len(given) != self.dimension:
            raise DescriptionError(
                f"{who} gives {printable(repr(given), 60)}; {self.dimension} coordinates are needed.", field="path"
            )
        for i, coordinate in enumerate(given):
            if isinstance(coordinate, Jet):
                for k, c in enumerate(coordinate.coefficients):
                    out[k, :, i] = c
            else:
                out[0, :, i] = coordinate
        return out

    def series_one(self, u: float, piece: int, order: int) -> np.ndarray | None:
        """Taylor coefficients at one u, shape (order + 1, dimension); ``None`` for a curve that somebody wrote for grids."""
        if not type(self).__module__.startswith("manipula."):
            return None
        given = self.point(Jet.variable(u, order) if order else u, piece)
        rows = [x.coefficients if isinstance(x, Jet) else (x, *[0.0] * order) for x in given]
        return np.array(rows, float).T.copy()

    def speeds(self, u: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """|dp/du| on a grid."""
        with np.errstate(all="ignore"):  # a non-finite speed is reported with its parameter by the arc length
            return np.linalg.norm(self.series(u, piece, 1)[1], axis=1)

    def looks(self) -> LookPlaces:
        """Parameters at which it has to be looked at (:mod:`~..looks`): none of our own curves, which are what their breaks say."""
        if type(self).__module__.startswith("manipula."):
            return NONE
        edges = np.asarray(self.breaks, float)
        return joined([self._looks_on(i, float(a), float(b)) for i, (a, b) in enumerate(zip(edges, edges[1:]))])

    def _looks_on(self, piece: int, low: float, high: float) -> LookPlaces:
        return looks_at([lambda u, k=k: self.point(u, piece)[k] for k in range(self.dimension)], low, high)

    def expand(self, low: np.ndarray, half: np.ndarray, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Series of |dp/du| on panels, see :data:`~.arc_length.Expansion`."""
        return expansion(self.speeds)(low, half, piece)


def at_piece(u: Any, table: np.ndarray, piece: Any) -> Any:
    """``table[piece]`` as a constant that may be combined with ``u`` (a grid of values becomes a Taylor number)."""
    value = table[piece]
    return u.constant(value) if isinstance(u, Jet) else value


def _by_arc_length(c: np.ndarray) -> np.ndarray:
    """Taylor coefficients by u, shape (K+1, N, d) → by s, from du/ds = 1/|p'(u)| order by order."""
    K = len(c) - 1
    if K == 0:
        return c
    rate = Jet([(k + 1) * c[k + 1] for k in range(K)], 1)
    square = rate * rate
    speed = Jet([part.sum(axis=1, keepdims=True) for part in square.coefficients], 1).sqrt().coefficients
    step: list[Any] = [0.0, 1.0 / speed[0]]  # u(s) − u(0)
    for k in range(2, K + 1):
        du_ds = 1.0 / _compose(speed, Jet(step[:k], 1))
        step.append(du_ds.coefficients[k - 1] / k)
    return np.array(_compose(c, Jet(step, 1)).coefficients)


def _compose(coefficients: Any, x: Jet) -> Jet:
    """Σ c_k x^k to the order of x (Horner)."""
    used = coefficients[: x.order + 1]
    total = x.constant(used[-1])
    for c in used[-2::-1]:
        total = total * x + x.constant(c)
    return total


class Path:
    """Curves joined end to end, evaluated by arc length, optionally with an orientation.

    Attributes:
        curves: the parts.
        length: total arc length; in joint space the Euclidean norm of the joint vector is meant.
        dimension: 3 in task space, the number of joints in joint space.
        space: ``"task"`` or ``"joint"``.
        breaks: arc lengths where a derivative may jump, ends included.
        orientation: how the tool is turned along the path, or None.
        description: the primitive and its arguments, as written in a scenario file; None for composed Python objects.
    """

    def __init__(
        self,
        curves: Sequence[Curve],
        *,
        space: Literal["task", "joint"] = "task",
        orientation: Orientation | None = None,
        description: Mapping[str, Any] | None = None,
    ) -> None:
        self.curves = tuple(curves)
        if not self.curves:
            raise DescriptionError("A path needs at least one curve; found none.")
        self.dimension = self.curves[0].dimension
        if any(curve.dimension != self.dimension for curve in self.curves):
            found = sorted({curve.dimension for curve in self.curves})
            raise ShapeError(f"The curves of one path must have the same number of coordinates; found {found}.")
        self.space: Literal["task", "joint"] = space
        self.orientation, self.description = orientation, description
        self.read: Mapping[str, Any] = {}  # arguments as read from a file, which stand in the description for its name
        self._measure()

    def _measure(self) -> None:
        """Arc lengths of the curves as they are now."""
        tables: list[ArcLength | None] = []
        ends, offsets = [np.zeros(1)], [0.0]
        owner: list[int] = []
        pieces: list[int] = []
        for i, curve in enumerate(self.curves):
            breaks = np.asarray(curve.breaks, float)
            if breaks.ndim != 1 or len(breaks) < 2 or not (breaks[1:] > breaks[:-1]).all():
                raise DescriptionError(f"Curve {i} of the path needs two or more increasing breaks; found {breaks}.")
            if curve.speed is not None:
                table, local = None, (breaks - breaks[0]) * curve.speed
            else:
                table = measured(curve.expand, curve.speeds, breaks, curve.halvings, curve.looks().places)
                local = table.piece_ends
            if not 0.0 < float(local[-1]) < math.inf:
                raise DescriptionError(f"Curve {i} of the path has length {local[-1]}; it must be greater than 0.")
            tables.append(table)
            ends.append(local[1:] + offsets[-1])
            offsets.append(offsets[-1] + float(local[-1]))
            owner += [i] * (len(breaks) - 1)
            pieces += range(len(breaks) - 1)
        self.breaks, self._tables = read_only(np.concatenate(ends), mine=True), tables
        self.length = float(self.breaks[-1])
        self._offset, self._owner, self._piece = np.array(offsets), np.array(owner), np.array(pieces)

    def looks(self) -> LookPlaces:
        """Arc lengths at which it has to be looked at, see :mod:`~..looks`."""
        parts = []
        for curve, table, offset in zip(self.curves, self._tables, self._offset):
            found = curve.looks()
            if len(found.places):
                breaks = np.asarray(curve.breaks, float)
                u = found.places
                s = (u - breaks[0]) * float(curve.speed or 0.0) if table is None else table.length(u)
                ends = breaks[-1] - breaks[0]
                rate = float(curve.speed or 0.0) if table is None else table.total / ends
                parts.append(LookPlaces(np.clip(s + offset, 0.0, self.length), found.hidden * rate))
        return joined(parts) if parts else NONE

    def renew(self) -> None:
        """Measure curves that somebody wrote again: what their functions read may have changed since."""
        if not is_own(self.curves):
            self._measure()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Path) and self.description is not None and self.description == other.description

    def __hash__(self) -> int:
        # equal descriptions give equal lengths; their texts may differ (1 and 1.0)
        return id(self) if self.description is None else hash((self.description["kind"], self.space, self.length))

    def __repr__(self) -> str:
        from manipula.motion.words import words

        name = words(self.description) if self.description else f"{len(self.curves)} curves"
        return f"Path({name}, length={self.length:.6g}, dimension={self.dimension}, space='{self.space}')"

    @property
    def start(self) -> np.ndarray:
        """The first point."""
        return self.position(0.0)

    @property
    def end(self) -> np.ndarray:
        """The last point."""
        return self.position(self.length)

    @property
    def closed(self) -> bool:
        """True when the end is the start (to 1e-9 of the length)."""
        return bool(np.linalg.norm(self.end - self.start) <= 1e-9 * self.length)

    def _locate(self, s: np.ndarray, side: Side) -> tuple[np.ndarray, np.ndarray]:
        """s snapped to breaks, and the index of the piece it belongs to on the wanted side."""
        if not np.all(np.isfinite(s)):
            raise DescriptionError(
                f"An arc length is not finite; it must lie between 0 and the path's length, {self.length:.9g} m (or rad).",
                field="s",
            )
        slack = 1e-9 * self.length
        if s.size and (s.min() < -slack or s.max() > self.length + slack):
            worst = s.min() if s.min() < -slack else s.max()
            raise DescriptionError(
                f"Arc length {worst:.9g} is outside the path; allowed is 0 to {self.length:.9g} m (or rad).", field="s"
            )
        return located(self.breaks, np.clip(s, 0.0, self.length), SNAP * self.length, side)

    def derivatives(self, s: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        """``[p, dp/ds, …]`` at arc lengths s: shape (order + 1, *s.shape, dimension)."""
        places, order = real_array(s, "s"), whole_number(order, "order", 0, HIGHEST_ORDER)
        shape = places.shape
        choice(side, "side", ("right", "left"))
        flat, index = self._locate(places.ravel(), side)
        out = np.empty((order + 1, len(flat), self.dimension))
        owners = self._owner[index]
        for i in np.flatnonzero(np.bincount(owners)):
            chosen = owners == i if len(self.curves) > 1 else slice(None)
            out[:, chosen] = self._on_curve(int(i), flat[chosen] - self._offset[i], self._piece[index[chosen]], order)
        return out.reshape(order + 1, *shape, self.dimension)

    def derivatives_one(self, s: float, order: int, side: Side) -> np.ndarray | None:
        """The same at one place up to the second derivative, in plain numbers; ``None`` where only :meth:`derivatives` can tell."""
        slack, length = 1e-9 * self.length, self.length
        if not -slack <= s <= length + slack or order > 2:
            return None
        s, index = located_one(self.breaks, min(max(s, 0.0), length), SNAP * length, side)
        i, piece = int(self._owner[index]), int(self._piece[index])
        curve, table, s = self.curves[i], self._tables[i], s - self._offset.item(i)
        if table is None:
            assert curve.speed is not None
            u = curve.breaks.item(0) + s / curve.speed
            u = min(max(u, curve.breaks.item(piece)), curve.breaks.item(piece + 1))
        else:
            u = table.parameter_one(s, piece)
        c = curve.series_one(u, piece, order)
        if c is None or not order:
            return c
        if table is None:
            speed = float(curve.speed or 1.0)
            return c * np.array([[1.0], [1.0 / speed], [2.0 / speed**2]][: order + 1])
        square = float(c[1] @ c[1])
        if not square >= (STANDSTILL * table.mean_speed.item(piece)) ** 2:
            return None
        c[1] /= math.sqrt(square)
        if order > 1:
            c[2] = 2.0 / square * (c[2] - (c[2] @ c[1]) * c[1])
        return c

    def _on_curve(self, i: int, s: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        curve, table = self.curves[i], self._tables[i]
        factorials = np.cumprod([1.0, *range(1, order + 1)])[:, None, None]
        if table is None:
            assert curve.speed is not None
            u = np.clip(curve.breaks[0] + s / curve.speed, curve.breaks[piece], curve.breaks[piece + 1])
            powers = curve.speed ** -np.arange(order + 1.0)
            return curve.series(u, piece, order) * factorials * powers[:, None, None]
        u = table.parameter(s, piece)
        c = curve.series(u, piece, order)
        if order:
            low, high = curve.breaks[piece], curve.breaks[piece + 1]
            mean = (table.piece_ends[piece + 1] - table.piece_ends[piece]) / (high - low)
            still = np.linalg.norm(c[1], axis=1) < STANDSTILL * mean
            if np.any(still):
                inward = np.where(u[still] > (low + high)[still] / 2, -1.0, 1.0)
                beside = u[still] + inward * 1e-6 * (high - low)[still]
                c[1:, still] = curve.series(beside, piece[still], order)[1:]
        return _by_arc_length(c) * factorials

    def position(self, s: Any) -> np.ndarray:
        """p(s), shape (*s.shape, dimension)."""
        return self.derivatives(s, 0)[0]

    def tangent(self, s: Any, side: Side = "right") -> np.ndarray:
        """dp/ds, a unit vector."""
        return self.derivatives(s, 1, side)[1]

    def curvature(self, s: Any, side: Side = "right") -> np.ndarray:
        """|d²p/ds²| [1/m], shape of s."""
        return np.linalg.norm(self.derivatives(s, 2, side)[2], axis=-1)

    def corners(self, angle: float = 1e-6) -> np.ndarray:
        """Arc lengths where the tangent turns by more than ``angle`` [rad] at once; only standstill is smooth there."""
        angle = between(angle, "angle", 0.0, 4.0)
        inner = self.breaks[1:-1]
        if not len(inner):
            return inner
        jump = np.linalg.norm(self.tangent(inner, "right") - self.tangent(inner, "left"), axis=-1)
        return inner[jump > angle]

    def parameter(self, s: Any) -> np.ndarray:
        """The curve's own parameter u at arc lengths s (of a path made of one curve)."""
        if len(self.curves) != 1:
            raise DescriptionError(
                f"A path of {len(self.curves)} curves has no single parameter; one of one curve has."
            )
        places = real_array(s, "s")
        flat, index = self._locate(places.ravel(), "right")
        curve, table = self.curves[0], self._tables[0]
        u = table.parameter(flat, self._piece[index]) if table else curve.breaks[0] + flat / (curve.speed or 1.0)
        return u.reshape(places.shape)

    def with_orientation(self, orientation: Orientation) -> Path:
        """The same path carrying an orientation of the tool."""
        if self.space != "task":
            raise DescriptionError("A joint-space path has no orientation; the joints fix it.", field="orientation")
        from manipula.motion.paths.orientation import Orientation

        if not isinstance(orientation, Orientation):
            raise DescriptionError(
                f"'orientation' must be one of paths.orientation, such as constant(R); found {type(orientation).__name__}.",
                field="orientation",
            )
        return Path(self.curves, space=self.space, orientation=orientation)

    def rotation(self, s: Any, order: int = 0, side: Side = "right") -> np.ndarray:
        """``[R, dR/ds, …]`` of the tool in base axes: shape (order + 1, *s.shape, 3, 3)."""
        if self.orientation is None:
            raise DescriptionError("This path has no orientation. Give it one with 'with_orientation(...)'.")
        places, order = real_array(s, "s"), whole_number(order, "order", 0, HIGHEST_ORDER)
        choice(side, "side", ("right", "left"))
        flat = self._locate(places.ravel(), side)[0]
        return self.orientation.rotations(self, flat, order, side).reshape(order + 1, *places.shape, 3, 3)

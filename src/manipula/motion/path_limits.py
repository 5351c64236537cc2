"""Limits of joint velocity, acceleration, torque and tip speed as linear rows along a path; see :mod:`.time_optimal`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.arguments import between, function_of, positive, real_array
from manipula.algebra.linear import array
from manipula.errors import DescriptionError, ShapeError
from manipula.identity import identity
from manipula.lazy import cached_property
from manipula.motion.paths.base import Path
from manipula.motion.paths.sampling import Along, sample_intervals

InverseDynamics = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
TipVelocity = Callable[[np.ndarray, np.ndarray], np.ndarray]
FASTEST = 1e60  # of a finite limit: its square is still a number
BETWEEN = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # where each grid interval is verified
TOGETHER = 2560  # states of one call of the inverse dynamics: compiled ones then stay in the calling thread
SPEEDS = ("velocity", "tip speed")  # limits of ṡ² itself
# of the turn of q' within a quarter of an interval: if q'' does not explain more of it, a bend was missed
SHARP = 0.005
SHARP_TURN = 1e-6  # [rad], beside that
FASTEST_SQUARE = 1e12  # of ṡ where nothing else limits it


_accepted = functools.lru_cache(16)(function_of)  # a compiled function keeps its arguments


def _known_graph(inverse_dynamics: Any, n: int) -> native.Graph | None:
    """The operations of a compiled inverse dynamics: they join the machine code that samples the path."""
    kernel = native.kernel_behind(inverse_dynamics)
    if kernel is None or kernel.graph.shared or kernel.graph.sampled:
        return None
    shapes = [*kernel.graph.inputs.values()], [*kernel.graph.outputs.values()]
    return kernel.graph if shapes == ([(n,)] * 3, [(n,)]) else None


class PathLimits:
    """Limits of one problem, and the coefficients of their rows along a path."""

    def __init__(
        self,
        path: Path,
        velocity: Any,
        acceleration: Any,
        torque: Any,
        inverse_dynamics: InverseDynamics | None,
        tip_speed: float | None,
        tip_velocity: TipVelocity | None,
    ) -> None:
        self.path, self.n, self.compiled = path, path.dimension, native.has_compiler()
        self.velocity = two_sided(velocity, "velocity", self.n)
        self.acceleration = two_sided(acceleration, "acceleration", self.n)
        self.torque = two_sided(torque, "torque", self.n)
        self.inverse_dynamics, self.tip_velocity = inverse_dynamics, tip_velocity
        if (self.torque is None) != (inverse_dynamics is None):
            missing = "torque" if torque is None else "inverse_dynamics"
            raise DescriptionError(
                f"'torque' limits and 'inverse_dynamics' belong together; '{missing}' is missing.", field=missing
            )
        if all(limit is None for limit in (self.acceleration, self.torque)):
            raise DescriptionError("Without 'acceleration' or 'torque' limits the motion would be infinitely fast.")
        for name, f, names in (
            ("inverse_dynamics", inverse_dynamics, ("q", "qd", "qdd")), ("tip_velocity", tip_velocity, ("q", "qd"))
        ):  # fmt: skip
            if f is not None:
                (_accepted if type(f) is BuiltinFunctionType else function_of)(f, name, *names)
        known = self.torque is not None and self.compiled
        self.graph = _known_graph(inverse_dynamics, self.n) if known else None
        self.tip_speed = (
            None if tip_speed is None else between(positive(tip_speed, "tip_speed"), "tip_speed", 0.0, FASTEST)
        )
        if tip_speed is None and tip_velocity is not None:
            raise DescriptionError(
                "'tip_velocity' limits nothing by itself; 'tip_speed' is missing.", field="tip_speed"
            )
        if self.tip_speed is not None and path.space == "joint" and tip_velocity is None:
            raise DescriptionError("'tip_speed' on a joint path needs 'tip_velocity', a function of (q, qd).")

    def torque_rows(self, q: np.ndarray, q1: np.ndarray, q2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a, b and c of the torques at places (N, n) of the path, from q, q' and q'', by three calls of the inverse dynamics."""
        rest = np.zeros_like(q)
        c = self._torque(q, rest, rest)
        return self._torque(q, rest, q1) - c, self._torque(q, q1, q2) - c, c

    def _torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        assert self.inverse_dynamics is not None
        tau = np.empty_like(q)
        for k in range(0, len(q), TOGETHER):
            part = slice(k, k + TOGETHER)
            found = real_array(self.inverse_dynamics(q[part], qd[part], qdd[part]), "inverse_dynamics")
            if found.shape != q[part].shape:
                raise ShapeError(
                    f"'inverse_dynamics' returned shape {found.shape}; it must be batched, {q[part].shape} here."
                )
            tau[part] = found
        return tau

    def tip_bound(self, q: np.ndarray, q1: np.ndarray) -> np.ndarray:
        """The bound of x = ṡ² by the tip's speed at places (N, n) of the path, shape (N,)."""
        rate = q1 if self.tip_velocity is None else real_array(self.tip_velocity(q, q1), "tip_velocity")
        if rate.ndim != 2 or len(rate) != len(q):
            raise ShapeError(f"'tip_velocity' returned shape {rate.shape}; expected ({len(q)}, k).")
        with np.errstate(divide="ignore"):
            return (self.tip_speed / np.linalg.norm(rate, axis=1)) ** 2

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of limits there are: those of ṡ² first."""
        given = (self.velocity, self.tip_speed, self.acceleration, self.torque)
        return tuple(kind for kind, limit in zip((*SPEEDS, "acceleration", "torque"), given) if limit is not None)

    @cached_property
    def of_speeds(self) -> np.ndarray:
        """One over lower and upper limits of joint velocity, 0 where there are none, (2, n)."""
        return np.zeros((2, self.n)) if self.velocity is None else 1.0 / np.array(self.velocity)

    @cached_property
    def of_rows(self) -> np.ndarray:
        """Lower and upper limits of acceleration and of torque, where there are any, (2 or 4, n)."""
        return np.array([x for limit in (self.acceleration, self.torque) if limit is not None for x in limit])


class Intervals:
    """All coefficients at five places of N intervals of a path; the last place has the derivatives just before the end of its interval.

    Attributes:
        rows: q', q'', the bound of x by velocity, and where torques are limited their a, b and c: (5, N, 2n + 1 or 5n + 1).
        tip: bound of x by the speed of the tip, (5, N), where it is limited.
        largest: the largest |coefficient| of u of all rows at the beginnings.
    """

    def __init__(self, limits: PathLimits, begin: np.ndarray, end: np.ndarray) -> None:
        at = begin + (end - begin) * BETWEEN[:, None]
        at[-1] = end
        self.limits, self.count, self.length, n = limits, len(begin), end - begin, limits.n
        asked = limits.torque is not None and limits.graph is None  # by calls from Python
        along = _along(n, limits.acceleration is not None, limits.graph, asked or limits.tip_speed is not None)
        self.rows, finite, self.largest = sample_intervals(limits.path, at, begin, along, (limits.of_speeds,))
        self.tip: np.ndarray | None = None
        if asked or limits.tip_speed is not None:
            flat = self.rows.reshape(-1, self.rows.shape[-1])
            q, q1, q2 = (np.ascontiguousarray(flat[:, k : k + n]) for k in (flat.shape[1] - n, 0, n))
            self.rows = self.rows[..., :-n]
            if limits.tip_speed is not None:
                self.tip = limits.tip_bound(q, q1).reshape(at.shape)
            if asked:
                torques = np.concatenate(limits.torque_rows(q, q1, q2), axis=1)
                self.rows = np.concatenate([self.rows, torques.reshape(*at.shape, -1)], axis=2)
                finite = bool(np.isfinite(torques).all())
                self.largest = max(self.largest, float(np.abs(torques[: self.count, :n]).max()))
            self.rows = np.ascontiguousarray(self.rows)
        if limits.torque is not None and not finite and not np.isfinite(self.rows[..., -3 * n :]).all():
            raise DescriptionError("'inverse_dynamics' returned a value that is not finite.")

    @property
    def q1(self) -> np.ndarray:
        """q' (5, N, n)."""
        return self.rows[..., : self.limits.n]

    @property
    def q2(self) -> np.ndarray:
        """q'' (5, N, n)."""
        return self.rows[..., self.limits.n : 2 * self.limits.n]

    @cached_property
    def missed(self) -> np.ndarray:
        """Does the path bend between the places more than they show? q' must change there as q'' at both ends says, (N,)."""
        kernel = _bend_kernel(self.limits.n, self.limits.kinds, self.limits.compiled)
        places = [*self.rows, *(() if self.tip is None else self.tip)]
        return kernel(self.count, *places, self.length / (len(BETWEEN) - 1), self.limits.of_rows) > SHARP_TURN

    def bounds(self) -> np.ndarray:
        """The least bound of x at the beginnings and at the ends, (2, N)."""
        least = np.minimum(self.rows[:: len(BETWEEN) - 1, :, 2 * self.limits.n], FASTEST_SQUARE)
        return least if self.tip is None else np.minimum(least, self.tip[:: len(BETWEEN) - 1])

    def shares(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """How much of every kind of limit is used, (5, N, kinds), for u (N,) and x (5, N)."""
        kernel = _share_kernel(self.limits.n, self.limits.kinds, self.limits.compiled)
        tip = [] if self.tip is None else [self.tip]
        u = np.broadcast_to(u, x.shape).copy()
        shares = kernel(x.size, self.rows, u, np.ascontiguousarray(x), *tip, self.limits.of_rows)
        return shares.reshape(*x.shape, -1)

    def tightest(self, now: np.ndarray, which: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """How much of the tightest limit is used in every interval or in some, (N,), at its five places, and what it stays below between
        them, for u, x at its beginning and the rise of x until its end, (3, N)."""
        kernel = _tightest_kernel(self.limits.n, self.limits.kinds, self.limits.compiled)
        places = [*self.rows, *(() if self.tip is None else self.tip)]
        if which is not None:
            places = [x[which] for x in places]
        return kernel(now.shape[1], *places, *now, self.limits.of_rows)


@functools.lru_cache(16)
def _along(n: int, accelerated: bool, graph: native.Graph | None, point: bool) -> Along:
    """At a place of the path: q', q'', the bound of ṡ² by joint velocities; a, b, c of torques that ``graph`` computes; q when asked for.

    With them the largest |coefficient| of u, among q' where accelerations are limited and a.
    """

    def place(p: Any, t: Any, c2: Any, velocity: Any) -> Any:
        out, factors = [*t, *c2, _velocity_bound(t, *velocity)], list(t) if accelerated else []
        if graph is not None:
            rest = [0.0] * n
            c = native.inline(graph, p, rest, rest)
            a = native.inline(graph, p, rest, t) - c
            out, factors = [*out, *a, *(native.inline(graph, p, t, c2) - c), *c], [*factors, *a]
        largest = functools.reduce(ops.maximum, map(ops.abs, factors), 0.0 * p[0])
        return array([*out, *p] if point else out), largest

    return Along(place, ((2, n),), identity(n, accelerated, None if graph is None else graph.digest(), point))


def _velocity_bound(q1: Any, low: Any, high: Any) -> Any:
    """min over joints of (limit / q')², for limits on the side of q'; given is one over the limits."""
    most: Any = 0.0
    for rate, below, above in zip(q1, low, high):
        most = ops.maximum(most, ops.maximum(rate * above, rate * below))
    moving = most > 0.0
    least = 1.0 / ops.where(moving, most, 1.0)
    return ops.where(moving, least * least, float("inf"))


def row_width(n: int, kinds: tuple[str, ...]) -> int:
    """Of :attr:`Intervals.rows`."""
    return 5 * n + 1 if "torque" in kinds else 2 * n + 1


def rows_at(n: int, kinds: tuple[str, ...], row: Any, limits: Any) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """By kind: (a, b, c, low, high) of every joint, ``low ≤ a u + b x + c ≤ high``, from a row of an interval, over any scalar."""
    parts = {"acceleration": (row[:n], row[n : 2 * n], [0.0] * n)}
    parts["torque"] = tuple(row[k : k + n] for k in (2 * n + 1, 3 * n + 1, 4 * n + 1))
    both = [kind for kind in parts if kind in kinds]
    return [(kind, list(zip(*parts[kind], *limits[2 * k : 2 * k + 2]))) for k, kind in enumerate(both)]


def _row_shares(n: int, kinds: tuple[str, ...], row: Any, u: Any, x: Any, tip: Any, limits: Any) -> list[list[Any]]:
    """By kind, the share of every limit that a u + b x takes of what c leaves: (a u + b x)/(limit − c); of bounds x/bound."""
    shares = [[x / bound] for bound in ([row[2 * n]] if "velocity" in kinds else []) + tip]
    for _, rows in rows_at(n, kinds, row, limits):
        shares.append([])
        for a, b, c, low, high in rows:
            moving = a * u + b * x
            used = moving / (ops.where(moving > 0.0, high, low) - c)
            shares[-1].append(ops.where(ops.abs(moving) <= 0.0, 0.0, used))
    return shares


def _largest(shares: list[Any]) -> Any:
    largest: Any = shares[0] if len(shares) == 1 else -float("inf")
    for used in shares if len(shares) > 1 else ():
        largest = ops.maximum(used, largest)
    return largest


def _rows_kernel(f: Any, name: str, n: int, kinds: tuple[str, ...], places: int, *more: str) -> native.RowsCall:
    """A function of rows and bounds by the tip at several places, of further numbers and of the limits."""
    tips = places if "tip speed" in kinds else 0
    inputs: dict[str, tuple] = {f"row_{k}": (row_width(n, kinds),) for k in range(places)}
    inputs |= {f"tip_{k}": () for k in range(tips)} | dict.fromkeys(more, ())
    inputs |= {"limits": (2 * len({"acceleration", "torque"} & set(kinds)), n)}
    return native.RowsCall(native.kernel_of(f, inputs, name, identity(n, kinds, places), ("limits",)))


@functools.lru_cache(64)
def _share_kernel(n: int, kinds: tuple[str, ...], compiled: bool) -> native.RowsCall:
    """Of every kind of limit at one place."""

    def share(row: Any, *more: Any) -> Any:
        *tip, u, x, limits = more
        return array([_largest(shares) for shares in _row_shares(n, kinds, row, u, x, tip, limits)])

    return _rows_kernel(share, "path_limits.share", n, kinds, 1, "u", "x")


@functools.lru_cache(64)
def _tightest_kernel(n: int, kinds: tuple[str, ...], compiled: bool) -> native.RowsCall:
    """Of the tightest limit at the five places of an interval; and in the whole of it, as parabolas through three places at a time say."""
    tips = "tip speed" in kinds

    def tightest(*given: Any) -> Any:
        *both, u, x, rise, limits = given
        rows, tip = both[: len(BETWEEN)], both[len(BETWEEN) :] if tips else [()] * len(BETWEEN)
        places: list[list[Any]] = []
        for k, share in enumerate(BETWEEN.tolist()):
            kinds_here = _row_shares(n, kinds, rows[k], u, x + rise * share, [tip[k]] if tips else [], limits)
            places.append([used for kind in kinds_here for used in kind])
        along = list(zip(*places))  # of every limit, from place to place
        largest = [functools.reduce(ops.maximum, used) for used in along]
        above = [_above(used, most) for used, most in zip(along, largest)]
        return functools.reduce(ops.maximum, largest), functools.reduce(ops.maximum, above)

    return _rows_kernel(tightest, "path_limits.tightest", n, kinds, len(BETWEEN), "u", "x", "rise")


@functools.lru_cache(64)
def _bend_kernel(n: int, kinds: tuple[str, ...], compiled: bool) -> native.RowsCall:
    """By how much q' turns from place to place beyond what the trapezoidal rule makes of q'', less what is allowed in proportion."""

    def bend(*given: Any) -> Any:
        rows, length = given[: len(BETWEEN)], given[-2]
        found: list[Any] = []
        for a, b in zip(rows, rows[1:]):
            turns = [0.5 * length * (a[n + i] + b[n + i]) for i in range(n)]
            left = [ops.abs(b[i] - a[i] - turn) for i, turn in enumerate(turns)]
            found.append(
                functools.reduce(ops.maximum, left) - SHARP * functools.reduce(ops.maximum, map(ops.abs, turns))
            )
        return functools.reduce(ops.maximum, found)

    return _rows_kernel(bend, "path_limits.bend", n, kinds, len(BETWEEN), "length")


def _above(v: tuple[Any, ...], largest: Any) -> Any:
    """What a function with these values at even places stays below: their largest, and twice what the tops of parabolas add to it."""
    top = largest
    for a, b, c in zip(v, v[1:], v[2:]):
        slope, bend = (c - a) / 2.0, 2.0 * b - a - c
        inside = (bend > 0.0) & (ops.abs(slope) <= bend)
        top = ops.maximum(top, b + ops.where(inside, slope * slope / (2.0 * ops.where(inside, bend, 1.0)), 0.0))
    return largest + 2.0 * (top - largest)


def two_sided(limit: Any, name: str, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(lower, upper), (n,) each, from one number, one per joint, or rows lower and upper (2, n)."""
    if limit is None:
        return None
    array = real_array(limit, name)
    if array.shape == (2, n):
        low, high = array
    elif array.shape in ((), (n,)):
        high = np.full(n, array)
        low = -high
    else:
        raise ShapeError(f"'{name}' must be one number, {n}, or lower and upper (2, {n}); found shape {array.shape}.")
    lowest, highest = low.tolist(), high.tolist()
    if any(FASTEST < abs(x) < math.inf for x in lowest + highest):
        raise DescriptionError(f"'{name}' must be at most {FASTEST:g} in size, or infinite for no limit.", field=name)
    if name != "torque" and not all(a < 0.0 < b for a, b in zip(lowest, highest)):
        raise DescriptionError(
            f"'{name}' must allow motion both ways: lower < 0 < upper; found {low.max():g} and {high.min():g}.",
            field=name,
        )
    if not all(a < b for a, b in zip(lowest, highest)):
        raise DescriptionError(f"The lower limit of '{name}' must be below the upper one, and neither nan.", field=name)
    return low, high

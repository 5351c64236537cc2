r"""The fastest motion along a path under limits of joint velocity, acceleration, torque and tip speed.

Along :math:`q(s)`, with :math:`x=\dot s^2` and :math:`u=\ddot s`,

.. math::
    \dot q = q'\sqrt{x},\qquad \ddot q = q'u+q''x,\qquad
    \tau = \underbrace{M q'}_{a}\,u+\underbrace{(Mq''+C(q,q')q')}_{b}\,x+\underbrace{g}_{c}

so every limit is linear in (u, x); a, b, c come from three batched calls of the inverse dynamics. The grid problem is
solved in :mod:`.phase_plane`. With ``scheme="interpolation"`` (default) the rows of the next grid point are imposed too,
at the x the step leads to; that is what keeps the motion within its limits near points where a coefficient a vanishes.

The solution is then *verified between grid points*, on the real path and with the real inverse dynamics; the grid is
refined there while the excess is above ``tolerance``, and what is left is removed by slowing the whole motion down a little.
Jerk is not limited by this method (the acceleration jumps); it is measured and compared with the limit given.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra.arguments import between, choice, flag, whole_number
from manipula.algebra.linear import array
from manipula.algebra.value import LazyDict, Value
from manipula.errors import DescriptionError, SolveError, nearest
from manipula.identity import identity
from manipula.motion.path_limits import (
    BETWEEN,
    FASTEST,
    SPEEDS,
    Intervals,
    InverseDynamics,
    PathLimits,
    TipVelocity,
    row_width,
    rows_at,
    two_sided,
)
from manipula.motion.paths.base import Path
from manipula.motion.phase_plane import FLAT, solve_passes, solved_for_u
from manipula.motion.timing.base import PiecewiseProfile, Profile
from manipula.motion.timing.scaled import ScaledProfile
from manipula.motion.trajectory import PathTrajectory

MAX_GRID = 50_000
FINEST = 1e-9  # excess that refinement can reach
CORNER = 1e-6  # rad: a tangent that turns by more at once
ROOM = 1 << 20  # numbers that a solution keeps at a time, about
ROUNDS = 8  # of local refinement; each divides the step by four where a limit is exceeded


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimalResult(Value):
    """Outcome of :func:`solve_time_optimal`.

    Attributes:
        status: ``"finished"`` or ``"infeasible"``.
        reason: why it is infeasible, with the place on the path.
        trajectory: the motion; None when there is none. One that exceeds the jerk limit is kept beside its reason.
        s, speed: grid of arc lengths and ṡ on it.
        ceiling: largest ṡ at which any acceleration is possible (maximum velocity curve).
        use: largest share of each kind of limit used, between grid points too; at most 1.
        excess: how far limits were exceeded between grid points before the final slowing down (0.001 is 0.1 %).
        slowed_by: factor of that slowing down, at least 1.
        jerk: largest |jerk| a joint, averaged over grid intervals.
        jerk_kept: whether it is within the jerk limit; None without one.
        limited_by: share of the path on which each kind of limit is the tightest.
    """

    status: Literal["finished", "infeasible"]
    reason: str = ""
    trajectory: PathTrajectory | None = None
    s: np.ndarray = field(default_factory=lambda: np.zeros(0))
    speed: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ceiling: np.ndarray = field(default_factory=lambda: np.zeros(0))
    use: dict[str, float] = field(default_factory=dict)
    excess: float = 0.0
    slowed_by: float = 1.0
    jerk: np.ndarray = field(default_factory=lambda: np.zeros(0))
    jerk_kept: bool | None = None
    limited_by: dict[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        """[s]; infinite when there is no motion."""
        return self.trajectory.duration if self.trajectory is not None else float("inf")


def solve_time_optimal(
    path: Path,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    inverse_dynamics: InverseDynamics | None = None,
    tip_speed: float | None = None,
    tip_velocity: TipVelocity | None = None,
    jerk: Any = None,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    points: int = 1000,
    scheme: Literal["interpolation", "collocation"] = "interpolation",
    tolerance: float = 1e-3,
    strict: bool = True,
    details: bool = True,
) -> TimeOptimalResult:
    """The fastest motion along ``path``, usually a joint-space path.

    Args:
        velocity, acceleration, torque, jerk: limits: one number, one per coordinate, or lower and upper (2, n). The jerk is
            checked, not planned for: a motion that exceeds it is infeasible.
        inverse_dynamics: batched function (q, qd, qdd) → tau, arrays (N, n); friction is not considered.
        tip_speed: greatest Euclidean speed of the tip [m/s].
        tip_velocity: batched function (q, qd) → (N, k), linear in qd; a task-space path needs none.
        start_speed, end_speed: ṡ at the ends.
        points: grid intervals at the start; the path's breaks are added.
        scheme: see above; ``"collocation"`` imposes each grid point only.
        tolerance: excess between grid points above which the grid is refined.
        strict: slow the motion down by the remaining excess, so that no limit is exceeded.
        details: find the largest jerk also where it is not limited.

    A path with sharp corners is stopped at each of them.
    """
    if not isinstance(path, Path):
        raise DescriptionError(
            f"'path' must be a path such as paths.joint(points); found {type(path).__name__}.", field="path"
        )
    choice(scheme, "scheme", ("interpolation", "collocation"))
    points, strict = whole_number(points, "points", 2, MAX_GRID), flag(strict, "strict")
    start_speed, end_speed = (
        between(x, name, 0.0, FASTEST) for x, name in ((start_speed, "start_speed"), (end_speed, "end_speed"))
    )
    tolerance = between(tolerance, "tolerance", FINEST, 1e6)
    allowed_jerk = None if jerk is None else two_sided(jerk, "jerk", path.dimension)
    limits = PathLimits(path, velocity, acceleration, torque, inverse_dynamics, tip_speed, tip_velocity)
    np.empty(ROOM)  # never written to: it tells the allocator of the system how much memory to keep for the next call
    grid, best = _Grid(limits, scheme, _even_grid(path, points)), None
    for _ in range(ROUNDS):
        found = _on_grid(grid, path.length, start_speed, end_speed)
        if isinstance(found, str):
            return TimeOptimalResult("infeasible", found, s=grid.s)
        checked = _verify(grid, found[0])
        if best is None or checked.worst < best[2].worst:
            best = (grid, found, checked)
        if checked.worst - 1.0 <= tolerance:
            break
        finer = grid.refined(checked.tightest - 1.0 > tolerance)
        if finer is None:
            break
        grid = finer
    assert best is not None
    grid, (x, cap), checked = best
    profile: Profile = _profile(grid.s, x)
    slowed = max(1.0, checked.worst) ** 0.5 if strict else 1.0
    if slowed > 1.0:
        profile = ScaledProfile(profile, slowed)
    peaks = _jerk(grid, x) / slowed**3 if details or allowed_jerk is not None else np.zeros(0)
    kept = None
    if allowed_jerk is not None:
        low, high = allowed_jerk
        kept = bool(np.all(peaks <= np.minimum(-low, high)))
    speed, ceiling = np.sqrt(x) / slowed, np.sqrt(cap)
    excess = max(0.0, checked.worst - 1.0)
    jerky = (
        ""
        if kept is not False
        else (
            f"the fastest motion exceeds the jerk limit (peaks {np.array2string(peaks, precision=4)}), which is checked, not planned for"
        )
    )
    use = LazyDict({}, (limits.kinds, lambda: checked.use(slowed)))
    limited_by = LazyDict({}, (limits.kinds, checked.limited_by))
    return TimeOptimalResult(
        "infeasible" if jerky else "finished", jerky, PathTrajectory(path, profile), grid.s, speed, ceiling, use, excess, slowed,
        peaks, kept, limited_by,
    )  # fmt: skip


def time_optimal(path: Path, **options: Any) -> PathTrajectory:
    """The fastest motion along ``path``, usually a joint-space path, that keeps its limits.

    Options, all by name:
        velocity, acceleration, torque, jerk: limits: one number, one a coordinate, or lower and upper (2, n).
        inverse_dynamics: batched function (q, qd, qdd) → tau for ``torque``, such as ``model.inverse_dynamics``.
        tip_speed: greatest speed of the tip [m/s]; along a joint-space path with tip_velocity, a batched function (q, qd) → (N, k).
        start_speed, end_speed: ṡ at the ends, 0 when omitted.
        points, scheme, tolerance, strict: of the grid: intervals at the start (1000), "interpolation" or "collocation", excess
            between grid points above which it is refined (1e-3), whether the rest of the excess is taken out by slowing down (True).

    Raises:
        SolveError: no motion along this path keeps the limits; it holds the reason.
    """
    for name in options:
        if name not in OPTIONS:
            hint = nearest(name, OPTIONS)
            words = f". Did you mean '{hint}'?" if hint else ""
            raise TypeError(f"time_optimal() got an unexpected keyword argument '{name}'{words}")
    result = solve_time_optimal(path, **options, details=False)
    if result.status != "finished" or result.trajectory is None:
        raise SolveError(f"No motion along this path keeps the limits: {result.reason}.", result)
    return result.trajectory


OPTIONS = tuple(name for name in inspect.signature(solve_time_optimal).parameters if name not in ("path", "details"))


def _even_grid(path: Path, count: int) -> np.ndarray:
    """Even arc lengths with every break of the path among them."""
    s = np.union1d(np.linspace(0.0, path.length, count + 1), path.breaks)
    apart = np.diff(s) > 1e-9 * path.length
    if apart.all():
        return s
    inner = np.concatenate([[True], apart]) & np.concatenate([apart, [True]])
    return s[np.isin(s, path.breaks) | inner]


class _Grid:
    """Arc lengths s (N + 1,) and the coefficients at its intervals; those of intervals that stay are kept in refinement.

    Interval i of the grid is column ``slots[i]`` of all ``stored`` intervals put side by side.

    Attributes:
        table: all stored intervals solved for u, see :func:`~.phase_plane.solved_for_u`; it has room for more.
        bounds: of x at the beginning and at the end of every interval, (N, 2).
        corners: arc lengths at which the tangent jumps.
    """

    def __init__(self, limits: PathLimits, scheme: str, s: np.ndarray, coarse: _Grid | None = None) -> None:
        self.limits, self.scheme, self.s, self.delta = limits, scheme, s, np.diff(s)
        if coarse is None:
            self.slots = np.arange(len(s) - 1)
            first = Intervals(limits, s[:-1], s[1:])
            self.stored: tuple[Intervals, ...] = (first,)
            self.flat_below = FLAT * self._largest_factor(first.rows[0])
            self.table, self.bounds = np.empty((0, 0)), np.empty((0, 2))
            self.bounds = self._solve(first, self.delta, 0)
            at = np.searchsorted(s, limits.path.breaks[1:-1])
            jump = first.q1[0][at] - first.q1[-1][at - 1]
            self.corners = s[at[np.einsum("ij,ij->i", jump, jump) > CORNER**2]]

    def refined(self, wanting: np.ndarray) -> _Grid | None:
        """The grid with the marked intervals and their neighbours cut into four; None when that is too fine. It takes over the table."""
        near = wanting.copy()
        near[1:] |= wanting[:-1]
        near[:-1] |= wanting[1:]
        if len(self.s) + 3 * int(near.sum()) > MAX_GRID:
            return None
        cuts = self.s[:-1][near] + self.delta[near] * (np.arange(4.0) / 4)[:, None]
        begin, end = cuts.T.ravel(), np.concatenate([cuts[1:], self.s[1:][near][None]]).T.ravel()
        new = Intervals(self.limits, begin, end)
        edges = (
            np.flatnonzero(np.diff(near, prepend=False, append=False)).reshape(-1, 2).tolist()
        )  # of runs of such intervals

        def spliced(old: np.ndarray, instead: np.ndarray) -> np.ndarray:
            parts, kept, used = [], 0, 0
            for first, last in edges:
                parts += [old[kept:first], instead[used : used + 4 * (last - first)]]
                kept, used = last, used + 4 * (last - first)
            return np.concatenate([*parts, old[kept:]])

        finer = _Grid(self.limits, self.scheme, np.append(spliced(self.s[:-1], begin), self.s[-1]), self)
        count = sum(part.count for part in self.stored)
        finer.stored, finer.flat_below, finer.corners = (*self.stored, new), self.flat_below, self.corners
        finer.slots, finer.table = spliced(self.slots, count + np.arange(len(begin))), self.table
        finer.bounds = spliced(self.bounds, finer._solve(new, end - begin, count))
        return finer

    def _largest_factor(self, rows: np.ndarray) -> float:
        """The largest coefficient of u of all rows, at the beginnings of the intervals."""
        n, found = self.limits.n, []
        if self.limits.acceleration is not None:
            found.append(rows[:, :n])
        if self.limits.torque is not None:
            found.append(rows[:, 2 * n + 1 : 3 * n + 1])
        return max(max(float(x.max()), -float(x.min())) for x in found)

    def _solve(self, part: Intervals, delta: np.ndarray, used: int) -> np.ndarray:
        """Append the solved rows of more intervals to the table, of which so many rows are used; the bounds of x of these intervals."""
        bounds = np.stack([part.bound(0), part.bound(-1)], axis=1)
        both = (part.rows[0], part.rows[-1]) if self.scheme == "interpolation" else (part.rows[0],)
        given = (
            *map(np.ascontiguousarray, both),
            delta,
            bounds[:, 0].copy(),
            np.array(self.flat_below),
            self.limits.of_rows,
        )
        old, needed = self.table, used + part.count
        fits = needed <= len(old)
        for flat_rows in (False, True):  # hardly ever is a row flat
            kernel = _stage_kernel(self.limits.n, self.limits.kinds, len(both), flat_rows, native.has_compiler())
            rows = kernel(part.count, *given, **({} if fits else {"before": used, "behind": needed // 2}))
            if not np.isnan(rows[:, -1] if fits else rows[used:needed, -1]).any():
                break
        if fits:
            old[used:needed] = rows
        else:
            self.table = rows
            if used:
                rows[:used] = old[:used]
        return bounds

    def joined(self, part: Callable[[Intervals], np.ndarray]) -> np.ndarray:
        """What ``part`` takes of all stored intervals, (…, N, k), in the order of the grid."""
        if len(self.stored) == 1:
            return part(self.stored[0])
        return np.concatenate([part(x) for x in self.stored], axis=-2)[..., self.slots, :]

    def x_max(self) -> np.ndarray:
        """Bounds of x on the grid; 0 at corners, where only standstill is smooth."""
        out = np.append(self.bounds[:, 0], self.bounds[-1, 1])
        out[np.searchsorted(self.s, self.corners)] = 0.0
        return out

    def shares(self, u: np.ndarray, x: np.ndarray) -> tuple[Callable[[], np.ndarray], np.ndarray]:
        """Use of every kind of limit, (5, N, kinds) when asked for, and of the tightest in every interval, (N,), for u (N,) and x (5, N)."""
        if len(self.stored) == 1:
            shares, tightest = self.stored[0].shares(u, x)
            return lambda: shares, tightest.max(axis=0)
        counts = np.cumsum([0, *(part.count for part in self.stored)])
        all_u, all_x = np.zeros(counts[-1]), np.zeros((len(BETWEEN), counts[-1]))
        all_u[self.slots], all_x[:, self.slots] = u, x
        parts = [part.shares(all_u[a:b], all_x[:, a:b]) for part, a, b in zip(self.stored, counts, counts[1:])]
        every = lambda: np.concatenate([shares for shares, _ in parts], axis=1)[:, self.slots]  # noqa: E731
        return every, np.concatenate([tightest.max(axis=0) for _, tightest in parts])[self.slots]


@functools.lru_cache(64)
def _stage_kernel(n: int, kinds: tuple[str, ...], places: int, flat_rows: bool, compiled: bool) -> native.RowsCall:
    """The rows of an interval solved for u, from the coefficients at its beginning and, with two places, at its end."""

    def stage(*given: Any) -> Any:
        *both, delta, x_max, flat_below, limits = given
        rows, *last = ([row for _, part in rows_at(n, kinds, x, limits) for row in part] for x in both)
        for end in last:  # rows of the next point, at x + 2Δu
            rows += [(a + 2.0 * delta * b, b, c, low, high) for a, b, c, low, high in end]
        return solved_for_u(*map(array, zip(*rows)), delta, x_max, flat_below, flat_rows)

    inputs: dict[str, tuple] = {f"row_{k}": (row_width(n, kinds),) for k in range(places)}
    inputs |= {
        "delta": (),
        "x_max": (),
        "flat_below": (),
        "limits": (2 * len({"acceleration", "torque"} & set(kinds)), n),
    }
    shared = ("flat_below", "limits")
    parts = identity(n, kinds, places, flat_rows)
    return native.RowsCall(native.kernel_of(stage, inputs, "time_optimal.stage", parts, shared))


def _on_grid(grid: _Grid, length: float, start_speed: float, end_speed: float) -> tuple[np.ndarray, np.ndarray] | str:
    """x and its ceiling on the grid, or why there is none."""
    found = solve_passes(grid.table, grid.slots, grid.x_max(), start_speed**2, end_speed**2)
    if found.x is None:
        return f"{found.reason} (s = {grid.s[found.failed_at]:.6g} of {length:.6g})"
    x = found.x
    stuck = np.flatnonzero((x[1:] <= 0) & (x[:-1] <= 0))
    if len(stuck):
        return f"the motion cannot leave standstill at s = {grid.s[stuck[0]]:.6g}"
    return x, found.cap


def _profile(s: np.ndarray, x: np.ndarray) -> PiecewiseProfile:
    """s(t) of constant acceleration between grid points: Δt = 2Δ/(ṡ_i + ṡ_{i+1})."""
    speed, delta = np.sqrt(x), np.diff(s)
    times = np.concatenate([[0.0], np.cumsum(2.0 * delta / (speed[1:] + speed[:-1]))])
    u = np.diff(x) / (2.0 * delta)
    return PiecewiseProfile(times, np.column_stack([s[:-1], speed[:-1], u / 2]))


class _Check(NamedTuple):
    """How much of the limits is used: of every kind, (5, N, kinds), both sides of each grid point; of the tightest in every interval."""

    kinds: tuple[str, ...]
    shares: Callable[[], np.ndarray]
    tightest: np.ndarray
    worst: float

    def use(self, slowed: float) -> dict[str, float]:
        """Largest share of each kind after slowing down; speeds fall by the factor, all else by its square."""
        largest = zip(self.kinds, self.shares().max(axis=(0, 1)).tolist())
        return {name: v**0.5 / slowed if name in SPEEDS else v / slowed**2 for name, v in largest}

    def limited_by(self) -> dict[str, float]:
        """Share of the places at which each kind is the tightest."""
        shares = self.shares()
        tightest = np.bincount(np.argmax(shares, axis=2).ravel(), minlength=len(self.kinds))
        return dict(zip(self.kinds, (tightest / shares[..., 0].size).tolist()))


def _verify(grid: _Grid, x: np.ndarray) -> _Check:
    """Use of every limit at five places of every interval.

    Slowing down by k multiplies u and x by 1/k²; a row then lies at c + (a u + b x)/k², so each place asks for
    k² ≥ (a u + b x)/(limit − c).
    """
    rise = np.diff(x)
    shares, tightest = grid.shares(rise / (2.0 * grid.delta), x[:-1] + rise * BETWEEN[:, None])
    return _Check(grid.limits.kinds, shares, tightest, float(tightest.max()))


def _jerk(grid: _Grid, x: np.ndarray) -> np.ndarray:
    """Largest |Δq̈/Δt| between middles of neighbouring intervals, shape (n,)."""
    if len(x) < 3:
        return np.zeros(grid.limits.n)
    speed, u = np.sqrt(x), np.diff(x) / (2.0 * grid.delta)
    n = grid.limits.n
    middle = grid.joined(lambda part: part.rows[2, :, : 2 * n])
    qdd = middle[:, :n] * u[:, None] + middle[:, n:] * ((x[1:] + x[:-1]) / 2)[:, None]
    dt = 2.0 * grid.delta / (speed[1:] + speed[:-1])
    return np.abs(np.diff(qdd, axis=0) / ((dt[1:] + dt[:-1]) / 2)[:, None]).max(axis=0)

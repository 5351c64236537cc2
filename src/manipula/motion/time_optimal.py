r"""The fastest motion along a path under limits of joint velocity, acceleration, torque and tip speed.

Along :math:`q(s)`, with :math:`x=\dot s^2` and :math:`u=\ddot s`,

.. math::
    \dot q = q'\sqrt{x},\qquad \ddot q = q'u+q''x,\qquad
    \tau = \underbrace{M q'}_{a}\,u+\underbrace{(Mq''+C(q,q')q')}_{b}\,x+\underbrace{g}_{c}

so every limit is linear in (u, x); a, b, c come from three batched calls of the inverse dynamics. The grid problem is
solved in :mod:`.phase_plane`. With ``scheme="interpolation"`` (default) the rows of the next grid point are imposed too,
at the x the step leads to; that is what keeps the motion within its limits near points where a coefficient a vanishes.

The solution is then *verified between grid points*, on the real path and with the real inverse dynamics; the grid is
refined there while the excess is above ``tolerance``, and what is left, also at the tops of parabolas between the places looked at, is
removed by slowing the whole motion down a little.
Jerk is not limited by this method (the acceleration jumps); it is measured and compared with the limit given.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from manipula.algebra.arguments import between, choice, flag, whole_number
from manipula.algebra.value import LazyDict, Value
from manipula.errors import DescriptionError, SolveError
from manipula.motion.path_grid import MAX_GRID, PathGrid, even_grid
from manipula.motion.path_limits import BETWEEN, FASTEST, SPEEDS, InverseDynamics, PathLimits, TipVelocity, two_sided
from manipula.motion.paths.base import Path
from manipula.motion.phase_plane import solve_passes
from manipula.motion.timing.base import PiecewiseProfile, Profile
from manipula.motion.timing.scaled import ScaledProfile
from manipula.motion.trajectory import PathTrajectory

FINEST = 1e-9  # excess that refinement can reach
ROOM = 1 << 20  # numbers that a solution keeps at a time, about
HAIR = 3e-7  # by which a motion that had to be slowed down stays below its limits: arc lengths are that exact on sharp bends
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
    grid, best = _following(PathGrid(limits, scheme, even_grid(path, points))), None
    if isinstance(grid, str):
        return TimeOptimalResult("infeasible", grid)
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
    worst = max(checked.worst, grid.most_between())
    slowed = (max(1.0, worst) * (1.0 + HAIR if worst > 1.0 + FINEST else 1.0)) ** 0.5 if strict else 1.0
    if slowed > 1.0:
        profile = ScaledProfile(profile, slowed)
    peaks = _jerk(grid, x) / slowed**3 if details or allowed_jerk is not None else np.zeros(0)
    kept = None
    if allowed_jerk is not None:
        low, high = allowed_jerk
        kept = bool(np.all(peaks <= np.minimum(-low, high)))
    speed, ceiling = np.sqrt(x) / slowed, np.sqrt(cap)
    excess = max(0.0, worst - 1.0)
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


def time_optimal(path: Path, *, velocity: Any = None, acceleration: Any = None, torque: Any = None,
                 inverse_dynamics: InverseDynamics | None = None, tip_speed: float | None = None, tip_velocity: TipVelocity | None = None,
                 jerk: Any = None, start_speed: float = 0.0, end_speed: float = 0.0, points: int = 1000,
                 scheme: Literal["interpolation", "collocation"] = "interpolation", tolerance: float = 1e-3,
                 strict: bool = True) -> PathTrajectory:  # fmt: skip
    """The fastest motion along ``path``, usually a joint-space path, that keeps its limits.

    Args:
        velocity, acceleration, torque, jerk: limits: one number, one per coordinate, or lower and upper (2, n).
        inverse_dynamics: batched function (q, qd, qdd) → tau for ``torque``, such as ``model.inverse_dynamics``.
        tip_speed: greatest speed of the tip [m/s]; along a joint-space path with tip_velocity, a batched function (q, qd) → (N, k).
        start_speed, end_speed: ṡ at the ends.
        points: intervals of the grid at the start. scheme: of the grid. tolerance: excess between grid points above which it is refined.
        strict: take the rest of the excess out by slowing down.

    Raises:
        SolveError: no motion along this path keeps the limits; it holds the reason.
    """
    result = solve_time_optimal(
        path, velocity=velocity, acceleration=acceleration, torque=torque, inverse_dynamics=inverse_dynamics, tip_speed=tip_speed,
        tip_velocity=tip_velocity, jerk=jerk, start_speed=start_speed, end_speed=end_speed, points=points, scheme=scheme,
        tolerance=tolerance, strict=strict, details=False,
    )  # fmt: skip
    if result.status != "finished" or result.trajectory is None:
        raise SolveError(f"No motion along this path keeps the limits: {result.reason}.", result)
    return result.trajectory


def _following(grid: PathGrid) -> PathGrid | str:
    """The grid made so fine that no bend of the path lies unseen between its places; or where that is not possible."""
    for _ in range(ROUNDS):
        missed = grid.missed()
        if not missed.any():
            return grid
        finer = grid.refined(missed)
        if finer is None:
            break
        grid = finer
    at = int(np.argmax(grid.missed()))
    if not grid.missed()[at]:
        return grid
    return (
        f"the path turns more sharply than can be followed between s = {grid.s[at]:.9g} and {grid.s[at + 1]:.9g} of {grid.s[-1]:.6g}: "
        "round it off there, or cut the motion in two"
    )


def _on_grid(
    grid: PathGrid, length: float, start_speed: float, end_speed: float
) -> tuple[np.ndarray, np.ndarray] | str:
    """x and its ceiling on the grid, or why there is none."""
    found = solve_passes(grid.table, grid.slots, grid.x_max(), start_speed**2, end_speed**2)
    if found.x is None:
        return f"{found.reason} (s = {grid.s[found.failed_at]:.6g} of {length:.6g})"
    x = found.x
    if not (x[1:-1].min(initial=math.inf) > 0.0 and x[:2].max() > 0.0):
        stuck = np.flatnonzero((x[1:] <= 0) & (x[:-1] <= 0))
        if len(stuck):
            return f"the motion cannot leave standstill at s = {grid.s[stuck[0]]:.6g}"
    return x, found.cap


def _profile(s: np.ndarray, x: np.ndarray) -> PiecewiseProfile:
    """s(t) of constant acceleration between grid points: Δt = 2Δ/(ṡ_i + ṡ_{i+1})."""
    speed, delta, rows = np.sqrt(x), s[1:] - s[:-1], np.empty((len(s) - 1, 3))
    times = np.zeros(len(s))
    (2.0 * delta / (speed[1:] + speed[:-1])).cumsum(out=times[1:])
    rows[:, 0], rows[:, 1], rows[:, 2] = s[:-1], speed[:-1], (x[1:] - x[:-1]) / (2.0 * delta) / 2
    return PiecewiseProfile(times, rows)


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


def _verify(grid: PathGrid, x: np.ndarray) -> _Check:
    """Use of every limit at five places of every interval.

    Slowing down by k multiplies u and x by 1/k²; a row then lies at c + (a u + b x)/k², so each place asks for
    k² ≥ (a u + b x)/(limit − c).
    """
    begin = x[:-1]
    rise = x[1:] - begin
    u = rise / (2.0 * grid.delta)
    tightest = grid.tightest(u, begin, rise)
    shares = functools.cache(lambda: grid.shares(u, begin + rise * BETWEEN[:, None]))
    return _Check(grid.limits.kinds, shares, tightest, float(tightest.max()))


def _jerk(grid: PathGrid, x: np.ndarray) -> np.ndarray:
    """Largest |Δq̈/Δt| between middles of neighbouring intervals, shape (n,)."""
    if len(x) < 3:
        return np.zeros(grid.limits.n)
    speed, u = np.sqrt(x), np.diff(x) / (2.0 * grid.delta)
    n = grid.limits.n
    middle = grid.joined(lambda part: part.rows[2, :, : 2 * n])
    qdd = middle[:, :n] * u[:, None] + middle[:, n:] * ((x[1:] + x[:-1]) / 2)[:, None]
    dt = 2.0 * grid.delta / (speed[1:] + speed[:-1])
    return np.abs(np.diff(qdd, axis=0) / ((dt[1:] + dt[:-1]) / 2)[:, None]).max(axis=0)

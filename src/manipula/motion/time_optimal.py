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

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from manipula.algebra.arguments import between, choice, flag, function_of, positive, real_array, whole_number
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, SolveError, nearest
from manipula.motion.paths.base import Path, Side
from manipula.motion.phase_plane import Stages, solve
from manipula.motion.timing.base import PiecewiseProfile, Profile
from manipula.motion.timing.scaled import ScaledProfile
from manipula.motion.trajectory import PathTrajectory

InverseDynamics = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
TipVelocity = Callable[[np.ndarray, np.ndarray], np.ndarray]
MAX_GRID = 50_000
FASTEST = 1e60  # of a finite limit: its square is still a number
FINEST = 1e-9  # excess that refinement can reach
ROUNDS = 8  # of local refinement; each divides the step by four where a limit is exceeded
BETWEEN = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # where each grid interval is verified


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimalResult(Value):
    """Outcome of :func:`solve_time_optimal`.

    Attributes:
        status: ``"finished"`` or ``"infeasible"``.
        reason: why it is infeasible, with the place on the path.
        trajectory: the motion, None when infeasible.
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
        """[s]; infinite when infeasible."""
        return self.trajectory.duration if self.trajectory is not None else float("inf")


class _Limits:
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
        self.path, self.n = path, path.dimension
        self.velocity = _two_sided(velocity, "velocity", self.n)
        self.acceleration = _two_sided(acceleration, "acceleration", self.n)
        self.torque = _two_sided(torque, "torque", self.n)
        self.inverse_dynamics, self.tip_velocity = inverse_dynamics, tip_velocity
        if (self.torque is None) != (inverse_dynamics is None):
            raise DescriptionError("'torque' limits and 'inverse_dynamics' belong together; one of them is missing.")
        if all(limit is None for limit in (self.acceleration, self.torque)):
            raise DescriptionError("Without 'acceleration' or 'torque' limits the motion would be infinitely fast.")
        for name, f, names in (
            ("inverse_dynamics", inverse_dynamics, ("q", "qd", "qdd")), ("tip_velocity", tip_velocity, ("q", "qd"))
        ):  # fmt: skip
            if f is not None:
                function_of(f, name, *names)
        self.tip_speed = (
            None if tip_speed is None else between(positive(tip_speed, "tip_speed"), "tip_speed", 0.0, FASTEST)
        )
        if self.tip_speed is not None and path.space == "joint" and tip_velocity is None:
            raise DescriptionError("'tip_speed' on a joint path needs 'tip_velocity', a function of (q, qd).")

    def rows(self, d: np.ndarray) -> tuple[np.ndarray, ...]:
        """a, b, c, low, high of all rows from [q, q', q''] of shape (3, N, n): arrays (N, m)."""
        q, q1, q2 = d
        parts: list[tuple[np.ndarray, ...]] = []
        zero = np.zeros_like(q)
        if self.acceleration is not None:
            parts.append((q1, q2, zero, *(np.broadcast_to(x, q.shape) for x in self.acceleration)))
        if self.torque is not None:
            c = self._torque(q, zero, zero)
            a, b = self._torque(q, zero, q1) - c, self._torque(q, q1, q2) - c
            parts.append((a, b, c, *(np.broadcast_to(x, q.shape) for x in self.torque)))
        return tuple(np.concatenate(column, axis=1) for column in zip(*parts))

    def _torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        assert self.inverse_dynamics is not None
        tau = real_array(self.inverse_dynamics(q, qd, qdd), "inverse_dynamics")
        if tau.shape != q.shape:
            raise ShapeError(f"'inverse_dynamics' returned shape {tau.shape}; it must be batched, {q.shape} here.")
        if not np.all(np.isfinite(tau)):
            raise DescriptionError("'inverse_dynamics' returned a value that is not finite.")
        return tau

    def x_max(self, d: np.ndarray) -> dict[str, np.ndarray]:
        """Bounds of x = ṡ² by kind, shape (N,) each."""
        out = {}
        with np.errstate(divide="ignore"):
            if self.velocity is not None:
                low, high = self.velocity
                allowed = np.where(d[1] > 0, high, low) / np.where(d[1] == 0, np.nan, d[1])
                out["velocity"] = np.nanmin(np.column_stack([allowed, np.full(len(allowed), np.inf)]), axis=1) ** 2
            if self.tip_speed is not None:
                rate = d[1] if self.tip_velocity is None else real_array(self.tip_velocity(d[0], d[1]), "tip_velocity")
                if rate.ndim != 2 or len(rate) != len(d[0]):
                    raise ShapeError(f"'tip_velocity' returned shape {rate.shape}; expected ({len(d[0])}, k).")
                out["tip speed"] = (self.tip_speed / np.linalg.norm(rate.reshape(len(rate), -1), axis=1)) ** 2
        return out

    def kinds(self) -> list[str]:
        """The kind of every row, in the order of :meth:`rows`."""
        names = [("acceleration", self.acceleration), ("torque", self.torque)]
        return [name for name, limit in names if limit is not None for _ in range(self.n)]


def _two_sided(limit: Any, name: str, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(lower, upper), (n,) each, from one number, one per joint, or rows lower and upper (2, n)."""
    if limit is None:
        return None
    array = real_array(limit, name)
    if np.any((np.abs(array) > FASTEST) & np.isfinite(array)):
        raise DescriptionError(f"'{name}' must be at most {FASTEST:g} in size, or infinite for no limit.", field=name)
    if array.shape in ((), (n,)):
        low, high = -np.broadcast_to(array, (n,)), np.broadcast_to(array, (n,))
    elif array.shape == (2, n):
        low, high = array
    else:
        raise ShapeError(f"'{name}' must be one number, {n}, or lower and upper (2, {n}); found shape {array.shape}.")
    if not (np.all(low < 0) and np.all(high > 0)) and name != "torque":
        raise DescriptionError(f"'{name}' must allow motion both ways: lower < 0 < upper.", field=name)
    if not np.all(low < high):
        raise DescriptionError(f"The lower limit of '{name}' must be below the upper one, and neither nan.", field=name)
    return low, high


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
) -> TimeOptimalResult:
    """The fastest motion along ``path``, usually a joint-space path.

    Args:
        velocity, acceleration, torque, jerk: limits: one number, one a coordinate, or lower and upper (2, n).
        inverse_dynamics: batched function (q, qd, qdd) → tau, arrays (N, n); friction is not considered.
        tip_speed: greatest Euclidean speed of the tip [m/s].
        tip_velocity: batched function (q, qd) → (N, k), linear in qd; a task-space path needs none.
        start_speed, end_speed: ṡ at the ends.
        points: grid intervals at the start; the path's breaks are added.
        scheme: see above; ``"collocation"`` imposes each grid point only.
        tolerance: excess between grid points above which the grid is refined.
        strict: slow the motion down by the remaining excess, so that no limit is exceeded.

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
    allowed_jerk = None if jerk is None else _two_sided(jerk, "jerk", path.dimension)
    limits = _Limits(path, velocity, acceleration, torque, inverse_dynamics, tip_speed, tip_velocity)
    grid, best = _grid(path, points), None
    for _ in range(ROUNDS):
        found = _on_grid(limits, grid, scheme, start_speed, end_speed)
        if isinstance(found, str):
            return TimeOptimalResult("infeasible", found, s=grid)
        checked = _verify(limits, grid, found[0])
        if best is None or checked.excess < best[2].excess:
            best = (grid, found, checked)
        if checked.excess <= tolerance:
            break
        finer = _refined(grid, checked.by_interval > tolerance)
        if len(finer) > MAX_GRID:
            break
        grid = finer
    assert best is not None
    grid, (x, cap), checked = best
    profile: Profile = _profile(grid, x)
    slowed = checked.slow_down if strict else 1.0
    if slowed > 1.0:
        profile = ScaledProfile(profile, slowed)
    peaks = _jerk(path, grid, x) / slowed**3
    kept = None
    if allowed_jerk is not None:
        low, high = allowed_jerk
        kept = bool(np.all(peaks <= np.minimum(-low, high)))
    speed, ceiling = np.sqrt(x) / slowed, np.sqrt(cap)
    use = _verify(limits, grid, x, slowed).use if slowed > 1 else checked.use
    return TimeOptimalResult(
        "finished", "", PathTrajectory(path, profile), grid, speed, ceiling, use,
        checked.excess, slowed, peaks, kept, checked.limited_by,
    )  # fmt: skip


def time_optimal(path: Path, **options: Any) -> PathTrajectory:
    """The trajectory of :func:`solve_time_optimal`, with its options; raises SolveError (with the result) when there is none."""
    for name in options:
        if name not in OPTIONS:
            hint = nearest(name, OPTIONS)
            words = f". Did you mean '{hint}'?" if hint else ""
            raise TypeError(f"time_optimal() got an unexpected keyword argument '{name}'{words}")
    result = solve_time_optimal(path, **options)
    if result.trajectory is None:
        raise SolveError(f"No motion along this path keeps the limits: {result.reason}.", result)
    if result.jerk_kept is False:
        warnings.warn(f"The jerk limit is exceeded: peaks {np.array2string(result.jerk, precision=4)}.", stacklevel=2)
    return result.trajectory


OPTIONS = tuple(name for name in inspect.signature(solve_time_optimal).parameters if name != "path")


def _grid(path: Path, count: int) -> np.ndarray:
    """Even arc lengths with every break of the path among them."""
    s = np.union1d(np.linspace(0.0, path.length, count + 1), path.breaks)
    inner = np.concatenate([[True], np.diff(s) > 1e-9 * path.length])
    on_break = np.isin(s, path.breaks)
    keep = on_break | (inner & np.concatenate([np.diff(s) > 1e-9 * path.length, [True]]))
    return s[keep]


def _refined(s: np.ndarray, wanting: np.ndarray) -> np.ndarray:
    """The grid with the marked intervals and their neighbours cut into four."""
    near = wanting.copy()
    near[1:] |= wanting[:-1]
    near[:-1] |= wanting[1:]
    start, step = s[:-1][near], np.diff(s)[near]
    return np.sort(np.concatenate([s, *(start + step * k / 4 for k in (1, 2, 3))]))


def _on_grid(
    limits: _Limits, s: np.ndarray, scheme: str, start_speed: float, end_speed: float
) -> tuple[np.ndarray, np.ndarray] | str:
    """x and its ceiling on the grid, or why there is none."""
    path, delta = limits.path, np.diff(s)
    right = path.derivatives(s, 2)
    x_max = np.min([*limits.x_max(right).values(), np.full(len(s), 1e12)], axis=0)
    corners = path.corners()
    if len(corners):
        x_max[np.searchsorted(s, corners * (1 - 1e-12))] = 0.0
    if scheme == "interpolation":
        left = right.copy()
        broken = np.flatnonzero(np.isin(s, path.breaks[1:-1]))
        left[:, broken] = path.derivatives(s[broken], 2, "left")
        here = limits.rows(right)
        there = here if not len(broken) else limits.rows(left)
        a, b, c, low, high = (np.concatenate([x[:-1], y[1:]], axis=1) for x, y in zip(here, there))
        m = here[0].shape[1]
        a[:, m:] += 2.0 * delta[:, None] * b[:, m:]  # rows of the next point, at x + 2Δu
    else:
        a, b, c, low, high = (x[:-1] for x in limits.rows(right))
    found = solve(Stages(a, b, c, low, high, delta, x_max), start_speed**2, end_speed**2)
    if found.x is None:
        return f"{found.reason} (s = {s[found.failed_at]:.6g} of {path.length:.6g})"
    x = found.x
    stuck = np.flatnonzero((x[1:] <= 0) & (x[:-1] <= 0))
    if len(stuck):
        return f"the motion cannot leave standstill at s = {s[stuck[0]]:.6g}"
    return x, found.cap


def _profile(s: np.ndarray, x: np.ndarray) -> PiecewiseProfile:
    """s(t) of constant acceleration between grid points: Δt = 2Δ/(ṡ_i + ṡ_{i+1})."""
    speed, delta = np.sqrt(x), np.diff(s)
    times = np.concatenate([[0.0], np.cumsum(2.0 * delta / (speed[1:] + speed[:-1]))])
    u = np.diff(x) / (2.0 * delta)
    return PiecewiseProfile(times, np.column_stack([s[:-1], speed[:-1], u / 2]))


@dataclass(frozen=True)
class _Check:
    use: dict[str, float]
    excess: float
    slow_down: float
    limited_by: dict[str, float]
    by_interval: np.ndarray


def _verify(limits: _Limits, s: np.ndarray, x: np.ndarray, slowed: float = 1.0) -> _Check:
    """Use of every limit at five places of every interval, both sides of each grid point.

    Slowing down by k multiplies u and x by 1/k²; a row then lies at c + (a u + b x)/k², so each place asks for
    k² ≥ (a u + b x)/(limit − c).
    """
    delta = np.diff(s)
    u = np.repeat(np.diff(x) / (2.0 * delta), len(BETWEEN)) / slowed**2
    at = s[:-1, None] + delta[:, None] * BETWEEN
    here = (x[:-1, None] + np.diff(x)[:, None] * BETWEEN).ravel() / slowed**2
    d = _inside(limits.path, at)
    a, b, c, low, high = limits.rows(d)
    moving = a * u[:, None] + b * here[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(moving > 0, moving / (high - c), moving / (low - c))
    share = np.where(moving == 0, 0.0, share)
    shares = {name: here / bound for name, bound in limits.x_max(d).items()}
    kinds = limits.kinds()
    for name in dict.fromkeys(kinds):
        shares[name] = share[:, [i for i, kind in enumerate(kinds) if kind == name]].max(axis=1)
    worst = max(float(values.max()) for values in shares.values())
    table = np.array(list(shares.values()))
    tightest = np.argmax(table, axis=0)
    limited = {name: float(np.mean(tightest == i)) for i, name in enumerate(shares)}
    speeds = ("velocity", "tip speed")
    use = {name: float(np.sqrt(v.max()) if name in speeds else v.max()) for name, v in shares.items()}
    by_interval = table.max(axis=0).reshape(len(delta), len(BETWEEN)).max(axis=1) - 1.0
    return _Check(use, max(0.0, worst - 1.0), max(1.0, worst) ** 0.5, limited, by_interval)


def _inside(path: Path, at: np.ndarray) -> np.ndarray:
    """[q, q', q''] at places of intervals (N, k), the first from the right and the last from the left: (3, N·k, n)."""
    d = path.derivatives(at, 2)
    side: Side = "left"
    d[:, :, -1] = path.derivatives(at[:, -1], 2, side)
    return d.reshape(3, -1, path.dimension)


def _jerk(path: Path, s: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Largest |Δq̈/Δt| between middles of neighbouring intervals, shape (n,)."""
    if len(s) < 3:
        return np.zeros(path.dimension)
    delta, speed = np.diff(s), np.sqrt(x)
    u = np.diff(x) / (2.0 * delta)
    d = path.derivatives((s[1:] + s[:-1]) / 2, 2)
    q2 = d[1] * u[:, None] + d[2] * ((x[1:] + x[:-1]) / 2)[:, None]
    dt = 2.0 * delta / (speed[1:] + speed[:-1])
    return np.abs(np.diff(q2, axis=0) / ((dt[1:] + dt[:-1]) / 2)[:, None]).max(axis=0)

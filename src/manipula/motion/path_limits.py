"""Limits of joint velocity, acceleration, torque and tip speed as linear rows along a path; see :mod:`.time_optimal`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.arguments import between, function_of, positive, real_array
from manipula.errors import DescriptionError, ShapeError
from manipula.identity import identity
from manipula.motion.paths.base import Path
from manipula.motion.paths.sampling import sample_intervals

InverseDynamics = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
TipVelocity = Callable[[np.ndarray, np.ndarray], np.ndarray]
FASTEST = 1e60  # of a finite limit: its square is still a number
BETWEEN = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # where each grid interval is verified
TOGETHER = 2560  # states of one call of the inverse dynamics: compiled ones then stay in the calling thread
SPEEDS = ("velocity", "tip speed")  # limits of ṡ² itself


_accepted = functools.lru_cache(16)(function_of)  # a compiled function keeps its arguments


class LimitRows(NamedTuple):
    """``low ≤ a u + b x + c ≤ high`` of one kind of limit: a, b, c over places and joints, limits (n,)."""

    kind: str
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    low: np.ndarray
    high: np.ndarray


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
        self.path, self.n = path, path.dimension
        self.velocity = two_sided(velocity, "velocity", self.n)
        self.acceleration = two_sided(acceleration, "acceleration", self.n)
        self.torque = two_sided(torque, "torque", self.n)
        self.inverse_dynamics, self.tip_velocity = inverse_dynamics, tip_velocity
        if (self.torque is None) != (inverse_dynamics is None):
            raise DescriptionError("'torque' limits and 'inverse_dynamics' belong together; one of them is missing.")
        if all(limit is None for limit in (self.acceleration, self.torque)):
            raise DescriptionError("Without 'acceleration' or 'torque' limits the motion would be infinitely fast.")
        for name, f, names in (
            ("inverse_dynamics", inverse_dynamics, ("q", "qd", "qdd")), ("tip_velocity", tip_velocity, ("q", "qd"))
        ):  # fmt: skip
            if f is not None:
                (_accepted if type(f) is BuiltinFunctionType else function_of)(f, name, *names)
        self.tip_speed = (
            None if tip_speed is None else between(positive(tip_speed, "tip_speed"), "tip_speed", 0.0, FASTEST)
        )
        if self.tip_speed is not None and path.space == "joint" and tip_velocity is None:
            raise DescriptionError("'tip_speed' on a joint path needs 'tip_velocity', a function of (q, qd).")

    def rows(self, q: np.ndarray, q1: np.ndarray, q2: np.ndarray) -> list[LimitRows]:
        """The rows of every kind at places (N, n) of the path, from q, q' and q''."""
        found = []
        if self.acceleration is not None:
            found.append(LimitRows("acceleration", q1, q2, np.zeros(self.n), *self.acceleration))
        if self.torque is not None:
            rest = np.zeros_like(q)
            c = self._torque(q, rest, rest)
            a, b = self._torque(q, rest, q1) - c, self._torque(q, q1, q2) - c
            found.append(LimitRows("torque", a, b, c, *self.torque))
        return found

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
        if not np.all(np.isfinite(tau)):
            raise DescriptionError("'inverse_dynamics' returned a value that is not finite.")
        return tau

    def bounds(self, q: np.ndarray, q1: np.ndarray) -> dict[str, np.ndarray]:
        """Bounds of x = ṡ² by kind at places (N, n) of the path, shape (N,) each."""
        out = {}
        if self.velocity is not None:
            out["velocity"] = _bound_kernel(self.n, native.has_compiler())(q1, *self.velocity)
        if self.tip_speed is not None:
            rate = q1 if self.tip_velocity is None else real_array(self.tip_velocity(q, q1), "tip_velocity")
            if rate.ndim != 2 or len(rate) != len(q):
                raise ShapeError(f"'tip_velocity' returned shape {rate.shape}; expected ({len(q)}, k).")
            with np.errstate(divide="ignore"):
                out["tip speed"] = (self.tip_speed / np.linalg.norm(rate, axis=1)) ** 2
        return out


class Intervals:
    """All coefficients at five places of intervals of a path: arrays (5, N, n), bounds of x (5, N).

    The last place has the derivatives just before the end of its interval.
    """

    def __init__(self, limits: PathLimits, begin: np.ndarray, end: np.ndarray) -> None:
        at = begin + (end - begin) * BETWEEN[:, None]
        at[-1] = end
        q, q1, q2 = sample_intervals(limits.path, at, begin)
        self.q1, self.q2, self.count = q1, q2, len(begin)
        flat, shape = (x.reshape(-1, limits.n) for x in (q, q1, q2)), q.shape
        q, q1, q2 = flat
        self.rows = [
            row._replace(**{name: x.reshape(shape) for name in "abc" if (x := getattr(row, name)).ndim == 2})
            for row in limits.rows(q, q1, q2)
        ]
        self.bounds = {name: x.reshape(shape[:2]) for name, x in limits.bounds(q, q1).items()}

    def shares(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """How much of every kind of limit is used, (kinds, 5, N), for u (N,) and x (5, N)."""
        kernel = _share_kernel(self.q1.shape[2], native.has_compiler())
        used = [x / bound for bound in self.bounds.values()]
        return np.array(used + [kernel(*row[1:], u, x) for row in self.rows])

    @property
    def kinds(self) -> list[str]:
        """The kinds of limits, in the order of :meth:`shares`."""
        return [*self.bounds, *(row.kind for row in self.rows)]


@functools.lru_cache(64)
def _bound_kernel(n: int, compiled: bool) -> native.Kernel:
    """min over joints of (limit / q')², for limits on the side of q'."""

    def bound(q1: Any, low: Any, high: Any) -> Any:
        least: Any = float("inf")
        for rate, below, above in zip(q1, low, high):
            still = ops.abs(rate) <= 0.0
            allowed = ops.where(rate > 0.0, above, below) / ops.where(still, 1.0, rate)
            least = ops.minimum(least, ops.where(still, float("inf"), allowed))
        return least * least

    return native.kernel_of(bound, {"q1": (n,), "low": (n,), "high": (n,)}, "path_limits.bound", identity(n))


@functools.lru_cache(64)
def _share_kernel(n: int, compiled: bool) -> native.Kernel:
    """Largest share of a limit that a u + b x takes of what c leaves: (a u + b x)/(limit − c)."""

    def share(a: Any, b: Any, c: Any, low: Any, high: Any, u: Any, x: Any) -> Any:
        largest: Any = -float("inf")
        for k in range(n):
            moving = a[k] * u + b[k] * x
            used = moving / (ops.where(moving > 0.0, high[k], low[k]) - c[k])
            largest = ops.maximum(largest, ops.where(ops.abs(moving) <= 0.0, 0.0, used))
        return largest

    inputs = dict.fromkeys(("a", "b", "c", "low", "high"), (n,)) | {"u": (), "x": ()}
    return native.kernel_of(share, inputs, "path_limits.share", identity(n))


def two_sided(limit: Any, name: str, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(lower, upper), (n,) each, from one number, one per joint, or rows lower and upper (2, n)."""
    if limit is None:
        return None
    array = real_array(limit, name)
    if np.any((np.abs(array) > FASTEST) & np.isfinite(array)):
        raise DescriptionError(f"'{name}' must be at most {FASTEST:g} in size, or infinite for no limit.", field=name)
    if array.shape in ((), (n,)):
        low, high = np.full(n, -array), np.full(n, array)
    elif array.shape == (2, n):
        low, high = array
    else:
        raise ShapeError(f"'{name}' must be one number, {n}, or lower and upper (2, {n}); found shape {array.shape}.")
    if not (np.all(low < 0) and np.all(high > 0)) and name != "torque":
        raise DescriptionError(f"'{name}' must allow motion both ways: lower < 0 < upper.", field=name)
    if not np.all(low < high):
        raise DescriptionError(f"The lower limit of '{name}' must be below the upper one, and neither nan.", field=name)
    return low, high

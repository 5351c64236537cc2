r"""A motion in time: :math:`p(s(t))` with exact derivatives to the jerk and beyond.

.. math::
    \dot p = p'\dot s,\qquad \ddot p = p''\dot s^2 + p'\ddot s,\qquad
    \dddot p = p'''\dot s^3 + 3p''\dot s\ddot s + p'\dddot s

Task-space and joint-space trajectories have the same protocol. Before 0 and after ``duration`` the motion rests (position
held, derivatives 0); ``duration`` itself still belongs to the motion. Where a derivative jumps (a corner passed with
speed, a change of phase of the law) the value just after is returned; the low-level :meth:`Trajectory.derivatives` also
gives the value just before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.algebra.rotation import to_quaternion_wxyz, vee
from manipula.algebra.value import read_only
from manipula.errors import DescriptionError
from manipula.identity import is_own
from manipula.lazy import cached_property
from manipula.motion import paths, timing
from manipula.motion.looks import NONE, LookPlaces, joined, unsearched
from manipula.motion.paths.base import Path, Side
from manipula.motion.timing.base import Profile, TimeLaw, checked_duration, is_one

if TYPE_CHECKING:
    from manipula.motion.piecewise import PiecewiseTrajectory


CHANGED = 1e-9  # of its length: a path that differs by more is another one


class Trajectory(ABC):
    """A motion over ``0 ≤ t ≤ duration``.

    Attributes:
        duration: [s].
        dimension: coordinates: 3 in task space, the number of joints in joint space.
        space: ``"task"`` or ``"joint"``.
        breaks: times where a derivative may jump, 0 and the duration included.
    """

    duration: float
    dimension: int
    space: Literal["task", "joint"]

    @property
    @abstractmethod
    def breaks(self) -> np.ndarray: ...

    @property
    def has_orientation(self) -> bool:
        """Does the motion say how the tool is turned?"""
        return False

    @abstractmethod
    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        """``[p, ṗ, p̈, …]`` at times t: shape (order + 1, *t.shape, dimension)."""

    def position(self, t: Any) -> np.ndarray:
        """Shape (*t.shape, dimension) [m, or rad and m for joints]."""
        return self.derivatives(t, 0)[0]

    def velocity(self, t: Any) -> np.ndarray:
        return self.derivatives(t, 1)[1]

    def acceleration(self, t: Any) -> np.ndarray:
        return self.derivatives(t, 2)[2]

    def jerk(self, t: Any) -> np.ndarray:
        return self.derivatives(t, 3)[3]

    def looks(self) -> LookPlaces:
        """Times at which it has to be looked at besides those that a table or a check takes; of other classes than ours, many."""
        return NONE if type(self).__module__.startswith("manipula.") else unsearched(0.0, self.duration)

    def renew(self) -> Trajectory:
        """This motion; what it computed ahead from user functions is computed again. Every run begins so."""
        return self

    def to_piecewise(self, tolerance: float = 1e-9) -> PiecewiseTrajectory:
        """A table of quintic pieces for compiled loops; see :mod:`manipula.motion.piecewise`.

        Raises:
            DescriptionError: for a motion that turns the tool, because such a table holds positions only.
        """
        from manipula.motion.piecewise import to_piecewise

        return to_piecewise(self, tolerance)


class OrientedTrajectory(Trajectory):
    """A motion that may say how the tool is turned: all of it follows from R(t) and its derivatives."""

    @abstractmethod
    def rotation_rates(self, t: Any, order: int, side: Side = "right") -> np.ndarray:
        """``[R, Ṙ, …]`` at times t: shape (order + 1, *t.shape, 3, 3); needs an orientation."""

    def rotation(self, t: Any) -> np.ndarray:
        """R of the tool in base axes, shape (*t.shape, 3, 3)."""
        return self.rotation_rates(t, 0)[0]

    def pose(self, t: Any) -> np.ndarray:
        """Homogeneous pose of the tool, shape (*t.shape, 4, 4)."""
        out = np.zeros((*np.shape(t), 4, 4))
        out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = self.rotation(t), self.position(t), 1.0
        return out

    def quaternion_wxyz(self, t: Any) -> np.ndarray:
        """Unit quaternions, shape (*t.shape, 4); consecutive ones keep their sign together."""
        R = self.rotation(t).reshape(-1, 3, 3)
        out = np.array([to_quaternion_wxyz(r) for r in R]).reshape(-1, 4)
        if len(out) > 1:
            flips = np.sum(out[1:] * out[:-1], axis=1) < 0
            out[1:][np.cumsum(flips) % 2 == 1] *= -1.0
        return out.reshape(*np.shape(t), 4)

    def angular_velocity(self, t: Any) -> np.ndarray:
        """ω in base axes from Ṙ Rᵀ = [ω]×, shape (*t.shape, 3)."""
        R = self.rotation_rates(t, 1)
        return vee(R[1] @ np.swapaxes(R[0], -1, -2))

    def angular_acceleration(self, t: Any) -> np.ndarray:
        """ω̇ in base axes: the skew part of R̈ Rᵀ."""
        R = self.rotation_rates(t, 2)
        return vee(R[2] @ np.swapaxes(R[0], -1, -2))


class PathTrajectory(OrientedTrajectory):
    """A path followed under a time law.

    Attributes:
        path: p(s).
        profile: s(t).
        law: what the profile was made from, when it was a law.
    """

    def __init__(self, path: Path, profile: Profile, law: TimeLaw | None = None) -> None:
        self.path, self.profile, self.law = path, profile, law
        self.duration, self.dimension, self.space = profile.duration, path.dimension, path.space

    def __repr__(self) -> str:
        return f"Trajectory({self.path!r}, {self.law or 'profile'}, duration={self.duration:.6g})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, PathTrajectory) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A motion that is known by its law is made again: the function that the law gave does not travel."""
        return super().__reduce_ex__(protocol) if self.law is None else (trajectory, (self.path, self.law))

    def _key(self) -> tuple[Any, ...]:
        return self.path, self.profile if self.law is None else self.law

    def renew(self) -> Trajectory:
        """Measure a path that somebody wrote again, and time it again where either is somebody's."""
        if is_own(self.path.curves, self.law):
            return self
        before = self.path.length
        self.path.renew()
        if self.law is not None:
            self.profile = self.law.profile(self.path.length)
            self.duration = self.profile.duration
        elif abs(self.path.length - before) > CHANGED * before:
            raise DescriptionError(
                f"The path was {before:.9g} long when this motion was timed and is {self.path.length:.9g} long now; "
                f"its function has changed: make the motion again."
            )
        vars(self).pop("breaks", None)
        vars(self).pop("_looks", None)
        return self

    @property
    def description(self) -> dict[str, Any]:
        """``{"path": …, "timing": …}`` as a scenario file holds it; TypeError when it cannot be written."""
        if self.path.description is None or self.law is None or self.path.orientation is not None:
            raise TypeError("This trajectory holds Python objects and cannot be written to a file.")
        return {"path": dict(self.path.description), "timing": self.law.description}

    @cached_property
    def breaks(self) -> np.ndarray:  # type: ignore[override]
        """Breaks of the law, and the times at which the path's breaks are passed."""
        times = np.sort(np.concatenate([self.profile.breaks, self.times_at(self.path.breaks[1:-1])]))
        keep = np.concatenate([[True], np.diff(times) > 1e-12 * self.duration])
        times = times[keep]
        times[-1] = self.duration
        return read_only(times, mine=True)

    def times_at(self, s: np.ndarray) -> np.ndarray:
        """When arc lengths s (k,) are passed [s]."""
        low, high = np.zeros(len(s)), np.full(len(s), self.duration)
        for _ in range(80 if len(s) else 0):  # bisection to the last bit: s(t) never decreases
            middle = (low + high) / 2
            before = self.profile.evaluate(middle, 0)[0] < s
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return (low + high) / 2

    def looks(self) -> LookPlaces:
        return self._looks

    @cached_property
    def _looks(self) -> LookPlaces:
        along = self.path.looks()
        return joined(
            [
                self.profile.looks(),
                LookPlaces(self.times_at(along.places), along.hidden * self.duration / self.path.length),
            ]
        )

    def arc_length(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        """``[s, ṡ, …]``: shape (order + 1, *t.shape)."""
        return self.profile.evaluate(t, order, side)

    def derivatives(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        if is_one(t, order, side):
            one = self.profile.evaluate_one(t, order, side)
            found = None if one is None else self.path.derivatives_one(one[0], order, side)
            if found is not None:
                return _chain(found, np.array(one)[:, None]) if order else found
        order = whole_number(order, "order", 0, 3)  # up to the jerk
        s = self.profile.evaluate(t, order, side)
        return _chain(self.path.derivatives(s[0], order, side), s[..., None])

    # orientation -------------------------------------------------------------------------------------------------

    @property
    def has_orientation(self) -> bool:
        return self.path.orientation is not None

    def rotation_rates(self, t: Any, order: int, side: Side = "right") -> np.ndarray:
        """``[R, Ṙ, …]`` at times t: shape (order + 1, *t.shape, 3, 3)."""
        s = self.profile.evaluate(t, order, side)
        return _chain(self.path.rotation(s[0], order, side), s[..., None, None])


def _chain(d: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Derivatives by arc length and those of s(t) → derivatives by time (the formulas above)."""
    out = np.empty_like(d)
    out[0] = d[0]
    if len(d) > 1:
        out[1] = d[1] * s[1]
    if len(d) > 2:
        out[2] = d[2] * s[1] ** 2 + d[1] * s[2]
    if len(d) > 3:
        out[3] = d[3] * s[1] ** 3 + 3.0 * d[2] * s[1] * s[2] + d[1] * s[3]
    return out


def trajectory(path: Path | Mapping[str, Any], law: TimeLaw | Mapping[str, Any] | Profile) -> PathTrajectory:
    """The motion along ``path`` under ``law``.

    Args:
        path: a path, or its description from a file.
        law: a time law, its description, or a ready profile s(t) over exactly this path's length.
    """
    if isinstance(path, Mapping):
        path = paths.from_description(path)
    if not isinstance(path, Path):
        raise DescriptionError(f"'path' must be a path such as paths.line(a, b); found {type(path).__name__}.")
    if isinstance(law, Mapping):
        law = timing.from_description(law)
    if isinstance(law, TimeLaw):
        profile = law.profile(path.length)
        checked_duration(profile.duration, f"duration of '{law.kind}' over {path.length:.6g} m or rad")
        return PathTrajectory(path, profile, law)
    if not isinstance(law, Profile):
        raise DescriptionError(f"'law' must be a time law such as timing.quintic(2.0); found {type(law).__name__}.")
    end = float(law.evaluate(law.duration, 0)[0])
    if abs(end - path.length) > 1e-9 * path.length:
        raise DescriptionError(
            f"The profile ends at s = {end:.9g}; the path's length is {path.length:.9g} m (or rad).", field="law"
        )
    return PathTrajectory(path, law)

r"""What is identified: the columns of :math:`\tau = W(q,\dot q,\ddot q)\,\pi`.

First the ten inertial parameters of every link (``physics.regressor``; those of joints that follow others come last), then, for each
joint of q and as asked,

========  ==========  ===========================================================================================
extra     name        column of joint j
========  ==========  ===========================================================================================
armature  ``Ir``      :math:`\ddot q_j`, rotor inertia
viscous   ``fv``      :math:`\dot q_j`
coulomb   ``fc``      :math:`s(\dot q_j)`: the sign, or :math:`\tanh(\dot q_j/v_0)` with a width :math:`v_0`
stribeck  ``fs``      :math:`s(\dot q_j)\,e^{-(\dot q_j/v_s)^2}`: what static friction exceeds kinetic friction by
offset    ``f0``      1
========  ==========  ===========================================================================================

The widths :math:`v_0` and :math:`v_s` are no columns: torques are not linear in them (``friction_search``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from manipula.algebra.arguments import finite_array, real_array, rows_of
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.model import Model
from manipula.physics.regressor import PARAMETERS
from manipula.robot.robot import Robot

EXTRAS = ("armature", "viscous", "coulomb", "stribeck", "offset")
Extras = Sequence[str] | str | Mapping[str, Sequence[str] | str]
_SYMBOL = {"armature": "Ir", "viscous": "fv", "coulomb": "fc", "stribeck": "fs", "offset": "f0"}


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Value):
    """The columns of one model: 10 inertial ones of every body and those of ``extras``, each n.

    Attributes:
        model: the compiled robot.
        extras: some of "armature", "viscous", "coulomb", "stribeck", "offset", in that order.
        smooth: velocity v_0 [rad/s, m/s] below which dry friction grows gradually, one per joint or one for all; 0 is the sign.
        v_stribeck: velocity v_s [rad/s, m/s] at which the static level has faded, one per joint or one for all.
        left_out: pairs (extra, joint number) whose column is zero: the joint has no such term.
    """

    model: Model
    extras: tuple[str, ...] = ()
    smooth: float | tuple[float, ...] = 0.0
    v_stribeck: float | tuple[float, ...] = 1.0
    left_out: tuple[tuple[str, int], ...] = ()
    SIGNED: ClassVar[frozenset[str]] = frozenset({"offset"})  # may be negative

    def _key(self) -> tuple[Any, ...]:
        # models of one robot are the same
        return (self.model.robot, self.extras, self.smooth, self.v_stribeck, self.left_out)

    def __reduce__(self) -> Any:  # machine code stays where it is
        return _of_robot, (self.model.robot, self.extras, self.smooth, self.v_stribeck, self.left_out)

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def bodies(self) -> int:
        """Number of moving links: those of the joints of q, then those of joints that follow them."""
        return len(self.model.robot.bodies)

    @property
    def inertial(self) -> int:
        """Number of inertial columns, which come first."""
        return 10 * self.bodies

    @property
    def size(self) -> int:
        return self.inertial + self.n * len(self.extras)

    @property
    def names(self) -> tuple[str, ...]:
        """``m1 mx1 … Jzz1 m2 … fv1 fv2 …``, numbered like q; links of joints that follow others go on counting."""
        inertial = [f"{name}{i}" for i in range(1, self.bodies + 1) for name in PARAMETERS]
        return (*inertial, *[f"{_SYMBOL[extra]}{i}" for extra in self.extras for i in range(1, self.n + 1)])

    def part(self, extra: str) -> slice:
        """Where the n columns of an extra are."""
        k = self.inertial + self.n * self.extras.index(extra)
        return slice(k, k + self.n)

    def __call__(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """W, (..., n, size)."""
        q, qd, qdd = np.broadcast_arrays(*(np.asarray(x, float) for x in (q, qd, qdd)))
        W = np.zeros((*q.shape, self.size))
        W[..., : self.inertial] = self.model.regressor(q, qd, qdd)
        joints = np.arange(self.n)
        for extra in self.extras:
            W[..., joints, self.part(extra).start + joints] = self.term(extra, qd, qdd)
        return W

    def term(self, extra: str, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(..., n): the column of every joint for one extra, in the equation of that joint."""
        if extra in ("coulomb", "stribeck"):
            found = dry(qd, np.broadcast_to(self.smooth, self.n))
            if extra == "stribeck":
                found = found * np.exp(-((qd / np.asarray(self.v_stribeck)) ** 2))
        else:
            found = {"armature": qdd, "viscous": qd, "offset": np.ones_like(qd)}[extra]
        return np.where([(extra, j) in self.left_out for j in range(self.n)], 0.0, found)

    @property
    def generic(self) -> Columns:
        """The same columns with widths that random states of order one show well: what depends on what stays the same."""
        return replace(self, smooth=0.0, v_stribeck=1.0)


def dry(qd: np.ndarray, smooth: np.ndarray) -> np.ndarray:
    """tanh(qd/smooth), the sign where smooth is zero; (..., n)."""
    return np.where(smooth > 0.0, np.tanh(qd / np.where(smooth > 0.0, smooth, 1.0)), np.sign(qd))


def _of_robot(robot: Robot, *shape: Any) -> Columns:
    return Columns(Model(robot), *shape)


def columns(model: Model, extras: Extras = (), smooth: Any = 0.0, v_stribeck: Any = None) -> Columns:
    """Columns of a model; ``extras`` in any order, for all joints or as a mapping from a joint's name to its own.

    Args:
        smooth, v_stribeck: one number or one per joint, see :class:`Columns`.
    """
    carried = next((link.name for link in model.robot.bodies if link.balance is not None), None)
    if carried is not None:
        raise DescriptionError(
            f"Identification and base parameters do not model weight that something else carries (the balance of link '{printable(carried, 60)}'); "
            "take it off the torques and the robot first.",
            field="robot")  # fmt: skip
    names = model.robot.joint_names
    if isinstance(extras, Mapping):
        for name in extras:
            if name not in names:
                raise unknown_name("joint", name, names, field="extras")
        of_joint = [_words(extras.get(name, ())) for name in names]
    else:
        of_joint = [_words(extras)] * len(names)
    kinds = tuple(e for e in EXTRAS if any(e in own for own in of_joint))
    left_out = tuple((e, j) for e in kinds for j, own in enumerate(of_joint) if e not in own)
    if v_stribeck is None and "stribeck" in kinds:
        raise DescriptionError(
            "The velocity at which static friction has faded is needed: give v_stribeck=…; identify_log searches it.",
            field="v_stribeck",
        )
    widths = _per_joint(smooth, "smooth", len(names))
    fading = _per_joint(1.0 if v_stribeck is None else v_stribeck, "v_stribeck", len(names))
    if np.min(fading) <= 0.0:
        raise DescriptionError("'v_stribeck' must be greater than 0.", field="v_stribeck")
    return Columns(model, kinds, widths, fading, left_out)


def _words(extras: Any) -> tuple[str, ...]:
    wanted = (extras,) if isinstance(extras, str) else rows_of(extras, "extras")
    for extra in wanted:
        if not isinstance(extra, str) or extra not in EXTRAS:
            raise unknown_name("kind of regressor column", extra, EXTRAS, field="extras")
    return wanted


def _per_joint(values: Any, name: str, n: int) -> float | tuple[float, ...]:
    """One number for all joints, or one per joint; not negative."""
    found = finite_array(values, name)
    if found.shape not in ((), (n,)):
        raise ShapeError(f"{name}: expected one number or ({n},), got {found.shape}.")
    if np.min(found, initial=0.0) < 0.0:
        raise DescriptionError(f"'{name}' must not be negative.", field=name)
    return float(found) if found.shape == () else tuple(found.tolist())


def random_states(model: Model, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States inside the position limits (a turn or a metre where there are none), rates and accelerations of order one."""
    n = model.n
    wide = np.array([np.pi if j.is_revolute else 1.0 for j in model.robot.joints])
    lower, upper = model.robot.position_limits.T
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * wide, -wide))
    upper = np.where(np.isfinite(upper), upper, lower + 2 * wide)
    q = rng.uniform(lower, upper, (count, n))
    return q, rng.uniform(-3.0, 3.0, (count, n)), rng.uniform(-3.0, 3.0, (count, n))


def stacked(W: np.ndarray) -> np.ndarray:
    """(samples, n, p) → (samples · n, p)."""
    return W.reshape(-1, W.shape[-1])


def measured(model: Model, **arrays: Any) -> list[np.ndarray]:
    """Arrays of shape (samples, n), checked: finite, equal lengths."""
    found = []
    first: tuple[str, int] | None = None
    for name, values in arrays.items():
        a = real_array(values, name)
        if a.ndim != 2 or a.shape[1] != model.n:
            raise ShapeError(f"{name}: expected (samples, {model.n}) for '{model.robot.name}', got {a.shape}.")
        if first is not None and len(a) != first[1]:
            raise ShapeError(f"{name} has {len(a)} samples, {first[0]} has {first[1]}.")
        if not np.all(np.isfinite(a)):
            row = int(np.argwhere(~np.isfinite(a))[0, 0])
            raise ShapeError(f"{name} contains a number that is not finite, in sample {row}.")
        first = first or (name, len(a))
        found.append(a)
    return found

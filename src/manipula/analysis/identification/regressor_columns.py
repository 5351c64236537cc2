r"""What is identified: the columns of :math:`\tau = W(q,\dot q,\ddot q)\,\pi`.

First the ten inertial parameters of every link (``physics.regressor``), then, for each joint and as asked, rotor inertia
:math:`\ddot q_j`, viscous friction :math:`\dot q_j`, Coulomb friction :math:`\mathrm{sign}(\dot q_j)` and a constant offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manipula.algebra.arguments import real_array, rows_of
from manipula.algebra.value import Value
from manipula.errors import ShapeError, unknown_name
from manipula.model import Model
from manipula.physics.regressor import PARAMETERS
from manipula.robot.coupled_joint import refuse_couplings
from manipula.robot.robot import Robot

EXTRAS = ("armature", "viscous", "coulomb", "offset")
_SYMBOL = {"armature": "Ir", "viscous": "fv", "coulomb": "fc", "offset": "f0"}


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Value):
    """The columns of one model: 10 n inertial ones and those of ``extras``, each n.

    Attributes:
        model: the compiled robot.
        extras: some of "armature", "viscous", "coulomb", "offset", in that order.
        smooth: velocity [rad/s, m/s] below which Coulomb friction grows gradually, tanh(qd/smooth); 0 is the sign.
    """

    model: Model
    extras: tuple[str, ...] = ()
    smooth: float = 0.0
    SIGNED: ClassVar[frozenset[str]] = frozenset({"offset"})  # may be negative

    def _key(self) -> tuple[Any, ...]:
        return (self.model.robot, self.extras, self.smooth)  # two models of one robot are the same

    def __reduce__(self) -> Any:
        return _of_robot, (self.model.robot, self.extras, self.smooth)  # machine code stays where it is

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def size(self) -> int:
        return self.n * (10 + len(self.extras))

    @property
    def names(self) -> tuple[str, ...]:
        """``m1 mx1 … Jzz1 m2 … fv1 fv2 …``, numbered like q."""
        inertial = [f"{name}{i}" for i in range(1, self.n + 1) for name in PARAMETERS]
        return (*inertial, *[f"{_SYMBOL[extra]}{i}" for extra in self.extras for i in range(1, self.n + 1)])

    def part(self, extra: str) -> slice:
        """Where the n columns of an extra are."""
        k = 10 * self.n + self.n * self.extras.index(extra)
        return slice(k, k + self.n)

    def __call__(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """W, (..., n, size)."""
        q, qd, qdd = np.broadcast_arrays(*(np.asarray(x, float) for x in (q, qd, qdd)))
        W = np.zeros((*q.shape, self.size))
        W[..., : 10 * self.n] = self.model.regressor(q, qd, qdd)
        joints = np.arange(self.n)
        coulomb = np.tanh(qd / self.smooth) if self.smooth > 0.0 else np.sign(qd)
        motion = {"armature": qdd, "viscous": qd, "coulomb": coulomb, "offset": np.ones_like(q)}
        for extra in self.extras:
            W[..., joints, self.part(extra).start + joints] = motion[extra]
        return W


def _of_robot(robot: Robot, extras: tuple[str, ...], smooth: float) -> Columns:
    return Columns(Model(robot), extras, smooth)


def columns(model: Model, extras: Sequence[str] | str = ()) -> Columns:
    """Columns of a model; ``extras`` in any order."""
    refuse_couplings(model.robot, "Identification and base parameters do not know")
    wanted = (extras,) if isinstance(extras, str) else rows_of(extras, "extras")
    for extra in wanted:
        if not isinstance(extra, str) or extra not in EXTRAS:
            raise unknown_name("kind of regressor column", extra, EXTRAS, field="extras")
    return Columns(model, tuple(e for e in EXTRAS if e in wanted))


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

r"""What a time law is: a rule that turns a length into :math:`s(t)`, from 0 at t = 0 to the length at t = T.

A :class:`TimeLaw` is a small value (it can be written to a file); asked for a length it gives a :class:`Profile`, which
knows its duration and all derivatives. Before 0 and after T the motion rests: s stays, every derivative is 0. At an
instant where a derivative jumps ``side="right"`` gives the value just after and ``"left"`` the one just before; T itself
belongs to the motion (left value).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, get_args

import numpy as np

from manipula.algebra.arguments import between, choice, positive, real_array, whole_number
from manipula.algebra.fields import freeze
from manipula.algebra.jet import Jet
from manipula.algebra.value import key
from manipula.errors import DescriptionError
from manipula.motion.breaks import Side, located, located_one
from manipula.motion.looks import NONE, LookPlaces, looks_at, unsearched
from manipula.parts.checks import check_part

SIDES = get_args(Side)
INSTANT = 1e-14  # of the duration: a time this near a break is taken to be on it
HIGHEST_ORDER = 64  # of a derivative
SHORTEST, LONGEST = 1e-12, 1e12  # [s] of a motion: powers of its duration must stay numbers
OVERRUN = 1e-12  # of the duration: a time this little after the end still belongs to the motion (sums of steps)


class Profile(ABC):
    """s(t) for one length.

    Attributes:
        duration: T [s].
        breaks: times where a derivative may jump, 0 and T included.
    """

    duration: float
    breaks: np.ndarray

    @abstractmethod
    def inside(self, t: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        """``[s, ṡ, …]`` at times inside the motion, each on its piece: shape (order + 1, N)."""

    def evaluate(self, t: Any, order: int = 3, side: Side = "right") -> np.ndarray:
        """``[s, ṡ, s̈, …]`` at times t: shape (order + 1, *t.shape)."""
        times = real_array(t, "t")
        flat, order = times.ravel(), whole_number(order, "order", 0, HIGHEST_ORDER)
        if not np.all(np.isfinite(flat)):
            raise DescriptionError("A time is not finite.", field="t")
        choice(side, "side", ("right", "left"))
        inside = np.clip(flat, 0.0, self.duration)
        out = self.inside(*located(self.breaks, inside, INSTANT * self.duration, side), order)
        overrun = OVERRUN * self.duration
        resting = (flat < -overrun) | (flat > self.duration + overrun)
        if side == "left":
            resting |= flat <= 0
        out[1:, resting] = 0.0
        return out.reshape(order + 1, *times.shape, *out.shape[2:])

    def looks(self) -> LookPlaces:
        """Times at which it has to be looked at, see :mod:`~..looks`."""
        return NONE if type(self).__module__.startswith("manipula.") else unsearched(0.0, self.duration)

    def inside_one(self, t: float, piece: int, order: int) -> list[float] | None:
        """The same as :meth:`inside` at one time in plain numbers; ``None`` when this profile does not offer it."""
        return None

    def evaluate_one(self, t: float, order: int, side: Side) -> list[float] | None:
        """The same as :meth:`evaluate` at one time (see :func:`is_one`); ``None`` when this profile does not offer it."""
        inside, piece, resting = locate(self.breaks, self.duration, t, side)
        out = self.inside_one(inside, piece, order)
        return out if out is None or not resting else [out[0], *[0.0] * order]


def is_one(t: Any, order: Any, side: Any) -> bool:
    """Is it one plain time with an order and a side that exist? Such are evaluated in plain numbers."""
    return (
        type(t) is float
        and t - t == 0.0
        and type(order) is int
        and 0 <= order <= HIGHEST_ORDER
        and type(side) is str
        and side in SIDES
    )


def locate(breaks: np.ndarray, duration: float, t: float, side: Side) -> tuple[float, int, bool]:
    """Of one time: the time within the motion, taken onto a break that is near; its piece; whether the motion rests there."""
    inside, piece = located_one(breaks, min(max(t, 0.0), duration), INSTANT * duration, side)
    overrun = OVERRUN * duration
    resting = t < -overrun or t > duration + overrun or (side == "left" and t <= 0.0)
    return inside, piece, resting


def taylor(c: list[float], x: float, order: int) -> list[float]:
    """Value and derivatives of Σ c_k x^k, by repeated synthetic division; c is used up."""
    out, factorial, top = [], 1.0, len(c) - 2
    for k in range(min(order + 1, top + 2)):
        for j in range(top, k - 1, -1):
            c[j] = c[j] + x * c[j + 1]
        out.append(c[k] * factorial)
        factorial *= k + 1
    return out + [0.0] * (order + 1 - len(out))


class PiecewiseProfile(Profile):
    """s(t) = Σ_k c[i, k] (t − t_i)^k on the i-th piece; exact derivatives of every order.

    Args:
        breaks: increasing times from 0, shape (pieces + 1,).
        coefficients: shape (pieces, degree + 1), lowest power first; (pieces, degree + 1, d) for several functions at once.
    """

    def __init__(self, breaks: Any, coefficients: Any) -> None:
        self.breaks, self.coefficients = np.asarray(breaks, float), np.asarray(coefficients, float)
        self.duration = float(self.breaks[-1])

    def __eq__(self, other: object) -> bool:
        return type(other) is PiecewiseProfile and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return key((self.breaks, self.coefficients))

    def inside_one(self, t: float, piece: int, order: int) -> list[float]:
        return taylor(self.coefficients[piece].tolist(), t - self.breaks.item(piece), order)

    def inside(self, t: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        x = (t - self.breaks[piece]).reshape(-1, *[1] * (self.coefficients.ndim - 2))
        c = [self.coefficients[piece, k] for k in range(self.coefficients.shape[1])]
        out, factorial = np.zeros((order + 1, *c[0].shape)), 1.0
        for k in range(min(order + 1, len(c))):
            for j in range(len(c) - 2, k - 1, -1):
                c[j] = c[j] + x * c[j + 1]
            out[k] = c[k] * factorial
            factorial *= k + 1
        return out


class FunctionProfile(Profile):
    """s(t) = f(t) for a function written over :mod:`manipula.algebra.ops`; derivatives by Taylor numbers."""

    def __init__(
        self, function: Callable[[Any], Any], duration: float, breaks: Sequence[float] = (), looked_at: bool = True
    ) -> None:
        self.function, self.duration, self.looked_at = function, duration, looked_at
        self.breaks = np.array([0.0, *breaks, duration])

    def looks(self) -> LookPlaces:
        return looks_at([self.function], 0.0, self.duration) if self.looked_at else NONE

    def inside(self, t: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        result = self.function(Jet.variable(t, order))
        if not isinstance(result, Jet):
            result = Jet((result,) + (0.0,) * order, 1)
        return np.array([np.broadcast_to(result.derivative(k), t.shape) for k in range(order + 1)], float)


def checked_duration(value: Any, name: str) -> float:
    """A duration [s] that a motion can have."""
    return between(positive(value, name), name, SHORTEST, LONGEST)


def from_jerks(
    durations: Sequence[float], jerks: Sequence[float], start: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> PiecewiseProfile:
    """The profile of constant jerks from ``start`` (s, ṡ, s̈); empty phases are left out."""
    return PiecewiseProfile(*jerk_pieces(durations, jerks, start))


def jerk_pieces(
    durations: Sequence[float], jerks: Sequence[float], start: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[list[float], list[list[float]]]:
    """Breaks and coefficients of :func:`from_jerks`."""
    times, rows = [0.0], []
    s, v, a = start
    for h, j in zip(durations, jerks):
        if h <= 0:
            continue
        rows.append([s, v, a / 2, j / 6])
        s, v, a = s + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j
        times.append(times[-1] + h)
    return times, rows


class TimeLaw(ABC):
    """A rule for s(t); a frozen dataclass whose fields are the numbers a file holds."""

    part: ClassVar[str] = "time law"
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)

    @abstractmethod
    def profile(self, length: float) -> Profile:
        """s(t) over a path of this length [m or rad]."""

    @property
    def description(self) -> dict[str, Any]:
        """The law as a file writes it; TypeError when it holds a Python function."""
        out: dict[str, Any] = {"kind": self.kind}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if callable(value):
                raise TypeError(f"Time law '{self.kind}' holds a Python function and cannot be written to a file.")
            if isinstance(value, TimeLaw):
                value = value.description
            if value is not None:
                out[field.name] = list(value) if isinstance(value, tuple) else value
        return out

"""Random numbers of a study: each distribution is the inverse of its distribution function, asked at a number between 0 and 1.

So one rule serves every design: independent draws, Latin hypercube and Sobol points are different numbers between 0 and 1.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.simulation import field_values as values


class Distribution:
    """Numbers that differ from run to run by chance.

    Attributes:
        relative: the draw is a factor on the number that the base has at this path (0.9 … 1.1 is ±10 %).
    """

    name: ClassVar[str] = ""
    relative: bool = False

    def at(self, u: np.ndarray) -> np.ndarray:
        """The values below which a part u of all draws lies, 0 ≤ u < 1."""
        raise NotImplementedError

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest value that may come; infinite where nothing bounds it."""
        raise NotImplementedError

    def table(self) -> dict[str, Any]:
        """``{uniform = [0.0, 5.0]}``: the distribution in a file."""
        numbers = {f.name: getattr(self, f.name) for f in dataclasses.fields(cast(Any, self)) if f.name != "relative"}
        given = {k: list(v) if isinstance(v, tuple) else v for k, v in numbers.items() if v is not None}
        out: dict[str, Any] = {self.name: given}
        return {**out, "relative": True} if self.relative else out


def _finite(part: Distribution, *names: str) -> None:
    for name in names:
        if getattr(part, name) is not None:
            object.__setattr__(part, name, values.real(f"{part.name}.{name}", getattr(part, name)))
    object.__setattr__(part, "relative", values.yes_or_no(f"{part.name}.relative", part.relative))


def _increasing(part: Distribution, low: float | None, high: float | None) -> None:
    if low is not None and high is not None and not low < high:
        raise DescriptionError(f"low must be less than high, found {low:g} and {high:g}.", field=part.name)


@dataclass(frozen=True)
class Uniform(Distribution):
    """Every number from ``low`` to ``high`` alike."""

    name: ClassVar[str] = "uniform"
    low: float
    high: float
    relative: bool = False

    def __post_init__(self) -> None:
        _finite(self, "low", "high")
        _increasing(self, self.low, self.high)

    def at(self, u: np.ndarray) -> np.ndarray:
        """x = low + u (high − low)."""
        return np.minimum(self.low + u * (self.high - self.low), self.high)

    @property
    def support(self) -> tuple[float, float]:
        """low … high."""
        return self.low, self.high


@dataclass(frozen=True)
class LogUniform(Uniform):
    """Every order of magnitude from ``low`` to ``high`` alike: the logarithm is uniform; both greater than 0."""

    name: ClassVar[str] = "log_uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low <= 0.0:
            raise DescriptionError(f"low must be greater than 0, found {self.low:g}.", field=self.name)

    def at(self, u: np.ndarray) -> np.ndarray:
        """x = low (high/low)^u."""
        return np.clip(self.low * np.exp(u * math.log(self.high / self.low)), self.low, self.high)


def _below(x: float) -> float:
    """Φ(x) = ½ erfc(−x/√2)."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal distribution, cut off at ``low`` and ``high`` where they are given (a mass is not negative)."""

    name: ClassVar[str] = "normal"
    mean: float
    std: float
    low: float | None = None
    high: float | None = None
    relative: bool = False

    def __post_init__(self) -> None:
        _finite(self, "mean", "std", "low", "high")
        _increasing(self, self.low, self.high)
        if self.std <= 0.0:
            raise DescriptionError(f"std must be greater than 0, found {self.std:g}.", field=self.name)
        below, above = self._ends()
        if not above - below > 1e-12:
            raise DescriptionError("Between low and high there is nothing to draw from.", field=self.name)

    def _ends(self) -> tuple[float, float]:
        a = 0.0 if self.low is None else _below((self.low - self.mean) / self.std)
        b = 1.0 if self.high is None else _below((self.high - self.mean) / self.std)
        return a, b

    def at(self, u: np.ndarray) -> np.ndarray:
        """x = mean + std Φ⁻¹(Φ(a) + u (Φ(b) − Φ(a))) between the ends a and b."""
        from statistics import (
            NormalDist,  # Wichura's AS 241; scipy.special takes longer to import than all the rest of a worker
        )

        a, b = self._ends()
        inside = np.clip(a + u * (b - a), 2.0**-53, 1.0 - 2.0**-53)  # Φ⁻¹ of 0 and 1 is infinite
        inverse = NormalDist().inv_cdf
        found = np.array([inverse(p) for p in np.ravel(inside).tolist()]).reshape(np.shape(inside))
        low, high = self.support
        return np.clip(self.mean + self.std * found, low, high)

    @property
    def support(self) -> tuple[float, float]:
        """low … high, infinite where they are left open."""
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high


@dataclass(frozen=True)
class Triangular(Distribution):
    """Most likely at ``mode``, impossible below ``low`` and above ``high``, straight in between."""

    name: ClassVar[str] = "triangular"
    low: float
    mode: float
    high: float
    relative: bool = False

    def __post_init__(self) -> None:
        _finite(self, "low", "mode", "high")
        _increasing(self, self.low, self.high)
        if not self.low <= self.mode <= self.high:
            raise DescriptionError(f"mode must lie between low and high, found {self.mode:g}.", field=self.name)

    def at(self, u: np.ndarray) -> np.ndarray:
        """x = low + √(u (high − low)(mode − low)) below the mode, and its mirror image above."""
        span, left = self.high - self.low, self.mode - self.low
        below = self.low + np.sqrt(u * span * left)
        above = self.high - np.sqrt((1.0 - u) * span * (self.high - self.mode))
        return np.clip(np.where(u * span < left, below, above), self.low, self.high)

    @property
    def support(self) -> tuple[float, float]:
        """low … high."""
        return self.low, self.high


@dataclass(frozen=True)
class Choice(Distribution):
    """One of several numbers, each as likely as the others."""

    name: ClassVar[str] = "choice"
    options: tuple[float, ...]
    relative: bool = False

    def __post_init__(self) -> None:
        given = self.options
        if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
            raise DescriptionError("choice() takes a list of numbers.", field=self.name)
        found = tuple(values.real(f"{self.name}[{i}]", v) for i, v in enumerate(given))
        if not found:
            raise DescriptionError("choice() needs at least one number.", field=self.name)
        object.__setattr__(self, "options", found)
        _finite(self)

    def at(self, u: np.ndarray) -> np.ndarray:
        """The entry number ⌊u k⌋ of k."""
        return np.asarray(self.options)[np.minimum((u * len(self.options)).astype(int), len(self.options) - 1)]

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest option."""
        return min(self.options), max(self.options)


DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.name: kind for kind in (Uniform, LogUniform, Normal, Triangular, Choice)
}


def uniform(low: float, high: float, *, relative: bool = False) -> Uniform:
    """Every number from ``low`` to ``high`` alike; ``relative``: factors on what the base has."""
    return Uniform(low, high, relative)


def log_uniform(low: float, high: float, *, relative: bool = False) -> LogUniform:
    """Every order of magnitude from ``low`` to ``high`` alike."""
    return LogUniform(low, high, relative)


def normal(
    mean: float, std: float, low: float | None = None, high: float | None = None, *, relative: bool = False
) -> Normal:
    """The normal distribution, cut off at ``low`` and ``high`` where they are given."""
    return Normal(mean, std, low, high, relative)


def triangular(low: float, mode: float, high: float, *, relative: bool = False) -> Triangular:
    """Most likely at ``mode``, impossible outside ``low`` … ``high``."""
    return Triangular(low, mode, high, relative)


def choice(options: Any, *, relative: bool = False) -> Choice:
    """One of several numbers, each as likely as the others."""
    return Choice(options, relative)


def distribution_of(table: Any, field: str) -> Distribution | None:
    """The distribution that a table of a file describes, ``{ uniform = [0, 5] }``; None where it describes none.

    Raises:
        DescriptionError: a table that names a distribution but says something wrong about it.
    """
    if not isinstance(table, dict):
        return None
    names = [name for name in table if name in DISTRIBUTIONS]
    if not names:
        return None
    for key in table:
        if key not in (names[0], "relative"):
            raise unknown_name("key", key, (names[0], "relative"), field=field)
    kind, given = DISTRIBUTIONS[names[0]], table[names[0]]
    known = [f.name for f in dataclasses.fields(cast(Any, kind)) if f.name != "relative"]
    if kind is Choice and isinstance(given, list):
        arguments = {"options": tuple(given)}
    elif isinstance(given, list):
        if len(given) > len(known):
            raise DescriptionError(f"At most {len(known)} numbers: {', '.join(known)}.", field=field)
        arguments = dict(zip(known, given))
    elif isinstance(given, dict):
        for key in given:
            if key not in known:
                raise unknown_name("key", key, known, field=f"{field}.{names[0]}")
        arguments = dict(given)
    else:
        raise DescriptionError(f"A list or a table of {', '.join(known)} is needed.", field=f"{field}.{names[0]}")
    try:
        return cast(Any, kind)(**arguments, relative=table.get("relative", False))
    except TypeError:
        raise DescriptionError(f"'{names[0]}' needs {', '.join(known)}.", field=field) from None
    except DescriptionError as error:
        raise DescriptionError(error.problem, field=f"{field}.{error.field or names[0]}") from None

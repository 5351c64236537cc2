"""The same motion slower, faster, or in a given time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from manipula.algebra.arguments import LARGEST
from manipula.errors import DescriptionError
from manipula.motion.looks import LookPlaces
from manipula.motion.timing.base import LONGEST, SHORTEST, Profile, TimeLaw
from manipula.parts.field import Number, Part


class ScaledProfile(Profile):
    """s(t) = inner(t/k); the n-th derivative is divided by kⁿ."""

    def __init__(self, inner: Profile, factor: float) -> None:
        self.inner, self.factor = inner, factor
        self.duration, self.breaks = inner.duration * factor, inner.breaks * factor

    def __eq__(self, other: object) -> bool:
        return type(other) is ScaledProfile and (self.inner, self.factor) == (other.inner, other.factor)

    def __hash__(self) -> int:
        return hash((self.inner, self.factor))

    def looks(self) -> LookPlaces:
        inner = self.inner.looks()
        return LookPlaces(inner.places * self.factor, inner.hidden * self.factor)

    def inside(self, t: np.ndarray, piece: np.ndarray, order: int) -> np.ndarray:
        local = np.clip(t / self.factor, self.inner.breaks[piece], self.inner.breaks[piece + 1])
        return self.inner.inside(local, piece, order) * (self.factor ** -np.arange(order + 1.0))[:, None]

    def inside_one(self, t: float, piece: int, order: int) -> list[float] | None:
        low, high = self.inner.breaks.item(piece), self.inner.breaks.item(piece + 1)
        out = self.inner.inside_one(min(max(t / self.factor, low), high), piece, order)
        return None if out is None else [x * self.factor**-k for k, x in enumerate(out)]


@dataclass(frozen=True)
class Scaled(TimeLaw):
    """Another law k times as long: speeds divide by k, accelerations by k², jerks by k³."""

    law: Annotated[TimeLaw, Part("time law", "the law that is slowed down")]
    factor: Annotated[
        float | None, Number("1", "how many times as long; or give duration", above=0.0, most=LARGEST)
    ] = None
    duration: Annotated[
        float | None, Number("s", "duration of the whole; or give factor", least=SHORTEST, most=LONGEST)
    ] = None
    kind: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.factor is None) == (self.duration is None):
            raise DescriptionError("Give either 'factor' or 'duration', one of them.")
        if not isinstance(self.law, TimeLaw):
            raise DescriptionError("'law' must be a time law.", field="law")

    def profile(self, length: float) -> Profile:
        inner = self.law.profile(length)
        if self.factor is not None:
            return ScaledProfile(inner, self.factor)
        assert self.duration is not None
        return ScaledProfile(inner, self.duration / inner.duration)


def scaled(law: TimeLaw, factor: float | None = None, *, duration: float | None = None) -> Scaled:
    """``law`` slowed down by ``factor`` (> 1), or stretched to last ``duration`` [s]."""
    return Scaled(law, factor, duration)

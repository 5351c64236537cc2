"""One line of the table, and how its times are taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

WINDOW = 1e-2  # s; shorter calls are repeated until they take about this long, so that none is timed in the caches of another library
SECONDS = 1.0  # for which the calls of one row are repeated


@dataclass(frozen=True)
class FeltRow:
    """What a person does and how long it takes [s].

    Attributes:
        seconds: ours, by ``clock``; wall: by the clock on the wall, where ``seconds`` is the time of the processor.
        peer: the library that does the same; peer_seconds: its time, ``None`` when it was not measured.
        goal: with a peer the least ratio, else the greatest number of seconds; ``None`` judges nothing.
    """

    what: str
    seconds: float
    goal: float | None = None
    peer: str = ""
    peer_seconds: float | None = None
    clock: Literal["wall", "CPU"] = "wall"
    wall: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds

    @property
    def holds(self) -> bool | None:
        """Is the goal reached? ``None`` when there is none, or no peer to compare with."""
        if self.goal is None or (self.peer and self.ratio is None):
            return None
        return self.seconds <= self.goal if self.ratio is None else self.ratio >= self.goal

    def cells(self) -> tuple[str, str, str, str, str]:
        """What, ours, theirs, ratio and goal, as they are printed."""
        ours = duration(self.seconds)
        if self.wall is not None:
            ours += f" {self.clock} ({duration(self.wall)})"
        elif self.clock != "wall":
            ours += f" {self.clock}"
        theirs = "" if not self.peer else f"{self.peer}: {_or_not_measured(self.peer_seconds)}"
        goal = "" if self.goal is None else f"{self.goal:g}×" if self.peer else duration(self.goal)
        return self.what, ours, theirs, "" if self.ratio is None else f"{self.ratio:.3g}×", goal

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "ratio": self.ratio, "holds": self.holds}


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _or_not_measured(seconds: float | None) -> str:
    return "not measured" if seconds is None else duration(seconds)


def fastest(*calls: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Seconds of each call, the least of many.

    The calls take turns, so that whatever else the machine does meets all of them: their ratio is that of one run.
    """
    counts = [_repeats(call) for call in calls]
    best = [math.inf] * len(calls)
    end = time.perf_counter() + SECONDS
    while True:
        for i, (call, count) in enumerate(zip(calls, counts)):
            begin = clock()
            for _ in range(count):
                call()
            best[i] = min(best[i], (clock() - begin) / count)
        if time.perf_counter() >= end:
            return best


def _repeats(call: Callable[[], object]) -> int:
    """How often a call fills the window; the first one only warms up."""
    call()
    begin = time.perf_counter()
    call()
    return max(1, math.ceil(WINDOW / max(time.perf_counter() - begin, 1e-9)))

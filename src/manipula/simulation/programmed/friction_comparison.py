"""The same motion with and without friction, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra.value import Value
from manipula.simulation.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class FrictionComparison(Value):
    """Two runs that differ in friction alone.

    Attributes:
        with_friction, without_friction: the results, on the same samples.
    """

    with_friction: Result
    without_friction: Result

    def difference(self, signal: str = "q") -> np.ndarray:
        """With friction minus without, sample by sample."""
        return self.with_friction.arrays[signal] - self.without_friction.arrays[signal]

    @property
    def lost(self) -> float:
        """Energy that friction took until the last sample [J]."""
        work = self.with_friction.arrays["work_friction"]
        known = work[np.isfinite(work)]
        return float(known[-1]) if len(known) else float("nan")

    @property
    def ok(self) -> bool:
        return self.with_friction.ok and self.without_friction.ok

    def text(self) -> str:
        """A table for people: where the joints end, with and without."""
        a, b = self.with_friction, self.without_friction
        lines = [f"with friction: {a.status}; without: {b.status}; friction took {self.lost:.6g} J"]
        for i, name in enumerate(a.joint_names):
            largest = np.nanmax(np.abs(self.difference()[:, i]))
            lines.append(
                f"  {name:<16} ends at {a.q[-1, i]:>12.6g} instead of {b.q[-1, i]:>12.6g}; largest difference {largest:.4g}"
            )
        return "\n".join(lines)

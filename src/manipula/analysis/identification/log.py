"""What was measured while a robot moved: times, positions, velocities, torques or currents, and what had to be repaired."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from manipula.algebra.arguments import number
from manipula.algebra.value import Value
from manipula.errors import DescriptionError

SIGNALS = ("q", "qd", "tau", "current")


@dataclass(frozen=True, eq=False, repr=False)
class Log(Value):
    """Signals of one run, in the order of ``robot.joint_names``, in SI.

    Attributes:
        t: (samples,) [s], strictly increasing.
        q: (samples, n) joint positions [rad, m].
        qd: (samples, n) measured velocities, or None.
        tau: (samples, n) torques on the joint side [N·m, N], or None.
        current: (samples, n) motor currents [A], or None.
        joints: names of the joints.
        source: where it was read from.
        notes: what was repaired or left out, one sentence each.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None
    tau: np.ndarray | None
    current: np.ndarray | None
    joints: tuple[str, ...]
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many joints."""
        return len(self.joints)

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.t[-1] - self.t[0])

    @property
    def rate(self) -> float:
        """Samples per second, by the median of the steps, so that a gap does not change it [Hz]."""
        return 1.0 / float(np.median(np.diff(self.t)))

    def part(self, start: float, end: float) -> Log:
        """The samples with start ≤ t ≤ end [s], counted from the first sample."""
        begin = float(self.t[0])
        inside = np.flatnonzero((self.t - begin >= number(start, "start")) & (self.t - begin <= number(end, "end")))
        if len(inside) < 2:
            raise DescriptionError(
                f"Between {start:g} and {end:g} s there are {len(inside)} samples; the log has {self.duration:g} s."
            )
        cut = slice(int(inside[0]), int(inside[-1]) + 1)
        signals = {name: None if (x := getattr(self, name)) is None else x[cut] for name in SIGNALS}
        return replace(self, t=self.t[cut], **signals)

    def split(self, share: float) -> tuple[Log, Log]:
        """The first ``share`` of the time and the rest: to learn from and to validate with."""
        if not 0.0 < number(share, "share") < 1.0:
            raise DescriptionError(f"The share lies between 0 and 1, found {share:g}.", field="share")
        at = share * self.duration
        return self.part(0.0, at), self.part(float(np.nextafter(at, np.inf)), self.duration)

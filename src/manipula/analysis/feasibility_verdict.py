"""What is said about a motion and its limits: a verdict for every joint and point, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.simulation.limit_checks import Check
from manipula.verbs import notebook_html


@dataclass(frozen=True, eq=False, repr=False)
class JointVerdict(Value):
    """All checks of one joint."""

    name: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return all(c.ok for c in self.checks)

    def __getattr__(self, name: str) -> Check:
        for c in object.__getattribute__(self, "checks"):
            if c.quantity == name:
                return c
        raise AttributeError(name)


@dataclass(frozen=True, eq=False, repr=False)
class Feasibility(Value):
    """Verdict on a motion.

    Attributes:
        feasible: was every stated limit compared with the motion, and is it kept? False when one is broken. None when that is not known: none
            is stated, one could not be checked, or a run ended before its time or cannot be trusted.
        joints: one verdict each; tip: checks of the tip's speed, acceleration, jerk.
        slow_down: factor k by which time must be stretched to become feasible, rounded up, after the stretched motion was judged: 1 when
            it is, inf when slowing does not help, NaN when nothing is known: the motion is not given but follows from torques, or
            disturbances come at times of their own.
        unstated: limits that nobody stated and that were therefore not checked.
        energy: work of the drives [J], positive part only (nothing is fed back).
        remarks: what the verdict rests on, where that is not plain (jumps of the acceleration, an estimated jerk).
        unchecked: a sentence about every limit that could not be checked: which, and why. They are among the remarks.
        points: one verdict for every other point that limits were given for.
    """

    feasible: bool | None
    joints: tuple[JointVerdict, ...]
    tip: tuple[Check, ...]
    slow_down: float
    unstated: tuple[str, ...]
    energy: float
    reason: str
    remarks: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    points: tuple[JointVerdict, ...] = ()

    def _repr_html_(self) -> str | None:
        """A table, for notebooks."""
        return notebook_html(self)

    def text(self) -> str:
        """A table for people."""
        lines = [self.reason]
        for joint in (*self.joints, *self.points):
            for c in joint.checks:
                if c.limit is not None:
                    lines.append(_row(joint.name, c))
        for c in self.tip:
            lines.append(_row("tip", c))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        def row(c: Check) -> dict[str, Any]:
            limit: Any = c.limit
            if isinstance(limit, tuple):  # JSON has no infinity
                limit = [v if np.isfinite(v) else None for v in limit]
            return {
                "quantity": c.quantity,
                "worst": c.worst if np.isfinite(c.worst) else None,
                "infinite": bool(np.isinf(c.worst)),
                "time": c.time,
                "limit": limit,
                "use": c.use if np.isfinite(c.use) else None,
                "ok": c.ok,
            }

        return {
            "feasible": self.feasible, "slow_down": self.slow_down if np.isfinite(self.slow_down) else None,
            "reason": self.reason, "energy": self.energy, "unstated": list(self.unstated), "remarks": list(self.remarks),
            "unchecked": list(self.unchecked),
            "joints": [{"name": j.name, "checks": [row(c) for c in j.checks]} for j in self.joints],
            "tip": [row(c) for c in self.tip], "points": [{"name": j.name, "checks": [row(c) for c in j.checks]} for j in self.points],
        }  # fmt: skip


def _row(name: str, c: Check) -> str:
    mark = "ok  " if c.ok else "OVER"
    return f"  {mark} {name:<16} {c.quantity:<13} worst {c.worst:>12.6g} at {c.time:.4g} s, {100 * c.use:.0f} % of its limit"

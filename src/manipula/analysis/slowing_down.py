r"""By how much a motion must be slowed down to keep its limits, or why slowing does not help.

Slowing down by a factor k divides velocities by k, accelerations by k² and jerks by k³. Torques are
:math:`g(q) - J^Tw + \tau_{inertia}/k^2 + \tau_f(\dot q/k)`: gravity and wrenches do not get smaller, dry friction hardly does (friction with
a memory or under load is taken as it was). The factor found so is reported only after the stretched motion itself was judged (``stretched_motion``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.analysis.infinite import Torn
from manipula.robot.friction.base import FrictionLaw
from manipula.simulation.limit_checks import SLACK, Check

MOST_SLOWING = 1e4


def slowed(
    s: dict[str, np.ndarray],
    bounds: dict[str, list[Any]],
    laws: tuple[FrictionLaw | None, ...],
    checks: list[Check],
    torn: Torn,
) -> tuple[float, str]:
    """The smallest factor that brings signals s within their bounds; infinite or NaN, and the reason, where none does or none is known."""
    if any(c.quantity == "position" and not c.ok for c in checks):
        return float("inf"), "a position limit is passed, at any speed."
    if any(np.isinf(c.worst) and not c.ok for c in checks):
        return float("inf"), f"a jump of the {jumping(checks, torn)} stays one at any speed."
    hold: Any = s.get("gravity", 0.0) - s.get("external", 0.0)
    if "torque" in s:
        hold = np.broadcast_to(hold, s["torque"].shape)
        for i, limit in enumerate(bounds.get("torque", [])):
            if limit is not None and np.abs(hold[:, i]).max() > limit * (1 + SLACK):
                what = "gravity and the wrenches" if np.any(s.get("external", 0.0)) else "gravity alone"
                return float("inf"), f"holding the arm against {what} exceeds a torque limit."

    def fits(k: float) -> bool:
        return strong(k) and slow(k)

    def slow(k: float) -> bool:
        for c in checks:
            power = {"velocity": 1, "acceleration": 2, "jerk": 3}.get(c.quantity)
            if power is not None and isinstance(c.limit, float) and abs(c.worst) / k**power > c.limit * (1 + SLACK):
                return False
        return True

    def strong(k: float) -> bool:
        if "torque" in s:
            rubbing = s.get("friction", np.zeros_like(s["torque"]))
            slower = friction_at(laws, s["qd"] / k, rubbing) if "friction" in s else rubbing
            tau = hold + slower + (s["torque"] - hold - rubbing) / k**2
            for quantity, values in (("torque", tau), ("power", tau * s["qd"] / k)):
                for i, limit in enumerate(bounds.get(quantity, [])):
                    if limit is not None and np.abs(values[:, i]).max() > limit * (1 + SLACK):
                        return False
        return True

    high = 1.0
    while not fits(high):
        high *= 2.0
        if high > MOST_SLOWING and not strong(high):
            return float("inf"), "gravity and friction leave nothing of a torque or power limit."
        if high > MOST_SLOWING:
            return float("nan"), f"it would take more than {MOST_SLOWING:g} times as long."
    low = high / 2.0 if high > 1.0 else 1.0
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high, ""


def follows_from_speed(law: FrictionLaw | None) -> bool:
    """Does the torque follow from the speed alone?"""
    return law is not None and not law.states and not law.needs_load


def friction_at(
    laws: tuple[FrictionLaw | None, ...], qd: np.ndarray, otherwise: np.ndarray | None = None
) -> np.ndarray:
    """Friction torques at the speeds qd (t, n); where a law needs more than the speed, those of ``otherwise``, or none."""
    out = np.zeros_like(qd) if otherwise is None else otherwise.copy()
    for i, law in enumerate(laws):
        if law is not None and follows_from_speed(law):
            out[:, i] = [float(law.torque(v)) for v in qd[:, i].tolist()]
    return out


def jumping(checks: list[Check], torn: Torn) -> str:
    """What jumps where one of these checks is infinite."""
    endless = {c.quantity for c in checks if np.isinf(c.worst) and not c.ok}
    return "position" if "velocity" in endless else "velocity" if torn or endless != {"jerk"} else "acceleration"

"""References and tables that do not last as long as their run: what holds outside their times is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manipula.lazy import is_made_by
from manipula.simulation.plant.disturbances import WrenchTable

if TYPE_CHECKING:
    from manipula.motion.trajectory import Trajectory
    from manipula.simulation.scenario import Scenario

SAME = 1e-9  # s, of a time of size 1: an instant but for rounding


def ending_notes(s: Scenario) -> tuple[str, ...]:
    """A sentence on every reference that ends before the run or may hide something, and on every table that does not cover the run."""
    changes = {i: w for i, w in enumerate(s.switches) if w.reference is not None}
    times = [float(w.time) for w in changes.values() if w.time is not None]
    found = [_reference(s.reference, "reference", 0.0, min(times, default=_end(s)), s)]
    for i, switch in changes.items():
        if switch.time is None:
            found.append(_after_event(switch.reference, f"switches[{i}].reference", s))
        else:
            later = min((t for t in times if t > switch.time), default=_end(s))
            found.append(_reference(switch.reference, f"switches[{i}].reference", float(switch.time), later, s))
    if is_made_by(s.controller, "manipula.control.torque_table", "TorqueTable"):
        from manipula.control.torque_table import TorqueTable

        assert isinstance(s.controller, TorqueTable)
        rows = s.controller.rows[:, 0]
        found.append(_table("controller.torques", rows, s, "the first torques are held", "the last torques are held"))
    for i, d in enumerate(s.disturbances):
        if isinstance(d, WrenchTable):
            found.append(_table(f"disturbances[{i}].table", d.times, s, "no wrench acts", "no wrench acts"))
    moving = [("reference", s.reference), *((f"switches[{i}].reference", w.reference) for i, w in changes.items())]
    moving.append(("base_motion.motion", getattr(s.base_motion, "motion", None)))
    return tuple(filter(None, [*found, *(_searched(field, motion) for field, motion in moving)]))


def _searched(field: str, motion: Any) -> str:
    """How far a motion by formulas, or by user functions, was searched for what a table of it would pass over."""
    hidden = motion.looks().hidden if hasattr(motion, "looks") else 0.0
    return (
        f"{field} was searched for changes that last {hidden:.1g} s and longer; shorter ones may have been missed."
        if hidden
        else ""
    )


def _reference(reference: Trajectory | None, field: str, begins: float, until: float, s: Scenario) -> str:
    """``begins``, ``until``: when it takes over, and when the next one does, or the run ends."""
    ends = begins + float(reference.duration) if reference is not None else float("inf")
    if ends >= min(until, _end(s)):
        return ""
    return f"{field}: it ends at t = {ends:.6g} s, the run at {s.duration:g} s; its last position is held from then on."


def _after_event(reference: Trajectory, field: str, s: Scenario) -> str:
    if float(reference.duration) >= _end(s):
        return ""
    return f"{field}: it lasts {reference.duration:.6g} s from the switch on; its last position is held after that."


def _table(field: str, times: Any, s: Scenario, before: str, after: str) -> str:
    told = [f"before t = {times[0]:.6g} s {before}"] if times[0] > SAME else []
    told += [f"after t = {times[-1]:.6g} s {after}"] if times[-1] < _end(s) else []
    return f"{field}: the run lasts from 0 to {s.duration:g} s; {', '.join(told)}." if told else ""


def _end(s: Scenario) -> float:
    end = float(s.duration or 0.0)
    return end - SAME * (1.0 + end)

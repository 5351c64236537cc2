"""What the doctor looks at: one function a question, registered here in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from manipula.robot.doctor_rules import bodies, bounds, geometry, names, statics
from manipula.robot.doctor_rules.finding import SEVERITIES, Finding, Severity
from manipula.robot.robot import Robot

Rule = Callable[[Robot], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    bodies.masses,
    bodies.tensors,
    bodies.placeholders,
    bodies.extents,
    bounds.limits,
    bounds.degrees,
    geometry.angles,
    geometry.convention,
    geometry.size,
    names.slips,
    names.gears,
    statics.gravity,
    statics.holding,
)

__all__ = ["RULES", "SEVERITIES", "Finding", "Rule", "Severity"]

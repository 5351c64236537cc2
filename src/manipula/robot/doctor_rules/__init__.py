"""What the doctor looks at: one function per question, registered here in the order of the report.

================  =============================================================
``finding``       one remark of the doctor
``bodies``        masses and inertias of rigid bodies
``geometry``      sizes, units of length, angles in degrees, kinds of frames
``bounds``        limits of joints: missing, reversed, empty, in the wrong unit
``names``         names of parameters that look misspelt; gears counted twice
``statics``       torques that hold the arm at q = 0
``zero_posture``  where joints, links and centres of mass are at q = 0
================  =============================================================
"""

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

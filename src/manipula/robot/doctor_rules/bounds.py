"""Limits of joints: missing, reversed, empty, or in the wrong unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manipula.robot.doctor_rules.finding import Finding
from manipula.robot.doctor_rules.zero_posture import number, numeric
from manipula.robot.robot import Robot

MOST_TURNS = 30.0  # rad: nearly five turns; cables end before
FASTEST = 60.0  # rad/s at a joint, about 570 turns a minute


def limits(robot: Robot) -> Iterator[Finding]:
    """Position limits that are absent, reversed or empty; rates and efforts of zero."""
    open_ended = [j.name for j in robot.joints if j.limits.lower is None and j.limits.upper is None]
    for joint in robot.joints:
        lim = joint.limits
        pair: list[Any] = [b for b in (lim.lower, lim.upper) if b is not None and numeric(b)]
        low, high = pair if len(pair) == 2 else (0.0, 1.0)
        if low > high:
            yield Finding(
                "error",
                "limits.reversed",
                joint.name,
                f"The limits of '{joint.name}' are reversed: lower {number(low)} > upper {number(high)}.",
                [low, high],
            )
        elif low == high:
            yield Finding(
                "warning",
                "limits.empty",
                joint.name,
                f"Joint '{joint.name}' may not move: both limits are {number(low)}.",
                [low, high],
                "Make it fixed, or state its range.",
            )
        if (lim.lower is None) != (lim.upper is None):
            yield Finding(
                "warning", "limits.one-sided", joint.name, f"Joint '{joint.name}' has only one position limit."
            )
        for what in ("velocity", "acceleration", "jerk", "effort"):
            value = getattr(lim, what)
            if value is not None and numeric(value) and value <= 0:
                yield Finding(
                    "warning",
                    f"limits.{what}",
                    joint.name,
                    f"The {what} limit of '{joint.name}' is {number(value)}.",
                    value,
                    "Leave it out if it is not known.",
                )
    sliding = [j.name for j in robot.joints if j.name in open_ended and not j.is_revolute]
    if sliding:
        yield Finding(
            "warning",
            "limits.missing",
            robot.name,
            f"No position limits for the sliding {'joint' if len(sliding) == 1 else 'joints'} {', '.join(sliding)}.",
            sliding,
            "State the stroke.",
        )
    turning = [name for name in open_ended if name not in sliding]
    if turning:
        whom = "any joint" if len(turning) == robot.n else ", ".join(turning)
        yield Finding("info", "limits.missing", robot.name, f"No position limits are stated for {whom}.", turning)


def degrees(robot: Robot) -> Iterator[Finding]:
    """Revolute limits so large that they must be degrees."""
    for joint in robot.joints:
        if not joint.is_revolute:
            continue
        lim = joint.limits
        bounds = [b for b in (lim.lower, lim.upper) if b is not None and numeric(b)]
        largest = max((abs(b) for b in bounds), default=0.0)
        if largest > MOST_TURNS:
            yield Finding(
                "warning",
                "units.degrees",
                joint.name,
                f"A limit of {number(largest)} rad on '{joint.name}' looks like degrees.",
                largest,
                "Write position_deg in TOML, or convert to radians.",
            )
        if lim.velocity is not None and numeric(lim.velocity) and lim.velocity > FASTEST:
            yield Finding(
                "warning",
                "units.degrees",
                joint.name,
                f"A velocity limit of {number(lim.velocity)} rad/s on '{joint.name}' looks like degrees a second.",
                lim.velocity,
                "Write velocity_deg in TOML, or convert.",
            )

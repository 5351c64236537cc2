"""Is this model physical, and what does it mean? ``doctor(robot)`` says so in words and numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from manipula.algebra.symbols import is_symbolic
from manipula.algebra.value import Value
from manipula.errors import DescriptionError
from manipula.robot.doctor_rules import RULES, SEVERITIES, Finding
from manipula.robot.doctor_rules.statics import holding
from manipula.robot.robot import Robot
from manipula.verbs import notebook_html


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Value):
    """What the doctor found, errors first.

    Attributes:
        robot: the name of the robot.
        findings: in order of severity, then of the rules.
    """

    robot: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """No errors (warnings allow work to go on)."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == "warning")

    def find(self, code: str) -> tuple[Finding, ...]:
        """Findings with that code, or in that family (``find("units")``)."""
        return tuple(f for f in self.findings if f.code == code or f.code.startswith(code + "."))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        findings = []
        for f in self.findings:
            entry = dataclasses.asdict(f)
            del entry["in_strict"]
            findings.append(entry)
        return {"robot": self.robot, "ok": self.ok, "errors": len(self.errors), "warnings": len(self.warnings),
                "findings": findings}  # fmt: skip

    def _repr_html_(self) -> str | None:
        """A table, for notebooks."""
        return notebook_html(self)

    def text(self) -> str:
        """One line a finding, advice indented below it."""
        lines = []
        for f in self.findings:
            lines.append(f"{f.severity:8}{f.sentence}")
            if f.advice:
                lines.append(f"{'':8}{f.advice}")
        return "\n".join([*lines, self.verdict()])

    def verdict(self) -> str:
        """The last line: how many errors and warnings."""
        counts = [_count(len(self.errors), "error"), _count(len(self.warnings), "warning")]
        return f"{self.robot}: {counts[0]}, {counts[1]}."

    def __str__(self) -> str:
        return self.text()


def doctor(robot: Robot, strict: bool = False) -> Diagnosis:
    """Look at masses, inertias, limits, units, frames and loads of ``robot``.

    Args:
        strict: treat what published robots sometimes get wrong (the triangle rule) as an error.
    """
    if not isinstance(robot, Robot):
        raise DescriptionError(f"doctor() takes a Robot, found {type(robot).__name__}; read a file with load(...).")
    free = _every_joint(robot) if robot.followers else robot
    found = [
        *_symbolic(robot),
        *_coupled(robot),
        *_appearance(robot),
        *(finding for rule in RULES for finding in rule(robot if rule is holding else free)),
    ]
    if strict:
        found = [dataclasses.replace(f, severity=f.in_strict) if f.in_strict else f for f in found]
    ranked = sorted(found, key=lambda f: SEVERITIES.index(f.severity))
    return Diagnosis(robot.name, tuple(ranked))


def _every_joint(robot: Robot) -> Robot:
    """The robot with every joint on its own, each with the limits that its source states."""
    free, stated = robot.uncoupled.robot, {f.name: f.joint.limits for f in robot.followers}
    joints = tuple(dataclasses.replace(j, limits=stated.get(j.name, j.limits)) for j in free.joints)
    return dataclasses.replace(free, joints=joints)


def _symbolic(robot: Robot) -> Iterator[Finding]:
    known = dict(robot.values)
    free = [name for name in robot.parameters if name not in known]
    if free:
        names = ", ".join(free[:12]) + (" …" if len(free) > 12 else "")
        yield Finding("info", "symbolic", robot.name, f"The parameters {names} have no value: sizes, frames and the holding torque "
                      "could not be checked, nor bodies that depend on them.", free,
                      f"robot.with_parameters({free[0]}=…) gives them values.")  # fmt: skip


def _coupled(robot: Robot) -> Iterator[Finding]:
    for f in robot.followers:
        leader = robot.joints[f.leader].name
        ratio, offset = (str(v) if is_symbolic(v) else f"{v:g}" for v in (f.ratio, f.offset))
        law = f"it moves {ratio} times as far" + (
            "" if f.offset == 0 else f", from {offset} {'rad' if f.joint.is_revolute else 'm'}"
        )
        yield Finding("info", "coupling", f.name, f"Joint '{f.name}' follows '{leader}': {law}.",
                      {"leader": leader, "ratio": f.ratio, "offset": f.offset})  # fmt: skip
        limits, its = robot.joints[f.leader].limits, f.joint.limits
        numbers = (limits.lower, limits.upper, its.lower, its.upper, f.ratio, f.offset)
        if any(v is None or is_symbolic(v) for v in numbers) or its.lower == its.upper:
            continue
        ends = sorted(f.offset + f.ratio * v for v in (limits.lower, limits.upper))
        if ends[1] < its.lower or ends[0] > its.upper:
            yield Finding("error", "coupling.range", f.name, f"Joint '{f.name}' moves between {ends[0]:g} and {ends[1]:g} with its leader, "
                          f"outside its own range {its.lower:g} … {its.upper:g}.", ends, "Check offset, multiplier and ranges.")  # fmt: skip


def _appearance(robot: Robot) -> Iterator[Finding]:
    if robot.appearance:
        meshes = [s.file for s in robot.appearance if s.kind == "mesh"]
        counts = {"shapes": len(robot.appearance), "meshes": len(meshes), "files": len(set(meshes))}
        files = f", {len(meshes)} of them from {_count(counts['files'], 'mesh file')}" if meshes else ""
        yield Finding(
            "info", "appearance", robot.name, f"It is drawn with {_count(counts['shapes'], 'shape')}{files}.", counts
        )


def _count(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'s' * (n != 1)}"

"""Programmed motions ⇄ files: ``[program]`` with constraints, drives and the way of solving."""

from __future__ import annotations

from typing import Any

from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.formats.toml.fields import Fields
from manipula.formats.toml.part_tables import read_formula
from manipula.robot.robot import Robot
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.parts import each_table, part_table, read_drive, read_each, read_law
from manipula.simulation.files.scenario_read import header
from manipula.simulation.files.scenario_write import plain_fields, with_robots
from manipula.simulation.integrators import FIXED
from manipula.simulation.programmed.constraint import LEVELS, Constraint
from manipula.simulation.programmed.scenario import FORMULATIONS, STABILISATIONS, STARTS, ProgramScenario

PLAIN = ("q0", "qd0", "duration", "step", "sample", "integrator", "tolerance", "verify")
PROGRAM = ("formulation", "stabilisation", "gain", "start")
INSIDE = ("constraints", "independent", "drives", "parameters", "formulation", "stabilisation", "gain", "start")


def read_programmed(document: ScenarioDocument) -> ProgramScenario:
    """The programmed motion that a parsed file describes."""
    root, robot, given = header(document)
    root.choice("kind", ("programmed",), "programmed")
    if root.has("gain"):
        raise root.error("The gain of a programmed motion belongs to the table [program].", "gain")
    given["robot"] = robot
    given["integrator"] = root.choice("integrator", FIXED, "rk4")
    given["verify"] = root.flag("verify", True)
    if not root.has("name"):
        given.pop("name")
    if given["q0"] is None:
        raise DescriptionError("The initial posture is missing: q0 or q0_deg.", file=document.file, field="q0")
    if "duration" not in given:
        raise DescriptionError("The duration is missing.", file=document.file, field="duration")
    table = root.table("program")
    if table is None:
        raise DescriptionError("The table [program] is missing.", file=document.file, field="program")
    for key, known in (("formulation", FORMULATIONS), ("stabilisation", STABILISATIONS), ("start", STARTS)):
        if table.has(key):
            given[key] = table.choice(key, known)
    if table.has("gain"):
        if given.get("stabilisation") != "baumgarte":
            raise table.error('A gain belongs to stabilisation = "baumgarte"; nothing else uses it.', "gain")
        given["gain"] = table.scalar("gain")
    parameters = table.table("parameters")
    given["parameters"] = {} if parameters is None else {k: parameters.scalar(k) for k in parameters.names()}
    given["constraints"] = _constraints(table)
    given["independent"] = _independent(table, robot)
    given["drives"] = _drives(table, robot, tuple(given["parameters"]))
    given["friction"] = read_each(root, "friction", robot, read_law)
    table.close()
    root.close()
    try:
        return ProgramScenario(**given)
    except DescriptionError as error:
        inside = (error.field or "").split("[")[0].split(".")[0] in INSIDE
        if inside:
            error.field = f"program.{error.field}"
            error.line = document.place(error.field.split(", ")[0])["line"]
        raise document.located(error).at(file=document.file) from None
    except (ManipulaError, TypeError, ValueError) as error:
        raise document.explain(error, "program") from None


def _constraints(table: Fields) -> tuple[Constraint, ...]:
    """A list of formulas, or of tables { formula, level, name }."""
    value = table.raw("constraints")
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise table.error('A list of formulas is needed: constraints = ["x^2 + y^2 = r^2", "z = 0.1"].', "constraints")
    found = []
    for k, item in enumerate(value):
        path = f"{table.where('constraints')}[{k}]"
        if isinstance(item, str):
            found.append(Constraint(item))
            continue
        if not isinstance(item, dict):
            raise DescriptionError("A constraint is a formula in quotes.", **table.document.place(path))
        fields = Fields(table.document, item, path)
        formula, name = fields.required_text("formula"), fields.text("name", "") or ""
        level = fields.choice("level", LEVELS) if fields.has("level") else ""
        frame, point, place = fields.text("frame"), fields.table("point"), None
        if point is not None:
            place = point.required_text("link"), tuple(point.scalars("xyz", 3) or (0.0, 0.0, 0.0))
            point.close()
        fields.close()
        found.append(Constraint(formula, level, name, frame, place))
    return tuple(found)


def joint_number(table: Fields, item: Any, robot: Robot, path: str) -> int:
    """A joint by its name, or by its number from 0."""
    if isinstance(item, str) and item in robot.joint_names:
        return robot.joint_names.index(item)
    if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < robot.n:
        return item
    raise unknown_name("joint", item, robot.joint_names, **table.document.place(path))


def _independent(table: Fields, robot: Robot) -> tuple[int, ...] | None:
    value = table.raw("independent")
    if value is None:
        return None
    if not isinstance(value, list):
        raise table.error("A list of joint names (or numbers from 0) is needed.", "independent")
    where = table.where("independent")
    return tuple(joint_number(table, v, robot, f"{where}[{i}]") for i, v in enumerate(value))


def _drives(table: Fields, robot: Robot, parameters: tuple[str, ...]) -> dict[int, Any]:
    """``[program.drives]``: joint name = torque, formula in t, or a drive."""
    drives = table.table("drives")
    if drives is None:
        return {}
    out: dict[int, Any] = {}
    for key in drives.names():
        number = joint_number(drives, int(key) if key.isdigit() else key, robot, drives.where(key))
        if isinstance(drives.raw(key), dict):
            out[number] = drives.read(key, read_drive)
        else:
            out[number] = read_formula(drives, drives.raw(key), drives.where(key), ("t", *parameters))
    return out


def programmed_text(s: ProgramScenario) -> str:
    """TOML that reads back as an equal programmed motion."""
    program: dict[str, Any] = {"constraints": [_constraint(c) for c in s.constraints]}
    if s.independent is not None:
        program["independent"] = [s.robot.joint_names[i] for i in s.independent]
    program |= plain_fields(s, PROGRAM)
    program["parameters"] = s.parameters if len(s.parameters) else None
    drives = {}
    for i, drive in s.drives:
        if callable(drive):
            raise DescriptionError(
                "A Python function cannot be written to a file; give it as a formula in t.", field="drives"
            )
        drives[s.robot.joint_names[i]] = drive if isinstance(drive, (float, str)) else part_table(drive, "drives")
    program["drives"] = drives or None
    content: dict[str, Any] = {"kind": "programmed", "name": s.name, **plain_fields(s, PLAIN), "duration": s.duration}
    content |= {"friction": each_table(s.friction, "friction"), "limits": s.limits, "program": program}
    return with_robots(content, {"robot": s.robot})


def _constraint(c: Constraint) -> Any:
    if not isinstance(c.formula, str):
        raise DescriptionError(
            "A constraint that is a Python function cannot be written to a file.", field="constraints"
        )
    if not c.level and not c.name and c.frame is None and c.point is None:
        return c.formula
    link, xyz = c.where
    point = None if c.point is None else {"link": link, "xyz": list(xyz)}
    return {"formula": c.formula, "level": c.level or None, "name": c.name or None, "frame": c.frame, "point": point}

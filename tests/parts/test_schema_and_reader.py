"""The JSON Schema and the reader of files give one verdict: every field of every part, tried with values of many kinds."""

from __future__ import annotations

import copy
import math
from typing import Any

import jsonschema
import pytest

from manipula.errors import ManipulaError
from manipula.formats.toml.fields import Document
from manipula.formats.toml.part_tables import read_value
from manipula.formats.toml.reader import robot_from
from manipula.formats.toml.schema import robot_schema
from manipula.parts.checks import check_value
from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.field import Field
from manipula.parts.schema import properties
from manipula.registries import KINDS
from manipula.simulation.files.document import ScenarioDocument
from manipula.simulation.files.parts import read_criterion, read_task
from manipula.simulation.files.reference import read_law, read_path, read_reference
from manipula.simulation.files.scenario_file import scenario_of
from manipula.simulation.files.schema import scenario_schema
from manipula.simulation.plant.disturbances import Actuator, Noise

SCENARIO = scenario_schema()
VALID = jsonschema.Draft202012Validator(SCENARIO)
NUMBERS: tuple[Any, ...] = (0, 1, -1, 2, 7, 0.5, -0.5, 2.5, 1e-9, -1e-300, 1e15, 1e59, -1e59, 1e61, -1e61, 1e308, math.inf, -math.inf, math.nan,
                            10**70, 10**400)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    True, False, {}, {"a": 1.0}, {"a": math.nan}, {"no name": 1.0}, {"1a": 1.0}, {"pi": 2.0}, {"sin": 2.0}, {"Inf": 1.0}, {"a" * 65: 1.0},
    [], [[]], [True], [{}], [None], [[True]], "", " ",
)  # fmt: skip
FLOATS: tuple[Any, ...] = (
    [math.nan], [1e61], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, math.inf], [0.0] * 4, [0.0] * 6, [-1.0, 1.0, 1.0],
    [[1.0, 2.0], [3.0, 4.0]], [[1.0, math.nan]], [[[1.0, 2.0]]], [[[math.inf, 2.0]]],
)  # fmt: skip
FILES = (
    "", " ", "/", "/dev/zero", "/etc/passwd", "../x.csv", "../x.svg", "./../x.csv", "C:\\x.csv", "\\x.svg", "file:///etc/passwd",
    "http://x/y.svg", "a\0.csv",
)  # fmt: skip
PLACES = [
    *((f"{k.name} {n}", d) for k in KINDS.values() if k.key for n, made in k.in_files.items() for d in declared(made)),
    *((f"{cls.__name__}", d) for cls in (Noise, Actuator) for d in declared(cls)),
]
READERS = {
    "path": read_path,
    "time law": read_law,
    "reference": read_reference,
    "criterion": read_criterion,
    "task": read_task,
}


def edges(f: Field) -> list[float]:
    """Bounds of a field and their neighbours."""
    bounds = [b for b in (f.least, f.above, f.most, f.below) if b is not None]
    return [v for b in bounds for v in (b, math.nextafter(b, -math.inf), math.nextafter(b, math.inf), b - 1.0, b + 1.0)]


def candidates(d: FieldDeclaration, key: str) -> list[Any]:
    own = edges(d.field) if key == d.name else []
    texts = FILES if d.field.kind == "file" else ("no such word",) if d.field.kind == "choice" else ()
    lists = (
        (["a", "b"], ["a", 1], [-1], [0, 10**70]) if d.field.kind == "texts" else FLOATS
    )  # 1.0 is a whole number in JSON
    return [*own, *([v] for v in own), *NUMBERS, *OTHERS, *lists, *texts, *d.field.choices]


def read(d: FieldDeclaration, key: str, value: Any) -> None:
    """One field as a file's reader reads it, and the check that its part then makes."""
    document = ScenarioDocument("")
    document.root = {"part": {key: value}}
    table = document.fields().table("part")
    assert table is not None
    found = read_value(table, key, d, "a part", READERS)
    if d.field.kind != "file":
        check_value(found, d, "a part")


@pytest.mark.parametrize(("whose", "d"), PLACES, ids=[f"{whose} {d.name}" for whose, d in PLACES])
def test_one_verdict_on_every_field(whose: str, d: FieldDeclaration) -> None:
    if not d.declared:
        return  # nothing is known about it, and both take anything
    for key, schema in properties([d]).items():
        valid = jsonschema.Draft202012Validator({**schema, "$defs": SCENARIO["$defs"]})
        for value in candidates(d, key):
            try:
                read(d, key, value)
                reads = True
            except ManipulaError:
                reads = False
            assert valid.is_valid(value) is reads, f"{key} = {value!r}: the reader {'takes' if reads else 'refuses'} it"


BASE = 'robot = "planar-2r"\nduration = 0.01\ncontroller = { law = "pd", kp = 9, kv = 3, goal = 0.1 }\n'
HEAD = ("duration", "step", "sample", "tolerance", "gain", "ik_solution", "verify", "stop_at_limits", "name", "kind", "integrator", "start", "q0",
        "q0_deg", "qd0", "limits.velocity", "limits.velocity_deg", "limits.torque", "limits.position", "limits.tip.velocity", "noise.position",
        "noise.seed", "actuator.limit", "actuator.delay", "robot", "model", "constants", "parameters", "vary", "torques.times", "torques.values",
        "disturbances", "criteria", "friction", "drives", "reference", "format")  # fmt: skip
NEVER: tuple[Any, ...] = (math.nan, math.inf, -math.inf, 1e61, 1e308, [math.nan], [1e61, 0.0], [[math.nan, 0.0]], [[[0.0]], [[math.inf]]], [True], "../x.toml",
                          "/dev/zero.toml", "/dev/zero", {"a b": 1.0}, {"controller.kp[x]": 1.0}, {}, {"controller.kp": math.nan})  # fmt: skip
ALWAYS: tuple[Any, ...] = (0.01, 1e-3, 1, 0, 2, True, [0.1, 0.2], [[0.1, 0.2], [0.1, 0.3]], "rk4", "planar-2r", "auto", {"controller.kp": [1.0, 2.0]},
                           {"controller.kv": 2}, [], "none", 1e-13, 1e-14)  # fmt: skip


@pytest.mark.parametrize("key", HEAD)
def test_one_verdict_on_the_fields_of_a_scenario(key: str) -> None:
    """What the reader takes is valid; what no field may hold is not. Fields that contradict each other only the reader can see."""
    for value in (*NEVER, *ALWAYS):
        document = ScenarioDocument(BASE)
        *tables, name = key.split(".")
        place: dict[str, Any] = document.root
        for word in tables:
            place = place.setdefault(word, {})
        place[name] = value
        try:
            scenario_of(document)
            reads = True
        except ManipulaError:
            reads = False
        valid = VALID.is_valid(document.root)
        if reads:
            assert valid, f"{key} = {value!r} is read"
        elif any(value is v for v in NEVER) and (not isinstance(value, str) or name in ("robot", "model")):
            assert not valid, f"{key} = {value!r} is refused"


VARIED = (
    "controller.kp",
    "friction[0].damping",
    "drives[1].stiffness",
    "actuator.limit[0]",
    "disturbances[0].wrench[2]",
    "controller",
)
UNKNOWN = (
    "kp",
    "controler.kp",
    "controller..kp",
    "controller.kp[]",
    "controller.kp[-1]",
    "robot.mass",
    "",
    "noise.position",
)


@pytest.mark.parametrize("name", VARIED)
def test_names_of_numbers_that_vary(name: str) -> None:
    assert VALID.is_valid({"robot": "planar-2r", "duration": 1.0, "vary": {name: [1.0, 2.0]}})


@pytest.mark.parametrize("name", UNKNOWN)
def test_names_that_nothing_has(name: str) -> None:
    assert not VALID.is_valid({"robot": "planar-2r", "duration": 1.0, "vary": {name: [1.0, 2.0]}})


TREE: dict[str, Any] = {
    "link": [{"name": "a"}, {"name": "b", "mass": 1.0}],
    "joint": [{"name": "j", "type": "revolute", "parent": "a", "child": "b"}],
}
PLANAR: dict[str, Any] = {"planar": {"lengths": [1.0, 0.5], "masses": [1.0, 1.0]}}
IN_LINK = ("mass", "com", "inertia", "inertia_about", "described", "name")
IN_JOINT = ("axis", "rotor_inertia", "gear_ratio", "origin.xyz", "origin.rpy", "origin.rpy_deg", "origin.quaternion_wxyz", "origin.rotation", "type",
            *(f"limits.{q}" for q in ("lower", "upper", "lower_deg", "position", "position_deg", "velocity", "acceleration", "jerk", "effort")),
            "friction", "drive")  # fmt: skip
IN_ROBOT = (
    "gravity",
    "payload",
    "payload.mass",
    "tip",
    "format",
    "name",
    "notes",
    "free",
    "parameters",
    "base.xyz",
    "tool.matrix",
    "base.xyz",
)
ROBOT_VALUES: tuple[Any, ...] = (
    *NUMBERS, *OTHERS, *FLOATS, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0, 1.0, 0, 0, 0], [-1, 1], "com", "b",
)  # fmt: skip
FAULTS = (*OTHERS, FLOATS[0], FLOATS[1], FLOATS[5])
ROBOTS = jsonschema.Draft202012Validator(robot_schema())


@pytest.mark.parametrize("key", [*(f"link.{k}" for k in IN_LINK), *(f"joint.{k}" for k in IN_JOINT), *IN_ROBOT])
def test_one_verdict_on_the_fields_of_a_robot(key: str) -> None:
    """The same for robots; a formula, a rotation that is none and limits that are reversed only the reader can see."""
    for value in ROBOT_VALUES:
        document = Document("")
        document.root = copy.deepcopy(TREE)
        *tables, name = key.split(".")
        place: Any = document.root
        for word in tables:
            place = (
                place[word][-1] if word in TREE else place.setdefault(word, {} if word != "payload" else {"mass": 1.0})
            )
        place[name] = value
        try:
            robot_from(document)
            reads = True
        except ManipulaError:
            reads = False
        valid = ROBOTS.is_valid(document.root)
        if reads:
            assert valid, f"{key} = {value!r} is read"
        elif key == "parameters" and value == {"a": 1.0}:
            continue  # which no formula uses
        elif isinstance(value, (bool, int, float)) or any(value is v for v in FAULTS):
            assert not valid, f"{key} = {value!r} is refused"


@pytest.mark.parametrize("key", ["lengths", "masses", "com", "inertia", "damping", "limits"])
def test_one_verdict_on_the_fields_of_a_planar_arm(key: str) -> None:
    """How many there are must be, one per link, only the reader can see, and what two large numbers give together."""
    for value in (*([x, x] for x in (*NUMBERS, *OTHERS)), *OTHERS):
        document = Document("")
        document.root = copy.deepcopy(PLANAR)
        document.root["planar"][key] = value
        try:
            robot_from(document)
            reads = True
        except ManipulaError:
            reads = False
        valid = ROBOTS.is_valid(document.root)
        if reads:
            assert valid, f"{key} = {value!r} is read"
        elif not isinstance(value, list) or (len(value) != 1 and value != [1e59, 1e59]):
            assert not valid, f"{key} = {value!r} is refused"


@pytest.mark.parametrize("found", [[], "", [""], [" "], [{"formula": ""}]], ids=repr)
def test_constraints_without_a_formula_are_refused_by_both(found: Any) -> None:
    document = ScenarioDocument(
        'robot = "planar-2r"\nduration = 1.0\nq0 = [0.1, 0.2]\n[program]\nconstraints = ["x = 0.5"]'
    )
    assert VALID.is_valid(document.root)
    document.root["program"]["constraints"] = found
    assert not VALID.is_valid(document.root)
    with pytest.raises(ManipulaError, match="formula"):
        scenario_of(document)

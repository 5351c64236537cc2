"""JSON Schema of robot files."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import Any

from manipula.formats.dh.rows import CONVENTIONS
from manipula.parts.field import Choice, Field, Flag, Number, Numbers, PerJoint, Text, VectorField, Whole
from manipula.parts.schema import DIALECT, EMPTY, FINITE, any_of, field_schema, kind_schema, list_of, named, ref, table
from manipula.parts.schema import NAME as FORMULA_NAME
from manipula.robot.appearance import NUMBERS
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.friction import KIND as FRICTION

ANY = Number("1", "")
MATRIX = any_of(list_of(field_schema(ANY), (3, 6)), list_of(list_of(field_schema(ANY), (3,)), (3,)))


def keys(fields: Mapping[str, Field | dict[str, Any]]) -> dict[str, Any]:
    """The keys of a table; angles also exist with ``_deg``."""
    out: dict[str, Any] = {}
    for name, f in fields.items():
        if not isinstance(f, Field):
            out[name] = f
            continue
        unit = f" [{f.unit}]" if f.unit not in ("", "1") else ""
        out[name] = {**field_schema(f), "description": f"{f.meaning}{unit}"}
        if f.degrees:
            out[f"{name}_deg"] = {
                **field_schema(f, radians(1.0)),
                "description": f"{f.meaning}{unit.replace('rad', '°')}",
            }
    return out


def angle(unit: str, meaning: str, **more: Any) -> Field:
    """A number in radians that files may give in degrees as well (``…_deg``)."""
    return Number(unit, meaning, degrees=True, **more)


def name_of(what: str) -> dict[str, Any]:
    """A text that is not empty."""
    return {"type": "string", "pattern": r"\S", "description": what}


POSE = keys({
    "xyz": VectorField("m", "position"), "rpy": VectorField("rad", "roll, pitch, yaw"), "rpy_deg": VectorField("°", "roll, pitch, yaw"),
    "quaternion_wxyz": VectorField("1", "orientation as a quaternion", (4,)),
    "rotation": list_of(list_of(field_schema(ANY), (3,)), (3,)), "matrix": list_of(list_of(field_schema(ANY), (4,)), (4,)),
})  # fmt: skip
BODY = keys({
    "mass": Number("kg", "mass", least=0.0), "com": VectorField("m", "centre of mass, in link axes"), "inertia": MATRIX,
    "inertia_about": Choice("where the inertia is taken", "com", "origin"),
})  # fmt: skip
BALANCE = keys(
    {"mass": Number("kg", "mass whose weight is carried"), "com": VectorField("m", "where it is, in link axes")}
)
LINK = keys({
    "name": name_of("name"), "described": Flag("its mass is known"), "between": Flag("it stands between two joints of one body and has none of its own"),
    "balance": ref("balance"),
})  # fmt: skip
COUPLING = keys({
    "follows": name_of("joint that this one is coupled to"), "ratio": Number("1", "positions of this joint per position of that one"),
    "offset": angle("rad or m", "position while that one is at zero"),
})  # fmt: skip
# of a limit: files of other programs state 1e308 where they mean none
SIZE: dict[str, Any] = {"least": 0.0, "most": FINITE}
PLACE: dict[str, Any] = {"least": -FINITE, "most": FINITE}
LIMITS = keys({
    "position": Field("vector", "rad or m", "lower and upper", lengths=(2,), degrees=True, **PLACE),
    "lower": angle("rad or m", "lower position limit", **PLACE), "upper": angle("rad or m", "upper position limit", **PLACE),
    "velocity": angle("rad/s or m/s", "largest speed", **SIZE), "acceleration": angle("rad/s² or m/s²", "largest acceleration", **SIZE),
    "jerk": angle("rad/s³ or m/s³", "largest jerk", **SIZE), "effort": Number("N·m or N", "largest torque or force", **SIZE),
})  # fmt: skip
DRIVETRAIN = keys({
    "limits": ref("limits"), "rotor_inertia": Number("kg·m²", "inertia of the rotor", least=0.0),
    "gear_ratio": Number("1", "gear ratio N"), "friction": ref("friction law"), "drive": ref("drive"),
})  # fmt: skip
NAME = name_of("name")
HEADER = keys({
    "format": {"const": 1}, "name": name_of("name of the robot"), "description": Text("one sentence"), "source": Text("where the numbers come from"),
    "notes": list_of({"type": "string"}), "gravity": VectorField("m/s²", "acceleration of gravity, in base axes"),
    "base": ref("pose"), "tool": ref("pose"), "tip": {**name_of("frame that is the tip; empty for none"), "pattern": r"^$|\S"},
    "payload": any_of(ref("payload"), *field_schema(Number("kg", "", least=0.0))["anyOf"]), "free": list_of({"type": "string", **FORMULA_NAME}),
    "parameters": named(field_schema(ANY), FORMULA_NAME), "postures": named(list_of(field_schema(ANY))), "lock": named(field_schema(ANY)),
    "drop": any_of(NAME, list_of(NAME)), "chain": list_of(NAME, (2,)), "visual": list_of(ref("visual")),
})  # fmt: skip


def definitions() -> dict[str, Any]:
    """What the forms of a robot share, for ``$defs``."""
    joint = keys({
        "name": name_of("name of the joint"), "type": Choice("how it moves", "revolute", "prismatic", "fixed"), "parent": name_of("link before it"),
        "child": name_of("link that it moves"), "origin": ref("pose"), "axis": VectorField("1", "direction of the joint"), "link_frame": ref("pose"),
    })  # fmt: skip
    visual = keys({
        "link": name_of("link that it is fixed to"), "kind": Choice("what it is", *NUMBERS), "size": any_of(field_schema(ANY), list_of(field_schema(ANY))),
        "colour": list_of(field_schema(ANY), (3, 4)), "file": Text("path of the mesh file, from the folder of this file"),
    })  # fmt: skip
    row = keys({
        "alpha": angle("rad", "twist"), "theta": angle("rad", "angle, or offset of a revolute joint"), "a": Number("m", "length"),
        "d": Number("m", "distance, or offset of a prismatic joint"), "joint": Choice("how it moves", "revolute", "prismatic"),
        "name": name_of("name of the joint"), "link": name_of("name of the link"), "balance": ref("balance"),
    })  # fmt: skip
    return {
        "pose": table(POSE), "limits": table(LIMITS), "payload": table(BODY, ["mass"]),
        "friction_law": kind_schema(FRICTION), "drive": kind_schema(DRIVES),
        "balance": table(BALANCE, ["mass"]), "link": table({**LINK, **BODY}, ["name"]),
        "joint": table({**joint, **COUPLING, **DRIVETRAIN}, ["name", "type", "parent", "child"]),
        "frame": table({**keys({"name": NAME, "link": name_of("link that it is fixed to")}), **POSE}, ["name", "link"]),
        "visual": table({**visual, **POSE}, ["link", "kind"]),
        "dh_row": table({**row, **COUPLING, **BODY, **DRIVETRAIN}, minProperties=0),
        "dh_frame": table({**keys({"name": NAME, "row": Whole("row that it is fixed to; 0 is the base", least=0)}), **POSE}, ["name"]),
        "robot": {"oneOf": [_tree(), _dh(), _planar()]},
    }  # fmt: skip


def _tree() -> dict[str, Any]:
    return table({**HEADER, **{k: list_of(ref(k)) for k in ("link", "joint", "frame")}}, ["link"])


def _dh() -> dict[str, Any]:
    inner = {"convention": {"enum": list(CONVENTIONS)}, "rows": list_of(ref("dh row")), "frame": list_of(ref("dh frame")),
             **keys({"base_link": name_of("name of the base")})}  # fmt: skip
    return table({**HEADER, "dh": table(inner, ["convention"])}, ["dh"])


def _planar() -> dict[str, Any]:
    inner = keys({
        "lengths": Numbers("m", "lengths of the links", above=0.0), "masses": Numbers("kg", "masses of the links", least=0.0),
        "com": Numbers("m", "centres of mass along the links"), "inertia": Numbers("kg·m²", "inertias about the centres of mass", least=0.0),
        "damping": PerJoint("N·m·s/rad", "viscous friction", least=0.0), "limits": list_of(any_of(ref("limits"), EMPTY)),
    })  # fmt: skip
    for name in ("lengths", "masses", "com", "inertia"):
        inner[name]["minItems"] = 1
    return table({**HEADER, "planar": table(inner, ["lengths", "masses"])}, ["planar"])


def robot_schema() -> dict[str, Any]:
    """The schema of a robot file."""
    return {"$schema": DIALECT, "title": "Manipula robot", "$defs": definitions(), **ref("robot")}

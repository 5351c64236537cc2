"""JSON Schema of scenario files."""

from __future__ import annotations

from typing import Any

from manipula.control import KIND as CONTROLLERS
from manipula.formats.catalog import catalog_names
from manipula.formats.load import READABLE
from manipula.formats.toml.schema import ANY, definitions, keys
from manipula.motion import paths, timing
from manipula.parts.declared import declared
from manipula.parts.field import AnglePerJoint, Choice, Flag, Number, PerJoint, Rows, Text, VectorField, Whole
from manipula.parts.schema import (
    DIALECT,
    EMPTY,
    FORMULA,
    INSIDE,
    NAME,
    any_case,
    any_of,
    field_schema,
    fields_schema,
    kind_schema,
    list_of,
    named,
    ref,
    table,
)
from manipula.redundancy.null_space import KIND as CRITERIA
from manipula.redundancy.tasks import KIND as TASKS
from manipula.simulation.field_values import LEAST_TOLERANCE
from manipula.simulation.files.reference import KIND as REFERENCES
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.contact import KIND as CONTACTS
from manipula.simulation.plant.disturbances import KIND as DISTURBANCES
from manipula.simulation.plant.disturbances import Actuator, Noise
from manipula.simulation.plant.encoder import Encoder
from manipula.simulation.plant.numbers import HEADS
from manipula.simulation.plant.switch import Switch
from manipula.simulation.programmed.constraint import LEVELS
from manipula.simulation.programmed.scenario import FORMULATIONS, STABILISATIONS
from manipula.simulation.programmed.scenario import STARTS as PROGRAM_STARTS
from manipula.simulation.scenario import BOUNDS, KINDS, STARTS
from manipula.simulation.stated_limits import QUANTITIES, TIP_QUANTITIES

_FILE = {
    "type": "string",
    "pattern": INSIDE,
    "anyOf": [{"pattern": r"[/\\]"}, *({"pattern": f"{any_case(e)}$"} for e in READABLE)],
}
_SOURCE = any_of({"enum": list(catalog_names())}, _FILE)
ROBOT = any_of(_SOURCE, table({"load": _SOURCE, "tip": {"type": "string"}}, ["load"]), ref("robot"))
# controller.kp, friction[0].damping
VARIED = {"pattern": rf"^({'|'.join(HEADS)})(\[[0-9]+\])?(\.[A-Za-z_][A-Za-z0-9_]*(\[[0-9]+\])*)*$"}
# what fields mean that are declared elsewhere
MEANINGS = {
    "constants": "numbers by names that formulas of this file may use", "limits": "what the machine may do; the robot states its own",
    "q0": "positions at the start, one per joint [rad or m]", "qd0": "velocities at the start, one per joint [rad/s or m/s]",
    "q0_deg": "positions at the start, one per joint", "qd0_deg": "velocities at the start, one per joint",
    "friction": "friction that acts in this run instead of the robot's own", "model": "the model that the controller uses, where it is another one",
    "reference": "where the joints or the tip should be", "controller": "the law that decides the torques",
    "criteria": "what the joints do besides, where there are more of them than the task needs",
    "tasks": "what is done at once, the first one before all others", "drives": "motors and gears that act in this run instead of the robot's own",
    "disturbances": "pushes, and loads that change", "contacts": "surfaces that can be touched", "base_motion": "how the base moves",
    "noise": "noise of the measured state", "switches": "instants from which another controller decides", "encoder": "steps in which positions are measured",
    "actuator": "cut and delay of the commands", "parameters": "values of the free parameters of the robot",
    "vary": "numbers in which the runs of a batch differ: a path such as controller.kp, and a value for every run", "torques": "torques that are played",
    "program": "equations that the motion obeys",
}  # fmt: skip
VALUES = any_of(*field_schema(PerJoint("1", ""))["anyOf"], field_schema(Rows("1", "")))


def scenario_schema() -> dict[str, Any]:
    """The schema of a scenario file, of any kind of run."""
    kinds = (CONTROLLERS, CRITERIA, TASKS, DISTURBANCES, CONTACTS, paths.KIND, timing.KIND)
    shared = {**definitions(), **{k.name.replace(" ", "_"): kind_schema(k) for k in kinds}, "reference": _reference()}
    programmed = any_of(
        {"properties": {"kind": {"const": "programmed"}}, "required": ["kind"]},
        {"not": {"required": ["kind"]}, "required": ["program"]},
    )
    return {
        "$schema": DIALECT, "title": "Manipula scenario", "$defs": shared, "if": programmed, "then": _told(_programmed()), "else": _told(_run()),
    }  # fmt: skip


def _told(whole: dict[str, Any]) -> dict[str, Any]:
    """With a meaning for every setting."""
    named = {k: {"description": MEANINGS[k], **v} if k in MEANINGS else v for k, v in whole["properties"].items()}
    return {**whole, "properties": named}


def _header() -> dict[str, Any]:
    angles = {q: AnglePerJoint("rad or m", f"largest {q}") for q in QUANTITIES[:4]}
    limits = keys({**angles, **{q: PerJoint("SI", f"largest {q}") for q in QUANTITIES[4:]}})
    limits["position"] = limits["position_deg"] = VALUES
    tip = table(keys({q: Number("m, s", f"largest {q} of the tip", least=0.0) for q in TIP_QUANTITIES}))
    points = {"type": "object", "additionalProperties": tip}
    state = {key: VALUES for name in ("q0", "qd0") for key in (name, f"{name}_deg")}
    return {
        "robot": ROBOT, "format": {"const": 1}, "constants": named(field_schema(ANY), NAME), "limits": table({**limits, "tip": tip, "points": points}), **state,
        **keys({
            "name": Text("name of the run"), "description": Text("what it shows"), "duration": Number("s", "duration", above=0.0),
            "step": Number("s", "time step", above=0.0), "sample": Number("s", "time between recorded samples", above=0.0),
            "tolerance": Number("1", "relative error up to which the answer counts as right", above=0.0, least=LEAST_TOLERANCE),
            "verify": Flag("repeat the run with other steps and compare"), "friction": _each("friction law"),
        }),
    }  # fmt: skip


def _each(kind: str) -> dict[str, Any]:
    """One part per joint: a list, one for all, by joint name, or "none"."""
    one = any_of(ref(kind), EMPTY)
    return any_of({"const": "none"}, list_of(one), ref(kind), named(one))


def _run() -> dict[str, Any]:
    torques = table({"times": VALUES, "values": VALUES}, ["times", "values"])
    return table({
        **_header(),
        **keys({
            "bounds": Choice("hard bounds of the tasks of a kinematic run", *BOUNDS),
            "gain": Number("1/s", "gain of a kinematic run on the tip's error", least=0.0), "kind": Choice("kind of run", *KINDS),
            "integrator": Choice("method of integration", "auto", *FIXED, *ADAPTIVE), "start": Choice("start of a task motion", *STARTS),
            "ik_solution": Whole("which solution of the inverse kinematics it starts with", least=0),
            "elbow": Whole("ik_solution by its name in 0.1.0", least=0), "stop_at_limits": Flag("end where a limit is crossed"),
            "control_period": Number("s", "time between two decisions of a digital controller", above=0.0),
        }),
        "model": ROBOT, "reference": ref("reference"), "controller": ref("controller"), "criteria": list_of(ref("criterion")),
        "tasks": list_of(ref("task")),
        "drives": _each("drive"), "disturbances": list_of(ref("disturbance")), "contacts": list_of(ref("contact")),
        "base_motion": fields_schema(declared(BaseMotion)), "noise": fields_schema(declared(Noise)),
        "switches": list_of(fields_schema(declared(Switch))), "encoder": fields_schema(declared(Encoder)), "actuator": fields_schema(declared(Actuator)),
        "parameters": named(VALUES, NAME), "vary": named(VALUES, VARIED), "torques": torques,
    }, ["robot"])  # fmt: skip


def _programmed() -> dict[str, Any]:
    constraint = table(keys({"formula": {**FORMULA, "description": "an equation of x, y, z, their rates, t"}, "name": Text("its name"),
                             "level": Choice("what it restricts", *LEVELS), "frame": Text("the frame that obeys it; the tip unless stated")})
                       | {"point": table(keys({"link": Text("a link"), "xyz": VectorField("m", "a place in its axes")}), ["link"])}, ["formula"])  # fmt: skip
    program = {
        "constraints": any_of(FORMULA, list_of(any_of(FORMULA, constraint), minItems=1)),
        "independent": list_of(any_of({"type": "string"}, {"type": "integer"})), "parameters": named(field_schema(ANY), NAME),
        "drives": named(any_of(*field_schema(ANY)["anyOf"], ref("drive"))),
        **keys({"formulation": Choice("equations", *FORMULATIONS), "stabilisation": Choice("drift", *STABILISATIONS),
                "start": Choice("start", *PROGRAM_STARTS), "gain": Number("1/s", "gain of Baumgarte's stabilisation", least=0.0)}),
    }  # fmt: skip
    more = keys({"kind": Choice("kind of run", "programmed"), "integrator": Choice("method of integration", *FIXED)})
    return table({**_header(), **more, "program": table(program, ["constraints"])}, ["robot", "program", "duration"])


def _reference() -> dict[str, Any]:
    along = table({"kind": {"const": "path"}, "path": ref("path"), "timing": ref("time law")}, ["path", "timing"])
    return {"oneOf": [along, *kind_schema(REFERENCES)["oneOf"]]}

"""A scenario from the tables of its file."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np

from manipula.errors import DescriptionError, ManipulaError, ShapeError
from manipula.formats.toml.fields import Fields, radians
from manipula.formats.toml.part_tables import read_fields, read_part
from manipula.robot.robot import Robot
from manipula.simulation.checks.rehearsal import rehearse
from manipula.simulation.files import parts
from manipula.simulation.files.document import ScenarioDocument, whole_number
from manipula.simulation.files.reference import read_reference
from manipula.simulation.files.robot import read_robot
from manipula.simulation.integrators import ADAPTIVE, FIXED
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.contact import KIND as CONTACTS
from manipula.simulation.plant.disturbances import Actuator, Noise
from manipula.simulation.plant.encoder import Encoder
from manipula.simulation.plant.switch import Switch
from manipula.simulation.scenario import BOUNDS, KINDS, STARTS, Scenario
from manipula.simulation.stated_limits import QUANTITIES, TIP_QUANTITIES

T = TypeVar("T")
FORMAT = 1
DEFAULTS = {f.name: f.default for f in dataclasses.fields(Scenario)}


def header(document: ScenarioDocument) -> tuple[Fields, Robot, dict[str, Any]]:
    """What scenarios of every kind begin with: constants, the robot, name, times, initial state, limits."""
    root = document.fields()
    if root.has("constants"):
        document.define_constants(root.table("constants"))  # pyright: ignore[reportArgumentType]
    if root.raw("format", FORMAT) != FORMAT or isinstance(root.raw("format"), bool):
        raise root.error(f"Format {root.raw('format')!r} is not known; this version reads format {FORMAT}.", "format")
    root.text("description")
    robot = read_robot(root)
    if robot is None:
        raise DescriptionError(
            "The robot is missing: robot = \"puma560\" (a name of the catalog), robot = \"arm.urdf\" (a file), or [robot].",
            file=document.file, field="robot",
        )  # fmt: skip
    common: dict[str, Any] = {"name": root.text("name", str(DEFAULTS["name"])), "limits": read_limits(root)}
    for key in ("q0", "qd0"):
        common[key] = read_state(root, key, robot)
    for key in ("duration", "step", "sample", "tolerance", "gain"):
        if root.has(key):
            common[key] = root.scalar(key)
    return root, robot, common


def read_scenario(document: ScenarioDocument) -> Scenario:
    """The scenario that a parsed file describes.

    Raises:
        DescriptionError: with file, line, field and the nearest valid name; nothing else.
    """
    root, robot, given = header(document)
    given["robot"] = robot
    given["kind"] = root.choice("kind", (*KINDS, "programmed"), "auto")
    given["integrator"] = root.choice("integrator", ("auto", *FIXED, *ADAPTIVE), "auto")
    given["start"] = root.choice("start", STARTS, "given")
    # elbow: its name in 0.1.0
    given["ik_solution"] = whole_number(root, root.either("ik_solution", "elbow") or "ik_solution", 0)
    if root.has("control_period"):
        given["control_period"] = root.scalar("control_period")
    for key in ("stop_at_limits", "verify"):
        given[key] = root.flag(key, bool(DEFAULTS[key]))
    given["model"] = read_robot(root, "model")
    reference = root.table("reference")
    given["reference"] = None if reference is None else read_reference(reference)
    given["controller"] = root.read("controller", parts.read_controller)
    given["criteria"] = parts.read_criteria(root)
    given["tasks"] = tuple(parts.read_task(t) for t in root.tables("tasks"))
    given["bounds"] = root.choice("bounds", BOUNDS, "none")
    given["friction"] = parts.read_each(root, "friction", robot, parts.read_law)
    given["drives"] = parts.read_each(root, "drives", robot, parts.read_drive)
    given["disturbances"] = tuple(parts.read_disturbance(t) for t in root.tables("disturbances"))
    given["contacts"] = tuple(read_part(t, CONTACTS) for t in root.tables("contacts"))
    inner = {"controller": parts.read_controller, "reference": read_reference}
    given["switches"] = tuple(read_fields(t, Switch, "switch", inner) for t in root.tables("switches"))
    for key, cls in (("noise", Noise), ("actuator", Actuator), ("encoder", Encoder), ("base_motion", BaseMotion)):
        table = root.table(key)
        if table is not None:
            given[key] = read_fields(table, cls, key, inner)
    for key in ("parameters", "vary"):
        given[key] = root.read(key, _named_numbers)
    given["torques"] = root.read("torques", _torques)
    root.close()
    return built(document, Scenario, given)


def built(document: ScenarioDocument, cls: type[T], given: dict[str, Any]) -> T:
    """The value itself; what it refuses is reported with the line of the field."""
    try:
        return cls(**given)
    except DescriptionError as error:
        raise document.located(error).at(file=document.file) from None
    except (ManipulaError, TypeError, ValueError) as error:
        raise document.explain(error) from None


def read_state(root: Fields, key: str, robot: Robot) -> Any:
    """``q0`` in radians and metres, or ``q0_deg`` with the revolute joints in degrees; one row, or one per run; of an arm with one joint a number."""
    found = root.either(key, f"{key}_deg")
    if found is None:
        return None
    document: Any = root.document
    value = document.numbers(root.raw(found), root.where(found))
    try:
        state = np.asarray(value, float)
    except ValueError:
        state = np.zeros(0)
    if state.ndim == 0 and robot.n == 1:  # of the only joint
        value, state = (value,), state.reshape(1)
    if state.ndim not in (1, 2) or state.shape[-1] != robot.n:
        wanted = "1 number is" if robot.n == 1 else f"{robot.n} numbers are"
        raise root.error(f"{wanted} needed, one per joint (or a list of such rows).", found)
    if found == key:
        return value
    turning = [j.kind == "revolute" for j in robot.joints]
    row = lambda r: tuple(radians(v) if turns else v for v, turns in zip(r, turning))  # noqa: E731
    return row(value) if state.ndim == 1 else tuple(row(r) for r in value)


def read_limits(root: Fields) -> dict[str, Any] | None:
    """``[limits]``: velocity = 2.0 (or velocity_deg, or one per joint), torque = [100, 50, …], tip = { velocity = 0.5 }, points.elbow = { velocity = 0.5 }."""
    table = root.table("limits")
    if table is None:
        return None
    document: Any = root.document
    out: dict[str, Any] = {}
    for quantity in QUANTITIES:
        angular = quantity in QUANTITIES[:4]
        key = table.either(quantity, f"{quantity}_deg") if angular else quantity if table.has(quantity) else None
        if key is not None:
            out[quantity] = document.numbers(table.raw(key), table.where(key), degrees=key != quantity)
    tip = table.table("tip")
    if tip is not None:
        out["tip"] = {k: tip.scalar(k) for k in TIP_QUANTITIES if tip.has(k)}
        tip.close()
    points = table.table("points")
    if points is not None:
        out["points"] = {}
        for name in points.names():
            of = points.table(name)
            if of is None:
                continue
            out["points"][name] = {k: of.scalar(k) for k in TIP_QUANTITIES if of.has(k)}
            of.close()
        points.close()
    table.close()
    return out


def _named_numbers(table: Fields) -> dict[str, Any]:
    document: Any = table.document
    return {key: document.numbers(table.raw(key), table.where(key)) for key in table.names()}


def _torques(table: Fields) -> tuple[Any, Any]:
    document: Any = table.document
    found = []
    for key in ("times", "values"):
        if not table.has(key):
            raise table.error(f"The key '{key}' is missing: times (k) and values (k rows of n) are needed.")
        found.append(document.numbers(table.raw(key), table.where(key)))
    return found[0], found[1]


def check_parts(document: ScenarioDocument, s: Scenario) -> None:
    """Do the parts fit together? One evaluation of the loop on plain numbers, before anything is compiled."""
    try:
        rehearse(s)
    except DescriptionError as error:
        raise document.located(error).at(file=document.file) from None
    except ShapeError as error:
        raise document.explain(error) from None

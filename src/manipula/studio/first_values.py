"""A part that somebody chooses in a form begins with values that work: examples of its declarations, points near the tip, the posture that is shown.

No part is known here by its name. A field begins with the example of its declaration, else with what its kind and unit suggest. Where several beginnings are
possible (how far a point is from the tip), the first with which the whole document can be read is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array
from manipula.algebra.rotation import to_quaternion_wxyz
from manipula.control import KIND as CONTROLLERS
from manipula.errors import DescriptionError, ManipulaError, unknown_name
from manipula.model import model_of
from manipula.motion import paths, timing
from manipula.parts.declared import FieldDeclaration, declared
from manipula.parts.registry import PartKind
from manipula.redundancy.arm import Arm
from manipula.redundancy.null_space import KIND as CRITERIA
from manipula.redundancy.tasks import KIND as TASKS
from manipula.robot.drives import KIND as DRIVES
from manipula.robot.friction import KIND as FRICTION
from manipula.robot.robot import Robot
from manipula.simulation.files.reference import KIND as REFERENCES
from manipula.simulation.plant.base_motion import BaseMotion
from manipula.simulation.plant.contact import KIND as CONTACTS
from manipula.simulation.plant.disturbances import KIND as DISTURBANCES
from manipula.simulation.plant.disturbances import Actuator, Noise
from manipula.simulation.plant.encoder import Encoder
from manipula.simulation.plant.switch import Switch
from manipula.studio.documents import numeric_robot_from_document, scenario_from, starting_posture
from manipula.studio.wire import to_json

KINDS: dict[str, PartKind] = {
    kind.name.replace(" ", "_"): kind
    for kind in (CONTROLLERS, CRITERIA, TASKS, DISTURBANCES, CONTACTS, paths.KIND, timing.KIND, FRICTION, DRIVES, REFERENCES)
}  # fmt: skip
TABLES: dict[str, Any] = {
    "noise": Noise, "actuator": Actuator, "encoder": Encoder, "base_motion": BaseMotion, "switches": Switch,
}  # fmt: skip
ALONG = "path"  # the reference that is a path with a time law
FIRST_LAWS = ("computed_torque", "task_space_computed_torque")
FIRST = {"path": "line", "time law": "quintic", "reference": "joint_move"}  # a part inside a part
USUAL = {
    "1/s²": 100.0, "1/s": 20.0, "N·m/rad or N/m": 200.0, "N·m·s/rad or N·s/m": 20.0, "N/m": 500.0, "N·s/m": 50.0, "s": 1.0, "m": 0.1,
    "m/s": 0.25, "m/s²": 1.0, "m/s³": 10.0, "rad/s or m/s": 1.0, "rad/s² or m/s²": 5.0, "rad/s³ or m/s³": 50.0, "Hz": 5.0, "kg": 1.0,
    "rad/s": 20.0, "kg·m² or kg": 0.1, "kg·m²": 0.1, "N·m or N": 1.0, "N/mⁿ or N·m/radⁿ": 1e4, "rad or m": 0.001, "rad": 0.001,
}  # fmt: skip
SPREADS = (0.15, 0.06, 0.02)  # of the reach: how far points lie from each other
LONGEST_PLACE = 8
MOST_COMPANIONS = 2  # other settings that change with a part


@dataclass(frozen=True)
class Here:
    """Where the arm is: robot, posture, tip, the axes in which the tip can move, and how far points may lie from each other [m]."""

    robot: Robot
    q: np.ndarray
    tip: np.ndarray
    axes: tuple[int, ...]
    spread: float

    def point(self, nth: int, size: int = 3) -> list[float]:
        """Points around the tip, no three of them on a line."""
        u, v = (*self.axes, self.axes[-1])[:2]
        out = self.tip.copy()
        out[u] -= self.spread * (0.5 * nth)
        out[v] += self.spread * (0.0, 0.6, 0.2, -0.4)[nth % 4] if u != v else 0.0
        return [round(float(x), 4) for x in out[:size]]

    def inside(self) -> list[float]:
        """The centre of a curve around which the tip has room: nearer to the base than the tip by the usual radius."""
        away = np.zeros(3)
        axes = list(self.axes)
        away[axes] = (self.tip - np.asarray(self.robot.base.translation, float))[axes]
        length = float(np.linalg.norm(away))
        return [round(float(x), 4) for x in self.tip - (min(USUAL["m"] / length, 0.5) * away if length > 0.0 else 0.0)]

    def posture(self, nth: int) -> list[float]:
        """The posture, or one that is some way from it within the limits."""
        out = []
        for joint, q in zip(self.robot.joints, self.q):
            step = (0.4 if joint.is_revolute else 0.05) * (0, 1, 0.5, 0)[nth % 4]
            high = joint.limits.upper
            out.append(round(float(q + step if high is None or q + step <= high else q - step), 4))
        return out

    def drift(self) -> list[list[float]]:
        """Position and quaternion of the tip as it is, then how they change by time: a slow move along the first axis it can move in."""
        quaternion = to_quaternion_wxyz(np.asarray(model_of(self.robot).pose(self.q), float)[:3, :3])
        speed = np.zeros(7)
        speed[self.axes[0]] = -0.2 * self.spread
        return [[*self.tip.tolist(), *np.asarray(quaternion, float).tolist()], speed.tolist()]


def chosen(document: Any, kind: Any, name: Any, place: Any, q: Any = None) -> dict[str, Any]:
    """The document with a part that somebody chose in a form, filled in.

    Args:
        document: the document that is edited. kind: of the part, as the schema names it ("path"), or of a table ("noise").
        name: of the part; none for a table. place: keys of the place in the document where it will stand. q: the posture that is shown.

    Returns:
        ``document``; ``also``: other settings that were changed with it, because the part works with no others; none where that did not help either: the
        check of the document then says what is missing.
    """
    if not isinstance(kind, str) or not (kind in KINDS or kind in TABLES):
        raise unknown_name("kind of part", str(kind), [*KINDS, *TABLES], field="kind")
    if not isinstance(place, list) or not 0 < len(place) <= LONGEST_PLACE:
        raise DescriptionError("A place is a list of keys of the document.", field="place")
    robot = numeric_robot_from_document(document)
    heres = list(_places(robot, q))
    kept = _kept(kind, name, _at(document, place))
    tables = [table for here in heres for table in _tables(kind, name, here)]
    tables = [{**table, **kept} for table in tables] + (tables if kept else [])
    made = [_put(document, place, table) for table in tables]
    for found in made:
        if _problem(found) is None:
            return to_json({"document": found, "also": []})
    ways: list[tuple[list[str], dict[str, Any]]] = [([], made[0])]
    for _ in range(MOST_COMPANIONS):
        ways = [
            ([*also, *more], changed)
            for also, before in ways
            for more, changed in (
                *_completed(before, _problem(before), kind, name, place, heres[0]),
                *_companions(before, _problem(before), heres[0], {str(place[0]), *also}),
            )
        ]
        for also, changed in ways:
            if _problem(changed) is None:
                return to_json({"document": changed, "also": also})
    return to_json({"document": made[0], "also": []})


def _at(value: Any, place: Sequence[Any]) -> Any:
    for key in place:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _kept(kind: str, name: Any, before: Any) -> dict[str, Any]:
    """What another part of the kind has in fields of the same name, kind and unit."""
    if (
        kind not in KINDS
        or not isinstance(before, dict)
        or not isinstance(name, str)
        or name not in KINDS[kind].in_files
    ):
        return {}
    registry = KINDS[kind]
    old = before.get(registry.key)
    if not isinstance(old, str) or old not in registry.in_files:
        return {}
    known = {d.name: (d.field.kind, d.field.unit) for d in declared(registry.registry[old])}
    same = [d for d in declared(registry.registry[name]) if known.get(d.name) == (d.field.kind, d.field.unit)]
    return {key: before[key] for d in same for key in d.keys if key in before}


def _problem(document: Any) -> ManipulaError | None:
    try:
        with np.errstate(all="ignore"):  # a posture in which the tip cannot move in some direction
            scenario_from(document)
    except ManipulaError as error:
        return error
    return None


def _completed(
    document: dict[str, Any], wrong: ManipulaError | None, kind: str, name: Any, place: list[Any], here: Here
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """The document with the field of the part that the error names."""
    missing = str(getattr(wrong, "field", "") or "").rpartition(".")[2]
    part = TABLES.get(kind) or KINDS[kind].in_files.get(name)
    for d in declared(part) if part is not None else ():
        if d.name == missing and d.field.kind != "part":
            yield [], _put(document, [*place, d.name], _value(d, here, 0))


def _companions(
    document: dict[str, Any], wrong: ManipulaError | None, here: Here, kept: set[str]
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Documents in which one other setting, the one that the error names, is another or is gone; ``kept`` stay as they are."""
    field = str(getattr(wrong, "field", "") or "").split(".")[0].split("[")[0]
    others: dict[str, list[Any]] = {
        "reference": [_table("reference", ALONG, here), _table("reference", FIRST["reference"], here), None],
        "controller": [_table("controller", law, here) for law in FIRST_LAWS],
        "control_period": [1e-3],
    }
    for name in dict.fromkeys((field, *others)):
        if name in kept:
            continue
        for other in others.get(name, ()):
            rest = {k: v for k, v in document.items() if k != name}
            yield [name], rest if other is None else {**rest, name: other}


def _places(robot: Robot, q: Any) -> Iterator[Here]:
    at = finite_array(starting_posture(robot) if q is None else q, "q")
    if at.shape != (robot.n,):
        at = np.asarray(starting_posture(robot), float)
    model = model_of(robot)
    tip = np.asarray(model.position(at), float)
    reach = max(float(np.abs(np.asarray(model.position(np.zeros(robot.n)))).max()), float(np.abs(tip).max()), 0.1)
    axes = tuple(Arm(robot).task) or (0, 1)
    for spread in SPREADS:
        yield Here(robot, at, tip, axes, spread * reach)


def _put(value: Any, place: Sequence[Any], table: Any) -> Any:
    """The document with the table at its place."""
    if not place:
        return table
    key, *rest = place
    if isinstance(key, int) and not isinstance(key, bool):
        listed = list(value) if isinstance(value, list) else []
        key = min(max(key, 0), len(listed))
        return [*listed[:key], _put(listed[key] if key < len(listed) else None, rest, table), *listed[key + 1 :]]
    known = value if isinstance(value, dict) else {}
    return {**known, str(key): _put(known.get(str(key)), rest, table)}


def _tables(kind: str, name: Any, here: Here) -> Iterator[dict[str, Any]]:
    """The part with what it must have, then with one of its other fields as well."""
    first = _table(kind, name, here)
    yield first
    if kind == "reference" and name == ALONG:
        return
    for d in declared(TABLES[kind] if kind in TABLES else KINDS[kind].registry[name]):
        if d.name not in first and d.field.kind != "part":
            words = d.field.choices if d.field.kind == "choice" else ()
            yield from ({**first, d.name: value} for value in (words or (_value(d, here, 0),)))


def _table(kind: str, name: Any, here: Here) -> dict[str, Any]:
    if kind in TABLES:
        return _filled(declared(TABLES[kind]), here)
    if kind == "reference" and name == ALONG:
        return {"path": _table("path", FIRST["path"], here), "timing": _table("time_law", FIRST["time law"], here)}
    registry = KINDS[kind]
    if not isinstance(name, str):
        raise DescriptionError(f"The name of a {registry.name} is a text.", field="name")
    return {registry.key: name, **_filled(declared(registry.find(name, field="name")), here)}


def _filled(fields: tuple[FieldDeclaration, ...], here: Here) -> dict[str, Any]:
    """Every field that must be given, and every one whose declaration has an example; of a table that needs none the first number."""
    out: dict[str, Any] = {}
    seen: dict[tuple[str, str], int] = {}
    for d in fields:
        if d.required or d.field.example is not None:
            key = (d.field.kind, d.field.unit)
            seen[key] = seen.get(key, -1) + 1
            out[d.name] = _value(d, here, seen[key])
    if not out and not any(d.required for d in fields):
        number = next((d for d in fields if d.field.kind in ("number", "one per joint")), None)
        out = (
            {}
            if number is None or any(d.field.kind == "part" for d in fields)
            else {number.name: _value(number, here, 0)}
        )
    return out


def _value(d: FieldDeclaration, here: Here, nth: int) -> Any:
    f = d.field
    if f.example is not None:
        return f.example
    if f.kind in ("number", "one per joint"):
        free = f.least is None and f.above is None
        return (
            here.posture(nth + 1)
            if f.unit == "rad or m" and f.kind == "one per joint" and free
            else USUAL.get(f.unit, 1.0)
        )
    if f.kind in ("vector", "numbers"):
        if f.unit == "m":
            return here.inside() if d.name == "center" else here.point(nth)
        return (
            here.posture(nth)
            if f.unit == "rad or m"
            else [0.0, 1.0, 2.0, 3.0]
            if f.unit == "s"
            else [0.0, 0.3, 0.7, 1.0]
        )
    if f.kind == "rows":
        if f.unit == "m or rad":  # coefficients of one piece, lowest power first
            return [[here.posture(0), [0.2] * len(here.q)]]
        if f.unit == "m, 1":  # of position and quaternion
            return [here.drift()]
        return [here.point(k) if f.unit == "m" else here.posture(k) for k in range(4)]
    if f.kind == "formula":
        return next(iter(f.names), "t")
    if f.kind == "formulas":
        return [f"{x} + 0.05*sin({next(iter(f.names), 't')})" for x in here.tip.round(4).tolist()]
    if f.kind in ("part", "parts"):
        part = _table(
            f.of.replace(" ", "_"), FIRST.get(f.of) or next(iter(KINDS[f.of.replace(" ", "_")].in_files)), here
        )
        return part if f.kind == "part" else [part]
    if f.kind == "choice":
        return f.choices[0]
    if f.kind == "file":  # the text of a table with a column per joint, which a file of that ending may hold
        names = [j.name for j in here.robot.joints]
        return "\n".join([",".join(["t", *names]), *(",".join([f"{t}", *["0"] * len(names)]) for t in range(4)), ""])
    return {"flag": False, "whole number": 1, "whole numbers": [1], "constants": {}}.get(f.kind, "")

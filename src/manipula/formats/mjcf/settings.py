"""What stands above the bodies in an MJCF file: compiler settings, default classes, gravity; and orientations.

MJCF's conventions: angles are degrees unless ``<compiler angle="radian">``; ``eulerseq`` in lower case turns about axes that
move along, in upper case about fixed ones; attributes come from the element, else from its class, else from the nearest
``childclass`` above it, else from ``main``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import Pose
from manipula.errors import printable, unknown_name
from manipula.formats.mjcf.schema import schema
from manipula.formats.xml.reader import Element
from manipula.robot.robot import STANDARD_GRAVITY

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_ABOUT = {"x": rotation.about_x, "y": rotation.about_y, "z": rotation.about_z}


@dataclass
class Settings:
    """The compiler's switches that change the meaning of a body."""

    degrees: bool = True
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertia_from_geom: str = "auto"
    groups: tuple[float, float] = (0.0, 5.0)
    least_mass: float = 0.0  # boundmass, boundinertia: no body has less
    least_inertia: float = 0.0
    total_mass: float = 0.0  # settotalmass: all bodies are scaled to it, where positive
    balance: bool = False  # balanceinertia: moments that no body has become their mean
    fuse: bool = False  # fusestatic
    meshdir: str = ""
    strippath: bool = False
    gravity: tuple[float, ...] = STANDARD_GRAVITY
    damper: bool = True  # false: the file switches these forces off
    dry: bool = True
    spring: bool = True
    equality: bool = True
    clampctrl: bool = True
    notes: list[str] = field(default_factory=list)
    folder: Path | None = None  # of the model's file
    models: list[Settings] = field(default_factory=list, repr=False)  # those of the main file, then of attached models

    def __post_init__(self) -> None:
        self.models = self.models or [self]

    def of(self, element: Element) -> Settings:
        """The settings of the model that an element belongs to."""
        return self.models[element.model]

    def attach(self, root: Element, folder: Path) -> int:
        """Read the compiler of an attached model, whose options do not count; the number of that model."""
        options = {
            name: getattr(self, name) for name in ("gravity", "damper", "dry", "spring", "equality", "clampctrl")
        }
        own = Settings(**options, notes=self.notes, folder=folder, models=self.models)
        _read_compiler(root, own)
        self.models.append(own)
        return len(self.models) - 1

    def angle(self, value: float) -> float:
        return math.radians(value) if self.degrees else value

    def pose(self, element: Element) -> Pose:
        """``pos`` and one of ``quat axisangle xyaxes zaxis euler``."""
        return Pose.of(self.orientation(element), element.numbers("pos", 3, (0.0, 0.0, 0.0)))

    def between(self, element: Element) -> Pose:
        """``fromto``: half way between two points, z from the second to the first."""
        ends = np.array(element.numbers("fromto", 6))
        z = _unit(element, "fromto", ends[:3] - ends[3:])
        return Pose.of(_shortest_turn(z), (ends[:3] + ends[3:]) / 2)

    def orientation(self, element: Element) -> np.ndarray:
        own = self.of(element)
        given = [name for name in ORIENTATIONS if name in element.attributes]
        if len(given) > 1:
            element.fail(f"Only one orientation may be given, found {' and '.join(given)}.", given[1])
        if not given:
            return np.eye(3)
        count = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}[given[0]]
        values = np.array(element.numbers(given[0], count))
        match given[0]:
            case "quat":
                return rotation.from_quaternion_wxyz([float(v) for v in _unit(element, "quat", values)])
            case "axisangle":
                axis = _unit(element, "axisangle", values[:3])
                return rotation.about_axis([float(v) for v in axis], own.angle(float(values[3])))
            case "xyaxes":
                x = _unit(element, "xyaxes", values[:3])
                y = _unit(element, "xyaxes", values[3:] - (values[3:] @ x) * x)
                return np.column_stack([x, y, np.cross(x, y)])
            case "zaxis":
                return _shortest_turn(_unit(element, "zaxis", values))
        R = np.eye(3)
        for letter, value in zip(own.eulerseq, values):
            turn = _ABOUT[letter.lower()](own.angle(float(value)))
            R = R @ turn if letter.islower() else turn @ R
        return R


def _unit(element: Element, attribute: str, v: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(v))
    if length < 1e-10:
        element.fail("The direction is zero.", attribute)
    return v / length if abs(length - 1.0) > 1e-15 else v


def _shortest_turn(z: np.ndarray) -> np.ndarray:
    """The rotation of least angle that takes (0, 0, 1) to the unit vector ``z``; half a turn about x for (0, 0, −1)."""
    axis = np.array([-z[1], z[0], 0.0])
    sine = math.hypot(axis[0], axis[1])
    if sine < 1e-10:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return rotation.about_axis([float(v) for v in axis / sine], math.atan2(sine, float(z[2])))


def read_settings(root: Element, folder: Path | None) -> Settings:
    """The ``<compiler>`` and ``<option>`` sections, which may be repeated; later ones win."""
    s = Settings(folder=folder)
    _read_compiler(root, s)
    _read_options(root, s)
    return s


def _read_compiler(root: Element, s: Settings) -> None:
    for c in root.all("compiler"):
        c.choice("coordinate", ("local",), "local")
        s.degrees = c.choice("angle", ("degree", "radian"), "degree" if s.degrees else "radian") == "degree"
        s.autolimits = c.choice("autolimits", ("true", "false"), str(s.autolimits).lower()) == "true"
        s.inertia_from_geom = c.choice("inertiafromgeom", ("true", "false", "auto"), s.inertia_from_geom)
        s.eulerseq = c.get("eulerseq", s.eulerseq)
        if len(s.eulerseq) != 3 or not set(s.eulerseq) <= set("xyzXYZ"):
            c.fail(f"Three letters of xyzXYZ are needed, found '{printable(s.eulerseq, 20)}'.", "eulerseq")
        low, high = c.numbers("inertiagrouprange", 2, s.groups)
        s.groups = (low, high)
        s.least_mass = _not_negative(c, "boundmass", s.least_mass)
        s.least_inertia = _not_negative(c, "boundinertia", s.least_inertia)
        s.total_mass = c.number("settotalmass", s.total_mass)
        s.balance = c.choice("balanceinertia", ("true", "false"), str(s.balance).lower()) == "true"
        s.fuse = c.choice("fusestatic", ("true", "false"), str(s.fuse).lower()) == "true"
        s.strippath = c.choice("strippath", ("true", "false"), str(s.strippath).lower()) == "true"
        s.meshdir = c.get("meshdir", c.get("assetdir", s.meshdir)).replace("\\", "/")


def _read_options(root: Element, s: Settings) -> None:
    for option in root.all("option"):
        x, y, z = option.numbers("gravity", 3, s.gravity)
        s.gravity = (x, y, z)
        if any(option.number(name, 0.0) != 0 for name in ("density", "viscosity")):
            s.notes.append("the drag of the surrounding fluid is not modelled.")
        if option.get("actuatorgroupdisable", ""):
            s.notes.append("groups of actuators are disabled in the file; here they count.")
        for flag in option.all("flag"):
            _read_flag(flag, s)


def _not_negative(c: Element, name: str, usual: float) -> float:
    value = c.number(name, usual)
    if value < 0:
        c.fail(f"This bound must not be negative, found {value:g}.", name)
    return value


def _read_flag(flag: Element, s: Settings) -> None:
    """Forces that are switched off; flags beside these choose how MuJoCo computes, not what."""

    def off(name: str) -> bool:
        return flag.choice(name, ("enable", "disable"), "enable") == "disable"

    if off("gravity"):
        s.gravity = (0.0, 0.0, 0.0)
    if off("damper") or off("passive"):
        s.damper = False
    if off("spring") or off("passive"):
        s.spring = False
    if off("frictionloss") or off("constraint"):
        s.dry = False
    if off("equality") or off("constraint"):
        s.equality = False
    if off("clampctrl"):
        s.clampctrl = False
    for name, what in (("limit", "joint limits are"), ("actuation", "actuators are")):
        if off(name):
            s.notes.append(f"{what} disabled in the file; here they count.")


class Defaults:
    """Default classes: for each class the attributes that joints, geoms, sites … start from."""

    def __init__(self, root: Element) -> None:
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        todo: list[tuple[Element, str | None]] = [(d, None) for d in root.all("default")]
        todo.reverse()
        while todo:
            element, parent = todo.pop()
            name = element.get("class", "main" if parent is None else None)
            if parent is not None:
                if name in self.classes:
                    element.fail(f"The class '{printable(name, 60)}' is defined twice.", "class")
                self.classes[name] = {tag: dict(values) for tag, values in self.classes[parent].items()}
            elif name != "main":
                element.fail("The outermost default class is called 'main'.", "class")
            own = self.classes[name]
            for child in element.children:
                if child.tag != "default":
                    actuator = child.tag in schema().children["actuator"].children
                    values = own.setdefault("actuator" if actuator else child.tag, {})
                    values.update(_sizes(values, child.attributes))
                    if actuator and child.tag not in ("general", "motor"):
                        values["biastype"] = child.tag  # a <general> of this class is that servo
            todo.extend((child, name) for child in reversed(list(element.all("default"))))

    def adopt(self, other: Defaults, prefix: str, attach: Element) -> None:
        """Take the classes of an attached model over, under its prefix."""
        for name, values in other.classes.items():
            if prefix + name in self.classes:
                attach.fail(f"The class '{printable(prefix + name, 60)}' is defined twice.", "prefix")
            self.classes[prefix + name] = values

    def check(self, element: Element, attribute: str) -> str | None:
        """The class that ``class`` or ``childclass`` names, or ``None``."""
        name = element.attributes.get(attribute)
        if name is not None and name not in self.classes:
            raise unknown_name("class", name, self.classes, line=element.line, field=f"{element.tag}.{attribute}")
        return name

    def filled(self, element: Element, childclass: str | None, family: str | None = None) -> Element:
        """The element with the attributes of its class filled in; ``family`` is the tag that stands for it in ``<default>``."""
        name = self.check(element, "class") or childclass or "main"
        values = dict(self.classes[name].get(family or element.tag, {}))
        for group in (ORIENTATIONS, ("fromto",)):
            if any(o in element.attributes for o in group):
                values = {k: v for k, v in values.items() if k not in ORIENTATIONS and k != "fromto"}
        full = values | _sizes(values, element.attributes)
        return Element(element.tag, full, element.line, element.children, file=element.file, model=element.model)


def _sizes(above: Mapping[str, str], stated: dict[str, str]) -> dict[str, str]:
    """What an element or class states; sizes that it leaves out come from the class above it, one by one."""
    own, usual = stated.get("size", "").split(), above.get("size", "").split()
    return {**stated, "size": " ".join(own + usual[len(own) :])} if 0 < len(own) < len(usual) else stated


def contents(
    body: Element, childclass: str | None, settings: Settings, defaults: Defaults
) -> Iterator[tuple[Element, Pose, str | None]]:
    """What a body holds, in order, with ``<frame>`` s dissolved: element, pose of its frame in the body, class."""
    todo: list[tuple[Iterable[Any], Pose, str | None]] = [(iter(body.children), Pose(), childclass)]
    while todo:
        siblings, X_BF, inherited = todo[-1]
        element = next(siblings, None)  # pyright: ignore[reportCallIssue, reportArgumentType]
        if element is None:
            todo.pop()
        elif element.tag == "frame":
            inner = defaults.check(element, "childclass") or inherited
            todo.append((iter(element.children), X_BF @ settings.pose(element), inner))
        else:
            yield element, X_BF, inherited

"""MJCF (MuJoCo's XML) → Robot.

A body stands in its parent; its joints, in order, move it: a hinge with anchor a and axis u turns by ``q − ref``,
``X_PB(q) = X_PB · T(a) Rot(u, q − ref) T(−a) · …``. Bodies without a joint are fixed. Masses come from ``<inertial>`` only:
a moving body whose mass would have to be computed from its geoms is refused, not guessed. Free and ball joints,
springs, equality constraints and included files are refused with the reason. Sites become named frames.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.inertia import inertia_from_six
from manipula.algebra.pose import IDENTITY, Pose, translation
from manipula.errors import DescriptionError, UnphysicalError, printable
from manipula.formats.mjcf.actuators import read_actuators
from manipula.formats.mjcf.extension import restore
from manipula.formats.mjcf.schema import check_schema
from manipula.formats.mjcf.sections import check_sections, refuse_includes
from manipula.formats.mjcf.settings import Defaults, Settings, contents, read_settings
from manipula.formats.xml.draft import RobotDraft
from manipula.formats.xml.reader import Budget, Element, read_xml
from manipula.formats.xml.words import dissipation
from manipula.robot import Limits, Robot
from manipula.robot.build import MAX_LINKS, SHORTEST_AXIS, FrameDraft, JointDraft, LinkDraft, check_name

BUDGET = Budget(depth=MAX_LINKS + 24, counts={"body": MAX_LINKS})
WORLD = "world"
_REFUSED_JOINTS = {
    "free": "A free joint lets the body float; this package describes manipulators on a fixed base. Remove the joint to "
    "study the arm on its stand.",
    "ball": "A ball joint has three degrees of freedom that one number each cannot describe; replace it by three hinges.",
}
_REFUSED_CONTENT = {
    "attach": "Attached models are not read",
    "replicate": "Replicated bodies are not read",
    "composite": "Composite bodies are not read",
    "flexcomp": "Deformable bodies are not modelled",
    "plugin": "Plugins can apply any force and are not modelled",
}
_REWRITE = "Let MuJoCo write the plain model: mujoco.mj_saveLastXML('arm.xml', model)."


def read_mjcf(path: str | os.PathLike[str], tip: str | None = None) -> Robot:
    """The robot in an MJCF file."""
    return from_mjcf(Path(path), tip)


def from_mjcf(text_or_path: str | bytes | os.PathLike[str], tip: str | None = None) -> Robot:
    """The robot in MJCF text or in an MJCF file.

    Args:
        tip: name of the body or site that is the tip; the only leaf when omitted.

    Raises:
        DescriptionError: with file, line, element and attribute.
    """
    root, file = read_xml(text_or_path, BUDGET)
    try:
        draft = _Reader(root, file).read()
        return draft.build(tip)
    except DescriptionError as error:
        raise error.at(file=file) from None


class _Reader:
    """One pass over the bodies, without recursion: MJCF nests them as deep as the arm is long."""

    def __init__(self, root: Element, file: str | None) -> None:
        if root.tag != "mujoco":
            hint = " This is URDF." if root.tag == "robot" else ""
            root.fail(f"MJCF starts with <mujoco>, found <{printable(root.tag)}>.{hint}")
        refuse_includes(root)
        check_schema(root)
        self.root = root
        stem = Path(file).stem if file is not None else "robot"
        name = root.get("model", stem).strip() or stem
        self.draft = RobotDraft(check_name("robot", name, line=root.line, field="mujoco.model"))
        self.settings: Settings = read_settings(root)
        self.defaults = Defaults(root)
        self.contact = False
        self.numbers: dict[tuple[str, str], int] = {}
        self.names: dict[str, set[str]] = {"body": {WORLD}, "joint": set(), "site": set()}

    def read(self) -> RobotDraft:
        draft, settings = self.draft, self.settings
        check_sections(self.root, self.defaults, settings, draft.notes)
        draft.gravity = settings.gravity
        draft.notes += settings.notes
        self._collect_names()
        draft.links.append(LinkDraft(WORLD, described=False, line=self.root.line))
        todo: list[tuple[Element, str, Pose, str | None, bool]] = []
        for top in reversed(list(self.root.all("worldbody"))):
            todo.append((top, "", IDENTITY, None, False))
        while todo:
            element, parent, X_PF, childclass, moves = todo.pop()
            world = element.tag == "worldbody"
            if world:
                name = WORLD
            else:
                childclass = self.defaults.check(element, "childclass") or childclass
                name = self._name(element, "body", "body")
            inside = list(contents(element, childclass, settings, self.defaults))
            for item, _, _ in inside:
                if item.tag in _REFUSED_CONTENT:
                    item.fail(f"{_REFUSED_CONTENT[item.tag]}. {_REWRITE}")
                if world and item.tag in ("joint", "freejoint", "inertial"):
                    item.fail(f"The world body is fixed; <{item.tag}> is not allowed in it.")
            if not world:
                moves = self._body(element, name, parent, X_PF, inside, moves)
            self._sites(name, inside)
            self.contact = self.contact or any(item.tag == "geom" for item, _, _ in inside)
            children = [(item, name, X_BF, inherited, moves) for item, X_BF, inherited in inside if item.tag == "body"]
            todo.extend(reversed(children))
        if self.contact:
            draft.notes.append("geoms are not read: contact is not modelled.")
        read_actuators(self.root, self.defaults, settings, draft)
        restore(draft, self.root)
        return draft

    def _collect_names(self) -> None:
        """Names that are given, so that generated ones never collide; duplicates are refused."""
        todo = [child for world in self.root.all("worldbody") for child in reversed(world.children)]
        while todo:
            element = todo.pop()
            if element.tag in self.names and "name" in element.attributes:
                name = check_name(element.tag, element.get("name"), line=element.line, field=f"{element.tag}.name")
                if name in self.names[element.tag]:
                    element.fail(f"Two {element.tag} elements are named '{printable(name, 60)}'.", "name")
                self.names[element.tag].add(name)
            todo.extend(reversed(element.children))

    def _name(self, element: Element, kind: str, stem: str) -> str:
        return element.attributes.get("name") or self._fresh(kind, stem)

    def _fresh(self, kind: str, stem: str) -> str:
        number = self.numbers.get((kind, stem), 0)  # where the last search for this stem ended
        name = f"{stem}{number}" if number else stem
        while name in self.names[kind]:
            number += 1
            name = f"{stem}{number}"
        self.names[kind].add(name)
        self.numbers[kind, stem] = number
        return name

    def _body(self, element: Element, name: str, parent: str, X_PF: Pose, inside: list[Any], moves: bool) -> bool:
        """Append the body's link, and its joints with massless links between them; does it move?"""
        place: dict[str, Any] = {"line": element.line, "field": f"body '{printable(name, 60)}'"}
        if element.number("gravcomp", 0.0) != 0:
            element.fail("Gravity compensation is a force of its own and is not modelled; remove it.", "gravcomp")
        if element.choice("mocap", ("true", "false"), "false") == "true":
            self.draft.notes.append(f"body '{printable(name, 60)}' is a mocap body: here it is fixed.")
        joints = [(self.defaults.filled(j, inherited), X_BF) for j, X_BF, inherited in inside if j.tag == "joint"]
        for item, _, _ in inside:
            if item.tag == "freejoint":
                item.fail(_REFUSED_JOINTS["free"])
        moves = moves or bool(joints)
        link = self._link(name, inside, moves, place)
        X_PB = X_PF @ self.settings.pose(element)
        if not joints:
            weld = JointDraft(self._fresh("joint", f"{name}_fixed"), "fixed", parent, name, X_PB, **place)
            self.draft.joints.append(weld)
        for number, (joint, X_BF) in enumerate(joints, 1):
            last = number == len(joints)
            child = name if last else self._fresh("body", f"{name}_{number}")
            draft = self._joint(joint, X_BF, self._name(joint, "joint", f"{name}_joint"))
            draft.parent, draft.child, draft.origin = parent, child, X_PB @ draft.origin
            self.draft.joints.append(draft)
            self.draft.links.append(link if last else LinkDraft(child, described=False, **place))
            parent, X_PB = child, IDENTITY
        if not joints:
            self.draft.links.append(link)
        return moves

    def _joint(self, joint: Element, X_BF: Pose, name: str) -> JointDraft:
        place: dict[str, Any] = {"line": joint.line, "field": f"joint '{printable(name, 60)}'"}
        kind = joint.choice("type", ("hinge", "slide", "free", "ball"), "hinge")
        if kind in _REFUSED_JOINTS:
            raise DescriptionError(_REFUSED_JOINTS[kind], **place)
        if any(v != 0 for v in joint.numbers("stiffness", range(1, 6), (0.0,))) or "springdamper" in joint.attributes:
            joint.fail("A spring in the joint is not modelled; remove it.", "stiffness")
        hinge = kind == "hinge"
        axis = np.array(joint.numbers("axis", 3, (0.0, 0.0, 1.0)))
        length = float(np.linalg.norm(axis))
        if length < SHORTEST_AXIS:
            joint.fail(f"The axis of joint '{printable(name, 60)}' is zero.", "axis")
        axis = X_BF.R @ (axis / length if abs(length - 1.0) > 1e-15 else axis)
        anchor = X_BF.apply(joint.numbers("pos", 3, (0.0, 0.0, 0.0))) if hinge else np.zeros(3)
        ref = joint.number("ref", 0.0)
        ref = self.settings.angle(ref) if hinge else ref
        origin = translation(*anchor)
        if ref:
            unit = [float(v) for v in axis]
            origin = origin @ (Pose.of(rotation.about_axis(unit, -ref)) if hinge else translation(*(-ref * axis)))
        draft = JointDraft(name, "revolute" if hinge else "prismatic", "", "", origin, axis, **place)
        draft.frame = translation(*(-anchor))
        draft.limits = self._limits(joint, hinge)
        draft.rotor_inertia = joint.number("armature", 0.0)
        damping = joint.numbers("damping", range(1, 6), (0.0,))
        dry = joint.number("frictionloss", 0.0)
        if damping[0] < 0 or dry < 0:
            joint.fail("Damping and friction must not be negative: they would feed energy into the joint.")
        if any(damping[1:]):
            self.draft.notes.append(f"joint '{printable(name, 60)}': damping beyond the linear term left out.")
        draft.friction = dissipation(damping[0] * self.settings.damper, dry * self.settings.dry)
        return draft

    def _limits(self, joint: Element, hinge: bool) -> Limits:
        given: dict[str, float] = {}
        limited = joint.choice("limited", ("true", "false", "auto"), "auto")
        if limited == "auto":
            if "range" in joint.attributes and not self.settings.autolimits:
                joint.fail("With autolimits off a range needs limited='true' or 'false'.", "range")
            limited = "true" if "range" in joint.attributes else "false"
        if limited == "true":
            low, high = joint.numbers("range", 2, largest=math.inf)
            if (low, high) != (0.0, 0.0):  # MuJoCo: both zero means that no range is given
                given["lower"], given["upper"] = (self.settings.angle(v) if hinge else v for v in (low, high))
        if joint.choice("actuatorfrclimited", ("true", "false", "auto"), "auto") != "false":
            low, high = joint.numbers("actuatorfrcrange", 2, (0.0, 0.0), largest=math.inf)
            if (low, high) != (0.0, 0.0):
                given["effort"] = max(abs(low), abs(high))
        return Limits(**given)

    def _link(self, name: str, inside: list[Any], moves: bool, place: dict[str, Any]) -> LinkDraft:
        inertials = [(item, X_BF) for item, X_BF, _ in inside if item.tag == "inertial"]
        if len(inertials) > 1:
            inertials[1][0].fail("A second <inertial> in the same body.")
        heavy = next((g for g, _, c in inside if g.tag == "geom" and self._has_mass(self.defaults.filled(g, c))), None)
        from_geoms = self.settings.inertia_from_geom == "true" or not inertials
        if heavy is not None and from_geoms and moves:
            heavy.fail(
                f"Body '{printable(name, 60)}' has no <inertial> that counts, so its mass would have to be guessed from the "
                f"shape of this geom. State <inertial>, or let MuJoCo compute it: set <compiler saveinertial='true'/> and "
                "call mujoco.mj_saveLastXML('arm.xml', model).")  # fmt: skip
        if not inertials or (heavy is not None and from_geoms):
            return LinkDraft(name, described=False, **place)
        inertial, X_BF = inertials[0]
        mass = inertial.number("mass")
        if mass < 0:
            raise UnphysicalError(f"The mass must not be negative, found {mass:g}.", line=inertial.line, field="mass")
        X_FI = self.settings.pose(inertial)
        X_BI = X_BF @ X_FI
        if "fullinertia" in inertial.attributes:
            if "diaginertia" in inertial.attributes or X_FI.rotation != IDENTITY.rotation:
                inertial.fail("fullinertia is in the axes of its frame; it excludes diaginertia and an orientation.")
            inertia = inertia_from_six(*inertial.numbers("fullinertia", 6))
        else:
            inertia = np.diag(inertial.numbers("diaginertia", 3, (0.0, 0.0, 0.0)))
        if X_BI.rotation != IDENTITY.rotation:
            inertia = X_BI.R @ inertia @ X_BI.R.T
        inertial.get("pos")
        return LinkDraft(name, mass, X_BI.translation, (inertia + inertia.T) / 2, **place)

    def _has_mass(self, geom: Element) -> bool:
        """Would MuJoCo compute a mass from this geom?"""
        low, high = self.settings.groups
        if not low <= geom.number("group", 0.0) <= high or geom.get("type", "sphere") in ("plane", "hfield"):
            return False
        if "mass" in geom.attributes:
            return geom.number("mass") != 0
        return geom.number("density", 1000.0) != 0

    def _sites(self, body: str, inside: list[Any]) -> None:
        for site, X_BF, inherited in inside:
            if site.tag == "site" and site.attributes.get("name"):
                full = self.defaults.filled(site, inherited)
                name = site.get("name")
                if name in self.names["body"]:  # MJCF lets a site and a body share a name; frames may not
                    self.draft.notes.append(
                        f"site '{printable(name, 60)}' shares its name with a body: the body's counts."
                    )
                    continue
                pose = X_BF @ (self._between(full) if "fromto" in full.attributes else self.settings.pose(full))
                self.draft.frames.append(FrameDraft(name, body, pose, line=site.line, field="site"))

    def _between(self, site: Element) -> Pose:
        """``fromto``: half way between two points, z from the second to the first."""
        ends = np.array(site.numbers("fromto", 6))
        z = Element("site", {"zaxis": " ".join(repr(float(v)) for v in ends[:3] - ends[3:])}, site.line)
        return Pose.of(self.settings.orientation(z), (ends[:3] + ends[3:]) / 2)

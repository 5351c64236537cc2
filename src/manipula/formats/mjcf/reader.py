"""MJCF (MuJoCo's XML) → Robot.

A body stands in its parent; its joints, in order, move it: a hinge with anchor a and axis u turns by ``q − ref``,
``X_PB(q) = X_PB · T(a) Rot(u, q − ref) T(−a) · …``. Bodies without a joint are fixed. Masses come from
``<inertial>`` or from the geoms, see ``masses``. Free and ball joints and closed loops are refused with the reason. Sites become named frames.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose, translation
from manipula.errors import DescriptionError, printable
from manipula.formats.mjcf.actuators import read_actuators
from manipula.formats.mjcf.extension import restore
from manipula.formats.mjcf.include import join_includes
from manipula.formats.mjcf.masses import Masses, scale_total
from manipula.formats.mjcf.meshes import Meshes
from manipula.formats.mjcf.schema import check_schema
from manipula.formats.mjcf.sections import check_sections
from manipula.formats.mjcf.settings import Defaults, Settings, contents, read_settings
from manipula.formats.xml.draft import RobotDraft
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml
from manipula.formats.xml.words import dissipation
from manipula.robot import Limits, Robot
from manipula.robot.build import MAX_LINKS, FrameDraft, JointDraft, LinkDraft, check_name
from manipula.robot.drafts import SHORTEST_AXIS
from manipula.robot.drives import Spring
from manipula.robot.selection import EVERYTHING, Selection

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


def read_mjcf(path: str | os.PathLike[str], tip: str | None = None, selection: Selection = EVERYTHING) -> Robot:
    """The robot in an MJCF file."""
    return _built(Path(path), tip, selection)


def from_mjcf(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None = None, *, lock: Mapping[str, float] | None = None,
    drop: Sequence[str] | str | None = None, chain: tuple[str, str] | None = None,
) -> Robot:  # fmt: skip
    """The robot in MJCF text or in an MJCF file.

    Args:
        tip: name of the body or site that is the tip; the only leaf when omitted.
        lock, drop, chain: joints held still, branches left out (``load``).

    Raises:
        DescriptionError: with file, line, element and attribute.
    """
    return _built(text_or_path, tip, Selection.of(lock, drop, chain))


def _built(text_or_path: str | bytes | os.PathLike[str], tip: str | None, selection: Selection) -> Robot:
    spent = BudgetUsed()
    root, file = read_xml(text_or_path, BUDGET, spent)
    try:
        join_includes(root, file, BUDGET, spent)
        draft = _Reader(root, file).read()
        return draft.build(tip, selection)
    except DescriptionError as error:
        raise error.at(file=file) from None


class _Reader:
    """One pass over the bodies, without recursion: MJCF nests them as deep as the arm is long."""

    def __init__(self, root: Element, file: str | None) -> None:
        if root.tag != "mujoco":
            hint = " This is URDF." if root.tag == "robot" else ""
            root.fail(f"MJCF starts with <mujoco>, found <{printable(root.tag)}>.{hint}")
        check_schema(root)
        self.root = root
        stem = Path(file).stem if file is not None else "robot"
        name = root.get("model", stem).strip() or stem
        self.draft = RobotDraft(check_name("robot", name, line=root.line, field="mujoco.model"))
        self.settings: Settings = read_settings(root)
        self.defaults = Defaults(root)
        self.masses = Masses(self.settings, self.defaults, Meshes(root, file, self.settings, self.defaults))
        self.contact = False
        self.compensated: dict[str, float] = {}  # body → share of its weight that gravcomp takes away
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
        moving = {j.child for j in draft.joints if j.kind != "fixed"}
        for j in draft.joints:  # parents come first
            if j.parent in moving:
                moving.add(j.child)
        self._compensate({link.name for link in draft.links if link.name in moving and link.mass})
        scaled = scale_total(draft.links, moving, settings)
        draft.notes += [scaled] if scaled else []
        if self.masses.computed:
            shown = ", ".join(printable(n, 40) for n in self.masses.computed[:8])
            more = " …" if len(self.masses.computed) > 8 else ""
            draft.notes.append(
                f"mass and inertia of {len(self.masses.computed)} bodies come from their geoms: {shown}{more}."
            )
        if self.contact:
            draft.notes.append("contact of geoms is not modelled.")
        read_actuators(self.root, self.defaults, settings, draft)
        restore(draft, self.root)
        return draft

    def _compensate(self, heavy: set[str]) -> None:
        """``gravcomp`` c takes the share c of a body's weight away: the same for all is a smaller gravity."""
        shares = {self.compensated.get(name, 0.0) for name in heavy}
        if shares <= {0.0}:
            return
        if len(shares) > 1:
            names = sorted(n for n in heavy if self.compensated.get(n, 0.0) != 0)
            shown = ", ".join(printable(n, 40) for n in names[:8])
            raise DescriptionError(
                f"gravcomp takes the weight of some moving bodies away and not of others ({shown}); only the same share for all is "
                "modelled, as a smaller gravity. Give all the same, or none and a controller.", field="body.gravcomp")  # fmt: skip
        share = shares.pop()
        self.draft.gravity = tuple((1.0 - share) * g for g in self.draft.gravity)
        self.draft.notes.append(
            f"gravcomp={share:g} of every body: gravity is {1.0 - share:g} of what the file states."
        )

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
        self.compensated[name] = element.number("gravcomp", 0.0)
        if element.choice("mocap", ("true", "false"), "false") == "true":
            self.draft.notes.append(f"body '{printable(name, 60)}' is a mocap body: here it is fixed.")
        joints = [(self.defaults.filled(j, inherited), X_BF) for j, X_BF, inherited in inside if j.tag == "joint"]
        for item, _, _ in inside:
            if item.tag == "freejoint":
                item.fail(_REFUSED_JOINTS["free"])
        moves = moves or bool(joints)
        link = self.masses.link(name, element, inside, moves, place)
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
        draft.drive = self._spring(joint, hinge)
        return draft

    def _spring(self, joint: Element, hinge: bool) -> Spring | None:
        """τ = −k (q − springref): a drive, which acts in simulations."""
        if any(v != 0 for v in joint.numbers("springdamper", 2, (0.0, 0.0))):
            joint.fail(
                "MuJoCo computes stiffness and damping from springdamper and the mass matrix of the whole file; state stiffness and "
                "damping themselves, as in model.jnt_stiffness and model.dof_damping.", "springdamper")  # fmt: skip
        stiffness, *higher = joint.numbers("stiffness", range(1, 6), (0.0,))
        if any(higher):
            joint.fail("A spring beyond the linear term is not modelled.", "stiffness")
        if stiffness < 0:
            joint.fail(f"The stiffness must not be negative, found {stiffness:g}.", "stiffness")
        rest = joint.number("springref", 0.0)
        if stiffness == 0 or not self.settings.spring:
            return None
        self.draft.notes.append(
            "springs of joints act in simulations; the torques of a given motion are those without them."
        )
        return Spring(stiffness, self.settings.angle(rest) if hinge else rest)

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
                pose = X_BF @ (self.settings.between(full) if "fromto" in full.attributes else self.settings.pose(full))
                self.draft.frames.append(FrameDraft(name, body, pose, line=site.line, field="site"))

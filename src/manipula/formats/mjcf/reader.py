"""MJCF (MuJoCo's XML) → Robot.

A body stands in its parent; its joints, in order, move it: a hinge with anchor a and axis u turns by ``q − ref``,
``X_PB(q) = X_PB · T(a) Rot(u, q − ref) T(−a) · …``. Bodies without a joint are fixed. Masses come from
``<inertial>`` or from the geoms, see ``masses``. Joints may follow others, see ``equalities``. Free and ball joints and closed loops are refused
with the reason, unless the selection leaves them out. Sites become named frames.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, printable
from manipula.formats.mjcf.actuators import driven_joints, read_actuators
from manipula.formats.mjcf.attach import Expansion
from manipula.formats.mjcf.equalities import Equalities, fixed_tendons
from manipula.formats.mjcf.extension import restore, states_base
from manipula.formats.mjcf.gravcomp import Gravcomp
from manipula.formats.mjcf.include import join_includes
from manipula.formats.mjcf.joints import read_joint
from manipula.formats.mjcf.keyframes import read_keyframes
from manipula.formats.mjcf.masses import Masses, scale_total
from manipula.formats.mjcf.meshes import Meshes
from manipula.formats.mjcf.objects import FIXED_MOCAP, leave_objects
from manipula.formats.mjcf.schema import check_schema
from manipula.formats.mjcf.sections import check_sections
from manipula.formats.mjcf.settings import Defaults, Settings, contents, read_settings
from manipula.formats.mjcf.trusted_folder import TrustedFolder
from manipula.formats.mjcf.unmodelled import Unmodelled, without_unmodelled
from manipula.formats.mjcf.visuals import Visuals, touches
from manipula.formats.robot_draft import RobotDraft
from manipula.formats.xml.reader import Budget, BudgetUsed, Element, read_xml
from manipula.robot import Robot
from manipula.robot.build import MAX_LINKS, FrameDraft, JointDraft, LinkDraft, check_name
from manipula.robot.checks import MAX_FRAMES
from manipula.robot.selection import EVERYTHING, Selection

Folders = Sequence[str | os.PathLike[str]]
BUDGET = Budget(depth=MAX_LINKS + 24, counts={"body": MAX_LINKS, "site": MAX_FRAMES})
WORLD = "world"
_REFUSED_CONTENT = {
    "composite": "Composite bodies are not read",
    "flexcomp": "Deformable bodies are not modelled",
    "plugin": "Plugins can apply any force and are not modelled",
}
_JOINTS = ("joint", "freejoint")
_REWRITE = "Let MuJoCo write the plain model: mujoco.mj_saveLastXML('arm.xml', model)."


def read_mjcf(
    path: str | os.PathLike[str], tip: str | None = None, selection: Selection = EVERYTHING, package_dirs: Folders = ()
) -> Robot:
    """The robot in an MJCF file."""
    return _built(Path(path), tip, selection, package_dirs)


def from_mjcf(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None = None, *, lock: Mapping[str, float] | None = None,
    drop: Sequence[str] | str | None = None, chain: tuple[str, str] | None = None, package_dirs: Folders = (),
) -> Robot:  # fmt: skip
    """The robot in MJCF text or in an MJCF file.

    Args:
        tip: name of the body or site that is the tip; the only leaf when omitted.
        lock, drop, chain: joints held still, branches left out (``load``).
        package_dirs: folders above the file, inside which included files, models and meshes may lie too.

    Raises:
        DescriptionError: with file, line, element and attribute.
    """
    return _built(text_or_path, tip, Selection.of(lock, drop, chain), package_dirs)


def _built(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None, selection: Selection, package_dirs: Folders
) -> Robot:
    spent = BudgetUsed()
    root, file = read_xml(text_or_path, BUDGET, spent)
    try:
        trusted = TrustedFolder.of(file, package_dirs)
        join_includes(root, file, trusted, BUDGET, spent)
        reader = _Reader(root, file, trusted, spent)
        draft = reader.read(selection)
        return without_unmodelled(draft.build(tip, selection), reader.unmodelled, reader.weights)
    except DescriptionError as error:
        raise error.at(file=file) from None


class _Reader:
    """One pass over the bodies, without recursion: MJCF nests them as deep as the arm is long."""

    def __init__(self, root: Element, file: str | None, trusted: TrustedFolder | None, spent: BudgetUsed) -> None:
        if root.tag != "mujoco":
            hint = " This is URDF." if root.tag == "robot" else ""
            root.fail(f"MJCF starts with <mujoco>, found <{printable(root.tag)}>.{hint}")
        check_schema(root)
        self.root = root
        stem = Path(file).stem if file is not None else "robot"
        name = root.get("model", stem).strip() or stem
        self.draft = RobotDraft(check_name("robot", name, line=root.line, field="mujoco.model"))
        self.settings: Settings = read_settings(root, trusted and trusted.main)
        self.defaults = Defaults(root)
        Expansion(trusted, BUDGET, spent, self.settings, self.defaults, self.draft.notes).expand(root)
        meshes = Meshes(root, trusted, self.settings, self.defaults)
        self.masses = Masses(self.settings, self.defaults, meshes)
        self.visuals = Visuals(root, self.settings, self.defaults, meshes)
        self.contact = False
        self.weights = Gravcomp(passive=self.settings.spring or self.settings.damper)
        self.unmodelled: list[Unmodelled] = []
        self.mocap: set[str] = set()
        self.refs: dict[str, float] = {}  # joint → its position while the body stands as the file says
        self.order: list[tuple[str, str]] = []  # joints with their kinds, as qpos counts them
        self.numbers: dict[tuple[str, str], int] = {}
        self.names: dict[str, set[str]] = {"body": {WORLD}, "joint": set(), "site": set()}
        self.grounded = states_base(root)

    def read(self, selection: Selection = EVERYTHING) -> RobotDraft:
        draft, settings = self.draft, self.settings
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
            self.visuals.body(name, world, inside)
            self.contact = self.contact or any(item.tag == "geom" and touches(item) for item, _, _ in inside)
            children = [(item, name, X_BF, inherited, moves) for item, X_BF, inherited in inside if item.tag == "body"]
            todo.extend(reversed(children))
        self._finish_masses()
        if self.contact:
            draft.notes.append("contact of geoms is not modelled.")
        draft.postures = read_keyframes(self.root, self.order, self.refs)
        tendons = fixed_tendons(self.root, {j.name: j for j in draft.joints if j.moves})
        self.unmodelled += check_sections(self.root, self.defaults, settings, tendons, draft)
        equalities = Equalities(draft, self.refs, driven_joints(self.root), tendons, self.mocap)
        equalities.read(self.root, self.defaults, settings)
        self.unmodelled += equalities.unmodelled
        read_actuators(self.root, self.defaults, settings, draft, tendons)
        leave_objects(draft.links, draft.joints, draft.frames, selection, draft.notes)
        draft.show(self.visuals.looks)
        restore(draft, self.root)
        draft.notes[:] = list(dict.fromkeys(draft.notes))
        return draft

    def _finish_masses(self) -> None:
        """``settotalmass``, bodies that could not be weighed, and those whose weight ``gravcomp`` takes away."""
        draft, masses = self.draft, self.masses
        moving = {j.child for j in draft.joints if j.moves}
        for j in draft.joints:  # parents come first
            if j.parent in moving:
                moving.add(j.child)
        if masses.unweighed and self.settings.total_mass > 0:
            raise next(iter(masses.unweighed.values()))
        self.unmodelled += [Unmodelled(error, link=name) for name, error in masses.unweighed.items()]
        scaled = scale_total(draft.links, moving, self.settings)
        draft.notes += [scaled] if scaled else []
        self.weights.balance(draft.links)
        if masses.computed:
            shown = ", ".join(printable(n, 40) for n in masses.computed[:8]) + (
                " …" if len(masses.computed) > 8 else ""
            )
            draft.notes.append(f"mass and inertia of {len(masses.computed)} bodies come from their geoms: {shown}.")

    def _collect_names(self) -> None:
        """Names that are given, so that generated ones never collide; duplicates are refused."""
        todo = [child for world in self.root.all("worldbody") for child in reversed(world.children)]
        while todo:
            element = todo.pop()
            kind = "joint" if element.tag in _JOINTS else element.tag
            if kind in self.names and "name" in element.attributes:
                name = check_name(kind, element.get("name"), line=element.line, field=f"{element.tag}.name")
                if name in self.names[kind]:
                    element.fail(f"Two {kind} elements are named '{printable(name, 60)}'.", "name")
                self.names[kind].add(name)
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
        self.weights.shares[name] = element.number("gravcomp", 0.0)
        if element.choice("mocap", ("true", "false"), "false") == "true":
            self.mocap.add(name)
            self.draft.notes.append(FIXED_MOCAP.format(printable(name, 60)))
        joints = [(self._filled_joint(j, inherited), X_BF) for j, X_BF, inherited in inside if j.tag in _JOINTS]
        moves = moves or bool(joints)
        link = self.masses.link(name, element, inside, moves, place)
        X_PB = X_PF @ self.settings.pose(element)
        if not joints:
            weld = JointDraft(self._fresh("joint", f"{name}_fixed"), "fixed", parent, name, X_PB, **place)
            self.draft.joints.append(weld)
        for number, (joint, X_BF) in enumerate(joints, 1):
            last = number == len(joints)
            child = name if last else self._fresh("body", f"{name}_{number}")
            own = self._name(joint, "joint", f"{name}_joint")
            draft, self.refs[own] = read_joint(joint, X_BF, own, self.settings, self.draft.notes)
            self.order.append((own, draft.kind))
            if joint.choice("actuatorgravcomp", ("true", "false"), "false") == "true":
                self.weights.by_motors.add(own)
            draft.parent, draft.child, draft.origin = parent, child, X_PB @ draft.origin
            self.draft.joints.append(draft)
            self.draft.links.append(link if last else LinkDraft(child, described=False, between=True, **place))
            parent, X_PB = child, IDENTITY
        if not joints:
            self.draft.links.append(link)
        return moves

    def _filled_joint(self, joint: Element, inherited: str | None) -> Element:
        return self.defaults.filled(joint, inherited) if joint.tag == "joint" else joint

    def _sites(self, body: str, inside: list[Any]) -> None:
        for site, X_BF, inherited in inside:
            if site.tag == "site" and site.attributes.get("name"):
                full = self.defaults.filled(site, inherited)
                name = site.get("name")
                if name in self.names["body"] - {
                    WORLD if self.grounded else ""
                }:  # MJCF lets a site and a body share a name; frames may not
                    self.draft.notes.append(
                        f"site '{printable(name, 60)}' shares its name with a body: the body's counts."
                    )
                    continue
                pose = X_BF @ (self.settings.between(full) if "fromto" in full.attributes else self.settings.pose(full))
                self.draft.frames.append(FrameDraft(name, body, pose, line=site.line, field="site"))

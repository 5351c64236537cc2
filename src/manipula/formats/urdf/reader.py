"""URDF → Robot.

URDF's conventions: a joint's frame is its child's link frame; ``rpy`` is roll, pitch, yaw about fixed axes; the inertia is
about the centre of mass, in the axes of ``<inertial><origin>`` (here turned into link axes); the default axis is x.
Floating, planar and mimic joints and unexpanded xacro are refused with the reason; what is not read (safety controllers, extensions
of other programs, coupled transmissions) stands in the notes. Visual shapes become the appearance; meshes are never opened.
What URDF cannot say is read from ``<manipula>`` elements that ``to_urdf`` writes and other programs ignore.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from manipula.algebra.inertia import inertia_from_six
from manipula.errors import DescriptionError, UnphysicalError, printable, unknown_name
from manipula.formats.appearance import Looks
from manipula.formats.guard import check_reference
from manipula.formats.robot_draft import RobotDraft, what_to_do
from manipula.formats.urdf.extension import restore
from manipula.formats.urdf.origins import origin_of
from manipula.formats.urdf.transmissions import read_transmissions
from manipula.formats.urdf.visuals import read_visuals
from manipula.formats.xml.reader import Budget, Element, read_xml
from manipula.formats.xml.unread import Unread
from manipula.formats.xml.words import apply_words, dissipation
from manipula.robot import Limits, Robot
from manipula.robot.build import MAX_LINKS, JointDraft, LinkDraft, check_name
from manipula.robot.selection import EVERYTHING, Selection

BUDGET = Budget(depth=24, counts={"link": MAX_LINKS})
KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
_REFUSED = {
    "floating": "A floating joint has six degrees of freedom; this package describes manipulators on a fixed base.",
    "planar": "A planar joint has three degrees of freedom, which one number cannot describe.",
}
_IN_LINK = ("inertial", "visual", "collision")
_IN_INERTIAL = ("origin", "mass", "inertia")
_IN_JOINT = (
    "origin",
    "parent",
    "child",
    "axis",
    "calibration",
    "dynamics",
    "limit",
    "mimic",
    "safety_controller",
    "manipula",
)
_SECTIONS = ("link", "joint", "material", "transmission", "manipula")
_LIMITS = ("lower", "upper", "effort", "velocity", "acceleration", "jerk")
_XACRO = (
    "This is a xacro file, not URDF. If you trust it, give it the suffix .xacro and load(path, xacro=True); or expand it first: "
    "`xacro FILE > arm.urdf` (ROS), or `pip install xacrodoc` and `xacrodoc FILE -o arm.urdf`."
)


def read_urdf(
    text_or_path: str | os.PathLike[str], tip: str | None = None, selection: Selection = EVERYTHING,
    package_dirs: Sequence[str | os.PathLike[str]] = (), folder: Path | None = None,
) -> Robot:  # fmt: skip
    """The robot in URDF text or in a URDF file, as far as it is selected; ``folder`` is where a text came from."""
    return _built(text_or_path, tip, False, selection, package_dirs, folder)


def from_urdf(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None = None, *, check_meshes: bool = False,
    lock: Mapping[str, float] | None = None, drop: Sequence[str] | str | None = None, chain: tuple[str, str] | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Robot:  # fmt: skip
    """The robot in URDF text or in a URDF file.

    Args:
        tip: name of the link that is the tip; the only leaf when omitted.
        check_meshes: refuse mesh paths that climb out of their folder; else they are noted (no mesh is opened either way).
        lock, drop, chain: joints held still, branches left out (``load``).
        package_dirs: where the packages of meshes lie, before those of ROS.

    Raises:
        DescriptionError: with file, line, element and attribute.
    """
    return _built(text_or_path, tip, check_meshes, Selection.of(lock, drop, chain), package_dirs)


def _built(
    text_or_path: str | bytes | os.PathLike[str], tip: str | None, check_meshes: bool, selection: Selection,
    package_dirs: Sequence[str | os.PathLike[str]] = (), folder: Path | None = None,
) -> Robot:  # fmt: skip
    root, file = read_xml(text_or_path, BUDGET)
    try:
        draft = _read(root, check_meshes)
        looks = Looks(folder if file is None else Path(file).parent, package_dirs)
        read_visuals(root, looks)
        draft.show(looks)
        return draft.build(tip, selection)
    except DescriptionError as error:
        raise error.at(file=file) from None


def _read(root: Element, check_meshes: bool) -> RobotDraft:
    meshes = list(_inspect(root))
    if root.tag != "robot":
        hint = {
            "mujoco": " This is MJCF.",
            "sdf": " This is SDF; its files end in .sdf.",
            "COLLADA": " This is a mesh.",
        }
        root.fail(f"URDF starts with <robot>, found <{printable(root.tag)}>.{hint.get(root.tag, '')}")
    draft = RobotDraft(check_name("robot", root.get("name"), line=root.line, field="robot.name"))
    unread = Unread()
    for section in root.children:
        if section.tag == "link":
            draft.links.append(_link(section, draft.notes, unread))
        elif section.tag == "joint":
            draft.joints.append(_joint(section, draft.notes, unread))
        elif section.tag not in _SECTIONS:
            close = difflib.get_close_matches(section.tag.lower(), ("link", "joint"), n=1, cutoff=0.75)
            if close:
                section.fail(f"Unknown element <{printable(section.tag)}>. Did you mean <{close[0]}>?")
            unread.counts[f"<{printable(section.tag)}>"] += 1
    draft.notes += unread.notes("URDF")
    _meshes(meshes, check_meshes, draft.notes)
    read_transmissions(root, draft)
    extension = root.one("manipula")
    if extension is not None:
        restore(draft, extension)
    return draft


def _meshes(meshes: list[Element], refuse: bool, notes: list[str]) -> None:
    """Tell how many meshes are named, and whose path leaves the folder: no error while nothing opens them."""
    outside: list[str] = []
    for mesh in meshes:
        try:
            check_reference(mesh.get("filename"))
        except DescriptionError as error:
            if refuse:
                raise error.at(line=mesh.line, field="mesh.filename") from None
            outside.append(mesh.get("filename"))
    if meshes:
        notes.append(
            f"{len(meshes)} {'mesh is' if len(meshes) == 1 else 'meshes are'} named: for pictures, no mass comes from {'it' if len(meshes) == 1 else 'them'}."
        )
    if outside:
        notes.append(
            f"{len(outside)} of the mesh paths lead out of the folder of the description ('{printable(outside[0], 60)}'); "
            "nothing opens them.")  # fmt: skip


def _inspect(root: Element) -> Iterator[Element]:
    """Every mesh in the tree; xacro left anywhere is refused."""
    todo = [root]
    while todo:
        e = todo.pop()
        if e.tag.startswith("xacro:") or any("${" in v or "$(" in v for v in e.attributes.values()):
            e.fail(_XACRO)
        if e.tag == "mesh" and "filename" in e.attributes:
            yield e
        todo.extend(e.children)


def _link(element: Element, notes: list[str], unread: Unread) -> LinkDraft:
    name = check_name("link", element.get("name"), line=element.line, field="link.name")
    place: dict[str, Any] = {"line": element.line, "field": f"link '{printable(name, 60)}'"}
    unread.children(element, _IN_LINK)
    inertials = list(element.all("inertial"))
    if len(inertials) > 1:  # as urdfdom and everything above it reads the file
        notes.append(
            f"link '{printable(name, 60)}', line {inertials[1].line}: of {len(inertials)} <inertial> elements the first counts, "
            "the others are ignored.")  # fmt: skip
    inertial = inertials[0] if inertials else None
    if inertial is None:
        return LinkDraft(name, described=False, **place)
    unread.children(inertial, _IN_INERTIAL)
    place["line"] = inertial.line
    mass = inertial.need("mass").number("value")
    if mass < 0:
        raise UnphysicalError(f"The mass must not be negative, found {mass:g}.", line=inertial.line, field="mass.value")
    tensor = inertial.need("inertia")
    six = [tensor.number(entry) for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
    return LinkDraft.with_inertial_frame(name, mass, origin_of(inertial), inertia_from_six(*six), **place)


def _joint(element: Element, notes: list[str], unread: Unread) -> JointDraft:
    name = check_name("joint", element.get("name"), line=element.line, field="joint.name")
    place: dict[str, Any] = {"line": element.line, "field": f"joint '{printable(name, 60)}'"}
    unread.children(element, _IN_JOINT)
    stated = element.get("type").strip()
    if stated not in KINDS and stated not in _REFUSED:
        raise unknown_name("joint type", stated, (*KINDS, *_REFUSED), **place)
    draft = JointDraft(
        name,
        KINDS.get(stated, stated),
        element.need("parent").get("link"),
        element.need("child").get("link"),
        origin=origin_of(element),
        **place,
    )
    mimic = element.one("mimic")
    if stated in _REFUSED:
        draft.refusal = f"{_REFUSED[stated]} {what_to_do(draft)}"
        return draft
    if draft.kind == "fixed":
        if mimic is not None:
            notes.append(f"joint '{printable(name, 60)}' is fixed; its <mimic> does nothing.")
        return draft
    if mimic is not None:
        mimic.expect(("joint", "multiplier", "offset"))
        draft.follows = mimic.get("joint")
        draft.ratio, draft.offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    axis = element.one("axis")
    draft.axis = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3)
    draft.limits = _limits(element, stated, notes, unread)
    if element.one("safety_controller") is not None:
        unread.soft_limits.append(name)
    dynamics = element.one("dynamics")
    if dynamics is not None:
        unread.attributes(dynamics, ("damping", "friction"))
        damping, dry = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
        if damping < 0 or dry < 0:
            dynamics.fail("Damping and friction must not be negative: they would feed energy into the joint.")
        draft.friction = dissipation(damping, dry)
    extension = element.one("manipula")
    if extension is not None:
        apply_words(draft, {k: v for k, v in extension.attributes.items() if k != "frame"}, **place)
    return draft


def _limits(joint: Element, stated: str, notes: list[str], unread: Unread) -> Limits:
    limit = joint.one("limit")
    if limit is None:
        return Limits()
    unread.attributes(limit, _LIMITS)
    given: dict[str, Any] = {name: limit.number(name, largest=math.inf) for name in _LIMITS if name in limit.attributes}
    if stated == "continuous":
        given.pop("lower", None)
        given.pop("upper", None)
    elif ("lower" in given) != ("upper" in given):  # URDF: the one that is missing is zero
        given = {"lower": 0.0, "upper": 0.0} | given
    elif "lower" not in given:
        notes.append(f"line {limit.line}: no position limits are stated.")
    return Limits(**given)

"""``<model>``: links, joints and frames as drafts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from manipula.algebra.inertia import inertia_from_six
from manipula.algebra.pose import IDENTITY
from manipula.errors import UnphysicalError, printable, unknown_name
from manipula.formats.appearance import Looks
from manipula.formats.mjcf.joints import SPRINGS
from manipula.formats.robot_draft import RobotDraft, what_to_do
from manipula.formats.sdf.poses import MODEL, ROOT, Node, Poses, attached_link
from manipula.formats.sdf.values import flag, flag_in, limit_in, name_in, number_in, numbers_of, pose_of
from manipula.formats.sdf.visuals import read_visuals
from manipula.formats.xml.reader import Element
from manipula.formats.xml.unread import Unread
from manipula.formats.xml.words import dissipation
from manipula.robot import Limits
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, check_name
from manipula.robot.drives import Spring

WORLD = "world"
KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
_REFUSED = {
    "ball": "A ball joint has three degrees of freedom; replace it by three revolute joints.",
    "universal": "A universal joint has two degrees of freedom; replace it by two revolute joints.",
    "revolute2": "A joint of type revolute2 has two degrees of freedom; replace it by two revolute joints.",
    "gearbox": "A gearbox closes a loop between two links; <mimic> couples a joint to another.",
    "screw": "A screw couples a turn with a slide in one joint, which is not modelled.",
}
_IN_MIMIC = ("multiplier", "offset", "reference")
_IN_MODEL = ("static", "self_collide", "allow_auto_disable", "enable_wind", "pose", "frame", "link", "joint", "plugin", "gripper",
             "include", "model")  # fmt: skip
_IN_LINK = ("pose", "inertial", "visual", "collision", "gravity", "kinematic", "self_collide", "enable_wind", "velocity_decay",
            "must_be_base_link", "sensor", "light", "projector", "audio_sink", "audio_source", "battery", "particle_emitter")  # fmt: skip
_IN_INERTIAL = ("pose", "mass", "inertia", "density", "auto_inertia_params", "fluid_added_mass")
_IN_JOINT = ("pose", "parent", "child", "axis", "axis2", "physics", "sensor", "gearbox_ratio", "gearbox_reference_body",
             "thread_pitch", "screw_thread_pitch", "drake:rotor_inertia", "drake:gear_ratio", "drake:mimic")  # fmt: skip
_IN_AXIS = ("xyz", "use_parent_model_frame", "dynamics", "limit", "mimic", "initial_position")
_IN_DYNAMICS = ("damping", "friction", "spring_reference", "spring_stiffness")
_IN_LIMIT = ("lower", "upper", "effort", "velocity", "stiffness", "dissipation")
_NOT_READ = ("collision", "sensor", "plugin", "light", "projector", "gripper", "battery", "particle_emitter")


def read_model(model: Element, version: tuple[int, int], looks: Looks) -> RobotDraft:
    """What one model says; its shapes go into ``looks``."""
    draft = RobotDraft(check_name("robot", model.get("name"), line=model.line, field="model.name"))
    if flag_in(model, "static"):
        model.fail("This model is static: none of its joints moves. Remove <static> to let them.")
    unread = Unread()
    unread.children(model, _IN_MODEL)
    sdf = _SdfModel(model, version, draft, unread)
    sdf.read()
    read_visuals(model, sdf.poses, looks)
    draft.show(looks)
    draft.notes += unread.notes("SDF")
    return draft


class _SdfModel:
    def __init__(self, model: Element, version: tuple[int, int], draft: RobotDraft, unread: Unread) -> None:
        self.model, self.version, self.draft, self.unread = model, version, draft, unread
        self.poses = Poses()
        self.attached: dict[str, str] = {}  # frames and joints: on which link, joint or frame they hang

    def read(self) -> None:
        draft, model = self.draft, self.model
        draft.links = [self._link(e) for e in model.all("link")]
        self.names = {link.name for link in draft.links}
        if not draft.links:
            model.fail("No link is described; a robot needs at least one.")
        for e in model.all("frame"):
            self._frame(e)
        first = draft.links[0].name
        self.attached[MODEL] = model.attributes.get("canonical_link") or first  # the model's frame hangs on that link
        for e in model.all("joint"):
            name = check_name("joint", e.get("name"), line=e.line, field="joint.name")
            self.poses.add("joint", name, e, self._end(e, "child"))
            self.attached.setdefault(name, name_in(e, "child"))
        draft.joints = [self._joint(e) for e in model.all("joint")]
        for e in model.all("frame"):
            self._place_frame(e)
        self._place_model()
        left = [f"{count} <{tag}>" for tag, count in _tags(model).items() if tag in _NOT_READ]
        if left:
            draft.notes.append(f"Not read: {', '.join(left)}.")

    def _link(self, element: Element) -> LinkDraft:
        name = check_name("link", element.get("name"), line=element.line, field="link.name")
        if name == WORLD and self.version >= (1, 7):
            element.fail("No link can be called 'world': that is what the robot stands on.", "name")
        self.unread.children(element, _IN_LINK)
        self.poses.add("link", name, element, ROOT)
        if not flag_in(element, "gravity", True):
            element.fail("A link that gravity does not pull is not modelled.")
        if flag_in(element, "kinematic"):
            element.fail("A kinematic link moves by itself and not by forces; that is not modelled.")
        decay = element.one("velocity_decay")
        if decay is not None:
            self.draft.notes.append(f"{element.label}: <velocity_decay> is not modelled.")
        return self._body(element, name)

    def _body(self, element: Element, name: str) -> LinkDraft:
        place: dict[str, Any] = {"line": element.line, "field": f"link '{printable(name, 60)}'"}
        inertial = element.one("inertial")
        if inertial is None:
            self.draft.notes.append(
                f"{element.label} has no <inertial>: SDF's default, 1 kg and 1 kg·m² about each axis, is taken.")  # fmt: skip
            return LinkDraft(name, 1.0, inertia=inertia_from_six(1.0, 1.0, 1.0, 0.0, 0.0, 0.0), **place)
        place["line"] = inertial.line
        self.unread.children(inertial, _IN_INERTIAL)
        if flag(inertial, inertial.get("auto", "false"), "auto"):
            inertial.fail("Mass and inertia from collision shapes are not computed for SDF; state them.", "auto")
        added = inertial.one("fluid_added_mass")
        if added is not None and any(numbers_of(e, 1)[0] for e in added.children):
            added.fail("The added mass of a fluid is not modelled.")
        pose = inertial.one("pose")
        if pose is not None and pose.attributes.get("relative_to"):
            pose.fail("The pose of an <inertial> stands in the link's own frame.", "relative_to")
        mass = number_in(inertial, "mass", 1.0)
        if mass < 0:
            raise UnphysicalError(f"The mass must not be negative, found {mass:g}.", line=inertial.line, field="mass")
        tensor = inertial.one("inertia")
        six = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
        if tensor is not None:
            entries = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            self.unread.children(tensor, entries)
            six = tuple(number_in(tensor, entry, usual) for entry, usual in zip(entries, six))
        return LinkDraft.with_inertial_frame(name, mass, pose_of(pose), inertia_from_six(*six), **place)

    def _frame(self, element: Element) -> None:
        name = check_name("frame", element.get("name"), line=element.line, field="frame.name")
        if name in self.attached:
            element.fail(f"Two frames are named '{printable(name)}'.", "name")
        element.expect(("name", "attached_to"))
        to = element.attributes.get("attached_to") or MODEL
        self.attached[name] = to
        self.poses.add("frame", name, element, to)

    def _end(self, joint: Element, which: str) -> str | Node:
        """The link or frame at one end of a joint."""
        name = name_in(joint, which)
        if name == WORLD and WORLD not in self.attached and WORLD not in self.names:
            return ROOT if which == "parent" else joint.fail("The world cannot be the child of a joint.", which)
        return ("link", name) if name in self.names else name

    def _joint(self, element: Element) -> JointDraft:
        name = element.get("name")
        place: dict[str, Any] = {"line": element.line, "field": f"joint '{printable(name, 60)}'"}
        self.unread.children(element, _IN_JOINT)
        stated = element.get("type").strip()
        if stated not in KINDS and stated not in _REFUSED:
            raise unknown_name("joint type", stated, (*KINDS, *_REFUSED), **place)
        J: Node = ("joint", name)
        parent, child = self._link_of(element, "parent"), self._link_of(element, "child")
        P = ROOT if parent == WORLD and WORLD not in self.names else ("link", parent)
        draft = JointDraft(
            name, KINDS.get(stated, stated), parent, child, origin=self.poses.between(P, J),
            frame=self.poses.between(J, ("link", child)), **place,
        )  # fmt: skip
        if stated in _REFUSED:
            draft.refusal = f"{_REFUSED[stated]} {what_to_do(draft)}"
        elif draft.kind != "fixed":
            self._axis(element, J, stated, draft)
            self._mimic(element, draft)
        return draft

    def _link_of(self, joint: Element, which: str) -> str:
        end = self._end(joint, which)
        if end == ROOT:
            if all(link.name != WORLD for link in self.draft.links):
                self.draft.links.append(LinkDraft(WORLD, described=False))
            return WORLD
        return end[1] if isinstance(end, tuple) else attached_link(end, self.attached, self.names, joint)

    def _axis(self, joint: Element, J: Node, stated: str, draft: JointDraft) -> None:
        axis = joint.need("axis")
        self.unread.children(axis, _IN_AXIS)
        xyz = axis.one("xyz")
        draft.axis = (0.0, 0.0, 1.0) if xyz is None else numbers_of(xyz, 3)
        seen_from = None if xyz is None else xyz.attributes.get("expressed_in")
        if flag_in(axis, "use_parent_model_frame", self.version < (1, 5)):
            seen_from = seen_from or MODEL
        if seen_from:
            X_JF = self.poses.between(J, self.poses.node(seen_from, axis))
            if X_JF.rotation != IDENTITY.rotation:
                draft.axis = X_JF.R @ draft.axis
        draft.limits = self._limits(axis, stated)
        dynamics = axis.one("dynamics")
        if dynamics is not None:
            self.unread.children(dynamics, _IN_DYNAMICS)
            stiffness = number_in(dynamics, "spring_stiffness", 0.0)
            if stiffness < 0:
                dynamics.fail(f"The stiffness must not be negative, found {stiffness:g}.")
            if stiffness:
                draft.drive = Spring(stiffness, number_in(dynamics, "spring_reference", 0.0))
                self.draft.notes.append(SPRINGS)
            damping, dry = number_in(dynamics, "damping", 0.0), number_in(dynamics, "friction", 0.0)
            if damping < 0 or dry < 0:
                dynamics.fail("Damping and friction must not be negative: they would feed energy into the joint.")
            draft.friction = dissipation(damping, dry)
        draft.rotor_inertia = number_in(joint, "drake:rotor_inertia", 0.0)
        draft.gear_ratio = number_in(joint, "drake:gear_ratio", 1.0)

    def _mimic(self, joint: Element, draft: JointDraft) -> None:
        """SDF: ``q = multiplier · (q_leader − reference) + offset``; Drake's own element has no reference."""
        mimic, drake = joint.need("axis").one("mimic"), joint.one("drake:mimic")
        if mimic is not None and drake is not None:
            drake.fail("A second <mimic> of the same joint.")
        if mimic is not None:
            self.unread.children(mimic, _IN_MIMIC)
            if mimic.get("axis", "axis") != "axis":
                mimic.fail("Joints have one axis here; axis2 cannot be followed.", "axis")
            draft.follows = mimic.get("joint")
            draft.ratio = number_in(mimic, "multiplier", 1.0)
            draft.offset = number_in(mimic, "offset", 0.0) - draft.ratio * number_in(mimic, "reference", 0.0)
        elif drake is not None:
            drake.expect(("joint", "multiplier", "offset"))
            draft.follows = drake.get("joint")
            draft.ratio, draft.offset = drake.number("multiplier", 1.0), drake.number("offset", 0.0)

    def _limits(self, axis: Element, stated: str) -> Limits:
        limit = axis.one("limit")
        if limit is None:
            return Limits()
        self.unread.children(limit, _IN_LIMIT)
        given = {word: limit_in(limit, word) for word in ("lower", "upper", "velocity", "effort")}
        if stated == "continuous":
            given["lower"] = given["upper"] = None
        for word in ("velocity", "effort"):
            if (given[word] or 0.0) < 0:  # SDF's word for none
                given[word] = None
        return Limits(**given)

    def _place_frame(self, element: Element) -> None:
        name = element.get("name")
        link = attached_link(name, self.attached, self.names, element)
        X_LF = self.poses.between(("link", link), ("frame", name))
        self.draft.frames.append(
            FrameDraft(name, link, X_LF, line=element.line, field=f"frame '{printable(name, 60)}'")
        )

    def _place_model(self) -> None:
        """Where the robot stands: X of the model's ``<pose>``, which is that of its placement frame where one is named."""
        model, draft = self.model, self.draft
        pose = model.one("pose")
        if pose is not None and pose.attributes.get("relative_to", WORLD) != WORLD:
            pose.fail("The pose of a model stands in the world.", "relative_to")
        X_WM = pose_of(pose)
        placed = model.attributes.get("placement_frame")
        if placed:
            X_WM = X_WM @ self.poses.between(ROOT, self.poses.node(placed, model)).inverse()
        moved = {j.child for j in draft.joints}
        roots = [link.name for link in draft.links if link.name not in moved]
        if roots and (roots[0] != WORLD or WORLD in self.names):
            X_MR = self.poses.between(ROOT, ("link", roots[0]))
            X_WM = X_MR if X_WM.is_identity else X_WM if X_MR.is_identity else X_WM @ X_MR
            draft.notes.append(
                f"No joint holds the model to the world; its link '{printable(roots[0], 60)}' stands still."
            )
        draft.base = IDENTITY if X_WM.is_identity else X_WM


def _tags(element: Element) -> Counter[str]:
    """How often each tag stands below an element."""
    found: Counter[str] = Counter()
    todo = [element]
    while todo:
        children = todo.pop().children
        found.update(c.tag for c in children)
        todo += children
    return found

"""A ``pinocchio.Model`` in memory → Robot. Pinocchio itself is not imported: the object says everything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import DescriptionError, printable
from manipula.formats.robot_draft import what_to_do
from manipula.formats.xml.words import dissipation
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.friction import Asymmetric, FrictionLaw
from manipula.robot.limits import Limits
from manipula.robot.robot import Robot
from manipula.robot.selection import Selection

TURNING = ("RX", "RY", "RZ", "RevoluteUnaligned", "RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned")
SLIDING = ("PX", "PY", "PZ", "PrismaticUnaligned")
FRAMES = ("BODY", "OP_FRAME", "SENSOR")  # frames of joints coincide with the bodies behind them


def from_pinocchio(
    model: Any, tip: str | None = None, *, lock: Mapping[str, float] | None = None, drop: Sequence[str] | str | None = None,
    chain: tuple[str, str] | None = None,
) -> Robot:  # fmt: skip
    """The robot that a Pinocchio model describes: joints, bodies, frames, limits, armature, damping and friction, gravity.

    The order of q is Pinocchio's. Its algorithms count ``model.armature``: that is the rotor's inertia seen by the joint here too, split
    by ``rotorGearRatio``. A link is called as the body in the joint's own frame, else as its joint.

    Args:
        tip: name of the frame that is the tip.
        lock, drop, chain: joints held still, branches left out (``load``).

    Raises:
        DescriptionError: not such an object, or a joint with more than one degree of freedom that is not left out, by its name.
    """
    needed = ("names", "joints", "parents", "jointPlacements", "inertias", "frames", "gravity", "nq", "armature")
    missing = [word for word in needed if not hasattr(model, word)]
    if missing:
        raise DescriptionError(f"A pinocchio.Model is needed, found {type(model).__name__} (it has no '{missing[0]}').")
    if np.any(np.asarray(model.gravity.angular)):
        raise DescriptionError("Gravity with an angular part is not modelled.", field="gravity")
    return _PinocchioModel(model).robot(tip, Selection.of(lock, drop, chain))


class _PinocchioModel:
    def __init__(self, model: Any) -> None:
        self.model = model
        self.notes: list[str] = []
        self.neutral = np.zeros(model.nq)
        for joint in list(model.joints)[1:]:
            if joint.nq == 2 and joint.nv == 1:
                self.neutral[joint.idx_q] = 1.0  # cosine and sine of a joint without ends
        self.names = self._link_names()

    def robot(self, tip: str | None, selection: Selection) -> Robot:
        model = self.model
        links = [self._body(i) for i in range(len(model.names))]
        joints = [self._joint(i) for i in range(1, len(model.names))]
        own = set(self.names)
        frames = [
            FrameDraft(f.name, self.names[_parent(f)], _pose(f.placement))
            for f in model.frames
            if _kind(f) in FRAMES and f.name not in own
        ]
        tip = tip if tip is not None or selection else self._last_leaf()
        return build_robot(
            model.name or "robot", links, joints, frames=frames, gravity=np.asarray(model.gravity.linear, float), tip=tip,
            notes=self.notes, selection=selection,
        )  # fmt: skip

    def _last_leaf(self) -> str | None:
        """The only body that nothing hangs on and that moves with the last joint, as in the file that the model came from."""
        frames = list(self.model.frames)
        above = {int(getattr(f, "parentFrame", 0)) for f in frames}
        ends = set(range(1, len(self.model.names))) - {int(p) for p in list(self.model.parents)[1:]}
        leaves = [f.name for k, f in enumerate(frames) if _kind(f) == "BODY" and k not in above and _parent(f) in ends]
        return leaves[0] if len(leaves) == 1 else None

    def _link_names(self) -> list[str]:
        """One per joint: the body that sits in the joint's own frame, else the name of the joint."""
        names = ["" for _ in self.model.names]
        for f in self.model.frames:
            if _kind(f) == "BODY" and not names[_parent(f)] and _pose(f.placement).is_identity:
                names[_parent(f)] = f.name
        taken = {f.name for f in self.model.frames if _kind(f) in FRAMES}
        for i, joint in enumerate(self.model.names):
            if not names[i]:
                names[i] = joint if joint not in taken else f"{joint}_link"
        return names

    def _body(self, i: int) -> LinkDraft:
        body = self.model.inertias[i]
        mass, com, inertia = float(body.mass), np.array(body.lever, float), np.array(body.inertia, float)
        described = bool(mass or inertia.any())
        return LinkDraft(self.names[i], mass, com if described else np.zeros(3), inertia, described=described)

    def _joint(self, i: int) -> JointDraft:
        model = self.model
        joint, name = model.joints[i], model.names[i]
        kind = joint.shortname().removeprefix("JointModel")
        field = f"joint '{printable(name, 60)}'"
        if kind not in (*TURNING, *SLIDING, "Mimic"):
            odd = JointDraft(
                name, kind, self.names[model.parents[i]], self.names[i], _pose(model.jointPlacements[i]), field=field
            )
            known = "revolute, continuous and prismatic joints are"
            odd.refusal = f"A joint of type {printable(joint.shortname())} is not modelled: {known}. {what_to_do(odd)}"
            return odd
        data = joint.createData()
        joint.calc(data, self.neutral)
        S = np.asarray(data.S, float).ravel()  # linear part, angular part
        if kind == "Mimic":
            return self._follower(i, S, field)
        draft = JointDraft(
            name, "revolute" if np.any(S[3:]) else "prismatic", self.names[model.parents[i]], self.names[i],
            origin=_pose(model.jointPlacements[i]), axis=S[3:] if np.any(S[3:]) else S[:3], field=field,
        )  # fmt: skip
        v = joint.idx_v
        draft.limits = self._limits(joint)
        draft.friction = self._friction(v)
        self._rotor(draft, v)
        return draft

    def _follower(self, i: int, S: np.ndarray, field: str) -> JointDraft:
        """A joint that mimics another: ``q = offset + scaling · q_leader``; Pinocchio's S has the scaling in it."""
        model = self.model
        law = model.joints[i].extract()
        leader = dict(zip(model.mimicking_joints, model.mimicked_joints))[i]
        axis = S[3:] if np.any(S[3:]) else S[:3]
        if not axis.any():
            raise DescriptionError("Its scaling is 0, so Pinocchio does not say how it moves.", field=field)
        return JointDraft(
            model.names[i], "revolute" if np.any(S[3:]) else "prismatic", self.names[model.parents[i]], self.names[i],
            origin=_pose(model.jointPlacements[i]), axis=axis / law.scaling, follows=model.names[leader],
            ratio=float(law.scaling), offset=float(law.offset), field=field,
        )  # fmt: skip

    def _number(self, word: str, index: int, usual: float = 0.0) -> float:
        values = getattr(self.model, word, None)
        return usual if values is None else float(np.ravel(values)[index])

    def _limits(self, joint: Any) -> Limits:
        q, v = joint.idx_q, joint.idx_v
        turns = joint.nq == 2  # without ends
        return Limits(
            lower=None if turns else _bound(self._number("lowerPositionLimit", q, -math.inf)),
            upper=None if turns else _bound(self._number("upperPositionLimit", q, math.inf)),
            velocity=_bound(self._number("velocityLimit", v, math.inf)),
            effort=_bound(self._number("effortLimit", v, math.inf)),
        )

    def _friction(self, v: int) -> FrictionLaw | None:
        damping, dry = self._number("damping", v), self._number("friction", v)
        forward, backward = (
            self._number("upperDryFrictionLimit", v, dry),
            -self._number("lowerDryFrictionLimit", v, -dry),
        )
        if forward != backward:
            return Asymmetric(forward, backward, damping, damping)
        return dissipation(damping, forward)

    def _rotor(self, draft: JointDraft, v: int) -> None:
        gear, armature = self._number("rotorGearRatio", v, 1.0) or 1.0, self._number("armature", v)
        rotor = self._number("rotorInertia", v)
        stated = rotor * gear * gear
        if stated != armature and abs(stated - armature) <= 1e-12 * abs(armature):
            stated = armature  # the same number, rounded
        draft.gear_ratio = gear
        draft.rotor_inertia = rotor if stated == armature else armature / (gear * gear)
        if stated not in (armature, 0.0):
            self.notes.append(
                f"joint '{printable(draft.name, 60)}': Pinocchio's algorithms count the armature {armature:g}, not the rotor inertia "
                f"{rotor:g} with its gear; so does this robot.")  # fmt: skip


def _parent(frame: Any) -> int:
    return int(frame.parentJoint if hasattr(frame, "parentJoint") else frame.parent)


def _kind(frame: Any) -> str:
    return str(frame.type).rpartition(".")[2]


def _pose(X: Any) -> Pose:
    pose = Pose.of(np.array(X.rotation, float), np.array(X.translation, float))
    return IDENTITY if pose.is_identity else pose


def _bound(value: float) -> float | None:
    """A limit; ``None`` where it is infinite or the largest number there is."""
    return None if not math.isfinite(value) or abs(value) > 1e300 else value

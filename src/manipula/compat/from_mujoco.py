"""A compiled ``mujoco.MjModel`` in memory → Robot.

A body stands in its parent; its joints, in order, move it: a hinge with anchor a and axis u turns by ``q − q₀`` about it,
``X_PB(q) = X_PB · T(a) Rot(u, q − q₀) T(−a) · …``. Masses are those MuJoCo has compiled, whatever they were computed from.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.algebra import rotation
from manipula.algebra.pose import IDENTITY, Pose, translation
from manipula.errors import DescriptionError, printable
from manipula.formats.mjcf.couplings import Couplings, lever
from manipula.formats.mjcf.gravcomp import Gravcomp
from manipula.formats.mjcf.joints import REFUSED, SPRINGS
from manipula.formats.mjcf.objects import FIXED_MOCAP, MOCAP, leave_objects
from manipula.formats.mjcf.unmodelled import Unmodelled, without_unmodelled
from manipula.formats.xml.words import damping_and_dry, dissipation
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.drives import Spring
from manipula.robot.limits import Limits
from manipula.robot.robot import Robot
from manipula.robot.selection import Selection

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
KINDS = {FREE: "free", BALL: "ball"}
JOINT, TENDON = 2, 3  # mjtEq: connect, weld, joint, tendon
NEEDED = ("nbody", "njnt", "body_parentid", "body_inertia", "jnt_type", "dof_armature", "names", "opt")


def from_mujoco(
    model: Any, tip: str | None = None, *, lock: Mapping[str, float] | None = None, drop: Sequence[str] | str | None = None,
    chain: tuple[str, str] | None = None,
) -> Robot:  # fmt: skip
    """The robot that a compiled MuJoCo model describes: hinges and slides, bodies, sites as frames, armature, damping, dry friction,
    ranges and torque limits, keyframes, gravity. The order of q is MuJoCo's.

    Args:
        tip: name of the body or site that is the tip.
        lock, drop, chain: joints held still, branches left out (``load``).

    Raises:
        DescriptionError: not such an object, or a joint, tendon or constraint that is not modelled and not left out, by its name.
    """
    missing = [word for word in NEEDED if not hasattr(model, word)]
    if missing:
        raise DescriptionError(f"A mujoco.MjModel is needed, found {type(model).__name__} (it has no '{missing[0]}').")
    return _MujocoModel(model).robot(tip, Selection.of(lock, drop, chain))


class _MujocoModel:
    def __init__(self, model: Any) -> None:
        self.model = model
        self.notes: list[str] = []
        self.unmodelled: list[Unmodelled] = []
        self.off = _disabled(model)
        self.bodies = self._names("body", model.nbody)
        self.hinges = self._names("jnt", model.njnt, "joint")
        self.used = set(self.bodies)

    def robot(self, tip: str | None, selection: Selection) -> Robot:
        model = self.model
        self._tendons()
        links: list[LinkDraft] = [LinkDraft(self.bodies[0], described=False)]
        joints: list[JointDraft] = []
        for body in range(1, model.nbody):
            self._body(body, links, joints)
        sites = zip(self._names("site", model.nsite, ""), model.site_bodyid, model.site_pos, model.site_quat)
        frames = []
        for name, body, p, quat in sites:
            if name in self.used:
                self.notes.append(f"site '{printable(name, 60)}' shares its name with a body: the body's counts.")
            elif name:
                frames.append(FrameDraft(name, self.bodies[int(body)], _pose(p, quat)))
        gravity = np.zeros(3) if "GRAVITY" in self.off else np.array(model.opt.gravity, float)
        self._motors(joints)
        joints = self._couplings(joints)
        self._efforts({draft.name: draft for draft in joints})
        if model.opt.density or model.opt.viscosity:
            self.notes.append("The drag of a fluid is not modelled.")
        weights = Gravcomp(
            {self.bodies[b]: float(model.body_gravcomp[b]) for b in range(1, model.nbody)},
            {name for name, motor in zip(self.hinges, model.jnt_actgravcomp) if motor},
            not ("PASSIVE" in self.off or {"SPRING", "DAMPER"} <= self.off),
        )
        weights.balance(links)
        leave_objects(links, joints, frames, selection, self.notes)
        name = self._text(0) or "robot"
        robot = build_robot(
            "robot" if name == "MuJoCo Model" else name, links, joints, frames=frames, gravity=gravity, tip=tip,
            postures=self._keyframes(), notes=list(dict.fromkeys(self.notes)), selection=selection,
        )  # fmt: skip
        return without_unmodelled(robot, self.unmodelled, weights)

    def _text(self, address: int) -> str:
        names = bytes(self.model.names)
        return names[address : names.index(b"\0", address)].decode("utf-8", "replace")

    def _names(self, kind: str, count: int, stem: str = "body") -> list[str]:
        given = [self._text(int(a)) for a in getattr(self.model, f"name_{kind}adr")[:count]]
        return [name or (f"{stem}{i}" if stem else "") for i, name in enumerate(given)]

    def _tendons(self) -> None:
        """Tendons that pull on their joints are refused unless these joints are left out."""
        model = self.model
        for k in range(model.ntendon):
            pulls = [w for w in ("stiffness", "damping", "frictionloss", "armature", "limited")
                     if np.any(getattr(model, f"tendon_{w}", np.zeros(k + 1))[k])]  # fmt: skip
            if pulls:
                parts = range(int(model.tendon_adr[k]), int(model.tendon_adr[k]) + int(model.tendon_num[k]))
                # mjWRAP_JOINT
                wrapped = [self.hinges[int(model.wrap_objid[w])] for w in parts if int(model.wrap_type[w]) == 1]
                problem = f"A tendon with '{pulls[0]}' pulls on its joints, which is not modelled."
                joints = tuple(wrapped) or tuple(self.hinges)
                self.unmodelled.append(Unmodelled(DescriptionError(problem, field=f"tendon {k}"), joints))

    def _body(self, body: int, links: list[LinkDraft], joints: list[JointDraft]) -> None:
        model, name = self.model, self.bodies[body]
        parent = self.bodies[int(model.body_parentid[body])]
        X_PB = _pose(model.body_pos[body], model.body_quat[body])
        R = rotation.from_quaternion_wxyz([float(v) for v in model.body_iquat[body]])
        moments = np.array(model.body_inertia[body], float)
        inertia = R @ np.diag(moments) @ R.T
        mass = float(model.body_mass[body])
        link = LinkDraft(
            name, mass, np.array(model.body_ipos[body], float), (inertia + inertia.T) / 2, described=bool(mass)
        )
        if model.body_mocapid[body] >= 0:
            self.notes.append(FIXED_MOCAP.format(printable(name, 60)))
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            joints.append(JointDraft(f"{name}_fixed", "fixed", parent, name, X_PB))
        for k, j in enumerate(range(first, first + count), 1):
            child = name if k == count else self._between(name, k)
            joints.append(self._joint(j, parent, child, X_PB))
            if k < count:
                links.append(LinkDraft(child, described=False, between=True))
            parent, X_PB = child, IDENTITY
        links.append(link)

    def _between(self, name: str, k: int) -> str:
        fresh = f"{name}_{k}"
        while fresh in self.used:
            fresh += "_"
        self.used.add(fresh)
        return fresh

    def _joint(self, j: int, parent: str, child: str, X_PB: Pose) -> JointDraft:
        model = self.model
        kind = KINDS.get(int(model.jnt_type[j]))
        if kind is not None:
            shown = printable(self.hinges[j], 60)
            refusal = REFUSED[kind].format(shown)
            return JointDraft(self.hinges[j], kind, parent, child, X_PB, refusal=refusal, field=f"joint '{shown}'")
        hinge = int(model.jnt_type[j]) == HINGE
        axis = np.array(model.jnt_axis[j], float)
        anchor = np.array(model.jnt_pos[j], float) if hinge else np.zeros(3)
        start, dof = float(model.qpos0[model.jnt_qposadr[j]]), int(model.jnt_dofadr[j])
        X = translation(*anchor)
        if start:
            unit = [float(v) for v in axis]
            X = X @ (Pose.of(rotation.about_axis(unit, -start)) if hinge else translation(*(-start * axis)))
        X = X_PB @ X
        ranged = bool(model.jnt_limited[j]) and "LIMIT" not in self.off
        low, high = (float(v) for v in model.jnt_range[j])
        damping = 0.0 if {"DAMPER", "PASSIVE"} & self.off else float(model.dof_damping[dof])
        dry = 0.0 if "FRICTIONLOSS" in self.off else float(model.dof_frictionloss[dof])
        if np.any(getattr(model, "dof_dampingpoly", np.zeros(dof + 1))[dof]):
            self.notes.append(f"joint '{printable(self.hinges[j], 60)}': damping beyond the linear term is left out.")
        return JointDraft(
            self.hinges[j], "revolute" if hinge else "prismatic", parent, child, IDENTITY if X.is_identity else X, axis,
            frame=translation(*(-anchor)) if anchor.any() else IDENTITY,
            limits=Limits(low, high) if ranged else Limits(), rotor_inertia=float(model.dof_armature[dof]),
            friction=dissipation(damping, dry), drive=self._spring(j),
        )  # fmt: skip

    def _loop(self, e: int) -> tuple[str, str] | None:
        """The two bodies of a constraint, through their sites if need be; ``None`` for what is between tendons."""
        model = self.model
        if int(model.eq_type[e]) > 1:  # connect and weld come first
            return None
        ends = [int(getattr(model, f"eq_obj{k}id")[e]) for k in (1, 2)]
        if int(model.eq_objtype[e]) != 1:  # mjOBJ_BODY; else sites
            ends = [int(model.site_bodyid[site]) for site in ends]
        return self.bodies[ends[0]], self.bodies[ends[1]]

    def _spring(self, j: int) -> Spring | None:
        stiffness = float(np.ravel(self.model.jnt_stiffness[j])[0])
        if not stiffness or {"SPRING", "PASSIVE"} & self.off:
            return None
        if np.any(getattr(self.model, "jnt_stiffnesspoly", np.zeros(j + 1))[j]):
            problem = DescriptionError(
                "A spring beyond the linear term is not modelled.", field=f"joint '{self.hinges[j]}'"
            )
            self.unmodelled.append(Unmodelled(problem, (self.hinges[j],)))
        self.notes.append(SPRINGS)
        return Spring(stiffness, float(self.model.qpos_spring[self.model.jnt_qposadr[j]]))

    def _couplings(self, joints: list[JointDraft]) -> list[JointDraft]:
        """The drafts with the active constraints between joints, ``Σ a (q − q₀) = c``; others close loops."""
        model = self.model
        moving = {draft.name: draft for draft in joints if draft.moves}
        start = {name: float(model.qpos0[adr]) for name, adr in zip(self.hinges, model.jnt_qposadr)}
        couplings = Couplings(moving, start)
        labels = self._names("eq", model.neq, "")
        for e in (int(e) for e in np.flatnonzero(model.eq_active0)) if "EQUALITY" not in self.off else ():
            field = f"equality '{printable(labels[e], 60)}'" if labels[e] else f"equality {e}"
            kind, first, second = (int(a[e]) for a in (model.eq_type, model.eq_obj1id, model.eq_obj2id))
            if kind not in (JOINT, TENDON):
                ends = self._loop(e)
                if ends is not None and any(model.body_mocapid[self.bodies.index(name)] >= 0 for name in ends):
                    self.notes.append(MOCAP.format(field))
                    continue
                loop = DescriptionError("A constraint that closes a loop is not modelled.", field=field)
                self.unmodelled.append(Unmodelled(loop, tuple(self.hinges), loop=ends))
                continue
            c = [float(v) for v in model.eq_data[e][:5]]
            terms: dict[str, float] = {}
            for k, factor in ((first, 1.0), (second, -c[1])) if second >= 0 else ((first, 1.0),):
                rows = [(self.hinges[k], 1.0)] if kind == JOINT else self._rows(k)
                for name, a in rows or ():
                    terms[name] = terms.get(name, 0.0) + factor * a
                if rows is None:
                    terms |= dict.fromkeys(self.hinges, np.nan)
            why = "holds a tendon in space, which is not modelled" if any(np.isnan(a) for a in terms.values()) else None
            if second >= 0 and any(c[2:]):
                why = why or "is a polynomial beyond its linear term, which is not modelled"
            try:
                why = why or couplings.bind(terms, c[0], field)
            except DescriptionError as error:
                raise error.at(field=field) from None
            if why is not None:
                problem = DescriptionError(f"This constraint {why}.", field=field)
                self.unmodelled.append(Unmodelled(problem, tuple(name for name, a in terms.items() if a != 0.0)))
        held = couplings.settle([j.name for j in joints if j.driven], self.notes)
        return [held.get(j.name, j) for j in joints]

    def _rows(self, k: int) -> list[tuple[str, float]] | None:
        """The joints of a fixed tendon with their coefficients; ``None`` for a tendon in space."""
        model, first = self.model, int(self.model.tendon_adr[k])
        parts = range(first, first + int(model.tendon_num[k]))
        if any(int(model.wrap_type[w]) != 1 for w in parts):  # mjWRAP_JOINT
            return None
        return [(self.hinges[int(model.wrap_objid[w])], float(model.wrap_prm[w])) for w in parts]

    def _motors(self, joints: list[JointDraft]) -> None:
        """Rotors and damping, times ``gear²``, of the joints that an actuator drives."""
        model = self.model
        drafts = {draft.name: draft for draft in joints}
        for a in np.flatnonzero(np.array(model.actuator_trntype) < 2):  # mjtTrn: joint and jointinparent come first
            draft = drafts[self.hinges[int(model.actuator_trnid[a][0])]]
            draft.driven = True
            self._add_rotor(int(a), draft, float(model.actuator_gear[a][0]) ** 2)

    def _efforts(self, drafts: dict[str, JointDraft]) -> None:
        """Limits of effort: ``|gear|`` times the range of force, for motors also of control. Several on one joint add up."""
        model = self.model
        limits: dict[str, float] = {}
        for a, (kind, ends) in enumerate(zip(model.actuator_trntype, model.actuator_trnid)):
            tendon = int(kind) == 3  # mjTRN_TENDON
            arm, scale = (
                lever(self._rows(int(ends[0])) or (), drafts) if tendon
                else (drafts[self.hinges[int(ends[0])]], 1.0) if int(kind) < 2 else (None, 0.0)
            )  # fmt: skip
            if arm is None:
                self.notes.append(f"Actuator number {a} drives no joint directly and is not read.")
                continue
            bounds = [np.inf]
            if model.actuator_forcelimited[a]:
                bounds.append(float(np.abs(model.actuator_forcerange[a]).max()))
            motor = not (model.actuator_gaintype[a] or model.actuator_biastype[a] or model.actuator_dyntype[a])
            if not motor:
                self.notes.append(f"The control law of the actuator on joint '{printable(arm.name, 60)}' is not read.")
            elif model.actuator_ctrllimited[a] and "CLAMPCTRL" not in self.off:
                bounds.append(float(abs(model.actuator_gainprm[a][0]) * np.abs(model.actuator_ctrlrange[a]).max()))
            size = abs(float(model.actuator_gear[a][0]) * scale)
            limits[arm.name] = limits.get(arm.name, 0.0) + size * min(bounds)
        for j, name in enumerate(self.hinges):
            effort = limits.get(name, np.inf)
            if model.jnt_actfrclimited[j]:
                effort = min(effort, float(np.abs(model.jnt_actfrcrange[j]).max()))
            if np.isfinite(effort):
                drafts[name].limits = replace(drafts[name].limits, effort=effort)

    def _keyframes(self) -> dict[str, dict[str, float]]:
        """Named postures: the positions of the hinges and slides."""
        model = self.model
        single = [
            (name, int(adr))
            for name, kind, adr in zip(self.hinges, model.jnt_type, model.jnt_qposadr) if int(kind) in (SLIDE, HINGE)
        ]  # fmt: skip
        names = self._names("key", model.nkey, "key")
        return {key: {name: float(q[adr]) for name, adr in single} for key, q in zip(names, model.key_qpos)}

    def _add_rotor(self, a: int, draft: JointDraft, scale: float) -> None:
        rotor, damping = (
            float(getattr(self.model, f"actuator_{word}", np.zeros(a + 1))[a]) for word in ("armature", "damping")
        )
        draft.rotor_inertia += scale * rotor
        if damping and not {"DAMPER", "PASSIVE"} & self.off:
            before, dry = damping_and_dry(draft.friction)
            draft.friction = dissipation((before or 0.0) + scale * damping, dry or 0.0)


def _disabled(model: Any) -> set[str]:
    """Names of the flags that switch something off; their numbers differ between releases of MuJoCo."""
    flags = int(model.opt.disableflags)
    bits = getattr(sys.modules.get("mujoco"), "mjtDisableBit", None)
    if not flags:
        return set()
    if bits is None:
        raise DescriptionError(
            "This model switches something off, and MuJoCo is not there to say what.", field="disableflags"
        )
    members = getattr(bits, "__members__", {})
    off = {
        name.removeprefix("mjDSBL_") for name, bit in members.items() if flags & int(bit) and name.startswith("mjDSBL_")
    }
    return off | {"EQUALITY", "FRICTIONLOSS", "LIMIT"} if "CONSTRAINT" in off else off


def _pose(p: Any, quat: Any) -> Pose:
    turned = [float(v) for v in quat]
    pose = Pose.of(
        None if turned == [1.0, 0.0, 0.0, 0.0] else rotation.from_quaternion_wxyz(turned), [float(v) for v in p]
    )
    return IDENTITY if pose.is_identity else pose

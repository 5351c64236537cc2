"""A manipulator: a tree of rigid links joined by revolute and prismatic joints. Data only, frozen, SI."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manipula.algebra.expression import scalar
from manipula.algebra.fields import check_field_names
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, plain
from manipula.algebra.symbols import free_names, is_symbolic, substitute
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.identity import identity, is_own
from manipula.lazy import cached_property
from manipula.robot.appearance import Visual
from manipula.robot.checks import (
    check_balance,
    check_body,
    check_gear,
    check_gravity,
    check_limits,
    check_name,
    check_number,
    check_pose,
    checked_links,
    checked_payload,
)
from manipula.robot.consistency import check_consistent
from manipula.robot.coupled_joint import CoupledJoint, Uncoupled, uncoupled
from manipula.robot.digest import digest_of
from manipula.robot.joint import Joint
from manipula.robot.link import TIP, Frame, Link, Payload
from manipula.robot.parameter_values import needed, revalued
from manipula.verbs import notebook_html

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
# names that people give it
_LIKE_A_TIP = ("tool0", "tcp", "tool", "end_effector", "ee_", "_ee", "grasp", "hand", "flange")
UNDESCRIBED_BASE = Link("base", described=False)


@dataclass(frozen=True)
class Robot:
    """Values that compare, hash and travel. Build one with ``load``, ``from_dh``, ``planar`` … rather than by hand.

    Attributes:
        name: for messages, reports and generated code.
        links: moving links, parents before children.
        joints: joint i moves link i.
        frames: named frames fixed to links or to the base; every link's own frame is among them.
        tip: name of the frame at which the tool sits, where poses, payloads and references are taken unless another frame is
            named; ``None`` when several frames leave it open.
        base: pose of the robot's base frame in the frame in which gravity is given.
        tool: pose of the tool frame in the tip frame; poses "at the tip" include it.
        gravity: acceleration vector [m/s²], in the frame that ``base`` refers to.
        payload: a body carried at the tip (in the tool frame).
        base_link: name and inertia of the unmoving root.
        followers: coupled joints with their links, which have no coordinate of their own. As bodies they are numbered after
            ``links`` (n, n + 1 …), which is what the parents of joints and the links of frames count.
        postures: named positions, each with one number per joint.
        appearance: what the links look like; robots that only look different are equal.
        notes: what a reader of the source should know (meshes left out, values replaced).
        values: name and number of the parameters that stay free although the source gives them a value, as in
            ``load(…, symbolic=True)``; ``numeric`` is the robot that has them.
        definitions: for values that follow from others by a formula, that formula: a changed value changes them too.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    tip: str | None = None
    base: Pose = IDENTITY
    tool: Pose = IDENTITY
    gravity: tuple[Any, Any, Any] = STANDARD_GRAVITY
    payload: Payload | None = None
    base_link: Link = UNDESCRIBED_BASE
    followers: tuple[CoupledJoint, ...] = ()
    postures: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    appearance: tuple[Visual, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    values: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    definitions: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        check_consistent(self)

    @property
    def n(self) -> int:
        """Number of joints that move on their own: the length of q."""
        return len(self.joints)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """Every moving link: those of ``joints``, then those of ``followers``."""
        return self.links + tuple(f.link for f in self.followers)

    @property
    def moving_joints(self) -> tuple[Joint, ...]:
        """Every joint that moves, in the order of ``bodies``: those that have a coordinate, then those that follow one."""
        return self.joints + tuple(f.joint for f in self.followers)

    @cached_property
    def uncoupled(self) -> Uncoupled:
        """The robot with every joint on its own, and how it is moved by this one's coordinates."""
        return uncoupled(self)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The order of q."""
        return tuple(j.name for j in self.joints)

    @property
    def parents(self) -> tuple[int, ...]:
        """The number of the parent link of each joint; −1 is the base."""
        return tuple(j.parent for j in self.joints)

    @cached_property
    def is_chain(self) -> bool:
        """Is every link the child of the one before it, and no joint coupled to another?"""
        return not self.followers and all(j.parent == i - 1 for i, j in enumerate(self.joints))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that are still free, sorted naturally (m2 before m10)."""
        names = set(free_names(list(_scalars(self))))
        return tuple(sorted(names, key=_natural))

    @property
    def is_numeric(self) -> bool:
        """Is no parameter free?"""
        return not self.parameters

    @cached_property
    def numeric(self) -> Robot:
        """The robot with the values that its source gives to its parameters; the robot itself when no parameter is free.

        Raises:
            DescriptionError: a parameter has no value; names all of them.
        """
        robot = self.with_values()
        if robot.parameters:
            raise DescriptionError(
                f"Robot '{printable(self.name, 60)}' still has free parameters ({', '.join(robot.parameters[:12])}); "
                f"give them values: robot.with_parameters({robot.parameters[0]}=1.0, …)."
            )
        return robot

    def with_values(self, but: Iterable[str] = ()) -> Robot:
        """The robot with the values that its source gives to its parameters, ``but`` for names that then have none."""
        known = {name: value for name, value in self.values if name in self.parameters and name not in but}
        return dataclasses.replace(self.with_parameters(**known), values=(), definitions=()) if self.values else self

    def with_parameters(self, **values: Any) -> Robot:
        """The robot with named parameters replaced by numbers, or by formulas (text of our own grammar, or SymPy expressions).

        Raises:
            DescriptionError: an unknown name, or a value with which a field is no finite number or out of its range.
        """
        given = {}
        for name, value in values.items():
            if name not in self.parameters and name not in dict(self.values):
                raise unknown_name("parameter", name, dict.fromkeys([*self.parameters, *dict(self.values)]))
            try:
                given[name] = scalar(value)
            except DescriptionError as error:
                raise error.at(field=name) from None
            except (TypeError, OverflowError):  # SymPy's complex and infinite constants
                raise DescriptionError(
                    f"A finite real number is needed, found {printable(value)}.", field=name
                ) from None

        def replaced(x: Any) -> Any:
            if not is_symbolic(x):
                return plain(x)
            return check_number(substitute(x, given), f"'{printable(x, 60)}' with the given parameters")

        robot = _map_scalars(self, replaced)  # friction laws and drives are made anew and look at their numbers
        for link in robot.bodies:
            check_body(link.mass, link.com, link.inertia, f"link '{link.name}'")
            check_balance(link.balance, f"link '{link.name}'")
        for joint in robot.joints:
            check_limits(joint.limits, joint.name)
            check_gear(joint)
        checked_payload(robot.payload)
        if not self.values:
            return robot
        kept = revalued(self.values, self.definitions, given)
        return dataclasses.replace(robot, **needed(robot.parameters, **kept))

    def replace(self, **changes: Any) -> Robot:
        """A copy with fields changed: ``robot.replace(gravity=(0, 0, 0), payload=2.0)``."""
        check_field_names(self, changes)
        if "name" in changes:
            check_name("robot", changes["name"], field="name")
        if "gravity" in changes:
            changes["gravity"] = check_gravity(changes["gravity"])
        for name in ("base", "tool"):
            if name in changes:
                changes[name] = check_pose(Pose.from_matrix(changes[name]), f"The {name}", field=name)
        payload = changes.get("payload")
        if payload is not None and not isinstance(payload, Payload):
            mass = check_number(payload, "The mass of the payload", field="payload")
            changes["payload"] = Payload(mass) if mass != 0 else None
        for name, checked in (("payload", checked_payload), ("links", checked_links)):
            if name in changes:
                changes[name] = checked(changes[name])
        for name in ("joints", "followers", "frames", "appearance"):
            if isinstance(changes.get(name), list):
                changes[name] = tuple(changes[name])
        return dataclasses.replace(self, **changes)

    def select(self, lock: Any = None, drop: Any = None, chain: Any = None) -> Robot:
        """The robot with some joints held still and some branches left out.

        Args:
            lock: positions by joint name, ``{"finger_joint1": 0.02}``; the links keep their mass.
            drop: names of joints or links that are left out with all that hangs on them, mass included; a fixed link is merged into the
                one that carries it and can be left out only while its file is read, ``load(…, drop=…)``.
            chain: ``(base, tip)``: the joints between two links with what is fixed to their links; the rest is left out.
        """
        from manipula.robot.select_built import selected
        from manipula.robot.selection import Selection

        found = selected(self, Selection.of(lock, drop, chain))
        return dataclasses.replace(found, **needed(found.parameters, self.values, self.definitions))

    def frame(self, name: str) -> Frame:
        """The frame of that name: links, fixed links and frames of the file.

        ``TIP`` is the robot's tip, which includes the tool. The words "tip" and "base" stand for the tip and the base frame where
        the file gives these names to nothing else.
        """
        for f in self.frames if isinstance(name, str) else ():
            if f.name == name:
                return f
        if isinstance(name, str) and name in (TIP, "tip"):
            return self.tip_frame
        if isinstance(name, str) and name == "base":
            return Frame("base", -1)
        raise unknown_name("frame", name, dict.fromkeys([*self.frame_names, "tip", "base"]))

    @cached_property
    def tip_frame(self) -> Frame:
        """Where the tool is: the tip frame followed by ``tool``."""
        if self.tip is None:
            carrying, own = {j.parent for j in self.moving_joints}, {link.name for link in self.bodies}
            ends = [f.name for f in self.frames if f.link >= 0 and (f.link not in carrying or f.name not in own)]
            likely = next((n for word in _LIKE_A_TIP for n in ends if word in n.lower()), ends[-1] if ends else "")
            raise DescriptionError(
                f"Robot '{self.name}' has several frames that could be its tip ({', '.join(ends)}); name one: tip='{likely}'."
                if ends
                else f"Robot '{self.name}' has no moving link, so it has no tip."
            )
        f = next((f for f in self.frames if f.name == self.tip), None)
        if f is None:
            raise unknown_name("frame", self.tip, [f.name for f in self.frames])
        return Frame("tip", f.link, f.pose @ self.tool)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of all frames."""
        return tuple(f.name for f in self.frames)

    def posture(self, name: str) -> np.ndarray:
        """The named posture, (n,): a keyframe of the file, say."""
        known = dict(self.postures)
        if name not in known:
            raise unknown_name("posture", name, known)
        return array(known[name])

    def joint_index(self, name: str) -> int:
        """The number of a joint from its name."""
        if name not in self.joint_names:
            raise unknown_name("joint", name, self.joint_names)
        return self.joint_names.index(name)

    @cached_property
    def position_limits(self) -> np.ndarray:
        """(n, 2) lower and upper positions; ±inf where the source states none."""
        rows = [(-np.inf if j.limits.lower is None else j.limits.lower,
                 np.inf if j.limits.upper is None else j.limits.upper) for j in self.joints]  # fmt: skip
        return array(rows).reshape(self.n, 2)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in dataclasses.fields(self) if f.compare))

    @cached_property
    def bare(self) -> Robot:
        """The mechanism alone, without friction laws, drives and postures: what kinematics and the equations of motion are made from."""
        if all(j.friction is None and j.drive is None for j in self.joints) and not self.postures:
            return self
        joints = tuple(dataclasses.replace(j, friction=None, drive=None) for j in self.joints)
        return dataclasses.replace(self, joints=joints, postures=())

    def __identity__(self) -> Any:
        """The mechanism, which never changes, and the parts on it, which somebody may have written."""
        return self._mechanism and (self._mechanism, [(j.friction, j.drive) for j in self.joints])

    @cached_property
    def _mechanism(self) -> bytes | None:
        bare = self.bare
        return identity(type(self), {f.name: getattr(bare, f.name) for f in dataclasses.fields(Robot) if f.compare})

    @property
    def digest(self) -> str:
        """SHA-256 over everything a robot holds, with the type of every part: the same on every machine; see ``digest.py``."""
        known = is_own([(j.friction, j.drive) for j in self.joints])  # a user's parts may change
        return self._digest if known else digest_of(self)

    @cached_property
    def _digest(self) -> str:
        return digest_of(self)

    def __repr__(self) -> str:
        kinds = "".join(j.kind[0].upper() for j in self.joints)
        free = f", free: {', '.join(self.parameters)}" if self.parameters else ""
        coupled = f", {len(self.followers)} coupled" if self.followers else ""
        return f"Robot('{self.name}', {self.n} joints {kinds if self.n <= 20 else kinds[:17] + '…'}{coupled}{free})"

    def _repr_html_(self) -> str | None:
        """The arm and its joints, for notebooks."""
        return notebook_html(self)


def _natural(name: str) -> tuple[Any, ...]:
    import re

    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name))


def _map_scalars(value: Any, f: Callable[[Any], Any]) -> Any:
    """The same structure with ``f`` applied to every scalar inside (strings, flags and None stay)."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, tuple):
        return tuple(_map_scalars(v, f) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {x.name: _map_scalars(getattr(value, x.name), f) for x in dataclasses.fields(value)}
        return dataclasses.replace(value, **changes)
    return f(value)


def _scalars(value: Any) -> Iterable[Any]:
    """Every scalar (and None) inside a nested value, in field order."""
    if value is None or isinstance(value, (float, int)):
        yield value
    elif isinstance(value, str):
        return
    elif isinstance(value, tuple):
        for v in value:
            yield from _scalars(v)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for x in dataclasses.fields(value):
            yield from _scalars(getattr(value, x.name))
    else:
        yield value

"""A joint that has no motor of its own: its position follows another joint's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from manipula.algebra.linear import array
from manipula.algebra.pose import Pose
from manipula.algebra.rotation import about_axis
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, printable
from manipula.robot.joint import Joint
from manipula.robot.link import Link

if TYPE_CHECKING:
    from manipula.robot.robot import Robot


@dataclass(frozen=True)
class CoupledJoint:
    r"""A coupled joint with its link: :math:`q_b = \text{offset} + \text{ratio}\cdot q_a` (a gear, a belt, the second finger of a gripper).

    Attributes:
        joint: how it moves; it has neither drive nor friction (those of its leader act), and a rotor of its own if it has one.
        link: what it moves.
        leader: index among ``robot.joints`` of the joint a that it follows.
        ratio: [1, or m/rad where a slide follows a hinge].
        offset: position while the leader is at zero [rad or m].
    """

    joint: Joint
    link: Link
    leader: int
    ratio: Any = 1.0
    offset: Any = 0.0

    @property
    def name(self) -> str:
        return self.joint.name

    def formula(self, leader: str) -> str:
        """Its position as text, in the name of its leader: ``0.2 - 1.5*q1``."""
        number = lambda v: str(v) if is_symbolic(v) else f"{v:.12g}"  # noqa: E731
        led = {1: leader, -1: f"-{leader}"}.get(self.ratio, f"{number(self.ratio)}*{leader}")
        return led if self.offset == 0 else f"{number(self.offset)} + {led}".replace("+ -", "- ")


class Uncoupled(NamedTuple):
    r"""A robot whose joints all move on their own, and how the coupled one moves it: :math:`\bar q_i = r_i\,q_{c(i)}`.

    Attributes:
        robot: followers are joints like the others, at their offset while they are at zero; parents come before children.
        n: number of coordinates of the coupled robot.
        coordinate, ratio: c and r of every joint.
        body: for every body of the coupled robot (those of its joints, then followers) its number here.
    """

    robot: Robot
    n: int
    coordinate: tuple[int, ...]
    ratio: tuple[Any, ...]
    body: tuple[int, ...]


def parents_first(robot: Robot) -> list[int]:
    """Numbers of the bodies, parents before children; joints of q keep their order, and so do followers.

    A follower comes where a joint of q hangs on it, else last. Whoever writes joints in this order reads the same q again.
    """
    if not robot.followers:
        return list(range(robot.n))
    parent = [j.parent for j in robot.moving_joints]
    waiting, order = list(range(len(parent))), [-1]
    while waiting:  # there are few bodies where joints are coupled
        candidates = (*(i for i in waiting[:1] if i < robot.n), *(i for i in waiting if i >= robot.n), *waiting)
        order.append(next(i for i in candidates if parent[i] in order))
        waiting.remove(order[-1])
    return order[1:]


def uncoupled(robot: Robot) -> Uncoupled:
    """The same tree with every joint on its own."""
    joints = [*robot.joints, *(_moved(f) for f in robot.followers)]
    links, order = robot.bodies, parents_first(robot)
    place = {-1: -1} | {number: i for i, number in enumerate(order)}
    rows = [(i, 1.0) for i in range(robot.n)] + [(f.leader, f.ratio) for f in robot.followers]
    free = replace(
        robot,
        joints=tuple(replace(joints[i], parent=place[joints[i].parent]) for i in order),
        links=tuple(links[i] for i in order),
        frames=tuple(replace(f, link=place[f.link]) for f in robot.frames),
        appearance=tuple(replace(s, link=place[s.link]) for s in robot.appearance),
        followers=(),
        postures=(),
    )
    return Uncoupled(
        free, robot.n, tuple(rows[i][0] for i in order), tuple(rows[i][1] for i in order),
        tuple(place[i] for i in range(len(order))))  # fmt: skip


def _moved(f: CoupledJoint) -> Joint:
    """The follower's joint placed where it is while its leader is at zero; what its motor could do does not count."""
    axis = array(f.joint.axis)
    motion = Pose.of(about_axis(axis, f.offset)) if f.joint.is_revolute else Pose.of(None, axis * f.offset)
    placement = f.joint.placement if f.offset == 0 else f.joint.placement @ motion
    limits = replace(f.joint.limits, lower=None, upper=None, effort=None)
    return replace(f.joint, placement=placement, limits=limits)


def refuse_couplings(robot: Robot, what: str) -> None:
    """Refuse a robot with coupled joints where nothing can be said about them."""
    if robot.followers:
        f = robot.followers[0]
        leader = robot.joints[f.leader].name
        raise DescriptionError(
            f"{what} a coupled joint: '{printable(f.name)}' follows '{printable(leader)}'; hold the leader still "
            f"(lock={{'{printable(leader)}': …}}) or leave both out (drop=…)."
        )

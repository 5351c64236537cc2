"""``gravcomp``: the share of a body's weight that something else carries.

MuJoCo pushes at the body's centre of mass with −share · mass · gravity. The same share for all that moves is a smaller gravity; else links
have a ``balance``. Joints with ``actuatorgravcomp`` get that force from their motors, which is control and no part of the robot, and with
springs and dampers both switched off, or no share above zero in the whole file, MuJoCo leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from manipula.errors import DescriptionError, printable
from manipula.robot import Balance, Robot
from manipula.robot.build import LinkDraft


@dataclass
class Gravcomp:
    """What a file says about weights.

    Attributes:
        shares: by body, zero included. by_motors: joints with ``actuatorgravcomp``. passive: are springs or dampers on?
        counts: is a share above zero? MuJoCo looks at none else.
    """

    shares: dict[str, float] = field(default_factory=dict)
    by_motors: set[str] = field(default_factory=set)
    passive: bool = True
    counts: bool = True

    def balance(self, links: Iterable[LinkDraft]) -> None:
        """Give the drafts of heavy bodies the balance that belongs to their share; the others have none."""
        self.counts = any(share > 0 for share in self.shares.values())
        heavy = {link.name: link for link in links if link.mass}
        self.shares = {name: share for name, share in self.shares.items() if name in heavy}
        for name, share in self.shares.items():
            if share:
                heavy[name].balance = Balance(share * heavy[name].mass, tuple(map(float, heavy[name].com)))

    def settled(self, robot: Robot) -> Robot:
        """The robot with balances where they act, or a smaller gravity in their place.

        Raises:
            DescriptionError: the motors of some joints carry weight and those of others do not.
        """
        where = {f.name: f.link for f in robot.frames}
        moving = {name: share for name, share in self.shares.items() if where.get(name, -1) >= 0}
        if not any(moving.values()):
            return _without(robot)
        names = [printable(n, 40) for n, share in moving.items() if share]
        shown = f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
        if not self.passive:
            return _told(
                _without(robot), f"gravcomp of {shown}: without effect, since springs and dampers are disabled."
            )
        if not self.counts:
            return _told(_without(robot), f"gravcomp of {shown}: without effect, since no body has a share above zero.")
        joints = {j.name for j in robot.moving_joints}
        if joints <= self.by_motors:
            return _told(
                _without(robot),
                f"gravcomp of {shown}: given by the motors (actuatorgravcomp), so that it is left to the controller.",
            )
        if joints & self.by_motors:
            some = ", ".join(sorted(printable(n, 40) for n in joints & self.by_motors)[:8])
            raise DescriptionError(
                f"gravcomp of {shown} is given by the motors of some joints ({some}) and not of others, which is not modelled; give "
                "actuatorgravcomp to all joints (then a controller does it), or to none.",
                field="joint.actuatorgravcomp",
            )
        shares = set(moving.values())
        if len(shares) > 1:
            return _told(
                robot.replace(base_link=replace(robot.base_link, balance=None)),
                f"gravcomp: some of the weight of {shown} is carried; their mass and inertia stay.",
            )
        share = shares.pop()
        robot = _without(robot).replace(gravity=tuple((1.0 - share) * g for g in robot.gravity))
        return _told(robot, f"gravcomp={share:g} of every body: gravity is {1.0 - share:g} of what the file states.")


def _told(robot: Robot, note: str) -> Robot:
    return robot.replace(notes=(*robot.notes, note))


def _without(robot: Robot) -> Robot:
    """The robot that carries its weight itself."""
    if all(link.balance is None for link in (robot.base_link, *robot.bodies)):
        return robot
    links = tuple(replace(link, balance=None) for link in robot.links)
    followers = tuple(replace(f, link=replace(f.link, balance=None)) for f in robot.followers)
    return robot.replace(links=links, followers=followers, base_link=replace(robot.base_link, balance=None))

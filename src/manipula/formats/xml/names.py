"""Names that a writer must invent without touching the robot's own, and what a writer cannot write."""

from __future__ import annotations

from manipula.errors import DescriptionError, printable
from manipula.robot import Robot
from manipula.robot.build import check_name


class Names:
    """The names in use, of links and frames or of joints; ``fresh`` gives one that is not."""

    def __init__(self, robot: Robot, joints: bool = False) -> None:
        if joints:
            self.used = {j.name for j in robot.moving_joints}
        else:
            self.used = {robot.base_link.name, *robot.frame_names, *(link.name for link in robot.bodies)}

    def fresh(self, stem: str) -> str:
        number, name = 1, stem
        while name in self.used:
            number, name = number + 1, f"{stem}_{number}"
        self.used.add(name)
        return name


def refuse_balance(robot: Robot, format_name: str) -> None:
    """No place for weight that something else carries."""
    link = next((x for x in robot.bodies if x.balance is not None), None)
    if link is not None:
        raise DescriptionError(
            f"{format_name} has no place for weight that something else carries (the balance of link '{printable(link.name, 60)}'); TOML and MJCF do.",
            field=f"link '{printable(link.name, 60)}'")  # fmt: skip


def refuse_symbols(robot: Robot, format_name: str) -> None:
    """Only numbers can be written, and every name once."""
    if robot.parameters:
        free = ", ".join(robot.parameters[:10]) + (" …" if len(robot.parameters) > 10 else "")
        raise DescriptionError(
            f"{format_name} holds numbers only, but robot '{printable(robot.name, 60)}' has the free parameters {free}; "
            "fix them with robot.with_parameters(...).")  # fmt: skip
    check_name("robot", robot.name)
    for kind, names in (
        ("link", [robot.base_link.name, *(x.name for x in robot.bodies)]),
        ("joint", [j.name for j in robot.moving_joints]),
    ):
        for name in names:
            check_name(kind, name)
        if len(set(names)) < len(names):
            raise DescriptionError(f"Two {kind}s of robot '{printable(robot.name, 60)}' share a name.")
    own = {robot.base_link.name: -1} | {link.name: i for i, link in enumerate(robot.bodies)}
    for f in robot.frames:
        check_name("frame", f.name)
        if f.name in own and (f.link != own[f.name] or not f.pose.is_identity):
            raise DescriptionError(f"Frame '{printable(f.name)}' is not the frame of the link of that name.")

"""What a URDF, MJCF or SDF file says, before the robot is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from manipula.algebra.pose import IDENTITY, Pose
from manipula.errors import printable
from manipula.formats.appearance import Looks
from manipula.robot import Payload, Robot
from manipula.robot.appearance import VisualDraft
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.robot import STANDARD_GRAVITY
from manipula.robot.selection import EVERYTHING, Selection


@dataclass
class RobotDraft:
    """Links, joints, frames and what stands around them."""

    name: str
    links: list[LinkDraft] = field(default_factory=list)
    joints: list[JointDraft] = field(default_factory=list)
    frames: list[FrameDraft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    gravity: Any = STANDARD_GRAVITY
    base: Pose = IDENTITY
    tool: Pose = IDENTITY
    tip: str | None = None
    payload: Payload | None = None
    postures: dict[str, dict[str, float]] = field(default_factory=dict)
    shapes: list[VisualDraft] = field(default_factory=list)

    def build(self, tip: str | None = None, selection: Selection = EVERYTHING) -> Robot:
        """The robot; ``tip`` is the caller's word, which wins over the file's."""
        return build_robot(
            self.name,
            self.links,
            self.joints,
            frames=self.frames,
            gravity=self.gravity,
            base=self.base,
            tool=self.tool,
            payload=self.payload,
            tip=tip if tip is not None else self.tip,
            postures=self.postures,
            shapes=self.shapes,
            notes=self.notes,
            selection=selection,
        )

    def show(self, looks: Looks) -> None:
        """Take the shapes that were found, and what is told about the others."""
        self.shapes += looks.shapes
        self.notes += looks.notes()

    def link(self, name: str) -> LinkDraft | None:
        return next((x for x in self.links if x.name == name), None)

    def take_leaf(self, name: str) -> tuple[LinkDraft, JointDraft] | None:
        """Remove and return a link on a fixed joint that carries neither joints nor frames; ``None`` if it is no such link."""
        link = self.link(name)
        joint = next((j for j in self.joints if j.child == name), None)
        used = any(j.parent == name for j in self.joints) or any(f.link == name for f in self.frames)
        if link is None or joint is None or joint.kind != "fixed" or used:
            return None
        self.links.remove(link)
        self.joints.remove(joint)
        return link, joint


def what_to_do(joint: JointDraft) -> str:
    """How a file loads whose joint cannot be modelled."""
    name, link = printable(joint.name, 60), printable(joint.child, 60)
    return (
        f"Hold it where the file puts it: lock={{'{name}': 0}}; leave it out with all beyond it: drop=['{name}']; or begin "
        f"behind it: chain=('{link}', TIP)."
    )

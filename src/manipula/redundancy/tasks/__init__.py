"""Tasks with priorities: what an arm is to do, most important first.

==============  ======================================================================
``priorities``  levels of a list of tasks, bounds from the limits of the joints
``frame``       position, orientation, pose of any frame
``whole_arm``   a posture, the centre of mass, the smallest torques
``base``        what a task is
==============  ======================================================================
"""

from __future__ import annotations

from manipula.parts.registry import PartKind
from manipula.redundancy.tasks.base import ArmTask
from manipula.redundancy.tasks.frame import FrameOrientation, FramePose, FramePosition
from manipula.redundancy.tasks.whole_arm import CentreOfMass, JointPosture, LeastTorque

REGISTRY: dict[str, type[ArmTask]] = {
    t.name: t for t in (FramePosition, FrameOrientation, FramePose, JointPosture, CentreOfMass, LeastTorque)
}
KIND = PartKind("task", "task", REGISTRY, "manipula.redundancy.tasks.REGISTRY")

__all__ = [
    "KIND",
    "REGISTRY",
    "ArmTask",
    "CentreOfMass",
    "FrameOrientation",
    "FramePose",
    "FramePosition",
    "JointPosture",
    "LeastTorque",
]

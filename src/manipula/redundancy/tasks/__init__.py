"""Tasks with priorities: what an arm is to do, most important first.

==============  ======================================================================
``priorities``  levels of a list of tasks, bounds from the limits of the joints
``frame``       position, orientation, pose of any frame
``whole_arm``   a posture, the centre of mass, the smallest torques
``base``        what a task is
==============  ======================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manipula.parts.registry import PartKind, PartRegistry
from manipula.redundancy.tasks.base import ArmTask

REGISTRY: PartRegistry[type[ArmTask]] = PartRegistry(
    __name__,
    frame_position="frame:FramePosition",
    frame_orientation="frame:FrameOrientation",
    frame_pose="frame:FramePose",
    joint_posture="whole_arm:JointPosture",
    centre_of_mass="whole_arm:CentreOfMass",
    least_torque="whole_arm:LeastTorque",
)
KIND = PartKind("task", "task", REGISTRY, "manipula.redundancy.tasks.REGISTRY", public="mp.control")
__getattr__ = REGISTRY.names()

if TYPE_CHECKING:
    from manipula.redundancy.tasks.frame import FrameOrientation, FramePose, FramePosition
    from manipula.redundancy.tasks.whole_arm import CentreOfMass, JointPosture, LeastTorque

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

__dir__ = REGISTRY.listed(__all__)

"""What a manipulator is."""

from __future__ import annotations

from manipula.robot.joint import Joint
from manipula.robot.limits import Limits
from manipula.robot.link import Frame, Link, Payload
from manipula.robot.robot import Robot

__all__ = ["Frame", "Joint", "Limits", "Link", "Payload", "Robot"]

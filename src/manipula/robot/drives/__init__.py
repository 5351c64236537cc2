"""Drives: one file per kind, one line in the registry gives it its name in files.

============  ====================================================================
``base``      what a drive is: from the commanded torque to the torque on the link
``rigid``     an ideal gear, with optional limits of torque and speed
``flexible``  a spring and a damper between motor and link
``spring``    a spring beside the motor
``dc_motor``  a permanent-magnet DC motor under a limited voltage
``gear``      one gear ratio for a joint and its drive
============  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manipula.parts.registry import PartKind, PartRegistry
from manipula.robot.drives.base import Drive

REGISTRY: PartRegistry[type[Drive]] = PartRegistry(
    __name__, rigid="rigid:Rigid", spring="spring:Spring", flexible="flexible:Flexible", dc_motor="dc_motor:DCMotor"
)
KIND = PartKind("drive", "drive", REGISTRY, "manipula.robot.drives.REGISTRY", public="mp.drives")
__getattr__ = REGISTRY.names()

if TYPE_CHECKING:
    from manipula.robot.drives.dc_motor import DCMotor
    from manipula.robot.drives.flexible import Flexible
    from manipula.robot.drives.rigid import Rigid
    from manipula.robot.drives.spring import Spring

__all__ = ["KIND", "REGISTRY", "DCMotor", "Drive", "Flexible", "Rigid", "Spring"]

__dir__ = REGISTRY.listed(__all__)

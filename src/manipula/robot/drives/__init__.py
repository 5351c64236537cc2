"""Drives: one file a kind, one line in the registry gives it its name in files."""

from __future__ import annotations

from manipula.parts.registry import PartKind
from manipula.robot.drives.base import Drive
from manipula.robot.drives.dc_motor import DCMotor
from manipula.robot.drives.flexible import Flexible
from manipula.robot.drives.rigid import Rigid

REGISTRY: dict[str, type[Drive]] = {drive.name: drive for drive in (Rigid, Flexible, DCMotor)}
KIND = PartKind("drive", "drive", REGISTRY, "manipula.robot.drives.REGISTRY")

__all__ = ["KIND", "REGISTRY", "DCMotor", "Drive", "Flexible", "Rigid"]

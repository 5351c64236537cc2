"""Drives: one file a kind, one line in the registry gives it its name in files."""

from __future__ import annotations

from manipula.robot.drives.base import Drive
from manipula.robot.drives.rigid import Rigid

REGISTRY: dict[str, type[Drive]] = {drive.name: drive for drive in (Rigid,)}

__all__ = ["REGISTRY", "Drive", "Rigid"]

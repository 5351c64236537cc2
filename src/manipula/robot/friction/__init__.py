"""Friction laws: one file a law, one line in the registry gives it its name in files."""

from __future__ import annotations

from manipula.robot.friction.base import FrictionLaw
from manipula.robot.friction.viscous import Viscous

REGISTRY: dict[str, type[FrictionLaw]] = {law.name: law for law in (Viscous,)}

__all__ = ["REGISTRY", "FrictionLaw", "Viscous"]

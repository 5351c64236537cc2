"""A motor bolted to its joint through an ideal gear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from manipula.robot.drives.base import Drive


@dataclass(frozen=True)
class Rigid(Drive):
    """No states: rotor inertia and gear ratio are fields of the joint and sit in M."""

    name: ClassVar[str] = "rigid"

r"""What a drive is: the path from motor to joint.

A rigid drive only adds ``gear_ratio² · rotor_inertia`` to M. Other drives have states of their own (the motor's angle
and rate) and give the torque that reaches the link.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar


class Drive(ABC):
    """One drive for one joint; a frozen dataclass of parameters."""

    name: ClassVar[str]
    states: ClassVar[int] = 0  # motor states that are integrated with the arm

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a file: the registry name under ``drive`` and the parameters."""
        from dataclasses import fields

        return {"drive": self.name} | {f.name: getattr(self, f.name) for f in fields(self)}  # pyright: ignore[reportArgumentType]

"""What a joint may do. ``None`` means: not stated (never: zero)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, on the joint side of the gearbox.

    Attributes:
        lower, upper: position [rad or m].
        velocity: largest |qd| [rad/s or m/s].
        acceleration: largest |qdd| [rad/s² or m/s²].
        jerk: largest |qddd| [rad/s³ or m/s³].
        effort: largest |tau| [N·m or N].
    """

    lower: Any = None
    upper: Any = None
    velocity: Any = None
    acceleration: Any = None
    jerk: Any = None
    effort: Any = None


UNLIMITED = Limits()

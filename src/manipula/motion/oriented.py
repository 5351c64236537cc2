"""Whether a motion says how the tool is turned; here, so that a run without a reference does not load the motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from manipula.motion.trajectory import OrientedTrajectory


def has_orientation(trajectory: Any) -> TypeGuard[OrientedTrajectory]:
    """Does the motion (of ours, or anything with the same methods) say how the tool is turned?"""
    return bool(getattr(trajectory, "has_orientation", False))

"""One gear between a motor and its joint: the joint and the drive must mean the same ratio."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from manipula.errors import DescriptionError, printable
from manipula.robot.drives.base import Drive


def geared(drive: Drive | None, joint: Any, **place: Any) -> Drive | None:
    """The drive with the gear ratio of its joint, where it states none of its own.

    A joint whose ratio is 1 is taken to say nothing about a gear.

    Raises:
        DescriptionError: when both state a ratio and they differ.
    """
    if drive is None or not hasattr(drive, "gear_ratio"):
        return drive
    own: Any = drive.gear_ratio  # pyright: ignore[reportAttributeAccessIssue]
    if own is None:
        part: Any = drive
        return replace(part, gear_ratio=joint.gear_ratio)
    if joint.gear_ratio not in (1.0, own):
        raise DescriptionError(
            f"Joint '{printable(joint.name)}' has a gear ratio of {printable(joint.gear_ratio)}, its drive '{drive.name}' one of "
            f"{printable(own)}: state it once (without gear_ratio the drive takes that of the joint), or the same in both.",
            **{"field": "gear_ratio", **place},
        )
    return drive

"""Task references that ask for motion where no joint can move what follows them: told, with how much is not followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.errors import printable
from manipula.physics import kinematics
from manipula.redundancy.arm import Arm
from manipula.robot.link import TIP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from manipula.motion.trajectory import Trajectory
    from manipula.simulation.scenario import Scenario

LOOKS = 129  # times at which a reference is looked at


def immovable_notes(s: Scenario) -> tuple[str, ...]:
    """A sentence on every reference of which a coordinate is followed by nobody, because no joint moves the frame there."""
    references = [
        ("reference", s.reference),
        *((f"switches[{i}].reference", w.reference) for i, w in enumerate(s.switches)),
    ]
    followed = [(field, r) for field, r in references if r is not None and r.space == "task"]
    if not followed or s.robot.parameters:
        return ()
    found = {
        _told(s, field, reference, frame, coordinates)
        for field, reference in followed
        for frame, coordinates in dict.fromkeys(_followers(s))
    }
    return tuple(sorted(found - {""}))


def _followers(s: Scenario) -> Iterator[tuple[str, str]]:
    """Frames that follow the position of the reference, and the coordinates in which they do."""
    if s.resolved_kind() == "dynamic" and getattr(s.controller, "space", "") != "task":
        return
    tasks: Any = s.tasks or getattr(s.controller, "tasks", None)
    if not tasks:
        yield TIP, "xyz"
    for task in tasks or ():
        if task.follows and task.follows_place and hasattr(task, "frame"):
            asked = getattr(task, "coordinates", "auto")
            yield task.frame, "xyz" if asked == "auto" else asked


def _told(s: Scenario, field: str, reference: Trajectory, frame: str, coordinates: str) -> str:
    q = np.zeros(s.robot.n) if s.q0 is None else np.atleast_2d(np.asarray(s.q0, float))[0]
    fixed = [k for k in range(3) if k not in Arm(s.robot, frame=frame).task and "xyz"[k] in coordinates]
    if not fixed:
        return ""
    stays = np.asarray(kinematics.position(s.robot, q, frame), float)
    times = np.linspace(0.0, min(float(s.duration or 0.0), float(reference.duration)), LOOKS)
    path = np.asarray(reference.position(times), float)
    off = {k: float(np.abs(path[:, k] - stays[k]).max()) for k in fixed if k < path.shape[1]}
    missed = {k: size for k, size in off.items() if size > s.tolerance}
    if not missed:
        return ""
    what = "its tip" if frame == TIP else f"its frame '{printable(frame)}'"
    sizes = ", ".join(f"{size:.3g} m along {'xyz'[k]}" for k, size in missed.items())
    return f"{field}: no joint of '{printable(s.robot.name)}' moves {what} there, so that this part of it is not followed: up to {sizes}."

"""Payloads and tools that change during a run: what the tip carries, and where the tip is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.ops import Scalar
from manipula.algebra.pose import Pose
from manipula.algebra.rotation import from_rpy
from manipula.physics.mechanism import Mechanism
from manipula.robot.link import TIP, Payload
from manipula.robot.robot import Robot
from manipula.simulation.plant.disturbances import PayloadChange, inertia_matrix


def exchanged(robot: Robot, changes: Sequence[PayloadChange], t: Scalar) -> tuple[Robot, Pose | None]:
    """The robot with what it carries at time t, and where the tip is in its own tool frame; none where no change moves it."""
    tool = Pose() if any(change.tool is not None for change in changes) else None
    latest: Scalar = -1e300
    latest_tool: Scalar = -1e300
    for change in changes:  # in whatever order they are listed, the latest one holds
        changed = (t >= change.time) & (change.time >= latest)
        latest = ops.where(changed, change.time, latest)
        robot = replace(robot, payload=_carried(robot.payload, change, changed))
        if tool is not None and change.tool is not None:  # one without a tool leaves the tip where it is
            changed = (t >= change.time) & (change.time >= latest_tool)
            latest_tool = ops.where(changed, change.time, latest_tool)
            tool = _retooled(tool, change, changed)
    return robot, tool


def with_tool(mechanism: Mechanism, tool: Pose, names: Collection[str]) -> Mechanism:
    """The mechanism whose tip stands at ``tool`` in its described tool frame; ``names``: of the robot's own frames."""
    own = mechanism.frames[TIP]
    moved = replace(own, pose=own.pose @ tool)
    tips = {TIP: moved, **({} if "tip" in names else {"tip": moved})}
    return replace(mechanism, frames={**mechanism.frames, **tips})


def _carried(before: Payload | None, change: PayloadChange, changed: Any) -> Payload:
    """What the tip carries: the new body once the change has happened, the robot's own payload until then."""
    point = change.inertia is None
    if before is None and point:
        return Payload(ops.where(changed, change.mass, 0.0), change.com)
    old = Payload(0.0) if before is None else before
    new = np.zeros((3, 3)) if point else inertia_matrix(change.inertia)
    com = [ops.where(changed, a, b) for a, b in zip(change.com, old.com)]
    inertia = [[ops.where(changed, a, b) for a, b in zip(*rows)] for rows in zip(new, old.inertia)]
    return Payload(ops.where(changed, change.mass, old.mass), tuple(com), tuple(map(tuple, inertia)))  # pyright: ignore[reportArgumentType]


def _retooled(before: Pose, change: PayloadChange, changed: Any) -> Pose:
    """Where the tip is in the robot's tool frame, once the change has happened and until then."""
    R = [[ops.where(changed, a, b) for a, b in zip(*rows)] for rows in zip(from_rpy(*change.tool_rpy), before.R)]
    return Pose.of(R, [ops.where(changed, a, b) for a, b in zip(change.tool, before.p)])

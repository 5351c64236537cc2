"""Instants that depend on the state: contacts that open or close, joints that come to rest or break away, switches."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.plant import switch
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.sticking import SLACK, resting_modes, sticky
from manipula.simulation.plant.surroundings import Surroundings


def contact_sides(plant: Plant, t: Scalar, x: Vector) -> list[Scalar]:
    """On which side of every contact the arm is: 1 apart, -1 touching."""
    return [ops.where(gap > 0.0, 1.0, -1.0) for gap in _gaps(plant, t, x)]


def breach(plant: Plant, t: Scalar, x: Vector, sides: list[Scalar], *decided: Any) -> Scalar:
    """Below zero once something has happened that ends a step: a contact opened or closed, a joint turned around or broke away.

    Args:
        sides: at the beginning of the step. decided: noise and command, where they are held over a step.
    """
    worst = switch.breach(plant, t, x)
    for side, gap in zip(sides, _gaps(plant, t, x)):
        worst = ops.minimum(worst, side * gap)
    joints = sticky(plant.friction)
    if joints:
        at, qd = plant.flow(t, x, *decided).sticking, plant.layout.qd(x)
        assert at is not None
        modes = [plant.layout.friction_states(x)[i][0] for i in joints]
        for i, mode, force in zip(joints, modes, at.reaction):
            limit = plant.friction[i].hold * (1.0 + SLACK)  # pyright: ignore[reportOptionalMemberAccess]
            worst = ops.minimum(worst, ops.where(ops.abs(mode) > 0.5, mode * qd[i], limit - ops.abs(force)))
    return worst


def settled(plant: Plant, t: Scalar, x: Vector, *decided: Any) -> np.ndarray:
    """The state after what ended a step: joints that turned around rest, and those that cannot be held break away."""
    joints, lay, x = sticky(plant.friction), plant.layout, switch.settled(plant, t, x)
    if not joints:
        return array(x)
    x = array(x).astype(object)
    modes, resting = [], []
    for i in joints:
        at, mode, speed = lay.friction_start(i), lay.friction_states(x)[i][0], lay.qd(x)[i]
        rests = (ops.abs(mode) < 0.5) | (mode * speed < 0.0)
        resting.append(ops.where(rests, 1.0, 0.0))
        modes.append(mode)
        x[lay.n + i] = ops.where(rests, 0.0, speed)
        x[at] = ops.where(rests, 0.0, mode)
    found = plant.flow(t, x, *decided).sticking
    assert found is not None
    hold = array([plant.friction[i].hold for i in joints])  # pyright: ignore[reportOptionalMemberAccess]
    for i, mode in zip(joints, resting_modes(found, hold, modes, resting)):
        x[lay.friction_start(i)] = mode
    return array(x)


def _gaps(plant: Plant, t: Scalar, x: Vector) -> list[Scalar]:
    if not plant.contacts:
        return []
    base = None if plant.base_motion is None else plant.base_motion.at(t)
    around = Surroundings(plant.mechanism(t), plant.layout.q(x), plant.layout.qd(x), base)
    return [gap for contact in plant.contacts for gap in contact.touch(around).gaps]

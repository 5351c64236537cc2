"""Instants that depend on the state: contacts that open or close, joints that come to rest or break away, switches."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.simulation.plant import switch
from manipula.simulation.plant.contact.base import Contact
from manipula.simulation.plant.plant import Plant
from manipula.simulation.plant.sticking import SLACK, resting_modes, sticky

FARTHEST = 1e300  # a distance: none
NEAR = 0.02  # of how far a distance falls within a step
ROUNDING = 1e-14  # of a distance of size 1


def contact_sides(plant: Plant, t: Scalar, x: Vector) -> list[Scalar]:
    """On which side of every contact the arm is: 1 apart, -1 touching."""
    return [ops.where(gap > 0.0, 1.0, -1.0) for gap in _gaps(plant, t, x)]


def nothing_touches(plant: Plant, sides: list[Scalar], x: Vector) -> Scalar:
    """1 where nothing touches and no joint rests, so that steps need neither contacts nor reactions; else 0."""
    free: Scalar = 1.0
    for side in sides:
        free = ops.minimum(free, side)
    for i in sticky(plant.friction):
        free = ops.minimum(free, ops.abs(plant.layout.friction_states(x)[i][0]))
    return ops.where(free > 0.5, 1.0, 0.0)


def breach(plant: Plant, t: Scalar, x: Vector, *decided: Any) -> Scalar:
    """Below zero once something has happened that ends a step, beside contacts: a joint turned around or broke away, a switch.

    Args:
        decided: noise and command, where they are held over a step.
    """
    worst = switch.breach(plant, t, x)
    joints, qd = sticky(plant.friction), plant.layout.qd(x)
    modes = [plant.layout.friction_states(x)[i][0] for i in joints]
    rests: Scalar = 0.0
    for i, mode in zip(joints, modes):
        slides = ops.abs(mode) > 0.5
        worst = ops.minimum(worst, ops.where(slides, mode * qd[i], FARTHEST))
        rests = ops.maximum(rests, ops.where(slides, 0.0, 1.0))
    if not joints:
        return worst

    def overloaded(worst: Scalar, todo: Scalar, x: Vector) -> tuple[Scalar, Scalar, Vector]:
        at = plant.flow(t, x, *decided).sticking
        assert at is not None
        for i, mode, force in zip(joints, modes, at.reaction):
            limit = plant.friction[i].hold * (1.0 + SLACK)  # pyright: ignore[reportOptionalMemberAccess]
            worst = ops.minimum(worst, ops.where(ops.abs(mode) > 0.5, FARTHEST, limit - ops.abs(force)))
        return worst, 0.0 * todo, _only_inside(x)

    return native.until(overloaded, (worst, rests, array(x)), lambda _, todo, __: todo < 0.5, 1.0).state[0]


def touched(plant: Plant, t: Scalar, x: Vector, h: Scalar, new: Vector, sides: list[Scalar]) -> Scalar:
    r"""Below zero when a contact closed or opened within a step, also when it was at its end what it had been, or may have.

    Joints are taken along the cubics of their positions and velocities at both ends, distances along the parabola through both ends and the
    middle of the step; what counts is the distance d itself at the lowest point of the parabola. A step in which
    :math:`d < \mathtt{NEAR}\,(d_{max} - d)` is too long to tell: cubic and parabola are off by a share of how far the distance falls that goes
    with h². Where joints do not go far enough within the step for any of this (:func:`_near`), nothing but the distances at its beginning is computed.

    Args:
        sides: at the beginning of the step.
    """
    lay, n = plant.layout, plant.layout.n
    if not plant.contacts:
        return FARTHEST
    starts = _gaps(plant, t, x)

    def between(s: Scalar, h: Scalar) -> list[Scalar]:
        q, qd, end, rate = lay.q(x), lay.qd(x), lay.q(new), lay.qd(new)
        u = 1.0 - s
        along = [
            u * u * (1.0 + 2.0 * s) * a + s * s * (3.0 - 2.0 * s) * b + h * s * u * (u * v - s * w)
            for a, b, v, w in zip(q, end, qd, rate)
        ]
        return _gaps(plant, t + s * h, array([*along, *x[n:]]))

    def lowest(h: Scalar, new: Vector) -> Scalar:
        worst: Scalar = FARTHEST
        for k, (side, start, middle, end) in enumerate(zip(sides, starts, between(0.5, h), _gaps(plant, t + h, new))):
            a, m, b = side * start, side * middle, side * end
            bend, slope = 2.0 * (a + b - 2.0 * m), 4.0 * m - b - 3.0 * a
            inside = (slope < 0.0) & (2.0 * bend + slope > 0.0)
            place = ops.where(inside, -0.5 * slope / ops.where(inside, bend, 1.0), 0.5)
            d = side * between(place, h)[k]
            fall = ops.maximum(a, b) - d
            told = inside & (fall > ROUNDING * (1.0 + ops.abs(a)))
            worst = ops.minimum(ops.minimum(worst, b), ops.where(told, d - NEAR * fall, FARTHEST))
        return worst

    near = _near(plant, t, x, h, new, [side * start for side, start in zip(sides, starts)])
    if near is None:
        return lowest(h, new)

    def look(_: Scalar, todo: Scalar, end: Vector) -> tuple[Scalar, Scalar, Vector]:
        return lowest(end[0], end[1:]), 0.0 * todo, _only_inside(end)

    state = FARTHEST, near, array([h, *new])
    return native.until(look, state, lambda _, todo, __: todo < 0.5, 1.0).state[0]


def _only_inside(x: Vector) -> np.ndarray:
    """What a loop that turns at most once hands on of numbers that it reads: others, which nobody reads.

    Whatever does not depend on a loop is computed before it, whether it turns or not, by the tracer and by LLVM; so a loop that seldom turns
    reads numbers of its own, and these have to change.
    """
    return np.roll(array(x), 1)


def _near(plant: Plant, t: Scalar, x: Vector, h: Scalar, new: Vector, starts: list[Scalar]) -> Scalar | None:
    r"""1 where a distance may come to zero within a step, 0 where the arm does not get that far, none where nobody knows.

    A joint on the cubic of its positions and velocities at both ends goes a way of at most
    :math:`|\Delta q| + \tfrac8{27}h(|\dot q_0| + |\dot q_1|)`; on the ways of all joints a distance changes by at most what ``Contact.travel`` says.
    A state that is no number is near.

    Args:
        starts: the distances at the beginning, of every contact.
    """
    lay = plant.layout
    ends = zip(lay.q(x), lay.q(new), lay.qd(x), lay.qd(new))
    way = [ops.abs(b - a) + (8.0 / 27.0) * h * (ops.abs(v) + ops.abs(w)) for a, b, v, w in ends]
    around = plant.surroundings(t, x)
    travels = [contact.travel(around, way) if _says_how_far(contact) else None for contact in plant.contacts]
    if any(travel is None for travel in travels):
        return None
    farthest: Scalar = 0.0
    for travel in travels:
        farthest = ops.maximum(farthest, travel)
    least: Scalar = FARTHEST
    for distance in starts:
        least = ops.minimum(least, distance)
    return ops.where(least > (1.0 + 2.0 * NEAR) * farthest + ROUNDING, 0.0, 1.0)


def _says_how_far(contact: Contact) -> bool:
    """Does ``travel`` belong to the distances that it gives, and not to those of a class that it extends?"""
    owners = [next(c for c in type(contact).__mro__ if name in vars(c)) for name in ("touch", "travel")]
    return owners[0] is owners[1]


def state_after_event(plant: Plant, t: Scalar, x: Vector, *decided: Any) -> np.ndarray:
    """The state after what ended a step: joints that turned around rest, and those that cannot be held break away."""
    joints, lay, x = sticky(plant.friction), plant.layout, switch.state_after_switches(plant, t, x)
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
    around = plant.surroundings(t, x)
    return [gap for contact in plant.contacts for gap in contact.touch(around).gaps]

"""Three parallel revolute axes, with a slide along them (SCARA) or without (planar 3R): position in the plane and angle."""

from __future__ import annotations

from collections.abc import Sequence

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Vector
from manipula.ik.closed_form.geometry import Axis, Lines, Relations, carry, turn_vector
from manipula.ik.closed_form.positioning.rrr import planar_pair
from manipula.ik.closed_form.program import ClosedFormProgram, Row
from manipula.ik.closed_form.subproblems import CosSin, any_normal, rotate_back, turn_onto


def planar_three(axes: Sequence[Axis], point: Vector, side: Vector) -> list[list[CosSin]]:
    """Both (θ₁, θ₂, θ₃) of parallel axes: elbow, then angle.

    Args:
        axes: the joints. point: where the motion takes the third axis's point, at the same height along the axes.
        side: what it makes of ``any_normal(axes[0].h)``.
    """
    one, two, three = axes
    v = any_normal(one.h)
    out = []
    for t1, t2 in planar_pair(one, two, three.p, point):
        back = rotate_back(two.h, t2, rotate_back(one.h, t1, side))
        out.append([t1, t2, turn_onto(three.h, v, back)])
    return out


class PlanarPoseArm(ClosedFormProgram):
    """Three parallel axes and perhaps a slide along them, in any order: turns and slide commute."""

    kind, branches = "pose", 2

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.turning = [a for a in axes if a.revolute]
        slides = [i for i, a in enumerate(axes) if not a.revolute]
        self.slide = slides[0] if slides else None
        self.slide_axis = axes[slides[0]] if slides else None
        self.name = "planar 3R" if self.slide is None else f"SCARA {''.join('R' if a.revolute else 'P' for a in axes)}"

    def rows(self, target: Vector) -> list[Row]:
        h = self.turning[0].h
        point = carry(target, self.turning[2].p)
        rise = dot(h, point - self.turning[2].p)
        turns = planar_three(self.turning, array(point - rise * h), turn_vector(target, any_normal(h)))
        if self.slide is None or self.slide_axis is None:
            return [list(t) for t in turns]
        d = rise * float(h @ self.slide_axis.h)
        return [[*t[: self.slide], d, *t[self.slide :]] for t in turns]


def recognise(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for RRR or RRRP, RRPR, RPRR, PRRR with all axes parallel."""
    if sorted(lines.kinds) not in (["R"] * 3, ["P", "R", "R", "R"]) or not relations.parallel(*lines.axes):
        return None
    return PlanarPoseArm(lines.axes)

r"""Seven joints, spherical–revolute–spherical (KUKA LBR iiwa): shoulder S and wrist W are points, the elbow turns about the line S–W.

The distance of W from S gives the elbow joint. The arm angle ψ turns the normal of the arm's plane (the elbow axis) about S–W, counted from
the plane that also holds the direction of axis 1: unlike the position of the elbow it is defined for a stretched arm as well. For a given ψ
there are eight postures: elbow, shoulder and wrist, two each [Shimizu et al. 2008].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import Axis, Lines, Relations, carry, turn_vector
from manipula.ik.closed_form.program import ClosedFormProgram, Row
from manipula.ik.closed_form.subproblems import (
    CosSin,
    any_normal,
    cos_sin_of,
    rotate,
    rotate_back,
    turn_onto,
    turn_to_distance,
)  # fmt: skip
from manipula.ik.closed_form.wrist import orientation

OVERHEAD = 1e-12  # squared sine between axis 1 and S–W below which another reference plane is taken


class SphericalRevoluteSpherical(ClosedFormProgram):
    """S–R–S with the arm angle as parameter."""

    kind, branches, name, parameter = "pose", 8, "spherical–revolute–spherical", "arm_angle"

    def __init__(self, axes: Sequence[Axis], shoulder: np.ndarray, wrist: np.ndarray) -> None:
        self.axes, self.S, self.W = axes, shoulder, wrist

    def rows(self, target: Vector, parameter: Scalar = 0.0) -> list[Row]:
        elbow = self.axes[3]
        goal = array(carry(target, self.W) - self.S)
        normal = rotate(_unit(goal), cos_sin_of(parameter), self._reference(goal))
        out: list[Row] = []
        for t4 in turn_to_distance(elbow.h, self.W - elbow.p, self.S - elbow.p, dot(goal, goal)):
            x = array(elbow.move(t4, self.W) - self.S)
            body = _triad(x, elbow.h)
            space = _triad(goal, normal)
            out += self._both_ends(target, t4, body, space)
        return out

    def _both_ends(self, G: Vector, t4: CosSin, body: list[np.ndarray], space: list[np.ndarray]) -> list[Row]:
        shoulder, elbow, wrist = self.axes[:3], self.axes[3], self.axes[4:]

        def forth(v: Vector) -> np.ndarray:
            parts = [dot(b, v) for b in body]
            return array(parts[0] * space[0] + parts[1] * space[1] + parts[2] * space[2])

        def back(v: Vector) -> np.ndarray:
            parts = [dot(s, v) for s in space]
            return array(parts[0] * body[0] + parts[1] * body[1] + parts[2] * body[2])

        h = [a.h for a in shoulder]
        first = orientation(h, forth(h[2]), forth(any_normal(h[2])))
        h = [a.h for a in wrist]
        inner = [rotate_back(elbow.h, t4, back(turn_vector(G, v))) for v in (h[2], any_normal(h[2]))]
        last = orientation(h, inner[0], inner[1])
        return [[*a, t4, *b] for a in first for b in last]

    def _reference(self, goal: Vector) -> np.ndarray:
        """Normal of the plane of S–W and axis 1."""
        h = self.axes[0].h
        main, other = cross(goal, h), cross(goal, any_normal(h))
        overhead = dot(main, main) <= OVERHEAD * dot(goal, goal)
        return _unit(array([ops.where(overhead, b, a) for a, b in zip(main, other)]))

    def parameter_of(self, q: np.ndarray) -> float:
        """The arm angle of a posture."""
        x, normal = self.W, self.axes[3].h
        for a, angle in zip(reversed(self.axes[:4]), np.asarray(q, float)[3::-1]):
            t = cos_sin_of(float(angle))
            x, normal = a.move(t, x), rotate(a.h, t, normal)
        goal = array(x - self.S)
        return float(turn_onto(_unit(goal), self._reference(goal), normal).angle())


def _unit(v: Vector) -> np.ndarray:
    return array(array(v) * (1.0 / ops.sqrt(ops.maximum(dot(v, v), 1e-280))))


def _triad(along: Vector, normal: Vector) -> list[np.ndarray]:
    """Orthonormal vectors: ``along``, the part of ``normal`` across it, and their product."""
    x = _unit(along)
    y = _unit(array(array(normal) - dot(x, normal) * x))
    return [x, y, cross(x, y)]


def recognise(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for seven revolute joints of which the first and the last three meet."""
    if lines.kinds != "R" * 7:
        return None
    shoulder, wrist = relations.meeting_point(*lines.axes[:3]), relations.meeting_point(*lines.axes[4:])
    if shoulder is None or wrist is None or np.linalg.norm(wrist - shoulder) < 1e-6 * lines.reach:
        return None
    return SphericalRevoluteSpherical(lines.axes, shoulder, wrist)

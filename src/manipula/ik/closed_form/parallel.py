r"""Six revolute joints of which three neighbours in the middle are parallel (Universal Robots and their kin).

Axes 2, 3, 4 parallel to h. With the motion :math:`G = E_1\cdots E_6`, a rotation about h changes neither h nor heights along it:

.. math:: h\cdot R_1^TR_G h_6 = h\cdot R_5h_6,\qquad h\cdot E_1^{-1}Gp_6 = h\cdot E_5p_6

are linear in the sines and cosines of θ₁ and θ₅ [Elias & Wen 2022]. When axes 5 and 6 meet in p₆ the second holds θ₁ alone. What is left
is a planar arm of three joints. Axes 3, 4, 5 parallel is the same read backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import Axis, Lines, Relations, carry, inverse_motion, turn_vector
from manipula.ik.closed_form.planar import planar_three
from manipula.ik.closed_form.program import ClosedFormProgram, Row, backwards
from manipula.ik.closed_form.quartic import LONGEST, Affine, combine, product, solve_trigonometric_quartic
from manipula.ik.closed_form.subproblems import (
    CosSin,
    any_normal,
    direction,
    rotate,
    rotate_back,
    turn_both,
    turn_onto,
    turn_to_plane,
)  # fmt: skip


class ParallelArm(ClosedFormProgram):
    """Axes 2, 3, 4 parallel; ``meeting`` is the common point of axes 5 and 6, if there is one."""

    kind, branches = "pose", 8
    name = "three parallel axes"

    def __init__(self, axes: Sequence[Axis], meeting: np.ndarray | None) -> None:
        self.axes, self.meeting = axes, meeting

    def rows(self, target: Vector) -> list[Row]:
        ends = self._ends_meeting(target) if self.meeting is not None else self._ends_general(target)
        out: list[Row] = []
        for t1, t5, t6 in ends:
            out += [[t1, *middle, t5, t6] for middle in self._middle(target, t1, t5, t6)]
        return out

    def _ends_meeting(self, G: Vector) -> list[tuple[CosSin, CosSin, CosSin]]:
        one, h = self.axes[0], self.axes[1].h
        out = []
        reach = array(carry(G, self.meeting) - one.p)
        for t1 in turn_to_plane(h, array(-one.h), reach, dot(h, self.meeting - one.p)):
            out += [(t1, t5, t6) for t5, t6 in self._last_two(G, t1)]
        return out

    def _last_two(self, G: Vector, t1: CosSin) -> list[tuple[CosSin, CosSin]]:
        """R5ᵀ h = R6 v with v = R_Gᵀ R1 h."""
        v = turn_vector(inverse_motion(G), rotate(self.axes[0].h, t1, self.axes[1].h))
        return turn_both(array(-self.axes[4].h), self.axes[1].h, self.axes[5].h, v)

    def _ends_general(self, G: Vector) -> list[tuple[CosSin, CosSin, CosSin]]:
        one, h, five, six = self.axes[0], self.axes[1].h, self.axes[4], self.axes[5]
        rows = [
            (_linear(h, array(-one.h), turn_vector(G, six.h)), _linear(h, five.h, six.h), 0.0),
            (
                _linear(h, array(-one.h), array(carry(G, six.p) - one.p)),
                _linear(h, five.h, six.p - five.p),
                dot(h, five.p - one.p),
            ),
        ]
        (a, b), (c, d) = (rows[0][0][1:], rows[1][0][1:])
        determinant = a * d - b * c
        right = [
            tuple(y + (k if i == 0 else 0.0) - (x[0] if i == 0 else 0.0) for i, y in enumerate(z)) for x, z, k in rows
        ]
        cosine = tuple(d * u - b * v for u, v in zip(*right))
        sine = tuple(a * v - c * u for u, v in zip(*right))
        f = combine(
            (1.0, product(cosine, cosine)), (1.0, product(sine, sine)), (-1.0, (determinant * determinant, 0.0, 0.0))
        )
        out = []
        for t5 in solve_trigonometric_quartic(f):
            c1, s1 = (x[0] + x[1] * t5.c + x[2] * t5.s for x in (cosine, sine))
            t1, t5 = _polished(rows, direction(c1 * determinant, s1 * determinant), t5)
            v = turn_vector(inverse_motion(G), rotate(one.h, t1, h))  # = R6ᵀ R5ᵀ h
            t6 = turn_onto(array(-six.h), rotate_back(five.h, t5, h), v)
            out.append((t1, t5, t6))
        return out

    def _middle(self, G: Vector, t1: CosSin, t5: CosSin, t6: CosSin) -> list[list[CosSin]]:
        one, five, six = self.axes[0], self.axes[4], self.axes[5]
        point = one.undo(t1, carry(G, six.undo(t6, five.undo(t5, self.axes[3].p))))
        v = any_normal(self.axes[1].h)
        side = rotate_back(one.h, t1, turn_vector(G, rotate_back(six.h, t6, rotate_back(five.h, t5, v))))
        h = self.axes[1].h
        flat = array(point - dot(h, point - self.axes[3].p) * h)
        return planar_three(self.axes[1:4], flat, side)


def _polished(rows: list[tuple[Affine, Affine, Scalar]], t1: CosSin, t5: CosSin) -> tuple[CosSin, CosSin]:
    """Newton steps on both equations: squaring and a small determinant cost digits."""
    for _ in range(2):
        values, slopes = [], []
        for x, y, constant in rows:
            values.append(x[0] + x[1] * t1.c + x[2] * t1.s - y[0] - y[1] * t5.c - y[2] * t5.s - constant)
            slopes.append((x[2] * t1.c - x[1] * t1.s, y[1] * t5.s - y[2] * t5.c))
        (a, b), (c, d) = slopes
        determinant = a * d - b * c
        dt1, dt5 = b * values[1] - d * values[0], c * values[0] - a * values[1]
        safe = ops.abs(determinant) * LONGEST > ops.maximum(ops.abs(dt1), ops.abs(dt5))
        scale = ops.where(safe, 1.0 / ops.where(safe, determinant, 1.0), 0.0)
        dt1, dt5 = dt1 * scale, dt5 * scale
        t1 = direction(t1.c - t1.s * dt1, t1.s + t1.c * dt1)
        t5 = direction(t5.c - t5.s * dt5, t5.s + t5.c * dt5)
    return t1, t5


def _linear(h: Vector, k: Vector, p: Vector) -> Affine:
    """h · R(k, θ) p as (constant, factor of cos, factor of sin)."""
    kp = cross(k, p)
    return dot(h, k) * dot(k, p), -dot(h, cross(k, kp)), dot(h, kp)


def recognise(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for six revolute joints with three parallel ones in the middle."""
    if lines.kinds != "RRRRRR":
        return None
    for axes, name in ((lines.axes, "2, 3, 4"), ([a.flipped() for a in reversed(lines.axes)], "3, 4, 5")):
        if not relations.parallel(*axes[1:4]):
            continue
        if (
            relations.parallel(axes[0], axes[1])
            or relations.parallel(axes[3], axes[4])
            or relations.parallel(*axes[4:])
        ):
            continue
        program = ParallelArm(axes, relations.meeting_point(*axes[4:]))
        program.name = f"three parallel axes ({name})"
        return program if axes is lines.axes else backwards(program, program.name)
    return None

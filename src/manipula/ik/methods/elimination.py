"""Elimination for any arm of six revolute joints."""

from __future__ import annotations

from typing import ClassVar

from manipula.ik.methods.base import AlgebraicMethod


class Elimination(AlgebraicMethod):
    r"""All postures of any six revolute joints: five unknowns are eliminated, the tangent of half the sixth angle is an eigenvalue,
    :math:`\det(A x^2 + B x + C) = 0` of degree 16 [Raghavan & Roth 1993; Manocha & Canny 1994]. Complete for arms without special geometry."""

    name: ClassVar[str] = "elimination"

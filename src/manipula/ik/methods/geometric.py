"""Closed forms."""

from __future__ import annotations

from typing import ClassVar

from manipula.ik.methods.base import AlgebraicMethod


class Geometric(AlgebraicMethod):
    r"""All postures by formulas, where the axes of the arm allow them: :math:`q = q(X)` from subproblems (angles about known lines) for
    spherical wrists, parallel axes, planar arms and shoulder–elbow–wrist arms [Pieper 1968; Paden 1986]. Complete and exact."""

    name: ClassVar[str] = "geometric"

"""Three joints that carry a point: ``t = E1(q1) E2(q2) E3(q3) c``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import Axis
from manipula.ik.closed_form.program import Row
from manipula.ik.closed_form.subproblems import CosSin, turn_both


class PositionArm(ABC):
    """All postures of a few joints that carry the point c (its place at q = 0) to t.

    Attributes:
        axes: the joints, from the base.
        name: for people.
        branches: length of what ``rows`` gives.
    """

    name: str
    branches: int

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)

    @abstractmethod
    def rows(self, c: Vector, t: Vector) -> list[Row]:
        """All postures, those that do not exist as NaN or as least-squares answers."""


class FirstTwoMeet(PositionArm):
    """Axes 1 and 2 meet in o: the distance of the target from o gives joint 3, two rotations the rest."""

    def __init__(self, axes: Sequence[Axis], meeting: np.ndarray) -> None:
        super().__init__(axes)
        self.o = meeting

    @abstractmethod
    def third(self, c: Vector, square: Scalar) -> Sequence[CosSin | Scalar]:
        """Both values of joint 3 that bring c to the squared distance from o."""

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        one, two, three = self.axes
        goal = array(t - self.o)
        out: list[Row] = []
        for value in self.third(c, dot(goal, goal)):
            x = array(three.move(value, c) - self.o)
            out += [[t1, t2, value] for t1, t2 in turn_both(array(-one.h), goal, two.h, x)]
        return out


class Mirrored(PositionArm):
    r"""Read backwards: :math:`c = E_3^{-1}E_2^{-1}E_1^{-1}\,t`."""

    def __init__(self, inner: PositionArm, axes: Sequence[Axis]) -> None:
        super().__init__(axes)
        self.inner, self.name, self.branches = inner, inner.name, inner.branches

    def rows(self, c: Vector, t: Vector) -> list[Row]:
        return [row[::-1] for row in self.inner.rows(t, c)]


def mirror(axes: Sequence[Axis]) -> list[Axis]:
    """The joints from the tip, each undoing what it did."""
    return [a.flipped() for a in reversed(axes)]

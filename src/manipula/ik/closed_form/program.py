"""What a closed form is made of: a straight-line program from a target to a fixed number of postures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form.geometry import inverse_motion
from manipula.ik.closed_form.subproblems import CosSin

Row = list[CosSin | Scalar]  # one posture: angles as (cos, sin), slides as numbers
Kind = Literal["pose", "position"]


class ClosedFormProgram(ABC):
    """All branches of one family of arms, written over any scalar (see ``solver.py`` for what runs it).

    Attributes:
        name: for people.
        kind: "pose": ``rows(G)`` takes the rigid motion (4×4) that carries the arm's tip from its place at q = 0 to the target;
            "position": ``rows(t)`` takes the point that the tip is to reach.
        branches: length of what ``rows`` gives; postures that do not exist are NaN or fail the check by forward kinematics.
        parameter: name of the number that chooses one among ∞ answers (redundant arms), or ``None``.
    """

    name: str
    kind: Kind
    branches: int
    parameter: str | None = None

    @abstractmethod
    def rows(self, target: Vector) -> list[Row]:
        """All postures for a target."""


class ReversedArm(ClosedFormProgram):
    """The same chain with base and tip exchanged: :math:`G^{-1} = E_n^{-1}\\cdots E_1^{-1}`."""

    kind = "pose"

    def __init__(self, inner: ClosedFormProgram, name: str) -> None:
        self.inner, self.name, self.branches = inner, name, inner.branches

    def rows(self, target: Vector) -> list[Row]:
        return [row[::-1] for row in self.inner.rows(inverse_motion(target))]


def backwards(inner: ClosedFormProgram, name: str) -> ClosedFormProgram:
    """A program for a chain from the program of its mirror image (joints reversed and flipped)."""
    return ReversedArm(inner, name)

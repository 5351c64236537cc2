"""Seven joints, the last or the first one given: what is left is an arm of six joints with a closed form (Franka Panda, q7 given)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.closed_form import parallel, wrist
from manipula.ik.closed_form.geometry import Axis, Lines, Relations
from manipula.ik.closed_form.program import ClosedFormProgram, Row
from manipula.ik.closed_form.subproblems import cos_sin_of


class Locked(ClosedFormProgram):
    """The joint of the given index (0 or the last) has the value ``parameter``."""

    kind = "pose"

    def __init__(self, inner: ClosedFormProgram, axis: Axis, last: bool, label: str) -> None:
        self.inner, self.axis, self.last = inner, axis, last
        self.name, self.branches, self.parameter = f"{inner.name}, {label} given", inner.branches, label

    def rows(self, target: Vector, parameter: Scalar = 0.0) -> list[Row]:
        value = cos_sin_of(parameter) if self.axis.revolute else parameter
        undone = _inverse(self.axis, value)
        inner = array(np.asarray(target) @ undone) if self.last else array(undone @ np.asarray(target))
        rows = self.inner.rows(inner)
        return [[*row, value] for row in rows] if self.last else [[value, *row] for row in rows]

    def parameter_of(self, q: np.ndarray) -> float:
        """The given joint's value."""
        return float(q[-1 if self.last else 0])


def _inverse(axis: Axis, value: Scalar) -> np.ndarray:
    """E(value)⁻¹ as a matrix, 4×4."""
    origin = axis.undo(value, np.zeros(3))
    out = np.empty((4, 4), dtype=object)
    for k, e in enumerate(np.eye(3)):
        out[:3, k] = array(axis.undo(value, e)) - origin
    out[:3, 3] = origin
    out[3] = [0.0, 0.0, 0.0, 1.0]
    return array(out)


def recognise(lines: Lines, relations: Relations) -> ClosedFormProgram | None:
    """A program for seven joints that becomes a known arm of six when the last or the first is held."""
    if len(lines.axes) != 7:
        return None
    families: list[Callable[[Lines, Relations], ClosedFormProgram | None]] = [wrist.recognise, parallel.recognise]
    for last in (True, False):
        rest = lines.axes[:-1] if last else lines.axes[1:]
        for family in families:
            trial = Relations(relations.reach, relations.tolerance)
            inner = family(dataclasses.replace(lines, axes=rest), trial)
            if inner is not None:
                relations.deviation = max(relations.deviation, trial.deviation)
                return Locked(inner, lines.axes[-1 if last else 0], last, "q7" if last else "q1")
    return None

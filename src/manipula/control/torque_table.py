"""Torques known in advance as a table, with feedback around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula import native
from manipula.algebra.arguments import finite_array
from manipula.algebra.fields import freeze, per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import DescriptionError, LengthError
from manipula.lazy import cached_property
from manipula.parts.checks import check_part
from manipula.parts.field import File, Flag, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class TorqueTable(Controller):
    r""":math:`\tau = \tau_{table}(t) + M(q)\left(K_p(q_d - q) + K_v(\dot q_d - \dot q)\right)`, or without M.

    The table is a CSV file or its text: t and one torque per joint, followed by a cubic spline; before and after its times the first and the last
    row are held. A programmed motion that is realised has the torques of its drives and multipliers there (``ProgramScenario.realised``).
    """

    torques: Annotated[Any, File("a CSV file with t and one torque per joint in every row, or its text", of=".csv")]
    kp: Annotated[Any, PerJoint("1/s², or N·m/rad or N/m", "proportional gain K_p")] = 0.0
    kv: Annotated[Any, PerJoint("1/s, or N·m·s/rad or N·s/m", "derivative gain K_v")] = 0.0
    inertia: Annotated[bool, Flag("multiply the feedback by M(q) of the model, so that errors decay alike everywhere")] = True  # fmt: skip
    name: ClassVar[str] = "torque_table"
    space: ClassVar[Space] = "joint"

    @classmethod
    def of(cls, times: Any, torques: Any, **options: Any) -> TorqueTable:
        """From times (k,) [s] and torques (k, n) [N·m or N]; ``options`` are the other fields."""
        t, v = finite_array(times, "times"), finite_array(torques, "torques")
        if t.ndim != 1 or v.ndim != 2 or len(v) != len(t):
            raise LengthError(f"Times (k,) and torques (k, n) are needed, found {t.shape} and {v.shape}.", field="torques")  # fmt: skip
        return cls(_text(np.column_stack([t, v])), **options)

    def __post_init__(self) -> None:
        freeze(self)
        check_part(self)
        name, rows = _read(self.torques)
        if name is not None:
            object.__setattr__(self, "torques", _text(rows))

    @cached_property
    def rows(self) -> np.ndarray:
        """t and one torque per joint, (k, n + 1)."""
        return _read(self.torques)[1]

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n, rows = arm.n, self.rows
        if rows.shape[1] != n + 1:
            raise LengthError(f"t and {n} torques per row are needed, found {rows.shape[1]} columns.", field="controller.torques")  # fmt: skip
        known = native.interpolate(rows[:, 0], rows[:, 1:], "cubic" if len(rows) > 2 else "linear")(t)
        back = per_joint(self.kp, n) * (target.position - q) + per_joint(self.kv, n) * (target.velocity - qd)
        return array(known + (arm.mass_matrix(q) @ back if self.inertia else back))


def _text(rows: np.ndarray) -> str:
    return "\n".join(",".join(map(repr, row)) for row in rows.tolist()) + "\n"


def _read(source: Any) -> tuple[str | None, np.ndarray]:
    """The name of a CSV file (none for a text) and its rows."""
    from manipula.motion.paths.csv_file import csv_text, read_rows  # and with it every path

    try:
        name, text = csv_text(source)
        rows = read_rows(text, name, ",", None)
    except DescriptionError as error:
        raise error.at(field="torques") from None
    falls = np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)
    if len(rows) < 2 or rows.shape[1] < 2 or len(falls):
        raise DescriptionError(
            "At least two rows of t and torques are needed, with times that increase.", file=name, field="torques"
        )
    return name, rows

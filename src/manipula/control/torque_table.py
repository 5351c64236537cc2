"""Torques known in advance as a table, with feedback around them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
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

    The table is a CSV file or its text: t (or time) and one torque per joint, in any order below a line with t and the names of the joints, in the
    order of the joints without one. It is followed by a cubic spline; before and after its times the first and the last row are held.
    A programmed motion that is realised has the torques of its drives and multipliers there (``ProgramScenario.realised``).
    """

    torques: Annotated[Any, File("a CSV file with t and one torque per joint in every row, or its text", of=".csv")]
    kp: Annotated[Any, PerJoint("1/s², or N·m/rad or N/m", "proportional gain K_p", least=0.0)] = 0.0
    kv: Annotated[Any, PerJoint("1/s, or N·m·s/rad or N·s/m", "derivative gain K_v", least=0.0)] = 0.0
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
        name, joints, rows = _read(self.torques)
        if name is not None:
            object.__setattr__(self, "torques", _text(rows, joints))

    @cached_property
    def rows(self) -> np.ndarray:
        """t and one torque per joint in the order of the table, (k, n + 1)."""
        return _read(self.torques)[2]

    @cached_property
    def joints(self) -> list[str] | None:
        """The names of the joints above the torques; none where the table has no line of names."""
        return _read(self.torques)[1]

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        n, rows = arm.n, self.rows
        if rows.shape[1] != n + 1:
            raise LengthError(f"t and {n} torques per row are needed, found {rows.shape[1]} columns.", field="controller.torques")  # fmt: skip
        rows = _ordered(rows, self.joints, arm.robot.joint_names)
        known = native.interpolate(rows[:, 0], rows[:, 1:], "cubic" if len(rows) > 2 else "linear")(t)
        back = per_joint(self.kp, n) * (target.position - q) + per_joint(self.kv, n) * (target.velocity - qd)
        return array(known + (arm.mass_matrix(q) @ back if self.inertia else back))


def _text(rows: np.ndarray, joints: list[str] | None = None) -> str:
    names = io.StringIO()
    if joints is not None:
        csv.writer(names, lineterminator="\n").writerow(["t", *joints])
    return names.getvalue() + "\n".join(",".join(map(repr, row)) for row in rows.tolist()) + "\n"


def _ordered(rows: np.ndarray, joints: list[str] | None, wanted: Sequence[str]) -> np.ndarray:
    from manipula.motion.paths.csv_file import in_time

    try:
        return in_time(None if joints is None else ["t", *joints], rows, wanted)
    except DescriptionError as error:
        raise error.at(field="controller.torques") from None


def _read(source: Any) -> tuple[str | None, list[str] | None, np.ndarray]:
    """The name of a CSV file (none for a text), the names of its joints (none without a line of names) and its rows, t first."""
    from manipula.motion.paths.csv_file import csv_text, in_time, read_named_rows  # and with it every path

    try:
        name, text = csv_text(source)
        names, rows = read_named_rows(text, name, ",", None)
        joints = None if names is None else [word for word in names if word not in ("t", "time")]
        rows = rows if joints is None else in_time(names, rows, joints, name)
    except DescriptionError as error:
        raise error.at(field="torques") from None
    falls = np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)
    if len(rows) < 2 or rows.shape[1] < 2 or len(falls):
        raise DescriptionError(
            "At least two rows of t and torques are needed, with times that increase.", file=name, field="torques"
        )
    return name, joints, rows

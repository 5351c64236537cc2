"""Measured poses from a file: joint positions and the place (and turn) of a frame, one row per posture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.analysis.identification.log_tables import MeasuredColumns, read_table
from manipula.analysis.identification.log_units import scale_of, units_of
from manipula.analysis.identification.read_log import columns_of, signal_of
from manipula.errors import DescriptionError, unknown_name
from manipula.model import Model
from manipula.robot.robot import Robot

LENGTHS = {"m": 1.0, "mm": 1e-3}
ANGLES = {"rad": 1.0, "deg": np.pi / 180.0}
PLACES = (("x", "y", "z"), ("px", "py", "pz"), ("tip_x", "tip_y", "tip_z"))
QUATERNION, VECTOR, RPY = ("qw", "qx", "qy", "qz"), ("rx", "ry", "rz"), ("roll", "pitch", "yaw")


def read_poses(
    path: str | os.PathLike[str], robot: Robot | Model, *, columns: Mapping[str, Any] | None = None, units: Mapping[str, Any] | None = None
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Joint positions (samples, n) and poses (samples, 4, 4), or places (samples, 3) where the file has no turns.

    Columns: joint positions as in ``read_log``; ``x y z``; and ``qw qx qy qz`` (a quaternion), ``rx ry rz`` (a rotation vector) or
    ``roll pitch yaw``.

    Args:
        path: .csv, .parquet, .nc or .npz.
        columns: {"q": pattern or names} where the names do not say it.
        units: {"q": "deg", "position": "mm", "rotation": "deg"}; rad, m and rad when omitted.
    """
    described = robot if isinstance(robot, Robot) else robot.robot
    table, file = read_table(path), os.fspath(path)
    try:
        return _poses(table, described, dict(columns or {}), dict(units or {}))
    except DescriptionError as error:
        raise error.at(file=file) from None


def _poses(
    table: MeasuredColumns, robot: Robot, columns: dict[str, Any], units: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    for name in columns:
        if name != "q":
            raise unknown_name("signal", name, ("q",), field="columns")
    units = units_of(units, ("q", "position", "rotation"))
    length, angle = (
        scale_of(kind, known, units.get(kind)) for kind, known in (("position", LENGTHS), ("rotation", ANGLES))
    )
    names = columns_of(table, robot, "q", columns.get("q"))
    if names is None:
        raise DescriptionError(f"No positions of all {robot.n} joints; columns q1 … q{robot.n} are needed.", field="q")
    q = signal_of(table, robot, "q", names, units.get("q"))
    place = next((names for names in PLACES if all(n in table for n in names)), None)
    if place is None:
        raise DescriptionError("No columns x, y, z.", field="x")
    p = length * np.stack([table[n] for n in place], axis=1)
    turn = next((names for names in (QUATERNION, VECTOR, RPY) if all(n in table for n in names)), None)
    whole = np.concatenate([q, p] + ([] if turn is None else [np.stack([table[n] for n in turn], axis=1)]), axis=1)
    if not len(whole):
        raise DescriptionError("There are names of columns, but no row of numbers below them.")
    bad = np.flatnonzero(~np.isfinite(whole).all(axis=1))
    if len(bad):
        raise DescriptionError(f"Row {int(bad[0]) + 1} holds a number that is not finite.")
    if turn is None:
        return q, p
    from scipy.spatial.transform import Rotation

    v = np.stack([table[n] for n in turn], axis=1)
    if turn == QUATERNION:
        if np.max(np.abs(np.linalg.norm(v, axis=1) - 1.0)) > 1e-2:
            raise DescriptionError("A quaternion qw, qx, qy, qz has not the length 1.", field="qw")
        R = Rotation.from_quat(v[:, [1, 2, 3, 0]])
    else:
        R = Rotation.from_rotvec(angle * v) if turn == VECTOR else Rotation.from_euler("xyz", angle * v)
    X = np.broadcast_to(np.eye(4), (len(q), 4, 4)).copy()
    X[:, :3, :3], X[:, :3, 3] = R.as_matrix(), p
    return q, X

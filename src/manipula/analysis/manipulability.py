r"""How well a posture can move: manipulability, condition, distance from the limits.

With the singular values :math:`\sigma_1\ge\dots\ge\sigma_m` of the Jacobian rows that the arm can move at all:
manipulability :math:`w = \sqrt{\det JJ^T} = \prod\sigma_i` [Yoshikawa 1985], condition :math:`\kappa = \sigma_1/\sigma_m`, isotropy 1/κ.
An arm with fewer joints than rows cannot serve them all: w = 0 and κ = ∞ in every posture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import finite_array, flag, positive
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError, unknown_name
from manipula.ik.targets import movable
from manipula.ik.task import Task
from manipula.model import Model, model_of
from manipula.robot.link import TIP
from manipula.robot.robot import Robot

KINDS = ("position", "orientation", "pose")


@dataclass(frozen=True, eq=False, repr=False)
class Dexterity(Value):
    """Of every posture (...,)."""

    manipulability: np.ndarray
    condition: np.ndarray
    smallest: np.ndarray  # singular value
    singular_values: np.ndarray  # (..., m), largest first


def rows_of(robot: Robot, kind: str, frame: str) -> list[int]:
    """Rows of the Jacobian that belong to the kind and that the arm can move."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("kind of manipulability", kind, KINDS)
    robot.frame(frame)
    names = {"position": None, "pose": None, "orientation": ("rx", "ry", "rz")}[kind]
    task = movable(robot, Task.of("position" if kind == "position" else "pose", frame, names))
    if task is None:
        raise DescriptionError(f"No joint of '{robot.name}' moves the {kind} of frame '{frame}'.")
    return list(task.parts[0][1])


def postures(robot: Robot, q: Any) -> np.ndarray:
    """q as a float array (..., n) of finite numbers."""
    q = finite_array(q, "q")
    if q.shape[-1:] != (robot.n,):
        raise ShapeError(f"q of '{robot.name}' has shape {q.shape}, expected (..., {robot.n}).")
    return q


def manipulability(
    model: Model | Robot, q: Any, kind: str = "position", frame: str = TIP, length: float | None = None
) -> Dexterity:
    """Manipulability and condition of postures q (..., n).

    Args:
        kind: "position", "orientation" or "pose".
        length: characteristic length [m] that turns metres into radians when both are compared, as in "pose"; 1 m when omitted.
    """
    model = model_of(model)
    q = postures(model.robot, q)
    rows = rows_of(model.robot, kind, frame)
    if length is not None and kind != "pose":
        raise DescriptionError(
            f"A length compares metres with radians; the manipulability of kind '{kind}' has only one of them.",
            field="length",
        )
    length = 1.0 if length is None else positive(length, "length")
    J = np.array(model.jacobian(q, frame)[..., rows, :], float)
    if kind == "pose":
        J[..., [k for k, r in enumerate(rows) if r < 3], :] /= length
    s = np.linalg.svd(J, compute_uv=False)
    if model.n < len(rows):
        s = np.concatenate([s, np.zeros((*s.shape[:-1], len(rows) - model.n))], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(s[..., -1] > 0.0, s[..., 0] / s[..., -1], np.inf)
    return Dexterity(np.prod(s, axis=-1), condition, s[..., -1], s)


def limit_distance(robot: Robot, q: Any, relative: bool = False) -> np.ndarray:
    """Distance (..., n) of joints from their nearer limit, negative beyond it, inf without limits; relative to half the range if asked."""
    robot = model_of(robot).robot
    q = postures(robot, q)
    low, high = np.asarray(robot.position_limits, float).T
    distance = np.minimum(q - low, high - q)
    if not flag(relative, "relative"):
        return distance
    half = 0.5 * (high - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isfinite(half) & (half > 0.0), distance / np.where(half > 0.0, half, 1.0), distance)

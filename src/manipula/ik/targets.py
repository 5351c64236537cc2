"""What the caller asked for, as a task and an array of poses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.arguments import number, real_array, whole_number
from manipula.algebra.pose import IDENTITY
from manipula.errors import DescriptionError, ShapeError, printable, unknown_name
from manipula.ik.base import LARGEST_SEED
from manipula.ik.task import ROWS, Task
from manipula.physics.kinematics import jacobian
from manipula.physics.mechanism import mechanism_of
from manipula.robot.link import TIP, check_frame_name
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

ORTHOGONAL = 1e-6  # largest deviation of RᵀR from 1 in a target
POSE, POSITION = Task.of("pose"), Task.of("position")
STILL = 1e-12  # a row of the Jacobian below this at every sampled posture never moves


def read_targets(
    robot: Robot, target: Any, frame: str = TIP, rows: Any = None
) -> tuple[Task, np.ndarray, tuple[int, ...]]:
    """Task, poses (N, parts, 4, 4), and the leading axes of the batch (``()`` for a single target)."""
    plain = (
        rows is None
        and type(frame) is str
        and frame in (TIP, "tip")
        and type(target) is np.ndarray
        and target.dtype == np.float64
    )
    if plain and target.shape == (4, 4):  # one pose in a tight loop
        _check_rotation(target, "target")
        return POSE, target.reshape(1, 1, 4, 4), ()
    if plain and target.shape == (3,) and math.isfinite(sum(target.tolist())):
        pose = np.eye(4)
        pose[:3, 3] = target
        return POSITION, pose.reshape(1, 1, 4, 4), ()
    check_frame_name(frame)
    if isinstance(target, Mapping):
        if frame not in (TIP, "tip"):
            raise DescriptionError(
                f"'frame' is '{printable(frame)}', but the targets are given as {{frame: target}}, which names frames already.",
                field="frame",
            )
        return _several(robot, target, rows)
    if isinstance(rows, Mapping):
        raise DescriptionError("'rows' as {frame: rows} goes with targets as {frame: target}.", field="rows")
    robot.frame(frame)
    kind, poses = _poses(target, "target")
    chosen = None if rows is None else checked_rows(rows)
    if kind == "position" and chosen and any(r.startswith("r") for r in chosen):
        raise DescriptionError(
            f"The target is a position, but the rows {', '.join(chosen)} ask for a rotation: give a pose (4, 4).",
            field="rows",
        )
    lead = poses.shape[:-2]
    return Task.of(kind, frame, chosen), poses.reshape(-1, 1, 4, 4), lead


def checked_rows(rows: Any) -> tuple[str, ...]:
    """Names among x y z rx ry rz, at least one."""
    if not isinstance(rows, (str, list, tuple)):
        raise DescriptionError(
            f"'rows' is a list of names among {', '.join(ROWS)}; found {printable(repr(rows), 60)}.", field="rows"
        )
    given = tuple(rows)
    for r in given:
        if not isinstance(r, str) or r not in ROWS:
            raise unknown_name("row of a pose", r, ROWS)
    if not given:
        raise DescriptionError(f"'rows' is empty; choose among {', '.join(ROWS)}.", field="rows")
    return given


def _several(robot: Robot, target: Mapping[str, Any], rows: Any) -> tuple[Task, np.ndarray, tuple[int, ...]]:
    if not target:
        raise DescriptionError("No target is given: the dictionary {frame: target} is empty.", field="target")
    for name in [*target, *(rows if isinstance(rows, Mapping) else ())]:
        if not isinstance(name, str):
            raise DescriptionError(
                f"Targets of several frames are {{name: target}}; found the name {printable(repr(name), 60)}."
            )
    for name in rows if isinstance(rows, Mapping) else ():
        if name not in target:
            raise unknown_name("target for the rows of a frame", name, target, field="rows")
    parts, poses = [], []
    for name, value in target.items():
        robot.frame(name)
        kind, X = _poses(value, f"target of '{name}'")
        chosen = rows.get(name) if isinstance(rows, Mapping) else rows
        parts.append(Task.of(kind, name, None if chosen is None else checked_rows(chosen)).parts[0])
        poses.append(X)
    try:
        lead = np.broadcast_shapes(*(X.shape[:-2] for X in poses))
    except ValueError:
        raise ShapeError(
            f"Targets of several frames have batches that do not fit together: {[X.shape[:-2] for X in poses]}."
        ) from None
    stacked = np.stack([np.broadcast_to(X, (*lead, 4, 4)) for X in poses], axis=-3)
    return Task(tuple(parts)), stacked.reshape(-1, len(parts), 4, 4), lead


def _poses(value: Any, what: str) -> tuple[str, np.ndarray]:
    try:
        X = real_array(value, what)
    except DescriptionError:
        raise ShapeError(
            f"The {what} is not an array of numbers; expected a position (..., 3) or a pose (..., 4, 4)."
        ) from None
    if X.shape[-2:] == (4, 4):
        _check_finite(X, what)
        _check_rotation(X, what)
        return "pose", X
    if X.ndim >= 1 and X.shape[-1] == 3:
        _check_finite(X, what)
        out = np.zeros((*X.shape[:-1], 4, 4))
        out[..., 0, 0] = out[..., 1, 1] = out[..., 2, 2] = out[..., 3, 3] = 1.0
        out[..., :3, 3] = X
        return "position", out
    raise ShapeError(f"The {what} has shape {X.shape}; expected a position (..., 3) or a pose (..., 4, 4).")


def _check_finite(X: np.ndarray, what: str) -> None:
    if not np.isfinite(X.sum()) and not np.isfinite(X).all():
        raise DescriptionError(
            f"The {what} has an entry that is not a finite number: {X[~np.isfinite(X)][0]:g}; positions are in m.",
            field="target",
        )


def _check_rotation(X: np.ndarray, what: str) -> None:
    if X.ndim == 2:  # one pose in a tight loop: plain numbers are quicker than arrays of nine
        (a, b, c, x), (d, e, f, y), (g, h, i, z), (s, t, u, v) = X.tolist()
        if not -math.inf < x + y + z < math.inf:
            _check_finite(X, what)
        cofactors = (e * i - f * h - a, f * g - d * i - b, d * h - e * g - c, a * a + b * b + c * c - 1.0,
                     d * d + e * e + f * f - 1.0, a * d + b * e + c * f, s, t, u, v - 1.0)  # fmt: skip
        wrong = max(map(abs, cofactors))
    else:
        R = X[..., :3, :3]
        wrong = max(
            float(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)),
            float(np.abs(np.cross(R[..., :, 0], R[..., :, 1]) - R[..., :, 2]).max(initial=0.0)),
            float(np.abs(X[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0)),
        )
    if not wrong <= ORTHOGONAL:
        _check_finite(X, what)
        raise DescriptionError(
            f"The {what} is not a pose: its rotation part misses orthogonality (or its last row 0 0 0 1) by {wrong:.2g}, "
            f"allowed is {ORTHOGONAL:g}."
        )


def read_tolerance(given: Any) -> float:
    """A number between 0 and 1."""
    found = number(given, "tolerance")
    if not 0.0 < found < 1.0:
        raise DescriptionError(f"'tolerance' must lie between 0 and 1 [m and rad], found {found:g}.", field="tolerance")
    return found


def read_numbers(tolerance: Any, seed: Any, most: Any) -> tuple[float, int, int | None]:
    """Tolerance, seed and number of iterations, in their ranges."""
    if type(tolerance) is not float or not 0.0 < tolerance < 1.0:
        tolerance = read_tolerance(tolerance)
    if type(seed) is not int or not 0 <= seed <= LARGEST_SEED:
        seed = whole_number(seed, "seed", 0, LARGEST_SEED)
    return tolerance, seed, None if most is None else whole_number(most, "max_iterations", 1, 10**9)


def read_start(robot: Robot, q0: Any, lead: tuple[int, ...], single: bool) -> np.ndarray:
    """The posture to start from, (n,), or one for each target of a batch, (N, n)."""
    try:
        q = real_array(q0, "q0")
    except DescriptionError:
        raise ShapeError(
            f"q0 of '{robot.name}' is not an array of numbers; expected ({robot.n},), one per joint [rad or m]."
        ) from None
    if q.shape[-1:] != (robot.n,) or (q.ndim > 1 and q.shape[:-1] != lead):
        expected = f"({robot.n},)" + (f" or {(*lead, robot.n)}" if lead and not single else "")
        raise ShapeError(f"q0 of '{robot.name}' has shape {q.shape}, expected {expected}.")
    if not np.isfinite(q).all():
        wrong = q[~np.isfinite(q)][0]
        raise DescriptionError(
            f"q0 of '{robot.name}' has an entry that is not a finite number: {wrong:g} [rad or m].", field="q0"
        )
    return np.broadcast_to(q, (*lead, robot.n)).reshape(-1, robot.n) if lead else q


@once_per_mechanism(256)
def movable(robot: Robot, task: Task) -> Task | None:
    """The task without rows that no joint moves (z of a planar arm), or None when nothing is left."""
    mechanism = mechanism_of(robot)
    rng = np.random.default_rng(0)
    parts = []
    for frame, rows in task.parts:
        J = np.hstack(
            [np.asarray(jacobian(mechanism, rng.uniform(-1, 1, mechanism.n), frame), float) for _ in range(3)]
        )
        kept = tuple(r for r in rows if np.abs(J[r]).max() > STILL)
        if kept:
            parts.append((frame, kept))
    return Task(tuple(parts)) if len(parts) == len(task.parts) else (None if not parts else task)


class CarryingArm(NamedTuple):
    """The part of a robot that moves a frame: an arm without its gripper, one arm of two.

    Attributes:
        robot: the joints between the base and the frame, with what is fixed to their links.
        joints: their numbers in the whole robot.
        others: where the other joints stand unless a posture says so: at zero, or as near to it as their limits allow, (n,).
    """

    robot: Robot
    joints: tuple[int, ...]
    others: np.ndarray

    def whole(self, q: np.ndarray, q0: Any) -> np.ndarray:
        """Postures (..., n) of the robot from postures of the arm; the other joints keep their places in ``q0``."""
        rest = self.others if q0 is None else np.asarray(q0, float)
        out = np.array(np.broadcast_to(rest, (*q.shape[:-1], len(self.others))))
        out[..., list(self.joints)] = q
        return out


@once_per_mechanism(256)
def carrying_arm(robot: Robot, frame: str) -> CarryingArm | None:
    """The arm that carries a frame; None when every joint moves it, or when it cannot be distinguished from the rest.

    An arm has closed forms that a tree has not, and fewer joints to search in.
    """
    target = robot.frame(frame)
    links = robot.bodies
    if target.link < 0:
        return None
    parents, way = [j.parent for j in robot.moving_joints], [target.link]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    if len(way) == len(links):
        return None
    try:
        arm = robot.replace(payload=None).select(chain=(robot.base_link.name, links[target.link].name))
    except DescriptionError:  # a joint on the way follows one that is not
        return None
    if arm.n == robot.n:
        return None
    frames = {f.name for f in arm.frames}
    arm = arm.replace(
        tip=robot.tip if robot.tip in frames else arm.tip, tool=robot.tool if robot.tip in frames else IDENTITY
    )
    low, high = np.asarray(robot.numeric.position_limits, float).T
    return CarryingArm(arm, tuple(robot.joint_index(name) for name in arm.joint_names), np.clip(0.0, low, high))

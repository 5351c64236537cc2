"""All postures of any arm of six revolute joints: elimination, completed and cross-checked by a search in machine code.

Elimination (``elimination.py``) is complete for arms without special geometry. What special geometry hides from it the search from many starts
(``descent.py``) and, where there is one, the closed form find; every posture is polished and confirmed by forward kinematics.

===============  =====================================
``elimination``  Raghavan and Roth with numbers only
``descent``      polish and search from many starts
``closure``      the closure equations of the loop
===============  =====================================
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import DescriptionError, ShapeError
from manipula.ik.closed_form import find
from manipula.ik.closed_form.geometry import lines_of
from manipula.ik.general.descent import descent_kernel
from manipula.ik.general.elimination import ClosureLoop, rotations, split_candidates
from manipula.robot.link import TIP
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

TOLERANCE = 1e-10  # m and rad: what counts as reached
SAME = 1e-4  # rad: postures nearer than this are one (at a double root polishing stops this far apart)
STARTS = 128  # of the search that checks the elimination
MORE_STARTS = 2048  # of the search when both disagree
GOOD = 1e-7  # quality of an elimination that is trusted alone
SPLITS = 6
TRIALS = 4  # targets that choose the split
MOST = 40.0  # iterations of a start


class Postures(NamedTuple):
    """All postures (k, 6), angles in (−π, π].

    Attributes:
        q: the postures.
        agreed: whether the elimination alone was well conditioned and the search found nothing beyond it.
        sources: for every posture which routes found it: "elimination", "search", "closed form".
    """

    q: np.ndarray
    agreed: bool
    sources: tuple[str, ...]


class Arm6R(NamedTuple):
    """What is prepared once for a robot and a frame."""

    h: np.ndarray
    p: np.ndarray
    scale: float
    home_inverse: np.ndarray
    split: int
    kernel: Any
    closed: Any


def all_postures(robot: Robot, T: Any, frame: str = TIP) -> Postures:
    """All postures, at most 16, that bring the frame to the pose T (4×4), and what is known about completeness; limits are not applied."""
    T = np.asarray(T, float)
    if T.shape != (4, 4):
        raise ShapeError(f"A target of shape (4, 4) is needed, found {T.shape}.")
    if not np.all(np.isfinite(T)):
        raise ShapeError("A target must be finite, found NaN or infinity in it.")
    arm = prepared(robot, frame)
    loop = loop_of(arm, T)
    q, quality = split_candidates(loop, arm.split)
    eliminated = polished(arm, T, q)
    searched = polished(arm, T, _starts(STARTS))
    known = _union(("elimination", eliminated), ("search", searched))
    agreed = quality > GOOD and all("elimination" in s for s in known[1])
    if arm.closed is not None:
        known = _union(*known[2], ("closed form", polished(arm, T, arm.closed.solve(T))))
    elif not agreed:
        known = _union(*known[2], ("search", polished(arm, T, _starts(MORE_STARTS))), *_other_splits(arm, loop, T))
    return Postures(known[0], agreed, known[1])


@once_per_mechanism(32)
def prepared(robot: Robot, frame: str = TIP) -> Arm6R:
    """Lines, the best way to open the loop, compiled descent and the closed form if there is one.

    Raises:
        DescriptionError: unless the robot is a chain of six revolute joints.
    """
    lines = lines_of(robot, frame)
    if lines is None or lines.kinds != "RRRRRR":
        kinds = "".join("R" if j.is_revolute else "P" for j in robot.joints)
        raise DescriptionError(
            f"All postures by elimination need a numeric chain of six revolute joints (RRRRRR) up to the frame '{frame}'; "
            f"robot '{robot.name}' has {kinds}."
        )
    h, p = np.array([a.h for a in lines.axes]), np.array([a.p for a in lines.axes])
    arm = Arm6R(h, p, lines.reach, np.linalg.inv(lines.home), 0, descent_kernel(robot, frame), find(robot, frame))
    return arm._replace(split=_best_split(arm))


def loop_of(arm: Arm6R, T: np.ndarray) -> ClosureLoop:
    """The closed loop for a target, lengths in units of the arm's reach."""
    G = T @ arm.home_inverse
    G = np.block([[G[:3, :3], G[:3, 3:] / arm.scale], [np.zeros((1, 3)), np.ones((1, 1))]])
    return ClosureLoop(arm.h, arm.p / arm.scale, G)


def _best_split(arm: Arm6R) -> int:
    """The shift of the loop whose elimination finds most postures of a few trial targets, the best conditioned among equals."""
    rng = np.random.default_rng(6)
    found, worst = np.zeros(SPLITS), np.full(SPLITS, np.inf)
    for q in rng.uniform(-np.pi, np.pi, (TRIALS, 6)):
        T = motion(arm.h, arm.p, q) @ np.linalg.inv(arm.home_inverse)
        loop = loop_of(arm, T)
        for k in range(SPLITS):
            rows, quality = split_candidates(loop, k)
            found[k] += len(polished(arm, T, rows))
            worst[k] = min(worst[k], quality)
    return int(np.argmax(np.where(found == found.max(), worst, -1.0)))


def motion(h: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """E1(q1) ⋯ En(qn) of revolute joints, 4×4."""
    G = np.eye(4)
    for axis, point, angle in zip(h, p, q):
        E = np.eye(4)
        E[:3, :3] = rotations(axis, np.array([angle]))[0]
        E[:3, 3] = point - E[:3, :3] @ point
        G = G @ E
    return G


def polished(arm: Arm6R, T: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(k, 6) distinct postures that the starts lead to."""
    if len(q) == 0:
        return np.empty((0, 6))
    threads = 1 if len(q) < MORE_STARTS else None  # sharing so little work costs more than it saves
    q, error, _ = arm.kernel(T, np.ascontiguousarray(q), np.float64(MOST), threads=threads)
    return distinct(wrapped(q[error <= TOLERANCE]))


def wrapped(q: np.ndarray) -> np.ndarray:
    """Angles in (−π, π]."""
    return np.pi - (np.pi - q) % (2.0 * np.pi)


def distinct(q: np.ndarray) -> np.ndarray:
    """One of every group of postures that are equal modulo a turn."""
    out = []
    while len(q):
        out.append(q[0])
        q = q[_apart(q, q[0]) > SAME]
    return np.array(out).reshape(-1, 6)


def _apart(q: np.ndarray, other: np.ndarray) -> np.ndarray:
    d = np.abs(q - other)
    return np.minimum(d, 2.0 * np.pi - d).max(axis=-1)


def _union(*parts: tuple[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, ...], tuple[tuple[str, np.ndarray], ...]]:
    """All postures, the routes that found each, and the parts themselves."""
    q = distinct(np.concatenate([rows for _, rows in parts]))
    sources = []
    for row in q:
        names = dict.fromkeys(name for name, rows in parts if len(rows) and _apart(rows, row).min() <= SAME)
        sources.append(", ".join(names))
    return q, tuple(sources), parts


def _other_splits(arm: Arm6R, loop: ClosureLoop, T: np.ndarray) -> list[tuple[str, np.ndarray]]:
    rest = [k for k in range(SPLITS) if k != arm.split]
    return [("elimination", polished(arm, T, split_candidates(loop, k)[0])) for k in rest]


@lru_cache(maxsize=4)
def _starts(count: int) -> np.ndarray:
    """Starts spread over all angles: a Kronecker sequence on the generalised golden ratio [Roberts 2018]."""
    ratio = 1.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / 7.0)  # x^7 = x + 1, for six dimensions
    steps = ratio ** -np.arange(1.0, 7.0)
    return 2.0 * np.pi * ((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0) - np.pi


__all__ = ["Postures", "all_postures"]

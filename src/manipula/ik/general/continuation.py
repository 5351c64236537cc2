r"""All postures of a 6R arm by continuation: the second road, independent of how special the arm is.

A fixed start problem (a complex DH table and a complex target without special geometry) has exactly 16 complex postures. Table and target are
led continuously to those of the arm and all postures follow [Tsai & Morgan 1985; Wampler & Morgan 1991]. The path goes
through complex numbers, so that with probability one no two postures meet before its end; postures that the arm has fewer of than
16 run off to infinity. A path that comes too near to infinity on its way is lost, therefore several bends are tried. Real ends are the answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from manipula.algebra.rotation import to_quaternion_wxyz
from manipula.errors import ShapeError
from manipula.formats.dh import to_dh
from manipula.ik.general import distinct, polished, prepared
from manipula.ik.general.complex_pair import ComplexPair
from manipula.ik.general.elimination import ClosureLoop, candidates, eliminate
from manipula.ik.general.paths import NUMBERS, newton_step, path_kernel
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

PATHS = 16
REAL = 1e-2  # imaginary part up to which an end is tried as a real posture
MOST_STEPS = 2000.0
BENDS = 4  # paths from the start to the arm; the first on which all 16 arrive ends the search
BEND = 0.4  # size of their complex bends


def _start_lines(numbers: np.ndarray) -> ClosureLoop:
    """Axes and points at rest and the motion to the target, all complex."""
    a, alpha, d, offset = numbers[:24].reshape(4, 6)
    X = np.eye(4, dtype=complex)
    h, p = np.empty((6, 3), complex), np.empty((6, 3), complex)
    for i in range(6):
        h[i], p[i] = X[:3, 2], X[:3, 3]
        c, s, ca, sa = np.cos(offset[i]), np.sin(offset[i]), np.cos(alpha[i]), np.sin(alpha[i])
        X = X @ np.array(
            [[c, -s * ca, s * sa, a[i] * c], [s, c * ca, -c * sa, a[i] * s], [0, sa, ca, d[i]], [0, 0, 0, 1]]
        )
    w, x, y, z = numbers[24:28]
    k = 2.0 / (w * w + x * x + y * y + z * z)
    goal = np.eye(4, dtype=complex)
    goal[:3] = [
        [1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y), numbers[28]],
        [k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x), numbers[29]],
        [k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y), numbers[30]],
    ]
    return ClosureLoop(h, p, goal @ np.linalg.inv(X))


def _newton(numbers: np.ndarray, q: np.ndarray, count: int) -> tuple[np.ndarray, float]:
    """One complex posture corrected on plain numbers, and the size of the last step."""
    problem = [ComplexPair(float(z.real), float(z.imag)) for z in numbers]
    size = np.inf
    for _ in range(count):
        step = newton_step(problem, [ComplexPair(float(z.real), float(z.imag)) for z in q])
        dq = np.array([complex(z.re, z.im) for z in step])
        q, size = q + dq, float(np.abs(dq).max())
    return q, size


@lru_cache(maxsize=1)
def start_problem() -> tuple[np.ndarray, np.ndarray]:
    """A complex arm and target (31,) without special geometry and its 16 postures (16, 6)."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        numbers = np.zeros(NUMBERS, complex)
        numbers[0:6] = rng.uniform(0.3, 0.8, 6) * np.exp(1j * rng.uniform(-1.0, 1.0, 6))
        numbers[6:12] = rng.uniform(0.5, 2.0, 6) + 0.3j * rng.normal(size=6)
        numbers[12:18] = rng.uniform(0.3, 0.8, 6) * np.exp(1j * rng.uniform(-1.0, 1.0, 6))
        numbers[24:31] = rng.normal(size=7) + 0.3j * rng.normal(size=7)
        loop = _start_lines(numbers)
        rows = candidates(loop, eliminate(loop), real=False)
        kept: list[np.ndarray] = []
        for row in rows:
            q, size = _newton(numbers, row, 8)
            if size < 1e-10 and all(np.abs(np.exp(1j * (q - other)) - 1.0).max() > 1e-6 for other in kept):
                kept.append(q)
        if len(kept) == PATHS:
            return numbers, np.array(kept)
    raise AssertionError("no start problem with 16 postures was found")


@once_per_mechanism(32)
def _table(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """DH entries (24,) with lengths by the arm's size, inverses of base and tool, the size."""
    dh = to_dh(robot, "standard")
    rows = np.array([[float(row.get(k, 0.0)) for k in ("a", "alpha", "d", "theta")] for row in dh.rows]).T
    scale = float(np.abs(rows[[0, 2]]).max()) or 1.0
    rows[[0, 2]] /= scale
    return rows.ravel(), np.linalg.inv(np.asarray(dh.base, float)), np.linalg.inv(np.asarray(dh.tool, float)), scale


def _parts(z: np.ndarray) -> np.ndarray:
    return np.stack([np.real(z), np.imag(z)], axis=-1)


def follow(end: np.ndarray, bend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends (16, 6), complex, of all paths to the problem ``end`` (31,) and which of them arrived."""
    start, q = start_problem()
    ends, verdict, _ = path_kernel()(_parts(start), end, _parts(bend), _parts(q), np.float64(MOST_STEPS), threads=1)
    return ends[..., 0] + 1j * ends[..., 1], verdict == 1.0


def solve_6r_by_continuation(robot: Robot, T: Any) -> np.ndarray:
    """(k, 6) all postures for the tip's pose T (4×4) by following 16 paths, independent of the elimination of ``solve_6r``."""
    T = np.asarray(T, float)
    if T.shape != (4, 4) or not np.all(np.isfinite(T)):
        raise ShapeError(f"A finite target of shape (4, 4) is needed, found shape {T.shape}.")
    arm = prepared(robot)
    table, base, tool, scale = _table(robot)
    goal = base @ T @ tool
    end = np.concatenate([table, to_quaternion_wxyz(goal[:3, :3]), goal[:3, 3] / scale])
    rng = np.random.default_rng(1)
    found = np.empty((0, 6))
    for _ in range(BENDS):
        bend = BEND * (rng.normal(size=NUMBERS) + 1j * rng.normal(size=NUMBERS))
        ends, arrived = follow(end, bend)
        straight = (np.abs(np.imag(ends)).max(axis=1) < REAL) & np.isfinite(ends).all(axis=1)
        tried = np.real(ends)[straight]
        found = distinct(np.concatenate([found, polished(arm, T, tried)]))
        if arrived.all():
            break
    return found


__all__ = ["follow", "solve_6r_by_continuation", "start_problem"]

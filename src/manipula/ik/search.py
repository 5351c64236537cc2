r"""Where descents start, and what follows when one is given up: a race for one target, bursts for many.

Starts come from a fixed table of low-discrepancy postures whose tip poses are known. The squared distance between a target and all
of them is one matrix product, so every target begins at the best of its group:
:math:`|p_d-p|^2 + w^2|R_d-R|^2 = \text{const} - 2\,\langle f_d, f\rangle + |f|^2`.
Later starts are less choosy, so that stubborn targets see ever different ones.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from manipula.ik.driver import LOST, SOLVED, Walls, compile_descent, compile_errors, compile_residual, ranges
from manipula.ik.methods import REGISTRY
from manipula.ik.race import Found, Race
from manipula.ik.task import Task
from manipula.physics.chain import chain_of
from manipula.physics.kinematics import poses
from manipula.robot.robot import Robot

LANES = 4  # starts that race for one target, at least
GROUP = 128  # postures of the table among which the best is taken for a first start
CHOOSY = 4  # starts that are chosen among a whole group
GROUPS = 8
TURN_WEIGHT = 0.25  # [m/rad] of orientation against position when starts are compared
BURST = 8.0  # iterations between two looks
LIFE = 4  # bursts after which a start is given up (methods of linear convergence: their own lifetime)
CHUNK = 4096  # targets that are compared with the table at once
SWARM = 64  # starts side by side once few targets are left
RELAXED = 0.5  # of the tolerance: what descents aim for, so that the final check has room for rounding


def golden_points(n: int, count: int, first: int = 0) -> np.ndarray:
    """(count, n) points in the unit cube: multiples of powers of the root of x^(n+1) = x + 1 [Roberts 2018]."""
    phi = 2.0
    for _ in range(60):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    steps = (1.0 / phi) ** np.arange(1, n + 1)
    return (0.5 + np.outer(np.arange(first, first + count), steps)) % 1.0


class Search:
    """Numeric inverse kinematics of one robot for one task by one compiled method."""

    def __init__(self, robot: Robot, task: Task, method: str = "levenberg_marquardt", limited: bool = True) -> None:
        self.robot, self.task, self.n = robot, task, robot.n
        self.rule = REGISTRY[method]
        self.kernel = compile_descent(robot, task, method, limited)
        self.box = ranges(robot)
        self.walls = Walls(robot, limited)
        self.life = max(LIFE, int(self.rule.lifetime / BURST))
        self.burst = BURST if self.life == LIFE else 64.0
        self.life = LIFE if self.life == LIFE else max(1, int(self.rule.lifetime / self.burst))
        self._targets = len(task.parts)

    @functools.cached_property
    def descend(self) -> Any:
        """``(targets, q, free, tolerance, most)`` → q, error, iterations, verdict, with the least ceremony."""
        return self.kernel.gufunc if self.kernel.is_native and self.kernel.gufunc is not None else self.kernel

    @functools.cached_property
    def errors(self) -> Any:
        """``(targets, q)`` → error, Jacobian and size of the error."""
        return compile_errors(self.robot, self.task)

    @functools.cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Postures (S, n) and their features (S, 16·parts): their product with a flattened target is greatest for the nearest.

        Half the square of a posture's own features stands where targets have the 1 of their last row.
        """
        q = self.box[:, 0] + golden_points(self.n, GROUP * GROUPS) * (self.box[:, 1] - self.box[:, 0])
        X = _poses(self.robot, self.task, q)
        weight = np.zeros((self._targets, 4, 4))
        for k, (_, rows) in enumerate(self.task.parts):
            for r in range(3):
                weight[k, r, 3] = float(r in rows)
            if {3, 4, 5} & set(rows):
                weight[k, :3, :3] = TURN_WEIGHT**2
        features = (X * weight).reshape(len(q), -1)
        features[:, 15] = -0.5 * np.sum(X.reshape(len(q), -1) * features, axis=1)
        return q, np.ascontiguousarray(features)

    def starts(self, targets: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Start postures (N, n) for flattened targets (N, 16·parts), each with the number of starts it has had."""
        q, features = self.table
        out = np.empty((len(targets), self.n))
        late = number >= CHOOSY
        if late.any():
            out[late] = rng.uniform(self.box[:, 0], self.box[:, 1], (int(late.sum()), self.n))
        for group in np.unique(number[~late]):
            of = slice(group * GROUP, (group + 1) * GROUP)
            chosen = np.flatnonzero(number == group)
            for begin in range(0, len(chosen), CHUNK):
                part = chosen[begin : begin + CHUNK]
                out[part] = q[of][np.argmax(targets[part] @ features[of].T, axis=1)]
        return out

    def one(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> Found:
        """Several starts race for one target; the one from ``q0`` goes first when it arrives at all."""
        return self.race.run(targets, q0, tolerance * RELAXED, most, seed)

    @functools.cached_property
    def race(self) -> Race:
        return Race(self)

    # ------------------------------------------------------------------ many targets
    def many(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> Found:
        """Bursts over all unfinished targets, packed together after each; targets (N, parts, 4, 4), q0 (N, n) or None."""
        count = len(targets)
        flat = targets.reshape(count, -1)
        rng = np.random.default_rng(seed)
        goal = tolerance * RELAXED
        found = Found(np.zeros((count, self.n)), np.full(count, np.inf), np.zeros(count), np.zeros(count, bool))
        pending, number, age = np.arange(count), np.zeros(count, int), np.zeros(count, int)
        now = self.starts(flat, number, rng) if q0 is None else np.array(q0)
        number[:] = 0 if q0 is None else -1
        while len(pending) > SWARM:
            free = (number[pending] % 2 == 1).astype(float)
            now, error, iterations, verdict = self.descend(targets[pending], now, free, goal, self.burst)
            self._keep(found, pending, now, error, iterations, verdict)
            age[pending] += 1
            open_ = ~found.solved[pending] & (found.iterations[pending] < most)
            again = ((verdict == LOST) | (age[pending] >= self.life))[open_]
            pending, now = pending[open_], now[open_]
            renewed = pending[again]
            if len(renewed):
                number[renewed] += 1
                age[renewed] = 0
                now[again] = self.starts(flat[renewed], number[renewed], rng)
        for k in pending:
            self._swarm(found, int(k), targets, None if q0 is None else q0[k], goal, most, rng)
        return found

    def _keep(
        self, found: Found, which: np.ndarray, q: np.ndarray, error: np.ndarray, iterations: np.ndarray, verdict: Any
    ) -> None:
        """Remember what is solved, or nearer than before."""
        found.iterations[which] += iterations
        solved = verdict == SOLVED
        better = solved | (error < found.error[which])
        found.q[which[better]] = q[better]
        found.error[which[better]] = error[better]
        found.solved[which[solved]] = True

    def _swarm(
        self, found: Found, k: int, targets: np.ndarray, q0: Any, goal: float, most: int, rng: np.random.Generator
    ) -> None:
        """Many random starts for one stubborn target."""
        one = targets[k][None]
        flat = one.reshape(1, -1)
        free = (np.arange(SWARM) % 2).astype(float)
        first = np.array([self.starts(flat, np.array([g]), rng)[0] for g in range(CHOOSY)])
        now = rng.uniform(self.box[:, 0], self.box[:, 1], (SWARM, self.n))
        now[: len(first)] = first
        if q0 is not None:
            now[0] = q0
        age = np.zeros(SWARM, int)
        while not found.solved[k] and found.iterations[k] < most:
            now, error, iterations, verdict = self.descend(one, now, free, goal, self.burst)
            best = int(np.argmin(np.where(verdict == SOLVED, -1.0, np.nan_to_num(error, nan=np.inf))))
            self._keep(
                found,
                np.array([k]),
                now[best : best + 1],
                error[best : best + 1],
                np.zeros(1),
                verdict[best : best + 1],
            )
            found.iterations[k] += float(np.max(iterations)) * SWARM / LANES
            age += 1
            again = (verdict != 0.0) | (age >= self.life)
            now[again] = rng.uniform(self.box[:, 0], self.box[:, 1], (int(again.sum()), self.n))
            age[again] = 0


def _poses(robot: Robot, task: Task, q: np.ndarray) -> np.ndarray:
    """Poses of the task's frames, (S, parts, 4, 4), by the same recursions on whole columns."""
    from manipula import native

    names = tuple(frame for frame, _ in task.parts)
    chain = chain_of(robot)
    kernel = native.compile_function(lambda x: poses(chain, x, names), {"q": (robot.n,)}, name=f"{robot.name}.ik_poses")
    return np.asarray(kernel(q), float).reshape(len(q), len(names), 4, 4)


class Checker:
    """Residuals by forward kinematics, apart from the kernels that search."""

    def __init__(self, robot: Robot, task: Task) -> None:
        self.kernel = compile_residual(robot, task)

        self.fast = self.kernel.fast if self.kernel.is_native else self.kernel

    def __call__(self, targets: np.ndarray, q: np.ndarray) -> Any:
        return self.fast(targets, q)

r"""Where descents start, and what follows when one is given up: a race for one target, bursts for many.

Starts come from a fixed table of low-discrepancy postures whose tip poses are known. The squared distance between a target and all
of them is one matrix product, so every target begins at the best of its group:
:math:`|p_d-p|^2 + w^2|R_d-R|^2 = \text{const} - 2\,\langle f_d, f\rangle + |f|^2`.
Later starts are less choosy, so that stubborn targets see ever different ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.identity import identity
from manipula.ik.methods import REGISTRY
from manipula.ik.search.driver import SOLVED, compile_descent, compile_errors, compile_refinement, compile_residual
from manipula.ik.search.joint_box import JointBox, start_box
from manipula.ik.search.race import Found, Race
from manipula.ik.task import Task
from manipula.lazy import cached_property
from manipula.physics.kinematics import poses
from manipula.physics.mechanism import mechanism_of
from manipula.robot.robot import Robot

GROUP = 128  # postures of the table among which the best is taken for a first start
CHOOSY = 4  # starts that are chosen among a whole group
GROUPS = 8
TURN_WEIGHT = 0.25  # [m/rad] of orientation against position when starts are compared
BURST = 8.0  # iterations between two looks
LIFE = 4  # bursts after which a start is given up (methods of linear convergence: their own lifetime)
CHUNK = 4096  # targets that are compared with the table at once
WIDE = 128  # lanes that are kept busy when few targets are left
ROUNDS = 2  # of the wide search for a target that a few starts did not reach
CHOSEN = 16  # ends of its descents that are refined
REFINING = 30.0  # iterations
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
        self.robot, self.task, self.n, self.limited = robot, task, robot.n, limited
        self.method, self.rule = method, REGISTRY[method]
        self._remember_rule()
        self.kernel = compile_descent(robot, task, method, limited)
        self.box = start_box(robot)
        self.joint_box = JointBox(robot, limited)
        self.life = max(LIFE, int(self.rule.lifetime / BURST))
        self.burst = BURST if self.life == LIFE else 64.0
        self.life = LIFE if self.life == LIFE else max(1, int(self.rule.lifetime / self.burst))
        self._targets = len(task.parts)

    def _remember_rule(self) -> None:
        """Remember what the method is made of."""
        kind = type(self.rule)
        self.made_of = identity(self.rule)
        self._rule_code = kind.step, kind.move, kind.longest, kind.patience, kind.lifetime

    @property
    def is_current(self) -> bool:
        """May the compiled descent be used again? Not when its method is user code, or another one by now."""
        if self.made_of is None or REGISTRY.get(self.method) is not self.rule:
            return False
        rule = self.rule
        kind = type(rule)
        if rule.__dict__ or self._rule_code != (kind.step, kind.move, kind.longest, kind.patience, kind.lifetime):
            return self.made_of == identity(rule)
        return True

    @cached_property
    def descend(self) -> Any:
        """``(targets, q, free, tolerance, most)`` → q, error, iterations, verdict, with the least ceremony."""
        return self.kernel.gufunc if self.kernel.is_native and self.kernel.gufunc is not None else self.kernel

    @cached_property
    def errors(self) -> Any:
        """``(targets, q)`` → error, Jacobian and size of the error."""
        return compile_errors(self.robot, self.task)

    @cached_property
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

    @cached_property
    def race(self) -> Race:
        return Race(self)

    # ------------------------------------------------------------------ stubborn targets
    @cached_property
    def refine(self) -> Any:
        """``(targets, q, tolerance, most)`` → q and size of the error, by a method that never lets the error grow."""
        return compile_refinement(self.robot, self.task, self.limited)

    @property
    def round(self) -> float:
        """The most iterations that a round of :meth:`wide` takes."""
        return WIDE * self.life * self.burst + CHOSEN * REFINING

    def wide(self, targets: np.ndarray, tolerance: float, seed: int, rounds: int = ROUNDS) -> Found:
        """One target from WIDE starts at once, the most promising ends refined; what it costs is known beforehand."""
        goal = tolerance * RELAXED
        postures, features = self.table
        nearest = np.argsort(-(features @ targets.reshape(-1)), kind="stable")[: WIDE // 2]
        free = (np.arange(WIDE) % 2).astype(float)
        best, total = (np.inf, postures[nearest[0]]), 0.0
        for number in range(rounds):
            count = WIDE - len(nearest) if number == 0 else WIDE
            more = self.box[:, 0] + golden_points(self.n, count, WIDE * (number + 1) + seed) * np.ptp(self.box, axis=1)
            starts = np.vstack([postures[nearest], more]) if number == 0 else more
            q, _, used, verdict = self.descend(targets[None], starts, free, goal, self.life * self.burst)
            total += float(np.sum(used))
            if np.any(verdict == SOLVED):
                return Found(q[int(np.argmax(verdict == SOLVED))], 0.0, total, True)
            sizes = np.asarray(self.errors(targets[None], q)[2], float)
            ends = q[np.argsort(sizes, kind="stable")[:CHOSEN]]
            ends, sizes = self.refine(targets[None], ends, goal, REFINING)
            total += REFINING * len(ends)
            k = int(np.argmin(sizes))
            if sizes[k] < best[0]:
                best = (float(sizes[k]), ends[k])
            if best[0] <= goal:
                return Found(best[1], best[0], total, True)
        return Found(best[1], best[0], total, False)

    # ------------------------------------------------------------------ many targets
    def many(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> Found:
        """Bursts over all unfinished targets, packed together after each; targets (N, parts, 4, 4), q0 (N, n) or None.

        Once few targets are left, each gets several lanes.
        """
        count = len(targets)
        flat = targets.reshape(count, -1)
        rng = np.random.default_rng(seed)
        goal = tolerance * RELAXED
        found = Found(np.zeros((count, self.n)), np.full(count, np.inf), np.zeros(count), np.zeros(count, bool))
        asked = np.zeros(count, int)  # starts that a target has had, q0 not counted
        owner, age, free = np.arange(count), np.zeros(count, int), np.zeros(count)
        now = self.starts(flat, asked, rng) if q0 is None else np.array(q0)
        asked += q0 is None
        rounds = 0
        while len(owner):
            lanes, left = np.bincount(owner)[owner], most - found.iterations[owner]
            share = np.clip(np.ceil((left - _occurrence(owner)) / lanes), 0.0, self.burst)  # of what each may still use
            now, error, iterations, verdict = self.descend(targets[owner], now, free, goal, share)
            _keep(found, owner, now, error, iterations, verdict)
            rounds += 1
            age += 1
            lost = (verdict != 0.0) | (age >= self.life)
            open_ = ~found.solved[owner] & (found.iterations[owner] < most)
            owner, age, free, now, lost = owner[open_], age[open_], free[open_], now[open_], lost[open_]
            extra = WIDE - len(owner)
            if len(owner) and extra > 0 and (q0 is None or rounds > self.life):
                more = np.resize(np.unique(owner), extra)
                owner, age = np.append(owner, more), np.append(age, np.zeros(extra, int))
                free, now = np.append(free, np.zeros(extra)), np.vstack([now, np.zeros((extra, self.n))])
                lost = np.append(lost, np.ones(extra, bool))
            if lost.any():
                whose = owner[lost]
                number = asked[whose] + _occurrence(whose)
                now[lost] = self.starts(flat[whose], number, rng)
                free[lost] = number % 2
                np.add.at(asked, whose, 1)
                age[lost] = 0
        return found


def _occurrence(values: np.ndarray) -> np.ndarray:
    """How often each entry stood before in the array: [5, 7, 5, 5] → [0, 0, 1, 2]."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    out = np.empty(len(values), int)
    out[order] = np.arange(len(values)) - np.repeat(first, np.diff(np.append(first, len(values))))
    return out


def _keep(
    found: Found, owner: np.ndarray, q: np.ndarray, error: np.ndarray, iterations: np.ndarray, verdict: Any
) -> None:
    """Remember for every target what is solved, or nearer than before."""
    np.add.at(found.iterations, owner, iterations)
    solved = verdict == SOLVED
    better = np.flatnonzero(~solved & (error < found.error[owner]))
    # of several lanes of one target the best is written last
    better = better[np.argsort(-error[better], kind="stable")]
    for chosen in (better, np.flatnonzero(solved)[::-1]):
        found.q[owner[chosen]], found.error[owner[chosen]] = q[chosen], error[chosen]
    found.solved[owner[solved]] = True


def _poses(robot: Robot, task: Task, q: np.ndarray) -> np.ndarray:
    """Poses of the task's frames, (S, parts, 4, 4), by the same recursions on whole columns."""
    from manipula import native

    names = tuple(frame for frame, _ in task.parts)
    mechanism = mechanism_of(robot)
    parts = identity(robot.bare, names)
    kernel = native.kernel_of(lambda x: poses(mechanism, x, names), {"q": (robot.n,)}, f"{robot.name}.ik_poses", parts)
    return np.asarray(kernel(q), float).reshape(len(q), len(names), 4, 4)


class Checker:
    """Residuals by forward kinematics, apart from the kernels that search."""

    def __init__(self, robot: Robot, task: Task) -> None:
        self.kernel = compile_residual(robot, task)

        self.fast = self.kernel.fast if self.kernel.is_native else self.kernel

    def __call__(self, targets: np.ndarray, q: np.ndarray) -> Any:
        return self.fast(targets, q)

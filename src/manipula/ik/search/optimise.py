"""Driver of methods that solve as a whole in Python: the same interface as the compiled search."""

from __future__ import annotations

from typing import cast

import numpy as np

from manipula.errors import DescriptionError
from manipula.ik.methods import REGISTRY
from manipula.ik.methods.optimisation import Optimisation
from manipula.ik.search.joint_box import hard_limits
from manipula.ik.search.starts import RELAXED, Found, Search
from manipula.ik.task import Task
from manipula.robot.robot import Robot

EVALUATIONS = 200  # of one start
STARTS = 40


class OptimisationSearch(Search):
    """Restarts of a bounded minimiser, one target after the other."""

    def __init__(self, robot: Robot, task: Task, method: str, limited: bool) -> None:
        super().__init__(robot, task, "levenberg_marquardt", limited)
        self.method, self.rule = method, cast(Optimisation, REGISTRY[method])
        self._remember_rule()
        if not callable(getattr(self.rule, "minimise", None)):
            raise DescriptionError(f"The method '{method}' is not compiled and has no minimise().", field="method")
        self.hard = hard_limits(robot, limited)

    def one(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> Found:
        rng = np.random.default_rng(seed)
        flat = targets.reshape(1, -1)
        best, used = (np.inf, np.zeros(self.n)), 0
        for number in range(STARTS):
            start = q0 if q0 is not None and number == 0 else self.starts(flat, np.array([number]), rng)[0]
            q, count = self.rule.minimise(
                lambda x: self.errors(targets, x)[0], lambda x: -self.errors(targets, x)[1], np.array(start), self.hard, EVALUATIONS
            )  # fmt: skip
            used += count
            q = np.asarray(
                self.joint_box.clipped(self.joint_box.home(q) if not np.isfinite(self.hard).all() else q), float
            )
            size = float(self.errors(targets, q)[2])
            if size < best[0]:
                best = (size, q)
            if best[0] <= tolerance * RELAXED or used >= most:
                break
        return Found(best[1], np.float64(best[0]), np.float64(used), np.bool_(best[0] <= tolerance * RELAXED))

    def many(self, targets: np.ndarray, q0: np.ndarray | None, tolerance: float, most: int, seed: int) -> Found:
        rows = [self.one(x, None if q0 is None else q0[k], tolerance, most, seed + k) for k, x in enumerate(targets)]
        return Found(*(np.array(column) for column in zip(*rows)))

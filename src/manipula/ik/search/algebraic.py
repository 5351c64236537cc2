"""Methods that find postures by algebra alone, seen from the solver; each refuses what it cannot do, with the reason."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from manipula.errors import DescriptionError, printable
from manipula.ik.search.analytic import Analytic, analytic_for, kinds_of
from manipula.ik.task import Task
from manipula.robot.robot import Robot

BRANCHES = 16  # postures that six revolute joints have at most
SPLITS = 6


def algebraic_for(method: str, robot: Robot, task: Task, limited: bool) -> Analytic:
    """The branches of an algebraic method.

    Raises:
        DescriptionError: for an arm or a target that it cannot do.
    """
    if method == "elimination":
        return Eliminated(robot, task, limited)
    found = analytic_for(robot, task, limited)
    if found is None:
        raise DescriptionError(
            f"No closed form is known for the geometry of '{robot.name}' and this target; method='auto' searches.",
            field="method",
        )
    return found


class Eliminated(Analytic):
    """All postures of six revolute joints by elimination, polished by Newton's method."""

    at_once = False

    def __init__(self, robot: Robot, task: Task, limited: bool) -> None:
        from manipula.ik.general import prepared

        if len(task.parts) != 1 or len(task.parts[0][1]) != 6:
            _refuse("needs the whole pose of one frame as its target")
        self.frame = task.parts[0][0]
        if not robot.is_chain or kinds_of(robot) != "RRRRRR":
            _refuse(
                f"needs a chain of six revolute joints; '{printable(robot.name, 60)}' has {kinds_of(robot) or 'none'}"
            )
        self.arm = prepared(robot, self.frame)
        super().__init__(self, robot, limited, False)

    name, exact, branches, parameter = "elimination", False, BRANCHES, None

    def solve(self, T: np.ndarray) -> np.ndarray:
        """(k, 6) postures, angles in (−π, π]; every joint takes the part of the sixth unknown where one choice is badly conditioned."""
        from manipula.ik.general import GOOD, distinct, loop_of, polished
        from manipula.ik.general.elimination import split_candidates

        loop = loop_of(self.arm, np.asarray(T, float))
        q, quality = split_candidates(loop, self.arm.split)
        found = [polished(self.arm, T, q)]
        if not quality > GOOD or not len(found[0]):
            others = (k for k in range(SPLITS) if k != self.arm.split)
            found += [polished(self.arm, T, split_candidates(loop, k)[0]) for k in others]
        return distinct(np.concatenate(found))[:BRANCHES]

    def solve_batch(self, X: np.ndarray) -> np.ndarray:
        """(N, 16, 6) postures, NaN where there are fewer."""
        rows = np.full((len(X), BRANCHES, self.robot.n), np.nan)
        for row, T in zip(rows, X):
            q = self.solve(T)
            row[: len(q)] = q
        return rows

    def counted(self, count: int) -> str:
        return f"{'posture' if count == 1 else 'postures'} by elimination"


def _refuse(why: str) -> NoReturn:
    raise DescriptionError(f"Elimination {why}; method='auto' searches.", field="method")

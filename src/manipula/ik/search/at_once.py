"""Ordinary targets of a closed form, answered by one call of machine code; whatever is unusual is left to the search.

The answers are those of :mod:`.inspection`: every posture was judged there by forward kinematics. ``None`` means that somebody has to look
closer: the target is no pose, out of reach, beyond the limits or singular, or an argument is not a plain array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from manipula.ik.base import IkResult, units_of
from manipula.ik.search.inspection import compile_all, compile_best

if TYPE_CHECKING:
    from manipula.ik.search.analytic import Analytic
    from manipula.ik.task import Task

FLOAT = np.dtype(np.float64)


class NearestBranch:
    """The branch nearest to a posture; of a redundant arm (``started=False``) that of one parameter, when no posture is given."""

    def __init__(self, analytic: Analytic, task: Task, *parameter: float) -> None:
        self.call, self.middle = _quickest(compile_best(analytic, task, *parameter)), analytic.middle
        self.shape, self.started = (3,) if analytic.positions else (4, 4), not parameter
        self.method, self.units = analytic.name, units_of(analytic.solver.robot)

    def answer(self, target: np.ndarray, q0: Any, tolerance: float) -> IkResult | None:
        """One posture for a target."""
        if q0 is None:
            q0 = self.middle
        elif not self.started or not _is_plain(q0, self.middle.shape):
            return None
        if target.dtype is not FLOAT or target.shape != self.shape:
            return None
        q, residual = self.call(target, q0)
        if not residual <= tolerance:
            return None
        q.setflags(False)  # to write
        return IkResult.of_own(
            {
                "q": q, "status": "solved", "residual": float(residual), "iterations": 0, "reason": "", "method": self.method,
                "continuum": None, "units": self.units,
            }
        )  # fmt: skip


class EveryBranch:
    """All branches, in order, or sorted by their distance from a posture."""

    def __init__(self, analytic: Analytic, task: Task, active: Task) -> None:
        self.call, self.middle = _quickest(compile_all(analytic, task, active)), analytic.middle
        self.shape, self.method = (3,) if analytic.positions else (4, 4), analytic.name
        self.units = units_of(analytic.solver.robot)
        self.none_free = [np.zeros(k, bool) for k in range(analytic.solver.branches + 1)]
        for flags in self.none_free:
            flags.setflags(write=False)
        self.words = [f"{k} {analytic.counted(k)}." for k in range(len(self.none_free))]

    def answer(self, target: np.ndarray, q0: Any, tolerance: float) -> IkResult | None:
        """All postures for a target."""
        if target.dtype is not FLOAT or target.shape != self.shape:
            return None
        if q0 is not None and not _is_plain(q0, self.middle.shape):
            return None
        q, residual, found = self.call(target, self.middle, tolerance)
        count = int(found)
        if not count:
            return None
        if q0 is not None:
            nearest = np.argsort(np.max(np.abs(q[:count] - q0), axis=1), kind="stable")
            q, residual = q[nearest], residual[nearest]
        q.setflags(False)  # to write
        residual.setflags(False)
        if count < len(q):
            q, residual = q[:count], residual[:count]
        return IkResult.of_own(
            {
                "q": q, "status": "solved", "residual": residual, "iterations": 0, "reason": self.words[count],
                "method": self.method, "continuum": self.none_free[count], "units": self.units,
            }
        )  # fmt: skip


def _is_plain(x: Any, shape: tuple[int, ...]) -> bool:
    return type(x) is np.ndarray and x.dtype is FLOAT and x.shape == shape


def _quickest(kernel: Any) -> Any:
    return kernel.fast if kernel.is_native else kernel

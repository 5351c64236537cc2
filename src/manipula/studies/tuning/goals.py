"""What a tuning is to make small, and what it must keep: columns of a study, over the draws of everything uncertain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.simulation import field_values

OVER = ("max", "mean", "median", "p95")
MOST_OBJECTIVES = 3


@dataclass(frozen=True)
class Goals:
    """Objectives (columns to be made small) and bounds (columns and their largest value).

    Attributes:
        over: how the draws of one candidate become one number: the worst, the mean, the median, or what 95 % of them keep below. Bounds hold for the worst.
    """

    minimise: tuple[str, ...]
    subject_to: tuple[tuple[str, float], ...] = ()
    over: str = "max"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is looked at."""
        return tuple(dict.fromkeys((*self.minimise, *(name for name, _ in self.subject_to))))

    def judged(self, table: Mapping[str, Any], draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Objectives (N, k) and violations (N, c) of N candidates with ``draws`` rows each.

        The first violation is the part of the draws that are not "finished": an answer that is not trusted is no answer. The others are (x − bound)/|bound|.
        """
        rows = len(table["status"]) // draws
        finished = np.array([status == "finished" for status in table["status"]]).reshape(rows, draws)
        every = {name: np.asarray(table[name], float).reshape(rows, draws) for name in self.columns}
        with np.errstate(all="ignore"):
            objectives = np.column_stack([_over(every[name], finished, self.over) for name in self.minimise])
            broken = [1.0 - finished.mean(axis=1)]
            for name, bound in self.subject_to:
                worst = _over(every[name], finished, "max")
                broken.append(np.clip((worst - bound) / (abs(bound) or 1.0), 0.0, None))
        violations = np.column_stack(broken)
        violations[~np.isfinite(violations)] = 1e6
        return objectives, violations


def goals_of(minimise: Any, subject_to: Any, over: str, numbers: Sequence[str]) -> Goals:
    """Goals as they were asked for, compared with the columns of numbers that the study has."""
    wanted = (minimise,) if isinstance(minimise, str) else minimise
    if not isinstance(wanted, (list, tuple)) or not wanted or any(not isinstance(name, str) for name in wanted):
        raise DescriptionError("A column, or a list of columns, is needed, such as 'error_rms'.", field="minimise")
    if len(set(wanted)) < len(wanted) or len(wanted) > MOST_OBJECTIVES:
        raise DescriptionError(f"One to {MOST_OBJECTIVES} different columns can be made small.", field="minimise")
    if not isinstance(subject_to, Mapping):
        raise DescriptionError("Columns and their largest value are needed, {'tau_max': 80}.", field="subject_to")
    field_values.one_of("over", over, OVER)
    for field, name in (*(("minimise", n) for n in wanted), *(("subject_to", n) for n in subject_to)):
        if name not in numbers:
            raise unknown_name("column of numbers", str(name), list(numbers), field=field)
    bounds = tuple((name, field_values.real(f"subject_to.{name}", value)) for name, value in subject_to.items())
    return Goals(tuple(wanted), bounds, over)


def _over(values: np.ndarray, finished: np.ndarray, over: str) -> np.ndarray:
    """One number per candidate; infinite where a draw gave none or is not trusted."""
    bad = (~finished | ~np.isfinite(values)).any(axis=1)
    safe = np.where(np.isfinite(values), values, 0.0)
    found = {
        "max": lambda x: x.max(axis=1),
        "mean": lambda x: x.mean(axis=1),
        "median": lambda x: np.median(x, axis=1),
        "p95": lambda x: np.percentile(x, 95.0, axis=1),
    }[over](safe)
    return np.where(bad, np.inf, found)

"""The columns of a study: every summary number declared once, with its unit, its meaning and how it is computed from one run.

Largest values and means are those of the recorded samples (``sample`` of the base); ``feasible`` looks at every step, ``limit_use`` at the samples and, where a
limit is broken, at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import unknown_name

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class StudyColumn:
    """One column: its name, unit ("" for texts and plain numbers), meaning, and the kind of its values."""

    name: str
    unit: str
    meaning: str
    kind: str = "number"  # or "text", "flag", "count"


class RunSignals(NamedTuple):
    """What the summary of one run is made from: times (S,), signals (S, …), which joints slide, whether the error is that of the tip."""

    t: np.ndarray
    arrays: Arrays
    slides: np.ndarray
    of_tip: bool


Of = Callable[[RunSignals], float]


@dataclass(frozen=True)
class Measure:
    """A summary number of one run, of one group of joints, or of every joint."""

    name: str
    signal: str
    meaning: str
    turning: str  # unit of turning joints, or of what is no joint
    sliding: str  # unit of sliding joints; "" where joints have no part in it
    of: Callable[[np.ndarray, np.ndarray], float]  # of times (S,) and values (S, k), all finite
    each: bool = False  # also one column per joint


def _largest(t: np.ndarray, x: np.ndarray) -> float:
    return float(np.abs(x).max())


def _rms(t: np.ndarray, x: np.ndarray) -> float:
    """√(1/T ∫ |x|² dt), by the trapezoidal rule."""
    square = (x * x).sum(axis=1)
    return _mean(t, square) ** 0.5


def _mean(t: np.ndarray, y: np.ndarray) -> float:
    if len(t) < 2:
        return float(y[0])
    return float((np.diff(t) * (y[1:] + y[:-1])).sum() / (2.0 * (t[-1] - t[0])))


def _norm_largest(t: np.ndarray, x: np.ndarray) -> float:
    return float(np.sqrt((x * x).sum(axis=1)).max())


def _norm_last(t: np.ndarray, x: np.ndarray) -> float:
    return float(np.sqrt((x[-1] * x[-1]).sum()))


def _integral(t: np.ndarray, y: np.ndarray) -> float:
    return float((np.diff(t) * (y[1:] + y[:-1])).sum() / 2.0)


def _taken(t: np.ndarray, p: np.ndarray) -> float:
    return _integral(t, np.clip(p, 0.0, None).sum(axis=1))


def _given_back(t: np.ndarray, p: np.ndarray) -> float:
    return _integral(t, np.clip(-p, 0.0, None).sum(axis=1))


def _peak_total(t: np.ndarray, p: np.ndarray) -> float:
    return float(np.abs(p.sum(axis=1)).max())


def _place(k: int) -> Callable[[np.ndarray, np.ndarray], float]:
    return lambda t, x: float(x[-1, k])


ERROR = "tracking error"
MEASURES = (
    Measure("error_rms", "error", f"root mean square of the {ERROR} over the time", "rad", "m", _rms),
    Measure("error_max", "error", f"largest {ERROR}", "rad", "m", _norm_largest),
    Measure("error_final", "error", f"{ERROR} at the last sample", "rad", "m", _norm_last),
    Measure("tau_max", "tau", "largest torque of the joints", "N·m", "N", _largest, each=True),
    Measure("tau_rms", "tau", "root mean square of the torques (of all joints: of their norm)", "N·m", "N", _rms, each=True),
    Measure("qd_max", "qd", "largest velocity of the joints", "rad/s", "m/s", _largest, each=True),
    Measure("qdd_max", "qdd", "largest acceleration of the joints", "rad/s²", "m/s²", _largest),
    Measure("energy_taken", "power", "work of the drives where it is positive: what they consume without feeding back", "J", "", _taken),
    Measure("energy_returned", "power", "work that the drives take out of the arm, as a positive number", "J", "", _given_back),
    Measure("power_max", "power", "largest power of all drives together", "W", "", _peak_total),
    Measure("audit_max", "audit", "largest energy that is unaccounted for", "J", "", _largest),
    Measure("tip_x", "tip", "x of the tip at the last sample", "m", "", _place(0)),
    Measure("tip_y", "tip", "y of the tip at the last sample", "m", "", _place(1)),
    Measure("tip_z", "tip", "z of the tip at the last sample", "m", "", _place(2)),
)  # fmt: skip
SLIDING = {
    "error": "error_slide",
    "tau": "force",
    "qd": "speed",
    "qdd": "acceleration",
}  # of sliding joints, beside turning ones

STATUS = (
    StudyColumn("status", "", "how the run ended: finished, inaccurate, diverged, … as of a Result; refused: its numbers are not allowed together; "
                "error: it raised; killed: its process died", "text"),
    StudyColumn("reason", "", "the sentence that explains it", "text"),
    StudyColumn("feasible", "", "can the machine do it? null where that is not known", "flag"),
    StudyColumn("trusted_until", "s", "the time until which the run and its repetition agree"),
    StudyColumn("error_estimate", "", "relative error found by repeating the run with other steps"),
    StudyColumn("reached", "s", "the time of the last sample that is a number"),
    StudyColumn("limit_use", "", "the most strained limit: its worst value in units of the limit; above 1 it is broken"),
)  # fmt: skip


@dataclass(frozen=True)
class SummaryColumn:
    """A measure of some joints: a column and how it is found."""

    column: StudyColumn
    measure: Measure
    joints: str | int  # "all", "turning", "sliding", or the number of one

    def of(self, run: RunSignals) -> float:
        """The number, NaN where the run does not have it."""
        values = run.arrays.get(self.measure.signal)
        if values is None:
            return float("nan")
        x = np.ascontiguousarray(values if np.ndim(values) == 2 else np.reshape(values, (len(run.t), -1)))
        if self.joints in ("turning", "sliding"):
            if x.shape[1] == len(run.slides):
                x = x[:, run.slides == (self.joints == "sliding")]
            elif self.joints == "sliding":
                return float("nan")
        elif isinstance(self.joints, int):
            x = x[:, self.joints : self.joints + 1]
        good = np.isfinite(x).all(axis=1)
        if not good.any() or not x.shape[1]:
            return float("nan")
        if good.all():
            return self.measure.of(run.t, np.ascontiguousarray(x))
        return self.measure.of(run.t[good], np.ascontiguousarray(x[good]))


def summary_columns(base: Any) -> tuple[SummaryColumn, ...]:
    """Every summary number of the runs of a base."""
    slides = np.array([j.kind == "prismatic" for j in base.robot.joints], bool)
    reference = getattr(base, "reference", None)
    of_tip = getattr(reference, "space", "joint") == "task"
    found: list[SummaryColumn] = []
    for m in MEASURES:
        if m.signal == "error" and reference is None:
            continue
        if not m.sliding:
            found.append(SummaryColumn(StudyColumn(m.name, m.turning, m.meaning), m, "all"))
            continue
        if m.signal == "error" and of_tip:
            found.append(SummaryColumn(StudyColumn(m.name, "m", f"{m.meaning} (of the tip)"), m, "all"))
            continue
        for sliding in (False, True):
            if not (slides == sliding).any():
                continue
            mixed = slides.any() and not slides.all()
            name = m.name.replace(m.signal, SLIDING[m.signal], 1) if mixed and sliding else m.name
            words = f"{m.meaning} ({'sliding' if sliding else 'turning'} joints)" if mixed else m.meaning
            unit = m.sliding if sliding else m.turning
            found.append(SummaryColumn(StudyColumn(name, unit, words), m, "sliding" if sliding else "turning"))
        if m.each:
            for k, slide in enumerate(slides):
                unit, joint = (m.sliding if slide else m.turning), base.robot.joint_names[k]
                words = f"{m.meaning.split(' of ')[0]} of joint '{joint}'"
                found.append(SummaryColumn(StudyColumn(f"{m.name}[{k}]", unit, words), m, k))
    return tuple(found)


def chosen_columns(
    base: Any, keep: tuple[str, ...] | None
) -> tuple[tuple[StudyColumn, ...], tuple[SummaryColumn, ...]]:
    """The status columns and the summary numbers that a study keeps; status and reason are always among them.

    Raises:
        UnknownNameError: a name that no column has or begins with.
    """
    summary = summary_columns(base)
    if keep is None:
        return STATUS, summary
    names = [c.name for c in STATUS] + [c.column.name for c in summary]

    def wanted(name: str) -> bool:
        return any(name == k or name.startswith(f"{k}[") for k in keep)

    for k in keep:
        if not any(name == k or name.startswith(f"{k}[") for name in names):
            raise unknown_name("column", k, names, field="keep")
    status = tuple(c for c in STATUS if c.name in ("status", "reason") or wanted(c.name))
    return status, tuple(c for c in summary if wanted(c.column.name))

"""The columns of a study: every summary number declared once, with its unit, its meaning and how it is computed from one run.

Largest values and means are those of the recorded samples (``sample`` of the base); ``feasible`` looks at every step, ``limit_use`` at the samples and, where a
limit is broken, at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.errors import unknown_name
from manipula.studies.paths import AnyScenario


@dataclass(frozen=True)
class StudyColumn:
    """One column: its name, unit ("" for texts and plain numbers), meaning, and the kind of its values."""

    name: str
    unit: str
    meaning: str
    kind: str = "number"  # or "text", "flag", "count"


@dataclass(frozen=True)
class Measure:
    """A summary number of one run, of one group of joints, or of every joint."""

    name: str
    signal: str
    meaning: str
    turning: str  # unit of turning joints, or of what is no joint
    sliding: str  # unit of sliding joints; "" where joints have no part in it
    # of times (S,) and values (…, S, k), all finite; one number for each run
    of: Callable[[np.ndarray, np.ndarray], Any]
    each: bool = False  # also one column per joint


def _largest(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.abs(x).max(axis=(-2, -1))


def _rms(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """√(1/T ∫ |x|² dt), by the trapezoidal rule."""
    return np.sqrt(_mean(t, (x * x).sum(axis=-1)))


def _mean(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    if len(t) < 2:
        return y[..., 0]
    return (np.diff(t) * (y[..., 1:] + y[..., :-1])).sum(axis=-1) / (2.0 * (t[-1] - t[0]))


def _norm_largest(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.sqrt((x * x).sum(axis=-1)).max(axis=-1)


def _norm_last(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.sqrt((x[..., -1, :] * x[..., -1, :]).sum(axis=-1))


def _integral(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (np.diff(t) * (y[..., 1:] + y[..., :-1])).sum(axis=-1) / 2.0


def _taken(t: np.ndarray, p: np.ndarray) -> np.ndarray:
    return _integral(t, np.maximum(p, 0.0).sum(axis=-1))


def _given_back(t: np.ndarray, p: np.ndarray) -> np.ndarray:
    return _integral(t, np.maximum(-p, 0.0).sum(axis=-1))


def _peak_total(t: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.abs(p.sum(axis=-1)).max(axis=-1)


def _place(k: int) -> Callable[[np.ndarray, np.ndarray], Any]:
    return lambda t, x: x[..., -1, k]


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
# of sliding joints, beside turning ones
SLIDING = {"error": "error_slide", "tau": "force", "qd": "speed", "qdd": "acceleration"}

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

    def of(self, t: np.ndarray, x: np.ndarray, slides: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """The number of every run, (N,), NaN where one does not have it; a run has the same bits among any others.

        Args:
            t: times (S,). x: the signal (N, S, k). slides: which joints slide. whole: which runs have nothing but numbers in it, (N,).
        """
        if self.joints in ("turning", "sliding"):
            if x.shape[2] == len(slides):
                chosen = slides == (self.joints == "sliding")
                x = x if chosen.all() else x[:, :, chosen]
            elif self.joints == "sliding":
                return np.full(len(x), np.nan)
        elif isinstance(self.joints, int):
            x = x[:, :, self.joints : self.joints + 1]
        out = np.full(len(x), np.nan)
        if not x.shape[2]:
            return out
        if whole.any():
            out[whole] = self.measure.of(t, np.ascontiguousarray(x if whole.all() else x[whole]))
        for k in np.flatnonzero(~whole):
            good = np.isfinite(x[k]).all(axis=1)
            if good.any():
                out[k] = self.measure.of(t[good], np.ascontiguousarray(x[k][good]))
        return out


def summary_columns(base: AnyScenario) -> tuple[SummaryColumn, ...]:
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
    base: AnyScenario, keep: tuple[str, ...] | None
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

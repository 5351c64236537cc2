"""What an identification from a log found: the estimate, and how well it predicts what it has not seen."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manipula import verbs
from manipula.algebra.value import Value
from manipula.analysis.identification.identified import Identification
from manipula.robot.robot import Robot

WEAK = 0.5  # relative standard deviation above which a parameter is hardly seen: its 95 % interval holds zero


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Value):
    """Filtered torques beside what the estimate says: (samples,), (samples, n) each [N·m, N].

    Attributes:
        measured: torques. predicted: by the base parameters. physical: by the physically consistent estimate, or None.
    """

    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    physical: np.ndarray | None

    @property
    def rms(self) -> np.ndarray:
        """(n,) of measured − predicted."""
        return np.sqrt(np.mean((self.measured - self.predicted) ** 2, axis=0))

    @property
    def physical_rms(self) -> np.ndarray | None:
        """(n,) of measured − physical: what ``robot`` leaves."""
        return None if self.physical is None else np.sqrt(np.mean((self.measured - self.physical) ** 2, axis=0))

    @property
    def size(self) -> np.ndarray:
        """(n,) rms of the torques about their mean."""
        return np.std(self.measured, axis=0)


@dataclass(frozen=True, eq=False, repr=False)
class LogIdentification(Value):
    """Result of :func:`~manipula.analysis.identification.from_log.identify_log`.

    Attributes:
        found: the estimate itself, with covariance, intervals and physical parameters.
        training, validation: torques and predictions; validation is None when there was no other data.
        cross_rms: (n,) rms of blocks of the training data predicted from the other blocks.
        cutoff: of the filter [Hz]. rate: of the log, used_rate: of the samples that were used [Hz].
        source: file of the log.
        tried: sets of columns and their cross-validated sum of squares, relative to the first, when they were chosen.
        notes: what was done to the data, one sentence each.
    """

    found: Identification
    training: Comparison
    validation: Comparison | None
    cross_rms: np.ndarray
    cutoff: float
    rate: float
    used_rate: float
    source: str
    tried: tuple[tuple[tuple[str, ...], float], ...]
    notes: tuple[str, ...]

    @property
    def robot(self) -> Robot:
        """The robot as identified, with friction and rotor inertia; ``mp.save(found.robot, "arm.toml")`` keeps it."""
        return self.found.robot

    @property
    def extras(self) -> tuple[str, ...]:
        """The columns beside those of the links."""
        return self.found.base.columns.extras

    @property
    def not_excited(self) -> tuple[str, ...]:
        """Base parameters that the motion does not show; they stay at the prior."""
        return tuple(self.found.base.names[k] for k in self.found.not_excited)

    @property
    def weak(self) -> tuple[str, ...]:
        """Base parameters whose standard deviation is more than half of their size."""
        far = self.found.relative_deviation > WEAK
        return tuple(
            name
            for k, (name, bad) in enumerate(zip(self.found.base.names, far))
            if bad and k not in self.found.not_excited
        )

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One HTML page: residuals per joint, confidence, what is not excited."""
        return verbs.verb("LogIdentification.report")(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        base, found = self.found.base, self.found
        rows = zip(base.names, base.definitions(), found.beta, found.standard_deviation, found.relative_deviation)
        out: dict[str, Any] = {
            "robot": base.columns.model.robot.name, "log": self.source, "rate": self.rate, "used_rate": self.used_rate,
            "cutoff": self.cutoff, "samples": len(self.training.t), "joints": list(base.columns.model.robot.joint_names),
            "extras": list(self.extras), "condition": _finite(found.condition), "not_excited": list(self.not_excited),
            "weak": list(self.weak), "notes": list(self.notes), "cross_validation_rms": self.cross_rms.tolist(),
            "training_rms": self.training.rms.tolist(), "torque_size": self.training.size.tolist(),
            "parameters": [{"name": n, "definition": d, "estimate": float(b), "deviation": _finite(s), "relative": _finite(r)}
                           for n, d, b, s, r in rows],
            "friction": {name: values.tolist() for name, values in found.friction.items()},
        }  # fmt: skip
        if "coulomb" in self.extras or "stribeck" in self.extras:
            n = base.columns.n
            out["smooth"] = np.broadcast_to(base.columns.smooth, n).tolist()
            if "stribeck" in self.extras:
                out["v_stribeck"] = np.broadcast_to(base.columns.v_stribeck, n).tolist()
        if self.training.physical_rms is not None:
            out["training_rms_physical"] = self.training.physical_rms.tolist()
        if self.validation is not None:
            out["validation_rms"] = self.validation.rms.tolist()
            if self.validation.physical_rms is not None:
                out["validation_rms_physical"] = self.validation.physical_rms.tolist()
        return out

    def rows(self) -> list[tuple[str, ...]]:
        """Per joint: name, size of the torque, rms on training data, cross-validated, on validation data, of the physical robot."""
        names = self.found.base.columns.model.robot.joint_names
        last = self.validation or self.training
        parts = [self.training.size, self.training.rms, self.cross_rms]
        parts += [] if self.validation is None else [self.validation.rms]
        parts += [] if last.physical_rms is None else [last.physical_rms]
        return [(name, *(f"{part[i]:.3g}" for part in parts)) for i, name in enumerate(names)]

    def heads(self) -> tuple[str, ...]:
        """Titles of :meth:`rows`."""
        heads = ("joint", "torque changes", "training", "cross-validation")
        heads += () if self.validation is None else ("validation",)
        return heads if self.training.physical is None else (*heads, "as a robot")

    def friction_heads(self) -> tuple[str, ...]:
        """Titles of :meth:`friction_rows`."""
        widths = {"coulomb": "width v_0", "stribeck": "v_s"}
        return ("joint", *self.extras, *(word for extra, word in widths.items() if extra in self.extras))

    def friction_rows(self) -> list[tuple[str, ...]]:
        """Per joint: friction and rotor inertia by least squares, ± half of the confidence interval; and the widths of dry friction [SI]."""
        base, found = self.found.base, self.found
        columns, place = base.columns, {k: i for i, k in enumerate(base.kept)}

        def cell(extra: str, joint: int) -> str:
            k = place.get(columns.part(extra).start + joint)
            if k is None:
                return "–"
            half = float(found.interval[k, 1] - found.interval[k, 0]) / 2.0
            return f"{found.beta[k]:.4g} ± {half:.2g}" if np.isfinite(half) else "not excited"

        widths = [np.broadcast_to(columns.smooth, columns.n)] if "coulomb" in self.extras else []
        widths += [np.broadcast_to(columns.v_stribeck, columns.n)] if "stribeck" in self.extras else []
        return [
            (name, *(cell(extra, i) for extra in self.extras), *(f"{float(w[i]):.3g}" for w in widths))
            for i, name in enumerate(columns.model.robot.joint_names)
        ]

    def text(self) -> str:
        """The findings in words: residuals, friction, what is not excited, what was done."""
        used = f"{len(self.training.t)} samples at {self.used_rate:.4g} Hz, cutoff {self.cutoff:.3g} Hz"
        lines = [f"{used}, {self.found.base.count} base parameters, condition number {self.found.condition:.1f}", ""]
        lines += ["rms of the torque about its mean, and of residuals [N·m, N]"]
        lines += _lines([self.heads(), *self.rows()])
        if self.extras:
            lines += ["", f"beside the links, ± half of the {100 * self.found.confidence:g} % interval [SI]"]
            lines += _lines([self.friction_heads(), *self.friction_rows()])
        lines += ["", f"not excited, kept at the prior: {', '.join(self.not_excited) or 'none'}"]
        lines += [f"hardly seen (deviation over {100 * WEAK:g} %): {', '.join(self.weak) or 'none'}", "", *self.notes]
        return "\n".join(lines)


def _lines(table: list[tuple[str, ...]]) -> list[str]:
    """Cells in columns."""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return [
        "  " + "  ".join(c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths))) for row in table
    ]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""What a calibration found: corrections with confidence, errors before and after, what cannot be distinguished."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.value import Value
from manipula.analysis.identification.intervals import normal_interval
from manipula.robot.robot import Robot
from manipula.verbs import verb

FAR, TURNED = 0.1, 0.3  # m, rad: more than joints are built wrong, or their zeros set wrong, by


@dataclass(frozen=True)
class Fit:
    """Errors of the measured frame: root mean square and largest distance [m] and turn [rad]; None where none were measured."""

    position: float
    position_most: float
    rotation: float | None
    rotation_most: float | None

    @classmethod
    def of(cls, rest: np.ndarray) -> Fit:
        """Of differences (samples, 3 or 6)."""
        place = np.linalg.norm(rest[:, :3], axis=1)
        turn = np.linalg.norm(rest[:, 3:], axis=1) if rest.shape[1] == 6 else None
        rms, most = float(np.sqrt(np.mean(place**2))), float(np.max(place))
        return cls(
            rms, most, *((None, None) if turn is None else (float(np.sqrt(np.mean(turn**2))), float(np.max(turn))))
        )

    def cells(self) -> tuple[str, ...]:
        """In mm and mrad, for people."""
        values = (self.position, self.position_most, self.rotation, self.rotation_most)
        return tuple(f"{1e3 * v:.4g}" for v in values if v is not None)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Value):
    """Result of :func:`~manipula.analysis.identification.calibration.calibrate`.

    Attributes:
        robot: with the corrections of joints and tool. base: (4, 4) pose of its base in the measuring device's frame.
        names: errors that were found, "joint2 rz"; corrections: (k,) [m, rad]; covariance: (k, k).
        left_out: errors that cannot be distinguished from others, with those that act like them.
        weak: found, but hardly seen by these postures.
        condition: of the weighted Jacobian, columns of one length.
        before, after: with the described robot (its base placed best) and with the corrected one. validation: the same for other poses.
        sigma: (3 or 6,) standard deviations that weighed the measurements [m, rad].
        errors: (places, 6) all errors, zero where left out; places: the base, the joints, the tool.
        samples: poses that were used. confidence: level of :attr:`interval`.
    """

    robot: Robot
    base: np.ndarray
    names: tuple[str, ...]
    corrections: np.ndarray
    covariance: np.ndarray
    condition: float
    left_out: tuple[tuple[str, tuple[str, ...]], ...]
    weak: tuple[str, ...]
    before: Fit
    after: Fit
    validation: tuple[Fit, Fit] | None
    sigma: np.ndarray
    errors: np.ndarray
    places: tuple[str, ...]
    samples: int
    confidence: float

    @property
    def standard_deviation(self) -> np.ndarray:
        """(k,) of ``corrections``."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def interval(self) -> np.ndarray:
        """(k, 2) confidence interval of each correction (normal)."""
        return normal_interval(self.corrections, self.standard_deviation, self.confidence)

    @property
    def doubt(self) -> str:
        """A sentence where corrections of joints are larger than any robot is built wrong by, else nothing."""
        joints = self.errors[1:-1] / np.repeat((FAR, TURNED), 3)
        if not joints.size or np.max(np.abs(joints)) < 1.0:
            return ""
        place, axis = np.unravel_index(np.argmax(np.abs(joints)), joints.shape)
        value = abs(float(self.errors[1 + place, axis]))
        return (
            f"{self.places[1 + place]} would have to be off by {value:.2g} {'m' if axis < 3 else 'rad'}: "
            "look whether the poses belong to these joint positions and to this tip."
        )

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One HTML page about the calibration."""
        return verb("Calibration.report")(self, path)

    def heads(self) -> tuple[str, ...]:
        """Titles of :meth:`rows`."""
        turns = () if self.after.rotation is None else ("rms [mrad]", "largest [mrad]")
        return ("poses", "rms [mm]", "largest [mm]", *turns)

    def rows(self) -> list[tuple[str, ...]]:
        """Errors before and after, on the poses used and on the others."""
        rows = [("before", *self.before.cells()), ("after", *self.after.cells())]
        if self.validation is not None:
            rows += [(f"{word}, others", *fit.cells()) for word, fit in zip(("before", "after"), self.validation)]
        return rows

    def found(self) -> list[tuple[str, str, str]]:
        """Each correction and its deviation, in mm and mrad."""
        units = ["mrad" if name.rsplit(" ", 1)[1].startswith("r") else "mm" for name in self.names]
        rows = zip(self.names, self.corrections, self.standard_deviation, units)
        return [(name, f"{1e3 * value:.4g} {unit}", f"{1e3 * s:.2g}") for name, value, s, unit in rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        fit = lambda f: {k: v for k, v in vars(f).items() if v is not None}  # noqa: E731
        return {
            "robot": self.robot.name, "samples": self.samples, "condition": self.condition, "base": self.base.tolist(),
            "before": fit(self.before), "after": fit(self.after),
            "validation": None if self.validation is None else dict(zip(("before", "after"), map(fit, self.validation))),
            "sigma": self.sigma.tolist(),
            "corrections": [{"name": n, "value": float(c), "deviation": float(s)}
                            for n, c, s in zip(self.names, self.corrections, self.standard_deviation)],
            "doubt": self.doubt, "left_out": {name: list(like) for name, like in self.left_out}, "weak": list(self.weak),
        }  # fmt: skip

    def text(self) -> str:
        """The findings in words."""
        out = [f"{self.samples} poses, {len(self.names)} errors, condition number {self.condition:.4g}", ""]
        out += [self.doubt, ""] if self.doubt else []
        table = [self.heads(), *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        out += [
            "  " + "  ".join(c.ljust(w) if not k else c.rjust(w) for k, (c, w) in enumerate(zip(r, widths)))
            for r in table
        ]
        out += ["", *(f"  {name:<24}{value:>16} ± {s}" for name, value, s in self.found()), ""]
        out += [
            f"  {name} cannot be distinguished from {', '.join(like) or 'anything: it moves nothing'}"
            for name, like in self.left_out
        ]
        return "\n".join([*out, f"hardly seen: {', '.join(self.weak) or 'none'}"])

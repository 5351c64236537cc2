"""What a run gives: samples, a status with its reason, and an audit of the energy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from manipula.algebra.arguments import whole_number
from manipula.algebra.value import FrozenDict, Value
from manipula.errors import DescriptionError, SolveError, printable, unknown_name
from manipula.lazy import cached_property
from manipula.verbs import notebook_html, verb

if TYPE_CHECKING:
    import xarray

    from manipula.motion.piecewise import PiecewiseTrajectory
    from manipula.simulation.programmed.equations import ProgrammedPlant
    from manipula.simulation.programmed.scenario import ProgramScenario
    from manipula.simulation.scenario import Scenario
    from manipula.simulation.signals.jerk import Jerk
    from manipula.simulation.signals.point_trace import PointMotion
    from manipula.simulation.verdicts.limits import LimitVerdict

    Described = Scenario | ProgramScenario | ProgrammedPlant  # what a run may have been made from

STATUSES = ("finished", "inaccurate", "diverged", "not_finite", "singular", "limit", "step_too_small", "failed")


@dataclass(frozen=True, eq=False, repr=False)
class Result(Value):
    """Samples of one run, shape (S, …), or of a batch, shape (N, S, …).

    A value: it does not change (``dataclasses.replace`` makes another one), its arrays are read-only, and two results are equal when all
    they say and every number is; NaN equals NaN. What was saved loads equal.

    Attributes:
        status: "finished" only when the answer can be trusted; else what went wrong. reason: the sentence that explains it.
        statuses, reasons: the same for every run of a batch.
        t: sample times (S,). arrays: everything else by name.
        error_estimate: relative error found by repeating the run with other steps; NaN when that was not asked for. Of a
            batch the largest; error_estimates: of every run.
        trusted_until: the time [s] until which the run and its repetition agree within the tolerance; the end of a finished run,
            NaN when nothing was repeated. Of a batch the least; trusted_untils: of every run.
        meta: robot name and digest, versions, seed, settings: plain values only, so that files can hold them.
        scenario: what the run was made from, while it is at hand; a loaded result has none (its text is in ``meta``). It takes no part
            in comparison.
    """

    t: np.ndarray
    arrays: dict[str, np.ndarray]
    status: str
    reason: str
    statuses: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    error_estimate: float = float("nan")
    meta: dict[str, Any] = field(default_factory=FrozenDict)
    notes: tuple[str, ...] = ()
    scenario: Described | None = field(default=None, compare=False)
    error_estimates: tuple[float, ...] = ()
    trusted_until: float = float("nan")
    trusted_untils: tuple[float, ...] = ()

    def __getattr__(self, name: str) -> np.ndarray:
        arrays = self.__dict__.get("arrays", {})
        if name in arrays:
            return arrays[name]
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(str(unknown_name("signal", name, arrays)))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.arrays if name.isidentifier())]

    def __repr__(self) -> str:
        shape = self.arrays["q"].shape if "q" in self.arrays else ()
        span = f"t = {self.t[0]:g} … {self.reached:g} s" if len(self.t) else "no samples"
        return f"Result('{self.status}', {span}, q {shape}: {printable(self.reason, 200)})"

    def _repr_html_(self) -> str | None:
        """The report, for notebooks."""
        return notebook_html(self)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of everything recorded."""
        return tuple(self.arrays)

    @property
    def ok(self) -> bool:
        """Did the run reach its end?"""
        return self.status == "finished"

    @property
    def reached(self) -> float:
        """The time of the last sample that is a number [s]: the end, or where a run died; of a batch that of the run that got furthest."""
        q = self.arrays.get("q")
        if q is None or not len(self.t):
            return float(self.t[-1]) if len(self.t) else float("nan")
        good = np.isfinite(q).all(axis=-1)
        good = good.any(axis=0) if good.ndim == 2 else good
        return float(self.t[np.flatnonzero(good)[-1]]) if good.any() else float(self.t[0])

    @property
    def feasible(self) -> bool | None:
        """Can the machine do it? True when every stated limit was compared with the motion and is kept, False when one is not, None when that
        is not known: no limit is stated, one could not be checked, or a run that breaks none ended before its time or is not right.

        Of a batch: of all its runs together. ``ok`` says whether the numbers are right, ``feasible`` whether the motion they describe is
        possible; ``feasibility`` says which joint breaks which limit, when and by how much.
        """
        return self.feasibility.feasible

    @cached_property
    def feasibility(self) -> LimitVerdict:
        """The limits of the robot and of the scenario (``meta["limits"]``) against the motion; found when first asked for."""
        return verb("Result.feasibility")(self)

    @cached_property
    def jerks(self) -> dict[Any, Jerk]:
        """The jerks that were asked for, by point."""
        return {}

    def jerk(self, frame: str | None = None, point: Any = None) -> Jerk:
        """Third derivative of the joints, or of a frame's origin (``"tip"``, any named frame), or of a point
        ``("link3", (0.1, 0, 0))``: see ``simulation.jerk``."""
        return verb("Result.jerk")(self, frame, point)

    def point_motion(self, frame: str | None = None, point: Any = None) -> PointMotion:
        """Position, velocity and acceleration of a frame's origin, or of a point ``("link3", (0.1, 0, 0))``; of the tip when omitted."""
        return verb("Result.point_motion")(self, frame, point)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints."""
        return tuple(self.meta.get("joint_names", ()))

    def check(self) -> Result:
        """The result itself, or a SolveError that carries it when it cannot be trusted."""
        if not self.ok:
            raise SolveError(f"The run ended as '{self.status}': {self.reason}", self)
        return self

    def run(self, index: int) -> Result:
        """One run of a batch as a result of its own, counted from 0 (or from the end: -1 is the last).

        Raises:
            DescriptionError: for a single run, or a run that the batch does not have.
        """
        count = len(self.statuses)
        if not count or np.ndim(self.arrays.get("q", np.zeros((1, 1, 1)))) < 3:
            raise DescriptionError("This is a single run, not a batch: the result itself is the run.", field="index")
        index = whole_number(index, "run", -count, count - 1) % count
        arrays = {k: v[index] for k, v in self.arrays.items()}
        error = self.error_estimates[index] if self.error_estimates else self.error_estimate
        trusted = self.trusted_untils[index] if self.trusted_untils else self.trusted_until
        return Result(self.t, arrays, self.statuses[index], self.reasons[index], (), (), error,
                      {**self.meta, "run": index}, self.notes, None, (), trusted)  # fmt: skip

    def to_reference(
        self, *, space: Literal["joint", "task"] = "joint", until: float | None = None
    ) -> PiecewiseTrajectory:
        """The motion of the joints, or of the tip, as a reference for a controller: quintics through position, velocity and acceleration at the samples.

        Its ``accuracy`` says how well it stands for the run (see ``simulation.signals.to_reference``). ``until`` [s] ends it before the run did.
        """
        return verb("Result.to_reference")(self, space=space, until=until)

    def to_xarray(self) -> xarray.Dataset:
        """The samples as an ``xarray.Dataset``: dimensions (run,) time, joint …, their labels, and units as attributes."""
        return verb("Result.to_xarray")(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to ``.nc``, ``.npz``, ``.csv``, ``.parquet`` or ``.mcap``; whole or not at all."""
        verb("Result.save")(self, path)

    def report(self, path: str | os.PathLike[str], *, live: bool | Sequence[str] = False) -> None:
        """Write one HTML file that opens offline (see ``manipula.reports``); ``live``: it computes the run again when a number is moved."""
        verb("Result.report")(self, path, live=live)


class RunVerdict(NamedTuple):
    """Status and reason of one run."""

    status: str
    reason: str

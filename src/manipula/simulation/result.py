"""What a run gives: samples, a status with its reason, and an audit of the energy."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manipula.errors import SolveError, unknown_name

STATUSES = ("finished", "inaccurate", "diverged", "not_finite", "singular", "limit", "step_too_small", "failed")
UNITS = {
    "t": "s", "q": "rad or m", "qd": "rad/s or m/s", "qdd": "rad/s² or m/s²", "tau": "N·m or N", "command": "N·m or N",
    "friction": "N·m or N", "outside": "N·m or N", "tip": "m", "pose": "", "error": "m or rad", "power": "W", "kinetic": "J",
    "potential": "J", "energy": "J", "audit": "J", "target": "m or rad", "loads": "N",
}  # fmt: skip


@dataclass
class Result:
    """Samples of one run, shape (S, …), or of a batch, shape (N, S, …).

    Attributes:
        status: "finished" only when the answer can be trusted; else what went wrong. reason: the sentence that explains it.
        statuses, reasons: the same for every run of a batch.
        t: sample times (S,). arrays: everything else by name.
        error_estimate: relative error found by repeating the run with another step; NaN when that was not asked for.
        meta: robot name and digest, versions, seed, settings.
    """

    t: np.ndarray
    arrays: dict[str, np.ndarray]
    status: str
    reason: str
    statuses: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    error_estimate: float = float("nan")
    meta: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    scenario: Any = None

    def __getattr__(self, name: str) -> np.ndarray:
        arrays = self.__dict__.get("arrays", {})
        if name in arrays:
            return arrays[name]
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(str(unknown_name("signal", name, arrays)))

    def __repr__(self) -> str:
        shape = self.arrays["q"].shape if "q" in self.arrays else ()
        return f"Result('{self.status}', t = 0 … {self.t[-1]:g} s, q {shape}: {self.reason})"

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of everything recorded."""
        return tuple(self.arrays)

    @property
    def ok(self) -> bool:
        return self.status == "finished"

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(self.meta.get("joint_names", ()))

    def check(self) -> Result:
        """The result itself, or a SolveError that carries it when it cannot be trusted."""
        if not self.ok:
            raise SolveError(f"The run ended as '{self.status}': {self.reason}", self)
        return self

    def run(self, index: int) -> Result:
        """One run of a batch as a result of its own."""
        arrays = {k: v[index] for k, v in self.arrays.items()}
        return Result(self.t, arrays, self.statuses[index], self.reasons[index], (), (), self.error_estimate,
                      {**self.meta, "run": index}, self.notes, None)  # fmt: skip

    def to_xarray(self) -> Any:
        """The samples as an ``xarray.Dataset`` with dimensions (run,) time, joint and units as attributes."""
        from manipula.simulation.store import to_xarray

        return to_xarray(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to ``.nc``, ``.npz``, ``.csv``, ``.parquet`` or ``.mcap``; whole or not at all."""
        from manipula.simulation.store import save_result

        save_result(self, path)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file that opens offline (see ``manipula.reports``)."""
        import importlib

        importlib.import_module("manipula.reports.report").write_report(self, path)

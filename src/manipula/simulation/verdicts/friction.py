"""Did a run end because load-dependent friction has no or no unique solution?"""

from __future__ import annotations

import numpy as np

from manipula.simulation.loops.fixed import RunSamples
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.friction_loads import loaded, paradox
from manipula.simulation.plant.plant import Plant
from manipula.simulation.result import RunVerdict

SHORT = 1e-9  # s


def friction_verdict(run: Run, samples: RunSamples, k: int) -> RunVerdict | None:
    """The verdict on run k when it stopped for that reason, else nothing."""
    if not np.isfinite(samples.stopped[k]) or not loaded(run.plant.friction):
        return None
    x, t = samples.x[k], samples.t
    last = int(np.flatnonzero(np.isfinite(x).all(axis=1))[-1]) if np.isfinite(x[0]).all() else 0
    parts = run.loop.traced(run.p[k], *run.inputs)
    why = ""
    for ahead in (x[last] - x[last - 1] if last else None, _ahead(parts, x[last], float(t[last]), samples.stopped[k])):
        why = why or ("" if ahead is None else paradox(parts, x[last], ahead, float(t[last])))
    return (
        RunVerdict("singular", f"The run cannot be continued at t = {samples.stopped[k]:.6g} s: {why}.")
        if why
        else None
    )


def _ahead(parts: Plant, x: np.ndarray, t: float, until: float) -> np.ndarray:
    """How the state would change from x until the run stopped, to first order: at rest this friction is 0, and has no gain yet."""
    rate = np.asarray(parts.flow(t, x).rate, float)
    return np.where(np.isfinite(rate), rate, 0.0) * max(until - t, SHORT)

"""Runs whose step follows the error: Dormand–Prince 5(4), 8(5,3) and Radau IIA, over the compiled right-hand side.

SciPy's steppers do the stepping. The run is cut at the reference's breaks and at switching times of disturbances, because no
method keeps its order across a jump. Samples come from dense output.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45, Radau

from manipula.simulation.fixed import Samples
from manipula.simulation.parts import PayloadChange, Wrench
from manipula.simulation.setup import Run

METHODS: dict[str, tuple[Any, str]] = {
    "dopri5": (RK45, "explicit, order 5 with order-4 error estimate"),
    "dop853": (DOP853, "explicit, order 8"),
    "radau": (Radau, "implicit, order 5, for stiff drives and friction"),
}
TIGHTEST = 3e-14
MAX_ATTEMPTS = 5_000_000


def run_adaptive(run: Run) -> Samples:
    """Integrate every run of the batch; then repeat with a tenth of the tolerance and compare."""
    s = run.scenario
    steps, every = s.steps, s.every
    times = np.arange(steps // every + 1) * (every * float(s.duration or 0.0) / steps)
    rows, ends, estimate = [], [], 0.0
    tolerance = max(1e-3 * s.tolerance, TIGHTEST)
    n = run.plant.layout.n
    for x0, p in zip(run.x0, run.p):
        x, stopped = _one(run, x0, p, times, tolerance)
        if s.verify and np.isinf(stopped):
            from manipula.simulation.judge import compare

            finer, end = _one(run, x0, p, times, max(tolerance / 20, TIGHTEST / 2))
            estimate = max(estimate, compare(x[:, : 2 * n], finer[:, : 2 * n], 20) if np.isinf(end) else float("inf"))
        rows.append(x)
        ends.append(stopped)
    return Samples(times, np.array(rows), np.array(ends), estimate if s.verify else float("nan"), ())


def breaks_of(run: Run) -> np.ndarray:
    """Times at which the right-hand side may jump, start and end included."""
    end = float(run.scenario.duration or 0.0)
    found = [0.0, end, *run.table.breaks]
    for d in run.scenario.disturbances:
        found += [d.start, d.stop] if isinstance(d, Wrench) else [d.time] if isinstance(d, PayloadChange) else []
    inside = np.unique([t for t in found if 0.0 <= t <= end])
    return inside[np.concatenate([[True], np.diff(inside) > 1e-12 * max(end, 1.0)])]


def _one(run: Run, x0: np.ndarray, p: np.ndarray, times: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    method, _ = METHODS[run.scenario.integrator]
    kernel, (breaks, coefficients) = run.loop.rate, run.inputs
    out = np.full((len(times), len(x0)), np.nan)
    out[0] = x = x0
    cuts = breaks_of(run)
    if len(cuts) > 200:  # a finely tabulated reference is smooth inside its pieces
        cuts = cuts[[0, -1]]
    attempts, k = 0, 1
    options: dict[str, Any] = {"rtol": max(tolerance, 100 * np.finfo(float).eps), "atol": tolerance * 1e-2}
    for begin, end in zip(cuts, cuts[1:]):
        inner = end - 1e-13 * max(1.0, abs(end))  # the right-hand side just before a jump, not after it

        def f(t: float, y: np.ndarray, limit: float = inner) -> np.ndarray:
            return kernel(y, p, breaks, coefficients, min(t, limit))

        with np.errstate(all="ignore"):
            solver = method(f, begin, x, end, **options)
            while solver.status == "running":
                message = solver.step()
                attempts += 1
                if solver.status == "failed" or attempts > MAX_ATTEMPTS or not np.isfinite(solver.y).all():
                    return out, float(solver.t)
                if np.abs(solver.y[: 2 * run.plant.layout.n]).max() > 1e10:
                    return out, float(solver.t)
                del message
                last = solver.status == "finished" and end == cuts[-1]
                upto = np.searchsorted(times, solver.t + (1e-12 if last else 0.0), side="right" if last else "left")
                if upto > k:
                    dense = solver.dense_output()
                    out[k:upto] = dense(np.minimum(times[k:upto], solver.t)).T
                    k = upto
            x = solver.y
    if k < len(times):
        out[k:] = x
    return out, float("inf")

"""User code in a run, asked at more times than the steps will: what changes between two steps is found before they are taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manipula.identity import is_own
from manipula.simulation.loops.interpreted import python_plant
from manipula.simulation.loops.setup import Run
from manipula.simulation.plant.disturbances import Wrench
from manipula.simulation.stepping.instants import POINTS, function_marks, narrower

CELLS = 2048  # of a run, sixteen questions in each
PYTHON_CELLS = (
    64,
    512,
)  # fewest and most cells of a run whose controller or drive is Python: a question costs microseconds
PYTHON_NARROWEST = 1e-10  # width to which a change is followed there, as a part of the run
PER_STEP = 4  # questions in Python for every step, as far as the cells allow
UNRESOLVED = "what the controller, a drive or a wrench does at one and the same state"


def foreign(run: Run) -> bool:
    """Does the run hold user code, of which nobody knows how quickly it changes?"""
    return run.loop.parts is None and not run.own


def by_state(run: Run) -> bool:
    """Does a wrench by a formula depend on where the arm is, or how it moves?"""
    return any(isinstance(d, Wrench) and d.follows_state for d in run.plant.disturbances)


def probed(run: Run, python: bool, step: float | None = None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Marks where commands, torques and wrenches of user code change quickly in time while the state stays as it is at the start.

    A command that is decided once a step is not asked in between, so nothing can hide there.

    Args:
        python: is the controller called from Python? step: of a fixed method; none follows the error.
    """
    nothing = np.zeros(0)
    if not foreign(run) or (run.loop.sampled and is_own(run.plant.disturbances)):
        return nothing, ()
    end = float(run.scenario.duration or 0.0)
    if python:
        marks = function_marks(_python(run), end, python_cells(run), PYTHON_NARROWEST)
    else:
        marks = function_marks(_compiled(run), end, CELLS)
    if marks is None:
        return nothing, (UNRESOLVED,)
    return (marks if step is None else narrower(marks, step)), ()


def python_cells(run: Run) -> int:
    """Cells of sixteen questions in which a controller in Python is looked at before a run."""
    return int(np.clip(2 ** np.ceil(np.log2(run.scenario.steps * PER_STEP / POINTS)), *PYTHON_CELLS))


def covered(run: Run) -> str:
    """What the questions before a run with a controller in Python can have missed, for the notes."""
    if run.loop.sampled:
        return ""
    places = python_cells(run) * POINTS
    shortest = float(run.scenario.duration or 0.0) / places
    return (
        f" Before the run it was asked at {places} times, with the state as it is at the start; what it does for less than {shortest:.2g} s "
        "between two of them may have been missed."
    )


def _compiled(run: Run) -> Callable[[np.ndarray], np.ndarray]:
    kernel, x, p = run.loop.observe, run.x0[0], run.p[0]
    names, wanted = list(kernel.graph.outputs), ("external",) if run.loop.sampled else ("command", "tau", "external")

    def values(t: np.ndarray) -> np.ndarray:
        seen = dict(zip(names, kernel(x, p, *run.inputs, t)))
        return np.concatenate([np.asarray(seen[name]) for name in wanted], axis=-1)

    return values


def _python(run: Run) -> Callable[[np.ndarray], np.ndarray]:
    plant, x = python_plant(run, 0), run.x0[0]
    q, qd = plant.layout.q(x), plant.layout.qd(x)

    def values(t: np.ndarray) -> np.ndarray:
        found = [np.asarray(plant.command(float(at), x, q, qd), float) for at in t.ravel()]
        return np.array(found).reshape(*t.shape, -1)

    return values

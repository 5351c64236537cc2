"""How candidates are chosen: methods by name. Each asks for the answers of a whole generation at once, so that it is one batch of runs.

Every method is a function of its seed and of the answers alone. A search that was interrupted is begun again and gets the answers that are
stored already, until it is where it was.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import ManipulaError
from manipula.studies.draws import generator_for
from manipula.studies.tuning.gde3 import gde3
from manipula.studies.tuning.pareto import Array

Evaluate = Callable[[Array], tuple[Array, Array]]  # points (N, d) → objectives (N, k), violations (N, c)
BROKEN = 1e3  # asinh of the largest double is 710: behind every answer that keeps its constraints


class SearchPlan(NamedTuple):
    """How far a search goes.

    Attributes:
        start: the first generation, points of the unit cube (N, d). generations: after it. objectives: how many.
        tolerance: a single objective is done when the spread of a generation is that part of its mean.
    """

    start: Array
    generations: int
    objectives: int
    seed: int
    tolerance: float


class _Stopped(Exception):
    """Carries a problem of a run through SciPy, which takes a ValueError for a mistake of its own caller."""


def differential_evolution(evaluate: Evaluate, plan: SearchPlan) -> None:
    """SciPy's differential evolution for one objective, ours with fronts (``gde3``) for several."""
    if plan.objectives > 1:
        gde3(evaluate, plan.start, plan.generations, np.random.Generator(np.random.Philox(plan.seed)))
        return
    from scipy import optimize

    def single(points: Array) -> Array:
        """Constraints first: what breaks them stands behind everything that keeps them (Deb, 2000); asinh keeps the order."""
        try:
            f, v = evaluate(np.ascontiguousarray(points.T))
        except Exception as problem:
            raise _Stopped from problem
        broken = np.sqrt((v * v).sum(axis=1))
        return np.where(
            broken > 0.0, BROKEN + np.arcsinh(broken), np.arcsinh(np.where(np.isfinite(f[:, 0]), f[:, 0], 1e300))
        )

    start: Any = plan.start
    d = plan.start.shape[1]
    try:
        optimize.differential_evolution(
            single, [(0.0, 1.0)] * d, init=start, maxiter=plan.generations, vectorized=True, updating="deferred", polish=False,
            tol=plan.tolerance, **generator_for(optimize.differential_evolution, np.random.Generator(np.random.Philox(plan.seed))),
        )  # fmt: skip
    except _Stopped as stopped:
        raise stopped.__cause__ or stopped from None


def optuna(evaluate: Evaluate, plan: SearchPlan) -> None:
    """Optuna's tree-structured Parzen estimator for one objective, its NSGA-II for several; the extra ``tune`` brings it."""
    try:
        library: Any = importlib.import_module("optuna")
    except ImportError:
        raise ManipulaError("method='optuna' needs Optuna: pip install 'manipula[tune]'.") from None
    library.logging.set_verbosity(library.logging.WARNING)
    size, d = plan.start.shape
    seed = plan.seed % 2**32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constraints are called experimental there
        samplers, violated = library.samplers, lambda trial: trial.user_attrs["violation"]
        sampler = (
            samplers.NSGAIISampler(seed=seed, population_size=size, constraints_func=violated)
            if plan.objectives > 1
            else samplers.TPESampler(seed=seed, n_startup_trials=size, constraints_func=violated)
        )
        study = library.create_study(directions=["minimize"] * plan.objectives, sampler=sampler)
        for point in plan.start:
            study.enqueue_trial({f"x{i}": float(x) for i, x in enumerate(point)})
        for _ in range(plan.generations + 1):
            trials = [study.ask() for _ in range(size)]
            points = np.array([[trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(d)] for trial in trials])
            f, v = evaluate(points)
            for trial, answer, broken in zip(trials, np.where(np.isfinite(f), f, 1e300), v):
                trial.set_user_attr("violation", [float(x) for x in broken])
                study.tell(trial, [float(x) for x in answer])


METHODS: dict[str, Callable[[Evaluate, SearchPlan], None]] = {
    "differential_evolution": differential_evolution,
    "optuna": optuna,
}

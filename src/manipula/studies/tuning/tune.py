"""``tune(study, minimise=…)``: the gains, or numbers of the design, that make a column of a study small.

Every generation of candidates is one study of its own, a list of runs that go through the batch kernels; with a folder it is kept there as part files. A
tuning that was interrupted is begun again with the same seed and reads what it has already, so that it goes on where it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manipula.algebra.arguments import function_of, positive, whole_number
from manipula.algebra.value import Value
from manipula.errors import BudgetError, DescriptionError, unknown_name
from manipula.formats.whole_file import BESIDE, file_path, made_folder, write_whole
from manipula.studies.distributions import Distribution
from manipula.studies.evaluate import Evaluator
from manipula.studies.files import study_text
from manipula.studies.layout import columns_of
from manipula.studies.own_code import OURS, code_of
from manipula.studies.plan import check_base
from manipula.studies.study import Study
from manipula.studies.sweep import sweep
from manipula.studies.tuning.goals import Goals, goals_of
from manipula.studies.tuning.pareto import front_of
from manipula.studies.tuning.searches import METHODS, SearchPlan
from manipula.verbs import verb

SETTINGS = "tuning.json"
FORMAT = 1
PER_PARAMETER, LEAST, MOST_POPULATION = 10, 12, 4096  # candidates of a generation
EVALUATIONS = 400  # where nothing else says how many
MOST_ROWS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Value):
    """What a search found; a value.

    Attributes:
        study: what was searched. parameters: the paths that were tuned. minimise, subject_to, over, method: what was asked for.
        values: of every candidate in the order of its making, (M, d). objectives: (M, k), infinite where a run is not finished or gave no number.
        violations: (M, 1 + bounds): part of its runs that are not finished, then (x − bound)/|bound|; 0 where kept.
        generation: (M,). draws: runs of every candidate.
        best: number of the best candidate, −1 where none keeps every bound; with several objectives the one of the front that is nearest to the least of each.
        front: candidates that no other one beats in every objective; the best alone where there is one objective.
        folder: where the runs are kept; None where they were not.
    """

    study: Study
    parameters: tuple[str, ...]
    minimise: tuple[str, ...]
    subject_to: Mapping[str, float]
    over: str
    method: str
    values: np.ndarray
    objectives: np.ndarray
    violations: np.ndarray
    generation: np.ndarray
    draws: int
    best: int
    front: np.ndarray
    folder: str | None

    @property
    def found(self) -> bool:
        """Is there a candidate that keeps every bound?"""
        return self.best >= 0

    @property
    def answer(self) -> dict[str, float]:
        """The best numbers by their path.

        Raises:
            DescriptionError: no candidate keeps every bound.
        """
        return self.candidate(self._best())

    @property
    def objective(self) -> dict[str, float]:
        """What the best candidate reaches, by column."""
        return dict(zip(self.minimise, self.objectives[self._best()].tolist()))

    def _best(self) -> int:
        if self.best < 0:
            least = self.violations.sum(axis=1)
            raise DescriptionError(
                f"None of {len(self.values)} candidates keeps every bound; the nearest breaks them by {least.min():.3g} of their size.",
                field="subject_to",
            )
        return self.best

    def candidate(self, number: int) -> dict[str, float]:
        """The numbers of one candidate by their path."""
        number = whole_number(number, "number", 0, len(self.values) - 1)
        return dict(zip(self.parameters, self.values[number].tolist()))

    def scenario(self, number: int | None = None) -> Any:
        """The base with the numbers of a candidate (of the best when omitted), at the first of its conditions."""
        from manipula.studies.plan import Plan as RunPlan

        number = self._best() if number is None else whole_number(number, "number", 0, len(self.values) - 1)
        rows = _rows_study(self.study, self.parameters, self.values[number : number + 1])
        return RunPlan(rows).scenario(0, rows.values(0, 1))

    def history(self) -> np.ndarray:
        """The least first objective that keeps every bound, after each generation (NaN before there is one)."""
        good = np.where((self.violations <= 0.0).all(axis=1), self.objectives[:, 0], np.inf)
        least = np.array([good[self.generation <= g].min() for g in range(int(self.generation.max()) + 1)])
        return np.where(np.isfinite(least), least, np.nan)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """One HTML file: what was found, every candidate as a point, the front. It opens offline."""
        return verb("Tuning.report")(self, path)

    def to_pandas(self) -> Any:
        """A row per candidate: number, generation, its numbers, objectives, violation, whether it is on the front."""
        import pandas as pd

        columns: dict[str, Any] = {"candidate": np.arange(len(self.values)), "generation": self.generation}
        columns |= {path: self.values[:, k] for k, path in enumerate(self.parameters)}
        columns |= {name: self.objectives[:, k] for k, name in enumerate(self.minimise)}
        columns |= {"violation": self.violations.sum(axis=1), "front": np.isin(columns["candidate"], self.front)}
        return pd.DataFrame(columns)


@dataclass(frozen=True)
class TuningProgress:
    """How far a search is: candidates made of those planned, generation, the least first objective that keeps every bound so far."""

    candidates: int
    planned: int
    generation: int
    least: float


def tune(
    study: Study,
    minimise: str | Sequence[str],
    subject_to: Mapping[str, float] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    parameters: Sequence[str] | None = None,
    over: str = "max",
    method: str = "differential_evolution",
    evaluations: int | None = None,
    population: int | None = None,
    tolerance: float = 1e-3,
    seed: int | None = None,
    engine: str = "serial",
    progress: Callable[[TuningProgress], Any] | None = None,
) -> Tuning:
    """Search for the numbers of a study that make columns of it small.

    Args:
        study: its bounded distributions are what is searched, over their support. Its lists, and distributions that are not among ``parameters``, are
            conditions: every candidate is run at all of them, with the same draws.
        minimise: a column, such as "error_rms"; several make a trade-off front.
        subject_to: columns and their largest value, {"tau_max": 80}. Only finished runs count.
        folder: where every run is kept; a tuning that is there already goes on.
        parameters: paths that are searched; every bounded distribution when omitted.
        over: how the conditions of a candidate become one number: "max", "mean", "median", "p95".
        method: "differential_evolution" or "optuna".
        evaluations: candidates at most; ``study.samples`` where nothing is left to draw, else 400.
        population: candidates of a generation; ten per parameter when omitted.
        tolerance: one objective is done when a generation's spread is that part of its mean.
        seed: of the search; that of the study when omitted.
        engine: what makes the runs of a folder, as in ``sweep``.

    Raises:
        DescriptionError: a path or column that is not there, a folder that holds another tuning.
    """
    if progress is not None:
        progress = function_of(progress, "progress", "state")
    if not isinstance(study, Study):
        raise DescriptionError(f"tune() takes a Study, found {type(study).__name__}.", field="study")
    searched = _searched(study, parameters)
    numbers = [c.name for c in columns_of(study) if c.kind == "number" and c.meaning != "varied"]
    goals = goals_of(minimise, subject_to or {}, over, numbers)
    if method not in METHODS:
        raise unknown_name("method", method, METHODS, field="method")
    seed = study.seed if seed is None else whole_number(seed, "seed", 0, 2**63 - 1)
    draws = _conditions(study, searched).runs if len(searched) < len(study.vary) else 1
    size, generations = _sizes(study, searched, draws, evaluations, population)
    plan = SearchPlan(
        _start(len(searched), size, seed), generations, len(goals.minimise), seed, positive(tolerance, "tolerance")
    )
    check_base(study)
    place = None if folder is None else file_path(folder)
    if place is None and engine != "serial":
        raise DescriptionError("An engine makes the runs of a folder; without one they are made here.", field="engine")
    if place is None and study.keep_series:
        raise DescriptionError("Samples are kept in a folder; give one.", field="keep_series")
    if place is not None:
        _begin(place, study, searched, goals, method, plan)
    search = _Search(study, searched, goals, draws, place, engine, progress, size * (generations + 1))
    METHODS[method](search.evaluate, plan)
    return search.tuning(method)


class _Search:
    """Makes the runs of candidates and remembers all of them."""

    def __init__(
        self, study: Study, searched: tuple[str, ...], goals: Goals, draws: int, place: Path | None, engine: str,
        progress: Callable[[TuningProgress], Any] | None, planned: int,
    ) -> None:  # fmt: skip
        self.study, self.searched, self.goals, self.draws, self.place, self.engine = (
            study,
            searched,
            goals,
            draws,
            place,
            engine,
        )
        self.progress, self.planned = progress, planned
        self.values: list[np.ndarray] = []
        self.judged: list[tuple[np.ndarray, np.ndarray]] = []

    def evaluate(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.minimum(points, np.nextafter(1.0, 0.0))
        values = np.column_stack([self.study.drawn(path, inside[:, k]) for k, path in enumerate(self.searched)])
        rows = _rows_study(self.study, self.searched, values)
        found = self.goals.judged(self._table(rows), self.draws)
        self.values.append(values)
        self.judged.append(found)
        if self.progress is not None:
            self.progress(self._state())
        return found

    def _table(self, rows: Study) -> dict[str, Any]:
        wanted = ["status", *self.goals.columns]
        if self.place is None:
            made = Evaluator(rows).rows(np.arange(rows.runs))[0]
            return {name: [_number(row.get(name)) for row in made] for name in wanted}
        folder = self.place / f"generation-{len(self.values):04d}"
        table = sweep(rows, folder, self.engine).to_arrow(wanted)
        return {name: [_number(value) for value in table.column(name).to_pylist()] for name in wanted}

    def _state(self) -> TuningProgress:
        made = [np.where((v <= 0.0).all(axis=1), f[:, 0], np.inf).min() for f, v in self.judged]
        return TuningProgress(sum(map(len, self.values)), self.planned, len(self.values) - 1, float(min(made)))

    def tuning(self, method: str) -> Tuning:
        values = np.concatenate(self.values)
        f, v = (np.concatenate(part) for part in zip(*self.judged))
        front = front_of(f, v)
        best = -1 if not len(front) else int(front[_nearest(f[front])])
        generation = np.repeat(np.arange(len(self.values)), [len(x) for x in self.values])
        folder = None if self.place is None else str(self.place)
        return Tuning(
            self.study, self.searched, self.goals.minimise, dict(self.goals.subject_to), self.goals.over, method,
            values, f, v, generation, self.draws, best, front, folder,
        )  # fmt: skip


def _nearest(f: np.ndarray) -> int:
    """The row of a front nearest to the least of every objective, each measured by the span of the front."""
    low, span = f.min(axis=0), np.ptp(f, axis=0)
    return int(np.argmin((((f - low) / np.where(span > 0.0, span, 1.0)) ** 2).sum(axis=1)))


def _number(value: Any) -> Any:
    return np.nan if value is None else value


def _searched(study: Study, parameters: Sequence[str] | None) -> tuple[str, ...]:
    bounded = [path for path, d in study.distributions.items() if np.isfinite(d.support).all()]
    if parameters is None:
        if not bounded:
            raise DescriptionError(
                "Nothing to search: vary needs a distribution with bounds, such as uniform(10, 400).", field="vary"
            )
        return tuple(bounded)
    if isinstance(parameters, str) or not parameters:
        raise DescriptionError("A list of paths is needed, ['controller.kp'].", field="parameters")
    for path in parameters:
        if path not in bounded:
            raise unknown_name("distribution with bounds", str(path), bounded, field="parameters")
    if len(set(parameters)) < len(parameters):
        raise DescriptionError("Every path is searched once.", field="parameters")
    return tuple(parameters)


def _conditions(study: Study, searched: tuple[str, ...]) -> Study:
    """The study without what is searched: every candidate is run at all its points."""
    left = {path: axis for path, axis in study.vary.items() if path not in searched}
    drawn = any(isinstance(axis, Distribution) for axis in left.values())
    design = study.design if drawn or study.design == "list" else "grid"
    return study.replace(vary=left, samples=study.samples if drawn else None, design=design)


def _rows_study(study: Study, searched: Sequence[str], values: np.ndarray) -> Study:
    """The runs of some candidates as lists that go in step: all conditions of the first, then of the next."""
    count = len(values)
    lists: dict[str, Any] = {}
    repeated = 1
    if len(searched) < len(study.vary):
        conditions = _conditions(study, tuple(searched))
        repeated = conditions.runs
        for path, given in conditions.values(0, repeated).items():
            own = given.tolist() if isinstance(given, np.ndarray) else list(given)
            lists[path] = tuple(own * count)
    for k, path in enumerate(searched):
        lists[path] = tuple(np.repeat(values[:, k], repeated).tolist())
    ordered = {path: lists[path] for path in study.vary}
    return study.replace(vary=ordered, samples=None, design="list")


def _sizes(
    study: Study, searched: tuple[str, ...], draws: int, evaluations: int | None, population: int | None
) -> tuple[int, int]:
    """Candidates of a generation, and generations after the first."""
    if evaluations is None:
        alone = len(searched) == len(study.distributions) and (study.samples or 1) > 1
        evaluations = int(study.samples or 1) if alone else EVALUATIONS
    evaluations = whole_number(evaluations, "evaluations", 5, MOST_ROWS)
    usual = min(max(LEAST, PER_PARAMETER * len(searched)), max(5, evaluations // 3), MOST_POPULATION)
    size = usual if population is None else whole_number(population, "population", 5, min(MOST_POPULATION, evaluations))
    if evaluations * draws > MOST_ROWS:
        raise BudgetError(
            f"{evaluations} candidates of {draws} runs each; at most {MOST_ROWS} runs.", field="evaluations"
        )
    return size, evaluations // size - 1


def _start(dimension: int, size: int, seed: int) -> np.ndarray:
    """The first generation: a Latin hypercube."""
    random = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(3,))))
    strata = np.column_stack([random.permutation(size) for _ in range(dimension)])
    return (strata + random.random((size, dimension))) / size


def _begin(place: Path, study: Study, searched: tuple[str, ...], goals: Goals, method: str, plan: SearchPlan) -> None:
    """Write what is searched, or hold it against what the folder holds.

    Raises:
        DescriptionError: another tuning is there; names what differs.
    """
    asked = {
        "format": FORMAT, "study": study_text(study), "parameters": list(searched), "minimise": list(goals.minimise),
        "subject_to": dict(goals.subject_to), "over": goals.over, "method": method, "seed": plan.seed, "population": len(plan.start),
        "generations": plan.generations, "tolerance": plan.tolerance, "code": code_of(study.base),
    }  # fmt: skip
    file = place / SETTINGS
    if os.path.isfile(file):
        from manipula.formats.guard import read_text

        try:
            there = json.loads(read_text(file))
        except ValueError:
            raise DescriptionError("This is no record of a tuning.", file=str(file)) from None
        if isinstance(there, dict):
            there.setdefault("code", OURS)
        for name, value in asked.items():
            if not isinstance(there, dict) or there.get(name) != value or (name == "code" and value is None):
                if name == "code":
                    raise DescriptionError(
                        "The study holds parts of your own, whose code is not (or cannot be said to be) that which made the runs in this folder; "
                        "take a new folder.", file=str(place), field="code",
                    )  # fmt: skip
                found = there.get(name) if isinstance(there, dict) else None
                told = f" (there: {found!r}, asked for: {value!r})" if name != "study" else ""
                raise DescriptionError(f"This folder holds another tuning: '{name}' differs{told}.", file=str(place))
        return
    if os.path.exists(place) and any(not p.name.startswith(BESIDE) for p in place.iterdir()):
        raise DescriptionError("This folder holds other things; a tuning needs a folder of its own.", file=str(place))
    made_folder(place)
    write_whole(file, json.dumps(asked, indent=1, ensure_ascii=False) + "\n")

"""Some runs of a study, made: one row each, and the samples that are to be kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.errors import ManipulaError, printable
from manipula.simulation.result import Result
from manipula.simulation.scenario import Scenario
from manipula.simulation.simulate import simulate_runs
from manipula.studies.columns import chosen_columns
from manipula.studies.plan import Batch, Plan, batch_scenario
from manipula.studies.study import Study
from manipula.studies.tables import label_of

AT_ONCE = 1_500_000  # numbers of states that a batch records, (runs × samples × joints)
WIDEST = 128  # runs of a batch on one thread, so that what is computed stays near; four times as many on all cores
SUMMARISED = 64  # runs whose signals are summarised together: they stay in the cache
REASON = 600  # letters of a reason that are kept


class Evaluator:
    """Makes runs of a study; keeps what runs share from one call to the next."""

    def __init__(self, study: Study, threads: int | None = None) -> None:
        self.study, self.threads = study, threads
        self.plan = Plan(study)
        self.status, self.summary = chosen_columns(study.base, study.keep)
        self.slides = np.array([j.kind == "prismatic" for j in study.base.robot.joints], bool)
        names = {c.name for c in self.status}
        self.judged = bool({"feasible", "limit_use"} & names)

    def rows(
        self, runs: np.ndarray, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[list[dict[str, Any]], list[tuple[int, Any, dict[str, np.ndarray]]]]:
        """The rows of the given runs, in their order, and (run, t, signals) of those whose samples are kept.

        Args:
            stopped: asked between batches; when it says so, KeyboardInterrupt is raised.
        """
        values = self.study.values_of(runs)
        rows: dict[int, dict[str, Any]] = {}
        series: dict[int, tuple[int, Any, dict[str, np.ndarray]]] = {}
        for batch in self._batches(runs, values, rows):
            for result, members in self._results(batch, rows, stopped):
                self._summarise(result, members, rows, series)
        told = self._varied(runs, values)
        ordered = [{"run": int(run), **told[k], **rows[int(run)]} for k, run in enumerate(runs)]
        return ordered, [series[int(run)] for run in runs if int(run) in series]

    def _batches(self, runs: np.ndarray, values: dict[str, Any], rows: dict[int, dict[str, Any]]) -> list[Batch]:
        try:
            return self.plan.batches(runs, values)
        except ManipulaError:
            pass
        found: list[Batch] = []
        for k, run in enumerate(runs):  # one of them is refused: which?
            one = {path: v[k : k + 1] for path, v in values.items()}
            try:
                found += self.plan.batches(runs[k : k + 1], one)
            except ManipulaError as error:
                rows[int(run)] = _failed("refused", error)
        return found

    def _results(self, batch: Batch, rows: dict[int, dict[str, Any]], stopped: Callable[[], bool]) -> Any:
        """(result, runs) of every part of a batch that is made at once."""
        width = width_of(batch, self.threads)
        for first in range(0, len(batch.runs), width):
            if stopped():
                raise KeyboardInterrupt
            yield from self._made(batch, slice(first, min(first + width, len(batch.runs))), rows)

    def _made(self, batch: Batch, members: slice, rows: dict[int, dict[str, Any]]) -> Any:
        runs = batch.runs[members]
        try:
            result = self._simulated(batch, members)
        except (MemoryError, KeyboardInterrupt):
            raise
        except Exception as error:  # whatever a run raises is its row
            if len(runs) > 1:
                for k in range(members.start, members.stop):
                    yield from self._made(batch, slice(k, k + 1), rows)
                return
            kind = "refused" if isinstance(error, ManipulaError) else "error"
            rows[int(runs[0])] = _failed(kind, error)
            return
        yield result, runs

    def _simulated(self, batch: Batch, members: slice) -> Result:
        s = batch_scenario(batch, members) if batch.template.batched else batch.scenario
        if not isinstance(s, Scenario):
            return s.run()
        return simulate_runs(s, threads=self.threads, watch=self.judged, noise_seeds=batch.noise_seeds[members])

    def _summarise(
        self, result: Result, runs: np.ndarray, rows: dict[int, dict[str, Any]], series: dict[int, Any]
    ) -> None:
        wanted = {c.measure.signal for c in self.summary} & set(result.signals)
        single = result.arrays["q"].ndim == 2
        arrays = {
            name: result.arrays[name][None] if single else result.arrays[name]
            for name in (*wanted, "q")
            if name in result.arrays
        }
        verdict = result.feasibility if self.judged else None
        with np.errstate(all="ignore"):
            for first in range(0, len(runs), SUMMARISED):
                some = slice(first, first + SUMMARISED)
                numbers = self._numbers(result.t, {name: v[some] for name, v in arrays.items()})
                good: Any = np.isfinite(arrays["q"][some]).all(axis=2)
                last = np.where(good.any(axis=1), good.shape[1] - 1 - good[:, ::-1].argmax(axis=1), 0)
                reached = result.t[last].tolist()
                for i, run in enumerate(runs[some].tolist()):
                    row = self._head(result, first + i, single, verdict, reached[i])
                    row.update({name: values[i] for name, values in numbers.items()})
                    rows[run] = row
        for k, run in enumerate(runs.tolist()):
            if self._kept(run, result.status if single else result.statuses[k]):
                series[run] = (run, result.t, self._series(result, k, single))

    def _numbers(self, t: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
        """The summary numbers of some runs, (N, S, …) each, by the names of their columns."""
        shaped = {name: v if v.ndim == 3 else v.reshape(*v.shape[:2], -1) for name, v in arrays.items()}
        whole: dict[str, Any] = {name: np.isfinite(v).all(axis=(1, 2)) for name, v in shaped.items()}
        out: dict[str, list[float | None]] = {}
        for c in self.summary:
            name = c.measure.signal
            if name not in shaped:
                out[c.column.name] = [None] * len(arrays["q"])
                continue
            values = c.of(t, shaped[name], self.slides, whole[name])
            out[c.column.name] = [v if math.isfinite(v) else None for v in values.tolist()]
        return out

    def _head(self, result: Result, k: int, single: bool, verdict: Any, reached: float) -> dict[str, Any]:
        found: dict[str, Any] = {
            "status": result.status if single else result.statuses[k],
            "reason": printable(result.reason if single else result.reasons[k], REASON),
            "trusted_until": _number(result.trusted_until if single else result.trusted_untils[k]),
            "error_estimate": _number(result.error_estimate if single else result.error_estimates[k]),
            "reached": reached,
        }
        if verdict is not None:
            uses = [c.use for c in verdict.checks] if single else [verdict.uses[k]] if verdict.uses else []
            found["feasible"] = verdict.feasible if single or not verdict.runs else verdict.runs[k]
            found["limit_use"] = _number(max(uses)) if uses else None
        return {c.name: found.get(c.name) for c in self.status}

    def _kept(self, run: int, status: str) -> bool:
        if not self.study.keep_series:
            return False
        every = self.study.series_runs
        return status != "finished" if every == "failed" else every == "all" or run % int(every) == 0

    def _series(self, result: Result, k: int, single: bool) -> dict[str, np.ndarray]:
        return {
            name: np.ascontiguousarray(result.arrays[name] if single else result.arrays[name][k])
            for name in self.study.keep_series
            if name in result.arrays
        }

    def _varied(self, runs: np.ndarray, values: dict[str, Any]) -> list[dict[str, Any]]:
        """The varied values of every run by the names of their columns."""
        out: list[dict[str, Any]] = [{} for _ in runs]
        for path, given in values.items():
            group = path.partition(".")[0].partition("[")[0]
            for row, value in zip(out, given):
                if isinstance(value, tuple):
                    row.update({f"{path}[{i}]": float(v) for i, v in enumerate(value)})
                elif isinstance(value, bool):
                    row[path] = value
                else:
                    row[path] = float(value) if isinstance(value, (float, np.floating)) else label_of(value, group)
        return out


def width_of(batch: Batch, threads: int | None) -> int:
    """How many runs of a batch are made side by side: as many as memory allows, and no more than vector units and threads need."""
    scenario = batch.scenario
    if not batch.template.batched or not isinstance(scenario, Scenario):
        return 1
    widest = WIDEST if threads == 1 else 4 * WIDEST
    return int(np.clip(AT_ONCE // (scenario.samples * scenario.robot.n), 1, widest))


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def _failed(status: str, error: BaseException) -> dict[str, Any]:
    told = str(error) if isinstance(error, ManipulaError) else f"{type(error).__name__}: {error}"
    return {"status": status, "reason": printable(told, REASON)}

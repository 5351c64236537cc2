"""The rows of a study that a page is made from: what is extreme or failed, and an even choice of the rest; memory does not grow with the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.studies.columns import StudyColumn
from manipula.studies.opened import StudyResults

MOST_POINTS = 4000
MOST_FAILED = 1000
MOST_ROWS = 200_000  # of which sensitivities and histograms are made
MOST_WAITING = 20_000  # rows of parts that were not looked at together yet
EXTREMES = 3


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Columns of a study over some of its rows.

    Attributes:
        runs: their numbers. values: a column of numbers as (N,) floats (NaN: none), of words as a list.
        total: rows of the study. even: rows that stand for all of them, evenly chosen. drawn: rows that are drawn as points.
        statuses: of all rows, and how often. infeasible: how many of all rows break a limit.
    """

    columns: tuple[StudyColumn, ...]
    runs: np.ndarray
    values: dict[str, Any]
    total: int
    even: np.ndarray
    drawn: np.ndarray
    statuses: dict[str, int]
    infeasible: int

    def numbers(self, role: str | None = None) -> list[StudyColumn]:
        """Columns of numbers that vary among the rows; ``role``: "varied" or "summary"."""
        found = []
        for c in self.columns:
            if c.kind != "number" or (role is not None and (c.meaning == "varied") != (role == "varied")):
                continue
            known = self.values[c.name][np.isfinite(self.values[c.name])]
            if len(known) and np.ptp(known) > 0.0:
                found.append(c)
        return found


def excerpt_of(results: StudyResults) -> Excerpt:
    """Read a study part after part."""
    kept = [c for c in results.columns if c.name not in ("reason",)]
    names = [c.name for c in kept]
    total = results.done
    every = max(1, -(-total // MOST_ROWS))
    pieces: list[dict[str, Any]] = []
    statuses: dict[str, int] = {}
    seen = infeasible = failed = 0
    for table in results.tables(names):
        columns = {c.name: _column(table.column(c.name), c.kind) for c in kept}
        status = columns["status"]
        for name in status:
            statuses[name] = statuses.get(name, 0) + 1
        if "feasible" in columns:
            infeasible += sum(v == "no" for v in columns["feasible"])
        rows = len(status)
        even = (seen + np.arange(rows)) % every == 0
        bad = np.array([name != "finished" for name in status])
        bad &= failed + np.cumsum(bad) <= MOST_FAILED
        failed += int(bad.sum())
        edge = _extremes(columns, kept)
        chosen = np.flatnonzero(even | bad | edge)
        piece = {name: _taken(v, chosen) for name, v in columns.items()}
        pieces.append({**piece, " even": even[chosen], " marked": (bad | edge)[chosen]})
        seen += rows
        if sum(len(p["status"]) for p in pieces[1:]) > MOST_WAITING:
            pieces = [_thinned(_all(pieces), kept)]  # what is no extreme among these rows is none among more of them
    values = _thinned(_all(pieces), kept) if pieces else {name: np.zeros(0) for name in (*names, " even", " marked")}
    even, marked, runs = values.pop(" even").astype(bool), values.pop(" marked").astype(bool), values.pop("run")
    return Excerpt(
        tuple(c for c in kept if c.name != "run"), runs.astype(np.int64), values, total, np.flatnonzero(even), _points(even, marked),
        dict(sorted(statuses.items(), key=lambda item: -item[1])), infeasible,
    )  # fmt: skip


def _all(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: _joined([p[name] for p in pieces]) for name in pieces[0]}


def _thinned(values: dict[str, Any], kept: list[StudyColumn]) -> dict[str, Any]:
    """The rows without those that were marked for an extreme of their part and are none of all parts."""
    bad = np.array([name != "finished" for name in values["status"]], bool)
    marked = values[" marked"].astype(bool) & (_extremes(values, kept) | bad)
    chosen = np.flatnonzero(values[" even"].astype(bool) | marked)
    return {name: _taken(v, chosen) for name, v in {**values, " marked": marked}.items()}


def _points(even: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """Marked rows, and as many of the even ones as a page has room for."""
    room = MOST_POINTS - int(marked.sum())
    others = np.flatnonzero(even & ~marked)
    if len(others) > max(room, 0):
        others = np.sort(np.random.Generator(np.random.Philox(0)).permutation(others)[: max(room, 0)])
    return np.sort(np.concatenate([np.flatnonzero(marked), others]))


def _extremes(columns: dict[str, Any], kept: list[StudyColumn]) -> np.ndarray:
    """Rows with the least or largest numbers of a summary column."""
    out = np.zeros(len(columns["status"]), bool)
    for c in kept:
        if c.kind == "number" and c.meaning != "varied" and len(out):
            good = np.flatnonzero(np.isfinite(columns[c.name]))
            order = good[np.argsort(columns[c.name][good], kind="stable")]
            out[order[:EXTREMES]] = out[order[-EXTREMES:]] = True
    return out


def _column(column: Any, kind: str) -> Any:
    if kind in ("number", "count"):
        return np.array([np.nan if v is None else v for v in column.to_pylist()], float)
    if kind == "flag":
        return [{True: "yes", False: "no", None: "not known"}[v] for v in column.to_pylist()]
    return [v if v is not None else "–" for v in column.to_pylist()]


def _taken(values: Any, rows: np.ndarray) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[k] for k in rows]


def _joined(pieces: list[Any]) -> Any:
    if not pieces:
        return np.zeros(0)
    return np.concatenate(pieces) if isinstance(pieces[0], np.ndarray) else [v for piece in pieces for v in piece]

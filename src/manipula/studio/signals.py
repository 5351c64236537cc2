"""The signals of a result as one binary message: every number a chart draws, with its unit and the name of its line."""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.reports.source import ANGULAR, is_batch, names_of, unit_of
from manipula.simulation.result import Result
from manipula.simulation.stored.axes import PLAIN
from manipula.studio.wire import packed, to_json

MOST_SAMPLES = 6_000  # that a chart is given; more are thinned
COORDINATES = ("x", "y", "z")


def signals_of(result: Result, names: tuple[str, ...] = (), run: str | None = None) -> bytes:
    """Chosen signals, all by default; of a batch one run, the first when none is chosen.

    Raises:
        DescriptionError: there is no such signal or run.
    """
    if is_batch(result):
        if run is not None and not (run.isascii() and run.isdecimal() and len(run) < 9):
            raise DescriptionError("A run of a batch is a whole number from 0.", field="run")
        result = result.run(int(run or 0))
    elif run is not None:
        raise DescriptionError("This is a single run, not a batch.", field="run")
    for name in names:
        if name not in result.arrays:
            raise unknown_name("signal", name, result.arrays, field="names")
    every = max(1, -(-len(result.t) // MOST_SAMPLES))
    index = np.unique(np.append(np.arange(0, len(result.t), every), len(result.t) - 1))
    arrays: dict[str, tuple[np.ndarray, Any]] = {"t": (result.t[index], "float64")}
    lines: dict[str, Any] = {}
    for name in names or result.signals:
        values = np.asarray(result.arrays[name], float)[index]
        flat = values.reshape(len(index), -1)
        arrays[name] = (flat, "float32")
        lines[name] = described_lines(result, name, flat.shape[1])
    return packed(to_json({"lines": lines, "thinned": every}), arrays)


def described_lines(result: Result, name: str, count: int) -> list[dict[str, str]]:
    """Label and unit of every line of a signal."""
    joints = names_of(result)
    if count == len(joints):
        labels = list(joints)
    elif count == 1:
        labels = [name]
    elif count == 3:
        labels = list(COORDINATES)
    else:
        labels = [str(k + 1) for k in range(count)]
    return [{"label": label, "unit": _unit(result, name, k, count)} for k, label in enumerate(labels)]


def _unit(result: Result, name: str, k: int, count: int) -> str:
    if count == len(names_of(result)) and name in ANGULAR:
        return unit_of(result, name, k)
    return PLAIN.get(name, "m" if count == len(COORDINATES) else "")

"""Samples of many runs against the limits of their joints, all runs at once: what ``limits._single`` finds run after run, bit by bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manipula.simulation.limit_checks import (
    SIGNALS,
    SLIDING,
    TURNING,
    Check,
    Peak,
    completed,
    filled,
    shows_between,
    turning_values,
    worst,
)
from manipula.simulation.stated_limits import QUANTITIES, StatedLimit, limit_of

if TYPE_CHECKING:
    from manipula.simulation.result import Result

TOGETHER = 300_000  # numbers of a signal that are looked at at once


class BatchChecks(NamedTuple):
    """How much every run uses of every limit.

    Attributes:
        rows: (quantity, joint, limit) of every limit, in the order of the joints.
        regular: which runs were looked at: all samples are numbers, (N,). use: of the worst value, (N, m); NaN in runs that were not.
    """

    rows: tuple[tuple[str, int, StatedLimit], ...]
    regular: np.ndarray
    use: np.ndarray
    seen: Mapping[tuple[int, str, int], Check]

    def check(self, result: Result, run: int, row: int) -> Check:
        """One limit of one run."""
        quantity, joint, limit = self.rows[row]
        return self.seen.get((run, quantity, joint)) or _sampled(result, run, quantity, joint, limit)


def batch_checks(result: Result, limits: Mapping[str, Any]) -> BatchChecks | None:
    """All regular runs of a batch; None where a limit is not one of a joint's recorded signals."""
    arrays = result.arrays
    n, count = arrays["q"].shape[-1], len(arrays["q"])
    if any(limits.get(name) for name in ("jerk", "tip", "points")) or not {"qd", "qdd"} <= set(arrays):
        return None
    rows = tuple(
        (quantity, i, limit)
        for i in range(n)
        for quantity in QUANTITIES
        if (limit := limit_of((limits.get(quantity) or [None] * n)[i])) is not None
    )
    if not rows or any(SIGNALS[quantity] not in arrays for quantity, _, _ in rows):
        return None
    needed = {"q", "qd", "qdd", *(SIGNALS[quantity] for quantity, _, _ in rows)}
    regular, use = np.ones(count, bool), np.full((count, len(rows)), np.nan)
    at_once = max(1, TOGETHER // arrays["q"][0].size)
    for first in range(0, count, at_once):
        some = slice(first, first + at_once)
        signals = {name: np.asarray(arrays[name][some], float) for name in needed}
        for values in signals.values():
            regular[some] &= np.isfinite(values).all(axis=(1, 2))
        use[some] = _uses(rows, result, signals)
    use[~regular] = np.nan
    seen: dict[tuple[int, str, int], Check] = {}
    places = {(quantity, i): j for j, (quantity, i, _) in enumerate(rows)}
    for (run, quantity, joint), peaks in _by_place(result.meta.get("peaks") or ()).items():
        j = places.get((quantity, joint))
        if j is not None and regular[run]:
            check = _sampled(result, run, quantity, joint, rows[j][2])
            for row in peaks:
                check = completed(check, row, result.meta.get("limits") or {})
            seen[run, quantity, joint] = check
            use[run, j] = check.use
    return BatchChecks(rows, regular, use, seen)


def named(check: Check, names: Sequence[str], kinds: Sequence[str], joint: int) -> Check:
    """The check of a joint with its name, and the unit of its quantity."""
    units = SLIDING if kinds[joint] == "prismatic" else TURNING
    return replace(check, name=names[joint], unit=units[check.quantity])


def _by_place(peaks: Sequence[Peak]) -> dict[tuple[int, str, int], list[Peak]]:
    found: dict[tuple[int, str, int], list[Peak]] = defaultdict(list)
    for row in peaks:
        found[int(row[0]), str(row[1]), int(row[2])].append(row)
    return found


def _sampled(result: Result, run: int, quantity: str, joint: int, limit: StatedLimit) -> Check:
    """One limit of one run against its samples and what it reaches between them."""
    own = {name: result.arrays[name][run] for name in {"q", "qd", "qdd", SIGNALS[quantity]}}
    times, values = result.t, np.asarray(own[SIGNALS[quantity]][:, joint], float)
    if shows_between(result, quantity):
        times, values = filled(quantity, result.t, own, joint)
    return worst(quantity, values, times, limit)


def _uses(
    rows: Sequence[tuple[str, int, StatedLimit]], result: Result, signals: Mapping[str, np.ndarray]
) -> np.ndarray:
    """``Check.use`` of every run and limit, (N, m)."""
    lowest, highest = {}, {}
    for quantity in {quantity for quantity, _, _ in rows}:
        values = signals[SIGNALS[quantity]]
        lowest[quantity], highest[quantity] = values.min(axis=1), values.max(axis=1)
        if quantity in ("position", "velocity") and len(result.t) > 1 and shows_between(result, quantity):
            _with_turning_points(quantity, result.t, signals, lowest[quantity], highest[quantity])
    out = np.empty((len(signals["q"]), len(rows)))
    for j, (quantity, i, limit) in enumerate(rows):
        out[:, j] = _use(lowest[quantity][:, i], highest[quantity][:, i], limit)
    return out


def _with_turning_points(
    quantity: str, t: np.ndarray, signals: Mapping[str, np.ndarray], low: np.ndarray, high: np.ndarray
) -> None:
    q, qd, qdd = signals["q"], signals["qd"], signals["qdd"]
    y, rate, more, whole = (q, qd, qdd, None) if quantity == "position" else (qd, qdd, None, q)
    run, k, joint = np.nonzero(rate[:, :-1] * rate[:, 1:] < 0.0)
    if not len(run):
        return
    ends = [None if x is None else (x[run, k, joint], x[run, k + 1, joint]) for x in (y, rate, more, whole)]
    _, values = turning_values(t[k], t[k + 1] - t[k], ends[0], ends[1], ends[2], ends[3])
    np.minimum.at(low, (run, joint), values)
    np.maximum.at(high, (run, joint), values)


def _use(low: np.ndarray, high: np.ndarray, limit: StatedLimit) -> np.ndarray:
    """``Check.use`` of the extreme that goes furthest beyond its limit."""
    if not isinstance(limit, tuple):
        size = np.maximum(np.abs(low), np.abs(high))
        return size / limit if limit > 0 else np.where(size == 0, 0.0, np.inf)
    least, most = limit
    below, above = least - low, high - most
    if np.isfinite(least) and np.isfinite(most) and most > least:
        centre, half = (least + most) / 2, (most - least) / 2
        use = [np.abs(x - centre) / half for x in (low, high)]
        return np.where(below > above, use[0], np.where(above > below, use[1], np.maximum(*use)))
    found = np.where(below > above, low, high)
    return np.array([Check("position", float(x), 0.0, limit).use for x in found])

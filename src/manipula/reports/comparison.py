"""Several runs beside each other in words and numbers: how each ended, what was largest in each, how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.reports import tables
from manipula.reports.key_numbers import key_numbers
from manipula.reports.page import card, section, table, text
from manipula.reports.source import joint_count, names_of, prismatic, summary, unit_of
from manipula.simulation.result import Result

APART = ("q", "qd", "tau", "tip")
TOLD_SETTINGS, LONGEST_SETTING = 2, 24  # by which runs of one name are told apart
SEVERAL = "data several"  # tables with a column for each run: their heads break on a phone
TITLES = {"q": "Position", "qd": "Velocity", "tau": "Torque", "tip": "Tip"}


def run_names(results: Sequence[Result]) -> list[str]:
    """A name for every run; runs of one name are numbered, and told apart by what was set differently."""
    names = [str(r.meta.get("name") or "run") for r in results]
    if len(set(names)) == len(names):
        return names
    rows = [row for row in setting_rows(results) if all(len(cell) <= LONGEST_SETTING for cell in row[1:])][
        :TOLD_SETTINGS
    ]
    out = []
    for k, name in enumerate(names):
        told = ", ".join(f"{row[0]} = {row[k + 1]}" for row in rows)
        out.append(name if names.count(name) == 1 else f"{k + 1}: {name}" + (f" ({told})" if told else ""))
    return out


def compared(results: Sequence[Result]) -> str:
    """The head of a page that compares: verdicts, a table of key numbers, one of differences, and settings that are not the same."""
    names = run_names(results)
    robots = dict.fromkeys(str(r.meta.get("robot", "robot")) for r in results)
    line = f"{len(results)} runs of {', '.join(robots)} · {joint_count(results[0])} joints"
    out = f"<header><h1>Comparison of runs</h1><p>{text(line, 300)}</p></header>\n"
    out += "".join(tables.status_banner(r, name) for r, name in zip(results, names))
    out += section("Key numbers", card(table(("", *names), _escaped(number_rows(results)), SEVERAL)))
    rows = _escaped(difference_rows(results))
    if rows:
        head = ("Largest difference from the first run", *names[1:])
        out += section("How far apart", card(table(head, rows, SEVERAL)))
    rows = _escaped(setting_rows(results))
    return out + (
        section("What was set differently", card(table(("", *(f"*{name}" for name in names)), rows))) if rows else ""
    )


def _escaped(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[text(cell, 200) for cell in row] for row in rows]


def number_rows(results: Sequence[Result]) -> list[list[str]]:
    """One row per key number: its name, and its value in every run."""
    every = [{(title, unit): value for title, value, unit, _ in key_numbers(r)} for r in results]
    keys = dict.fromkeys(key for found in every for key in found)
    return [[f"{title} [{unit}]" if unit else title, *(found.get((title, unit), "–") for found in every)] for title, unit in keys]  # fmt: skip


def difference_rows(results: Sequence[Result]) -> list[list[str]]:
    """Largest |difference| of every signal and joint over the time that both runs have, on the samples of the first."""
    first, rows = results[0], []
    for signal in APART:
        if any(signal not in r.arrays or r.arrays[signal].ndim != 2 for r in results):
            continue
        columns = names_of(first) if signal != "tip" else ("x", "y", "z")
        for i, name in enumerate(columns):
            unit = "m" if signal == "tip" else unit_of(first, signal, i)
            kind = "Force" if signal == "tau" and prismatic(first)[i] else TITLES[signal]
            cells = [_apart(first, other, signal, i) for other in results[1:]]
            rows.append([f"{kind} of {name[:60]} [{unit}]" if signal != "tip" else f"Tip, {name} [m]", *cells])
    return rows


def _apart(first: Result, other: Result, signal: str, i: int) -> str:
    a, b = (np.asarray(r.arrays[signal][:, i], float) for r in (first, other))
    good, there = np.isfinite(a), np.isfinite(b)
    if not good.any() or not there.any():
        return "–"
    t = first.t[good]
    inside = (t >= other.t[there][0]) & (t <= other.t[there][-1])
    if not inside.any():
        return "–"
    gap = np.abs(a[good] - np.interp(t, other.t[there], b[there]))[inside]
    k = int(np.argmax(gap))
    return f"{summary(gap[k])} at {t[inside][k]:.3g} s" if gap[k] > 0.0 else "0"


def setting_rows(results: Sequence[Result]) -> list[list[str]]:
    """What differs in the settings of the runs."""
    every: list[dict[str, Any]] = [_all_settings(r) for r in results]
    keys = dict.fromkeys(key for found in every for key in found)
    rows = []
    for key in keys:
        values = [found.get(key, "–") for found in every]
        if len({str(v) for v in values}) > 1:
            rows.append([str(key)[:80], *(f"{v:g}" if isinstance(v, float) else str(v)[:200] for v in values)])
    return rows


def _all_settings(result: Result) -> dict[str, Any]:
    own = {k: result.meta.get(k) for k in ("robot", "kind", "integrator", "step", "tolerance", "duration")}
    acted = {
        f"{kind} that acted": ", ".join(str(x or "–") for x in parts) if any(parts) else "none"
        for kind, parts in dict(result.meta.get("acting") or {}).items()
    }
    return {**{k: v for k, v in own.items() if v is not None}, **dict(result.meta.get("settings") or {}), **acted}

"""Figures of a study: points, histograms, a response surface, what moves an answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, unknown_name
from manipula.reports.figures import save_figure
from manipula.reports.studies.excerpt import Excerpt, excerpt_of
from manipula.reports.studies.findings import main_columns
from manipula.reports.theme import INK, MUTED, joint_colour, themed
from manipula.studies.opened import StudyResults

BINS, LEVELS = 30, 14
LEAST_POINTS = 8


def plot_study(
    results: StudyResults, kind: str = "scatter", x: str | None = None, y: str | None = None, colour: str | None = None, *,
    ax: Any = None, path: str | os.PathLike[str] | None = None,
) -> Any:  # fmt: skip
    """Draw a study.

    Args:
        kind: "scatter" (y over x, coloured), "histogram" (of y), "surface" (y over x and ``colour`` as a map of levels), "sensitivity" (what moves y).
        x, y, colour: columns of numbers; what people look at first when omitted.
        path: also write the figure, ``.png``, ``.svg`` or ``.pdf``.

    Returns:
        The axes.
    """
    if kind not in KINDS:
        raise unknown_name("kind of plot", kind, KINDS, field="kind")
    rows = excerpt_of(results)
    if not len(rows.runs):
        raise DescriptionError("No run of this study was made yet.", file=str(results.path))
    import matplotlib.pyplot as plt

    with themed():
        if ax is None:
            ax = plt.figure(figsize=(6.4, 4.2)).subplots()
        KINDS[kind](rows, x, y, colour, ax)
        ax.get_figure().tight_layout()
    if path is not None:
        save_figure(ax, path)
    return ax


def _names(rows: Excerpt, x: str | None, y: str | None, colour: str | None) -> tuple[str, str, str | None]:
    numbers = [c.name for c in rows.columns if c.kind == "number"]
    for field, name in (("x", x), ("y", y), ("colour", colour)):
        if name is not None and name not in numbers:
            raise unknown_name("column of numbers", name, numbers, field=field)
    varied, answers = [c.name for c in rows.numbers("varied")], [c.name for c in main_columns(rows, 1)]
    if (x is None and not varied) or (y is None and not answers):
        raise DescriptionError("No number varies in this study; name the columns to draw.", field="x")
    x, y = x or varied[0], y or answers[0]
    for field, name in (("x", x), ("y", y), ("colour", colour)):
        if name is not None and not np.isfinite(rows.values[name]).any():
            raise DescriptionError(f"No run of this study has a number in '{name}'.", field=field)
    others = [name for name in varied if name not in (x, y)]
    return x, y, colour or (others[0] if others else None)


def _label(rows: Excerpt, name: str) -> str:
    unit = next(c.unit for c in rows.columns if c.name == name)
    return f"{name} [{unit}]" if unit else name


def _scatter(rows: Excerpt, x: str | None, y: str | None, colour: str | None, ax: Any) -> None:
    x, y, colour = _names(rows, x, y, colour)
    drawn = rows.drawn
    finished = np.array([rows.values["status"][k] == "finished" for k in drawn], bool)
    shade = {"c": rows.values[colour][drawn][finished], "cmap": "viridis"} if colour else {"c": joint_colour(0)}
    points = ax.scatter(rows.values[x][drawn][finished], rows.values[y][drawn][finished], s=12, alpha=0.8, **shade)
    if not finished.all():
        ax.scatter(
            rows.values[x][drawn][~finished],
            rows.values[y][drawn][~finished],
            s=16,
            marker="x",
            c=MUTED,
            label="not finished",
        )
        ax.legend()
    if colour:
        ax.get_figure().colorbar(points, ax=ax, label=_label(rows, colour))
    _axes(rows, x, y, ax)


def _histogram(rows: Excerpt, x: str | None, y: str | None, colour: str | None, ax: Any) -> None:
    if x is not None or colour is not None:
        raise DescriptionError("A histogram shows one column: y.", field="x" if x is not None else "colour")
    _, y, _ = _names(rows, None, y, None)
    values = rows.values[y][rows.even]
    values = values[np.isfinite(values)]
    ax.hist(values, BINS, color=joint_colour(0), alpha=0.8)
    for share, style in ((50.0, "-"), (95.0, "--")):
        ax.axvline(np.percentile(values, share), color=INK, lw=1.0, ls=style, label=f"{share:g} %")
    ax.legend()
    ax.set_xlabel(_label(rows, y))
    ax.set_ylabel("runs")


def _surface(rows: Excerpt, x: str | None, y: str | None, colour: str | None, ax: Any) -> None:
    """Levels of y between the points (x, colour), over Delaunay's triangles."""
    x, y, second = _names(rows, x, y, colour)
    if second is None:
        raise DescriptionError("A surface needs two numbers that vary; name the second one.", field="colour")
    a, b, z = (rows.values[name][rows.drawn] for name in (x, second, y))
    good = np.isfinite(a) & np.isfinite(b) & np.isfinite(z)
    if good.sum() < LEAST_POINTS:
        raise DescriptionError(f"A surface needs at least {LEAST_POINTS} points, found {int(good.sum())}.", field="y")
    try:
        levels = ax.tricontourf(a[good], b[good], z[good], LEVELS, cmap="viridis")
    except RuntimeError:
        raise DescriptionError(
            f"'{x}' and '{second}' lie on one line: there is no surface over them.", field="x"
        ) from None
    ax.plot(a[good], b[good], ".", ms=2, color=INK, alpha=0.35)
    ax.get_figure().colorbar(levels, ax=ax, label=_label(rows, y))
    _axes(rows, x, second, ax)


def _sensitivity(rows: Excerpt, x: str | None, y: str | None, colour: str | None, ax: Any) -> None:
    from manipula.analysis.sensitivity import sensitivity

    if x is not None or colour is not None:
        raise DescriptionError("Sensitivities are those of one column: y.", field="x" if x is not None else "colour")
    _, y, _ = _names(rows, None, y, None)
    varied = [c.name for c in rows.numbers("varied")]
    inputs = np.column_stack([rows.values[name][rows.even] for name in varied])
    found = sensitivity(inputs, rows.values[y][rows.even], varied)
    order = found.order[::-1]
    place = np.arange(len(order))
    ax.barh(place + 0.2, found.rank[list(order)], 0.36, color=joint_colour(0), label="rank correlation")
    ax.barh(place - 0.2, found.first[list(order)], 0.36, color=joint_colour(1), label="part of the variance")
    ax.set_yticks(place, [varied[i] for i in order])
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.set_xlim(-1.05, 1.05)
    ax.set_xlabel(f"on {y}")
    ax.legend()


def _axes(rows: Excerpt, x: str, y: str, ax: Any) -> None:
    ax.set_xlabel(_label(rows, x))
    ax.set_ylabel(_label(rows, y))
    for name, scale in ((x, ax.set_xscale), (y, ax.set_yscale)):
        known = rows.values[name][np.isfinite(rows.values[name])]
        if len(known) and known.min() > 0.0 and known.max() > 30.0 * known.min():
            scale("log")


KINDS: dict[str, Callable[..., None]] = {
    "scatter": _scatter,
    "histogram": _histogram,
    "surface": _surface,
    "sensitivity": _sensitivity,
}

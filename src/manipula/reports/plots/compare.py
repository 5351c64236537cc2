"""Several results in one figure: overlaid signals, with and without friction, and the runs of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from manipula.errors import ShapeError, unknown_name
from manipula.parts.field import Text, Texts
from manipula.reports.plots.base import Panels, grid, joint_grid, plot
from manipula.reports.plots.energy import time_axis
from manipula.reports.plots.joints import TITLES, draw_limits, shared_legend
from manipula.reports.plots.steady import natural_size, steady
from manipula.reports.source import joint_count, names_of, prismatic, unit_of
from manipula.reports.theme import DASHES, INK, joint_colour, joint_line, plain
from manipula.simulation.result import Result

Labels = Annotated[Sequence[str] | None, Texts("names of the results; none: their own")]

BAND = (5.0, 95.0)  # percentiles between which a band is filled
MOST_RUNS = 25  # drawn one by one; more become a band


def _labels(results: Sequence[Result], labels: Sequence[str] | None) -> list[str]:
    if labels is not None:
        if len(labels) != len(results):
            raise ShapeError(f"{len(results)} results need as many labels, found {len(labels)}.")
        return [plain(label, 40) for label in labels]
    names = [str(r.meta.get("name", "run")) for r in results]
    return [plain(f"{i + 1}: {name}" if len(set(names)) < len(names) else name, 40) for i, name in enumerate(names)]


def _signal(results: Sequence[Result], signal: str) -> None:
    for r in results:
        if signal not in r.arrays or r.arrays[signal].ndim != 2 or r.arrays[signal].shape[-1] != joint_count(r):
            known = [k for k, v in r.arrays.items() if v.ndim == 2 and v.shape[-1] == joint_count(r)]
            raise unknown_name("signal with one column per joint", signal, known, field="signal")


@plot("compare", "several results overlaid, one panel per joint", joint_grid, needs=("q",), takes="several")
def compare(
    results: Sequence[Result],
    axes: list[Any],
    signal: Annotated[str, Text("signal with one column per joint")] = "q",
    labels: Labels = None,
) -> None:
    """One signal of several results; the dash tells the results apart, the colour the joints."""
    _signal(results, signal)
    shown, names = _labels(results, labels), names_of(results[0])
    for i, ax in enumerate(axes[: len(names)]):
        for k, r in enumerate(results):
            colour = joint_colour(i) if k < len(DASHES) else joint_colour(i + k)
            ax.plot(r.t, r.arrays[signal][:, i], color=colour, linestyle=DASHES[k % len(DASHES)], label=shown[k],
                    alpha=1.0 if k == 0 else 0.85)  # fmt: skip
        time_axis(
            ax, f"{TITLES.get(signal, signal)} of {plain(names[i])}", f"{signal} [{unit_of(results[0], signal, i)}]"
        )
        steady(ax, max(natural_size(r, signal, prismatic(r)[i]) for r in results))
    axes[0].legend(loc="best")


@plot("friction", "the same motion with friction (first) and without (second)",
      lambda r: Panels(joint_count(r[0]), 2, height=1.9), needs=("q", "friction"), takes="several")  # fmt: skip
def friction(results: Sequence[Result], axes: list[Any], labels: Labels = None) -> None:
    """Left: position with (full) and without friction (dashed). Right: the friction torque."""
    shown = _labels(
        results, labels or ["with friction", "without friction", *(f"result {k + 1}" for k in range(2, len(results)))]
    )
    names = names_of(results[0])
    for i, name in enumerate(names[: len(axes) // 2]):
        left, right = axes[2 * i], axes[2 * i + 1]
        for k, r in enumerate(results):
            left.plot(
                r.t, r.arrays["q"][:, i], color=joint_colour(i), linestyle=DASHES[k % len(DASHES)], label=shown[k]
            )
        time_axis(left, plain(name), f"q [{unit_of(results[0], 'q', i)}]")
        right.plot(results[0].t, results[0].arrays["friction"][:, i], color=joint_colour(i))
        steady(left, natural_size(results[0], "q", prismatic(results[0])[i]))
        steady(right, natural_size(results[0], "friction", prismatic(results[0])[i]))
        time_axis(right, f"Friction in {plain(name)}", f"tau_f [{unit_of(results[0], 'friction', i)}]")
    axes[0].legend(loc="best")


@plot("ensemble", "the runs of a batch: every line, or median and 5–95 % band", lambda r: grid(2 if "tau" in r.arrays else 1, 1)._replace(
    width=7.4, height=2.6), needs=("q",), takes="batch")  # fmt: skip
def ensemble(result: Result, axes: list[Any]) -> None:
    """Positions above, torques below."""
    for ax, signal in zip(axes, ("q", "tau")):
        values = np.asarray(result.arrays[signal], float)
        runs = values.shape[0]
        for i in range(values.shape[-1]):
            if runs <= MOST_RUNS:
                for k in range(runs):
                    ax.plot(result.t, values[k, :, i], linewidth=0.9, alpha=0.7, **joint_line(i))
                continue
            known = np.isfinite(values[:, :, i]).any(axis=0)
            low, middle, high = np.nanpercentile(values[:, known, i], [BAND[0], 50.0, BAND[1]], axis=0)
            ax.fill_between(result.t[known], low, high, color=joint_colour(i), alpha=0.2, linewidth=0)
            ax.plot(result.t[known], middle, **joint_line(i))
        how = f"{runs} runs" if runs <= MOST_RUNS else f"{runs} runs, median and {BAND[0]:g}–{BAND[1]:g} %"
        time_axis(ax, f"{TITLES[signal]}: {how}", f"{signal} [{unit_of(result, signal)}]")
        steady(ax, natural_size(result, signal, all(prismatic(result))))
        draw_limits(result, [ax] * values.shape[-1], signal)
    shared_legend(result, axes[0])


@plot("spectrum", "amplitude spectrum of a signal of every joint", needs=("q",))
def spectrum(
    result: Result, axes: list[Any], signal: Annotated[str, Text("signal with one column per joint")] = "qdd"
) -> None:
    """One-sided spectrum (Hann window, linear trend removed) on logarithmic scales; qdd, or q when qdd was not recorded."""
    from manipula.analysis.vibration import spectrum as amplitudes

    signal = signal if signal in result.arrays else "q"
    _signal([result], signal)
    good = np.isfinite(result.arrays[signal]).all(axis=-1)
    lines = amplitudes(result.t[good], result.arrays[signal][good])
    ax, names = axes[0], names_of(result)
    for i in range(lines.amplitude.shape[-1]):
        floor = 1e-12 * max(float(lines.amplitude.max(initial=0.0)), 1e-300)
        ax.plot(
            lines.frequency[1:],
            np.maximum(lines.amplitude[1:, i], floor),
            linewidth=1.1,
            label=plain(names[i]),
            **joint_line(i),
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(f"Spectrum: {TITLES.get(signal, signal).lower()}", color=INK)
    ax.set_xlabel("frequency [Hz]")
    ax.set_ylabel(f"{signal} [{unit_of(result, signal)}]")
    shared_legend(result, ax)

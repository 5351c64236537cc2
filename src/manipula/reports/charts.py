"""The charts of a page, as data: which curves over which axes, in which units, against which limits. The page draws them.

A chart is a kind of plot (``plots/``) told to the page's own instruments; ``CHARTS`` says which kinds have such a form, and the others are still pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.reports.key_numbers import ROUNDING, energy_size, error_groups, is_tip_error
from manipula.reports.packed import Packer
from manipula.reports.plots.compare import BAND, MOST_RUNS
from manipula.reports.plots.energy import ENERGY_LINES, error_names
from manipula.reports.plots.joints import LIMITED, SYMBOLS, TITLES
from manipula.reports.plots.program import FLOOR, constraint_names
from manipula.reports.plots.steady import NOISE, largest, natural_size
from manipula.reports.source import columns_of, decimated, joint_count, names_of, needed_robot, prismatic, unit_of
from manipula.reports.theme import JOINT_COLOURS
from manipula.simulation.recorded import limits_of
from manipula.simulation.result import Result
from manipula.simulation.stated_limits import limit_of

Panel = dict[str, Any]
MOST_MARKS = 200
MANIPULABILITY_SAMPLES = 600
ENSEMBLE_SAMPLES = 300
SPECTRUM_LINES, SPECTRUM_FLOOR = 500, 1e-9
FORCES = ("tau", "command", "friction", "applied", "reaction", "external", "observed_torque")


@dataclass(frozen=True)
class Shown:
    """One run on a page: which of its samples are shown, and where its numbers go.

    Attributes:
        run: its number on the page. index: samples that are shown.
    """

    result: Result
    run: int
    index: np.ndarray
    packer: Packer

    def signal(self, name: str) -> int:
        """A recorded signal at the samples shown, by its number among the arrays; t and q with all their digits.

        Raises:
            DescriptionError: a run that could not begin recorded none.
        """
        exact = name in ("t", "q")
        if name != "t" and name not in self.result.arrays:
            raise DescriptionError(f"The result has no signal '{name}'.", field=name)
        values = self.result.t if name == "t" else self.result.arrays[name]
        return self.packer.add(np.asarray(values, float)[self.index], "f8" if exact else "f4", (self.run, name))

    def add(self, values: Any, kind: str = "f4", name: str | None = None) -> int:
        """Other numbers at the samples shown; with a ``name`` a live page computes them again."""
        return self.packer.add(values, kind, None if name is None else (self.run, name))


def colour_of(joint: int) -> str:
    """Name of the colour of a joint in the style of the page."""
    return f"j{joint % len(JOINT_COLOURS) + 1}"


def _curve(shown: Shown, name: str, y: tuple[int, int], **more: Any) -> dict[str, Any]:
    return {"name": name[:60], "run": shown.run, "y": list(y), **more}


def _joint(shown: Shown, i: int, signal: int, **more: Any) -> dict[str, Any]:
    return _curve(
        shown,
        names_of(shown.result)[i],
        (signal, i),
        joint=i,
        colour=colour_of(i),
        dash=i // len(JOINT_COLOURS),
        **more,
    )


def _axis(label: str, unit: str, size: float, noise: float = NOISE, **more: Any) -> dict[str, Any]:
    """Changes below ``noise`` × ``size`` are rounding, and no axis is finer than that."""
    return {"label": label, "unit": unit, "size": float(size), "noise": noise, **more}


def joint_panel(shown: Shown, signal: str, array: int | None = None, title: str | None = None) -> Panel:
    """One signal of all joints; sliding joints on a second axis when there are both kinds."""
    result, slides = shown.result, prismatic(shown.result)
    mixed = any(slides) and not all(slides) and signal != "power"
    kind = TITLES.get(signal, signal)
    if signal in FORCES and any(slides):
        kind = (
            kind.replace("orque", "orque and force")
            if mixed
            else kind.replace("Torque", "Force").replace("torque", "force")
        )
    symbol = SYMBOLS.get(signal, signal)
    turning = slides.index(False) if mixed else 0
    axes = [_axis(symbol, unit_of(result, signal, turning), natural_size(result, signal, all(slides)))]
    if mixed:
        axes.append(_axis(symbol, unit_of(result, signal, slides.index(True)), natural_size(result, signal, True)))
    from_array = shown.signal(signal) if array is None else array
    curves = [_joint(shown, i, from_array, axis=int(mixed and slides[i])) for i in range(joint_count(result))]
    return {"title": title or kind, "axes": axes, "curves": curves, "limits": _limits(result, signal, mixed)}


def _limits(result: Result, signal: str, mixed: bool) -> list[dict[str, Any]]:
    """What the robot or the scenario allows each joint."""
    quantity = LIMITED.get(signal)
    stated = limits_of(result).get(quantity) if quantity else None
    slides = prismatic(result)
    if not stated or len(stated) != len(slides):
        return []
    rows = []
    for i, value in enumerate(stated):
        limit = limit_of(value)
        if limit is None:
            continue
        low, high = limit if isinstance(limit, tuple) else (-limit, limit)
        finite = [float(x) if np.isfinite(x) else None for x in (low, high)]
        rows.append({"joint": i, "low": finite[0], "high": finite[1], "axis": int(mixed and slides[i])})
    return rows


def _joints(signal: str, title: str | None = None) -> Callable[[Shown], Iterator[Panel]]:
    def made(shown: Shown) -> Iterator[Panel]:
        panel = joint_panel(shown, signal, title=title)
        if signal == "q":
            panel["curves"] += _joint_targets(shown)
        if signal == "power" and joint_count(shown.result) > 1:
            total = np.asarray(shown.result.arrays["power"], float)[shown.index].sum(axis=-1)
            panel["curves"].append(_curve(shown, "sum", (shown.add(total, name="power.sum"), 0), colour="ink", dash=1))
        yield panel

    return made


def _joint_targets(shown: Shown) -> list[dict[str, Any]]:
    """Where the joints were asked to be, when the task was given in joints."""
    target, n = shown.result.arrays.get("target"), joint_count(shown.result)
    if target is None or target.ndim != 2 or target.shape[-1] != n or is_tip_error(shown.result):
        return []
    slides = prismatic(shown.result)
    mixed = any(slides) and not all(slides)
    at, names = shown.signal("target"), names_of(shown.result)
    curves = [_joint(shown, i, at, axis=int(mixed and slides[i]), role="target") for i in range(n)]
    return [{**curve, "name": f"{name[:50]}, target"} for curve, name in zip(curves, names)]


def _jerk(shown: Shown) -> Iterator[Panel]:
    found = shown.result.jerk()
    values = np.where(np.isfinite(found.values), found.values, np.nan)[shown.index]
    panel = joint_panel(shown, "jerk", shown.add(values))
    panel["axes"][0]["size"] = max(panel["axes"][0]["size"], largest(values))
    panel["marks"] = sorted({float(t) for _, _, t in found.jumps})[:MOST_MARKS]
    panel["remark"] = found.remark
    yield panel


def _tip(shown: Shown) -> Iterator[Panel]:
    at = shown.signal("tip")
    curves = [_curve(shown, c, (at, k), colour=colour_of(k), dash=0) for k, c in enumerate("xyz")]
    if is_tip_error(shown.result):
        wanted = shown.signal("target")
        curves += [_curve(shown, f"{c}, target", (wanted, k), colour=colour_of(k), dash=0, role="target") for k, c in enumerate("xyz")]  # fmt: skip
    yield {
        "title": "Position of the tip",
        "axes": [_axis("p", "m", natural_size(shown.result, "tip"))],
        "curves": curves,
    }


def _offset(shown: Shown) -> Iterator[Panel]:
    at = shown.signal("admittance_offset")
    curves = [_curve(shown, c, (at, k), colour=colour_of(k), dash=0) for k, c in enumerate("xyz")]
    yield {"title": "Offset of the reference", "axes": [_axis("ξ", "m", natural_size(shown.result, "tip"))], "curves": curves}  # fmt: skip


def _error(shown: Shown) -> Iterator[Panel]:
    result = shown.result
    names, unit = error_names(result)
    size = natural_size(result, "tip" if unit == "m" else "q", all(prismatic(result)))
    groups = error_groups(result)
    curves, parts = [], []
    for k, (words, _, norm) in enumerate(groups):
        values = norm[shown.index]
        parts.append(values[np.isfinite(values) & (values > 0)])
        name = "error.norm" if len(groups) == 1 else None
        at = shown.add(values, name=name), 0
        curves.append(_curve(shown, words if name is None else "norm", at, colour=("ink", "muted")[k], dash=0))
    positive = np.concatenate(parts)
    logarithmic = bool(len(positive) and positive.max() > max(30 * positive.min(), NOISE * size))
    floor = 1e-12 * float(positive.max()) if logarithmic else 0.0
    norm_unit = " or ".join(dict.fromkeys(u for _, u, _ in groups))
    yield {"title": "Tracking error, norm", "axes": [_axis("|e|", norm_unit, size, log=logarithmic, floor=floor)], "curves": curves}  # fmt: skip
    at = shown.signal("error")
    curves = [_curve(shown, name, (at, k), colour=colour_of(k), dash=k // len(JOINT_COLOURS),
                     **({"joint": k} if names == names_of(result) else {})) for k, name in enumerate(names)]  # fmt: skip
    yield {"title": "Tracking error, target minus actual", "axes": [_axis("e", unit, size)], "curves": curves}


def _energy(shown: Shown) -> Iterator[Panel]:
    result = shown.result
    size = max(energy_size(result), 1e-12)
    curves = [
        _curve(shown, label, (shown.signal(name), 0), colour=colour_of(colour), dash=0, thick=name == "energy")
        for name, label, colour in ENERGY_LINES
        if largest(result.arrays.get(name, 0.0)) > ROUNDING * size
    ]
    yield {"title": "Energy and work", "axes": [_axis("E", "J", size, ROUNDING)], "curves": curves}
    if "audit" in result.arrays:
        audit = _curve(shown, "audit", (shown.signal("audit"), 0), colour="muted", dash=0)
        yield {"title": "Energy audit: work in − work out − stored", "axes": [_axis("ΔE", "J", size, ROUNDING)], "curves": [audit]}  # fmt: skip


def _residual(shown: Shown) -> Iterator[Panel]:
    values = np.abs(np.asarray(shown.result.arrays["residual"], float))
    worst = np.fmax.reduceat(values, shown.index, axis=0)  # the largest until the next sample that is shown
    at = shown.add(np.maximum(worst, FLOOR))
    curves = [_curve(shown, name, (at, k), colour=colour_of(k), dash=0) for k, name in enumerate(constraint_names(shown.result))]  # fmt: skip
    yield {"title": "Residual of the constraints", "axes": [_axis("|Φ|", "", 1.0, log=True, floor=FLOOR)], "curves": curves}  # fmt: skip


def _multipliers(shown: Shown) -> Iterator[Panel]:
    at, result = shown.signal("multipliers"), shown.result
    names = constraint_names(result)[: result.arrays["multipliers"].shape[-1]]
    curves = [_curve(shown, name, (at, k), colour=colour_of(k), dash=0) for k, name in enumerate(names)]
    yield {"title": "Multipliers of the constraints", "axes": [_axis("μ", "", natural_size(result, "tau"))], "curves": curves}  # fmt: skip
    yield joint_panel(shown, "reaction")


def _height(shown: Shown) -> Iterator[Panel]:
    curve = _curve(shown, "z", (shown.signal("tip"), 2), colour=colour_of(0), dash=0)
    yield {
        "title": "Height of the tip",
        "axes": [_axis("z", "m", natural_size(shown.result, "tip"))],
        "curves": [curve],
    }


def _columns(shown: Shown, signal: str, title: str, label: str, low: float = -np.inf) -> Panel:
    """Columns that are none of all joints, each in its unit: a second axis where there are two of them."""
    values = np.maximum(np.asarray(shown.result.arrays[signal], float), low)
    at, columns = shown.add(values[shown.index]), columns_of(shown.result, signal)
    units = list(dict.fromkeys(unit for *_, unit in columns))
    units = units if len(units) < 3 else [" or ".join(units)]
    curves = []
    for k, (name, joint, unit) in enumerate(columns):
        own = {} if joint is None else {"joint": joint}
        axis = units.index(unit) if unit in units else 0
        curves.append(
            _curve(shown, name, (at, k), colour=colour_of(k if joint is None else joint), dash=0, axis=axis, **own)
        )
    sizes = [max(largest(values[..., [c["y"][1] for c in curves if c["axis"] == a]]), 1e-9) for a in range(len(units))]
    return {"title": title, "axes": [_axis(label, *pair) for pair in zip(units, sizes)], "curves": curves}


def _bristles(shown: Shown) -> Iterator[Panel]:
    yield _columns(shown, "bristles", "Bristle deflection", "z")


def _contact(shown: Shown) -> Iterator[Panel]:
    yield _columns(shown, "contact_force", "Normal force of contacts", "F", 0.0)
    yield _columns(shown, "penetration", "Penetration, from zero", "δ", 0.0)


def _manipulability(shown: Shown) -> Iterator[Panel]:
    from manipula.analysis.manipulability import manipulability as measure

    result = shown.result
    index = shown.index[decimated(len(shown.index), MANIPULABILITY_SAMPLES)]
    found = measure(needed_robot(result), result.arrays["q"][index], "position")
    count = found.singular_values.shape[-1]
    times = shown.add(result.t[index], "f8")
    for values, title, label, unit in (
        (found.manipulability, "Manipulability", "w", "m" + {1: "", 2: "²", 3: "³"}.get(count, "")),
        (1.0 / found.condition, "Inverse condition number", "σmin/σmax", ""),
    ):
        curve = _curve(shown, title.lower(), (shown.add(values), 0), colour=colour_of(0), dash=0, t=times)
        yield {"title": title, "axes": [_axis(label, unit, max(largest(values), 1e-9), low=0.0)], "curves": [curve]}


def _phase(shown: Shown) -> Iterator[Panel]:
    result, q, qd = shown.result, shown.signal("q"), shown.signal("qd")
    for i, name in enumerate(names_of(result)):
        slides = prismatic(result)[i]
        across = _axis("q", unit_of(result, "q", i), natural_size(result, "q", slides))
        along = _axis("qd", unit_of(result, "qd", i), natural_size(result, "qd", slides))
        yield {"title": f"Phase plane of {name[:40]}", "across": across, "axes": [along], "small": True,
               "curves": [_joint(shown, i, qd, x=[q, i])]}  # fmt: skip


def _spectrum(shown: Shown) -> Iterator[Panel]:
    """Amplitudes over frequency, both on logarithmic scales; of a run that lasts shorter than eight samples there is none."""
    from manipula.analysis.vibration import spectrum

    result = shown.result
    signal = "qdd" if "qdd" in result.arrays else "q"
    values = np.asarray(result.arrays[signal], float)
    good = np.isfinite(values).all(axis=-1)
    lines = spectrum(result.t[good], values[good])
    kept = np.unique(np.geomspace(1, max(len(lines.frequency) - 1, 1), SPECTRUM_LINES).astype(int))
    most = np.fmax.reduceat(lines.amplitude, kept, axis=0)  # the largest until the next frequency that is shown
    floor = SPECTRUM_FLOOR * max(largest(most), natural_size(result, signal) * NOISE)
    frequencies, at = shown.add(lines.frequency[kept], "f8"), shown.add(np.maximum(most, floor))
    panel = joint_panel(shown, signal, at, f"Spectrum of the {TITLES.get(signal, signal).lower()}")
    panel["curves"] = [{**c, "t": frequencies, "axis": 0} for c in panel["curves"]]
    unit = " or ".join(dict.fromkeys(a["unit"] for a in panel["axes"]))
    size = max(largest(most), 1e-300)
    panel["axes"] = [_axis(SYMBOLS.get(signal, signal), unit, size, log=True, floor=floor)]
    yield {**panel, "limits": [], "across": _axis("f", "Hz", float(lines.frequency[-1]), log=True)}


def _ensemble(shown: Shown) -> Iterator[Panel]:
    """The runs of a batch: every line, or median and band."""
    result = shown.result
    index = decimated(len(result.t), ENSEMBLE_SAMPLES)
    times = shown.add(result.t[index], "f8")
    for signal in ("q", "tau"):
        if signal not in result.arrays:
            continue
        values = np.asarray(result.arrays[signal], float)[:, index]
        runs = values.shape[0]
        panel = joint_panel(shown, signal, 0)
        curves, bands = [], []
        for curve in panel["curves"]:
            i = curve["joint"]
            if runs <= MOST_RUNS:
                at = shown.add(values[:, :, i].T)
                curves += [{**curve, "y": [at, k], "t": times, "role": "faint", "name": f"{curve['name']}, run {k}"} for k in range(runs)]  # fmt: skip
                continue
            known = np.isfinite(values[:, :, i]).any(axis=0)
            low, middle, high = (np.full(len(index), np.nan) for _ in range(3))
            low[known], middle[known], high[known] = np.nanpercentile(values[:, known, i], [BAND[0], 50.0, BAND[1]], axis=0)  # fmt: skip
            at = shown.add(np.stack([low, middle, high], axis=1))
            for column, role, words in ((0, "edge", f", {BAND[0]:g} %"), (2, "edge", f", {BAND[1]:g} %"), (1, "", "")):  # fmt: skip
                curves.append({**curve, "y": [at, column], "t": times, "role": role, "name": curve["name"] + words})
            bands.append([len(curves) - 2, len(curves) - 3])
        how = f"{runs} runs" if runs <= MOST_RUNS else f"{runs} runs, median and {BAND[0]:g}–{BAND[1]:g} %"
        yield {**panel, "title": f"{panel['title']}: {how}", "curves": curves, "bands": bands}


CHARTS: dict[str, Callable[[Shown], Iterator[Panel]]] = {
    "ensemble": _ensemble, "tip": _tip, "position": _joints("q"), "velocity": _joints("qd"), "acceleration": _joints("qdd"), "jerk": _jerk,
    "torque": _joints("tau"), "friction-torque": _joints("friction"), "observed-torque": _joints("observed_torque"), "offset": _offset,
    "power": _joints("power", "Mechanical power"), "error": _error,
    "energy": _energy, "residual": _residual, "multipliers": _multipliers, "height": _height, "bristles": _bristles, "contact": _contact,
    "manipulability": _manipulability, "phase": _phase, "spectrum": _spectrum,
}  # fmt: skip


def panels(kind: str, shown: Shown) -> list[Panel]:
    """The charts of one kind of plot, each with its id."""
    found = list(CHARTS[kind](shown))
    for k, panel in enumerate(found):
        panel["id"] = f"chart-{kind}" + (f"-{k + 1}" if k else "")
        panel["kind"] = kind
    return found


def merged(first: list[Panel], others: list[list[Panel]]) -> list[Panel]:
    """Charts of several runs over each other: curves of the same chart side by side; the second run is dashed, and so on."""
    for found in others:
        same = {panel["id"]: panel for panel in found}
        for panel in first:
            other = same.get(panel["id"])
            if other is None or [a["unit"] for a in other["axes"]] != [a["unit"] for a in panel["axes"]]:
                continue
            panel["curves"] += [c for c in other["curves"] if c.get("role") != "target"]
            for mine, theirs in zip(panel["axes"], other["axes"]):
                mine["size"] = max(mine["size"], theirs["size"])
                mine["log"] = mine.get("log") and theirs.get("log")
    return first

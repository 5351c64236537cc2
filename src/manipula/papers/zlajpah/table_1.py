"""Table 1: operations and times of kinmodel and dynmodel against the number of joints, printed and ours up to 1000 joints [Žlajpah]."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from manipula.compat.zlajpah import dynmodel, kinmodel
from manipula.formats.planar import planar
from manipula.model import Model
from manipula.papers.base import (
    ChartLine,
    CheckedRow,
    Erratum,
    Figure,
    PaperChart,
    PaperSection,
    PaperTable,
    Words,
    number,
)
from manipula.papers.printed import evaluated, printed
from manipula.physics.planar import PlanarConstants, planar_kinematics, planar_model

LARGE = (50, 100, 200, 500, 1000)
COMPILED = 20  # joints; beyond, compiling the whole model takes longer than a reader waits
REPEATS = 5


class CountedNumber:
    """A number that only counts: every + − × negation sin cos is one operation, as MATLAB 4 counted."""

    executed = 0

    def _operation(self, *others: Any) -> CountedNumber:
        CountedNumber.executed += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = sin = cos = _operation


def operations(n: int) -> tuple[int, int]:
    """Operations of kinmodel and of dynmodel here, by running them on numbers that count; arm constants are made once per arm and not in it."""
    vector = np.array([CountedNumber() for _ in range(n)], object)
    found = []
    arm = PlanarConstants(list(vector), list(vector), list(vector), CountedNumber())
    for run in (lambda: planar_kinematics(list(vector), vector, vector), lambda: planar_model(arm, vector, vector)):
        before = CountedNumber.executed
        run()
        found.append(CountedNumber.executed - before)
    return found[0], found[1]


def seconds(call: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The least time of a call, over a few rounds."""
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return float(best)


def our_times(n: int) -> tuple[float, float, float | None]:
    """Seconds of kinmodel and dynmodel in NumPy, and of the complete model in machine code (small arms)."""
    rng = np.random.default_rng(n)
    q, qd = rng.normal(size=(2, n))
    l, m = np.full(n, 0.4), np.ones(n)
    arm = (n, l, l / 2, m, 0.0, m * l * l / 12, np.zeros(n))
    kin, dyn = seconds(lambda: kinmodel(q, l, qd)), seconds(lambda: dynmodel(q, qd, *arm))
    if n > COMPILED:
        return kin, dyn, None
    kernel = Model(planar(l, m)).kernel("planar_model")
    states = rng.normal(size=(2, 1024, n))
    kernel(*states, threads=1)
    return kin, dyn, seconds(lambda: kernel(*states, threads=1)) / 1024


def polynomial_rows() -> tuple[list[CheckedRow], Erratum]:
    """The printed counts are exact polynomials; that of the complete model is of degree four, where the text says three."""
    table, counts = printed("zlajpah")["table_1"], printed("zlajpah")["recomputed"]["counts"]
    sizes = [int(n) for n in table["n"]]
    rows = []
    for name in ("kinmodel", "dynmodel"):
        for n, text in zip(sizes, table[f"{name}_operations"]):
            found = evaluated(counts[name], {"n": float(n)})
            rows.append(
                number(f"operations of {name}, n = {n}", found, text, tolerance=0.0, remark="a polynomial in n against print")
            )  # fmt: skip
        ratio = [float(table[f"{name}_ms"][k]) for k in (-2, -1)]
        rows.append(
            number(f"exponent of the printed times of {name} between n = 10 and 20", np.log2(ratio[1] / ratio[0]),
                   corrected=counts["exponents"][name])
        )  # fmt: skip
    stated = [int(text) for text in table["dynmodel_operations"]]
    cubic, quartic = (_misfit(sizes, stated, degree) for degree in (3, 4))
    erratum = Erratum(
        "Section 3", "the complete model costs `O(n^3)`, its count of operations a little more",
        f"the count is exactly quartic, one sixth of `{counts['dynmodel'].removeprefix('(').removesuffix(')/6')}`",
        "polynomials of degree 3 and 4 through the first rows of Table 1, compared with its other rows (in rational numbers)", float(cubic), float(quartic),
    )  # fmt: skip
    return rows, erratum


def _misfit(sizes: list[int], values: list[int], degree: int) -> Fraction:
    """How far the polynomial through the first degree + 1 points misses the others."""
    known = list(zip(sizes, values))[: degree + 1]

    def at(n: int) -> Fraction:
        total = Fraction(0)
        for a, value in known:
            term = Fraction(value)
            for b, _ in known:
                term *= Fraction(n - b, a - b) if b != a else 1
            total += term
        return total

    return max((abs(at(n) - value) for n, value in zip(sizes, values)), default=Fraction(0))


def table_1(quick: bool) -> tuple[PaperSection, Erratum]:
    """Print beside our counts and times."""
    table, counts = printed("zlajpah")["table_1"], printed("zlajpah")["recomputed"]["counts"]
    rows, erratum = polynomial_rows()
    sizes = [int(n) for n in table["n"]]
    larger = LARGE[:2] if quick else LARGE
    counts_cells, times_cells, ours = [], [], []
    for k, n in enumerate([*sizes, *larger]):
        kin, dyn = operations(n)
        times = (None, None, None) if quick else our_times(n)
        ours.append((n, kin, dyn, *times))
        told = [f"{kin:,}", f"{dyn:,}"] + ["–" if t is None else _time(t) for t in times]
        paper = [table[key][k] if k < len(sizes) else "–" for key in ("kinmodel_operations", "dynmodel_operations", "kinmodel_ms", "dynmodel_ms")]  # fmt: skip
        told = [cell.replace(",", " ") for cell in told]
        counts_cells.append((str(n), *paper[:2], *told[:2]))
        times_cells.append((str(n), *paper[2:], *told[2:]))
        for name, found in (("kinmodel", kin), ("dynmodel", dyn)):
            bound = int(evaluated(counts[f"least_{name}"], {"n": float(n)}))
            rows.append(
                CheckedRow(f"our operations of {name}, n = {n}", str(found), float(max(0, found - bound)), 0.0,
                           table[f"{name}_operations"][k] if k < len(sizes) else None, f"at most {bound}", "as few as another program's running sums need")
            )  # fmt: skip
    tables = [
        PaperTable(
            ("n", "kinmodel, printed", "dynmodel, printed", "kinmodel, here", "dynmodel, here"),
            tuple(counts_cells),
            "Table 1: number of operations",
        )
    ]
    if not quick:
        head = (
            "n",
            "kinmodel, printed [ms]",
            "dynmodel, printed [ms]",
            "kinmodel, here",
            "dynmodel, here",
            "dynmodel, machine code here",
        )
        tables.append(PaperTable(head, tuple(times_cells), "Table 1: execution times"))
    charts = _charts(ours, quick)
    blocks = (
        Words("Printed counts are MATLAB's own, of vectorised code, multiplications by structural zeros included; ours count a scalar formulation by running "
              "sums, "
              "run on numbers that count. They are no counts of the same kind, and the times are of machines thirty years apart: nothing is judged by them."),
        *tables,
        Figure("Cost against the number of joints", charts, small=True),
    )  # fmt: skip
    return PaperSection("Table 1: operations and times", blocks, tuple(rows)), erratum


def _charts(ours: list[tuple[Any, ...]], quick: bool) -> tuple[PaperChart, ...]:
    """Print and ours up to 20 joints, and ours beyond: operations and, unless it is quick, times."""
    table = printed("zlajpah")["table_1"]
    small = np.array(table["n"], float)
    n = np.array([row[0] for row in ours], float)
    few = n <= small.max()
    theirs = lambda key, unit: np.array(table[key], float) * unit  # noqa: E731
    own = [np.array([np.nan if row[k] is None else row[k] for row in ours], float) for k in range(6)]
    charts = []
    kinds = [("Operations", "operations", "", "operations", 1.0, (1, 2))]
    kinds += [] if quick else [("Execution time", "ms", "s", "time", 1e-3, (3, 4))]
    for title, key, unit, label, scale, (kin, dyn) in kinds:
        both = (("dynmodel", own[dyn], 1), ("kinmodel", own[kin], 0))
        lines = [
            ChartLine(f"{name}, printed", small, theirs(f"{name}_{key}", scale), colour, 1) for name, _, colour in both
        ]
        lines += [ChartLine(f"{name}, here", n[few], y[few], colour) for name, y, colour in both]
        if key == "ms":
            lines.append(ChartLine("dynmodel, machine code", n[few], own[5][few], 2))
        charts.append(PaperChart(f"{title} up to 20 joints", tuple(lines), ((label, unit),), ("joints", ""), log=True))
        more = tuple(ChartLine(f"{name}, here", n, y, colour) for name, y, colour in both)
        charts.append(PaperChart(f"{title} up to {int(n.max())} joints", more, ((label, unit),), ("joints", ""), log=True))  # fmt: skip
    return tuple(charts)


def _time(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"

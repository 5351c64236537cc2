"""What a reproduced paper is: sections with formulas, tables and figures, rows that hold numbers against print, errata with their proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manipula.simulation.result import Result

CLEARLY = 10.0  # times the tolerance: a printed form that is off by more is a misprint


@dataclass(frozen=True)
class CheckedRow:
    """One comparison.

    Attributes:
        quantity: what is compared. printed: as the paper prints it; None where it prints nothing.
        corrected: what it must be: a misprint repaired, or a number that other programs found where the paper has none.
        computed: what this run found. difference: of computed from corrected, else from printed; tolerance: the largest that passes.
        remark: where the tolerance comes from, or what was compared.
    """

    quantity: str
    computed: str
    difference: float
    tolerance: float
    printed: str | None = None
    corrected: str | None = None
    remark: str = ""

    @property
    def passed(self) -> bool:
        """A difference that is no number never passes."""
        return bool(self.difference <= self.tolerance)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "quantity": self.quantity, "printed": self.printed, "corrected": self.corrected, "computed": self.computed,
            "difference": _finite(self.difference), "tolerance": self.tolerance, "passed": self.passed, "remark": self.remark,
        }  # fmt: skip


@dataclass(frozen=True)
class Erratum:
    """A misprint and its proof: the printed form evaluated is off, the correct one agrees.

    Attributes:
        printed_off: how far the printed form is from the truth, None where it cannot be evaluated at all (``proof`` says why) or where the slip has no
            effect (``effect`` is False). correct_off: how far the correct form is. proof: what was evaluated, on what.
    """

    where: str
    printed: str
    correct: str
    proof: str
    printed_off: float | None
    correct_off: float
    tolerance: float = 1e-9
    effect: bool = True

    @property
    def proven(self) -> bool:
        """Does the correct form agree, and the printed one differ clearly (or have no effect, as claimed)?"""
        if not self.correct_off <= self.tolerance:
            return False
        if self.printed_off is None:
            return True
        return bool(self.printed_off > CLEARLY * self.tolerance if self.effect else self.printed_off <= self.tolerance)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "where": self.where, "printed": self.printed, "correct": self.correct, "proof": self.proof, "tolerance": self.tolerance,
            "printed_off": None if self.printed_off is None else _finite(self.printed_off), "correct_off": _finite(self.correct_off),
            "proven": self.proven,
        }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- what a section is made of


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Formulas:
    """Typeset formulas, one per line, in the notation of :mod:`manipula.papers.typeset`; long ones break at plus and minus."""

    lines: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class DerivedFormulas:
    """Formulas that were derived here, as MathML of ``equations(...).html()``, folded under a title."""

    title: str
    html: str


@dataclass(frozen=True)
class PaperTable:
    """A table of texts; a head that begins with "*" is a column of words. verdicts: rows that are marked as good or bad."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class ChartLine:
    """A curve: y over x (over time where the chart has no other horizontal axis)."""

    name: str
    x: np.ndarray
    y: np.ndarray
    colour: int = 0
    dash: int = 0
    axis: int = 0
    role: str = ""


@dataclass(frozen=True)
class PaperChart:
    """A chart that the page draws.

    Attributes:
        axes: (label, unit) of one or two vertical axes. across: of the horizontal axis; None: time of the runs that move on the page.
    """

    title: str
    lines: tuple[ChartLine, ...]
    axes: tuple[tuple[str, str], ...]
    across: tuple[str, str] | None = None
    log: bool = False
    remark: str = ""


@dataclass(frozen=True)
class Figure:
    """Charts that belong together, as one figure of a paper."""

    title: str
    charts: tuple[PaperChart, ...]
    small: bool = False


@dataclass(frozen=True)
class RunCharts:
    """Charts of the runs that move on the page, by the names of plots; where the page is live, they follow the reader."""

    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A still drawing: a function that makes it, and what it shows."""

    title: str
    draw: Callable[[], Any]


Block = Words | Formulas | DerivedFormulas | PaperTable | Figure | RunCharts | Picture


@dataclass(frozen=True)
class PaperSection:
    """A heading, what stands below it, and the rows that are judged there."""

    title: str
    blocks: tuple[Block, ...]
    rows: tuple[CheckedRow, ...] = ()

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)


@dataclass(frozen=True)
class PaperInfo:
    """Which paper: name on the command line, title, authors, where it appeared, what a run of it shows."""

    name: str
    title: str
    authors: str
    place: str
    shows: str


@dataclass(frozen=True)
class Reproduction:
    """Everything that a run of a paper found.

    Attributes:
        runs: (name, result) of the motions that the page shows moving. live: paths of the numbers that the reader may move, or nothing.
        open_points: what the paper leaves open or what cannot be compared.
    """

    paper: PaperInfo
    sections: tuple[PaperSection, ...]
    errata: tuple[Erratum, ...]
    runs: tuple[tuple[str, Result], ...]
    open_points: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    seconds: float = field(default=math.nan, compare=False)

    @property
    def rows(self) -> Iterator[CheckedRow]:
        """All rows, section after section."""
        return (row for section in self.sections for row in section.rows)

    @property
    def passed(self) -> bool:
        """Every row passes and every erratum is proven."""
        return all(row.passed for row in self.rows) and all(e.proven for e in self.errata)

    def verdicts(self) -> list[tuple[str, int, int, str, bool]]:
        """One line per section with rows, then the errata: title, how many pass, how many there are, the row nearest to failing, passed."""
        lines = []
        for section in self.sections:
            if section.rows:
                worst = max(section.rows, key=_strain)
                words = f"{worst.quantity}: {shown(worst.difference)} of {shown(worst.tolerance)}"
                count = sum(row.passed for row in section.rows)
                lines.append((section.title, count, len(section.rows), words, section.passed))
        if self.errata:
            count = sum(e.proven for e in self.errata)
            first = next((e.where for e in self.errata if not e.proven), "printed forms differ, correct ones agree")
            lines.append(("Errata", count, len(self.errata), first, count == len(self.errata)))
        return lines

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "paper": self.paper.name, "title": self.paper.title, "passed": self.passed, "seconds": _finite(self.seconds),
            "sections": [{"title": s.title, "passed": s.passed, "rows": [r.plain() for r in s.rows]} for s in self.sections if s.rows],
            "errata": [e.plain() for e in self.errata], "open_points": list(self.open_points),
        }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------------ making rows


def counted(count: int, what: str) -> str:
    """``1 term``, ``4 terms``."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def decimal_of(printed: str) -> tuple[float, float]:
    """A printed decimal as a number, and half a unit of its last digit: as near as a rounded number can be."""
    digits = printed.strip().lower().partition("e")
    places = len(digits[0].partition(".")[2])
    power = int(digits[2]) if digits[2] else 0
    return float(printed), 0.5 * 10.0 ** (power - places) * (1 + 1e-9)


def number(
    quantity: str,
    computed: Any,
    printed: str | None = None,
    corrected: str | None = None,
    *,
    tolerance: float | None = None,
    remark: str = "",
) -> CheckedRow:
    """A row of one number; without a tolerance, half a unit of the last digit of what it is compared with."""
    against = corrected if corrected is not None else printed
    if against is None:
        raise AssertionError(f"'{quantity}' is compared with nothing")
    wanted, half = decimal_of(against)
    digits = max(6, len(against.strip("-").replace(".", "").lstrip("0")) + 1)
    allowed = half if tolerance is None else tolerance
    return CheckedRow(quantity, f"{float(computed) + 0.0:.{digits}g}", abs(float(computed) - wanted), allowed, printed, corrected, remark)  # fmt: skip


def numbers(
    quantity: str,
    computed: Any,
    printed: Sequence[str] | None = None,
    corrected: Sequence[str] | None = None,
    **more: Any,
) -> list[CheckedRow]:
    """One row per entry of a vector; entries are counted from 1."""
    values = np.asarray(computed, float).ravel()
    texts = [(None if column is None else list(column)) for column in (printed, corrected)]
    for column in texts:
        if column is not None and len(column) != len(values):
            raise AssertionError(f"'{quantity}': {len(column)} numbers in print, {len(values)} computed")
    return [
        number(f"{quantity}[{i + 1}]", value, *(None if c is None else c[i] for c in texts), **more)
        for i, value in enumerate(values)
    ]


def vector(
    quantity: str,
    computed: Any,
    printed: Sequence[str] | None = None,
    corrected: Sequence[str] | None = None,
    *,
    tolerance: float | None = None,
    remark: str = "",
) -> CheckedRow:
    """One row for a vector: its entries side by side, the largest difference; the tolerance of the coarsest entry when none is given."""
    rows = numbers(quantity, computed, printed, corrected, tolerance=tolerance)
    join = lambda column: None if column is None else ", ".join(column)  # noqa: E731
    worst = max(rows, key=lambda row: row.difference if row.difference == row.difference else math.inf)
    allowed = max(row.tolerance for row in rows)
    texts = join(printed), join(corrected)
    return CheckedRow(quantity, ", ".join(row.computed for row in rows), worst.difference, allowed, *texts, remark)


def matrix(quantity: str, computed: Any, printed: Sequence[Sequence[str]], **more: Any) -> list[CheckedRow]:
    """One row per entry of a printed matrix."""
    values = np.asarray(computed, float)
    if values.shape != (len(printed), len(printed[0])):
        raise AssertionError(f"'{quantity}': {len(printed)}×{len(printed[0])} in print, {values.shape} computed")
    return [
        number(f"{quantity}[{i + 1},{j + 1}]", values[i, j], text, **more)
        for i, line in enumerate(printed)
        for j, text in enumerate(line)
    ]


def agreement(quantity: str, difference: Any, tolerance: float, remark: str = "", **texts: str) -> CheckedRow:
    """A row in which two routes to the same thing are compared: the largest difference found."""
    return CheckedRow(
        quantity, texts.pop("computed", "agrees"), float(np.max(np.abs(difference))), tolerance, remark=remark, **texts
    )


def shown(value: float) -> str:
    """A difference for people."""
    return "0" if value == 0 else f"{value:.1e}" if math.isfinite(value) else "no number"


def _strain(row: CheckedRow) -> float:
    """How near a row is to failing."""
    if not row.passed:
        return math.inf
    return row.difference / row.tolerance if row.tolerance > 0 else 0.0


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

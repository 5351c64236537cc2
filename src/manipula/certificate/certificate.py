"""What ``certify`` answers: rows of disagreements with their tolerances, and a verdict."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manipula.algebra.value import Value

AGREES, DISAGREES, NOT_RUN = "agrees", "disagrees", "not run"
GROUPS = {"routes": "Routes to the same numbers", "identities": "Laws of mechanics", "motion": "Energy of free motion"}


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedRow(Value):
    """One disagreement.

    Attributes:
        group: "routes", "identities" or "motion".
        route: what was compared with the reference, or the law.
        quantity: of which number.
        error: the largest disagreement, relative as the certificate says; ``None`` when nothing was computed.
        tolerance: what counts as rounding.
        states: how many states were looked at.
        status: "agrees", "disagrees" or "not run".
        note: why it was not run, or what else is to be known.
    """

    group: str
    route: str
    quantity: str
    error: float | None
    tolerance: float | None
    states: int
    status: str
    note: str = ""

    @classmethod
    def of(
        cls, group: str, route: str, quantity: str, error: float, tolerance: float, states: int, note: str = ""
    ) -> CertifiedRow:
        """The row of a number; one that is no number disagrees."""
        status = AGREES if error <= tolerance else DISAGREES
        return cls(group, route, quantity, float(error), float(tolerance), states, status, note)

    @classmethod
    def left_out(cls, group: str, route: str, quantity: str, why: str, status: str = NOT_RUN) -> CertifiedRow:
        """The row of what could not be computed, with the reason."""
        return cls(group, route, quantity, None, None, 0, status, why)


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Value):
    """How far the routes to the equations of one robot differ.

    Attributes:
        robot, digest: its name, and the SHA-256 of all that it holds.
        kind: its joints in words.
        rows: one per route and quantity, one per law.
        states, seed: how many random states, drawn from which seed.
        method: how disagreement is measured and tolerances were chosen, sentence by sentence.
        date: when it was made (UTC).
        versions, machine: of what computed, and where.
    """

    robot: str
    digest: str
    kind: str
    rows: tuple[CertifiedRow, ...]
    states: int
    seed: int
    method: tuple[str, ...]
    date: str
    versions: dict[str, str]
    machine: dict[str, str]

    @property
    def ok(self) -> bool:
        """Does everything that was run agree?"""
        return not self.failed

    @property
    def failed(self) -> tuple[CertifiedRow, ...]:
        """Rows that disagree."""
        return tuple(row for row in self.rows if row.status == DISAGREES)

    @property
    def not_run(self) -> tuple[CertifiedRow, ...]:
        """Rows that could not be computed, each with its reason."""
        return tuple(row for row in self.rows if row.status == NOT_RUN)

    @property
    def worst(self) -> CertifiedRow | None:
        """The row that is nearest to its tolerance, or farthest beyond it."""
        judged = [r for r in self.rows if r.error is not None and r.tolerance]
        return max(judged, key=lambda r: _ratio(r), default=None)

    def verdict(self) -> str:
        """One sentence."""
        ran = [row for row in self.rows if row.status != NOT_RUN]
        left = sorted({row.route for row in self.not_run} - {row.route for row in ran})
        told = f" Not run: {', '.join(left)}." if left else ""
        if self.failed:
            names = ", ".join(dict.fromkeys(f"{row.route} ({row.quantity})" for row in self.failed))
            return f"{self.robot}: {len(self.failed)} of {len(ran)} comparisons disagree: {names}.{told}"
        return f"{self.robot}: all {len(ran)} comparisons agree over {self.states} states.{told}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; a number that is none is the text "nan" or "inf"."""
        rows = [
            {**{f: getattr(row, f) for f in row.__dataclass_fields__}, "error": _plain(row.error)} for row in self.rows
        ]
        return {
            "robot": self.robot, "digest": self.digest, "joints": self.kind, "ok": self.ok, "verdict": self.verdict(),
            "date": self.date, "states": self.states, "seed": self.seed, "method": list(self.method),
            "versions": dict(self.versions), "machine": dict(self.machine), "rows": rows,
        }  # fmt: skip

    def table(self, group: str) -> tuple[tuple[str, ...], list[list[str]]]:
        """Heads and cells of one group: of the routes one line each with a column per quantity, of the others one line per law."""
        rows = [row for row in self.rows if row.group == group]
        if group != "routes":
            return ("law", "error", "tolerance"), [[r.quantity, shown(r), limit(r)] for r in rows]
        quantities = list(dict.fromkeys(row.quantity for row in rows))
        lines = []
        for route in dict.fromkeys(row.route for row in rows):
            found = {row.quantity: row for row in rows if row.route == route}
            lines.append([route, *(shown(found[q]) if q in found else "" for q in quantities)])
        return ("route", *quantities), lines

    def tolerances(self) -> list[str]:
        """What was allowed for each quantity of the routes, in the order of the table's columns."""
        rows = [row for row in self.rows if row.group == "routes"]
        found: dict[str, str] = {}
        for row in rows:
            if row.quantity not in found or not found[row.quantity]:
                found[row.quantity] = limit(row)
        return list(found.values())

    def remarks(self) -> list[str]:
        """Every note, each once, after the name of its route or law."""
        noted = ((row.quantity if row.group != "routes" else row.route, row.note) for row in self.rows if row.note)
        return list(dict.fromkeys(f"{name}: {note}" for name, note in noted))

    def text(self) -> str:
        """The certificate for a terminal or a file."""
        out = [self.verdict(), f"{self.kind}; digest {self.digest}", ""]
        for group, title in GROUPS.items():
            heads, lines = self.table(group)
            if group == "routes" and lines:
                lines = [*lines, ["tolerance", *self.tolerances()]]
            widths = [max(len(line[k]) for line in (heads, *lines)) for k in range(len(heads))]
            out += [title, *("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in (heads, *lines))]
            out.append("")
        return "\n".join([*out, *self.remarks(), *self.method])

    def __str__(self) -> str:
        return self.text()

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page that needs nothing else; the file appears whole or not at all."""
        from manipula.certificate.page import write_certificate

        return write_certificate(self, path)


def shown(row: CertifiedRow) -> str:
    """A cell: the error, marked when it is too large, or that there is none."""
    if row.error is None:
        return "fails" if row.status == DISAGREES else "–"
    return f"{row.error:.1e}{' !' if row.status == DISAGREES else ''}"


def limit(row: CertifiedRow) -> str:
    """The tolerance of a row."""
    return "" if row.tolerance is None else f"{row.tolerance:.1e}"


def _ratio(row: CertifiedRow) -> float:
    assert row.error is not None
    assert row.tolerance is not None
    return float("inf") if row.error != row.error else row.error / row.tolerance


def _plain(x: float | None) -> float | str | None:
    return x if x is None or abs(x) < float("inf") else str(x)

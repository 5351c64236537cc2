"""Every paper runs, every row agrees, every misprint is proven; and a number that is wrong is seen."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from manipula.cli.app import app
from manipula.errors import UnknownNameError
from manipula.papers import printed as printed_data
from manipula.papers import typeset
from manipula.papers.base import CheckedRow, Erratum, Reproduction, decimal_of, number
from manipula.papers.page import page_html
from manipula.papers.run import PAPERS, papers, run_paper

ERRATA = {
    "zlajpah": 4,
    "khang": 6,
    "arora": 16,
    "abdelsatar": 2,
    "jarzebowska": 7,
}  # misprints that are listed in docs/theory/references.md, at least
ROWS = {"zlajpah": 160, "khang": 80, "arora": 170, "abdelsatar": 45, "jarzebowska": 110}
_found: dict[str, Reproduction] = {}


def reproduced(name: str) -> Reproduction:
    """One run per paper serves all tests."""
    if name not in _found:
        _found[name] = run_paper(name, quick=True)
    return _found[name]


@pytest.mark.parametrize("name", PAPERS)
def test_every_row_agrees(name: str) -> None:
    found = reproduced(name)
    assert not [row for row in found.rows if not row.passed]
    assert len(list(found.rows)) >= ROWS[name]
    assert found.passed
    assert all(result.ok for _, result in found.runs)


@pytest.mark.parametrize("name", PAPERS)
def test_every_misprint_is_proven(name: str) -> None:
    errata = reproduced(name).errata
    assert not [e for e in errata if not e.proven]
    assert len(errata) >= ERRATA[name]
    assert all(e.proof for e in errata)


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_shows_every_row_and_ends_with_the_verdict(name: str) -> None:
    found = reproduced(name)
    page = page_html(found)
    assert page.count('class="verdict good"') >= len(list(found.rows)) + len(found.errata)
    assert 'class="verdict bad"' not in page
    assert page.index('id="verdict"') > page.index('id="errata"')
    assert "Printed in the paper" in page
    assert "NaN" not in page.partition("<script")[0]


MUTATED: dict[str, list[tuple[str, Callable[[Any], Any]]]] = {
    "zlajpah": [
        ("operations of dynmodel, n = 20", lambda d: d["table_1"]["dynmodel_operations"].__setitem__(5, "1560735")),
        ("H, 3-R arm with a load", lambda d: d["recomputed"]["arms"][0]["H"][0].__setitem__(0, "0.8823358111")),
        ("tau(1 s), start on the line", lambda d: d["recomputed"]["line"]["zero_initial_error"]["samples"][2]["tau"].__setitem__(0, "30.0")),
        ("duration [s]", lambda d: d["recomputed"]["spline"].update(duration="5.737490135")),
    ],
    "khang": [
        ("M33", lambda d: d["M"].update(M33="I3z + m3*l3^2 + I4z + 2*m4*a3^2")),
        ("tau4", lambda d: d["tau"].update(tau4="M41*ddq1 + M42*ddq2 + M43*ddq3 + M44*ddq4 + m4*g")),
        ("tau(1 s), q2 > 0", lambda d: d["recomputed"]["positive"][1]["tau"].__setitem__(0, "1.914064824")),
        ("least and largest tau1", lambda d: d["recomputed"]["extremes"]["positive"][0].__setitem__(0, "-7.77742")),
    ],
    "arora": [
        ("M[3,4]", lambda d: d["results"]["M"][2].__setitem__(3, "20.9590")),
        ("T05[1,4]", lambda d: d["results"]["T05"][0].__setitem__(3, "1.9998")),
        ("q(33 s)", lambda d: d["recomputed"]["square"]["samples"][5]["q"].__setitem__(1, "0.1")),
        ("limits, square of 2 m, clockwise", lambda d: d["recomputed"]["squares"][6].update(kept=True)),
    ],
    "abdelsatar": [
        ("tau2", lambda d: d["tau"].update(tau2=d["tau"]["tau2"].replace("3*a1", "4*a1"))),
        ("tau at the check point[1]", lambda d: d["recomputed"]["point"]["tau"].__setitem__(0, "17.8348643406")),
        ("C21", lambda d: d["recomputed"].update(C21="a1*a2*m2*(2*th1d + th2d)*sin(th2)/2")),
        ("tau at a check point[2]", lambda d: d["slider"]["tau"].__setitem__(1, "-11.5239125267")),
    ],
    "jarzebowska": [
        ("q(2 s), no friction", lambda d: d["recomputed"]["without"][2]["q"].__setitem__(0, "8.914963")),
        ("friction(3 s), LuGre, Table 1", lambda d: d["recomputed"]["with"][3]["friction"].__setitem__(1, "0.5")),
        ("sigma0 of the four joints", lambda d: d["table_1"]["sigma0"].__setitem__(3, "2.5")),
        ("M, state 1", lambda d: d["recomputed"]["states"][0]["M"][0].__setitem__(0, "4.2224145")),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(p, marks=pytest.mark.slow if p in ("arora", "jarzebowska") else ()) for p in PAPERS]
)
def test_a_number_that_is_wrong_makes_its_row_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = copy.deepcopy(printed_data.printed(name))
    for _, change in MUTATED[name]:
        change(data)
    original = printed_data.printed.__wrapped__
    printed_data.printed.cache_clear()
    monkeypatch.setattr(printed_data, "tomllib", SimpleNamespace(loads=lambda text: data))
    try:
        found = run_paper(name, quick=True)
    finally:
        monkeypatch.undo()
        printed_data.printed.cache_clear()
        assert original(name) == printed_data.printed(name)
    failed = [row.quantity for row in found.rows if not row.passed]
    for quantity, _ in MUTATED[name]:
        assert any(quantity in text for text in failed), f"{quantity}: {failed}"
    assert not found.passed
    assert 'class="verdict bad"' in page_html(found)


def test_a_difference_that_is_no_number_fails() -> None:
    assert not CheckedRow("x", "nan", float("nan"), 1.0).passed
    assert not number("x", float("nan"), "1.0").passed
    assert decimal_of("389.2631")[1] == pytest.approx(5e-5)
    assert decimal_of("1.5e-3")[1] == pytest.approx(5e-5)
    assert number("x", 0.60004, "0.6000").passed
    assert not number("x", 0.60006, "0.6000").passed


@pytest.mark.parametrize(
    ("printed_off", "correct_off", "effect", "proven"),
    [(1.0, 1e-12, True, True), (1e-12, 1e-12, True, False), (1.0, 1.0, True, False), (None, 1e-12, True, True),
     (0.0, 0.0, False, True), (1.0, 0.0, False, False), (float("nan"), 0.0, True, False), (1.0, float("nan"), True, False)],
)  # fmt: skip
def test_what_proves_a_misprint(printed_off: float | None, correct_off: float, effect: bool, proven: bool) -> None:
    assert Erratum("x", "a", "b", "c", printed_off, correct_off, effect=effect).proven is proven


def test_formulas_are_typeset() -> None:
    page = typeset.formula("tau1 = M11*ddq1 - 2*dq2*a1*s23 + frac{1}{2} x_i^2 + <b>")
    assert page.count("<math>") == 4
    assert "<mi>τ</mi>" in page
    assert "&lt;" in page
    assert "<b>" not in page
    assert typeset.formula("Q = matrix{0, -1; 1, 0}").count("<mtd>") == 4
    assert typeset.spoken("`dot{q}_i` of `frac{a}{b}`") == "qd_i of a/b"


def test_all_five_papers_are_there() -> None:
    assert PAPERS == ("zlajpah", "khang", "arora", "abdelsatar", "jarzebowska")
    for table in (ERRATA, ROWS, MUTATED):
        assert set(table) == set(PAPERS)


def test_unknown_papers_are_named() -> None:
    with pytest.raises(UnknownNameError, match="khang"):
        run_paper("kang")
    told = CliRunner().invoke(app, ["paper", "run", "kang"])
    assert told.exit_code == 2
    assert "khang" in told.stderr


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = CliRunner().invoke(app, ["paper", "list", "--json"])
    assert [paper["name"] for paper in json.loads(listed.stdout)] == [paper.name for paper in papers()]
    assert CliRunner().invoke(app, ["paper", "list"]).exit_code == 0
    monkeypatch.setattr("manipula.papers.run.run_paper", lambda name: reproduced(name))
    args = ["paper", "run", "khang", "-o", str(tmp_path)]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "khang.html").exists()
    assert "Errata" in done.stdout
    again = CliRunner().invoke(app, args)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    plain = json.loads(CliRunner().invoke(app, [*args, "--force", "--json"]).stdout)
    assert plain["passed"] is True
    assert sum(len(part["rows"]) for part in plain["sections"]) == len(list(reproduced("khang").rows))


def test_a_paper_that_differs_ends_with_exit_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    found = reproduced("khang")
    wrong = CheckedRow("height of the moon", "2", 1.0, 0.1, "1")
    broken = replace(found, sections=(*found.sections, replace(found.sections[0], title="Moon", rows=(wrong,))))
    monkeypatch.setattr("manipula.papers.run.run_paper", lambda name: broken)
    done = CliRunner().invoke(app, ["paper", "run", "khang", "-o", str(tmp_path)])
    assert done.exit_code == 1
    assert "height of the moon: 2 instead of 1" in done.stdout


@pytest.mark.parametrize("name", PAPERS)
def test_what_a_run_says_is_plain_data(name: str) -> None:
    text = json.dumps(reproduced(name).plain(), allow_nan=False)
    assert np.isfinite(json.loads(text)["seconds"])

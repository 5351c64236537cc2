"""What is printed reads back as the same expression; pages open without a network; hostile names stay harmless."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sympy

from manipula.algebra.expression import FormulaLimits, parse
from manipula.errors import UnknownNameError
from manipula.formats.dh import from_dh
from manipula.formats.load import load
from manipula.formats.planar import planar
from manipula.physics import newton_euler
from manipula.robot.friction.coulomb import Coulomb
from manipula.robot.robot import Robot
from manipula.symbolic.equations import Equations, equations
from manipula.symbolic.names import latex_name
from manipula.symbolic.render import FORMATS, render
from manipula.symbolic.writers.base import decimal
from symbolic.arms import S, puma560, random_dh, random_tree, scara, two_link

ROUNDOFF = 1e-11  # decimals are printed with all their digits; sums of some hundred terms
GENEROUS = FormulaLimits(
    characters=200_000, nodes=50_000, depth=200
)  # equations are longer than what files may contain
RNG = np.random.default_rng(11)
ROBOTS = [
    scara(),
    two_link(),
    random_dh(RNG, 3, True, "standard"),
    random_tree(RNG, 4, False),
    planar([0.5] * 10, [1.5] * 10),
]


def _lines(text: str) -> list[tuple[str, str]]:
    return [tuple(line.split(" = ", 1)) for line in text.splitlines() if line and not line.startswith("#")]  # pyright: ignore


def _read_back(eq: Equations, formula: str, known: dict[str, float]) -> float:
    """The value of a printed formula; short names are explained by the header of the same text."""
    values = dict(known)
    expression = parse(formula, limits=GENEROUS)
    missing = [name for name in expression.names if name not in values]
    assert not missing, missing
    return float(expression.evaluate(values))


def _table(eq: Equations, text: str, state: dict[str, float]) -> dict[str, float]:
    """Values of the abbreviations that the header of a text explains."""
    known = dict(state)
    for line in text.splitlines():
        if re.match(r"# [cs]\d", line):
            for part in line[2:].split(", "):
                name, meaning = part.split(" = ")
                known[name] = float(parse(meaning).evaluate(state))
    return known


def _values(eq: Equations) -> dict[str, float]:
    rng = np.random.default_rng(5)
    names = [*map(str, eq.names.q), *map(str, eq.names.qd), *map(str, eq.names.qdd), *eq.robot.parameters]
    return {name: float(v) for name, v in zip(names, rng.uniform(0.3, 1.7, size=len(names)))}


PRINTED = [
    pytest.param(r, level, id=f"{r.name}-{r.n}-{level}")
    for r in ROBOTS
    for level in ("raw", "compact", "lumped", "base", "recursive")
    if level != "raw" or r.n <= 9  # a planar arm of ten joints has too many terms without sums of angles
]


@pytest.mark.parametrize(("robot", "level"), PRINTED)
def test_printed_text_reads_back(robot: Robot, level: str) -> None:
    eq = equations(robot, level)  # pyright: ignore[reportArgumentType]
    state, text = _values(eq), eq.text()
    known = _table(eq, text, state)
    for label, formula in _lines(text):
        known[label] = _read_back(eq, formula, known)
    parameters = {name: state[name] for name in robot.parameters}
    numeric = robot.with_parameters(**parameters) if parameters else robot
    q, qd, qdd = (np.array([state[str(x)] for x in symbols]) for symbols in (eq.names.q, eq.names.qd, eq.names.qdd))
    expected = newton_euler.inverse_dynamics(numeric, q, qd, qdd)
    for i in range(robot.n):
        assert known[f"tau{i + 1}"] == pytest.approx(float(expected[i]), rel=ROUNDOFF, abs=ROUNDOFF)


def test_printed_text_is_the_expression_symbol_by_symbol() -> None:
    eq = equations(scara())
    text = eq.text("M,g,h")
    table = {name: parse(m).to_sympy() for name, m in (part.split(" = ") for line in text.splitlines()
             if re.match(r"# [cs]\d", line) for part in line[2:].split(", "))}  # fmt: skip
    formulas = {
        label: parse(f).to_sympy().xreplace({S(n): v for n, v in table.items()})
        for label, f in _lines(text)
        if f != "0"
    }
    for i in range(4):
        assert sympy.expand(formulas.get(f"h{i + 1}", sympy.Integer(0)) - eq.h[i]) == 0
        for j in range(i, 4):
            assert sympy.expand(formulas.get(f"M{i + 1}{j + 1}", sympy.Integer(0)) - eq.M[i, j]) == 0
    assert sympy.expand(formulas["g4"] - eq.g[3]) == 0


def test_papers_notation() -> None:
    text = equations(scara()).text()
    assert "tau1 = M11*ddq1 + M12*ddq2 + M13*ddq3 - a1*(l2*m2 + a2*(m3 + m4))*s2*dq2*(2*dq1 + dq2)" in text
    assert "M14 = 0" in text
    assert "c23 = cos(q2 + q3)" in text


def test_only_what_was_asked_for() -> None:
    text = render(equations(two_link()), only="g")
    assert [label for label, _ in _lines(text)] == ["g1", "g2"]
    with pytest.raises(UnknownNameError, match="part of the equations named 'gravity'"):
        render(equations(two_link()), only="gravity")
    with pytest.raises(UnknownNameError, match="Did you mean 'latex'"):
        render(equations(two_link()), format="latx")
    for part in ("T", "V", "C", "friction", "pose", "jacobian"):
        assert _lines(render(equations(two_link()), only=part))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("robot", [scara(), ROBOTS[2]], ids=lambda r: r.name)
def test_every_format_writes_every_part(robot: Robot, format: str) -> None:
    text = render(
        equations(robot), format=format, only=["M", "C", "h", "g", "tau", "T", "V", "friction", "pose", "jacobian"]
    )
    assert len(text) > 500


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("level", ["raw", "compact", "lumped", "base", "recursive"])
def test_friction_is_written_beside_constants_of_every_level(format: str, level: str) -> None:
    robot = planar([S("l1"), S("l2")], [S("m1"), S("m2")])
    robot = robot.replace(joints=[dataclasses.replace(j, friction=Coulomb(0.5, damping=S("b1"))) for j in robot.joints])
    text = render(equations(robot, level=level), format=format, only=["tau", "friction"])
    assert "tanh" in text
    assert re.search("b(_|_{|</mi><mn>)?[1₁]", text)  # the damping of the law


def test_latex_is_balanced_aligned_and_broken_into_lines() -> None:
    text = equations(puma560(), inertia="symbolic").latex("M")
    assert text.count("{") == text.count("}")
    assert text.count(r"\left(") == text.count(r"\right)")
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}") == 1
    rows = text.split("\\\\\n")
    assert len(rows) > 100
    assert max(len(re.sub(r"\\[a-z]+|[{}_^ ,]", "", row)) for row in rows) < 400


def test_html_is_one_well_formed_page_without_a_network() -> None:
    page = equations(scara()).html()
    assert "http" not in page
    assert "<script" not in page
    body = page[page.index("<body>") : page.index("</body>") + 7]
    tree = ET.fromstring(body.replace("<br>", "<br/>"))
    assert len(tree.findall(".//math")) > 40
    assert r"\ddot{q}_{1}" in page


def test_json_is_complete() -> None:
    document = json.loads(equations(scara(), "lumped").json())
    assert document["variables"][3] == {"name": "q4", "joint": "joint4", "unit": "m"}
    assert document["abbreviations"]["c23"] == "cos(q2 + q3)"
    titles = [s["title"] for s in document["sections"]]
    assert titles[0] == "Constants"
    assert document["sections"][1]["formulas"]["M44"] == "m4"
    assert all(s["operations"] >= 0 for s in document["sections"])


def test_hostile_names_stay_text() -> None:
    rows = [{"a": sympy.Symbol("x</math><script>"), "mass": sympy.Symbol("m%&_$"), "name": "<b>joint</b>"}]
    eq = equations(from_dh(rows, "standard", gravity=(0, -1, 0), name="<img src=x>"))
    page = eq.html()
    assert "<script>" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "%" not in eq.latex().split("\n", 2)[2].replace("% ", "")


def test_names_in_latex() -> None:
    assert latex_name("m1") == "m_{1}"
    assert latex_name("I1z") == "I_{1z}"
    assert latex_name("alpha2") == r"\alpha_{2}"
    assert latex_name("M1_10") == "M_{1,10}"
    assert latex_name("Ixx3") == "I_{xx,3}"


def test_decimals_read_back() -> None:
    for value in (0.1, 1e-7, 123456.789, 2.0, 1 / 3):
        assert float(decimal(value)) == value


def test_text_for_people_has_no_tails_of_rounding() -> None:
    """Catalog inertias are moved to other points in floating point: 3.9383190479999994 is 3.938319048 to whoever reads it, and exact inside."""
    found = equations(load("stanford"))
    numbers = re.findall(r"\d+\.\d+", found.text(only="M"))
    assert max(len(number.replace(".", "").lstrip("0")) for number in numbers) <= 15
    assert "3.938319048 " in found.text(only="M")
    assert "3.938319048 " in found.unicode(only="M")
    assert "3.9383190479999994" in found.text(only="M", digits="exact")
    assert "3.9383190479999994" in found.matlab(only="M")
    assert "3.9383190479999994" in str(found.M[0, 0])

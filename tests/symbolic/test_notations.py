"""Names of the file, MATLAB that Octave computes, LaTeX that fits a page, decimals for people."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy

import manipula as mp
from manipula.errors import DescriptionError, ManipulaError, UnknownNameError
from manipula.formats.dh import from_dh
from manipula.formats.table import from_table, variable_names
from manipula.symbolic.document import SECTIONS
from manipula.symbolic.expression_tree import Atom, Product, Sum, spread_decimals
from manipula.symbolic.names import decimal
from manipula.symbolic.render import FORMATS
from manipula.symbolic.writers.latex import PAGE, visible_width
from symbolic.arms import random_state, scara, two_link

OCTAVE = pytest.mark.skipif(shutil.which("octave-cli") is None, reason="Octave is not installed")
TABLE = json.loads((Path(__file__).parent.parent / "data" / "twoR.json").read_text())["data_txt"]


# Names --------------------------------------------------------------------------------------------------------------


def test_variables_are_called_as_in_the_file() -> None:
    eq = mp.equations(from_table(TABLE, name="2R"), names="joints")
    assert [str(s) for s in (*eq.q, *eq.qd, *eq.qdd)] == ["th1", "th2", "th1d", "th2d", "th1dd", "th2dd"]
    text = eq.text()
    assert "c12 = cos(th1 + th2)" in text
    assert "tau2 = M12*th1dd + M22*th2dd + a1*a2*m2*s2*th1d^2/2 + a2*gc*m2*c12/2" in text
    assert r"\dot{\mathrm{th}}_{1}" in eq.latex("h")
    assert "tḧ₁" in eq.unicode("tau")
    assert "<mover><mi>th</mi>" in eq.html("h")
    renamed = dict(
        zip(
            [*eq.q, *eq.qd, *eq.qdd],
            [*mp.equations(two_link()).q, *mp.equations(two_link()).qd, *mp.equations(two_link()).qdd],
        )
    )
    assert sympy.simplify(eq.tau.xreplace(renamed) - mp.equations(two_link()).tau) == sympy.zeros(2, 1)


def test_names_of_columns_eight_to_ten(tmp_path: Path) -> None:
    file = tmp_path / "arm.txt"
    file.write_text(TABLE.replace("th1dd", "acc1").replace("th1d", "rate1"))
    assert variable_names(file) == [("th1", "rate1", "acc1"), ("th2", "th2d", "th2dd")]
    eq = mp.equations(mp.load(file), names=variable_names(file))
    assert "rate1" in eq.text("h")
    with pytest.raises(DescriptionError, match="13-column"):
        variable_names(tmp_path / "arm.urdf")


@pytest.mark.parametrize(
    ("names", "match"),
    [
        ("joint", "Did you mean 'joints'"),
        (5, "three words"),
        ([("a", "b", "c")], "three words"),
        ([("a", "b", "c"), ("d", "e", 3)], "three words"),
        ([("a", "b", "c"), ("d", "f", "a")], "two things"),
        ([("a1", "b", "c"), ("d", "e", "f")], "two things"),  # a1 is a length
        ([("sin", "b", "c"), ("d", "e", "f")], "cannot be the name"),
        ([("x y", "b", "c"), ("d", "e", "f")], "cannot be the name"),
    ],
)
def test_names_that_cannot_be(names: object, match: str) -> None:
    with pytest.raises(ManipulaError, match=match):
        mp.equations(two_link(), names=names)  # pyright: ignore[reportArgumentType]


def test_a_joint_variable_that_looks_like_an_abbreviation_stays_apart() -> None:
    eq = mp.equations(two_link(), names=[("c1", "c1d", "c1dd"), ("x", "xd", "xdd")])
    assert "cos(c1)" in eq.text("g")
    assert r"\cos(c_{1})" in eq.latex("g")


# MATLAB -------------------------------------------------------------------------------------------------------------


def _octave(folder: Path, lines: list[str]) -> np.ndarray:
    script = folder / "arm.m"
    script.write_text("\n".join(lines))
    command = ["octave-cli", "--no-init-file", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return np.array(done.stdout.split(), float)


@OCTAVE
def test_octave_computes_friction(tmp_path: Path) -> None:
    eq = mp.equations(mp.load("puma560"))
    rates = np.array([0.5, -0.4, 0.3, -0.2, 0.1, -0.05])
    state = [f"{s} = {float(v)!r};" for s, v in zip(eq.qd, rates)]
    found = _octave(tmp_path, [*state, eq.matlab("friction"), "printf('%.17g ', tauf);"])
    expected = [float(f.subs(dict(zip(eq.qd, rates)))) for f in eq.friction]
    assert found == pytest.approx(expected, rel=1e-13)


def test_friction_is_a_torque_in_every_notation() -> None:
    eq = mp.equations(mp.load("planar-2r"))
    assert r"\tau_{f,1} &=" in eq.latex("friction")
    assert "<msub><mi>τ</mi><mn>f,1</mn></msub>" in eq.html("friction")
    assert "τ_f₁ =" in eq.unicode("friction")
    assert "tauf1 =" in eq.text("friction")  # as it is parsed and in MATLAB


def test_labels_do_not_overwrite_parameters() -> None:
    rows = [{"a": sympy.Symbol("x"), "mass": sympy.Symbol("T"), "com": (-sympy.Symbol("M"), 0, 0)}]
    script = mp.equations(from_dh(rows, "standard", gravity=(0, -9.81, 0))).matlab("all")
    assigned = [line.split(" = ")[0] for line in script.splitlines() if line.endswith(";")]
    assert len(assigned) == len(set(assigned))
    assert not {"x", "T", "M", "q1"} & set(assigned)


@OCTAVE
def test_octave_computes_the_numbers_of_the_model(tmp_path: Path) -> None:
    """Every part of the arm of Khang and Trung in one script. One of its parameters is called g, so that the vector g is not."""
    robot = mp.load("scara-khang", symbolic=True)
    eq = mp.equations(robot)
    q, qd, qdd = random_state(np.random.default_rng(6), 4)
    state = [
        f"{s} = {float(v)!r};"
        for symbols, part in zip((eq.q, eq.qd, eq.qdd), (q, qd, qdd))
        for s, v in zip(symbols, part)
    ]
    values = [f"{name} = {value!r};" for name, value in robot.values]
    shown = "printf('%.17g ', [M(:)', C(:)', h', g1, g2, g3, g4, tau', T, V, T4(:)', vC3', Ek1+Ek2+Ek3+Ek4, Ep1+Ep2+Ep3+Ep4]);"
    found = _octave(tmp_path, [*state, *values, eq.matlab("all"), shown])
    model = mp.compile(robot.numeric)
    link = robot.links[3].name
    kinetic, potential = float(model.kinetic_energy(q, qd)), float(model.potential_energy(q))
    expected = np.concatenate([
        model.mass_matrix(q).ravel(order="F"), model.coriolis_matrix(q, qd).ravel(order="F"), model.bias(q, qd), model.gravity(q),
        model.inverse_dynamics(q, qd, qdd), [kinetic, potential], model.pose(q, link).ravel(order="F"),
    ])  # fmt: skip
    assert np.abs(found[: len(expected)] - expected).max() < 1e-12
    assert found[-2:] == pytest.approx([kinetic, potential], rel=1e-12)


def test_names_that_matlab_does_not_take_are_refused() -> None:
    for name in ("end", "_a", "größe"):
        eq = mp.equations(from_dh([{"a": sympy.Symbol(name), "mass": 1.0}], "standard", gravity=(0, -1, 0)))
        with pytest.raises(DescriptionError, match="cannot be a variable in MATLAB"):
            eq.matlab("pose")


# LaTeX --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("robot", "only"), [("puma560", "M,poses,U,christoffel"), ("scara-khang", "all"), ("abdelsatar-2r", "all")]
)
def test_latex_fits_a_page(robot: str, only: str) -> None:
    """No line is wider than the page, environments and brackets are closed, every c and s is defined."""
    symbolic = robot == "scara-khang"
    text = mp.equations(mp.load(robot, symbolic=symbolic)).latex(only)
    lines = [
        line
        for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, re.S)
        for line in block.split("\\\\\n")
    ]
    assert len(lines) > 20
    assert max(visible_width(line) for line in lines if "bmatrix" not in line) < PAGE + 1
    for opening, closing in (("{", "}"), ("bigl(", "bigr)"), ("Bigl(", "Bigr)"), (r"\begin{", r"\end{"), ("(", ")")):
        assert text.count(opening) == text.count(closing), opening
    defined = set(re.findall(r"\$([cs]_\{\d+\}) = \\(?:cos|sin)\(", text))
    assert set(re.findall(r"(?<![A-Za-z\\])[cs]_\{\d+\}", text)) == defined


def test_a_standalone_document_is_whole() -> None:
    text = mp.equations(scara()).latex("M,U,energies", standalone=True)
    assert text.startswith(r"\documentclass")
    assert text.rstrip().endswith(r"\end{document}")
    assert text.count(r"\section*{") == text.count(r"\begin{align*}") == 3
    with pytest.raises(DescriptionError, match="standalone"):
        mp.symbolic.render.render(mp.equations(scara()), "text", standalone=True)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_pdflatex_compiles_hostile_names(tmp_path: Path) -> None:
    rows = [{"a": sympy.Symbol("m%&_$θ"), "mass": 1.0, "name": r"<b>\joint{1}^~ü漢"}]
    robot = from_dh(rows, "standard", gravity=(0, -9.81, 0), name=r"50% & #1 \input{x}")
    (tmp_path / "a.tex").write_text(mp.equations(robot).latex("all", standalone=True))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout


# Decimals -----------------------------------------------------------------------------------------------------------


def test_decimals_are_short_and_read_back() -> None:
    assert decimal(0.35) == "0.35"
    assert decimal(0.1 + 0.2) == "0.30000000000000004"
    assert decimal(0.1 + 0.2, 6) == "0.3"
    assert decimal(1 / 3, 6) == "0.333333"
    assert decimal(2.0) == "2"
    rng = np.random.default_rng(0)
    for value in rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50):
        assert float(decimal(float(value))) == value


def test_lengths_are_written_as_the_file_states_them() -> None:
    eq = mp.equations(mp.load("scara-khang"))
    assert "x = 0.35*c1 + 0.25*c12 + 0.1*c123\n" in eq.text("pose")
    assert "34999" not in "".join(getattr(eq, format)("all") for format in FORMATS)
    assert "M_{11} &= 1.67083 + 1.18125" in eq.latex("M")
    assert "Decimals are rounded to 6 significant digits." in eq.latex("M")
    assert "1.6708333333333334" in eq.latex("M", digits="exact")
    assert "rounded" not in eq.latex("M", digits="exact")
    assert "<mn>1.67083</mn>" in eq.html("M")
    assert "M11 = 1.671 + " in eq.text("M", digits=4)
    assert float(eq.M[3, 3]) == 2.0
    assert eq.M[0, 0].subs({eq.q[1]: 0, eq.q[2]: 0}) == pytest.approx(
        1.6708333333333334 + 1.18125 + 0.245 + 0.175, rel=1e-15
    )


def test_multiplying_out_changes_no_value() -> None:
    from fractions import Fraction

    a, b, c = Atom("a"), Atom("b"), Atom("c")
    bracket = Sum((Product(7, ((a, 1),)), b))
    assert spread_decimals(Product(Fraction(1, 20), ((bracket, 1),))) == Sum(
        (Product(0.35, ((a, 1),)), Product(0.05, ((b, 1),)))
    )
    kept = Product(Fraction(1, 3), ((bracket, 1),))
    assert spread_decimals(kept) == kept
    negative = spread_decimals(Product(Fraction(-1, 20), ((c, 1), (bracket, 1))))
    assert negative == Product(-1, ((c, 1), (Sum((Product(0.35, ((a, 1),)), Product(0.05, ((b, 1),)))), 1)))


@pytest.mark.parametrize("digits", [0, 18, 2.5, "six", True])
def test_digits_that_cannot_be(digits: object) -> None:
    with pytest.raises(ManipulaError, match="digits"):
        mp.equations(two_link()).text(digits=digits)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("level", ["compact", "lumped", "base", "recursive"])
def test_every_part_in_every_notation_at_every_level(level: str) -> None:
    eq = mp.equations(two_link(), level)  # pyright: ignore[reportArgumentType]
    for format in FORMATS:
        text = getattr(eq, format)("all")
        assert "omega" in text or "ω" in text
    shown = json.loads(eq.json("all"))["sections"]
    missing = 7 if level == "recursive" else 0  # M C h g T V and Christoffel symbols are parts of the other levels
    assert (
        len([s for s in shown if s["title"] not in ("Constants", "Assignments, in order")]) == len(SECTIONS) - missing
    )
    labels = [label for s in shown for label in s["formulas"]]
    assert len(labels) == len(
        set(labels)
    )  # p1 is a constant of level "lumped", so the origin of link 1 is called otherwise


def test_unknown_parts_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'poses'"):
        mp.equations(two_link()).text("posess")


def test_no_environment_of_a_long_document_is_longer_than_tex_holds() -> None:
    text = mp.equations(mp.load("puma560"), inertia="symbolic").latex("C", standalone=True)
    environments = re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, re.S)
    assert len(environments) > 3
    assert max(part.count("\\\\\n") for part in environments) < 400  # 7000 rows in one exceed its memory
    assert not any(part.endswith("\\\\") for part in environments)
    assert len(re.findall(r"^C_\{\d+\} &=", text, re.M)) == 36

"""Formulas that would make giants are refused before the giant exists, however the text hides it."""

from __future__ import annotations

import pickle

import pytest
import sympy

import manipula as mp
from manipula.algebra.expression import parse, scalar
from manipula.algebra.symbols import substitute
from manipula.errors import DescriptionError
from manipula.formats.table import from_table
from manipula.formats.toml import from_toml, to_toml
from manipula.formats.toml.formula_text import formula_text
from quickly import quickly

GIANTS = [
    "9^(9^9+0*y)", "exp(exp(exp(exp(3+0*x))))", "9^(9^9+b-b)", "2^(2^(2^(2^(x-x+5))))", "(1e300*x)^60", "x*1e300*1e300*1e300",
    "acos(2+x-x)+y", "log(x-x)", "sqrt(x-x-1)+y", "1/(x-x)", "(0-1)^(x-x+0.5)", "((x^64)^64)^64",
]  # fmt: skip


@pytest.mark.parametrize("text", GIANTS)
def test_what_cancels_is_bounded_too(text):
    with quickly(), pytest.raises(DescriptionError):
        scalar(text)


NESTS = [
    "tanh(" * 30 + "12 - x" + ")" * 30, "(" * 21 + "x" + ")^1.5" * 21, "floor(cosh(sign(m)^64))", "max(" + ",".join("abcdefghijkl") + ")",
    "atan2(-((y*5.17 + 2.8)^64), sinh(exp(floor(1e154) + y^2)))", "sqrt(1+" * 40 + "2" + ")" * 40 + "+x", "sqrt(1+" * 40 + "x" + ")" * 40,
    "max(" * 15 + "x" + ",y)" * 15, "+".join(f"abs(x{i}*sin(y{i}))" for i in range(30)),
    *(form % "x^4.2363148202102" for form in ("1/(sinh(%s)+1)", "(cosh(%s)*y)^0.5", "(tanh(%s)^2)^1.5", "sqrt(y + sinh(sinh(%s)))")),
]  # fmt: skip


@pytest.mark.parametrize("text", NESTS, ids=[t[:20] for t in NESTS])
def test_nests_are_read_quickly_or_refused(text):
    with quickly():
        try:
            found = scalar(text)
        except DescriptionError:
            return
    assert scalar(formula_text(found)) == found


@pytest.mark.parametrize("name", ["sinh", "cosh", "tanh"])
def test_hyperbolic_functions_are_those_of_sympy(name):
    found, outside = scalar(f"{name}(2*x)"), getattr(sympy, name)(2 * sympy.Symbol("x"))
    for value in (-1.3, 0.0, 0.4):
        for a, b in (
            (found, outside),
            (found.diff("x"), outside.diff("x")),
            (found.diff("x", 2), outside.diff("x", 2)),
        ):
            assert float(a.subs("x", value)) == pytest.approx(float(b.subs("x", value)), rel=1e-14)
    assert (str(found), sympy.latex(found)) == (str(outside), sympy.latex(outside))
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301


def test_a_power_of_a_sum_that_is_accepted_is_read_back():
    found = scalar("(a*b - 2 - 1e-300)^64")
    assert scalar(formula_text(found)) == found


def test_a_file_of_formulas_costs_no_more_than_one():
    row = f'[[dh.rows]]\na = "{"sin(" * 40}x{")" * 40}"\n'
    with quickly(), pytest.raises(DescriptionError, match="work"):
        from_toml('[dh]\nconvention = "standard"\n' + row * 400)
    line = f"{'sin(' * 40}x{')' * 40},0,0,th%d,0,[0 0 0;0 0 0;0 0 0],[0;0;0;1],th%d,v%d,w%d,1,%s\n"
    table = "".join(line % (i, i, i, i, "[0;0;0],300" if i == 0 else "0,0") for i in range(300))
    with quickly(), pytest.raises(DescriptionError, match="work"):
        from_table(table)


def test_parameters_put_into_each_other_stay_bounded():
    chain = "".join(f'p{i} = "sin(p{i + 1}) + cos(p{i + 1})"\n' for i in range(40))
    with quickly(), pytest.raises(DescriptionError):
        from_toml(f'free = ["p40"]\n[parameters]\n{chain}\n[dh]\nconvention = "standard"\n[[dh.rows]]\na = "p0"\n')
    order = "".join(f'c{i} = "c{i + 1} + 1"\n' for i in range(3000)) + "c3000 = 1\n"
    with quickly():
        robot = from_toml(f'[parameters]\n{order}\n[dh]\nconvention = "standard"\n[[dh.rows]]\na = "c0"\n')
    assert robot.links[0].frame.translation[0] == 3001.0


def test_values_put_in_are_bounded():
    tower = scalar("exp(exp(exp(x)))*y")
    with quickly(), pytest.raises(DescriptionError):
        substitute(tower, {"x": 50.0})
    with quickly(), pytest.raises(DescriptionError):
        substitute(tower, {"x": 50.0, "y": 1.0})
    with quickly(), pytest.raises(DescriptionError):
        parse("b^(b^b)").evaluate({"b": 9})  # whole numbers of Python grow without end
    assert substitute(scalar("x*y^2"), {"x": 0.5}) == scalar("y^2/2")


ORIGIN = """[[link]]
name = "base"
[[link]]
name = "hand"
mass = "m2"
com = ["-a/2", 0.1, 0]
inertia = ["m2*a^2/3", "m2*a^2/3", 0.001]
inertia_about = "origin"
[[joint]]
name = "j"
type = "revolute"
parent = "base"
child = "hand"
origin = { xyz = ["0.25*a", 0, 0], rpy = [0.3, "phi", 0] }
"""


def test_symbolic_bodies_and_poses_read_back_equal():
    robot = from_toml(ORIGIN)
    again = from_toml(to_toml(robot))
    assert again == robot
    assert hash(again) == hash(robot)


def test_a_decimal_and_its_fraction_are_one_number():
    import sympy

    from manipula import from_dh

    a, m = sympy.symbols("a m")
    rows = [[{"a": a, "mass": m, "com": (c, 0, 0)}] for c in (-0.25 * a**2, -(a**2) / 4)]
    first, second = (from_dh(r, "standard") for r in rows)
    assert first == second
    assert hash(first) == hash(second)
    assert from_toml(to_toml(first)) == first


@pytest.mark.parametrize("text", ["(b^40)^40", "((b^9)^9)^9", "b^(60 + c - c + 9)"])
def test_powers_of_powers_are_bounded(text: str) -> None:
    with pytest.raises(mp.BudgetError, match="at most 64"):
        mp.from_dh([{"a": text, "mass": 1.0}], "standard")

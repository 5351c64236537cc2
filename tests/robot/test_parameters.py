"""Parameters get values, and wrong requests get answers: whatever is passed, one tree of errors and nothing is evaluated."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from manipula.errors import DescriptionError, ManipulaError, UnknownNameError, UnphysicalError
from manipula.formats.planar import planar
from manipula.formats.toml import from_toml
from manipula.model import compile
from manipula.robot.doctor import doctor
from manipula.symbolic.equations import equations


def arm(formula: str = "p"):
    return planar([1.0, formula], [2.0, 1.0])


@pytest.mark.parametrize("value", [
    float("nan"), float("inf"), -float("inf"), 1j, None, [1.0], True, 10**400, sympy.I, sympy.oo, sympy.nan, "", "nan", "1 +", "p.real",
    "10**10**10", "(" * 3000, "lambda: 1",
], ids=lambda v: repr(v)[:20])  # fmt: skip
def test_what_is_no_number_and_no_formula_is_refused(value: Any) -> None:
    with pytest.raises(DescriptionError):
        arm().with_parameters(p=value)


def test_text_is_a_formula_of_our_grammar_and_never_python(tmp_path) -> None:
    witness = tmp_path / "witness"
    with pytest.raises(DescriptionError, match="not allowed"):
        arm().with_parameters(p=f"__import__('pathlib').Path({str(witness)!r}).touch()")
    assert not witness.exists()
    assert arm().with_parameters(p="2*k").parameters == ("k",)
    assert arm().with_parameters(p="sqrt(4)") == planar([1.0, 2.0], [2.0, 1.0])


IMPOSSIBLE = [("1/p", 0.0), ("log(p)", 0.0), ("sqrt(p)", -1.0), ("acos(p)", 2.0), ("p^8", 1e50), ("exp(p)", 1e6)]


@pytest.mark.parametrize(("formula", "value"), IMPOSSIBLE)
def test_values_that_give_no_finite_number_are_named(formula: str, value: float) -> None:
    with pytest.raises(DescriptionError, match="p = "):
        arm(formula).with_parameters(p=value)
    text = f"[parameters]\np = {value}\n[planar]\nlengths = ['{formula}']\nmasses = [1]\n"
    with pytest.raises(DescriptionError, match=r"line 4, planar.lengths\[0\]: .*p = "):
        from_toml(text)


def test_a_mass_stays_a_mass() -> None:
    with pytest.raises(UnphysicalError, match="mass of link 'link1' must be at least 0, found -1"):
        planar([1.0], ["m"]).with_parameters(m=-1.0)
    with pytest.raises(UnphysicalError, match="mass of the payload"):
        planar([1.0], [1.0], payload="m").with_parameters(m=-1.0)


@pytest.mark.parametrize("request_", [doctor, equations, compile])
@pytest.mark.parametrize("robot", [None, "puma560", {}], ids=str)
def test_what_is_no_robot_is_answered_with_load(request_: Any, robot: Any) -> None:
    with pytest.raises(
        DescriptionError,
        match=rf"(takes a Robot|A Robot is needed), found {type(robot).__name__}; read a file with load",
    ):
        request_(robot)


def test_axes_of_a_jacobian_are_base_or_body() -> None:
    robot, q = planar([1.0], [1.0]), [0.3]
    wrong: Any = "world"
    for ask in (
        lambda: compile(robot).jacobian(q, expressed_in=wrong),
        lambda: compile(robot).jacobian_rate(q, q, expressed_in=wrong),
        lambda: equations(robot).jacobian(expressed_in=wrong),
    ):
        with pytest.raises(UnknownNameError, match=r"No choice of axes named 'world'.*base, body"):
            ask()


@pytest.mark.parametrize(
    "lengths", [None, 1.0, "12", (x for x in (1.0, 2.0)), [[1.0], [2.0]], {1.0, 2.0}], ids=lambda v: type(v).__name__
)
def test_lengths_that_are_no_list(lengths: Any) -> None:
    with pytest.raises(ManipulaError, match="lengths"):
        planar(lengths, [1.0, 1.0])

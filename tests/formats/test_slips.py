"""Slips in TOML files: what is wrong is named, on its line, with the word that was probably meant."""

from __future__ import annotations

import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.toml import budget, fields, from_toml

PLANAR = "[planar]\nlengths = [0.4, 0.3]\nmasses = [2.0, 1.5]\n"
TREE = """name = "a"
[[link]]
name = "base"
[[link]]
name = "arm"
mass = 1
[[joint]]
name = "j"
type = "revolute"
parent = "base"
child = "arm"
"""


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (PLANAR.replace("0.3", "-0.3"), 2, "length of a link must be greater than 0, found -0.3"),
        (PLANAR.replace("0.3", "0"), 2, "length of a link must be greater than 0, found 0"),
        (PLANAR.replace("1.5", "-1.5"), 3, "mass of a link must be at least 0, found -1.5"),
        (PLANAR + "inertia = [0.1, -0.1]", 4, "moment of inertia of a link must be at least 0, found -0.1"),
        ("payload = 1\n" + PLANAR.replace("1.5", "0") + "inertia = [0.1, 0.1]", 5, "without mass has no moment"),
        (PLANAR.replace("lengths", "lenghts"), 2, "'lengths' is missing. Did you mean 'lengths' by 'lenghts'?"),
        (PLANAR.replace("planar", "plannar"), 1, "Did you mean 'planar' by 'plannar'?"),
        (TREE.replace('parent = "base"', 'parrent = "base"'), 10, "Did you mean 'parent' by 'parrent'?"),
        (TREE.replace('type = "revolute"', 'typ = "revolute"'), 9, "Did you mean 'type' by 'typ'?"),
        (TREE + 'friction = { law = "viscous", damping_ = 1 }', 12, "Did you mean 'damping'?"),
        (TREE.replace('child = "arm"', ""), 7, "The key 'child' is missing"),
        ("[parameters]\npi = 3\n" + PLANAR.replace("0.4", '"pi"'), 2, "'pi' has a meaning of its own in formulas"),
        ("[parameters]\nsin = 3\n" + PLANAR, 2, "No formula can use the name 'sin'"),
        ('free = ["pi"]\n' + PLANAR.replace("0.4", '"pi"'), 1, "'pi' has a meaning of its own in formulas"),
    ],
)
def test_slips_are_named(text: str, line: int, words: str) -> None:
    with pytest.raises(DescriptionError) as found:
        from_toml(text)
    assert words in str(found.value)
    assert found.value.line == line


def test_a_light_rod_may_carry_a_payload() -> None:
    robot = mp.planar([1.0], [0], com=[1.0], inertia=[0], payload=2.0)
    assert robot.payload is not None
    assert from_toml("payload = 2\n[planar]\nlengths = [1]\nmasses = [0]\n").payload == robot.payload


def test_an_empty_tip_means_none_in_every_form() -> None:
    dh = '[dh]\nconvention = "standard"\n[[dh.rows]]\na = 1\n'
    for text in (PLANAR, TREE, dh):
        assert from_toml(text).tip is not None
        assert from_toml('tip = ""\n' + text).tip is None


def test_constants_of_scenarios_do_not_shadow_the_words_of_formulas(tmp_path) -> None:
    """``pi = 3`` was accepted, and formulas went on with 3.14159."""
    path = tmp_path / "s.toml"
    path.write_text('robot = "planar-2r"\nduration = "2*pi"\nq0 = [0, 0]\n[constants]\npi = 3\n')
    with pytest.raises(DescriptionError, match=r"s\.toml:5, constants\.pi: 'pi' has a meaning of its own"):
        mp.Scenario.load(path)


@pytest.mark.parametrize(("sign", "weight"), budget._WORK.items())
def test_what_takes_long_to_parse_is_counted_first(sign: str, weight: int) -> None:
    with pytest.raises(BudgetError, match="more keys, tables and list entries"):
        from_toml("# " + sign * (budget.MAX_WORK // weight + 1) + "\n" + PLANAR)


def test_many_different_formulas_are_refused_and_equal_ones_read_once() -> None:
    rows = "".join(f'[[dh.rows]]\nd = "{k}/7"\nalpha = "pi/2"\n' for k in range(40))
    document = fields.Document('[dh]\nconvention = "standard"\n' + rows)
    from manipula.formats.toml.reader import robot_from

    assert robot_from(document).n == 40
    assert len(document.formulas) == 41


def test_dotted_words_do_not_slow_the_search_for_nesting() -> None:
    """The pattern looked at every part of a dotted word again: 28 s for four megabytes."""
    pattern = budget._DOTTED.pattern
    assert "++" in pattern
    assert budget._DOTTED.search("a." * 24 + "b = 1") is None
    assert budget._DOTTED.search("x = 1\n" + "a . " * 25 + "b = 1") is not None


def test_commas_between_numbers_of_xml_are_told() -> None:
    text = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
    with pytest.raises(DescriptionError, match=r"found 1\. Numbers are separated by spaces, not commas"):
        mp.from_urdf(
            text + '<origin xyz="0.1,0,0.02"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
        )


def test_words_for_what_is_no_robot_no_path_no_result() -> None:
    for call, words in (
        (lambda: mp.base_parameters(3), "A Robot is needed, found int"),
        (lambda: mp.load(b"x.urdf"), "A path or a catalog name is needed, found bytes"),
        (lambda: mp.plot(None, "tip"), "A Result is needed.*found NoneType"),
        (lambda: mp.plot([1, 2], "compare"), "A Result is needed.*found int"),
    ):
        with pytest.raises(DescriptionError, match=words):
            call()


@pytest.mark.parametrize("tip", ["", 3])
def test_a_tip_without_a_name_is_refused(tip):
    with pytest.raises(DescriptionError, match=r"tip: The tip is the name of a frame or link, found"):
        mp.load("ur5e", tip=tip)


@pytest.mark.parametrize(("formula", "column"), [("1+", 3), ("L1 *", 5), ("2 - -", 6)])
def test_a_formula_that_ends_too_early_tells_where(formula, column):
    with pytest.raises(DescriptionError, match=rf"Column {column}: the formula ends after '.'; a value is missing"):
        mp.from_dh([{"a": formula}], "standard")

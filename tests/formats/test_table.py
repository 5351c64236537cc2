"""The 13-column text table: Abdelsatar's example and its prismatic sibling, MATLAB lists, and back again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

from manipula.errors import DescriptionError
from manipula.formats.matlab_list import bracket_rows, split_fields
from manipula.formats.table import from_table, to_table
from manipula.physics.newton_euler import inverse_dynamics
from strategies import random_state, robots

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "twoR.json").read_text(encoding="utf-8"))
PUBLISHED = 1e-12  # the reference values carry 16 digits of numbers of order ten
CONVERTED = 1e-9  # up to seven joints; frames found by common normals, forces up to hundreds of newtons


def test_published_example_is_read_as_symbols() -> None:
    robot = from_table(REFERENCE["data_txt"])
    a2, m2, gc = sympy.symbols("a2 m2 gc")
    assert robot.joint_names == ("th1", "th2")
    assert robot.parameters == ("a1", "a2", "gc", "m1", "m2")
    assert robot.gravity == (0.0, -gc, 0.0)
    assert robot.links[1].mass == m2
    assert robot.links[1].com == (-a2 / 2, 0.0, 0.0)
    assert robot.links[1].inertia[2][2] == m2 * a2**2 / 12


def test_published_torques() -> None:
    robot = from_table(REFERENCE["data_txt"])
    for case in REFERENCE["cases"]:
        (a1, a2), (m1, m2) = case["a"], case["m"]
        numeric = robot.with_parameters(a1=a1, a2=a2, m1=m1, m2=m2, gc=case["gc"])
        tau = inverse_dynamics(numeric, *(np.array(case[k]) for k in ("q", "qd", "qdd")))
        assert np.abs(tau - case["tau"]).max() < PUBLISHED * max(1.0, np.abs(case["tau"]).max())


def test_prismatic_flag() -> None:
    example = REFERENCE["extra_RP_example"]
    robot = from_table(example["data_txt"])
    assert [j.kind for j in robot.joints] == ["revolute", "prismatic"]
    v = example["numeric"]["values"]
    numeric = robot.with_parameters(**{k: v[k] for k in ("m1", "m2", "J1", "J2", "gc")})
    q, qd, qdd = (np.array([v["th1" + s], v["d2" + s]]) for s in ("", "d", "dd"))
    assert np.abs(inverse_dynamics(numeric, q, qd, qdd) - example["numeric"]["tau"]).max() < PUBLISHED * 20


def test_offsets_stand_beside_the_variable() -> None:
    row = "0,0,0,th1 + pi/2,1,[0 0 0;0 0 0;0 0 0],[1;0;0;1],th1,th1d,th1dd,1,[0;-10;0],1"
    robot = from_table(row)
    assert robot.joints[0].placement.rotation == ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert robot.parameters == ()


def test_comments_blank_lines_and_file_names(tmp_path) -> None:
    path = tmp_path / "arm.txt"
    path.write_text("% my arm\n\n" + REFERENCE["data_txt"].replace("\n", " % first\r\n") + "\n", encoding="utf-8")
    robot = from_table(path)
    assert robot.name == "arm"
    assert robot.replace(name="table") == from_table(REFERENCE["data_txt"])


@pytest.mark.parametrize(("text", "rows"), [
    ("[1 2;3 4]", [["1", "2"], ["3", "4"]]),
    ("[ 0; -gc ; 0 ]", [["0"], ["-gc"], ["0"]]),
    ("[a -b c]", [["a", "-b", "c"]]),
    ("[a - b, c]", [["a - b", "c"]]),
    ("[a-b c]", [["a-b", "c"]]),
    ("[a * b c ^2 d]", [["a * b", "c ^2", "d"]]),
    ("[m*(a + b) 2]", [["m*(a + b)", "2"]]),
    ("[1\t2  3]", [["1", "2", "3"]]),
])  # fmt: skip
def test_matlab_lists(text: str, rows: list[list[str]]) -> None:
    """MATLAB's rule: a sign with a blank before it and none after it starts a new entry."""
    assert bracket_rows(text) == rows


def test_commas_in_brackets_do_not_separate_fields() -> None:
    assert split_fields("a,[1, 2],atan2(y, x),") == ["a", "[1, 2]", "atan2(y, x)", ""]


@pytest.mark.parametrize(("old", "new", "match"), [
    ("m2,", "m2^^2,", r"arm.txt:2, mass, formula 'm2\^\^2'"),
    ("[0; -gc ; 0],2", "[0; -gc ; 0],3", r"arm.txt:1, n: n says '3' joints, but the table has 2 lines"),
    ("th2,m2", "0.3,m2", r"arm.txt:2, theta: A revolute joint moves theta, so theta must contain its variable 'th2'"),
    ("th2dd,1,", "th2dd,2,", r"arm.txt:2, flag: The joint flag is 1 \(revolute\) or 0 \(prismatic\), found '2'"),
    ("m2,[", "th1,[", r"arm.txt:2, mass: 'th1' is a joint variable"),
])  # fmt: skip
def test_messages(old: str, new: str, match: str) -> None:
    assert old in REFERENCE["data_txt"]
    with pytest.raises(DescriptionError, match=match):
        from_table(REFERENCE["data_txt"].replace(old, new), file="arm.txt")


@given(robots(tree=False, drives=False, payload=False))
@settings(max_examples=30, deadline=None)
def test_written_tables_keep_the_robot(robot) -> None:
    again = from_table(to_table(robot))
    assert again.joint_names == robot.joint_names
    assert [(j.limits, j.friction) for j in again.joints] == [(j.limits, j.friction) for j in robot.joints]
    assert set(again.frame_names) >= set(robot.frame_names)
    q, qd, qdd = random_state(np.random.default_rng(7), robot.n)
    expected = inverse_dynamics(robot, q, qd, qdd)
    assert np.abs(inverse_dynamics(again, q, qd, qdd) - expected).max() < CONVERTED * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize(("lines", "match"), [
    ("%! [tool]\n%! xzy = [0, 0, 1]", r"arm.txt:2, tool.xzy: .*Did you mean 'xyz'"),
    ("%! [[joint]]\n%! limits = { lower = 1 }", r"arm.txt:1, joint: One \[\[joint\]\] per line of the table is needed, 2 in all; found 1"),
    ("%! [[frame]]\n%! name = 'f'\n%! row = 7", r"A frame sits on row 1 to 2, or 0 for the base; found 7"),
    ("%! tool", r"arm.txt:1: This is not TOML"),
])  # fmt: skip
def test_messages_of_the_comments_that_are_read(lines: str, match: str) -> None:
    with pytest.raises(DescriptionError, match=match):
        from_table(lines + "\n" + REFERENCE["data_txt"], file="arm.txt")


def test_what_the_table_cannot_hold_is_refused() -> None:
    numeric = from_table(REFERENCE["data_txt"]).with_parameters(a1=1.0, a2=1.0, m1=1.0, m2=1.0, gc=9.81)
    with pytest.raises(DescriptionError, match="no place for a payload"):
        to_table(numeric.replace(payload=1.0))
    with pytest.raises(DescriptionError, match="free parameters"):
        to_table(from_table(REFERENCE["data_txt"]))

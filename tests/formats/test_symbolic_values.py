"""Letters of [parameters] that follow from others keep following them."""

import numpy as np
import pytest

import manipula as mp
from manipula.formats.toml import from_toml, to_toml

TEXT = """
name = "two"
[parameters]
m = 2.0
l = "0.2*m"
half = "l/2"
[dh]
convention = "modified"
rows = [{ a = 0, mass = "m" }, { a = "l", mass = "m", com = ["half", 0, 0] }]
"""


def tip(robot):
    return mp.compile(robot).pose([0.0, 0.0])[0, 3]


def test_a_changed_parameter_changes_what_is_defined_by_it():
    robot = from_toml(TEXT, symbolic=True)
    assert dict(robot.values) == {"m": 2.0, "l": 0.4, "half": 0.2}
    assert tip(robot) == 0.4
    heavier = robot.with_parameters(m=3.0)
    assert tip(heavier) == pytest.approx(0.2 * 3.0, abs=0)
    assert dict(heavier.values)["half"] == 0.2 * 3.0 / 2
    assert heavier.numeric == from_toml(TEXT.replace("m = 2.0", "m = 3.0"))


def test_a_parameter_that_is_given_no_longer_follows():
    robot = from_toml(TEXT, symbolic=True).with_parameters(l=1.0)
    assert tip(robot) == 1.0
    assert dict(robot.values)["half"] == 0.5
    assert tip(robot.with_parameters(m=7.0)) == 1.0


def test_files_keep_the_formulas():
    robot = from_toml(TEXT, symbolic=True)
    text = to_toml(robot)
    assert 'l = "0.2*m"' in text
    again = from_toml(text, symbolic=True)
    assert again == robot
    assert again.values == robot.values
    assert again.definitions == robot.definitions
    assert from_toml(text) == robot.numeric


def test_letters_of_the_paper_follow_its_formulas():
    scara = mp.load("scara-khang", symbolic=True).with_parameters(m1=10.0)
    values = dict(scara.values)
    assert values["I1z"] == pytest.approx(10.0 * 0.35**2 / 12)
    heavy = mp.compile(scara).mass_matrix(np.zeros(4))
    light = mp.compile(mp.load("scara-khang")).mass_matrix(np.zeros(4))
    assert heavy[0, 0] > light[0, 0]


def test_values_stay_with_what_is_selected():
    scara = mp.load("scara-khang", symbolic=True)
    first = scara.joint_names[0]
    held = scara.select(lock={first: 0.1})
    assert mp.compile(held).n == 3
    assert held.values == mp.load("scara-khang", symbolic=True, lock={first: 0.1}).values
    assert mp.compile(held).mass_matrix(np.zeros(3))[0, 0] == pytest.approx(0.6004166666666668)


def test_a_value_that_nothing_needs_any_more_is_not_written():
    only = TEXT.replace('mass = "m"', "mass = 1.0")  # m acts through l alone
    robot = from_toml(only, symbolic=True).with_parameters(l=1.0)
    assert "m" not in dict(robot.values)
    assert from_toml(to_toml(robot), symbolic=True) == robot

"""Accelerations follow from M⁻¹, and a mass matrix may have no digits left for them: two carriages on one rail, of which the lower one weighs next to nothing.

M = [[m₁ + m₂, m₂], [m₂, m₂]], scaled to unit diagonal [[1, ρ], [ρ, 1]] with ρ² = m₂/(m₁ + m₂), so 1/κ = (1 − ρ)/(1 + ρ) ≈ m₁/(4 m₂).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.verdicts.judge import condition, reciprocals

RAIL = """
name = "carriages"
gravity = [0, 0, 0]
tip = "upper"
[[link]]
name = "rail"
[[link]]
name = "lower"
mass = {mass}
inertia = [0, 0, 0]
[[link]]
name = "upper"
mass = 1.0
inertia = [0, 0, 0]
[[joint]]
name = "first"
type = "prismatic"
parent = "rail"
child = "lower"
axis = [1, 0, 0]
[[joint]]
name = "second"
type = "prismatic"
parent = "lower"
child = "upper"
axis = [1, 0, 0]
"""
EPS = float(np.finfo(float).eps)


def carriages(mass: Any) -> mp.Robot:
    return mp.from_toml(RAIL.format(mass=f'"{mass}"' if isinstance(mass, str) else repr(mass)))


def scenario(robot: mp.Robot, **options: Any) -> mp.Scenario:
    usual = {"q0": [0.0, 0.1], "qd0": [1.0, 0.0], "duration": 0.1, "integrator": "rk4", "tolerance": 0.1}
    return mp.Scenario(robot, **{**usual, **options})


def reciprocal(mass: float) -> float:
    rho = 1.0 / np.sqrt(1.0 + mass)
    return float(-np.expm1(-0.5 * np.log1p(mass)) / (1.0 + rho))


@pytest.mark.parametrize("power", [-20, -30, -40, -44])
def test_the_condition_is_that_of_two_carriages(power: int) -> None:
    found = condition(carriages(2.0**power), np.zeros((3, 2)), 1.0)
    assert found == pytest.approx(reciprocal(2.0**power), rel=8 * EPS / 2.0**power)


@pytest.mark.parametrize(
    ("power", "status"),
    [(-42, "finished"), (-44, "finished"), (-46, "singular"), (-48, "singular"), (-51, "singular")],
)
def test_a_singular_mass_matrix_is_told(power: int, status: str) -> None:
    """1/κ is 1.4e-14 for 2⁻⁴⁴ and 3.6e-15 for 2⁻⁴⁶; rounding alone would not exceed this tolerance in either."""
    mass = 2.0**power
    assert (reciprocal(mass) < 1e-14) == (status == "singular")
    given = mp.simulate(scenario(carriages(mass)))
    free = mp.simulate(scenario(carriages("m1"), parameters={"m1": mass}))
    batch = mp.simulate(scenario(carriages("m1"), parameters={"m1": np.array([1.0, mass])}))
    assert given.status == free.status == batch.statuses[1] == status
    assert batch.statuses[0] == "finished"
    if status == "singular":
        assert "at the start" in given.reason
        assert "singular to working precision" in free.reason


@pytest.mark.parametrize(
    ("power", "status"), [(-26, "finished"), (-29, "finished"), (-31, "inaccurate"), (-38, "inaccurate")]
)
def test_what_rounding_leaves_is_held_against_the_tolerance(power: int, status: str) -> None:
    """Digits are lost by κ: 2.2e-16 κ must stay below the tolerance."""
    mass, tolerance = 2.0**power, 1e-6
    assert (EPS / reciprocal(mass) > tolerance) == (status == "inaccurate")
    for options in ({"robot": carriages(mass)}, {"robot": carriages("m1"), "parameters": {"m1": mass}}):
        result = mp.simulate(scenario(**options, tolerance=tolerance))
        assert result.status == status, result.reason
        if status == "inaccurate":
            assert "ill conditioned" in result.reason


def test_a_matrix_that_is_not_positive_has_no_condition() -> None:
    assert reciprocals(np.array([[1.0, 2.0], [2.0, 1.0]])) < 0.0
    assert reciprocals(np.array([[0.0, 0.0], [0.0, 1.0]])) == 0.0

"""Planar n-R arms: what the short form stands for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy

from manipula.errors import DescriptionError
from manipula.formats.planar import planar
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import pose, position
from manipula.physics.newton_euler import gravity
from manipula.robot.friction import Viscous

ROUNDOFF = 1e-13


def test_links_lie_end_to_end_in_the_x_y_plane() -> None:
    lengths = [0.5, 0.4, 0.3]
    robot = planar(lengths, [1.0, 1.0, 1.0])
    q = np.array([0.3, -1.1, 0.8])
    phi = np.cumsum(q)
    assert np.allclose(
        position(robot, q), [*(lengths @ np.array([np.cos(phi), np.sin(phi)]).T), 0.0], rtol=0, atol=ROUNDOFF
    )
    assert np.allclose(pose(robot, q)[:2, 0], [math.cos(phi[2]), math.sin(phi[2])], rtol=0, atol=ROUNDOFF)
    assert robot.gravity == (0.0, -9.81, 0.0)


def test_omitted_centres_and_inertias_are_those_of_uniform_rods() -> None:
    l, m = [0.5, 0.7], [2.0, 3.0]
    rods = planar(l, m, [0.25, 0.35], [2.0 * 0.25 / 12, 3.0 * 0.49 / 12])
    short = planar(l, m)
    q = np.array([0.4, 0.9])
    assert np.allclose(mass_matrix(short, q), mass_matrix(rods, q), rtol=0, atol=ROUNDOFF)
    assert abs(mass_matrix(planar([0.6], [1.5]), [0.0])[0, 0] - 1.5 * 0.36 / 3) <= ROUNDOFF  # a rod about its end


def test_payload_is_a_point_mass_at_the_tip() -> None:
    q = np.array([0.2, -0.6])
    bare, loaded = planar([0.5, 0.4], [1.0, 1.0]), planar([0.5, 0.4], [1.0, 1.0], payload=2.0)
    x, y, _ = position(bare, q)
    assert np.allclose(
        mass_matrix(loaded, q)[0, 0] - mass_matrix(bare, q)[0, 0], 2.0 * (x * x + y * y), rtol=0, atol=ROUNDOFF
    )
    assert np.allclose(gravity(loaded, q)[0] - gravity(bare, q)[0], 2.0 * 9.81 * x, rtol=0, atol=10 * ROUNDOFF)
    assert planar([1.0], [1.0], payload=0.0).payload is None


def test_damping_for_all_joints_or_for_each() -> None:
    assert [j.friction for j in planar([1.0, 1.0], [1.0, 1.0], damping=0.3).joints] == [Viscous(0.3)] * 2
    each = planar([1.0, 1.0], [1.0, 1.0], damping=[0.0, 0.2])
    assert [j.friction for j in each.joints] == [None, Viscous(0.2)]
    assert planar([1.0], [1.0], damping=np.array([0.1])).joints[0].friction == Viscous(0.1)


def test_symbols_and_formulas() -> None:
    robot = planar(["l1", sympy.Symbol("l2")], ["m", "m"], payload="mp", damping="b")
    assert robot.parameters == ("b", "l1", "l2", "m", "mp")
    numeric = robot.with_parameters(l1=0.5, l2=0.4, m=2.0, mp=1.0, b=0.1)
    plain = planar([0.5, 0.4], [2.0, 2.0], payload=1.0, damping=0.1)
    q = np.array([0.7, -0.3])
    assert np.allclose(mass_matrix(numeric, q), mass_matrix(plain, q), rtol=0, atol=ROUNDOFF)
    assert numeric.joints[0].friction == plain.joints[0].friction


def test_arrays_are_accepted() -> None:
    assert planar(np.array([0.5, 0.4]), np.array([1, 2])) == planar([0.5, 0.4], [1.0, 2.0])


@pytest.mark.parametrize("field", ["masses", "com", "inertia", "damping"])
def test_wrong_number_of_entries(field: str) -> None:
    arguments: dict[str, Any] = {"lengths": [1.0, 1.0], "masses": [1.0, 1.0], field: [1.0, 1.0, 1.0]}
    with pytest.raises(DescriptionError, match=rf"{field}: 2 entries are needed, one per link; found 3"):
        planar(**arguments)


@pytest.mark.parametrize("field", ["lengths", "masses", "com", "inertia", "damping"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, 1j, "__import__('os')", [1.0], "nan", object(), True])
def test_what_is_not_a_number_is_refused_with_its_place(field: str, value: Any) -> None:
    arguments: dict[str, Any] = {"lengths": [1.0, 1.0], "masses": [1.0, 1.0], field: [1.0, value]}
    with pytest.raises(DescriptionError, match=rf"{field}\[1\]"):
        planar(**arguments)


def test_impossible_arms() -> None:
    with pytest.raises(DescriptionError, match="at least one link"):
        planar([], [])
    with pytest.raises(DescriptionError, match="at least 0, found -1"):
        planar([1.0], [-1.0])
    with pytest.raises(DescriptionError, match="payload"):
        planar([1.0], [1.0], payload=math.nan)

"""The small problems under the closed forms, on numbers: identities and constructed answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manipula.ik.closed_form.geometry import Axis, Relations
from manipula.ik.closed_form.quartic import solve_quartic, solve_trigonometric_quartic
from manipula.ik.closed_form.subproblems import (
    cos_sin_of,
    direction,
    rotate,
    rotate_back,
    solve_quadratic,
    solve_trigonometric,
    turn_both,
    turn_onto,
    turn_to_distance,
    turn_to_plane,
)

ROUNDING = 1e-13
POLISHED = 1e-9  # roots of degree four that are 0.1 apart


def _unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _near(angle: float, turns) -> float:
    return min(abs(math.remainder(float(t.angle()) - angle, 2 * math.pi)) for t in turns if not math.isnan(t.c))


@pytest.mark.parametrize("seed", range(20))
def test_angles_are_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, p, h = _unit(rng), rng.normal(size=3), rng.normal(size=3)
    angle = rng.uniform(-math.pi, math.pi)
    q = rotate(k, cos_sin_of(angle), p)
    np.testing.assert_allclose(rotate_back(k, cos_sin_of(angle), q), p, atol=ROUNDING)
    assert _near(angle, [turn_onto(k, p, q)]) < ROUNDING
    assert _near(angle, turn_to_plane(h, k, p, float(h @ q))) < 1e-6
    assert _near(angle, turn_to_distance(k, p, h, float((q - h) @ (q - h)))) < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_two_rotations_are_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k1, k2, q = _unit(rng), _unit(rng), rng.normal(size=3)
    a, b = rng.uniform(-3, 3, 2)
    p = rotate_back(k1, cos_sin_of(a), rotate(k2, cos_sin_of(b), q))
    found = turn_both(k1, p, k2, q)
    for t1, t2 in found:
        np.testing.assert_allclose(rotate(k1, t1, p), rotate(k2, t2, q), atol=1e-12)
    assert min(_near(a, [t1]) + _near(b, [t2]) for t1, t2 in found) < 1e-6


@pytest.mark.parametrize("lateral", [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-4])
def test_two_rotations_next_to_the_singularity(lateral: float) -> None:
    """p almost on k₁: the answer must not lose half of its digits."""
    k1, k2 = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    p = np.array([lateral, 0.0, math.sqrt(1.0 - lateral * lateral)])
    q = np.array([1.0, 0.0, 0.0])
    (t1, t2), _ = turn_both(k1, p, k2, q)
    np.testing.assert_allclose(rotate(k1, t1, p), rotate(k2, t2, q), atol=1e-14)


def test_no_solution_gives_the_nearest_and_one_only() -> None:
    first, second = solve_trigonometric(1.0, 0.0, 2.0)
    assert first == pytest.approx((1.0, 0.0))
    assert math.isnan(second.c)
    first, second = solve_quadratic(1.0, 0.0, 1.0)
    assert first == 0.0
    assert math.isnan(second)
    assert direction(0.0, 0.0) == (1.0, 0.0)


@pytest.mark.parametrize("seed", range(30))
def test_quartic_with_chosen_roots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real = [4, 2, 0][seed % 3]
    roots = np.sort(rng.choice(np.arange(-2.0, 2.0, 0.1), real, replace=False)) if real else np.empty(0)
    pairs = [complex(rng.uniform(-1, 1), rng.uniform(0.2, 1)) for _ in range((4 - real) // 2)]
    coefficients = np.real(np.poly([*roots, *pairs, *np.conj(pairs)])) * rng.uniform(0.5, 2)
    found = np.array([x for x in solve_quartic(*coefficients.tolist()) if not math.isnan(x)])
    assert len(found) == real
    np.testing.assert_allclose(np.sort(found), roots, atol=1e-6)


@pytest.mark.parametrize(
    "coefficients", [(1, 0, -5, 0, 4), (1, 0, -2, 0, 1), (1, 0, 0, 0, -1), (2, 0, 0, 0, 0), (1, -4, 6, -4, 1)]
)
def test_quartic_of_special_form(coefficients: tuple[int, ...]) -> None:
    """Biquadratic, double, and fourfold roots."""
    expected = np.roots(coefficients)
    expected = np.unique(np.round(expected[np.abs(expected.imag) < 1e-3].real, 3))
    found = [x for x in solve_quartic(*(float(c) for c in coefficients)) if not math.isnan(x)]
    np.testing.assert_allclose(np.unique(np.round(found, 3)), expected, atol=2e-3)


@pytest.mark.parametrize("seed", range(30))
def test_trigonometric_quartic_against_the_companion_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f0, a1, b1, a2, b2 = rng.normal(size=5)
    z = np.roots([a2 - 1j * b2, a1 - 1j * b1, 2 * f0, a1 + 1j * b1, a2 + 1j * b2])
    expected = np.sort(np.angle(z[np.abs(np.abs(z) - 1) < 1e-7]))
    found = solve_trigonometric_quartic((f0, a1, b1, a2, b2))
    angles = np.sort([float(t.angle()) for t in found if not math.isnan(t.c)])
    np.testing.assert_allclose(angles, expected, atol=POLISHED)


def test_relations_of_lines() -> None:
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    a, b = Axis(True, z, np.zeros(3)), Axis(True, -z, np.array([0.3, 0.0, 5.0]))
    c = Axis(True, x, np.array([7.0, 0.0, 0.25]))
    relations = Relations(1.0, 1e-6)
    assert relations.parallel(a, b)
    assert not relations.parallel(a, c)
    assert relations.perpendicular(a, c)
    meeting = relations.meeting_point(a, c)
    assert meeting is not None
    np.testing.assert_allclose(meeting, [0.0, 0.0, 0.25], atol=1e-12)
    assert relations.meeting_point(a, b) is None
    assert relations.meeting_point(b, Axis(True, x, np.array([0.0, 0.2, 0.0]))) is None
    assert relations.deviation == 0.0

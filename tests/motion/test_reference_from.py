"""References from logs: against dense linear algebra, known motions under known noise, and in runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BSpline

import manipula as mp

NOISE = 1e-3


def motion(t: np.ndarray, order: int = 0) -> np.ndarray:
    """Two joints that swing, and their derivatives."""
    return np.stack([a * w**order * np.sin(w * t + order * np.pi / 2) for a, w in ((0.8, 5.0), (0.3, 2.0))], axis=-1)


def log(count: int = 400, seed: int = 0, uniform: bool = True) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 3.0, count)
    if not uniform:
        t[1:-1] += rng.uniform(-0.4, 0.4, count - 2) * t[1]
    return t + 7.0, motion(t) + rng.normal(scale=NOISE, size=(count, 2))


@pytest.mark.parametrize("uniform", [True, False])
def test_it_is_the_least_of_its_sum(uniform: bool) -> None:
    """The same spline, and its degrees of freedom, from dense matrices of SciPy's B-splines by least squares."""
    t, q = log(40, uniform=uniform)
    found = mp.reference_from(t, q, noise=5e-3)
    edges, T = found.breaks, t[-1] - t[0]
    knots = np.concatenate([[0.0] * 5, edges, [T] * 5])
    basis = BSpline(knots, np.eye(len(knots) - 6), 5)
    x, w = np.polynomial.legendre.leggauss(6)
    h = np.diff(edges)[:, None] / 2
    nodes, weights = (edges[:-1, None] + h * (x + 1)).ravel(), (h * w).ravel()
    B, third = basis(t - t[0]), basis.derivative(3)(nodes)
    for i in range(2):
        rough = np.sqrt(found.smoothing[i] * weights)[:, None] * third
        c = np.linalg.lstsq(np.vstack([B, rough]), np.concatenate([q[:, i], np.zeros(len(rough))]), rcond=None)[0]
        np.testing.assert_allclose(found.position(t - t[0])[:, i], B @ c, atol=1e-9)
        influence = B @ np.linalg.solve(B.T @ B + rough.T @ rough, B.T)
        assert found.freedom[i] == pytest.approx(np.trace(influence), rel=1e-3)


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("noise", [None, NOISE, [NOISE, NOISE]])
def test_a_known_motion_is_found_under_noise(uniform: bool, noise: Any) -> None:
    t, q = log(uniform=uniform)
    found = mp.reference_from(t, q, noise=noise)
    inside = np.linspace(0.2, 2.8, 300)
    errors = [np.abs(found.derivatives(inside, 2)[k] - motion(inside, k)).max() for k in range(3)]
    assert errors[0] < 1.5 * NOISE  # the samples miss by up to 3.5 times the noise
    assert errors[1] < 0.03
    assert errors[2] < 1.0
    assert found.start_time == 7.0
    assert found.duration == pytest.approx(3.0)


@pytest.mark.parametrize("noise", [None, 2e-3])
def test_the_stated_error_is_the_deviation_from_the_samples(noise: Any) -> None:
    t, q = log()
    found = mp.reference_from(t, q, noise=noise)
    off = q - found.position(t - t[0])
    np.testing.assert_allclose(found.rms, np.sqrt(np.mean(off**2, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(found.largest, np.abs(off).max(axis=0), rtol=1e-12)
    if noise is not None:
        np.testing.assert_allclose(found.rms, noise, rtol=1e-3)
    else:
        np.testing.assert_allclose(found.rms, NOISE, rtol=0.15)  # 400 samples


def test_four_derivatives_are_continuous_and_follow_each_other() -> None:
    t, q = log(60)
    found = mp.reference_from(t, q)
    inner = found.breaks[1:-1]
    left, right = (found.derivatives(inner, 4, side) for side in ("left", "right"))
    size = np.abs(right).max(axis=(1, 2))
    assert np.all(np.abs(left - right).max(axis=(1, 2)) < 1e-7 * (1.0 + size))
    x, h = np.linspace(0.31, 2.69, 57), 1e-5
    slope = (found.derivatives(x + h, 1) - found.derivatives(x - h, 1)) / (2 * h)
    np.testing.assert_allclose(slope, found.derivatives(x, 2)[1:], rtol=1e-4, atol=1e-4)


def test_coordinates_are_smoothed_for_themselves() -> None:
    """A joint that stands still, one that moves, one that is a parabola under a thousand times the noise."""
    t = np.linspace(0.0, 4.0, 3000)
    rng = np.random.default_rng(2)
    q = np.stack(
        [
            0.0 * t + 0.4,
            np.sin(6 * t) + rng.normal(scale=1e-4, size=3000),
            0.1 * t**2 + rng.normal(scale=0.1, size=3000),
        ],
        axis=1,
    )
    found = mp.reference_from(t, q)
    np.testing.assert_allclose(found.position(t)[:, 0], 0.4, atol=1e-10)
    inside = t[150:-150]  # the ends are known half as well
    assert np.abs(found.position(inside)[:, 1] - np.sin(6 * inside)).max() < 1e-4
    assert np.abs(found.position(inside)[:, 2] - 0.1 * inside**2).max() < 0.03
    assert found.freedom[2] < 20 < found.freedom[1]


@pytest.mark.parametrize(("time", "size"), [(1e-9, 1.0), (1.0, 1.0), (1e9, 1e50)])
def test_a_parabola_is_met_exactly_whatever_the_smoothing(time: float, size: float) -> None:
    t = np.linspace(0.0, 1.0, 300)
    q = size * np.stack([0.3 + 0.0 * t, 0.2 - t + 0.7 * t**2], axis=1)
    for noise in (None, 0.1 * size, 1e3 * size):
        assert np.all(mp.reference_from(time * t, q, noise=noise).largest < 1e-13 * size)


def test_the_tip_of_a_log_in_the_plane() -> None:
    t, q = log()
    found = mp.reference_from(t, q, space="task", noise=[NOISE, 2 * NOISE])
    assert found.space == "task"
    assert found.dimension == 3
    np.testing.assert_array_equal(found.position(np.linspace(0, 3, 9))[:, 2], 0.0)


def test_a_controller_follows_a_log(tmp_path: Any) -> None:
    arm = mp.load("planar-2r")
    t, q = log()
    found = mp.reference_from(t, q, noise=NOISE)
    run = mp.Scenario(arm, found, controller=mp.control.ComputedTorque(100.0, 20.0), duration=0.5, sample=0.1,
                      q0=found.position(0.0), qd0=found.velocity(0.0))  # fmt: skip
    result = mp.simulate(run).check()
    np.testing.assert_allclose(result.q, found.position(result.t), atol=1e-6)
    run.save(tmp_path / "run.toml")
    assert mp.Scenario.load(tmp_path / "run.toml").reference == found


T, Q = log(20)
REFUSED = [
    ({"t": T[::-1]}, "t", "must increase"),
    ({"t": T[:-1]}, "q", "found 19 and 20"),
    ({"t": T[:5], "q": Q[:5]}, "q", "at least 8"),
    ({"t": np.where(np.arange(20) == 3, np.nan, T)}, "t", r"t\[3\]' is nan"),
    ({"q": np.where(np.arange(40).reshape(20, 2) == 7, np.inf, Q)}, "q", r"q\[3\]\[1\]' is inf"),
    ({"q": Q[:, 0]}, "q", "rows of numbers"),
    ({"q": [["a", "b"]] * 20}, "q", "must be numbers"),
    ({"q": np.hstack([Q, Q]), "space": "task"}, "q", "2 or 3 coordinates; found 4"),
    ({"space": "tool"}, "space", "joint, task"),
    ({"noise": 0.0}, "noise", r"greater than 0, found 0; mp\.waypoints"),
    ({"noise": -1.0}, "noise", "greater than 0"),
    ({"noise": [1e-3] * 3}, "noise", "one number or 2"),
    ({"noise": np.nan}, "noise", "finite"),
    ({"noise": 1e-30}, "noise", "leaves at least"),
]


@pytest.mark.parametrize(("change", "field", "words"), REFUSED, ids=[f"{i} {r[1]}" for i, r in enumerate(REFUSED)])
def test_nonsense_is_refused(change: dict[str, Any], field: str, words: str) -> None:
    mp.reference_from(T, Q)
    with pytest.raises(mp.DescriptionError, match=words) as error:
        mp.reference_from(**{"t": T, "q": Q, **change})
    assert str(error.value.field).startswith(field)


def test_seven_columns_are_no_positions() -> None:
    """Rows of seven numbers are poses; as positions of a tip they are refused, whatever kind of array they come in."""
    rows = np.zeros((20, 7))
    with pytest.raises(mp.ManipulaError, match="2 or 3 coordinates; found 7"):
        mp.reference_from(np.linspace(0, 1, 20), rows, space="task")

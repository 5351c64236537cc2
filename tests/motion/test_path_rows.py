"""Rows of limits along paths held against their definition: derivatives of the path and single calls of the inverse dynamics."""

import numpy as np
import pytest

import manipula as mp
from manipula import paths
from manipula.motion.path_grid import PathGrid, even_grid
from manipula.motion.path_limits import BETWEEN, Intervals, PathLimits
from manipula.motion.paths.arc_length import ArcLength
from manipula.motion.time_optimal import solve_time_optimal

ARM = mp.load("stanford")  # its third joint is prismatic
MODEL = mp.compile(ARM)
KINDS = {
    "spline": {},
    "clamped": {"ends": "clamped", "tangents": [[1.0, 0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0]]},
    "polyline": {"interpolation": "polyline"},
    "blended": {"interpolation": "polyline", "blend": 0.05},
    "closed": {"closed": True},
}


def somebodys(q, qd, qdd):
    """The same torques by a function that is not compiled."""
    return MODEL.inverse_dynamics(q, qd, qdd) + 0.0


def postures(seed: int, still: bool = False) -> np.ndarray:
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (5, ARM.n)) * [1, 1, 0.3, 1, 1, 1]
    if still:
        points[:, 3] = 0.4  # a row whose coefficient of u vanishes everywhere
    return points


def tip_velocity(q, qd):
    return np.einsum("nij,nj->ni", MODEL.jacobian(q)[:, :3], qd)


@pytest.mark.parametrize("inverse", [MODEL.inverse_dynamics, somebodys], ids=["compiled", "called"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("still", [False, True])
def test_rows_are_what_they_mean(kind, inverse, still):
    path = paths.joint(postures(len(kind), still), **KINDS[kind])
    low, high = -np.linspace(1.0, 2.0, ARM.n), np.linspace(2.0, 1.0, ARM.n)
    limits = PathLimits(path, [low, high], 5.0, 80.0, inverse, 0.7, tip_velocity)
    s = even_grid(path, 60)
    s = np.sort(np.append(s, s[7] + (s[8] - s[7]) * np.array([1e-3, 0.4])))
    some = np.arange(len(s) - 1) % 11 != 5  # with gaps between the intervals
    begin, end = s[:-1][some], s[1:][some]
    part = Intervals(limits, begin, end)
    at = begin + (end - begin) * BETWEEN[:, None]
    at[-1] = end
    q, q1, q2 = np.concatenate([path.derivatives(at[:-1], 2), path.derivatives(at[-1:], 2, "left")], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.nanmin(np.where(q1 == 0, np.inf, np.where(q1 > 0, high, low) / q1), axis=-1) ** 2
    rest = np.zeros_like(q)
    c = MODEL.inverse_dynamics(q, rest, rest)
    a, b = MODEL.inverse_dynamics(q, rest, q1) - c, MODEL.inverse_dynamics(q, q1, q2) - c
    expected = np.concatenate([q1, q2, bound[..., None], a, b, c], axis=-1)
    size = 1.0 + np.abs(expected).max(axis=(0, 1))
    np.testing.assert_allclose(part.rows / size, expected / size, atol=3e-12)
    speed = np.linalg.norm(tip_velocity(q.reshape(-1, ARM.n), q1.reshape(-1, ARM.n)), axis=1).reshape(at.shape)
    np.testing.assert_allclose(part.tip, (0.7 / speed) ** 2, rtol=1e-10)
    assert part.largest == pytest.approx(max(np.abs(q1[0]).max(), np.abs(a[0]).max()), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_speed_limit_is_no_bound(kind):
    path = paths.joint(postures(3), **KINDS[kind])
    s = even_grid(path, 20)
    rows = Intervals(PathLimits(path, None, 5.0, None, None, None, None), s[:-1], s[1:]).rows
    assert np.all(rows[..., 2 * ARM.n] == np.inf)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_called_torques_give_one_motion(kind, seed):
    path = paths.joint(postures(10 + seed), **KINDS[kind])
    options = {"velocity": 2.0, "acceleration": 8.0, "torque": 120.0, "points": 120}
    compiled = solve_time_optimal(path, inverse_dynamics=MODEL.inverse_dynamics, **options)
    called = solve_time_optimal(path, inverse_dynamics=somebodys, **options)
    assert compiled.status == called.status == "finished"
    assert compiled.duration == pytest.approx(called.duration, rel=1e-9)
    assert compiled.use == pytest.approx(called.use, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_panels_of_a_curve_do_not_depend_on_how_far_ahead_is_looked(seed):
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(size=(9, 3)) * 10.0 ** rng.uniform(-2, 0, (9, 1)), axis=0)
    curve = paths.spline(points).curves[0]
    one, two, far = (ArcLength(curve.expand, curve.breaks, ahead) for ahead in ((), ((64, 2),), ((64, 7),)))
    for other in (two, far):
        np.testing.assert_array_equal(one.piece, other.piece)
        np.testing.assert_allclose(one.low, other.low, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(one.start, other.start, rtol=1e-13)
    fine = np.linspace(curve.breaks[0], curve.breaks[-1], 200_001)
    steps = np.linalg.norm(np.diff(np.transpose(curve.point(fine, _piece(curve.breaks, fine))), axis=0), axis=1)
    assert far.total == pytest.approx(steps.sum(), rel=1e-7)


def _piece(breaks, u):
    return np.clip(np.searchsorted(breaks, u, side="right") - 1, 0, len(breaks) - 2)


def test_a_grid_finer_than_the_panels_of_the_arc_length_and_a_coarser_one():
    path = paths.joint(postures(1))
    for count in (4, 3000):
        s = even_grid(path, count)
        grid = PathGrid(PathLimits(path, 1.0, 1.0, None, None, None, None), "interpolation", s)
        at = s[:-1] + np.diff(s) * BETWEEN[:-1, None]
        found = grid.stored[0].rows[:-1, :, : ARM.n]
        np.testing.assert_allclose(found, path.derivatives(at, 1)[1], atol=1e-12)

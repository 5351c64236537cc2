"""The fastest motion along a path: closed forms, an independent linear program, limits on the real motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import manipula as mp
from manipula.errors import BudgetError, DescriptionError, ShapeError, SolveError
from manipula.motion import paths, timing
from manipula.motion.limits import check_limits
from manipula.motion.path_grid import PathGrid, even_grid
from manipula.motion.path_limits import BETWEEN, PathLimits
from manipula.motion.paths.sampling import sample_intervals
from manipula.motion.phase_plane import Stages, solve
from manipula.motion.time_optimal import solve_time_optimal, time_optimal

GRAVITY = 9.81
LP = 1e-7  # relative accuracy of HiGHS on these programs
KEPT = 1e-6  # samples between the verified ones, on an interval of the grid


def two_link(q, qd, qdd):
    """Inverse dynamics of two unit rods in a vertical plane, batched (textbook)."""
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    m11, m12, m22 = 5 / 3 + c2, 1 / 3 + c2 / 2, 1 / 3
    h1, h2 = -s2 / 2 * (2 * qd[:, 0] * qd[:, 1] + qd[:, 1] ** 2), s2 / 2 * qd[:, 0] ** 2
    g2 = GRAVITY / 2 * np.cos(q[:, 0] + q[:, 1])
    g1 = GRAVITY * 1.5 * np.cos(q[:, 0]) + g2
    return np.column_stack([m11 * qdd[:, 0] + m12 * qdd[:, 1] + h1 + g1, m12 * qdd[:, 0] + m22 * qdd[:, 1] + h2 + g2])


def arm_path():
    return paths.joint([[-1.2, 0.3], [-0.4, 1.4], [0.5, 0.9], [0.9, -0.6]])


def largest_profile(stages: Stages, x_start, x_end):
    """max Σ x_i under every row, by an interior solver: the fastest profile is the pointwise largest one."""
    N, m = stages.a.shape
    A, b = [], []
    for i in range(N):
        step = 2 * stages.delta[i]
        for k in range(m):
            row = np.zeros(N + 1)
            row[i] = stages.b[i, k] - stages.a[i, k] / step
            row[i + 1] = stages.a[i, k] / step
            A += [row, -row]
            b += [stages.high[i, k] - stages.c[i, k], stages.c[i, k] - stages.low[i, k]]
    bounds = [(0, x) for x in stages.x_max]
    bounds[0], bounds[-1] = (x_start, x_start), (x_end, x_end)
    return linprog(-np.ones(N + 1), A_ub=np.array(A), b_ub=np.array(b), bounds=bounds, method="highs")


def random_stages(rng, N, m, offset, inertia=0.0):
    s = np.linspace(0, 1, N + 1)
    wave = lambda: sum(rng.normal() * np.cos(rng.uniform(1, 9) * s + rng.uniform(0, 6)) for _ in range(3))
    a, b, c = (np.column_stack([wave() for _ in range(m)]) for _ in range(3))
    a += inertia * np.sign(rng.normal(size=m))  # large: no coefficient of u vanishes anywhere
    high = np.full((N + 1, m), 4.0)
    return Stages(a[:-1], b[:-1], offset * c[:-1], -high[:-1], high[:-1], np.diff(s), np.full(N + 1, 3.0))


def lattice(stages):
    """True when every row lets x_{i+1} grow with x_i: then, and only then, a pointwise largest profile exists."""
    return bool(np.all(1 - 2 * stages.delta[:, None] * stages.b / stages.a > 0))


def judge(found, expected, stages):
    if expected.status == 2:
        assert found.x is None
        assert found.reason
        return
    assert expected.status == 0
    assert found.x is not None
    u = np.diff(found.x) / (2 * stages.delta)
    rows = stages.a * u[:, None] + stages.b * found.x[:-1, None] + stages.c
    assert np.all(rows <= stages.high + 1e-8)
    assert np.all(rows >= stages.low - 1e-8)
    assert np.all(found.x <= stages.x_max + 1e-12)
    if lattice(stages):
        np.testing.assert_allclose(found.x, expected.x, atol=LP * 30.0)
    else:  # near a vanishing coefficient on a coarse grid the greedy pass may give away a little
        time = lambda x: np.sum(2 * stages.delta / (np.sqrt(x[1:]) + np.sqrt(x[:-1])))
        assert time(found.x) <= 1.05 * time(np.maximum(expected.x, 0.0))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("inertia", [0.0, 5.0])
def test_grid_solution_is_the_largest_profile(seed, inertia):
    stages = random_stages(np.random.default_rng(seed), 60, 4, 0.5, inertia)
    assert lattice(stages) or not inertia
    judge(solve(stages, 0.0, 0.0), largest_profile(stages, 0.0, 0.0), stages)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("inertia", [0.0, 5.0])
def test_moving_ends_and_places_that_forbid_standstill(seed, inertia):
    """Rows with |c| above the limit need speed to be passed; both routes must agree, also on impossibility."""
    rng = np.random.default_rng(100 + seed)
    stages = random_stages(rng, 40, 3, 1.6, inertia)
    x_start, x_end = rng.uniform(0.0, 1.0, 2)
    judge(solve(stages, x_start, x_end), largest_profile(stages, x_start, x_end), stages)


def test_both_outcomes_occur_in_the_sample_above():
    rng_outcomes = set()
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        stages = random_stages(rng, 40, 3, 1.6)
        rng_outcomes.add(solve(stages, *rng.uniform(0.0, 1.0, 2)).x is None)
    assert rng_outcomes == {True, False}


def test_a_straight_joint_move_is_the_trapezoid():
    path = paths.joint([[0.0, 0.0], [3.0, 4.0]], interpolation="polyline")
    result = solve_time_optimal(path, velocity=[0.9, 2.0], acceleration=[1.5, 4.0], points=400)
    v, a = min(0.9 / 0.6, 2.0 / 0.8), min(1.5 / 0.6, 4.0 / 0.8)
    expected = timing.trapezoid(v, a).profile(5.0).duration
    # the switch from accelerating to cruising falls between grid points: first order in the step there
    assert result.duration == pytest.approx(expected, rel=1e-4)
    assert result.duration >= expected * (1 - 1e-9)
    finer = solve_time_optimal(path, velocity=[0.9, 2.0], acceleration=[1.5, 4.0], points=6400)
    assert abs(finer.duration - expected) < 0.3 * abs(result.duration - expected) + 1e-12


def test_circle_in_the_plane_reaches_the_centripetal_limit():
    """|p''| = 1/r: coordinates limited to A allow ṡ² up to A r at the axes."""
    path = paths.circle((0, 0), 0.5, turns=3)
    result = solve_time_optimal(path, acceleration=[2.0, 2.0, 1e6], points=3000)
    middle = np.abs(result.s - path.length / 2).argmin()
    at_axis = result.s[middle] % (math.pi / 4)
    assert min(at_axis, math.pi / 4 - at_axis) < 1e-2
    assert result.speed.max() <= math.sqrt(2.0 * 0.5) * math.sqrt(2) + 1e-6
    assert result.speed[middle] <= math.sqrt(2.0 * 0.5) * (1 + 1e-3)


@pytest.mark.parametrize("scheme", ["interpolation", "collocation"])
def test_limits_hold_on_the_real_motion(scheme):
    path = arm_path()
    limits = {"velocity": [2.0, 3.0], "acceleration": [12.0, 20.0]}
    torque = np.array([28.0, 9.0])
    result = solve_time_optimal(path, torque=torque, inverse_dynamics=two_link, points=500, scheme=scheme, **limits)
    assert result.status == "finished"
    motion = result.trajectory
    assert check_limits(motion, tolerance=KEPT, samples=5003, **limits)
    t = np.random.default_rng(0).uniform(0, motion.duration, 5000)
    q, qd, qdd = motion.derivatives(t, 2)
    share = np.abs(two_link(q, qd, qdd)) / torque
    assert share.max() <= 1 + 1e-3  # between the verified places
    # something is always at its limit: that is what makes it the fastest
    use = np.max([np.abs(qd) / limits["velocity"], np.abs(qdd) / limits["acceleration"], share], axis=(0, 2))
    assert np.quantile(use, 0.02) > 0.9
    assert set(result.use) == {"velocity", "acceleration", "torque"}
    assert max(result.use.values()) <= 1 + 1e-9
    assert sum(result.limited_by.values()) == pytest.approx(1.0)
    np.testing.assert_allclose(motion.velocity([0.0, motion.duration]), 0, atol=1e-9)
    np.testing.assert_allclose(motion.position([0.0, motion.duration]), [path.start, path.end], atol=1e-12)


def test_torque_coefficients_rebuild_the_torque():
    path = arm_path()
    limits = PathLimits(path, None, None, [28.0, 9.0], two_link, None, None)
    d = path.derivatives(np.linspace(0, path.length, 30), 2)
    a, b, c = limits.torque_rows(*d)
    u, x = 0.7, 1.3
    direct = two_link(d[0], d[1] * math.sqrt(x), d[1] * u + d[2] * x)
    np.testing.assert_allclose(a * u + b * x + c, direct, atol=1e-12)


def test_more_torque_is_never_slower():
    durations = [
        time_optimal(arm_path(), torque=k * np.array([28.0, 9.0]), inverse_dynamics=two_link, points=300).duration
        for k in (1.0, 1.3, 2.0)
    ]
    assert durations[0] > durations[1] > durations[2]


def test_tip_speed_limits_the_tip():
    def tip(q, qd):
        s1, c1, s12, c12 = np.sin(q[:, 0]), np.cos(q[:, 0]), np.sin(q.sum(1)), np.cos(q.sum(1))
        w, w12 = qd[:, 0], qd.sum(1)
        return np.column_stack([-s1 * w - s12 * w12, c1 * w + c12 * w12])

    result = solve_time_optimal(arm_path(), acceleration=40.0, tip_speed=0.8, tip_velocity=tip, points=600)
    q, qd = result.trajectory.derivatives(np.linspace(0, result.duration, 4001), 1)
    speed = np.linalg.norm(tip(q, qd), axis=1)
    assert speed.max() <= 0.8 * (1 + 1e-4)
    assert np.mean(speed > 0.79) > 0.5
    task = solve_time_optimal(paths.spline([(0, 0), (1, 0.5), (2, 0)]), acceleration=5.0, tip_speed=0.5)
    v = np.linalg.norm(task.trajectory.velocity(np.linspace(0, task.duration, 999)), axis=1)
    assert 0.5 * (1 - 1e-3) < v.max() <= 0.5 * (1 + 1e-9)


def test_sharp_corners_are_stops():
    path = paths.polyline([(0, 0), (1, 0), (1, 1)])
    result = solve_time_optimal(path, acceleration=2.0, velocity=10.0, points=200)
    one_side = timing.trapezoid(10.0, 2.0).profile(1.0).duration
    assert result.duration == pytest.approx(2 * one_side, rel=1e-3)
    assert result.speed[np.abs(result.s - 1.0).argmin()] == 0


def test_a_jerk_limit_that_is_not_kept_is_no_motion():
    path = arm_path()
    result = solve_time_optimal(path, velocity=2.0, acceleration=10.0, jerk=1.0, points=100)
    assert result.jerk_kept is False
    assert result.status == "infeasible"
    assert "jerk" in result.reason
    assert result.trajectory is not None
    assert np.all(result.jerk > 1.0)
    fine = solve_time_optimal(path, velocity=2.0, acceleration=10.0, jerk=1e9, points=100)
    assert fine.jerk_kept is True
    assert fine.status == "finished"
    with pytest.raises(SolveError, match="exceeds the jerk limit"):
        time_optimal(path, velocity=2.0, acceleration=10.0, jerk=1.0, points=100)


def test_refining_and_slowing_down_remove_the_excess():
    loose = solve_time_optimal(arm_path(), acceleration=10.0, points=30, strict=False, tolerance=100.0)
    tight = solve_time_optimal(arm_path(), acceleration=10.0, points=30)
    assert loose.excess > 1e-3
    assert loose.slowed_by == 1.0
    assert len(tight.s) > len(loose.s)
    assert max(tight.use.values()) <= 1 + 1e-9


def test_impossible_motions_say_where_and_why():
    weak = solve_time_optimal(arm_path(), torque=[10.0, 9.0], inverse_dynamics=two_link, points=200)
    assert weak.status == "infeasible"
    assert weak.trajectory is None
    assert weak.duration == math.inf
    assert "s = " in weak.reason
    with pytest.raises(SolveError, match="No motion along this path"):
        time_optimal(arm_path(), torque=[10.0, 9.0], inverse_dynamics=two_link, points=200)
    fast = solve_time_optimal(arm_path(), acceleration=1.0, start_speed=50.0, points=50)
    assert "start speed" in fast.reason
    end = solve_time_optimal(arm_path(), acceleration=1.0, velocity=1.0, end_speed=50.0, points=50)
    assert "end speed" in end.reason


def test_moving_ends_are_met():
    result = solve_time_optimal(arm_path(), acceleration=10.0, start_speed=0.3, end_speed=0.2, strict=False)
    v = result.trajectory.velocity([0.0, result.duration])
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), [0.3, 0.2], rtol=1e-9)


def test_grid_keeps_the_breaks():
    path = arm_path()
    grid = even_grid(path, 100)
    assert np.all(np.isin(path.breaks, grid))
    assert np.all(np.diff(grid) > 0)


@pytest.mark.parametrize("options", [{}, {"interpolation": "polyline", "blend": 0.1}, {"interpolation": "polyline"}])
def test_samples_are_the_derivatives_of_the_path(options):
    path = paths.joint([[-1.2, 0.3], [-0.4, 1.4], [0.5, 0.9], [0.9, -0.6]], **options)
    s = even_grid(path, 50)
    at = s[:-1] + np.diff(s) * BETWEEN[:, None]
    at[-1] = s[1:]
    expected = np.concatenate([path.derivatives(at[:-1], 2), path.derivatives(at[-1:], 2, "left")], axis=1)
    found, finite, _ = sample_intervals(path, at, s[:-1])
    assert finite
    for k, wanted in enumerate(expected):
        np.testing.assert_allclose(found[..., k, :], wanted, atol=1e-12 * (1 + np.abs(wanted).max()))


def test_refined_grid_has_the_coefficients_of_a_new_one():
    limits = PathLimits(arm_path(), 2.0, 12.0, [28.0, 9.0], two_link, None, None)
    coarse = PathGrid(limits, "interpolation", even_grid(limits.path, 40))
    marked = np.zeros(len(coarse.s) - 1, bool)
    marked[[0, 17, 18, -1]] = True
    finer = coarse.refined(marked).refined(np.arange(len(coarse.refined(marked).s) - 1) == 20)
    fresh = PathGrid(limits, "interpolation", finer.s)
    np.testing.assert_allclose(finer.x_max(), fresh.x_max(), rtol=1e-12)
    np.testing.assert_allclose(finer.table[finer.slots], fresh.table[fresh.slots], rtol=1e-9, atol=1e-12)
    u, x = np.linspace(-1, 1, len(finer.s) - 1), np.ones((5, len(finer.s) - 1))
    wanted = fresh.shares(u, x)
    np.testing.assert_allclose(finer.shares(u, x), wanted, rtol=1e-9, atol=1e-12)
    one, none = np.ones_like(u), np.zeros_like(u)
    for again in (u, u, np.where(u > 0.9, 0.5 * u, u), 0.5 * u):  # all, none, a few and all of the intervals are new
        x = np.ones((5, len(u)))
        expected = fresh.shares(again, x).max(axis=(0, 2))
        np.testing.assert_array_equal(fresh.tightest(again, one, none), expected)
        np.testing.assert_allclose(finer.tightest(again, one, none), expected, rtol=1e-9, atol=1e-12)
    rise = np.linspace(0.0, 0.3, len(u))
    expected = fresh.shares(u, one + rise * BETWEEN[:, None]).max(axis=(0, 2))
    np.testing.assert_array_equal(fresh.tightest(u, one, rise), expected)


NAN = float("nan")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, DescriptionError, "infinitely fast"),
        ({"velocity": 1.0}, DescriptionError, "infinitely fast"),
        ({"acceleration": 0.0}, DescriptionError, "both ways"),
        ({"acceleration": NAN}, DescriptionError, "both ways"),
        ({"acceleration": "much"}, DescriptionError, "must be numbers"),
        ({"acceleration": [1, 2, 3]}, ShapeError, r"\(2, 2\)"),
        ({"torque": 5.0}, DescriptionError, "belong together"),
        ({"torque": 5.0, "inverse_dynamics": lambda q, qd, qdd: q[0]}, ShapeError, "must be batched"),
        ({"torque": 5.0, "inverse_dynamics": lambda q, qd, qdd: q * NAN}, DescriptionError, "not finite"),
        ({"acceleration": 1.0, "tip_speed": 1.0}, DescriptionError, "needs 'tip_velocity'"),
        ({"acceleration": 1.0, "tip_speed": -1.0}, DescriptionError, "greater than 0"),
        ({"acceleration": 1.0, "points": 1}, BudgetError, "2 to"),
        ({"acceleration": 1.0, "points": 10**9}, BudgetError, "2 to"),
        ({"acceleration": 1.0, "scheme": "magic"}, DescriptionError, "allowed: interpolation"),
        ({"acceleration": 1.0, "start_speed": NAN}, DescriptionError, "finite number"),
    ],
)
def test_wrong_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        solve_time_optimal(arm_path(), **arguments)


def test_same_duration_as_toppra():
    """Live comparison on the same grid and scheme."""
    ta = pytest.importorskip("toppra")
    path = paths.formula(lambda u: [u, u * u - 0.3 * u, 0.2 * u * u * u], u=[0.0, 1.5])
    N, v, a = 300, np.array([1.0, 1.5, 2.0]), np.array([4.0, 3.0, 5.0])

    class Geometry(ta.interpolator.AbstractGeometricPath):
        dof = 3
        path_interval = np.array([0.0, path.length])
        waypoints = None

        def __call__(self, path_positions, order=0):
            return path.derivatives(np.clip(path_positions, 0, path.length), order)[order]

    interpolation = ta.constraint.DiscretizationType.Interpolation
    constraints = [
        ta.constraint.JointVelocityConstraint(np.column_stack([-v, v])),
        ta.constraint.JointAccelerationConstraint(np.column_stack([-a, a]), discretization_scheme=interpolation),
    ]
    grid = np.linspace(0, path.length, N + 1)
    speed = ta.algorithm.TOPPRA(constraints, Geometry(), gridpoints=grid).compute_parameterization(0, 0)[1]
    expected = np.sum(2 * np.diff(grid) / (speed[1:] + speed[:-1]))
    result = solve_time_optimal(path, velocity=v, acceleration=a, points=N, strict=False, tolerance=100.0)
    assert result.duration == pytest.approx(expected, rel=1e-6)


def test_a_compiled_inverse_dynamics_and_the_same_as_a_python_function_give_one_motion():
    """The machine code of a model joins that which samples the path; somebody's function is called three times."""
    model = mp.compile(mp.load("puma560"))
    path = paths.joint(np.random.default_rng(2).uniform(-1.0, 1.0, (4, 6)))
    given = {"velocity": 2.0, "acceleration": 8.0, "torque": 65.0, "points": 60}
    known = solve_time_optimal(path, inverse_dynamics=model.inverse_dynamics, **given)
    asked = solve_time_optimal(path, inverse_dynamics=lambda q, qd, qdd: model.inverse_dynamics(q, qd, qdd), **given)
    assert known.use["torque"] > 0.9
    np.testing.assert_allclose(known.speed, asked.speed, rtol=1e-9)
    assert known.limited_by == asked.limited_by
    assert PathLimits(path, None, None, 90.0, model.inverse_dynamics, None, None).graph is not None
    assert PathLimits(path, None, None, 90.0, two_link, None, None).graph is None


def test_details_change_nothing_of_the_motion():
    given = {"velocity": 2.0, "acceleration": 12.0, "torque": [28.0, 9.0], "inverse_dynamics": two_link, "points": 80}
    whole, bare = solve_time_optimal(arm_path(), **given), solve_time_optimal(arm_path(), details=False, **given)
    assert whole.trajectory == bare.trajectory
    assert (len(whole.jerk), len(bare.jerk)) == (2, 0)

"""Trajectories: the published examples, the chain rule, holding, tables of pieces, limits, joint moves."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path as FilePath

import numpy as np
import pytest

from manipula import native
from manipula.algebra import ops
from manipula.algebra.jet import Jet
from manipula.errors import CompileError, DescriptionError, ShapeError
from manipula.motion import paths, timing
from manipula.motion.joint_move import joint_move
from manipula.motion.limits import check_limits
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.trajectory import trajectory

DATA = FilePath(__file__).parent.parent / "data"
REFERENCE = 1e-8  # stored samples were made by another integration of the arc length, good to 1e-11
ROUNDED = 5e-14  # [m] positions of size 1 after the inverse of the arc length; 2e-10 of a chord
POINTS = [(0.9, 0.2), (1.0, 0.5), (0.7, 0.8), (0.4, 0.7), (0.3, 1.0)]


def test_spline_at_constant_speed_of_the_planar_four_link_arm():
    reference = json.loads((DATA / "planar4R_spline.json").read_text())
    ref = trajectory(
        paths.spline(reference["parameters"]["points"]), timing.constant_speed(reference["parameters"]["v"])
    )
    assert ref.duration == pytest.approx(reference["duration"], abs=1e-12)
    t = np.array([sample["t"] for sample in reference["samples"]])
    found = ref.derivatives(t, 2)
    for k, name in enumerate(("x", "xd", "xdd")):
        expected = np.array([sample[name] for sample in reference["samples"]])
        np.testing.assert_allclose(found[k, :, :2], expected, atol=REFERENCE)
    s = np.array([sample["s"] for sample in reference["samples"]])
    np.testing.assert_allclose(ref.arc_length(t, 0)[0], s, atol=REFERENCE)
    np.testing.assert_allclose(ref.path.parameter(s), [sample["u"] for sample in reference["samples"]], atol=REFERENCE)


def test_speed_is_constant_along_a_spline():
    ref = trajectory(paths.spline(POINTS), timing.constant_speed(0.25))
    t = np.linspace(0, ref.duration, 5001)
    assert np.abs(np.linalg.norm(ref.velocity(t), axis=1) - 0.25).max() < 1e-12
    # and without derivatives: chords of equal times are equal up to the curvature, O(h³)
    chords = np.linalg.norm(np.diff(ref.position(t), axis=0), axis=1)
    h = 0.25 * (t[1] - t[0])
    kappa = ref.path.curvature(np.linspace(0, ref.path.length, 5001)).max()
    assert np.all(chords <= h + ROUNDED)
    assert np.all(chords >= h - kappa**2 * h**3 / 24 - ROUNDED)


def test_square_of_the_published_example():
    reference = json.loads((DATA / "arora5_square.json").read_text())
    path = paths.square(1.0, corner=(2, 2), first=(-1, 0), second=(0, -1))
    ref = trajectory(path, timing.constant_speed(reference["speed"]))
    assert ref.duration == pytest.approx(60.0, rel=1e-15)
    np.testing.assert_allclose(ref.breaks, [0, 15, 30, 45, 60], atol=1e-12)
    directions = {1: (-1, 0), 2: (0, -1), 3: (1, 0), 4: (0, 1)}
    for before, sample in zip([None, *reference["samples"]], reference["samples"]):
        after_corner = before is not None and before["t"] == sample["t"]
        side = "right" if after_corner or sample["t"] == 0 else "left"
        x, v = ref.derivatives(sample["t"], 1, side)[:, :2]
        np.testing.assert_allclose(x, sample["x"], atol=1e-12)
        np.testing.assert_allclose(v, np.array(directions[sample["edge"]]) / 15, atol=1e-12)
    # documented: at a corner the velocity is the one just after it
    np.testing.assert_allclose(ref.velocity(15.0)[:2], [0, -1 / 15], atol=1e-12)


def test_circle_under_the_corrected_law_of_the_published_scara():
    """Tip of the stored joint motion, by its own forward kinematics and rates, against the circle in time."""
    reference = json.loads((DATA / "scara_phi.json").read_text())
    ref = trajectory(paths.circle((0.3, 0.2), 0.15), timing.piecewise_jerk(4.0))
    a = np.array(reference["a"])
    for sample in reference["samples"]:
        q = [Jet((x, v, acc / 2), 1) for x, v, acc in zip(sample["q"], sample["qd"], sample["qdd"])]
        sums = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
        tip = [sum(a[i] * f(sums[i]) for i in range(3)) for f in (ops.cos, ops.sin)]
        found = ref.derivatives(sample["t"], 2)
        for k in range(3):
            assert found[k, 0] == pytest.approx(tip[0].derivative(k), abs=1e-9)
            assert found[k, 1] == pytest.approx(tip[1].derivative(k), abs=1e-9)


MOTIONS = {
    "spline, septic": lambda: trajectory(paths.spline(POINTS), timing.septic(2.0)),
    "ellipse, double S": lambda: trajectory(paths.ellipse((0, 0), 0.5, 0.2), timing.double_s(0.4, 1.0, 5.0)),
    "blended square, trapezoid": lambda: trajectory(
        paths.square(0.5, corner=(0, 0), blend=0.1), timing.trapezoid(0.3, 1.0)
    ),
    "joints, cosine": lambda: trajectory(paths.joint(np.random.default_rng(1).normal(size=(5, 6))), timing.cosine(3.0)),
    "sharp square, constant speed": lambda: trajectory(paths.square(0.5, corner=(0, 0)), timing.constant_speed(0.1)),
    "joint move": lambda: joint_move([0, 1, 2], [1, 1, -2], velocity=1.0, acceleration=[2, 3, 4], jerk=20),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_derivatives_follow_each_other_in_time(name):
    motion = MOTIONS[name]()
    x, w = np.polynomial.legendre.leggauss(16)
    for low, high in zip(motion.breaks[:-1], motion.breaks[1:]):
        edges = np.linspace(low, high, 21)
        half = (edges[1] - edges[0]) / 2
        inner = motion.derivatives((edges[:-1, None] + half) + half * x, 3)
        change = motion.derivatives(high, 2, "left") - motion.derivatives(low, 2)
        for k in range(3):
            integral = half * np.einsum("j,ijd->d", w, inner[k + 1])
            assert np.abs(integral - change[k]).max() < 1e-9 * (1 + np.abs(inner[k + 1]).max())


@pytest.mark.parametrize("name", MOTIONS)
def test_rest_before_and_after(name):
    motion = MOTIONS[name]()
    T = motion.duration
    held = motion.derivatives([-1.0, T + 1e-6, T + 5], 3)
    np.testing.assert_array_equal(held[1:], 0)
    np.testing.assert_allclose(held[0], motion.position([0.0, T, T]), atol=1e-14)
    assert motion.position(0.3).shape == (motion.dimension,)
    assert motion.jerk(np.zeros((2, 3))).shape == (2, 3, motion.dimension)


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9])
def test_tables_of_pieces_are_as_accurate_as_asked(name, tolerance):
    motion = MOTIONS[name]()
    table = motion.to_piecewise(tolerance)
    assert isinstance(table, PiecewiseTrajectory)
    assert table.space == motion.space
    assert table.duration == motion.duration
    rng = np.random.default_rng(0)
    t = rng.uniform(0, motion.duration, 3000)
    exact = motion.derivatives(t, 2)
    error = np.abs(table.derivatives(t, 2) - exact).max(axis=(1, 2))
    allowed = tolerance * (1 + np.abs(exact).max(axis=(1, 2)))
    assert np.all(error <= 1.5 * np.maximum(allowed, table.accuracy))
    assert np.all(np.array(table.accuracy) <= allowed * [1, 1, 3])  # rounding over h² may reach the last one
    # the table can be used without this class: power sums in local time
    piece = np.searchsorted(table.breaks, t, side="right") - 1
    x = (t - table.breaks[piece])[:, None]
    direct = sum(table.coefficients[piece, k] * x**k for k in range(table.coefficients.shape[1]))
    np.testing.assert_allclose(direct, table.position(t), atol=1e-12)


@pytest.mark.parametrize("law", ["cubic", "quintic", "septic", "cosine", "cycloid", "piecewise_jerk"])
def test_asking_for_more_than_rounding_allows_never_makes_it_worse(law):
    for path in (paths.circle((0, 0), 0.3), paths.ellipse((0, 0), 0.5, 0.1)):
        motion = trajectory(path, timing.REGISTRY[law](2.0))
        table = motion.to_piecewise(1e-14)
        assert len(table.breaks) < 20_000
        t = np.random.default_rng(1).uniform(0, 2, 4000)
        exact = motion.derivatives(t, 2)
        error = np.abs(table.derivatives(t, 2) - exact).max(axis=(1, 2))
        assert np.all(error <= [1e-13, 1e-10, 1e-7] * (1 + np.abs(exact).max(axis=(1, 2))))


def test_tables_run_in_compiled_functions():
    table = trajectory(paths.spline(POINTS), timing.quintic(2.0)).to_piecewise(1e-8)
    breaks, coefficients = table.native_table()
    t = np.linspace(0, 2, 101)[:-1]
    compiled = native.compile_function(lambda x: native.table(breaks, coefficients)(x), {"x": ()})
    np.testing.assert_allclose(compiled(t), table.position(t), atol=1e-14)


def test_polynomial_motions_become_single_exact_pieces():
    table = trajectory(paths.line((0, 0), (3, 4)), timing.quintic(2.0)).to_piecewise()
    assert len(table.breaks) == 2
    expected = 5 * np.array([0, 0, 0, 10 / 8, -15 / 16, 6 / 32])
    np.testing.assert_allclose(table.coefficients[0] @ [0.6, 0.8, 0], expected, atol=1e-13)
    square = trajectory(paths.square(1.0, corner=(0, 0)), timing.constant_speed(0.5)).to_piecewise()
    assert len(square.breaks) == 5


def test_descriptions_round_trip():
    ref = trajectory(paths.spline(POINTS), timing.quintic(2.0))
    description = json.loads(json.dumps(ref.description))
    again = trajectory(description["path"], description["timing"])
    assert again == ref
    assert hash(again) == hash(ref)
    assert ref != trajectory(paths.spline(POINTS), timing.quintic(2.1))
    assert "spline" in repr(ref)


def test_a_ready_profile_is_accepted_when_it_fits():
    path = paths.line((0, 0), (2, 0))
    profile = timing.quintic(1.0).profile(2.0)
    np.testing.assert_allclose(trajectory(path, profile).position(1.0), [2, 0, 0], atol=1e-14)
    with pytest.raises(DescriptionError, match="length is 2"):
        trajectory(path, timing.quintic(1.0).profile(1.0))
    with pytest.raises(DescriptionError, match="'law' must be"):
        trajectory(path, 3.0)
    with pytest.raises(DescriptionError, match="'path' must be"):
        trajectory([(0, 0), (1, 1)], timing.quintic(1.0))


def test_limits_find_the_peak_between_samples():
    ref = trajectory(paths.line((0, 0), (1, 0)), timing.quintic(2.0))
    peak = 10 / math.sqrt(3) / 4
    assert check_limits(ref, acceleration=peak * (1 + 1e-7), samples=37)
    report = check_limits(ref, velocity=1.0, acceleration=[peak * 0.99, 1, 1], position=(-0.1, [0.9, 1, 1]), samples=37)
    assert not report
    assert {(v.quantity, v.coordinate) for v in report.violations} == {("acceleration", 0), ("position", 0)}
    largest = max(p.value for p in report.peaks if p.quantity == "acceleration")
    assert largest == pytest.approx(peak, rel=1e-6)
    assert "acceleration of coordinate 0" in str(report)
    assert str(check_limits(ref, speed=1.0)) == "All limits are kept."
    assert not check_limits(ref, speed=0.9)
    missed = check_limits(ref, reachable=lambda p: np.linalg.norm(p, axis=1) < 0.5)
    assert "cannot be reached" in str(missed)
    with pytest.raises(ShapeError, match="one number or 3"):
        check_limits(ref, velocity=[1, 2])
    with pytest.raises(DescriptionError, match="nan"):
        check_limits(ref, velocity=float("nan"))


def test_limits_see_both_sides_of_a_jump():
    """The trapezoid's braking of 2 lasts a moment only; it must not fall between samples."""
    ref = trajectory(paths.line((0, 0), (1, 0)), timing.trapezoid(0.01, 10.0, 20.0))
    assert not check_limits(ref, acceleration=15.0, samples=11)
    assert check_limits(ref, acceleration=20.0, samples=11)


# synchronised joint moves --------------------------------------------------------------------------------------------

START, GOAL = np.array([0.1, -1.0, 0.5, 2.0]), np.array([1.2, 0.8, 0.5, 1.9])
LIMITS = {"velocity": [1, 2, 1, 1], "acceleration": [3, 4, 1, 2], "jerk": [30, 40, 10, 50]}


@pytest.mark.parametrize("synchronise", ["time", "phase"])
def test_joint_move_arrives_together_within_limits(synchronise):
    move = joint_move(START, GOAL, synchronise=synchronise, **LIMITS)
    np.testing.assert_allclose(move.position([0.0, move.duration]), [START, GOAL], atol=1e-13)
    np.testing.assert_allclose(move.derivatives([0.0, move.duration], 2)[1:], 0, atol=1e-12)
    assert check_limits(move, **LIMITS)
    alone = [
        timing.double_s(*(LIMITS[name][i] for name in LIMITS)).profile(abs(GOAL[i] - START[i])).duration
        for i in (0, 1, 3)
    ]
    if synchronise == "time":
        assert move.duration == pytest.approx(max(alone), rel=1e-12)
    else:
        assert move.duration >= max(alone) * (1 - 1e-12)
        fraction = (move.position(np.linspace(0, move.duration, 50)) - START)[:, [0, 1, 3]] / (GOAL - START)[[0, 1, 3]]
        assert np.ptp(fraction, axis=1).max() < 1e-12
    assert np.all(move.velocity(np.linspace(0, move.duration, 99))[:, 2] == 0)


def test_ruckig_moves_agree_and_keep_moving_ends():
    pytest.importorskip("ruckig")
    own, other = (joint_move(START, GOAL, method=m, **LIMITS) for m in ("double_s", "ruckig"))
    assert other.duration == pytest.approx(own.duration, rel=1e-9)
    move = joint_move(START, GOAL, start_velocity=[0.3, 0, 0, 0], goal_velocity=[0, 0.2, 0, 0], **LIMITS)
    ends = move.derivatives([0.0, move.duration], 1)
    np.testing.assert_allclose(ends[0], [START, GOAL], atol=1e-9)
    np.testing.assert_allclose(ends[1], [[0.3, 0, 0, 0], [0, 0.2, 0, 0]], atol=1e-9)
    assert check_limits(move, tolerance=1e-7, **LIMITS)


@pytest.mark.parametrize("seed", range(5))
def test_moves_take_as_long_as_ruckig_says(seed):
    ruckig = pytest.importorskip("ruckig")
    rng = np.random.default_rng(seed)
    a, b, v0, v1 = (x * rng.uniform(-1, 1, 4) for x in (2.0, 2.0, 0.8, 0.8))
    limits = {"velocity": rng.uniform(1, 3, 4), "acceleration": rng.uniform(3, 9, 4), "jerk": rng.uniform(20, 60, 4)}
    for rates in ({}, {"start_velocity": v0, "goal_velocity": v1}):
        given, found = ruckig.InputParameter(4), ruckig.Trajectory(4)
        given.current_position, given.target_position = a.tolist(), b.tolist()
        given.current_velocity, given.target_velocity = (v0.tolist(), v1.tolist()) if rates else ([0.0] * 4, [0.0] * 4)
        given.max_velocity, given.max_acceleration, given.max_jerk = (x.tolist() for x in limits.values())
        ruckig.Ruckig(4).calculate(given, found)
        assert joint_move(a, b, **rates, **limits).duration == pytest.approx(found.duration, rel=1e-9)


@pytest.mark.parametrize("synchronise", ["time", "phase"])
def test_a_move_is_the_same_however_its_numbers_are_written(synchronise):
    """Plain arrays take a short way through the checks, whole numbers the long one."""
    short = joint_move(START, GOAL, synchronise=synchronise, velocity=2.0, acceleration=4.0, jerk=np.full(4, 40.0))
    long = joint_move(
        tuple(START), [*GOAL], synchronise=synchronise, velocity=[2] * 4, acceleration=[4] * 4, jerk=(40,) * 4
    )
    assert short.duration == long.duration == short.breaks[-1]
    assert short == long == copy.deepcopy(short)
    assert short.description == long.description
    assert hash(short) == hash(long)


def test_a_move_keeps_its_numbers_when_the_arrays_it_was_made_from_change():
    start, limit = START.copy(), np.full(4, 2.0)
    move = joint_move(start, GOAL, velocity=limit, acceleration=4.0, jerk=40.0)
    start[:], limit[:] = 0.0, 1.0
    move.description["goal"][0] = 99.0
    np.testing.assert_allclose(move.position([0.0, move.duration]), [START, GOAL], atol=1e-13)


def test_without_ruckig_the_message_says_what_to_install(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompileError, match="pip install ruckig"):
        joint_move(START, GOAL, start_velocity=0.1, **LIMITS)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"goal": START}, DescriptionError, "zero length"),
        ({"goal": [1, 2]}, ShapeError, "one shape"),
        ({"goal": [1, 2, float("nan"), 0]}, DescriptionError, "nan"),
        ({"velocity": 0}, DescriptionError, "greater than 0"),
        ({"velocity": [1, 1]}, ShapeError, "one per joint"),
        ({"velocity": [1.0, 1.0]}, ShapeError, "one per joint"),
        ({"velocity": float("nan")}, DescriptionError, "nan"),
        ({"velocity": np.array([1.0, 1.0, float("inf"), 1.0])}, DescriptionError, "inf"),
        ({"jerk": -1.0}, DescriptionError, "greater than 0"),
        ({"goal": np.array([1.0, 2.0, float("nan"), 0.0])}, DescriptionError, "nan"),
        ({"method": np.array([1.0, 2.0])}, DescriptionError, "allowed: auto"),
        ({"method": "magic"}, DescriptionError, "allowed: auto"),
        ({"synchronise": "never"}, DescriptionError, "allowed: time"),
        ({"method": "double_s", "start_velocity": 0.1}, DescriptionError, "start and end at rest"),
    ],
)
def test_wrong_moves_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        joint_move(**{"start": START, "goal": GOAL, **LIMITS, **arguments})


ROUNDING = 1e-14  # of numbers of size 1: one time is evaluated in plain numbers, many in arrays


@pytest.mark.parametrize(
    "path",
    [
        paths.line((0, 0, 0), (1, 0.2, 0.3)), paths.circle((0, 0, 0), 0.3), paths.ellipse((0, 0, 0), 0.3, 0.1),
        paths.helix((0, 0, 0), 0.3, 0.1, 2.0), paths.spline([(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 1)]),
        paths.joint([[0.0, 0.1], [1.0, 0.0], [1.2, 0.8]], interpolation="polyline"),
        paths.joint([[0.0, 0.1], [1.0, 0.0], [1.2, 0.8]], interpolation="polyline", blend=0.1),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "law", [timing.quintic(2.0), timing.double_s(1.0, 2.0, 5.0), timing.cycloid(2.0), timing.scaled(timing.septic(1.0), 2.0)]
)  # fmt: skip
def test_one_time_gives_what_many_times_give(path, law):
    """At random times, before and after the motion, and on both sides of every break."""
    motion = trajectory(path, law)
    t = np.concatenate([np.random.default_rng(0).uniform(-0.2, motion.duration + 0.2, 20), motion.breaks])
    for side in ("right", "left"):
        for order in range(4):
            many = motion.derivatives(t, order, side)
            one = np.stack([motion.derivatives(float(x), order, side) for x in t], axis=1)
            np.testing.assert_allclose(one, many, atol=ROUNDING * (1 + np.abs(many).max()))


def test_one_time_of_a_table_gives_the_bits_of_many_times():
    table = trajectory(paths.circle((0, 0, 0), 0.3), timing.quintic(2.0)).to_piecewise(1e-6)
    t = np.concatenate([np.linspace(-0.1, 2.1, 40), table.breaks])
    for side in ("right", "left"):
        one = np.stack([table.derivatives(float(x), 3, side) for x in t], axis=1)
        np.testing.assert_array_equal(one, table.derivatives(t, 3, side))


@pytest.mark.parametrize("t", [float("nan"), float("inf")])
def test_one_time_that_is_no_time(t):
    motion = trajectory(paths.line((0, 0, 0), (1, 0.2, 0.3)), timing.quintic(2.0))
    for asked in (motion, motion.to_piecewise()):
        with pytest.raises(DescriptionError, match="not finite"):
            asked.position(t)

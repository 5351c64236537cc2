"""Contracts of every time law, and what each one promises."""

from __future__ import annotations

import json
import math
from pathlib import Path as FilePath

import numpy as np
import pytest

from manipula.algebra import ops
from manipula.errors import DescriptionError, UnknownNameError
from manipula.motion import timing

DATA = FilePath(__file__).parent.parent / "data"
ROUNDOFF = 1e-12  # relative to the length: sums of at most eight terms
LENGTHS = (1e-3, 0.7, 2.0, 40.0)

EXAMPLES = {
    "constant_speed": lambda L: timing.constant_speed(0.25),
    "trapezoid": lambda L: timing.trapezoid(0.5, 1.0, 2.0),
    "cubic": lambda L: timing.cubic(1.7),
    "quintic": lambda L: timing.quintic(1.7),
    "septic": lambda L: timing.septic(1.7),
    "cosine": lambda L: timing.cosine(1.7),
    "cycloid": lambda L: timing.cycloid(1.7),
    "double_s": lambda L: timing.double_s(0.5, 1.0, 4.0),
    "piecewise_jerk": lambda L: timing.piecewise_jerk(4.0),
    "table": lambda L: timing.table([0, 0.5, 1.0, 1.5, 2.0, 3.0], np.array([0, 0, 0.6, 0.6, 1, 1]) * L),
    "formula": lambda L: timing.formula("L*sin(pi*t/(2*T))^2", 2.0),
    "scaled": lambda L: timing.scaled(timing.double_s(0.5, 1.0, 4.0), 1.5),
}
# orders of derivative that are continuous everywhere, also at both ends (0: position only)
SMOOTHNESS = {"constant_speed": 0, "trapezoid": 1, "cubic": 1, "quintic": 2, "septic": 3, "cosine": 1, "cycloid": 2,
              "double_s": 2, "piecewise_jerk": 2, "table": 1, "formula": 1, "scaled": 2}  # fmt: skip


def test_every_law_has_an_example():
    assert set(EXAMPLES) == set(timing.REGISTRY) == set(SMOOTHNESS)
    assert set(EXAMPLES) <= set(timing.__all__)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_whole_length_without_going_back(name, length):
    profile = EXAMPLES[name](length).profile(length)
    t = np.linspace(0, profile.duration, 1001)
    s = profile.evaluate(t, 1)
    assert abs(s[0, 0]) < ROUNDOFF * length
    assert abs(s[0, -1] - length) < ROUNDOFF * length
    assert s[1].min() > -1e-9 * length / profile.duration
    held = profile.evaluate([-1.0, profile.duration + 1.0], 3)
    np.testing.assert_allclose(held[0], [0, length], atol=ROUNDOFF * length)
    np.testing.assert_array_equal(held[1:], 0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_derivatives_follow_each_other(name):
    """Integrals of each derivative (Gauss–Legendre on every smooth piece) restore the one below."""
    profile = EXAMPLES[name](2.0).profile(2.0)
    x, w = np.polynomial.legendre.leggauss(24)
    for low, high in zip(profile.breaks[:-1], profile.breaks[1:]):
        t = (low + high) / 2 + (high - low) / 2 * x
        inner = profile.evaluate(t, 3)
        start, end = profile.evaluate(low, 3), profile.evaluate(high, 3, "left")
        for k in range(3):
            integral = (high - low) / 2 * (w @ inner[k + 1])
            assert integral == pytest.approx(end[k] - start[k], abs=1e-11 * (1 + np.abs(inner).max())), k


@pytest.mark.parametrize("name", EXAMPLES)
def test_smoothness_is_as_promised(name):
    profile = EXAMPLES[name](2.0).profile(2.0)
    promised = SMOOTHNESS[name]
    inner = profile.breaks[1:-1]
    if len(inner):
        jump = profile.evaluate(inner, 3) - profile.evaluate(inner, 3, "left")
        assert np.abs(jump[: promised + 1]).max() < 1e-10
    ends = np.abs([profile.evaluate(0.0, 4), profile.evaluate(profile.duration, 4, "left")])
    assert np.all(ends[:, 1 : promised + 1] < 1e-10)
    assert ends[:, promised + 1].max() > 1e-3 or (len(inner) and np.abs(jump[promised + 1]).max() > 1e-3)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"formula"}))
def test_descriptions_make_the_same_law_again(name):
    law = EXAMPLES[name](2.0)
    again = timing.from_description(json.loads(json.dumps(law.description)))
    assert again == law
    assert hash(again) == hash(law)


def test_formula_in_text_and_in_python_agree():
    text = timing.formula("L*(10*(t/T)^3 - 15*(t/T)^4 + 6*(t/T)^5)", 1.7)
    assert timing.from_description(text.description) == text
    python = timing.formula(lambda t, L, T: L * (t / T) ** 3 * (10 - 15 * t / T + 6 * (t / T) ** 2), 1.7)
    t = np.linspace(0, 1.7, 30)
    expected = timing.quintic(1.7).profile(2.0).evaluate(t)
    np.testing.assert_allclose(text.profile(2.0).evaluate(t), expected, atol=1e-11)
    np.testing.assert_allclose(python.profile(2.0).evaluate(t), expected, atol=1e-11)
    with pytest.raises(TypeError, match="Python function"):
        python.description
    assert timing.formula(lambda t: ops.sin(t), math.pi / 2).profile(1.0).duration == math.pi / 2


@pytest.mark.parametrize("length", np.geomspace(1e-4, 1e3, 29))
def test_double_s_keeps_and_uses_its_limits(length):
    v, a, j = 0.5, 1.3, 9.0
    profile = timing.double_s(v, a, j).profile(length)
    t = np.concatenate([np.linspace(0, profile.duration, 2001), profile.breaks])
    peaks = np.abs(profile.evaluate(t, 3)).max(axis=1)
    assert np.all(peaks[1:] <= np.array([v, a, j]) * (1 + 1e-9))
    assert peaks[3] == pytest.approx(j)
    assert profile.duration >= max(length / v, 2 * math.sqrt(length / a), 2 * (4 * length / j) ** (1 / 3)) * (1 - 1e-12)
    # optimal: with every limit 0.1 % lower it takes longer, and at least one limit is always active in every phase
    assert timing.double_s(0.999 * v, 0.999 * a, 0.999 * j).profile(length).duration > profile.duration
    middles = (profile.breaks[1:] + profile.breaks[:-1]) / 2
    use = np.abs(profile.evaluate(middles, 3)[1:]) / np.array([[v], [a], [j]])
    np.testing.assert_allclose(use.max(axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("length", np.geomspace(1e-4, 1e3, 15))
def test_double_s_is_the_shortest_bang_bang_motion(length):
    """Against the time found by bisection on the peak speed, whose distance is monotone."""
    v, a, j = 0.5, 1.3, 9.0

    def ramp(peak):
        rise = a / j
        return rise + peak / a if peak >= a * rise else 2 * math.sqrt(peak / j)

    low, high = 0.0, v
    for _ in range(200):
        peak = (low + high) / 2
        low, high = (peak, high) if peak * ramp(peak) < length else (low, peak)
    duration = ramp(high) + length / high
    assert timing.double_s(v, a, j).profile(length).duration == pytest.approx(duration, rel=1e-9)


@pytest.mark.parametrize("length", np.geomspace(1e-4, 1e2, 15))
def test_trapezoid_keeps_and_uses_its_limits(length):
    profile = timing.trapezoid(0.5, 1.0, 2.0).profile(length)
    t = np.concatenate([np.linspace(0, profile.duration, 501), profile.breaks])
    _, v, acceleration = profile.evaluate(t, 2)
    assert v.max() <= 0.5 * (1 + 1e-12)
    assert acceleration.max() == pytest.approx(1.0)
    assert profile.evaluate(profile.duration, 2, "left")[2] == pytest.approx(-2.0)
    peak = min(0.5, math.sqrt(2 * length * 2 / 3))
    assert profile.duration == pytest.approx(length / peak + peak / 2 * 1.5, rel=1e-12)


def test_peaks_of_the_polynomials():
    for name, peak in {
        "cubic": (1.5, 6.0),
        "quintic": (1.875, 10 / math.sqrt(3)),
        "septic": (2.1875, 84 * math.sqrt(5) / 25),
    }.items():
        profile = timing.REGISTRY[name](2.0).profile(3.0)
        s = np.abs(profile.evaluate(np.linspace(0, 2, 20001), 2)).max(axis=1)
        assert s[1] == pytest.approx(peak[0] * 3 / 2, rel=1e-6)
        assert s[2] == pytest.approx(peak[1] * 3 / 4, rel=1e-6), name


def test_piecewise_jerk_is_the_corrected_published_law():
    T, a = 4.0, math.pi
    profile = timing.piecewise_jerk(T).profile(2 * math.pi)
    t = np.linspace(0, T, 401)
    branches = [
        a * t**3 / 6,
        a * T**3 / 192 - a * T**2 * t / 16 + a * T * t**2 / 4 - a * t**3 / 6,
        -13 * a * T**3 / 96 + a * T**2 * t / 2 - a * T * t**2 / 2 + a * t**3 / 6,
    ]
    phi = np.where(t <= T / 4, branches[0], np.where(t <= 3 * T / 4, branches[1], branches[2]))
    np.testing.assert_allclose(profile.evaluate(t, 0)[0], phi, atol=1e-12)
    np.testing.assert_allclose(np.abs(profile.evaluate(t, 3)[3]), a, rtol=1e-14)
    with pytest.raises(DescriptionError, match="end at rest"):
        timing.piecewise_jerk(1.0, (1.0,), (1.0,))
    with pytest.raises(DescriptionError, match="backwards"):
        timing.piecewise_jerk(1.0, (-1.0, 1.0, -1.0))
    with pytest.raises(DescriptionError, match="add up to 1"):
        timing.piecewise_jerk(1.0, (1.0, -1.0, 1.0), (0.5, 0.5, 0.5))


def test_scaling():
    law = timing.quintic(2.0)
    t = np.linspace(0, 2, 50)
    expected = law.profile(1.0).evaluate(t)
    for slow in (timing.scaled(law, 3.0), timing.scaled(law, duration=6.0)):
        profile = slow.profile(1.0)
        assert profile.duration == 6.0
        np.testing.assert_allclose(profile.evaluate(3 * t) * 3.0 ** np.arange(4)[:, None], expected, atol=1e-12)


@pytest.mark.parametrize("interpolation", ["linear", "monotone", "spline"])
def test_table_passes_its_points(interpolation):
    times, fractions = [0, 1, 2, 3.5], [0, 0.2, 0.5, 1.0]
    profile = timing.table(times, fractions, interpolation, unit="fraction").profile(2.0)
    np.testing.assert_allclose(profile.evaluate(times, 0)[0], 2 * np.array(fractions), atol=1e-14)


NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: timing.constant_speed(0), "'speed' .* greater than 0 .*, found 0"),
        (lambda: timing.constant_speed(NAN), "finite"),
        (lambda: timing.quintic(-1), "'duration' of time law 'quintic' must be from 1e-12 to .*, found -1"),
        (lambda: timing.trapezoid(1, 0), "'a_max'"),
        (lambda: timing.double_s(1, 1, float("inf")), "'j_max' .* finite .*, found inf"),
        (lambda: timing.table([0, 1], [0, 1, 2]), "two equal rows"),
        (lambda: timing.table([1, 2], [0, 1]), "start at 0"),
        (lambda: timing.table([0, 1, 2], [0, 1, 0.5]), "never decrease"),
        (lambda: timing.table([0, 1], [0, 1]).profile(3.0), "must end at 3"),
        (lambda: timing.table([0, 1, 1.1, 3], [0, 0.01, 0.9, 1.0], "spline").profile(1.0), "run backwards"),
        (lambda: timing.table([0, 1], [0, 1], "quartic"), "allowed: linear"),
        (lambda: timing.formula("t", 1.0).profile(2.0), "must run from 0"),
        (lambda: timing.formula("L*(t/T) + 3*sin(2*pi*t/T)", 1.0).profile(1.0), "leaves the path"),
        (lambda: timing.formula("t + x", 1.0), "x"),
        (lambda: timing.formula("t", 1.0, breaks=[2.0]), "between 0 and the duration"),
        (lambda: timing.scaled(timing.quintic(1.0)), "either 'factor' or 'duration'"),
        (lambda: timing.from_description({"kind": "quintik", "duration": 1}), "Did you mean 'quintic'"),
        (lambda: timing.from_description({"kind": "quintic"}), "needs 'duration'"),
        (lambda: timing.from_description({"kind": "quintic", "T": 1}), "Known: duration"),
        (lambda: timing.from_description("quintic"), "'kind'"),
        (lambda: timing.quintic(1.0).profile(1.0).evaluate(NAN), "not finite"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(DescriptionError, match=message):
        call()


def test_unknown_names_are_lookup_errors():
    with pytest.raises(UnknownNameError):
        timing.from_description({"kind": "x"})

"""The small rules that verdicts are made of, each against its definition: errors from repetitions, crossings, delays, instants, conditioning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control, friction
from manipula.identity import identity
from manipula.simulation.loops.coarse_repetition import verified_coarsely
from manipula.simulation.loops.repetition import has_corners
from manipula.simulation.loops.setup import prepare_run
from manipula.simulation.loops.watching import _nearest
from manipula.simulation.result import RunVerdict
from manipula.simulation.stepping.coarse import BLOCK, share
from manipula.simulation.stepping.grid import (  # fmt: skip
    DIVERGED,
    FAR,
    RATIO,
    Grid,
    diverged,
    every,
    first_after,
    halved,
    must_end,
    periods,
    switching,
)
from manipula.simulation.stepping.verification import compare, shrinkage
from manipula.simulation.verdicts import judge
from manipula.simulation.verdicts.energy import with_energy_verdicts
from manipula.simulation.verdicts.limits import _kept, _RunChecks


def explicit(order: int, h: float, y: float) -> float:
    """One step of a method of this order for y' = −y: its polynomial is the beginning of the exponential series."""
    return y * sum((-h) ** k / float(np.prod(np.arange(1, k + 1))) for k in range(order + 1))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_difference_and_the_error_behind_it(order: int) -> None:
    """To leading order in h the factors give the true error of the run."""
    h = 0.02
    run = explicit(order, h, 1.0)
    finer = explicit(order, (1.0 - RATIO) * h, explicit(order, RATIO * h, 1.0))
    assert shrinkage(order) * (run - finer) == pytest.approx(run - np.exp(-h), rel=0.05)
    block = BLOCK * h
    steps = 1.0
    for _ in range(int(BLOCK)):
        steps = explicit(order, h, steps)
    coarse = explicit(order, (1.0 - RATIO) * block, explicit(order, RATIO * block, 1.0))
    assert share(order) * abs(steps - coarse) == pytest.approx(abs(steps - np.exp(-block)), rel=0.25)


def compared(coarse: np.ndarray, fine: np.ndarray, t: np.ndarray, tolerance: float) -> tuple[float, float]:
    """By its words: sample after sample, coordinate by coordinate."""
    worst, until, sizes, agreeing = 0.0, 0.0, np.ones(coarse.shape[1]), True
    for k in range(len(t)):
        if not np.isfinite(coarse[k]).all():
            return worst, until
        if not np.isfinite(fine[k]).all():
            return np.inf, until
        sizes = np.maximum(sizes, np.abs(fine[k]))
        off = float(np.max(np.abs(coarse[k] - fine[k]) / sizes))
        worst, agreeing = max(worst, off), agreeing and off <= tolerance
        until = t[k] if agreeing else until
    return worst, until


@pytest.mark.parametrize("seed", range(8))
def test_runs_against_their_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, 9)
    coarse = rng.normal(size=(5, 9, 3)) * 10.0 ** rng.uniform(-3, 7, size=(1, 1, 3))
    fine = coarse + 10.0 ** rng.uniform(-9, -2, size=(5, 1, 1)) * rng.normal(size=coarse.shape) * t[:, None]
    for member, at in ((0, 5), (1, 3)):
        (coarse if member else fine)[member, at:] = np.nan
    error, trusted = compare(coarse, fine, t, 1e-6)
    for k in range(5):
        assert (error[k], trusted[k]) == pytest.approx(compared(coarse[k], fine[k], t, 1e-6), rel=1e-12)
    assert np.isinf(error[0])
    assert np.isfinite(error[1:]).all()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_when_a_joint_left_its_range(side: float) -> None:
    """Two joints in uniformly accelerated motion: the one that passed its limit first, at its own time."""
    arm = mp.planar([0.5, 0.4], [1.0, 1.0])
    limits = {"position": [[-1.0, 1.0], [-1.0, 1.0]]}
    v, a = np.array([2.0, 4.0]), np.array([3.0, -1.0])
    crossed = (-v + np.sqrt(v**2 + 2.0 * a)) / a  # 1 = v t + a t²/2
    t = 0.45
    assert (crossed < t).all()
    state = side * (v * t + 0.5 * a * t**2), side * (v + a * t), side * a
    joint, when = judge.crossing(arm, limits, state, t)
    assert joint == int(np.argmin(crossed))
    assert when == pytest.approx(crossed.min(), abs=1e-9)  # limits are passed by 1e-9
    inside = judge.limits_crossed(arm, limits, np.array([[0.9, -0.9], [-0.9, 0.9]]))
    assert inside is None
    assert judge.limits_crossed(arm, limits, np.array([[0.9, 0.9], [0.9, side * 1.1], [9.0, 0.0]])) == (1, 1)


def test_until_when_a_run_is_trusted() -> None:
    verdict = lambda status: RunVerdict(status, "")
    assert judge.trusted_until(verdict("finished"), 2.0, 1.5) == 2.0
    assert judge.trusted_until(verdict("inaccurate"), 2.0, 1.5) == 1.5
    assert (
        judge.trusted_until(verdict("inaccurate"), 2.0, 2.0) == 0.0
    )  # the repetition agreed, and the run is wrong all the same
    assert judge.trusted_until(verdict("singular"), 2.0, 1.5) == 0.0
    assert np.isnan(judge.trusted_until(verdict("finished"), 2.0, float("nan")))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_conditioning_of_mass_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    roots = rng.normal(size=(40, n, n)) * 10.0 ** rng.uniform(-3, 3, size=(40, 1, n))
    M = roots.swapaxes(1, 2) @ roots
    d = np.sqrt(np.diagonal(M, axis1=1, axis2=2))
    unit = M / (d[:, :, None] * d[:, None, :])
    np.testing.assert_allclose(judge.reciprocals(M), 1.0 / np.linalg.cond(unit), rtol=1e-6, atol=1e-13)
    assert (judge.least_reciprocal(np.linalg.det(unit), n) <= judge.reciprocals(M) * (1.0 + 1e-9) + 1e-15).all()
    assert judge.reciprocals(-M[:1])[0] == 0.0


def test_periods_that_a_delay_reaches_into() -> None:
    """A command decided at k h acts from k h + d on: at the time 0+ the newest that acts is the one decided d before, periods back."""
    h = 0.01
    for delay, count in ((0.0, 0), (1e-6, 1), (0.0099, 1), (0.01, 2), (0.015, 2), (0.02, 3), (0.03, 4), (0.0301, 4)):
        assert periods(delay, h) == count


def test_instants_on_which_steps_end() -> None:
    marks = np.array([-FAR, 0.2, 0.5, FAR])
    first = first_after(marks, marks[1:, None], [0.3, 0.7])
    for t, expected in ((0.0, 0.2), (0.2, 0.3), (0.25, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, FAR)):
        assert float(np.ravel(first(t))[0]) == expected
    push, load = mp.Wrench((1, 0, 0, 0, 0, 0), start=0.1, stop=0.4), mp.PayloadChange(0.6, 1.0)
    assert switching([push, load]) == [0.1, 0.4, 0.6]
    assert every(0.3, 1.0).tolist() == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.0])
    assert every(0.25, 1.0).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert halved(1.0, 2.0, 0.0, RATIO) == (1.0 + RATIO, 1.0)
    assert halved(1.0, 2.0, 1.0, RATIO) == (2.0, 0.0)
    assert halved(1.0, 2.0, 0.0, 1.0) == (2.0, 0.0)


def test_states_in_which_a_run_ends() -> None:
    low, high = np.array([-1.0, -2.0]), np.array([1.0, 2.0])
    grid = Grid.of(np.linspace(0, 1, 3), np.zeros(0), low, high)
    for q, over in (
        ([1.0, 2.0], False),
        ([-1.0, -2.0], False),
        ([1.001, 0.0], True),
        ([0.0, -2.001], True),
        ([-1.001, 2.001], True),
    ):
        assert bool(must_end([*q, 0.0, 0.0, 5.0], 2, grid)) == over
    for x, over in (([0.0, DIVERGED, 0.0], False), ([0.0, 1.01 * DIVERGED, 0.0], True), ([0.0, 0.0, 1e300], False), ([0.0, 0.0, np.nan], True),
                    ([np.nan, 0.0, 0.0], True), ([0.0, 0.0, np.inf], True), ([-1.01 * DIVERGED, 0.0, 0.0], True),
                    ([DIVERGED, -DIVERGED, 0.0], True)):  # fmt: skip
        assert bool(diverged(x, 1)) == over


def test_the_nearest_of_times() -> None:
    times = np.array([0.0, 0.1, 0.4, 1.0])
    instants = np.linspace(-0.1, 1.1, 97)
    np.testing.assert_array_equal(_nearest(times, instants), np.abs(times - instants[:, None]).argmin(axis=1))


@pytest.mark.parametrize(
    ("lost", "status"), [(0.0, "finished"), (0.99e-3, "finished"), (1.1e-3, "inaccurate"), (np.nan, "inaccurate")]
)
def test_energy_that_is_unaccounted_for(lost: float, status: str) -> None:
    """A thousand tolerances of what was exchanged; by the energy that is stored only rounding is allowed."""
    run: Any = SimpleNamespace(
        plant=SimpleNamespace(contacts=(object(),), friction=()), scenario=SimpleNamespace(tolerance=1e-6)
    )
    arrays = {"kinetic": [[0.0, 1.0]], "work_contact": [[0.0, -0.5]], "energy": [[9e3, 9e3]], "audit": [[0.0, -lost]]}
    arrays = {name: np.array(value) for name, value in arrays.items()}
    assert with_energy_verdicts(run, arrays, [RunVerdict("finished", "")])[0].status == status
    died = RunVerdict("diverged", "")
    assert with_energy_verdicts(run, arrays, [died]) == [died]


def test_what_one_run_proves_of_its_limits() -> None:
    kept, broken = SimpleNamespace(ok=True), SimpleNamespace(ok=False)
    q = np.zeros((3, 2))
    held = lambda *checks, unchecked=(): _RunChecks(checks, (), unchecked)
    assert _kept("finished", q, held(kept)) is True
    assert _kept("finished", q, held(kept, broken)) is False
    assert _kept("limit", q, held(kept)) is False
    assert _kept("finished", q, held()) is None
    assert _kept("finished", q, held(kept, unchecked=("jerk",))) is None
    assert _kept("finished", np.full((3, 2), np.nan), held(kept)) is None
    for status in ("inaccurate", "failed", "diverged", "not_finite", "singular", "step_too_small"):
        assert _kept(status, q, held(kept)) is None
        assert _kept(status, q, held(broken)) is False


TURN = np.kron(np.eye(20), [[0.0, 1.0], [-1.0, 0.0]])  # pairs of states that turn into each other


def test_three_times_the_difference_from_longer_steps_must_be_within_the_tolerance() -> None:
    """States of a repetition that differ by a chosen size: what is told is its share, or nothing. Where every mode is followed the share decides."""
    scenario = mp.Scenario(
        mp.load("planar-2r"), duration=0.2, controller=control.PDGravity(50.0, 10.0, goal=0.1), integrator="rk4"
    )
    run = prepare_run(scenario)
    grid = Grid.of(scenario.times, np.zeros(0), np.full(2, -FAR), np.full(2, FAR))
    x = np.zeros((1, len(scenario.times), run.plant.layout.size))
    done = SimpleNamespace(x=x, why=("",))
    unknown = lambda beside, t, h: np.full_like(beside.x0, np.nan)
    resting = lambda beside, t, h: beside.x0
    vibrating = lambda beside, t, h: beside.x0 * np.exp(0.2j * h / scenario.step).real
    fast = lambda beside, t, h: (
        beside.x0 + 1.5 * h / scenario.step * beside.x0 @ TURN[: beside.x0.shape[1], : beside.x0.shape[1]]
    )
    cases = [(0.3, unknown, True), (0.4, unknown, False), (2.0, unknown, False), (0.4, fast, False)]
    cases += [(s / share(4), step, s < 1 / 3) for s in (0.3, 0.4) for step in (resting, vibrating)]
    for size, step_once, confirmed in cases:
        off = size * scenario.tolerance
        repeat = lambda members, blocks, off=off: SimpleNamespace(x=np.full((1, len(blocks.times), x.shape[2]), off))
        error, _ = verified_coarsely(run, grid, done, repeat, step_once)
        assert np.isfinite(error[0]) == confirmed
        if confirmed:
            assert error[0] == pytest.approx(off * share(4), rel=1e-9)


def test_classes_that_changed_since_they_were_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    law = friction.Viscous(2.0)
    before = identity(law)
    assert before is not None
    with monkeypatch.context() as patched:
        patched.setattr(friction.Viscous, "smooth", "otherwise")
        assert identity(law) != before
    with monkeypatch.context() as patched:
        patched.setattr(friction.Viscous, "torque", lambda self, qd, state=(), load=0.0: qd)
        assert identity(law) is None
    assert identity(law) == before


def test_a_class_that_only_says_that_it_is_ours() -> None:
    """Its methods are inherited, its module and name are those of a class of this package: it is another one all the same."""
    kind: Any = type("Viscous", (friction.Viscous,), {"__module__": friction.Viscous.__module__, "gain": 5.0})
    assert identity(kind(2.0)) is None
    assert identity(friction.Viscous(2.0)) is not None


@pytest.mark.parametrize(("beyond", "kept"), [(1e-8, False), (1e-10, True)])
def test_a_limit_may_be_passed_by_rounding_only(beyond: float, kept: bool) -> None:
    """An arm that coasts at 1 rad/s, for ever the same but for rounding."""
    arm = mp.planar([0.5], [1.0], gravity=(0, 0, 0))
    run = mp.simulate(mp.Scenario(arm, q0=[0.0], qd0=[1.0], duration=0.1, limits={"velocity": 1.0 - beyond}))
    assert run.feasible is kept


def test_a_corner_within_a_step_is_measured_by_its_square() -> None:
    """Of y' = max(0, t − c), wherever in the step c lies, nine of ten differences show the error; with the factor of a smooth motion six."""
    c = np.linspace(0.0, 1.0, 2001)

    def classical(t: float, h: float) -> np.ndarray:
        return h / 6 * sum(w * np.maximum(0.0, t + s * h - c) for w, s in ((1, 0.0), (4, 0.5), (1, 1.0)))

    error = np.abs(classical(0.0, 1.0) - (1.0 - c) ** 2 / 2)
    difference = np.abs(classical(0.0, 1.0) - classical(0.0, RATIO) - classical(RATIO, 1.0 - RATIO))
    assert (error <= shrinkage(1) * difference).mean() > 0.9
    assert (error <= shrinkage(4) * difference).mean() < 0.7


ROD = {"a": 1.0, "mass": 1.0, "com": [-0.5, 0, 0], "inertia": [0, 1 / 12, 1 / 12, 0, 0, 0], "rotor_inertia": 0.1}


@pytest.mark.parametrize(
    ("more", "corners"),
    [
        ({}, False),
        ({"friction": (friction.Viscous(0.3),)}, False),
        ({"drives": (mp.drives.Flexible(100.0),)}, False),
        ({"disturbances": (mp.Wrench((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), start=0.02, stop=0.05),)}, False),
        ({"actuator": mp.Actuator(limit=5.0)}, True),
        ({"drives": (mp.drives.Rigid(torque_limit=5.0, speed_limit=3.0),)}, True),
        ({"friction": (friction.LuGre(1e4, 100.0, 0.1, 1.0, 1.5, 0.05, load=1.0),)}, True),
        ({"contacts": (mp.contact.PlaneContact(1e4, point=(0.5, 0.0, 0.0), normal=(-1.0, 0.0, 0.0)),)}, True),
        ({"controller": control.UserFunction(lambda t, q, qd, target: -q)}, True),
    ],
)
def test_which_equations_have_corners(more: dict[str, Any], corners: bool) -> None:
    told = {"controller": control.PD(10.0, 2.0, goal=(0.1,))} | more
    s = mp.Scenario(mp.from_dh([ROD], "standard"), q0=(0.0,), duration=0.1, **told)
    assert has_corners(prepare_run(s).plant) is corners

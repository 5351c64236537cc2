"""A verification by longer steps is taken only where nothing can hide from them, and then it is right about the error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.loops import coarse_repetition, fixed
from manipula.simulation.stepping.coarse import BLOCK, blocks_of, follows, share
from manipula.simulation.stepping.grid import RATIO, Grid

ARM = mp.load("planar-2r")
HOLD = mp.control.PDGravity(60.0, 15.0, goal=[0.2, -0.1])


@pytest.fixture
def confirmed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs longer steps confirmed, one entry per verification by them."""
    found: list[int] = []
    asked = fixed.verified_coarsely

    def spy(*arguments: Any) -> Any:
        error, trusted = asked(*arguments)
        found.append(int(np.isfinite(error).sum()))
        return error, trusted

    monkeypatch.setattr(fixed, "verified_coarsely", spy)
    return found


def scenario(**options: Any) -> mp.Scenario:
    usual = {"controller": HOLD, "q0": [0.5, 0.4], "duration": 0.3, "integrator": "rk4", "friction": ()}
    return mp.Scenario(ARM, **{**usual, **options})


def error_of(s: mp.Scenario, result: mp.Result) -> float:
    truth = mp.simulate(s.replace(step=s.step / 16, sample=s.sample or s.step, verify=False))
    found, right = (np.concatenate([r.q, r.qd], axis=-1) for r in (result, truth))
    size = np.maximum(1.0, np.maximum.accumulate(np.abs(right), axis=-2))
    return float((np.abs(found - right) / size).max())


@pytest.mark.parametrize("sample", [None, 2.5e-4, 1.7e-3, 0.03])
@pytest.mark.parametrize("step", [2e-3, 1e-3])
def test_the_error_is_the_error(step: float, sample: float | None, confirmed: list[int]) -> None:
    s = scenario(step=step, sample=sample, controller=mp.control.PDGravity(60.0, 6.0, goal=[0.2, -0.1]), tolerance=1e-3)
    result = mp.simulate(s).check()
    assert confirmed == [1]
    assert error_of(s, result) <= 1.5 * result.error_estimate


def test_smooth_parts_are_repeated_by_longer_steps(confirmed: list[int]) -> None:
    move = mp.joint_move([0.5, 0.4], [0.7, 0.1], velocity=1.0, acceleration=3.0, jerk=30.0)
    for options in (
        {},
        {"controller": None, "qd0": [1.0, -1.0]},
        {"friction": mp.friction.Viscous(0.3)},
        {"controller": mp.control.ComputedTorque(100.0, 20.0), "reference": move, "duration": move.duration},
    ):
        mp.simulate(scenario(tolerance=1e-3, **options)).check()
        assert confirmed.pop() == 1, options


def test_what_may_hide_is_repeated_by_shorter_steps(confirmed: list[int]) -> None:
    push = mp.Wrench(("3*sin(25132.741228718345*t)", 0, 0, 0, 0, 0))
    own = mp.control.UserFunction(lambda t, q, qd, target: 20.0 * (np.array([0.2, -0.1]) - q) - 5.0 * qd)
    for options in (
        {"friction": mp.friction.Coulomb(0.4, 0.1)},
        {"actuator": mp.Actuator(limit=1e3)},
        {"noise": mp.Noise(1e-6, 1e-6)},
        {"actuator": mp.Actuator(delay=2e-3)},
        {"controller": mp.control.PID(60.0, 5.0, 15.0, goal=[0.2, -0.1], limit=1e3)},
        {"controller": own},
        {"disturbances": (mp.Wrench((1.0, 0, 0, 0, 0, 0), start=0.1, stop=0.2),)},
        {"disturbances": (push,), "duration": 0.05},
        {"contacts": (mp.contact.EndStop(1e5, low=-2.0, high=2.0),)},
        {"base_motion": mp.BaseMotion(("0.01*sin(t)", 0, 0))},
        {"integrator": "midpoint", "tolerance": 1e-3},
        {"duration": 3e-3},
        {"q0": [0.5, 0.4], "qd0": [300.0, 0.0], "controller": None, "duration": 0.02},
    ):
        mp.simulate(scenario(**options))
        assert confirmed.pop() == 0, options


def test_a_transient_between_close_instants_does_not_fade_unseen() -> None:
    """The arm begins off its reference, and the error of the first samples is gone before two phases of the reference are over."""
    start = np.array([0.3])
    move = mp.joint_move(start + 0.05, [-0.6], velocity=2.0, acceleration=20.0, jerk=300.0)
    s = mp.Scenario(
        mp.planar([1.0], [1.0]), q0=start, controller=mp.control.ComputedTorque(3300.0, 150.0), reference=move, step=7.5e-3,
        sample=0.012568, integrator="rk4", tolerance=1.1e-3, friction=(),
    )  # fmt: skip
    result = mp.simulate(s)
    assert error_of(s, result) > 1.1e-3
    assert not result.ok


@pytest.mark.parametrize(
    ("amplitude", "step", "turn", "tolerance", "steps"),
    [
        (2.784e-06, 0.285, 0.7714, 1.069e-06, 854),
        (1.592e-04, 0.2435, 0.6999, 8.195e-05, 355),
        (1.138e-04, 0.172, 1.06, 2.523e-04, 87),
        (1.195e-05, 0.1321, 0.8002, 4.43e-05, 1404),
    ],
)
def test_a_vibration_that_longer_steps_damp_away_is_not_confirmed(
    amplitude: float, step: float, turn: float, tolerance: float, steps: int, confirmed: list[int]
) -> None:
    """The rod swings as a cos ωt; longer steps stand still soon, and what they differ by is no more than a."""
    rod = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its joint
    s = mp.Scenario(
        rod, q0=[amplitude], controller=mp.control.PD((turn / step) ** 2, 0.0, goal=[0.0]), duration=steps * step, step=step,
        integrator="rk4", friction=(), tolerance=tolerance,
    )  # fmt: skip
    result = mp.simulate(s)
    rate = turn / step
    off = np.abs(result.q[:, 0] - amplitude * np.cos(rate * result.t)).max()
    off = max(off, np.abs(result.qd[:, 0] + amplitude * rate * np.sin(rate * result.t)).max())
    assert amplitude * rate < 1.0
    assert off > tolerance
    assert confirmed == [0]
    assert result.status == "inaccurate"
    assert result.error_estimate > 0.5 * off


def test_three_times_the_difference_is_within_the_tolerance(
    confirmed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its share where every mode of the run is followed; the modes of this one are slow."""
    error = mp.simulate(scenario(tolerance=1e-3)).check().error_estimate
    assert confirmed.pop() == 1
    for rule, bound in (("share", error), ("difference", error / share(4))):
        if rule == "difference":
            monkeypatch.setattr(coarse_repetition, "follows", lambda *_: False)
        for times, sure in ((2.7, 0), (3.3, 1)):
            mp.simulate(scenario(tolerance=times * bound)).check()
            assert confirmed.pop() == sure


def test_modes_are_those_of_the_arm_under_its_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eigenvalues of the closed loop at rest on its goal: [[0, 1], [−M⁻¹ kp, −M⁻¹ kv]] (gravity is compensated)."""
    found: list[np.ndarray] = []
    monkeypatch.setattr(coarse_repetition, "follows", lambda modes, *_: bool(found.append(modes)) or True)
    goal = np.array([0.2, -0.1])
    error = mp.simulate(scenario(tolerance=1e-3)).check().error_estimate
    mp.simulate(scenario(tolerance=4.0 * error, duration=2.0))  # the last place is at rest on the goal
    M = np.asarray(mp.compile(ARM).mass_matrix(goal))
    inverse = np.linalg.inv(M)
    expected = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-60.0 * inverse, -15.0 * inverse]]))
    assert np.sort_complex(found[-1]) == pytest.approx(np.sort_complex(expected), rel=1e-3)


def test_where_every_mode_is_followed_the_share_bounds_the_error() -> None:
    """Random motions e^{λt} of any damping and length: three times the share of the largest difference is never below the largest error."""
    rng = np.random.default_rng(5)
    grows = lambda z: 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24
    seen = {True: 0, False: 0}
    missed = 0
    for _ in range(3000):
        turn, blocks = 10 ** rng.uniform(-2, 0.3), int(10 ** rng.uniform(0, 4))
        z = turn * np.exp(1j * rng.choice([0.5, rng.uniform(0.5, 1.0)]) * np.pi)
        block = rng.uniform(BLOCK, 2 * BLOCK)
        k = np.arange(1, blocks + 1)
        fine, exact = np.exp(k * block * np.log(grows(z))), np.exp(k * block * z)
        with np.errstate(over="ignore", invalid="ignore"):  # longer steps may be unstable
            coarse = np.exp(k * (np.log(grows(RATIO * block * z)) + np.log(grows((1 - RATIO) * block * z))))
        error, difference = np.abs(fine - exact).max(), np.nan_to_num(np.abs(coarse - fine), nan=np.inf).max()
        followed = follows(np.array([z]), block, block * blocks)
        right = error <= 3.0 * share(4) * difference + 1e-12
        seen[followed] += 1
        missed += not followed and not right
        assert right or not followed, (z, block, blocks)
    assert min(seen.values()) > 300
    assert missed > 50  # so the question is worth asking


@pytest.mark.parametrize(
    "options",
    [
        {"friction": mp.friction.Coulomb(0.4, 0.1)},
        {"friction": mp.friction.Stribeck(0.5, 0.3, 0.1, 0.05)},
        {"controller": mp.control.PID(60.0, 5.0, 15.0, goal=[0.2, -0.1], limit=1e3)},
        {"integrator": "midpoint"},
        {"controller": None, "qd0": [40.0, -25.0]},  # 0.26 rad in four steps
    ],
)
def test_however_much_is_allowed_these_are_not_confirmed(options: dict[str, Any], confirmed: list[int]) -> None:
    """Longer steps differ by less than the tolerance here, and yet say nothing about the error: corners, a low order, fast joints."""
    mp.simulate(scenario(tolerance=1.0, **options)).check()
    assert confirmed == [0]


def test_the_friction_that_a_controller_believes_in_may_have_corners_too(confirmed: list[int]) -> None:
    dry = ARM.replace(joints=tuple(replace(j, friction=mp.friction.Coulomb(0.4, 0.1)) for j in ARM.joints))
    move = mp.joint_move([0.5, 0.4], [0.7, 0.1], velocity=1.0, acceleration=3.0, jerk=30.0)
    law = mp.control.ComputedTorque(100.0, 20.0)
    for model, sure in ((None, 1), (dry, 0)):
        mp.simulate(
            scenario(controller=law, reference=move, duration=move.duration, model=model, tolerance=1.0)
        ).check()
        assert confirmed.pop() == sure


def test_a_reference_that_turns_once_a_step_is_not_confirmed(confirmed: list[int]) -> None:
    wave = mp.formula_motion(["0.5 + 0.01*sin(6283.185307179586*t)", "0.4"], duration=0.02, space="joint")
    result = mp.simulate(scenario(controller=mp.control.PDGravity(6e3, 150.0), reference=wave, duration=0.02))
    assert confirmed == [0]
    assert result.ok  # its steps end within every turn of the reference


def test_every_run_of_a_batch_is_confirmed_by_itself(confirmed: list[int]) -> None:
    gains = np.array([60.0, 6e4, 80.0])
    s = scenario(vary={"controller.kp": gains}, tolerance=1e-3)
    together = mp.simulate(s)
    assert confirmed.pop() == 2
    for k, kp in enumerate(gains):
        alone = mp.simulate(scenario(controller=mp.control.PDGravity(kp, 15.0, goal=[0.2, -0.1]), tolerance=1e-3))
        assert together.run(k).error_estimate == alone.error_estimate
        assert together.statuses[k] == alone.status


def test_blocks_are_longer_than_the_steps_they_are_held_against() -> None:
    rng = np.random.default_rng(5)
    free = np.full(2, np.inf)
    some = 0
    for _ in range(300):
        h, apart, duration = 1e-3, rng.uniform(0.3, 12.0) * 1e-3, rng.uniform(0.01, 0.5)
        times = np.append(np.arange(0.0, duration - 1e-4, apart), duration)
        grid = Grid.of(times, rng.uniform(0.0, duration, rng.integers(0, 3)), -free, free)
        found = blocks_of(grid, h)
        if found is None:
            continue
        some += 1
        blocks, kept = found
        stops = np.union1d(blocks.times, blocks.marks[1:-1])
        assert np.diff(stops).min() >= BLOCK * h * (1.0 - 1e-6)
        assert np.array_equal(blocks.times, times[kept])
        assert kept[0] == 0
        assert kept[-1] == len(times) - 1
        assert np.isin(grid.marks, blocks.marks).all()
        for mark in (0.0, *grid.marks[1:-1]):  # nothing fades before it is compared
            unseen = times[(times > mark) & (times < times[kept][times[kept] > mark][0])]
            assert not len(unseen) or unseen[-1] - mark <= 3 * BLOCK * h
    assert some > 50


def test_the_bound_follows_from_the_parts_of_a_block() -> None:
    for order in (1, 2, 4):
        parts = BLOCK * np.array([RATIO, 1.0 - RATIO])
        assert abs((parts ** (order + 1)).sum() / BLOCK - 1.0 - 1.0 / share(order)) <= 1e-12 / share(order)

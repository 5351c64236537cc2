"""A run in a batch is the run alone, to the last bit; every run has its own numbers and its own verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, ShapeError, UnknownNameError
from manipula.native.calling import threads
from manipula.native.calling.kernel import SECONDS_PER_OPERATION
from manipula.native.llvm.segments import weight
from manipula.native.lowering.passes import cost
from manipula.simulation.loops.setup import prepare_run

RNG = np.random.default_rng(11)
STARTS = RNG.uniform(-0.5, 0.5, (7, 2))
BASE = mp.Scenario(
    robot=mp.load("planar-2r"), controller=control.PDGravity(60.0, 15.0, goal=[0.2, -0.1]), q0=STARTS, duration=0.2, sample=0.02,
    integrator="rk4", verify=False, tolerance=1e-4,  # damping over the smallest inertia is 400/s
)  # fmt: skip
SIGNALS = ("q", "qd", "qdd", "tau", "energy", "audit", "tip")


def same_bits(batch: mp.Result, k: int, alone: mp.Result) -> None:
    for name in SIGNALS:
        assert np.array_equal(batch.arrays[name][k], alone.arrays[name]), name


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
def test_initial_states(integrator: str) -> None:
    runs = BASE.replace(integrator=integrator)
    batch = mp.simulate(runs)
    assert batch.q.shape == (7, 11, 2)
    for k in (0, 3, 6):
        same_bits(batch, k, mp.simulate(runs.replace(q0=STARTS[k])))
    assert len({row.tobytes() for row in batch.q[:, -1]}) == 7


def test_gains() -> None:
    gains = np.array([20.0, 60.0, 150.0])
    batch = mp.simulate(BASE.replace(q0=STARTS[0], vary={"controller.kp": gains}))
    for k, kp in enumerate(gains):
        same_bits(
            batch, k, mp.simulate(BASE.replace(q0=STARTS[0], controller=control.PDGravity(kp, 15.0, goal=[0.2, -0.1])))
        )


def test_gains_of_each_joint() -> None:
    gains = np.array([[20.0, 30.0], [60.0, 10.0]])
    shaped = BASE.replace(q0=STARTS[0], controller=control.PDGravity((1.0, 1.0), 15.0, goal=[0.2, -0.1]))
    batch = mp.simulate(shaped.replace(vary={"controller.kp": gains}))
    for k, kp in enumerate(gains):
        same_bits(
            batch, k, mp.simulate(shaped.replace(controller=control.PDGravity(tuple(kp), 15.0, goal=[0.2, -0.1])))
        )


def test_masses_as_symbols() -> None:
    m = sympy.Symbol("m", positive=True)
    heavy = mp.planar([1.0, 1.0], [1.0, m], inertia=[1 / 12, m / 12])
    masses = [0.5, 1.0, 2.5]
    runs = BASE.replace(robot=heavy, q0=STARTS[1], parameters={"m": masses})
    batch = mp.simulate(runs)
    assert batch.ok
    for k, mass in enumerate(masses):
        same_bits(batch, k, mp.simulate(runs.replace(parameters={"m": mass})))
        plain = mp.simulate(
            BASE.replace(robot=mp.planar([1.0, 1.0], [1.0, mass], inertia=[1 / 12, mass / 12]), q0=STARTS[1])
        )
        assert np.abs(batch.q[k] - plain.q).max() <= 1e-13


def test_flexible_drives_of_a_robot_with_symbols_start_unloaded() -> None:
    m = sympy.Symbol("m", positive=True)
    robot = mp.planar([1.0], [m], inertia=[m / 12], gravity=(0, 0, 0))
    robot = robot.replace(joints=tuple(replace(j, rotor_inertia=0.05) for j in robot.joints))
    run = mp.Scenario(robot=robot, drives=(mp.drives.Flexible(400.0),), q0=[0.7], duration=0.05, parameters={"m": 1.0})
    assert np.abs(mp.simulate(run).q - 0.7).max() <= 1e-12


def test_seeds() -> None:
    noisy = BASE.replace(noise=mp.Noise(1e-3, 1e-2, seed=5), q0=np.repeat(STARTS[:1], 3, 0))
    first, again = mp.simulate(noisy), mp.simulate(noisy)
    assert np.array_equal(first.q, again.q)
    assert len({row.tobytes() for row in first.q[:, -1]}) == 3  # every run draws its own
    same_bits(first, 0, mp.simulate(noisy.replace(q0=STARTS[0])))
    fewer = mp.simulate(noisy.replace(q0=np.repeat(STARTS[:1], 2, 0)))
    assert np.array_equal(fewer.q, first.q[:2])
    other = mp.simulate(noisy.replace(noise=mp.Noise(1e-3, 1e-2, seed=6)))
    assert not np.array_equal(first.q, other.q)


def test_threads_do_not_change_bits() -> None:
    q0 = RNG.uniform(-1, 1, (257, 2))  # not a multiple of any vector width
    one, four = (mp.simulate(BASE.replace(q0=q0), threads=n) for n in (1, 4))
    for name in SIGNALS:
        assert np.array_equal(one.arrays[name], four.arrays[name])


def test_ten_thousand_runs() -> None:
    q0 = RNG.uniform(-1, 1, (10_000, 2))
    result = mp.simulate(BASE.replace(q0=q0, duration=0.02, sample=0.02, verify=True))
    assert result.status == "finished"
    assert result.q.shape == (10_000, 2, 2)
    assert len(result.statuses) == 10_000


def test_every_run_has_its_own_verdict() -> None:
    gains = [60.0, 1e9, 60.0, 4e4]  # sane, exploding, sane, too stiff for this step
    runs = BASE.replace(q0=STARTS[0], vary={"controller.kp": gains}, verify=True, duration=0.4)
    result = mp.simulate(runs)
    assert result.statuses[0] == result.statuses[2] == "finished"
    assert result.statuses[1] in ("diverged", "not_finite")
    assert result.statuses[3] == "inaccurate"
    assert result.status == result.statuses[1]
    assert "1 of 4" in result.reason
    assert np.isnan(result.q[1, -1]).all()
    assert result.run(2).ok
    alone = mp.simulate(runs.replace(vary=None))
    assert np.array_equal(result.q[2], alone.q)


def test_other_gains_compile_nothing() -> None:
    one, two = (
        prepare_run(BASE.replace(controller=control.PDGravity(k, 15.0, goal=[0.2, -0.1]))).loop for k in (10.0, 20.0)
    )
    assert one is two
    assert one.run is two.run


def test_wrong_batches_are_refused() -> None:
    with pytest.raises(ShapeError, match="different sizes"):
        mp.simulate(BASE.replace(vary={"controller.kp": [1.0, 2.0]}))
    with pytest.raises(UnknownNameError, match=r"controller\.kp"):
        mp.simulate(BASE.replace(vary={"controller.kq": [1.0] * 7}))
    with pytest.raises(ShapeError):
        BASE.replace(q0=np.zeros((3, 5)))
    m = sympy.Symbol("m", positive=True)
    with pytest.raises(DescriptionError, match="m"):
        mp.simulate(BASE.replace(robot=mp.planar([1.0, 1.0], [1.0, m], inertia=[1 / 12, m / 12]), q0=STARTS[0]))


LUGRE = mp.friction.LuGre(100.0, 0.3, 0.1, v_stribeck=0.1, mu_static=0.15, mu_kinetic=0.1, diameter=0.02)


@pytest.mark.parametrize(
    "more", [{}, {"friction": LUGRE}, {"contacts": (mp.contact.PlaneContact(1e4, point=(0, 0, -9)),)}]
)
def test_the_length_of_a_run_is_known_before_it_begins(more: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """How many threads share a batch, and whether its caller stays awake for Ctrl-C, is decided from the operations of its steps."""
    arm = mp.load("puma560")
    run = prepare_run(mp.Scenario(arm, q0=np.zeros(6), duration=1.0, integrator="rk4", **more))
    rate = run.loop.rate_given.graph
    once = weight(rate, rate.body)
    assert (
        cost(run.loop.run.graph).turn > 4 * 0.8 * once
    )  # four evaluations of the equations, less what they share with nothing else

    asked: list[float] = []
    decide = threads.thread_count
    monkeypatch.setattr(threads, "thread_count", lambda given, seconds: asked.append(seconds) or decide(given, seconds))
    monkeypatch.setattr(threads, "available_cores", lambda: 2)
    base = mp.Scenario(arm, q0=np.zeros((64, 6)), duration=0.2, step=1e-3, sample=0.2, integrator="rk4", verify=False)
    mp.simulate(base.replace(**more))
    assert max(asked) > 64 * 200 * 4 * 0.8 * once * SECONDS_PER_OPERATION
    assert decide(None, max(asked)) == 2

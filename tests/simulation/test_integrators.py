"""Every integrator has the order it claims, and free motion keeps its energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.physics.composite import forward_dynamics
from manipula.simulation.integrators import ADAPTIVE, FIXED

ORDER = 0.1  # measured against nominal order
# duration [s] and whole steps (then twice as many) where the error follows h^p and still stands above rounding
RUNS = {
    "rk4": (0.8, 160), "semi_implicit": (0.8, 2000), "midpoint": (0.8, 320), "dopri5": (2.0, 160), "dop853": (0.8, 12), "rodas": (0.8, 160),
}  # fmt: skip
X0 = np.array([-1.4, 0.3, 0.5, -0.5])


def pushed(t: Any, x: Any) -> Any:
    """A double pendulum under torques that vary with time: smooth, not autonomous, not chaotic within a second."""
    robot = mp.load("planar-2r")
    tau = array([3.0 * ops.sin(3.0 * t), ops.cos(2.0 * t)])
    return np.concatenate([x[2:], forward_dynamics(robot, x[:2], x[2:], tau)])


@pytest.fixture(scope="module")
def truth() -> Any:
    """The state at a time, by SciPy."""
    kernel = native.compile_function(pushed, {"t": (), "x": (4,)})
    return lambda end: solve_ivp(lambda t, x: kernel(t, x), (0, end), X0, method="DOP853", rtol=1e-13, atol=1e-14).y[
        :, -1
    ]


def last_state(name: str) -> native.Kernel:
    """``kernel(x0, h, steps)``: the state after whole steps of any method, adaptive ones held at h."""

    def run(x: Any, h: Any, steps: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            if name in FIXED:
                return (FIXED[name].step(pushed, i * h, x, h, 2),)
            return (ADAPTIVE[name].attempt(pushed, i * h, x, h, lambda new: np.ones(4))[0],)

        return {"last": native.repeat(step, (x,), steps).state[0]}

    return native.compile_function(run, {"x": (4,), "h": (), "steps": ()}, shared=("steps",))


def test_every_integrator_is_measured() -> None:
    assert set(RUNS) == {*FIXED, *ADAPTIVE}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_measured_order(name: str, truth: Any) -> None:
    kernel, (end, steps) = last_state(name), RUNS[name]
    coarse, fine = (np.linalg.norm(kernel(X0, end / n, n) - truth(end)) for n in (steps, 2 * steps))
    method = FIXED.get(name) or ADAPTIVE[name]
    assert abs(np.log2(coarse / fine) - method.order) <= ORDER


@pytest.mark.parametrize(("name", "step"), [("dopri5", 0.02), ("rodas", 0.005)])
def test_error_estimates_follow_the_step(name: str, step: float) -> None:
    """The estimate that steers the step behaves like h to the power it is used with."""
    method = ADAPTIVE[name]

    def estimate(t: Any, x: Any, h: Any) -> Any:
        return {"e": method.attempt(pushed, t, x, h, lambda new: np.ones(4))[1]}

    kernel = native.compile_function(estimate, {"t": (), "x": (4,), "h": ()})
    coarse, fine = (float(kernel(0.2, X0, h)) for h in (step, step / 2))
    assert abs(np.log2(coarse / fine) - (method.error_order + 1)) <= 0.5  # one step, not the limit h → 0


DEFAULT_ENERGY = 1e-8
TIGHT_ENERGY = {"planar-2r": 3e-12, "panda": 1e-11}
FALLS = {"planar-2r": [0.3, 0.2], "panda": [0.1, 0.9, -0.2, -1.2, 0.3, 1.4, 0.2]}


def drift(result: mp.Result) -> float:
    """Largest change of the energy over the largest kinetic energy."""
    return float(np.abs(result.energy - result.energy[0]).max() / result.kinetic.max())


@pytest.mark.parametrize("name", sorted(FALLS))
def test_free_motion_keeps_its_energy(name: str) -> None:
    fall = mp.Scenario(robot=mp.load(name), q0=FALLS[name], duration=10.0, sample=0.037, friction=(), verify=False)
    result = mp.simulate(fall)
    assert result.ok
    assert drift(result) <= DEFAULT_ENERGY
    tight = mp.simulate(fall.replace(tolerance=1e-9))
    assert drift(tight) <= TIGHT_ENERGY[name]
    assert np.abs(tight.audit).max() <= TIGHT_ENERGY[name] * tight.kinetic.max()


def test_midpoint_energy_does_not_drift_over_long_runs() -> None:
    """The error of a symmetric method oscillates; that of RK4 with the same step grows with time."""
    swing = mp.Scenario(robot=mp.planar([1.0], [1.0]), q0=[-1.0], duration=600.0, step=0.02, sample=0.1, verify=False)
    middle, classic = (mp.simulate(swing.replace(integrator=name)) for name in ("midpoint", "rk4"))
    wrong = [np.abs(r.energy - r.energy[0]) for r in (middle, classic)]
    first, last = slice(0, 600), slice(-600, None)
    assert wrong[0][last].max() <= 1.05 * wrong[0][first].max()
    assert wrong[1][last].max() >= 5.0 * wrong[1][first].max()


@pytest.mark.parametrize("name", ["dopri5", "dop853", "rodas"])
def test_adaptive_and_fixed_steps_agree(name: str) -> None:
    control = mp.control.PDGravity(80.0, 20.0, goal=[0.5, -0.2])
    run = mp.Scenario(robot=mp.load("planar-2r"), controller=control, q0=[0.0, 0.4], duration=1.0, sample=0.05)
    fixed, adaptive = (mp.simulate(run.replace(integrator=i, step=s)) for i, s in (("rk4", 5e-4), (name, 1e-3)))
    assert fixed.ok
    assert adaptive.ok
    assert np.abs(fixed.q - adaptive.q).max() <= 1e-9  # RK4 at half a millisecond on poles up to 200/s
    assert np.abs(fixed.tau - adaptive.tau).max() <= 1e-6


def test_a_step_cut_short_by_a_sample_costs_no_accuracy() -> None:
    """Samples land on steps: asking for more of them changes nothing but rounding."""
    fall = mp.Scenario(robot=mp.load("planar-2r"), q0=[0.3, 0.2], duration=2.0, verify=False)
    few, many = (mp.simulate(fall.replace(sample=s)).q for s in (0.5, 0.001))
    assert np.abs(few - many[::500]).max() <= 1e-10  # the tolerance of 1e-12 amplified by a motion that doubles errors

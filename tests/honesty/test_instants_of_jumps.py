"""When an acceleration jumps is known to rounding, not to a share of the time between two samples. Judge: closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.redundancy.null_space import Criterion
from manipula.robot.friction import FrictionLaw

SLIDE = mp.from_dh([{"joint": "prismatic", "mass": 2.0}], "standard")  # along its weight
LEVEL = SLIDE.replace(gravity=(0, 0, 0))
EARLY, LATE = 0.3123456789, 0.3765432109
SAMPLES = [0.1, 1e-2, 1e-3]


def instants(robot: mp.Robot = SLIDE, **options: Any) -> list[float]:
    common: dict[str, Any] = {"q0": [0.0], "duration": 0.7, "step": 1e-3}
    jerk = mp.simulate(mp.Scenario(robot, **common | options)).jerk()
    assert np.isinf(jerk.largest).all()
    return sorted({t for _, _, t in jerk.jumps})


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_what_slides_comes_to_rest(sample: float, method: str) -> None:
    """From 1 m/s against F/m = 2 m/s²: after 0.5 s; the run ends its steps there, its record does not say so."""
    options: dict[str, Any] = {"qd0": [1.0], "friction": (mp.friction.Stiction(4.0),), "integrator": method}
    assert instants(LEVEL, sample=sample, **options) == pytest.approx([0.5], abs=1e-12)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_disturbances_between_two_steps(sample: float, method: str) -> None:
    pull = mp.Wrench((0, 0, 9.0, 0, 0, 0), "tip", EARLY, LATE)
    assert instants(sample=sample, disturbances=(pull,), integrator=method) == pytest.approx([EARLY, LATE], abs=1e-12)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_somebodys_code_decides(sample: float) -> None:
    """It falls 0.7 m in √(1.4/g)."""
    at = mp.control.UserFunction(lambda t, q, qd, target: np.array([ops.where(q[0] < -0.7, 30.0, 0.0)]))
    assert instants(controller=at, sample=sample, integrator="dop853") == pytest.approx(
        [math.sqrt(1.4 / 9.81)], abs=1e-12
    )
    when = mp.control.UserFunction(lambda t, q, qd, target: np.array([ops.where(t > EARLY, 30.0, 0.0)]))
    assert instants(controller=when, sample=sample) == pytest.approx([EARLY], abs=1e-12)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_a_controller_in_python_decides(sample: float) -> None:
    """Its difference quotients would show a jump as a finite jerk of jump by nudge."""
    law = mp.control.UserFunction(lambda t, q, qd, target: [math.fsum([30.0 if t > EARLY else 0.0])])
    assert instants(controller=law, sample=sample) == pytest.approx([EARLY], abs=1e-12)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("kind", ["inverse_dynamics", "dynamic"])
def test_corners_of_a_reference(sample: float, kind: Any) -> None:
    arm = mp.load("planar-2r")
    move = mp.trajectory(mp.paths.joint([[0.0, 0.0], [1.0, 0.6]]), mp.timing.trapezoid(1.0, 4.1))
    law = None if kind == "inverse_dynamics" else mp.control.ComputedTorque(100.0, 20.0)
    found = mp.simulate(mp.Scenario(arm, move, law, kind=kind, step=1e-3, sample=sample)).jerk()
    times = sorted({t for _, _, t in found.jumps})
    assert times == pytest.approx(sorted({*move.breaks[1:-1]}), abs=1e-12)


def test_what_comes_back_between_two_samples_is_seen() -> None:
    """It falls onto a spring and is back in the air at the next sample, with its weight alone at both."""
    stop = mp.contact.EndStop(1e5, low=[-0.5], high=[9.0])
    sparse, dense = (
        mp.simulate(mp.Scenario(SLIDE, q0=[0.0], duration=0.6, sample=sample, contacts=(stop,), tolerance=1e-9)).jerk()
        for sample in (0.3, 1e-4)
    )
    speed, rate = math.sqrt(9.81), math.sqrt(1e5 / 2.0)  # m/s onto the spring, rad/s on it
    largest = rate * math.hypot(rate * speed, 9.81)  # of the harmonic motion on the spring
    assert dense.largest == pytest.approx(largest, rel=1e-4)
    assert sparse.largest == pytest.approx(largest, rel=1e-4)


@pytest.mark.parametrize("compiled", [True, False])
def test_code_that_changed_is_found_in_every_run_and_at_every_sample(compiled: bool) -> None:
    """It changes nothing in the first run, and in the second one between the ninths of it only."""
    strength = [3.0]

    def law(t: Any, q: Any, qd: Any, target: Any) -> Any:
        speed = qd[0] if compiled else float(qd[0])
        return np.array([1.0 + strength[0] * ops.where((speed > 5.0) & (t > 0.33), ops.sin(9.0 * t), 0.0)])

    result = mp.simulate(
        mp.Scenario(
            LEVEL, q0=[[0.0], [0.0]], qd0=[[0.0], [6.0]], duration=0.4, step=1e-3, sample=0.01, controller=mp.control.UserFunction(law)
        )
    )  # fmt: skip
    strength[0] = 30.0
    jerk = result.jerk()
    assert not jerk.exact
    assert "gives other accelerations now" in jerk.remark
    again = mp.simulate(result.scenario) if isinstance(result.scenario, mp.Scenario) else result
    assert again.jerk().exact is compiled


class Drag(FrictionLaw):
    """Somebody's friction law, with a strength that it does not keep for itself."""

    strength = 1.0

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return Drag.strength * qd * ops.abs(qd)


class Curl(Criterion):
    """Somebody's criterion of the null space."""

    name = "curl"
    gain = 0.1
    strength = 1.0

    def cost(self, arm: Any, q: Any) -> Any:
        return 0.5 * Curl.strength * q[2] * q[2]


def followed() -> mp.Result:
    line = mp.trajectory(mp.paths.line([0.5, 0.1, 0.0], [0.55, 0.1, 0.0]), mp.timing.quintic(0.5))
    arm = mp.planar([0.5, 0.4, 0.3], [1.0, 1.0, 1.0])
    return mp.simulate(
        mp.Scenario(arm, line, q0=[0.4, 0.5, 0.6], kind="kinematic", start="project", gain=5.0, criteria=(Curl(),))
    )


def programmed() -> mp.Result:
    arm = mp.planar([0.5, 0.4], [1.0, 1.0])
    options: dict[str, Any] = {"start": "project", "duration": 0.5, "step": 1e-3, "friction": (Drag(), Drag())}
    return mp.ProgramScenario(arm, ["q1 = 0.3*sin(t)"], q0=[0.0, 0.3], **options).run()


@pytest.mark.parametrize("made", [followed, programmed])
def test_changed_criteria_and_laws_of_given_motions(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = made().jerk()
    assert exact.exact
    result = made()
    for part in (Drag, Curl):
        monkeypatch.setattr(part, "strength", 1.9)
    jerk = result.jerk()
    assert not jerk.exact
    assert "gives other accelerations now" in jerk.remark
    assert np.abs(jerk.largest - exact.largest).max() <= 1.5 * jerk.error

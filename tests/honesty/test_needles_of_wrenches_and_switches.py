"""What acts for less than a step because of where the arm is, or how fast it moves: wrenches by formulas and functions, conditions of switches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis; the tip at (cos q, sin q)
METHODS = ["rk4", "dop853", "rodas"]
PLACE = np.sin(0.300013)  # the height at which the tip is pushed, passed at 1 m/s · cos q


def moved(wrench: Any, method: str, **options: Any) -> mp.Result:
    common: dict[str, Any] = {"q0": [0.0], "qd0": [1.0], "duration": 1.0, "sample": 0.25}
    push = (mp.Wrench(wrench),)
    return mp.simulate(mp.Scenario(ROD, disturbances=push, integrator=method, **common | options))


def passes(result: mp.Result) -> bool:
    return any("windows of the state" in note for note in result.notes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "factor", ["(x - 1)", "(x - y - 1)", "(vx + 1)*(y - 1)", "max(0, 0.99 - x)", "(wz - 1 + 0.1*y)"]
)
def test_a_pulse_in_time_acts_whatever_it_is_multiplied_with(factor: str, method: str) -> None:
    """An impulse of I·factor N·m·s at 0.400003 s, when the rod stands at 0.400003 rad."""
    width, impulse, at = 1e-6, 2.0, 0.400003
    height = impulse / (np.sqrt(np.pi) * width)
    result = moved((0, 0, 0, 0, 0, f"{height:.17g}*{factor}*exp(-((t - {at})/{width})^2)"), method)
    if not result.ok:
        return
    c, s = np.cos(at), np.sin(at)
    if "w" in factor or "v" in factor:  # what the push depends on changes while it lasts
        assert abs(result.q[-1, 0] - 1.0) > 1e-3
        return
    size = {"(x - 1)": c - 1, "(x - y - 1)": c - s - 1, "max(0, 0.99 - x)": 0.99 - c}[factor]
    assert result.q[-1, 0] == pytest.approx(1.0 + impulse * size * (1.0 - at), abs=1e-5)


WINDOWS = {
    "smooth": "1e4*exp(-((y - {p})/1e-6)^2)",
    "narrow": "1e6*exp(-((y - {p})/1e-8)^2)",
    "box": "2e3*(sign(y - {p} + 1e-5) - sign(y - {p} - 1e-5))/2",
    "beside a spring": "-3*y + 2e4*max(0, 1 - abs(y - {p})/1e-6)",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", list(WINDOWS))
def test_a_window_of_the_place_in_a_formula_is_not_called_finished(name: str, method: str) -> None:
    result = moved((0, 0, 0, 0, 0, WINDOWS[name].format(p=f"{PLACE:.17g}")), method)
    assert result.status != "finished" or result.qd[-1, 0] > 1.005 or passes(result), result.q[-1]


def test_the_window_of_a_formula_is_named() -> None:
    result = moved((0, 0, 0, 0, 0, WINDOWS["narrow"].format(p=f"{PLACE:.17g}")), "dop853")
    assert result.status == "inaccurate"
    assert "at t = 0.3000" in result.reason
    assert "User code" not in result.reason


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "control", [{}, {"controller": mp.control.PD(kp=0.0, kv=1e-9, goal=[0.0]), "control_period": 1e-3}]
)
@pytest.mark.parametrize("of", ["time", "place"])
def test_the_function_of_a_wrench_is_searched(of: str, control: dict[str, Any], method: str) -> None:
    if control and method != "rk4":
        return

    def push(t: Any, pose: Any, twist: Any) -> Any:
        off = (t - 0.300013) / 1e-8 if of == "time" else (pose[1, 3] - PLACE) / 1e-8
        return [0, 0, 0, 0, 0, 1e6 * ops.exp(-(off**2))]

    result = moved(push, method, **control)
    assert result.status != "finished" or result.qd[-1, 0] > 1.005 or passes(result), result.qd[-1]


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize(
    "text",
    ["-200*(y - 0.4)", "-5*vy", "max(0, 300*(y - 0.5))", "-0.5*tanh(wz/0.05)", "sin(40*x)*cos(30*t)", "2*sign(y - 0.333)", "x*y - 3*yaw"],
)  # fmt: skip
def test_ordinary_formulas_are_neither_refused_nor_doubted(text: str, method: str) -> None:
    result = moved((0, 0, 0, 0, 0, text), method, tolerance=1e-5)
    assert "no step met it" not in result.reason
    assert not passes(result), result.notes


SOFT, HARD = mp.control.PD(kp=0.0, kv=0.1, goal=[0.0]), mp.control.PD(kp=0.0, kv=5.0, goal=[0.0])
CONDITIONS = {
    "of time": "1e-4 - abs(t - 0.50043)",
    "of place": "1e-5 - abs(q1 - 0.300013)",
    "both": "1e-6 - abs(q1 - 0.1 - 0.2*t)",
    "of speed": "1e-6 - abs(qd1 - 0.95)",
    "comes back first": "(q1 - 0.300013)^2 - 1e-10",
    "smooth": "exp(-((q1 - 0.300013)/1e-6)^2) - 0.5",
}


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("name", list(CONDITIONS))
def test_a_condition_that_holds_for_less_than_a_step_is_met_or_confessed(name: str, method: str) -> None:
    switch = mp.Switch(when=CONDITIONS[name], controller=HARD)
    start: dict[str, Any] = {"q0": [0.0], "qd0": [1.0], "duration": 1.0, "sample": 0.25}
    result = mp.simulate(mp.Scenario(ROD, controller=SOFT, switches=(switch,), integrator=method, **start))
    if result.ok:
        assert result.switched[-1, 0] > 0.0
    else:
        assert "switches[0]" in result.reason or "changed the answer" in result.reason


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize(
    "when", ["q1 - 0.4", "0.93 - qd1", "q1^2 + t - 0.5", "q1 - 2", "sin(30*q1) - 0.5", "abs(q1 - 0.4) - 0.1"]
)
def test_ordinary_conditions_are_neither_refused_nor_doubted(when: str, method: str) -> None:
    start: dict[str, Any] = {"q0": [0.0], "qd0": [1.0], "duration": 1.0, "sample": 0.25, "tolerance": 1e-5}
    switch = mp.Switch(when=when, controller=HARD)
    result = mp.simulate(mp.Scenario(ROD, controller=SOFT, switches=(switch,), integrator=method, **start))
    assert result.ok, result.reason
    assert not passes(result), result.notes


@pytest.mark.parametrize(
    "wrench",
    [
        ("-200*(x - 0.4)", 0, 0, 0, 0, 0),
        ("-5*vx", "-5*vy", "-5*vz", 0, 0, 0),
        ("-30*(x - 0.5)", "-20*y - 3*vy", "10*sin(3*t)*z", 0, 0, "-0.3*wz"),
    ],
)
def test_springs_and_dampers_on_a_spatial_arm_are_not_doubted(wrench: Any) -> None:
    """Joints that the wrench hardly turns, and an arm that comes to rest, where ranges are wide beside what changes."""
    rest = np.array([0, 0.3, 0, -1.5, 0, 1.8, 0])
    stiffness, damping = (80.0, 80.0, 80.0, 80.0, 10.0, 10.0, 2.0), (15.0, 15.0, 15.0, 15.0, 0.8, 0.8, 0.05)
    hold = mp.control.PDGravity(stiffness, damping, goal=tuple(rest + 0.3))
    scenario = mp.Scenario(mp.load("panda"), controller=hold, q0=rest, duration=1.0, disturbances=(mp.Wrench(wrench),))
    result = mp.simulate(scenario.replace(sample=0.01, integrator="rk4", tolerance=1e-5))
    assert result.ok, result.reason
    assert not passes(result), result.notes

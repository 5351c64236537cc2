"""Pulses far shorter than the steps: found in formulas by ranges, in compiled code by its conditions, or said to be beyond what was searched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import native
from manipula.algebra import ops
from manipula.simulation.stepping.instants import formula_marks

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
METHODS = ["auto", "rk4", "dop853", "rodas"]


def pushed(*formulas: str, **options: Any) -> mp.Result:
    push = tuple(mp.Wrench((0, 0, 0, 0, 0, text)) for text in formulas)
    common: dict[str, Any] = {"q0": [0.0], "duration": 1.0, "sample": 0.25, "disturbances": push}
    return mp.simulate(mp.Scenario(ROD, **common | options))


# an impulse of 2 N·m·s at 0.400003 s turns the rod by 2·(1 − 0.400003) rad
AT, IMPULSE = 0.400003, 2.0
PULSES = {
    "gauss": ("{a}*exp(-((t - 0.400003)/{w})^2)", np.sqrt(np.pi)),
    "resonance": ("{a}/(1 + ((t - 0.400003)/{w})^2)^2", np.pi / 2),
    "triangle": ("{a}*max(0, 1 - abs(t - 0.400003)/{w})", 1.0),
    "box": ("{a}*(sign(t - 0.400003 + {w}/2) - sign(t - 0.400003 - {w}/2))/2", 1.0),
    "under a swing": ("3*sin(9*t) + {a}*exp(-((t - 0.400003)/{w})^2)", np.sqrt(np.pi)),
}


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("width", [1e-6, 1e-9])
@pytest.mark.parametrize("name", list(PULSES))
def test_a_needle_in_a_formula_is_met_or_confessed(name: str, width: float, method: str) -> None:
    text, area = PULSES[name]
    result = pushed(text.format(a=f"{IMPULSE / (area * width):.17g}", w=width), integrator=method)
    if not result.ok:  # methods whose step follows the error may find times too coarse for it
        assert method != "rk4" or width < 1e-8 or name in ("resonance", "box"), result.reason
        return
    swing = 3 * (1.0 / 9 - np.sin(9.0) / 81) if name == "under a swing" else 0.0
    assert result.q[-1, 0] == pytest.approx(IMPULSE * (1.0 - AT) + swing, abs=3e-6)
    assert not [note for note in result.notes if "pulses" in note]


@pytest.mark.parametrize(
    "text",
    ["3*sin(9*t)", "t*exp(-3*t)*cos(40*t)", "sin(t)^2 + cos(t)^2", "5*sign(sin(pi*(t - 0.1234)/0.2))", "2", "sqrt(t)", "atan2(t, 0.3)"],
)  # fmt: skip
def test_what_is_smooth_has_no_more_marks_than_before_and_no_doubts(text: str) -> None:
    examined = formula_marks((), (mp.Wrench((0, 0, 0, 0, 0, text)),), 1.0, 1e-3)
    assert not examined.doubts
    assert len(examined.marks) < 300


def test_what_cannot_be_searched_to_the_end_is_said() -> None:
    """Ten thousand needles: there is no time to look at all of them."""
    result = pushed("(1 + sign(sin(2*pi*1e4*t) - 0.999999999))/2")
    assert result.status != "finished" or any("searched for pulses down to" in note for note in result.notes)


def crossing(window: Any, **options: Any) -> mp.Result:
    """The rod turns at 1 rad/s under somebody's torque."""

    def torque(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([window(t, q[0], qd[0])])

    common: dict[str, Any] = {
        "q0": [0.0],
        "qd0": [1.0],
        "duration": 1.0,
        "sample": 0.25,
        "controller": mp.control.UserFunction(torque),
    }
    return mp.simulate(mp.Scenario(ROD, **common | options))


WINDOWS = {
    "of position": lambda t, q, v: ops.where(ops.abs(q - 0.300013) < 1e-5, 1000.0, 0.0),
    "narrower": lambda t, q, v: ops.where(ops.abs(q - 0.300013) < 1e-8, 1e6, 0.0),
    "smooth": lambda t, q, v: 1000.0 * ops.exp(-(((q - 0.300013) / 1e-5) ** 2)),
    "beside a law": lambda t, q, v: -2.0 * q - 0.1 * v + ops.where((q > 0.3001) & (q < 0.30012), 900.0, 0.0),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", list(WINDOWS))
def test_a_window_of_the_state_narrower_than_a_step_is_not_called_finished(name: str, method: str) -> None:
    result = crossing(WINDOWS[name], integrator=method)
    assert result.status != "finished", result.q[-1]


def test_what_was_passed_over_is_named() -> None:
    result = crossing(WINDOWS["of position"], integrator="rk4")
    assert "pushes joint 'joint1' at t = 0.3000" in result.reason


def test_a_window_as_high_as_the_law_around_it_is_met() -> None:
    """Five times what the law does elsewhere, for 10 µs."""
    result = crossing(
        lambda t, q, v: ops.sin(9.0 * q) + ops.where(ops.abs(q - 0.300013) < 5e-6, 10.0, 0.0), integrator="rk4"
    )
    assert "pushes joint 'joint1'" in result.reason


def test_a_window_where_the_arm_turns_back_within_a_step_is_met() -> None:
    """It turns at a quarter of a step, at a place that neither end of the step shows, nor any stage of the run or its repetition."""
    step, brake = 1e-3, 10.0
    turns = 10.25 * step
    place = brake * turns**2 / 2
    result = crossing(
        lambda t, q, v: (
            -brake + ops.where((q > place - brake * (0.03 * step) ** 2 / 2) & (q < place + 1e-10), 3.0, 0.0)
        ),
        integrator="rk4",
        qd0=[brake * turns],
        duration=0.02,
        step=step,
        sample=None,
    )
    assert "pushes joint 'joint1' at t = 0.0102" in result.reason


def test_too_many_steps_in_doubt_are_confessed() -> None:
    """The ranges of what cancels are wide in all of a thousand steps."""
    result = crossing(lambda t, q, v: 100.0 * (ops.sin(q) ** 2 + ops.cos(q) ** 2 - 1.0) - 0.1 * v, integrator="rk4")
    assert result.ok
    assert any("windows of the state" in note for note in result.notes)


class Notch(mp.friction.FrictionLaw):
    """Somebody's friction: a narrow peak at half a radian per second."""

    name = "notch"

    def torque(self, v: Any, state: Any = (), load: Any = None) -> Any:
        return 0.2 * v + ops.where(ops.abs(v - 0.500003) < 2e-6, 5000.0, 0.0)


def test_a_window_of_a_friction_law_is_met_or_confessed() -> None:
    rod = ROD.replace(joints=tuple(replace(j, friction=Notch()) for j in ROD.joints))
    result = mp.simulate(mp.Scenario(rod, q0=[0.0], qd0=[1.0], duration=8.0, sample=0.5, integrator="rk4"))
    assert result.status != "finished" or any("windows of the state" in note for note in result.notes), result.reason


LAWS = {
    "wide window": lambda t, q, v: ops.where((q > 0.3) & (q < 0.5), 1.0, 0.0),
    "saturation": lambda t, q, v: ops.minimum(1.0, ops.maximum(-1.0, 50.0 * (0.5 - q) - 5.0 * v)),
    "spring": lambda t, q, v: -400.0 * ops.sin(q - 0.2),
    "dry friction": lambda t, q, v: -0.5 * ops.tanh(v / 0.05),
    "time": lambda t, q, v: ops.where(t > 0.5, 1.0, -1.0),
    "near a window": lambda t, q, v: -9.0 * q + ops.where(q > 0.33334, 100.0, 0.0),  # turns at 1/3
}


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("name", list(LAWS))
def test_ordinary_laws_are_neither_refused_nor_doubted(name: str, method: str) -> None:
    result = crossing(LAWS[name], integrator=method, tolerance=1e-5)
    assert "no step met it" not in result.reason
    assert not [note for note in result.notes if "windows of the state" in note], result.notes


def test_code_that_cannot_be_searched_says_so() -> None:
    def torque(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([1.0 if abs(float(q[0]) - 0.300013) < 1e-5 else 0.0])  # runs in Python

    result = mp.simulate(
        mp.Scenario(ROD, q0=[0.0], qd0=[1.0], duration=0.1, sample=0.05, controller=mp.control.UserFunction(torque))
    )
    assert any("windows of the state" in note for note in result.notes)


def test_loops_in_somebodys_code_are_confessed() -> None:
    def law(t: Any, q: Any, v: Any) -> Any:
        return native.repeat(lambda i, y: (y - 0.1 * v,), (-2.0 * q,), 3.0).state[0]

    result = crossing(law, integrator="rk4")
    assert result.ok
    assert any("windows of the state" in note for note in result.notes)

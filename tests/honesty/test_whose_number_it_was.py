"""Numbers that are not finite: the part that gave the first one is named, and nothing is printed behind the user's back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.control import Controller
from manipula.errors import DescriptionError
from manipula.robot.friction.base import FrictionLaw

ROBOT = mp.load("planar-2r")
MOVE = mp.trajectory(mp.paths.joint([[0, 0.2], [0.2, 0.3]], interpolation="polyline"), mp.timing.quintic(0.2))
TIP = mp.compile(ROBOT).position([0.0, 0.0])


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def law(**methods: Any) -> FrictionLaw:
    body = {"name": "mine", "torque": lambda self, v, state, load=0.0: 0.1 * v, **methods}
    return type("Mine", (FrictionLaw,), body)()


def rubbing(part: FrictionLaw, **settings: Any) -> mp.Result:
    return mp.simulate(
        mp.Scenario(ROBOT, q0=(0.1, 0.2), qd0=(0.5, 0.1), duration=0.1, friction=(part, None), **settings)
    )


def torque(f: Any) -> Any:
    return lambda self, v, state, load=0.0: f(v)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda v: 1 / 0, r"friction\[0\]: 'mine', torque fails: ZeroDivisionError: division by zero"),
        (lambda v: None, r"friction\[0\]: 'mine', torque gives None; one number is needed"),
        (lambda v: True, r"friction\[0\]: 'mine', torque gives True; one number"),
        (lambda v: v > 0, r"friction\[0\]: 'mine', torque gives True; one number"),
        (lambda v: float("inf"), r"friction\[0\]: 'mine': its torque is no finite number \(inf\) at any speed\.$"),
        (lambda v: float("nan"), r"friction\[0\]: 'mine': its torque is no finite number \(nan\) at any speed\.$"),
    ],
)
def test_laws_that_give_no_number_are_named(f: Any, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        rubbing(law(torque=torque(f)))


@pytest.mark.parametrize("integrator", ["auto", "rk4", "dop853"])
def test_a_law_that_becomes_infinite_is_named(integrator: str) -> None:
    part = law(torque=torque(lambda v: ops.where(v > 0.4, float("inf"), v)))
    result = rubbing(part, integrator=integrator)
    assert result.status == "not_finite"
    assert "friction[0] ('mine') gives inf at t = 0 s" in result.reason


def test_a_memory_that_is_no_number_is_named() -> None:
    part = law(states=1, state_rate=lambda self, v, state, load=0.0: (float("nan"),))
    assert "state_rate of friction[0] ('mine') gives nan" in rubbing(part).reason


def controlled(f: Any) -> mp.Result:
    body = {"name": "mine", "space": "joint", "torque": lambda self, arm, t, q, qd, target, state: f(t, q)}
    part: Any = dataclass(frozen=True)(type("Mine", (Controller,), body))()
    return mp.simulate(mp.Scenario(ROBOT, MOVE, controller=part, duration=0.1))


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda t, q: q * float("nan"), "gives nan at t = 0 s"),
        (lambda t, q: q / 0, "gives nan at t = 0 s"),
        (lambda t, q: np.full(2, np.inf if float(t) >= 0.05 else 0.0), "gives inf at t = 0.05 s"),
    ],
)
def test_a_controller_that_gives_no_number_is_named(f: Any, told: str) -> None:
    result = controlled(f)
    assert result.status == "not_finite"
    assert f"The controller 'mine' {told}" in result.reason


@pytest.mark.parametrize("law", ["TaskSpaceComputedTorque", "OperationalSpace"])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_a_stretched_arm_is_singular(law: str, turn: float) -> None:
    tip = mp.compile(ROBOT).position([turn, 0.0])
    line = mp.trajectory(mp.paths.line(tip, 0.9 * tip), mp.timing.quintic(0.5))
    result = mp.simulate(mp.Scenario(ROBOT, line, controller=getattr(mp.control, law)(100.0, 20.0), q0=(turn, 0.0)))
    assert result.status == "singular"
    assert "singular posture at t = 0 s" in result.reason
    assert f"joint1 = {turn:g}, joint2 = 0" in result.reason


def test_an_arm_without_mass_is_told_quietly() -> None:
    massless = mp.planar(lengths=[1, 1], masses=[0, 0])
    assert mp.simulate(mp.Scenario(massless, q0=(0.1, 0.2), duration=0.1)).status == "singular"

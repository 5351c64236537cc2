"""Free parameters inside friction laws and drives, and numbers that vary: held against their ranges, alone and together, in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.parts.field import Number
from manipula.robot.friction.base import FrictionLaw

TEXT = """
[[link]]
name = "a"
[[link]]
name = "b"
mass = "m"
com = [0.5, 0, 0]
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "j"
type = "revolute"
parent = "a"
child = "b"
axis = [0, 1, 0]
rotor_inertia = "J"
limits = { velocity = "w" }
friction = { law = "viscous", damping = "b/2" }
drive = { drive = "rigid", torque_limit = "5*T" }
"""
ARM = mp.from_toml(TEXT)
LEGAL = {"m": 2.0, "J": 1e-3, "b": 0.4, "T": 1.0, "w": 3.0}
BAD = {
    "b": (-1.0, "'damping' of friction law 'viscous' must be at least 0"), "T": (-2.0, "'torque_limit' of drive 'rigid'"),
    "m": (-1.0, "The mass of link 'b' must be at least 0, found -1"), "J": (-1.0, "The rotor inertia of joint 'j' must be at least 0"),
}  # fmt: skip


def run(parameters, **more):
    return mp.Scenario(ARM, q0=(0.3,), duration=0.05, parameters=parameters, verify=False, **more)


def test_laws_with_free_parameters_act_as_with_their_numbers() -> None:
    expected = mp.simulate(mp.Scenario(ARM.with_parameters(**LEGAL), q0=(0.3,), duration=0.05, verify=False))
    assert np.allclose(mp.simulate(run(LEGAL)).q, expected.q, rtol=0, atol=1e-14)
    batch = mp.simulate(run({**LEGAL, "b": (0.4, 4.0, 40.0)}))
    for k, b in enumerate((0.4, 4.0, 40.0)):
        alone = mp.simulate(
            mp.Scenario(ARM.with_parameters(**{**LEGAL, "b": b}), q0=(0.3,), duration=0.05, verify=False)
        )
        assert np.allclose(batch.q[k], alone.q, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", BAD)
def test_values_out_of_range(name: str) -> None:
    value, told = BAD[name]
    with pytest.raises(DescriptionError, match=told):
        ARM.with_parameters(**{**LEGAL, name: value})
    with pytest.raises(DescriptionError, match=told):
        mp.simulate(run({**LEGAL, name: value}))
    with pytest.raises(DescriptionError, match=rf"{told}.*{name} = {value:g} in run 2"):
        mp.simulate(run({**LEGAL, name: (LEGAL[name], LEGAL[name] * 2, value)}))


def test_limits_out_of_range() -> None:
    with pytest.raises(DescriptionError, match="The velocity limit of joint 'j' must be at least 0, found -3"):
        ARM.with_parameters(**{**LEGAL, "w": -3.0})


def test_a_formula_that_has_no_value() -> None:
    arm = mp.from_toml(TEXT.replace('"b/2"', '"1/b"'))
    with pytest.raises(DescriptionError, match=r"no finite number.*b = 0") as error:
        mp.simulate(mp.Scenario(arm, q0=(0.3,), duration=0.05, parameters={**LEGAL, "b": 0.0}))
    assert error.value.field == "friction[0]"


@dataclass(frozen=True)
class TwoLevels(FrictionLaw):
    """A law of somebody whose fields are legal only together."""

    low: Annotated[Any, Number("N·m", "low", least=0.0)]
    high: Annotated[Any, Number("N·m", "high", least=0.0)]
    name: ClassVar[str] = "two_levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.low, float) and isinstance(self.high, float) and self.low > self.high:
            raise ValueError(f"low {self.low:g} above high {self.high:g}")

    def torque(self, qd, state=(), load=0.0):
        return (self.low + self.high) * qd


def test_fields_that_are_legal_alone_but_not_together() -> None:
    robot = mp.load("planar-2r")
    law = TwoLevels(1.0, 2.0)
    legal = mp.Scenario(
        robot, q0=(0.1, 0.2), duration=0.02, friction=law, verify=False, vary={"friction[1].low": (0.5, 1.5)}
    )
    assert mp.simulate(legal).status == "finished"
    with pytest.raises(DescriptionError, match=r"In run 2 .*two_levels.*low 3 above high 2") as error:
        mp.simulate(legal.replace(vary={"friction[1].low": (0.5, 1.5, 3.0)}))
    assert error.value.field == "vary.friction[1].low"


def test_criteria_of_a_controller_are_legal_together() -> None:
    away = control.ObstacleDistance((0.5, 2.0, 0.0), radius=0.5, obstacle=0.1)
    reference = mp.trajectory(mp.paths.line((1.5, 1.0, 0.0), (1.4, 1.1, 0.0)), mp.timing.quintic(0.05))
    controller = control.OperationalSpace(100.0, 20.0, criteria=(away,))
    s = mp.Scenario(
        mp.planar([1, 1, 1], [1, 1, 1]),
        reference,
        controller,
        (0.2, 0.5, 0.4),
        duration=0.02,
        start="project",
        verify=False,
    )
    with pytest.raises(DescriptionError, match=r"In run 1 .*must be smaller than the radius"):
        mp.simulate(s.replace(vary={"controller.criteria[0].obstacle": (0.2, 0.6)}))


def test_an_entry_of_a_gain_that_is_one_number() -> None:
    s = mp.Scenario(mp.load("planar-2r"), controller=control.PD(9.0, 3.0, goal=0.1), duration=0.02, verify=False)
    with pytest.raises(
        DescriptionError, match=r"'controller\.kp' is one number.*vary 'controller\.kp' itself, or give it as a list"
    ) as error:
        mp.simulate(s.replace(vary={"controller.kp[0]": (1.0, 2.0)}))
    assert error.value.field == "vary.controller.kp[0]"
    lists = s.replace(controller=control.PD((9.0, 9.0), 3.0, goal=0.1), vary={"controller.kp[0]": (1.0, 2.0)})
    assert mp.simulate(lists).statuses == ("finished", "finished")


def test_a_value_out_of_range_names_its_run() -> None:
    s = mp.Scenario(mp.load("planar-2r"), friction=mp.friction.Viscous(0.1), duration=0.02, verify=False)
    with pytest.raises(DescriptionError, match=r"must be at least 0 .*found -1 in run 1"):
        mp.simulate(s.replace(vary={"friction[0].damping": (1.0, -1.0)}))

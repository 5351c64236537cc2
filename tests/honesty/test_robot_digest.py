"""The digest of a robot tells robots apart that move differently, and only those."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

import manipula as mp
from manipula.robot.drives import Drive
from manipula.robot.friction import FrictionLaw
from manipula.robot.robot import Robot

ARM = mp.planar(lengths=[0.5, 0.4], masses=[2.0, 1.0])


@dataclass(frozen=True)
class Mine(FrictionLaw):
    coefficient: Any
    name: ClassVar[str] = "mine"

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.coefficient * qd


@dataclass(frozen=True)
class Yours(FrictionLaw):
    coefficient: Any
    name: ClassVar[str] = "mine"

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.coefficient * qd * qd * qd


class Plain(Drive):
    """No dataclass: its number is an attribute."""

    name = "plain"

    def __init__(self, k: float) -> None:
        self.k = k

    def torque(self, command: Any, t: Any, q: Any, qd: Any, state: Any, rotor: Any) -> Any:
        return self.k * command


def with_parts(**parts: Any) -> Robot:
    return replace(ARM, joints=(replace(ARM.joints[0], **parts), ARM.joints[1]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"friction": Mine(0.1)}, {"friction": Yours(0.1)}),
        ({"friction": mp.friction.Viscous(0.1)}, {"friction": Mine(0.1)}),
        ({"friction": Mine(0.1)}, {"friction": Mine(0.2)}),
        ({"drive": Plain(1.0)}, {"drive": Plain(2.0)}),
        ({"drive": mp.drives.Rigid()}, {"drive": None}),
        ({"drive": mp.drives.Flexible(500.0, 0.0, motor="0.4*t^3")}, {"drive": mp.drives.Flexible(500.0, 0.0, motor="t")}),
    ],
)  # fmt: skip
def test_other_parts_give_another_digest(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert with_parts(**one).digest != with_parts(**other).digest
    assert with_parts(**one).digest == with_parts(**one).digest


def test_a_part_that_changes_changes_the_digest() -> None:
    drive = Plain(1.0)
    robot = with_parts(drive=drive)
    before = robot.digest
    drive.k = 2.0
    assert robot.digest != before


def test_equal_robots_have_equal_digests() -> None:
    whole = mp.planar(lengths=[1, 2], masses=[2, 1], gravity=(0, -10, 0))
    real = mp.planar(lengths=[1.0, 2.0], masses=[2.0, 1.0], gravity=(-0.0, -10.0, 0.0))
    assert whole == real
    assert whole.digest == real.digest


def test_names_count() -> None:
    assert replace(ARM, links=(replace(ARM.links[0], name="upper"), ARM.links[1])).digest != ARM.digest

"""Numbers that vary within a batch reach everything that a part computes from them, or are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.robot.friction import FrictionLaw

ARM = mp.planar(lengths=[0.5], masses=[2.0], gravity=(0, 0, 0))
INERTIA = 2.0 * 0.5**2 / 3
DAMPING = np.array([0.1, 0.4])


@dataclass(frozen=True)
class Asked(FrictionLaw):
    """Twice the damping, computed when it is asked for."""

    damping: Any
    name: ClassVar[str] = "asked"

    @cached_property
    def twice(self) -> Any:
        return 2.0 * self.damping

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.twice * qd


@dataclass(frozen=True)
class Settled(FrictionLaw):
    """Twice the damping, computed when the law is made."""

    damping: Any
    name: ClassVar[str] = "settled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2.0 * self.damping)

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.twice * qd  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True)
class Filled(FrictionLaw):
    damping: Any
    twice: Any = field(init=False)
    name: ClassVar[str] = "filled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2.0 * self.damping)

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.twice * qd


def coasting(law: FrictionLaw, **more: Any) -> np.ndarray:
    scenario = mp.Scenario(robot=ARM, q0=[0.0], qd0=[1.0], friction=(law,), duration=0.2, sample=0.1, **more)
    return np.asarray(mp.simulate(scenario).check().qd)[..., -1, 0]


@pytest.mark.parametrize("law", [Asked(0.1), Settled(0.1), Filled(0.1)])
def test_what_a_part_keeps_beside_its_fields_acts(law: FrictionLaw) -> None:
    law.twice  # pyright: ignore[reportAttributeAccessIssue]  # computed before the run, too
    assert coasting(law) == pytest.approx(np.exp(-0.2 / INERTIA * 0.2), rel=1e-9)


def test_what_is_computed_when_asked_follows_the_numbers_of_each_run() -> None:
    law = Asked(0.1)
    law.twice
    found = coasting(law, vary={"friction[0].damping": DAMPING})
    assert found == pytest.approx(np.exp(-2.0 * DAMPING / INERTIA * 0.2), rel=1e-9)


@pytest.mark.parametrize("law", [Settled(0.1), Filled(0.1)])
def test_what_is_computed_once_cannot_vary(law: FrictionLaw) -> None:
    with pytest.raises(DescriptionError, match=r"'friction\[0\]' computes something from its numbers when it is made"):
        coasting(law, vary={"friction[0].damping": DAMPING})

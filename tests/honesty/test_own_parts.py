"""Laws, drives and controllers that somebody wrote wrongly are named, with what they give and what is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, ManipulaError
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw

ARM = mp.planar([0.5, 0.4], [2.0, 1.0])


@dataclass(frozen=True)
class Law(FrictionLaw):
    damping: float = 1.0
    gives: Any = None
    name: ClassVar[str] = "mine"

    def torque(self, v: Any, state: Any = (), load: Any = 0.0) -> Any:
        return self.damping * v if self.gives is None else self.gives


@dataclass(frozen=True)
class Bristle(Law):
    states: ClassVar[int] = 1

    def state_rate(self, v: Any, state: Any = (), load: Any = 0.0) -> Any:
        return (v, v)


@dataclass(frozen=True)
class Narrow(Law):
    def torque(self, v: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return v


@dataclass(frozen=True)
class Motor(Drive):
    first: tuple[float, ...] = (0.0,)
    rate: tuple[float, ...] = (0.0,)
    name: ClassVar[str] = "my_motor"
    states: ClassVar[int] = 1

    def torque(self, command: Any, t: Any, q: Any, qd: Any, state: Any, rotor: Any) -> Any:
        return command

    def state_rate(self, command: Any, t: Any, q: Any, qd: Any, state: Any, rotor: Any) -> Any:
        return self.rate

    def initial_state(self, q: Any, qd: Any) -> Any:
        return self.first


WRONG = [
    ({"friction": Bristle()}, r"friction\[0\]: 'mine', state_rate gives .*1 number"),
    ({"friction": Law(gives=(1.0,))}, r"friction\[0\]: 'mine', torque gives"),
    ({"friction": Law(gives="a")}, r"friction\[0\]: 'mine', torque gives 'a'"),
    ({"friction": Law(damping=float("nan"))}, r"friction\[0\].*damping"),
    ({"friction": Narrow()}, r"friction\[0\]: 'mine', torque fails: TypeError"),
    ({"drives": {0: Motor(rate=(0.0, 1.0))}}, r"drives\[0\]: 'my_motor', state_rate gives"),
    ({"drives": {0: Motor(first=(0.0, 1.0))}}, r"drives\[0\]: 'my_motor', initial_state gives"),
]


@pytest.mark.parametrize(("parts", "words"), WRONG)
def test_the_part_and_what_it_gives_are_named(parts: Any, words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        mp.programmed_motion(ARM, ["x = 0.8"], **parts).run([0.3, 0.8], duration=0.01, step=1e-3, start="project")
    if "drives" in parts:
        parts = {"drives": [parts["drives"][0], None]}
    with pytest.raises(DescriptionError, match=words):
        mp.simulate(mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.01, **parts))


@pytest.mark.parametrize(
    "bad", [lambda t, q, qd, target: {}["a"], lambda t, q, qd, target: q.foo, lambda t, q, qd, target: None]
)
def test_a_function_that_fails_is_told_as_the_controller(bad: Any) -> None:
    with pytest.raises(ManipulaError, match="controller"):
        mp.simulate(mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.01, controller=control.UserFunction(bad)))


class Counting:
    def __init__(self) -> None:
        self.total = 0.0

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        self.total += float(q[0])
        return np.array([-self.total, 0.0])


@dataclass(frozen=True)
class Holder(control.Controller):
    inner: Any = None
    name: ClassVar[str] = "holder"
    space: ClassVar[Any] = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return getattr(self.inner, "function", self.inner)(t, q, qd, target)


@pytest.mark.parametrize("wrap", [control.UserFunction, lambda f: f])
def test_a_memory_inside_a_field_of_a_controller_is_found(wrap: Any) -> None:
    result = mp.simulate(mp.Scenario(ARM, q0=[0.1, 0.2], duration=0.01, controller=Holder(wrap(Counting()))))
    assert result.ok
    assert any("memory" in note for note in result.notes)


def catching(t: Any) -> Any:
    try:
        return 5.0 if float(t) > 0.005 else 1.0
    except (TypeError, ManipulaError):
        return 1.0


def looking(v: Any) -> Any:
    return v["x"] - (0.8 if isinstance(v["t"], float) else 0.7)


@dataclass(frozen=True)
class Typed(Law):
    def torque(self, v: Any, state: Any = (), load: Any = 0.0) -> Any:
        return 3.0 * v if isinstance(v, float) else v


@pytest.mark.parametrize(
    ("parts", "field"),
    [({"drives": {0: catching}}, "drives"), ({"constraints": [looking]}, "constraints"), ({"friction": Typed()}, "friction")],
)  # fmt: skip
def test_code_that_is_compiled_into_another_function_is_refused_in_programmed_motions(parts: Any, field: str) -> None:
    motion = mp.programmed_motion(ARM, **{"constraints": ["x = 0.8"], **parts})
    with pytest.raises(DescriptionError, match=rf"{field}\[0\].*other numbers than in Python"):
        motion.run([0.3, 0.8], duration=0.01, step=1e-3, start="project")

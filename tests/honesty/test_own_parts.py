"""Laws, drives and controllers that somebody wrote wrongly are named, with what they give and what is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError, ManipulaError
from manipula.motion.trajectory import Trajectory
from manipula.redundancy.criterion import Criterion
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


def test_criteria_that_are_compiled_into_another_function_are_refused() -> None:
    @dataclass(frozen=True)
    class Pull(Criterion):
        gain: float = 1.0
        name: ClassVar[str] = "pull"

        def cost(self, arm: Any, q: Any) -> Any:
            return q[0] * q[0]

        def direction(self, arm: Any, q: Any) -> Any:
            return np.array([2.0 if isinstance(float_of(q[0]), float) else 0.5, 0.0, 0.0])

    def float_of(v: Any) -> Any:
        return v.item() if hasattr(v, "item") else v

    arm = mp.planar([0.5, 0.4, 0.3], [2.0, 1.0, 0.5])
    tip = mp.compile(arm).position(np.array([0.1, 0.6, 0.5]))
    path = mp.trajectory(mp.paths.line(tip, tip + np.array([-0.1, 0.0, 0.0])), mp.timing.quintic(0.1))
    run = mp.Scenario(arm, path, kind="kinematic", q0=[0.1, 0.6, 0.5], criteria=(Pull(),))
    with pytest.raises(DescriptionError, match=r"criteria.*other rates than in Python"):
        mp.simulate(run)


class Motion(Trajectory):
    """A motion of two joints whose positions, or velocities, are others when derivatives are asked for."""

    duration, dimension, space = 1.0, 2, "joint"

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong

    @property
    def breaks(self) -> np.ndarray:
        return np.array([0.0, 1.0])

    def derivatives(self, t: Any, order: int = 3, side: Any = "right") -> np.ndarray:
        t = np.asarray(t, float)
        rows = [0.3 * np.sin(t), 0.3 * np.cos(t), -0.3 * np.sin(t), -0.3 * np.cos(t)][: order + 1]
        if order and self.wrong == "position":
            rows[0] = 0.4 * np.sin(t)
        if order and self.wrong == "velocity":
            rows[1] = 0.2 * np.cos(t)
        return np.stack([np.stack([row, row], axis=-1) for row in rows])


@pytest.mark.parametrize(("wrong", "words"), [("position", "other positions"), ("velocity", "not the rate")])
def test_a_motion_whose_derivatives_belong_to_another_one_is_refused(wrong: str, words: str) -> None:
    run = mp.Scenario(ARM, Motion(wrong), kind="inverse_dynamics", duration=0.1)
    with pytest.raises(DescriptionError, match=f"reference.*{words}"):
        mp.simulate(run)
    assert mp.simulate(run.replace(reference=Motion(""))).ok


def test_a_criterion_without_a_gain_is_named() -> None:
    class Nearest(Criterion):
        name: ClassVar[str] = "nearest"

        def cost(self, arm: Any, q: Any) -> Any:
            return q[0] * q[0]

    with pytest.raises(DescriptionError, match="gain of criterion 'nearest' must be a number; found None"):
        control.TaskSpaceComputedTorque(kp=100, kv=20, criteria=(Nearest(),))

"""Controllers in Python that remember: asked once a step, begun anew for every run, or refused.

The plant is one link without gravity: under a torque u that is held for h it moves exactly by q += h qd + h²u/2I, qd += hu/I.
That recursion, with the controller written out again in NumPy, is the outside judge.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula.control import Controller, UserFunction
from manipula.errors import DescriptionError

ARM = mp.planar(lengths=[0.5], masses=[2.0], gravity=(0, 0, 0))
INERTIA = 2.0 * 0.5**2 / 3
H, STEPS, START = 2e-3, 120, 0.3
EXACT = 1e-11  # rounding of 120 steps


def run_of(function: Any, **changes: Any) -> mp.Scenario:
    controller = function if isinstance(function, Controller) else UserFunction(function)
    return mp.Scenario(robot=ARM, controller=controller, q0=[START], duration=STEPS * H, step=H, **changes)


def held(law: Callable[[float, float, float], float], start: float = START) -> np.ndarray:
    """q at every step under ``law(t, q, qd)``, asked once a step."""
    q, qd, out = start, 0.0, []
    for k in range(STEPS + 1):
        out.append(q)
        u = law(k * H, q, qd)
        q, qd = q + H * qd + 0.5 * H * H * u / INERTIA, qd + H * u / INERTIA
    return np.array(out)


def in_numpy(controller: Callable[..., Any]) -> Callable[[float, float, float], float]:
    """A controller of one joint as a function of numbers."""
    return lambda t, q, qd: float(controller(t, np.array([q]), np.array([qd]), None)[0])


def is_right(result: mp.Result, expected: np.ndarray) -> None:
    assert result.ok, result.reason
    assert "asked once a step" in result.notes[0]
    np.testing.assert_allclose(result.q[:, 0], expected, atol=EXACT)
    assert np.isfinite(result.error_estimate)


# ---------------------------------------------------------------------- what the pages promise
class Delayed:
    """A spring and damper that acts on a position 50 samples old."""

    def __init__(self, samples: int = 50) -> None:
        self.past: deque[float] = deque(maxlen=samples)

    def __call__(self, t: float, q: Any, qd: Any, target: Any) -> Any:
        self.past.append(float(q[0]))
        return np.array([-2.0 * self.past[0] - 0.3 * float(qd[0])])


class Integral:
    def __init__(self) -> None:
        self.z = 0.0

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        self.z = self.z + H * q[0]
        return np.array([-3.0 * q[0] - 1.0 * qd[0] - 2.0 * self.z])


class Difference:
    def __init__(self) -> None:
        self.last = None

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        rate = 0.0 if self.last is None else (q[0] - self.last) / H
        self.last = q[0]
        return np.array([-3.0 * q[0] - 0.5 * rate])


class Filter:
    def __init__(self) -> None:
        self.y = 0.0

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        self.y = self.y + 0.1 * (q[0] - self.y)
        return np.array([-3.0 * self.y])


def delayed_law(samples: int = 50) -> Callable[..., float]:
    past: list[float] = []

    def law(t: float, q: float, qd: float) -> float:
        past.append(q)
        return -2.0 * past[max(0, len(past) - samples)] - 0.3 * qd

    return law


def test_a_delay_line_of_fifty_samples() -> None:
    is_right(mp.simulate(run_of(Delayed())), held(delayed_law()))


@pytest.mark.parametrize("kind", [Integral, Difference, Filter])
def test_integrals_difference_quotients_and_filters(kind: type) -> None:
    expected = held(in_numpy(kind()))
    mine = kind()
    before = dict(vars(mine))
    scenario = run_of(mine)
    for _ in range(2):
        is_right(mp.simulate(scenario), expected)
        assert vars(mine) == before  # neither tracing nor the run has left anything in it


def test_a_command_may_be_delayed_as_well() -> None:
    result = mp.simulate(run_of(Integral(), actuator=mp.Actuator(delay=3 * H)))
    judge, waiting = Integral(), []

    def law(t: float, q: float, qd: float) -> float:
        u = float(judge(t, np.array([q]), np.array([qd]), None)[0])
        waiting.extend([u] * (4 if not waiting else 1))
        return waiting[len(waiting) - 4]

    is_right(result, held(law))


def test_every_run_of_a_batch_has_its_own_memory() -> None:
    starts = [0.3, -0.2, 0.1]
    batch = mp.simulate(run_of(Delayed()).replace(q0=[[q] for q in starts]))
    for k, q in enumerate(starts):
        np.testing.assert_allclose(batch.q[k, :, 0], held(delayed_law(), q), atol=EXACT)


# ---------------------------------------------------------------------- where a memory may sit
def in_a_closure() -> Any:
    z = 0.0

    def function(t: Any, q: Any, qd: Any, target: Any) -> Any:
        nonlocal z
        z += H * float(q[0])
        return np.array([-3.0 * q[0] - 1.0 * qd[0] - 2.0 * z])

    return function


def in_a_default(t: Any, q: Any, qd: Any, target: Any, z: list[float] = [0.0]) -> Any:  # noqa: B006
    z[0] += H * float(q[0])
    return np.array([-3.0 * q[0] - 1.0 * qd[0] - 2.0 * z[0]])


def in_an_argument(memory: dict[str, float], t: Any, q: Any, qd: Any, target: Any) -> Any:
    memory["z"] += H * float(q[0])
    return np.array([-3.0 * q[0] - 1.0 * qd[0] - 2.0 * memory["z"]])


@dataclass(frozen=True)
class Remembering(Controller):
    """A class of controllers that keeps a dictionary."""

    kp: Any
    memory: Any = field(default_factory=lambda: {"z": 0.0})
    name: ClassVar[str] = "remembering"
    space: ClassVar[Any] = "none"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        self.memory["z"] += H * q[0]
        return np.array([-self.kp * q[0] - 1.0 * qd[0] - 2.0 * self.memory["z"]])


@pytest.mark.parametrize(
    "function",
    [
        in_a_closure(),
        in_a_default,
        functools.partial(in_an_argument, {"z": 0.0}),
        Integral().__call__,
        Remembering(3.0),
    ],
    ids=["closure", "default argument", "partial", "bound method", "controller class"],
)
def test_a_memory_is_found_wherever_it_sits(function: Any) -> None:
    scenario = run_of(function)
    for judge in (Integral(), Integral()):
        is_right(mp.simulate(scenario), held(in_numpy(judge)))


class Relay:
    """Switches once, near the end of the run, where no trial state looks; cannot be traced."""

    def __init__(self) -> None:
        self.on = False

    def __call__(self, t: float, q: Any, qd: Any, target: Any) -> Any:
        if 0.1705 < t < 0.1735:
            self.on = True
        return np.array([-5.0 if self.on else -1.0 * float(q[0])])


def test_a_memory_that_awakes_during_the_run() -> None:
    is_right(mp.simulate(run_of(Relay())), held(in_numpy(Relay())))


def test_the_first_state_seen_is_a_memory_too() -> None:
    class Home:
        def __init__(self) -> None:
            self.home: Any = None

        def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
            if self.home is None:
                self.home = q.copy()
            return -4.0 * (q - self.home) - 1.0 * qd + 0.5

    result = mp.simulate(run_of(Home()))
    is_right(result, held(lambda t, q, qd: -4.0 * (q - START) - qd + 0.5))


# ---------------------------------------------------------------------- reset
class Logged(Integral):
    """Cannot be copied, but begins anew."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = (k for k in itertools.count())
        self.resets = 0

    def reset(self) -> None:
        self.z, self.resets = 0.0, self.resets + 1

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        next(self.numbers)
        return super().__call__(t, q, qd, target)


def test_reset_is_called_before_every_run_and_verification() -> None:
    mine, judge = Logged(), Integral()
    is_right(mp.simulate(run_of(mine)), held(in_numpy(judge)))
    assert mine.resets >= 2


def test_a_reset_that_does_not_reset_is_refused() -> None:
    class Wrong(Integral):
        def reset(self) -> None:
            pass

    with pytest.raises(DescriptionError, match=r"after its reset\(\)"):
        mp.simulate(run_of(Wrong()))


SHARED = [0.0]


def in_a_global(t: Any, q: Any, qd: Any, target: Any) -> Any:
    SHARED[0] += H * float(q[0])
    return np.array([-3.0 * q[0] - 2.0 * SHARED[0]])


class OfTheClass:
    past: ClassVar[list[float]] = []

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> Any:
        self.past.append(float(q[0]))
        return np.array([-3.0 * self.past[0]])


def generated() -> Any:
    noise = (0.1 * k for k in itertools.count())
    return lambda t, q, qd, target: -3.0 * q + next(noise)


def drawn(t: Any, q: Any, qd: Any, target: Any) -> Any:
    return -3.0 * q + np.random.normal(size=1)


@pytest.mark.parametrize("function", [in_a_global, OfTheClass(), generated(), drawn], ids=["global", "class", "generator", "random"])  # fmt: skip
def test_what_cannot_begin_anew_is_refused(function: Any) -> None:
    with pytest.raises(DescriptionError, match=r"controller: .*Give it a method reset\(\)"):
        mp.simulate(run_of(function))


def test_a_global_memory_with_a_reset_runs() -> None:
    def reset() -> None:
        SHARED[0] = 0.0

    in_a_global.reset = reset  # pyright: ignore[reportFunctionMemberAccess]
    try:
        z = [0.0]

        def law(t: float, q: float, qd: float) -> float:
            z[0] += H * q
            return -3.0 * q - 2.0 * z[0]

        is_right(mp.simulate(run_of(in_a_global)), held(law))
    finally:
        del in_a_global.reset  # pyright: ignore[reportFunctionMemberAccess]


def test_adaptive_steps_are_refused() -> None:
    for function in (Integral(), Relay()):
        with pytest.raises(DescriptionError, match="fixed-step"):
            mp.simulate(run_of(function, integrator="dop853", sample=H))


# ---------------------------------------------------------------------- what is no memory
def test_functions_without_a_memory_are_compiled() -> None:
    model, cache = mp.compile(ARM), {}

    def gain(name: str) -> float:
        return cache.setdefault(name, 3.0)  # filled at the first call

    def function(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return -gain("kp") * q - qd

    def asks_a_model(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return model.gravity(np.asarray(q, float)) - 3.0 * q - qd  # cannot be traced; compiles itself when first asked

    assert mp.simulate(run_of(function)).notes == ()
    slow = mp.simulate(run_of(asks_a_model))
    assert "could not be compiled" in slow.notes[0]
    np.testing.assert_allclose(slow.q, mp.simulate(run_of(function)).q, atol=1e-9)


def test_parts_other_than_controllers_declare_their_memory() -> None:
    @dataclass(frozen=True)
    class Worn(mp.friction.FrictionLaw):
        calls: Any = field(default_factory=dict)
        name: ClassVar[str] = "worn"

        def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
            self.calls["n"] = self.calls.get("n", 0) + 1
            return 0.01 * self.calls["n"] * qd

    with pytest.raises(DescriptionError, match=r"friction\[0\].*states"):
        mp.simulate(mp.Scenario(robot=ARM, q0=[0.1], qd0=[1.0], duration=0.1, friction=(Worn(),)))

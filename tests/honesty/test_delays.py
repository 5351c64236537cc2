"""A delay acts as long as it was asked to, also when it is no whole number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m²
KP, KV, STEP = 400.0, 10.0, 2e-3


def exact(delay: float, end: float) -> np.ndarray:
    """A double integrator under u(t) = −kp q(t_k) − kv q̇(t_k) from t_k + delay on, piece by piece: parabolas."""
    q, v, t = 0.3, 0.0, 0.0
    first = -KP * q - KV * v
    decisions = [(k * STEP, None) for k in range(round(end / STEP) + 1)]
    commands: list[tuple[float, float]] = []  # (begin, value)
    events = sorted({*(a for a, _ in decisions), *(a + delay for a, _ in decisions), end})
    u = first
    for at in (e for e in events if e <= end + 1e-12):
        q, v, t = q + v * (at - t) + 0.5 * u * (at - t) ** 2, v + u * (at - t), at
        if any(abs(a - at) < 1e-12 for a, _ in decisions):
            commands.append((at + delay, -KP * q - KV * v))
        acting = [value for begin, value in commands if begin <= at + 1e-12]
        u = acting[-1] if acting else first
    return np.array([q, v])


def run(delay: float, **options: Any) -> mp.Scenario:
    law = mp.control.PD(KP, KV, goal=[0.0])
    actuator = mp.Actuator(delay=delay)
    return mp.Scenario(
        ROD, q0=[0.3], controller=law, duration=0.2, step=STEP, sample=0.05, actuator=actuator, **options
    )


@pytest.mark.parametrize("delay", [0.0007, 0.0013, 0.002, 0.003, 0.0051, 0.02])
def test_a_delay_is_what_it_says(delay: float) -> None:
    result = mp.simulate(run(delay))
    assert result.ok
    np.testing.assert_allclose([result.q[-1, 0], result.qd[-1, 0]], exact(delay, 0.2), atol=1e-11)


def test_a_controller_in_python_is_delayed_the_same() -> None:
    def slow(t: Any, q: Any, qd: Any, target: Any) -> Any:
        return np.array([-KP * float(q[0]) - KV * float(qd[0])])

    result = mp.simulate(run(0.0013).replace(controller=mp.control.UserFunction(slow), duration=0.05))
    assert any("Python" in note for note in result.notes)
    np.testing.assert_allclose([result.q[-1, 0], result.qd[-1, 0]], exact(0.0013, 0.05), atol=1e-11)


def test_what_acted_is_recorded() -> None:
    """Samples between two decisions show the command in force: the one decided a delay ago."""
    delay = 0.0013
    result = mp.simulate(run(delay).replace(sample=5e-4, duration=0.02))
    decided = {round(t / STEP): -KP * q - KV * v for t, q, v in zip(result.t, result.q[:, 0], result.qd[:, 0])
               if abs(t / STEP - round(t / STEP)) < 1e-9}  # fmt: skip
    for t, u in zip(result.t, result.command[:, 0]):
        k = max(0, int(np.floor((t - delay) / STEP + 1e-9)))
        assert abs(u - decided[k]) <= 1e-9


def test_a_delay_that_keeps_too_much_on_its_way_is_refused() -> None:
    with pytest.raises(BudgetError, match="on their way"):
        mp.simulate(run(100.0).replace(step=1e-4))

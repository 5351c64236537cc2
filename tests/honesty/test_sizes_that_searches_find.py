"""How small and how narrow a thing may be that steps pass over and a search of the run still finds: what the constants of the search promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
AT = 0.300013


def crossing(law: Any, **options: Any) -> mp.Result:
    """The rod turns at 1 rad/s under somebody's torque."""
    control = mp.control.UserFunction(lambda t, q, qd, target: np.array([law(t, q[0], qd[0])]))
    common: dict[str, Any] = {"q0": [0.0], "qd0": [1.0], "duration": 1.0, "sample": 0.25, "controller": control}
    return mp.simulate(mp.Scenario(ROD, **common | options))


def window(q: Any, width: float) -> Any:
    return ops.where(ops.abs(q - AT) < 0.5 * width, 1.0, 0.0)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("width", [1e-5, 1e-7, 1e-9])
def test_a_window_of_a_millionth_of_a_step(width: float, method: str) -> None:
    """An impulse of 0.01 N·m·s."""
    assert crossing(lambda t, q, v: 1e-2 / width * window(q, width), integrator=method).status == "inaccurate"


def test_a_window_of_a_tenth_of_what_the_law_does() -> None:
    """Forty microseconds of it change the speed by eighty times what is allowed."""
    result = crossing(lambda t, q, v: 10.0 * ops.sin(40.0 * q) + 2.0 * window(q, 4e-5), integrator="rk4")
    assert "pushes joint 'joint1' at t = " in result.reason, result.reason


def test_a_window_of_a_few_times_what_the_law_changes_by_within_a_step() -> None:
    """A law that changes by up to 6 N·m in a step of a millisecond, in which there is a window of 40 N·m."""
    result = crossing(
        lambda t, q, v: 20.0 * ops.sin(300.0 * q) + 40.0 * window(q, 4e-5), integrator="rk4", tolerance=3e-4
    )
    assert "pushes joint 'joint1' at t = " in result.reason, result.reason


def test_a_law_in_python_is_asked_more_than_once_in_a_step_by_a_repetition() -> None:
    """A window of 15 ms that steps which follow the error pass over: those of the repetition are no longer than six tenths of ``step``."""

    def law(t: Any, q: Any, v: Any) -> Any:
        return 5.0 if 0.3 < float(q) < 0.315 else 0.0

    result = crossing(law, integrator="dop853", step=0.01, sample=1.0)
    assert result.status != "finished" or result.qd[-1, 0] == pytest.approx(np.sqrt(1.0 + 2 * 5.0 * 0.015), abs=1e-5)


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_a_swing_with_the_period_of_the_stages_hides_from_a_run_and_not_from_its_repetition(method: str) -> None:
    """sin(8000πq) N·m at 1 rad/s is zero at every stage of a step of a millisecond, at every stage of its half, and in its middle."""

    def law(t: Any, q: Any, v: Any) -> Any:
        return float(np.sin(8000.0 * np.pi * float(q)))  # not compiled, so that ranges cannot search it

    result = crossing(law, integrator=method, duration=0.1, sample=None)
    assert result.status != "finished", result.reason


def test_what_jumps_on_a_sample_is_compared_on_both_sides() -> None:
    """A rod falls faster and faster until 9 N·m hold against its weight, from a sample on that shows what is after it."""
    fall: dict[str, Any] = {"q0": [1.2], "duration": 0.2, "integrator": "rk4", "step": 1e-3}
    falling = mp.Scenario(mp.planar([1.0], [3.0]), disturbances=(mp.Wrench((0, 0, 0, 0, 0, 9.0), start=0.1),), **fall)
    free = mp.simulate(falling)
    assert free.t[100] == pytest.approx(0.1, abs=1e-15)
    most = 3.0 * 9.81 * 0.5 * float(np.cos(free.q[100, 0]))
    for limit, kept in ((most - 2e-3, False), (most + 2e-3, True)):
        result = mp.simulate(falling.replace(limits={"acceleration": [limit]}))
        assert result.feasible is kept, result.feasibility.reason


def test_speeds_are_compared_where_a_digital_controller_decides() -> None:
    """10 N·m until 13.7 ms, then −10 N·m: 0.137 rad/s at an instant that is no multiple of the step."""
    control = mp.control.UserFunction(lambda t, q, qd, target: np.array([ops.where(t < 0.01, 10.0, -10.0)]))
    for limit, kept in ((0.1368, False), (0.1371, True)):
        more: dict[str, Any] = {"limits": {"velocity": [limit]}, "integrator": "rk4", "step": 1e-3, "sample": 0.01}
        result = mp.simulate(
            mp.Scenario(ROD, q0=[0.0], duration=0.02, controller=control, control_period=0.0137, **more)
        )
        assert result.ok
        assert result.feasible is kept, result.feasibility.reason


@pytest.mark.parametrize("size", [1e-4, 1e-7])
def test_a_force_on_a_very_small_arm_has_a_lever(size: float) -> None:
    """What turns it is small, and not nothing."""
    arm = mp.planar([size], [1e-6], gravity=(0, 0, 0))
    inertia, force = 1e-6 * size**2 / 3, 1e-6 * size
    result = mp.simulate(
        mp.Scenario(arm, q0=[0.0], duration=0.1, disturbances=(mp.Wrench((0, force, 0, 0, 0, 0), axes="body"),))
    )
    assert result.ok
    assert result.qd[-1, 0] == pytest.approx(force * size / inertia * 0.1, rel=1e-9)

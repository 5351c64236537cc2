"""Where a verdict turns: on either side of what it allows, what it says is told apart by a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.motion.piecewise import PiecewiseTrajectory

ROD = mp.planar([1.0], [3.0], gravity=(0, 0, 0))  # 1 kg·m² about its axis
ARM = mp.planar([0.5, 0.5], [1.0, 1.0])


@pytest.mark.parametrize(("beside", "status"), [(5e-6, "finished"), (3e-5, "failed")])
def test_a_kinematic_run_may_leave_its_path_by_ten_tolerances(beside: float, status: str) -> None:
    """The arm moves in a plane, which the path leaves."""
    line = mp.trajectory(mp.paths.line([0.5, 0.5, 0.0], [0.3, 0.6, beside]), mp.timing.quintic(1.0))
    result = mp.simulate(mp.Scenario(ARM, kind="kinematic", reference=line, q0=[0.0, np.pi / 2], sample=0.1))
    assert result.status == status
    assert f"{beside:.0e}" in result.reason.replace("5.0e", "5e")


@pytest.mark.parametrize(("jump", "feasible"), [(1e-7, True), (1e-5, False)])
@pytest.mark.parametrize("kind", ["inverse_dynamics", "kinematic"])
def test_a_velocity_that_jumps_by_rounding_breaks_no_limit(jump: float, feasible: bool, kind: Any) -> None:
    if kind == "kinematic":
        rows = [[[0.5, 0.5, 0.0], [-0.2, 0.1, 0.0]], [[0.4, 0.55, 0.0], [-0.2 * (1 + jump), 0.1 * (1 + jump), 0.0]]]
        scenario = mp.Scenario(ARM, reference=PiecewiseTrajectory([0.0, 0.5, 1.0], rows, "task"), q0=[0.0, np.pi / 2])
    else:
        rows = [[[0.0], [1.0]], [[0.5], [1.0 + jump]]]
        scenario = mp.Scenario(ROD, reference=PiecewiseTrajectory([0.0, 0.5, 1.0], rows, "joint"), q0=[0.0], qd0=[1.0])
    result = mp.simulate(scenario.replace(kind=kind, sample=0.1, limits={"acceleration": 5.0}))
    assert result.feasible is feasible


@pytest.mark.parametrize(("limit", "feasible"), [(1.0 + 1.999e-5, False), (1.0 + 2.001e-5, True)])
def test_the_side_of_a_small_jump_that_no_sample_shows_is_compared(limit: float, feasible: bool) -> None:
    """The acceleration rises from 1 to 1 + 2e-5 within half a second and falls back at once, at a sample."""
    rise = 2e-5 / 0.5
    end = 0.5 * 0.25 + rise * 0.125 / 6.0, 0.5 + rise * 0.125
    rows = [[[0.0], [0.0], [0.5], [rise / 6.0]], [[end[0]], [end[1]], [0.5], [0.0]]]
    move = PiecewiseTrajectory([0.0, 0.5, 1.0], rows, "joint")
    scenario = mp.Scenario(ROD, kind="inverse_dynamics", reference=move, q0=[0.0], limits={"acceleration": limit})
    assert mp.simulate(scenario).feasible is feasible


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("width", [1e-5, 3e-7, 5e-8, 1e-8, 1e-9, 1e-10])
def test_a_box_whose_edges_are_close_is_met_or_confessed(width: float, method: str) -> None:
    """An impulse of 2 N·m·s at 0.400003 s; where its two jumps cannot be placed well enough the run says so."""
    text = f"{2.0 / width:.17g}*(sign(t - 0.400003 + {width}/2) - sign(t - 0.400003 - {width}/2))/2"
    push = mp.Wrench((0, 0, 0, 0, 0, text))
    result = mp.simulate(mp.Scenario(ROD, q0=[0.0], duration=1.0, sample=0.25, integrator=method, disturbances=(push,)))
    assert result.ok == (width > 1e-7)
    if result.ok:
        assert result.q[-1, 0] == pytest.approx(2.0 * (1.0 - 0.400003), abs=1e-6)


def test_steps_longer_than_a_swing_of_the_reference_follow_it() -> None:
    """200 Hz at steps of a period: the table of the reference says where steps have to end."""
    omega = 400.0 * np.pi
    shake = mp.formula_motion([f"0.1*sin({omega!r}*t)"], 1.0, space="joint")
    law = mp.control.PD(400.0, 20.0)

    def rate(t: float, x: np.ndarray) -> list[float]:
        e, v = 0.1 * np.sin(omega * t) - x[0], 0.1 * omega * np.cos(omega * t) - x[1]
        return [x[1], 400.0 * e + 20.0 * v]

    truth = solve_ivp(rate, (0.0, 1.0), [0.0, 0.1 * omega], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    scenario = mp.Scenario(ROD, reference=shake, q0=[0.0], qd0=[0.1 * omega], controller=law, step=5e-3, sample=0.25)
    result = mp.simulate(scenario.replace(integrator="rk4"))
    assert result.ok
    assert result.q[-1, 0] == pytest.approx(truth, abs=1e-6)

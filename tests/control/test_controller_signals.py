"""What controllers estimate and remember is in the result: observed torques, integrals, offsets, corrections, with units and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.errors import DescriptionError
from manipula.redundancy.arm import Arm
from manipula.reports.charts import CHARTS
from manipula.reports.plots import drawable

ROD = mp.planar([1.0], [3.0])
ARM = mp.load("planar-2r")
SLIDING = mp.load("scara-khang")
K, PUSH = 30.0, 2.5
ROUNDING = 1e-12


def observer(**more: Any) -> mp.Scenario:
    law = control.MomentumObserver(60.0, 12.0, K, goal=[0.4])
    push = mp.Wrench((0, 0, 0, 0, 0, PUSH), start=0.1)
    return mp.Scenario(ROD, controller=law, q0=[0.1], duration=0.4, sample=0.05, disturbances=(push,), **more)


def test_the_observed_torque_is_the_push_through_a_filter() -> None:
    result = mp.simulate(observer(step=5e-4)).check()
    law = np.where(result.t < 0.1, 0.0, PUSH * (1.0 - np.exp(-K * np.maximum(result.t - 0.1, 0.0))))
    np.testing.assert_allclose(result.observed_torque[:, 0], law, atol=1e-8)


@pytest.mark.parametrize(
    "more",
    [
        {"control_period": 1e-3},
        {"noise": mp.Noise(1e-9), "step": 1e-3},
        {"encoder": mp.Encoder(resolution=1e-9), "step": 1e-3},
    ],
)
def test_a_sampled_loop_shows_it_too(more: dict[str, Any]) -> None:
    result = mp.simulate(observer(integrator="rk4", tolerance=1e-3, **more))
    assert result.observed_torque[-1, 0] == pytest.approx(PUSH, rel=5e-2)
    said: Any = result.scenario.controller
    own = [said.residual(Arm(ROD), *row) for row in zip(result.q, result.qd, result.controller_states)]
    np.testing.assert_allclose(result.observed_torque, np.array(own, float), atol=1e-9)


def test_switched_gains_are_those_in_force() -> None:
    law = control.MomentumObserver(60.0, 12.0, 2.0 * K, goal=[0.4])
    result = mp.simulate(observer(switches=(mp.Switch(time=0.2, controller=law),)))
    after = result.t > 0.21
    own = [
        law.residual(Arm(ROD), *row) for row in zip(result.q[after], result.qd[after], result.controller_states[after])
    ]
    np.testing.assert_allclose(result.observed_torque[after], np.array(own, float), atol=ROUNDING)


def test_units_and_labels(tmp_path: Any) -> None:
    law = control.MomentumObserver(60.0, 12.0, K, goal=[0.1, 0.2, 0.1, 0.1])
    result = mp.simulate(mp.Scenario(SLIDING, controller=law, q0=[0.1, 0.2, 0.1, 0.1], duration=0.02, verify=False))
    data = result.to_xarray()
    assert data["observed_torque"].dims == ("time", "joint")
    assert list(data["effort_unit"].values) == ["N" if k == "prismatic" else "N m" for k in result.meta["joint_kinds"]]
    path = tmp_path / "run.csv"
    result.save(path)
    assert f"observed_torque_{SLIDING.joint_names[0]}" in path.read_text()
    assert mp.load_result(path) == result
    one = mp.simulate(observer(verify=False)).to_xarray()["observed_torque"].attrs
    assert one["units"] == "N m"
    assert "observer" in one["long_name"]


def test_the_report_shows_it(tmp_path: Any) -> None:
    result = mp.simulate(observer(verify=False))
    assert {"observed-torque"} <= {p.name for p in drawable(result)} & set(CHARTS)
    result.report(tmp_path / "run.html")
    assert "Observed external torque" in (tmp_path / "run.html").read_text()
    mp.plot(result, "observed-torque")


def test_an_admittance_shows_its_offset_and_what_it_measures() -> None:
    tip = mp.compile(ARM).position([0.4, 0.9])
    line = mp.trajectory(mp.paths.line(tip, tip + np.array([0.02, 0.0, 0.0])), mp.timing.quintic(0.2))
    push = mp.Wrench((6.0, -4.0, 0.0, 0.0, 0.0, 0.0))
    result = mp.simulate(
        mp.Scenario(
            ARM,
            line,
            control.Admittance(2.0, 25.0, 150.0),
            q0=[0.4, 0.9],
            disturbances=(push,),
            verify=False,
            step=2e-3,
        )
    )
    np.testing.assert_array_equal(result.admittance_offset, result.controller_states[:, :3])
    np.testing.assert_allclose(-result.error, result.admittance_offset, atol=1e-5)
    np.testing.assert_allclose(result.measured_wrench[:, :2], [[6.0, -4.0]] * len(result.t), atol=ROUNDING)
    assert result.to_xarray()["admittance_offset"].attrs["units"] == "m"
    assert {"offset"} <= {p.name for p in drawable(result)} & set(CHARTS)
    mp.plot(result, "offset")


def test_integrals_and_speeds_of_cascades() -> None:
    pid = mp.simulate(mp.Scenario(ARM, controller=control.PID(30.0, 9.0, 5.0, goal=0.2), duration=0.05, verify=False))
    np.testing.assert_array_equal(pid.integral, pid.controller_states)
    law = control.Cascade(5.0, 8.0, 3.0, goal=0.2)
    run = mp.simulate(mp.Scenario(ARM, controller=law, duration=0.05, control_period=1e-3, verify=False))
    np.testing.assert_array_equal(run.speed_command, run.controller_states[:, 1:3])
    np.testing.assert_array_equal(run.integral, run.controller_states[:, 3:])


def test_bounded_tasks_of_a_sampled_loop_say_whether_they_reached_their_minimum() -> None:
    law = control.TaskPriorities((control.JointPosture((0.3, 0.4)),))
    run = mp.Scenario(ARM, controller=law, q0=[0.1, 0.2], duration=0.02, control_period=1e-3, verify=False)
    assert {"task_bounds", "task_margin"} <= set(mp.simulate(run).signals)


def test_learning_shows_what_it_learned() -> None:
    move = mp.trajectory(mp.paths.joint([[0.0, 0.0], [0.5, -0.4]]), mp.timing.quintic(0.2))
    run = mp.Scenario(ARM, move, control.PDGravity(60.0, 12.0), sample=0.01, tolerance=1e-3)
    learned = mp.iterative_learning(run, 2, gain=0.4)
    first, second, _ = learned.results
    assert not first.correction.any()
    np.testing.assert_allclose(second.correction, 0.4 * first.error, atol=1e-12)
    np.testing.assert_allclose(second.target - second.correction, first.target, atol=1e-9)


@dataclass(frozen=True)
class Telling(control.Controller):
    gain: float = 2.0
    name: ClassVar[str] = "telling"
    space: ClassVar[Any] = "none"
    shown: ClassVar[str] = "sum_of_angles"

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return -self.gain * q

    def signals(self, arm: Any, q: Any, qd: Any, target: Any, state: Any) -> dict[str, Any]:
        return {self.shown: q[0] + q[1]}


class Covering(Telling):
    shown: ClassVar[str] = "tau"


def test_a_law_of_ones_own_shows_what_it_likes() -> None:
    run = mp.Scenario(ARM, controller=Telling(), q0=[0.1, 0.2], duration=0.02, verify=False)
    result = mp.simulate(run)
    np.testing.assert_allclose(result.sum_of_angles, result.q.sum(axis=1), atol=ROUNDING)
    with pytest.raises(DescriptionError, match=r"'tau'.*another name"):
        mp.simulate(run.replace(controller=Covering()))

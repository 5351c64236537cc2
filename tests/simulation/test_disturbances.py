"""Wrenches, payloads, noise, limits, delays, recorded torques, friction under load, controllers in Python: all accounted for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import manipula as mp
from manipula import control, friction
from manipula.control.base import Controller
from manipula.errors import DescriptionError, ShapeError
from manipula.physics.reactions import normal_forces

ROBOT = mp.load("planar-2r")
HOLD = control.PDGravity(60.0, 8.0, goal=[0.3, -0.4])
RUN = mp.Scenario(robot=ROBOT, controller=HOLD, q0=[0.1, 0.2], duration=0.3, integrator="rk4", step=5e-4, sample=0.01)
AUDIT = 1e-6  # J of some ten joules moved about: the tolerance of these runs
SLIDER = mp.from_dh([{"joint": "prismatic", "mass": 2.0}], "standard", gravity=(0, 0, 0), name="slider")


def audited(result: mp.Result) -> mp.Result:
    """The result, after its energy has been checked."""
    assert result.ok, result.reason
    assert np.abs(result.audit).max() <= AUDIT
    return result


def test_wrench_pushes_like_a_force() -> None:
    push = mp.Wrench([0, 0, 6.0, 0, 0, 0], start=0.1, stop=0.3)
    result = audited(
        mp.simulate(
            mp.Scenario(robot=SLIDER, q0=[0.0], duration=0.5, disturbances=(push,), integrator="rk4", sample=0.1)
        )
    )
    np.testing.assert_allclose(result.qd[:, 0], [0, 0, 0.3, 0.6, 0.6, 0.6], atol=1e-12)  # F/m = 3
    np.testing.assert_allclose(result.work_external[-1], 0.5 * 2.0 * 0.6**2, atol=1e-12)


def test_wrench_by_formula() -> None:
    push = mp.Wrench([0, 0, "4*sin(2*t)", 0, 0, 0])
    result = audited(
        mp.simulate(
            mp.Scenario(robot=SLIDER, q0=[0.0], duration=1.0, disturbances=(push,), integrator="rk4", sample=0.25)
        )
    )
    np.testing.assert_allclose(result.qd[:, 0], 1.0 - np.cos(2 * result.t), atol=1e-12)


def test_adaptive_steps_find_a_push_between_samples() -> None:
    push = mp.Wrench([0, 0, 6.0, 0, 0, 0], start=0.1234567, stop=0.2234567)
    result = mp.simulate(
        mp.Scenario(robot=SLIDER, q0=[0.0], duration=0.5, disturbances=(push,), integrator="dop853", sample=0.1)
    )
    assert result.ok
    assert abs(result.qd[-1, 0] - 0.3) <= 1e-9


def test_fixed_steps_end_where_a_push_begins() -> None:
    push = mp.Wrench([0, 0, 600.0, 0, 0, 0], start=0.10037, stop=0.2)
    result = mp.simulate(mp.Scenario(robot=SLIDER, q0=[0.0], duration=0.3, disturbances=(push,), integrator="rk4"))
    assert result.ok
    assert abs(result.qd[-1, 0] - 300.0 * (0.2 - 0.10037)) <= 1e-11


def test_wrench_and_torque_are_one_through_the_jacobian() -> None:
    w = np.array([3.0, -5.0, 0.0, 0.0, 0.0, 2.0])
    result = audited(mp.simulate(RUN.replace(disturbances=(mp.Wrench(w),))))
    J = mp.compile(ROBOT).jacobian(result.q)
    np.testing.assert_allclose(result.external, np.einsum("tji,j->ti", J, w), atol=1e-12)


@pytest.mark.parametrize("carried", [None, mp.Payload(0.7, (0.1, 0.05, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))])
def test_payload_change_is_the_robot_with_that_payload(carried: mp.Payload | None) -> None:
    robot = ROBOT.replace(payload=carried)
    change = mp.PayloadChange(0.15, 2.0, (0.05, 0.1, 0.0))
    whole = audited(mp.simulate(RUN.replace(robot=robot, disturbances=(change,))))
    assert whole.work_payload[-1] != 0.0
    before = mp.simulate(RUN.replace(robot=robot, duration=0.15))
    np.testing.assert_allclose(whole.q[:16], before.q, atol=1e-13)
    later = ROBOT.replace(payload=mp.Payload(2.0, (0.05, 0.1, 0.0)))
    after = mp.simulate(RUN.replace(robot=later, model=robot, q0=before.q[-1], qd0=before.qd[-1], duration=0.15))
    np.testing.assert_allclose(whole.q[15:], after.q, atol=1e-12)


def test_noise_has_the_statistics_asked_for() -> None:
    """A controller that returns what it measures shows the noise itself."""
    free = ROBOT.replace(gravity=(0.0, 0.0, 0.0))
    heavy = free.replace(joints=tuple(replace(j, rotor_inertia=1e12) for j in free.joints))  # does not move
    seen = control.UserFunction(measured)
    run = mp.Scenario(robot=heavy, controller=seen, q0=[0.0, 0.0], duration=4.0, noise=mp.Noise(0.02, 0.5, seed=9), verify=False,
                      integrator="rk4")  # fmt: skip
    noise = mp.simulate(run).command[:-1]
    count = len(noise)
    for column, sigma in ((0, 0.02), (1, 0.5)):
        assert abs(noise[:, column].mean()) <= 4 * sigma / math.sqrt(count)
        assert abs(noise[:, column].std() / sigma - 1) <= 4 / math.sqrt(2 * count)
        lagged = np.corrcoef(noise[:-1, column], noise[1:, column])[0, 1]
        assert abs(lagged) <= 4 / math.sqrt(count)  # fresh every step


def measured(t: Any, q: Any, qd: Any, target: Any) -> Any:
    return np.array([q[0], qd[1]])


def test_noise_and_delay_keep_the_audit_and_what_acted_is_recorded() -> None:
    for change in ({"noise": mp.Noise(1e-3, 1e-2, seed=1)}, {"actuator": mp.Actuator(delay=0.004)}):
        result = audited(mp.simulate(RUN.replace(sample=None, **change)))
        M = mp.compile(ROBOT)
        np.testing.assert_allclose(M.inverse_dynamics(result.q, result.qd, result.qdd), result.tau, atol=1e-10)
        smooth = mp.simulate(RUN.replace(sample=None))
        assert np.abs(result.command - smooth.command).max() > 1e-3


def test_delayed_command_is_the_earlier_command() -> None:
    result = mp.simulate(RUN.replace(sample=None, actuator=mp.Actuator(delay=0.005)))
    g = mp.compile(ROBOT).gravity(result.q)
    wanted = 60.0 * (np.array([0.3, -0.4]) - result.q) - 8.0 * result.qd + g
    np.testing.assert_allclose(result.command[10:], wanted[:-10], atol=1e-9)
    np.testing.assert_allclose(result.command[:10], np.broadcast_to(wanted[0], (10, 2)), atol=1e-9)


@pytest.mark.parametrize(("fraction", "stable"), [(0.8, True), (1.25, False)])
def test_delay_destabilises_where_theory_says(fraction: float, stable: bool) -> None:
    r"""m ẍ = -k x(t-T) - d ẋ(t-T) loses stability at :math:`T = \arctan(\omega d/k)/\omega`, ω⁴m² = k² + d²ω²."""
    m, k, d = 2.0, 200.0, 20.0
    omega = math.sqrt((d**2 + math.sqrt(d**4 + 4 * m**2 * k**2)) / (2 * m**2))
    limit = math.atan2(omega * d, k) / omega
    delay = fraction * limit
    run = mp.Scenario(robot=SLIDER, controller=control.PD(k, d, goal=[0.0]), q0=[0.1], duration=3.0, step=delay / 40, integrator="rk4",
                      actuator=mp.Actuator(delay=delay), verify=False)  # fmt: skip
    q = np.abs(mp.simulate(run).q[:, 0])
    growth = q[-400:].max() / q[:400].max()
    assert growth < 0.5 if stable else growth > 2.0


def test_effort_limits_cut_the_command() -> None:
    limited = ROBOT.replace(joints=tuple(replace(j, limits=replace(j.limits, effort=6.0)) for j in ROBOT.joints))
    result = mp.simulate(RUN.replace(robot=limited, actuator=mp.Actuator(limit="effort"), tolerance=1e-4))
    assert np.abs(result.command).max() == 6.0
    assert np.abs(result.audit).max() <= 1e-4  # a kink where the limit lets go
    with pytest.raises(DescriptionError, match="effort"):
        mp.simulate(RUN.replace(actuator=mp.Actuator(limit="effort")))
    per_joint = mp.simulate(RUN.replace(actuator=mp.Actuator(limit=(5.0, 2.0)), tolerance=1e-3))
    assert np.abs(per_joint.command).max(axis=0) == pytest.approx([5.0, 2.0])


def test_replayed_torques_reproduce_the_motion() -> None:
    """Torques are linear between samples, so the motion differs by h²: a quarter when twice as many are kept."""
    wrong = []
    for step in (2e-3, 1e-3):
        run = RUN.replace(controller=control.PDGravity(20.0, 2.0, goal=[0.3, 0.1]), step=step, sample=step)
        recorded = mp.simulate(run)
        again = mp.simulate(
            mp.Scenario(robot=ROBOT, torques=(recorded.t, recorded.tau), q0=[0.1, 0.2], duration=0.3, step=step)
        )
        assert again.meta["kind"] == "playback"
        assert np.abs(again.audit).max() <= AUDIT
        wrong.append(np.abs(again.q - recorded.q).max())
    assert wrong[1] <= 5e-5
    assert 3.5 <= wrong[0] / wrong[1] <= 4.5
    with pytest.raises(ShapeError):
        mp.simulate(mp.Scenario(robot=ROBOT, torques=([0, 1], [[1.0], [2.0]]), duration=1.0))
    with pytest.raises(DescriptionError):
        mp.simulate(mp.Scenario(robot=ROBOT, torques="loud", duration=1.0))


# ---------------------------------------------------------------------- friction under load
LOADED = (
    friction.LoadDependent(0.2, level=0.1, diameter=0.1, width=0.05),
    friction.LuGre(100.0, 1.0, 0.02, 0.1, 0.25, 0.2, diameter=0.06),
)


def test_normal_forces_are_those_of_the_motion_itself() -> None:
    result = audited(mp.simulate(RUN.replace(friction=LOADED, step=2.5e-4)))
    for k in range(0, len(result.t), 5):
        expected = normal_forces(ROBOT, result.q[k], result.qd[k], result.qdd[k])
        np.testing.assert_allclose(result.loads[k], np.asarray(expected, float), atol=1e-9)
        slip = LOADED[0].torque(result.qd[k, 0], (), result.loads[k, 0])
        stick = LOADED[1].torque(result.qd[k, 1], (result.bristles[k, 0],), result.loads[k, 1])
        np.testing.assert_allclose(result.friction[k], [slip, stick], atol=1e-10)
    balance = mp.compile(ROBOT).inverse_dynamics(result.q, result.qd, result.qdd) + result.friction
    np.testing.assert_allclose(balance, result.tau, atol=1e-10)
    assert result.work_friction[-1] > 0.0


LAWS = {
    "viscous": friction.Viscous(0.5),
    "coulomb": friction.Coulomb(1.0, width=0.1),
    "stribeck": friction.Stribeck(1.5, 1.0, 0.5, width=0.1),
    "asymmetric": friction.Asymmetric(1.0, 0.5, width=0.1),
    "dahl": friction.Dahl(50.0, 1.0),
}


@pytest.mark.parametrize("name", sorted(LAWS))
def test_energy_is_audited_under_every_law(name: str) -> None:
    result = mp.simulate(mp.Scenario(robot=ROBOT, q0=[0.3, 0.2], qd0=[1.0, -0.5], friction=(LAWS[name],) * 2, duration=0.3, sample=0.02,
                                     integrator="dop853", verify=False))  # fmt: skip
    assert result.ok
    assert np.abs(result.audit).max() <= 1e-9
    assert np.all(np.diff(result.energy) <= 1e-3 if LAWS[name].states else np.diff(result.energy) < 0.0)


# ---------------------------------------------------------------------- controllers written by users
def traceable(t: Any, q: Any, qd: Any, target: Any) -> Any:
    return -10.0 * q - 4.0 * qd


def with_if(t: float, q: np.ndarray, qd: np.ndarray, target: Any) -> np.ndarray:
    return -10.0 * q - 4.0 * qd if q[0] > -99.0 else 0.0 * q


def with_math(t: float, q: np.ndarray, qd: np.ndarray, target: Any) -> np.ndarray:
    return np.array([-10.0 * float(q[k]) - 4.0 * float(qd[k]) for k in range(2)])


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_untraceable_functions_run_in_python_and_say_so(integrator: str) -> None:
    run = mp.Scenario(
        robot=ROBOT, q0=[0.3, 0.2], duration=0.05, sample=0.01, step=2e-3, integrator=integrator, verify=False
    )
    native = mp.simulate(run.replace(controller=control.UserFunction(traceable)))
    assert native.notes == ()
    for function in (with_if, with_math):
        slow = mp.simulate(run.replace(controller=control.UserFunction(function)))
        assert slow.ok
        assert "ran in Python" in slow.notes[0]
        for name in ("q", "qd", "qdd", "tau", "command", "energy"):
            np.testing.assert_allclose(slow.arrays[name], native.arrays[name], atol=1e-12, err_msg=name)


def test_python_runs_are_verified_and_take_noise_and_batches() -> None:
    run = mp.Scenario(
        robot=ROBOT,
        q0=[[0.3, 0.2], [0.1, 0.0]],
        duration=0.04,
        step=2e-3,
        integrator="rk4",
        noise=mp.Noise(1e-3, 1e-3, seed=4),
    )
    slow, fast = (mp.simulate(run.replace(controller=control.UserFunction(f))) for f in (with_if, traceable))
    np.testing.assert_allclose(slow.q, fast.q, atol=1e-12)
    np.testing.assert_allclose(slow.command, fast.command, atol=1e-11)
    assert math.isfinite(slow.error_estimate)


class Counter:
    """A controller with a memory."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t: float, q: Any, qd: Any, target: Any) -> Any:
        self.calls += 1
        return -10.0 * q - 4.0 * qd + 1e-3 * self.calls


def test_functions_with_a_memory_are_asked_once_a_step() -> None:
    counter = Counter()
    run = mp.Scenario(
        robot=ROBOT, controller=control.UserFunction(counter), q0=[0.3, 0.2], duration=0.1, step=2e-3, integrator="rk4"
    )
    result = mp.simulate(run)
    assert "ran in Python" in result.notes[0]
    memory = (result.command + 10.0 * result.q + 4.0 * result.qd) / 1e-3
    np.testing.assert_allclose(np.diff(memory, axis=0), 1.0, atol=1e-9)
    assert counter.calls == 0  # a copy was asked
    assert memory[0, 0] == pytest.approx(1.0)
    assert np.isfinite(result.error_estimate)
    with pytest.raises(DescriptionError, match="fixed-step"):
        mp.simulate(run.replace(integrator="dop853"))


@dataclass(frozen=True)
class Hysteresis(Controller):
    """A controller class that cannot be traced and has a state."""

    kp: Any
    name: ClassVar[str] = "hysteresis"
    space: ClassVar[Any] = "none"

    def states(self, n: int) -> int:
        return 1

    def torque(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return -self.kp * q - state[0] if q[0] > -99.0 else 0.0 * q

    def state_rate(self, arm: Any, t: Any, q: Any, qd: Any, target: Any, state: Any) -> Any:
        return np.array([q[0] - state[0]])


def test_untraceable_classes_run_too() -> None:
    result = mp.simulate(mp.Scenario(robot=ROBOT, controller=Hysteresis(5.0), q0=[0.3, 0.2], duration=0.04, step=2e-3))
    assert "ran in Python" in result.notes[0]
    z = result.controller_states[:, 0]
    np.testing.assert_allclose(np.gradient(z, result.t)[1:-1], (result.q[:, 0] - z)[1:-1], atol=1e-3)
    assert np.abs(result.audit).max() <= AUDIT


def test_rodas_asks_for_a_compiled_controller() -> None:
    with pytest.raises(DescriptionError, match="rodas"):
        mp.simulate(
            mp.Scenario(
                robot=ROBOT, controller=control.UserFunction(with_if), q0=[0.3, 0.2], duration=0.1, integrator="rodas"
            )
        )

"""A load at the tip that the controller finds while it tracks: Lyapunov's function, Pinocchio under SciPy, the true load at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, solve_ivp

import manipula as mp
from control.arms_and_gains import arm
from manipula import control
from manipula.errors import DescriptionError
from oracles import Judge

MASS, COM, INERTIA = 2.5, (0.02, -0.03, 0.06), (0.02, 0.018, 0.009)
KV = {"planar-2r": np.array([20.0, 10.0]), "panda": np.array([20.0, 20.0, 10.0, 10.0, 1.0, 1.0, 0.2])}
Q0 = np.array([0.1, 0.3, -0.2, -1.6, 0.1, 1.9, 0.2])


def stirring(n: int, duration: float, size: float = 0.4) -> Any:
    """Every joint at a frequency of its own about a posture."""
    q0 = Q0[:n]

    def position(t: Any) -> list[Any]:
        from manipula.algebra import ops

        return [q0[i] + size * (1.0 - ops.cos((1.1 + 0.37 * i) * t)) / 2 for i in range(n)]

    return mp.formula_motion(position, duration, space="joint")


def carrying(robot: mp.Robot, mass: float, com: Any = COM, inertia: Any = INERTIA) -> mp.Robot:
    return robot.replace(payload=mp.Payload(mass, com, np.diag(inertia)))


def test_a_point_mass_against_pinocchio_under_scipy() -> None:
    """Y_L by the difference of Pinocchio's M, C and g with and without 1 kg at its place."""
    robot, slope, kv, rate = arm("panda"), 6.0, KV["panda"], 3.0
    point = (MASS, COM, (0.0, 0.0, 0.0))
    empty, unit, loaded = Judge(robot), Judge(carrying(robot, 1.0, COM, (0, 0, 0))), Judge(carrying(robot, *point))
    motion = stirring(7, 0.1)
    scenario = mp.Scenario(robot=carrying(robot, *point), model=robot, controller=control.AdaptivePayload(slope, kv, rate, com=COM),
                           reference=motion, q0=Q0, duration=0.1, sample=0.02, step=5e-4, integrator="rk4", friction=())  # fmt: skip
    result = mp.simulate(scenario).check()

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, qd, m = y[:7], y[7:14], y[14]
        e, ed = motion.position(t) - q, motion.velocity(t) - qd
        v, a = motion.velocity(t) + slope * e, motion.acceleration(t) + slope * ed
        asked = lambda j: j.mass_matrix(q) @ a + j.coriolis_matrix(q, qd) @ v + j.gravity(q)
        Y, s = asked(unit) - asked(empty), v - qd
        qdd = loaded.forward_dynamics(q, qd, asked(empty) + Y * m + kv * s)
        return np.concatenate([qd, qdd, [rate * (Y @ s)]])

    start = np.concatenate([Q0, np.zeros(8)])
    theirs = solve_ivp(rates, (0.0, 0.1), start, t_eval=result.t, method="DOP853", rtol=1e-11, atol=1e-12).y
    np.testing.assert_allclose(result.q, theirs[:7].T, atol=1e-8)
    np.testing.assert_allclose(result.payload_mass, theirs[14], atol=1e-7)


@pytest.mark.parametrize("name", ["planar-2r", "panda"])
def test_a_mass_taken_up_during_a_run_is_found(name: str) -> None:
    robot = arm(name)
    controller = control.AdaptivePayload(5.0, KV[name], 40.0, com=COM)
    taken = mp.PayloadChange(1.0, MASS, com=COM)
    scenario = mp.Scenario(robot=robot, controller=controller, reference=stirring(robot.n, 6.0), duration=6.0, sample=0.1, friction=(),
                           disturbances=(taken,), step=2e-3, tolerance=1e-4)  # fmt: skip
    result = mp.simulate(scenario).check()
    assert np.abs(result.payload_mass[result.t < 1.0]).max() < 1e-6
    assert result.payload_mass[-1] == pytest.approx(MASS, abs=1e-3)


def test_all_ten_parameters_make_lyapunovs_function_fall_and_the_mass_right() -> None:
    r"""V̇ = −sᵀKs of the loaded arm, by Pinocchio's M; mass and first moments end at the true ones."""
    robot = arm("panda")
    loaded, slope, kv = carrying(robot, MASS), 5.0, KV["panda"]
    controller = control.AdaptivePayload(slope, kv, 40.0, estimates="inertia", moment_rate=2.0, inertia_rate=0.05)
    motion = stirring(7, 12.0, 1.0)
    scenario = mp.Scenario(robot=loaded, model=robot, controller=controller, reference=motion, q0=Q0, duration=0.3, sample=1e-3, step=1e-3,
                           friction=(), integrator="rk4", verify=False)  # fmt: skip
    result = mp.simulate(scenario)
    judge, estimate = Judge(loaded), result.arrays["controller_states"]
    c = np.array(COM)
    second = np.diag(INERTIA) + MASS * (c @ c * np.eye(3) - np.outer(c, c))
    xx, yy, zz = np.diag(second)
    true = np.array([MASS, *(MASS * c), xx, second[0, 1], yy, second[0, 2], second[1, 2], zz])
    gains = np.array([40.0, *[2.0] * 3, *[0.05] * 6])
    V, falls = [], []
    for k in range(len(result.t)):
        q, qd, t = result.q[k], result.qd[k], result.t[k]
        s = motion.velocity(t) + slope * (motion.position(t) - q) - qd
        V.append(0.5 * s @ judge.mass_matrix(q) @ s + 0.5 * np.sum((true - estimate[k]) ** 2 / gains))
        falls.append(-s @ (kv * s))
    fallen = cumulative_simpson(np.array(falls), x=result.t, initial=0.0)
    np.testing.assert_allclose(np.array(V) - V[0], fallen, atol=1e-6 * V[0])
    result = mp.simulate(scenario.replace(duration=12.0, step=2e-3, sample=0.1))
    assert result.payload_mass[-1] == pytest.approx(MASS, abs=0.02)
    np.testing.assert_allclose(result.payload_moment[-1], MASS * c, atol=0.01)


def test_what_does_not_act_is_refused() -> None:
    with pytest.raises(DescriptionError, match="'com' does not act"):
        control.AdaptivePayload(8.0, 15.0, 4.0, "moments", com=(0, 0, 0.1))
    with pytest.raises(DescriptionError, match="'moment_rate' does not act"):
        control.AdaptivePayload(8.0, 15.0, 4.0, moment_rate=1.0)

"""Closed loops do what their theory says, on a planar arm, a SCARA and a seven-joint arm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson

import manipula as mp
from control.arms_and_gains import GOAL, arm, integrate, quintic
from manipula import control
from manipula.control import Arm
from manipula.physics.derivatives import forward_dynamics_derivatives
from manipula.physics.mechanism import mechanism_of
from manipula.physics.regressor import parameters

ERROR_LAW = 2e-9  # RK4 with h = 1 ms on poles at -10: (10 h)^4/120 per unit of t, of an error of 0.1
STEP = 1e-3


def law(t: np.ndarray, e0: np.ndarray) -> np.ndarray:
    r""":math:`e(t) = (1 + 10t)e^{-10t}e_0`, the answer of :math:`\ddot e + 20\dot e + 100e = 0` from rest."""
    return ((1 + 10 * t) * np.exp(-10 * t))[:, None] * e0


@pytest.mark.parametrize("name", sorted(GOAL))
def test_computed_torque_gives_linear_errors(name: str) -> None:
    robot = arm(name)
    start = np.zeros(robot.n)
    reference = quintic(name, start, 0.6)
    q0 = start + 0.05 * np.cos(np.arange(robot.n))
    t, q, _, samples = integrate(
        mp.Scenario(robot=robot, controller=control.ComputedTorque(100.0, 20.0), reference=reference, q0=q0, duration=0.6,
                    integrator="rk4", verify=False)
    )  # fmt: skip
    error = reference.position(t) - q
    assert np.abs(error - law(t, error[0])).max() <= ERROR_LAW
    assert not np.isfinite(samples.stopped).any()


RESOLVED, OPERATIONAL = control.TaskSpaceComputedTorque, control.OperationalSpace


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("zlajpah-5r", RESOLVED),
        ("zlajpah-5r", OPERATIONAL),
        ("scara-khang", RESOLVED),
        ("panda", RESOLVED),
        ("panda", OPERATIONAL),
    ],
)
def test_tip_error_obeys_its_law_whatever_the_arm(name: str, kind: type) -> None:
    robot = arm(name)
    q0 = np.array(
        {"zlajpah-5r": np.deg2rad([90, -40, -40, -40, -30]), "scara-khang": [0.2, 0.9, -0.3, 0.1]}.get(
            name, GOAL.get(name)
        )
    )
    model = mp.compile(robot)
    tip = model.position(q0)
    shift = np.array([0.01, -0.02, 0.0 if name == "zlajpah-5r" else 0.015])
    reference = mp.trajectory(mp.paths.line(tip + shift, tip + shift + [-0.1, 0.08, 0.0]), mp.timing.quintic(0.5))
    t, q, _, _ = integrate(
        mp.Scenario(robot=robot, controller=kind(100.0, 20.0, null_damping=4.0), reference=reference, q0=q0, duration=0.5,
                    integrator="rk4", verify=False)
    )  # fmt: skip
    error = reference.position(t) - model.position(q)
    assert np.abs(error - law(t, error[0])).max() <= ERROR_LAW


@pytest.mark.parametrize("name", ["planar-2r", "scara-khang", "panda"])
def test_pd_with_gravity_comes_to_rest_at_the_goal(name: str) -> None:
    robot = arm(name)
    goal = np.array(GOAL[name])
    M = np.diag(mp.compile(robot).mass_matrix(goal))
    controller = control.PDGravity(100.0 * M, 20.0 * M, goal=goal)
    _t, q, qd, _ = integrate(
        mp.Scenario(
            robot=robot, controller=controller, q0=goal + 0.2, duration=4.0, integrator="rk4", verify=False, sample=0.01
        )
    )
    left = np.abs(q - goal).max(axis=1)
    assert left[-1] <= 1e-6
    assert np.abs(qd[-1]).max() <= 1e-5
    energy = mp.compile(robot).kinetic_energy(q, qd) + 0.5 * ((q - goal) ** 2 * 100.0 * M).sum(axis=1)
    assert np.all(np.diff(energy) <= 1e-12)  # the Lyapunov function of Takegaki and Arimoto


def test_pd_alone_sags_by_gravity_over_stiffness() -> None:
    robot = arm("planar-2r")
    _t, q, _qd, _ = integrate(
        mp.Scenario(robot=robot, controller=control.PD(400.0, 80.0, goal=[0.2, 0.1]), q0=[0.2, 0.1], duration=6.0, integrator="rk4",
                    sample=0.1, verify=False)
    )  # fmt: skip
    np.testing.assert_allclose(400.0 * (np.array([0.2, 0.1]) - q[-1]), mp.compile(robot).gravity(q[-1]), atol=1e-6)


def test_gravity_compensation_floats_and_damps() -> None:
    robot = arm("planar-2r")
    still = mp.simulate(
        mp.Scenario(
            robot=robot,
            controller=control.GravityCompensation(),
            q0=[0.4, -0.9],
            duration=0.3,
            integrator="rk4",
            sample=0.1,
        )
    )
    assert np.abs(still.q - still.q[0]).max() <= 1e-13
    moved = integrate(
        mp.Scenario(robot=robot, controller=control.GravityCompensation(8.0), q0=[0.4, -0.9], qd0=[1.0, -1.0], duration=6.0,
                    integrator="rk4", sample=0.1, verify=False)
    )  # fmt: skip
    assert np.abs(moved[2][-1]).max() <= 1e-5
    assert np.abs(moved[1][-1] - moved[1][0]).max() > 0.05


def closed_loop_poles(
    robot: mp.Robot, controller: control.LQR
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n = robot.n
    goal = np.asarray(controller.goal)
    tau = mp.compile(robot).gravity(goal)
    dq, dqd, dtau = (np.asarray(d, float) for d in forward_dynamics_derivatives(robot, goal, np.zeros(n), tau))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    B = np.vstack([np.zeros((n, n)), dtau])
    K = np.asarray(controller.prepare(Arm(robot)).gain)  # pyright: ignore[reportAttributeAccessIssue]
    return A, B, K, np.linalg.eigvals(A - B @ K)


@pytest.mark.parametrize("name", ["planar-2r", "panda"])
def test_lqr_is_stable_and_optimal(name: str) -> None:
    """Stable poles, and Kalman's inequality: the return difference of an optimal loop is never below 1."""
    robot = arm(name)
    A, B, K, poles = closed_loop_poles(robot, control.LQR(GOAL[name]))
    assert poles.real.max() < -0.1
    for omega in np.logspace(-2, 3, 25):
        difference = np.eye(len(K)) + K @ np.linalg.solve(1j * omega * np.eye(len(A)) - A, B)
        assert np.linalg.svd(difference, compute_uv=False)[-1] >= 1.0 - 1e-6


def test_lqr_holds_the_upright_posture() -> None:
    robot = arm("planar-2r")
    controller = control.LQR([np.pi / 2, 0.0])
    _t, q, _qd, _ = integrate(
        mp.Scenario(robot=robot, controller=controller, q0=[np.pi / 2 + 0.05, -0.04], duration=3.0, integrator="rk4", sample=0.05,
                    verify=False)
    )  # fmt: skip
    slowest = closed_loop_poles(robot, controller)[3].real.max()
    left = np.abs(q - [np.pi / 2, 0.0]).max(axis=1)
    assert left[-1] <= 3.0 * left[0] * np.exp(slowest * 3.0) + 1e-12
    assert left[-1] < 1e-3


def test_lqr_weights_of_a_batch_act() -> None:
    robot = arm("planar-2r")
    scenario = mp.Scenario(
        robot=robot, controller=control.LQR([0.3, 0.1], effort_weight=1.0), q0=[0.4, 0.2], duration=0.3, integrator="rk4",
        vary={"controller.effort_weight": [1.0, 0.01]}, verify=False,
    )  # fmt: skip
    both = mp.simulate(scenario)
    alone = mp.simulate(scenario.replace(vary=None, controller=control.LQR([0.3, 0.1], effort_weight=0.01)))
    assert np.array_equal(both.q[1], alone.q)
    assert np.abs(both.q[0] - both.q[1]).max() > 1e-3


PAYLOAD = mp.Payload(1.5, (0.05, 0.02, 0.0))


def tracking(controller: control.Controller, duration: float = 3.0) -> tuple[np.ndarray, ...]:
    """A plant that carries something the controller's model (where it has one) does not know, along a closed joint path."""
    robot = arm("planar-2r")
    model = None if isinstance(controller, control.PD) else robot
    loop = mp.paths.joint([[0.0, 0.4], [0.6, -0.2], [0.2, -0.8]], closed=True)
    reference = mp.trajectory(loop, mp.timing.quintic(duration))
    scenario = mp.Scenario(
        robot=robot.replace(payload=PAYLOAD), model=model, controller=controller, reference=reference, duration=duration,
        integrator="rk4", verify=False,
    )  # fmt: skip
    t, q, qd, samples = integrate(scenario)
    return t, q, qd, reference.position(t) - q, reference.velocity(t) - qd, samples.x[0]


def test_slotine_li_learns_the_payload_and_obeys_its_lyapunov_function() -> None:
    r""":math:`V = \tfrac12 s^TMs + \tfrac12\tilde\pi^T\Gamma^{-1}\tilde\pi` falls exactly by :math:`\int s^TKs\,dt`."""
    slope, damping, rate = 10.0, 30.0, 5.0
    t, q, _qd, e, ed, x = tracking(control.SlotineLi(slope, damping, rate))
    s = ed + slope * e
    robot = arm("planar-2r")
    carried = robot.replace(payload=PAYLOAD)
    truth = (np.asarray(parameters(mechanism_of(carried)), float) - np.asarray(parameters(mechanism_of(robot)), float))[
        10:20
    ]
    estimate = x[:, 4:14]
    M = mp.compile(carried).mass_matrix(q)
    V = 0.5 * np.einsum("ti,tij,tj->t", s, M, s) + 0.5 * ((truth - estimate) ** 2).sum(axis=1) / rate
    lost = simpson(damping * (s**2).sum(axis=1), x=t)
    assert V[0] - V[-1] == pytest.approx(lost, rel=1e-6)  # Simpson's rule and RK4 at 1 ms
    last = t > t[-1] - 1.0
    fixed = tracking(control.PD(damping * slope, damping))[3]
    wrong = tracking(control.ComputedTorque(100.0, 20.0))[3]
    assert np.abs(e[last]).max() < 0.1 * np.abs(fixed[last]).max()
    assert np.abs(e[last]).max() < 0.5 * np.abs(wrong[last]).max()


def test_sliding_mode_stays_in_its_layer_despite_a_wrong_model() -> None:
    layer = 0.5  # thinner ones are stiff: K over the layer and the smallest inertia must stay below 2.8/h
    _t, _, _, e, ed, _ = tracking(control.SlidingMode(8.0, 80.0, layer=layer), duration=6.0)
    s = ed + 8.0 * e
    assert np.abs(s).max() < layer
    assert np.abs(e).max() < layer / 8.0  # a first-order filter of s


def test_pid_removes_the_sag_and_does_not_wind_up() -> None:
    robot = arm("planar-2r")

    def step_answer(tracking_time: float) -> tuple[np.ndarray, np.ndarray]:
        controller = control.PID(300.0, 400.0, 60.0, limit=(34.0, 12.0), tracking_time=tracking_time, goal=[0.6, 0.3])
        scenario = mp.Scenario(robot=robot, controller=controller, q0=[-0.8, -0.3], duration=8.0, integrator="rk4", sample=0.01,
                               verify=False)  # fmt: skip
        _t, q, _, samples = integrate(scenario)
        return q, samples.x[0, :, 4:6]

    q, _ = step_answer(0.1)
    assert np.abs(q[-1] - [0.6, 0.3]).max() < 1e-3
    wound, _integral = step_answer(1e9)
    overshoot, wound_overshoot = q[:, 0].max() - 0.6, wound[:, 0].max() - 0.6
    assert wound_overshoot > 0.05
    assert overshoot < 0.5 * wound_overshoot


def test_impedance_deflects_like_its_spring() -> None:
    robot = arm("zlajpah-5r")
    q0 = np.deg2rad([90, -40, -40, -40, -30])
    tip = mp.compile(robot).position(q0)
    force = np.array([6.0, -9.0])
    still = mp.trajectory(mp.paths.line(tip, tip + np.array([1e-9, 0, 0])), mp.timing.quintic(1.0))
    _t, q, _qd, _ = integrate(
        mp.Scenario(robot=robot, controller=control.Impedance((300.0, 500.0), 120.0, joint_damping=3.0), reference=still, q0=q0, duration=12.0,
                    step=2e-3, disturbances=(mp.Wrench([*force, 0, 0, 0, 0]),), integrator="rk4", sample=0.1, verify=False)
    )  # fmt: skip
    deflection = mp.compile(robot).position(q[-1])[:2] - tip[:2]
    np.testing.assert_allclose(deflection, force / [300.0, 500.0], atol=1e-6)

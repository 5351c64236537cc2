r"""Force in one direction, motion in the others: held against the closed form of the contact, the law of the error, and Pinocchio under SciPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import manipula as mp
from control.arms_and_gains import arm
from manipula import control
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.files.scenario_file import file_text, load_text
from oracles import Judge

OUTSIDE = 1e-9
PANDA = np.array([0.1, 0.3, -0.2, -1.6, 0.1, 1.9, 0.2])
STIFF = 4000.0


def pressed(
    robot: mp.Robot, q0: Any, normal: Any, depth: float = 0.0, friction: float | None = None, **more: Any
) -> mp.contact.PlaneContact:
    """A plane behind the tip, which touches it ``depth`` deep."""
    tip = np.asarray(mp.compile(robot).position(q0))
    point = tip + depth * np.asarray(normal)
    return mp.contact.PlaneContact(
        STIFF, point=point, normal=normal, friction=friction, slip_speed=None if friction is None else 0.05, **more
    )


def beside(robot: mp.Robot, q0: Any, shift: Any, along: Any, duration: float = 0.8) -> Any:
    """A line that begins beside the tip."""
    start = np.asarray(mp.compile(robot).position(q0)) + shift
    return mp.trajectory(mp.paths.line(start, start + along), mp.timing.quintic(duration))


@pytest.mark.parametrize("ki", [0.0, 0.3])
@pytest.mark.parametrize(
    ("name", "q0", "out"),
    [("planar-2r", np.array([0.4, 0.9]), [-1.0, 0.0, 0.0]), ("panda", PANDA, [0.0, 0.0, 1.0])],
)
def test_force_by_its_closed_form_and_path_by_its_law(name: str, q0: np.ndarray, out: list[float], ki: float) -> None:
    """δ̈ + Dδ̇ + K_f c δ = K_f f_d + z, ż = K_i(f_d − cδ); along the plane (1 + 10t)e^(−10t), under dry friction there."""
    robot, out_of = arm(name), np.array(out)
    into, side = -out_of, np.array([0.0, 1.0, 0.0])
    first, f_d, kf, D = 0.002, 20.0, 0.2, 60.0
    e0 = 0.02 * side
    law = control.HybridForcePosition(f_d * into, [out], 100.0, 20.0, kf, D, ki)
    scenario = mp.Scenario(
        robot=robot, controller=law, reference=beside(robot, q0, e0 + 0.3 * out_of, 0.1 * side), q0=q0, duration=0.8, sample=0.02,
        step=2.5e-4, integrator="rk4", friction=(), contacts=(pressed(robot, q0, out_of, first, friction=0.4),), verify=False,
    )  # fmt: skip
    result = mp.simulate(scenario)
    assert result.ok, result.reason
    A = np.array([[0.0, 1.0, 0.0, 0.0], [-kf * STIFF, -D, 1.0, kf * f_d], [-ki * STIFF, 0.0, 0.0, ki * f_d], [0.0] * 4])
    depth = np.array([(expm(A * t) @ [first, 0.0, 0.0, 1.0])[0] for t in result.t])
    np.testing.assert_allclose(result.penetration[:, 0], depth, atol=OUTSIDE)
    np.testing.assert_allclose(result.contact_force[:, 0], STIFF * depth, atol=OUTSIDE * STIFF)
    decay = ((1 + 10 * result.t) * np.exp(-10 * result.t))[:, None]
    tangential = np.eye(3) - np.outer(out_of, out_of)
    np.testing.assert_allclose(result.error @ tangential, decay * e0, atol=OUTSIDE)
    assert np.abs(result.contact_wrench[:, 0, 1]).max() > 0.5  # there was friction to be compensated


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_the_force_settles_where_it_was_asked_for_though_the_model_is_wrong(exponent: float) -> None:
    """From a distance, against a sphere's contact, with a model whose links weigh 10 % less: the integral finds the force."""
    robot, q0 = arm("planar-2r"), np.array([0.4, 0.9])
    tip = np.asarray(mp.compile(robot).position(q0))
    wall = mp.contact.PlaneContact(
        2e5 if exponent > 1 else 2e4,
        point=tip + np.array([0.02, 0, 0]),
        normal=(-1, 0, 0),
        exponent=exponent,
        damping=0.5,
    )
    lighter = robot.replace(links=tuple(replace(k, mass=0.9 * k.mass) for k in robot.links))
    law = control.HybridForcePosition([12.0, 0, 0], [[1, 0, 0]], 400.0, 40.0, 0.2, 120.0, ki=6.0)
    still = mp.formula_motion(lambda t: [tip[0], tip[1], 0.0 * t], 8.0, space="task")
    scenario = mp.Scenario(robot=robot, model=lighter, controller=law, reference=still, q0=q0, duration=8.0, sample=0.05,
                           friction=(), contacts=(wall,), tolerance=1e-8)  # fmt: skip
    result = mp.simulate(scenario).check()
    assert result.contact_force[0, 0] == 0.0
    assert result.contact_force[-1, 0] == pytest.approx(12.0, abs=1e-6)


def test_a_tool_pressed_along_its_own_axis_against_pinocchio_under_scipy() -> None:
    """Directions in axes of the tip on a plane that is not at right angles to them: another program's M, h, J and integrator."""
    robot = arm("panda")
    judge, tip = Judge(robot), np.asarray(mp.compile(robot).pose(PANDA))
    normal = -tip[:3, 2] + 0.1 * tip[:3, 0]
    wall = pressed(robot, PANDA, normal, 0.001, damping=0.2)
    law = control.HybridForcePosition([0, 0, 15.0], [[0, 0, 2.0]], 100.0, 20.0, 0.2, 50.0, 0.5, frame="tip", null_damping=3.0)  # fmt: skip
    motion = beside(robot, PANDA, [0.01, 0.0, 0.0], [0.0, 0.05, 0.0], 0.3)
    scenario = mp.Scenario(robot=robot, controller=law, reference=motion, q0=PANDA, duration=0.3, sample=0.05, step=2.5e-4, integrator="rk4",
                           friction=(), contacts=(wall,))  # fmt: skip
    result = mp.simulate(scenario).check()
    unit = normal / np.linalg.norm(normal)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, qd, z = y[:7], y[7:14], y[14]
        X, J, Jd = judge.pose(q), judge.jacobian(q), judge.jacobian_rate(q, qd)
        v = J[:3] @ qd
        depth, closing = unit @ (np.array(wall.point) - X[:3, 3]), -unit @ v
        force = max(0.0, STIFF * depth * (1 + 1.5 * 0.2 * closing)) * unit if depth > 0 else np.zeros(3)
        n, M, h = X[:3, 2], judge.mass_matrix(q), judge.nonlinear_effects(q, qd)
        missing = 15.0 - n @ -force
        e, ed = motion.position(t) - X[:3, 3], motion.velocity(t) - v
        free = motion.acceleration(t) + 20 * ed + 100 * e
        a = (np.eye(3) - np.outer(n, n)) @ free + n * (0.2 * missing - 50.0 * (n @ v) + z)
        inertia = np.linalg.inv(J[:3] @ np.linalg.solve(M, J[:3].T))
        N = np.eye(7) - J[:3].T @ inertia @ J[:3] @ np.linalg.inv(M)
        tau = J[:3].T @ (inertia @ (a - Jd[:3] @ qd)) + h - J[:3].T @ force - 3.0 * N @ M @ qd
        return np.concatenate([qd, judge.forward_dynamics(q, qd, tau + J[:3].T @ force), [0.5 * missing]])

    start = np.concatenate([PANDA, np.zeros(8)])
    theirs = solve_ivp(rate, (0.0, 0.3), start, t_eval=result.t, method="DOP853", rtol=1e-11, atol=1e-12).y
    np.testing.assert_allclose(result.q, theirs[:7].T, atol=1e-8)
    np.testing.assert_allclose(result.arrays["controller_states"][:, 0], theirs[14], atol=1e-7)


def test_directions_are_checked() -> None:
    more = (100.0, 20.0, 0.2, 30.0)
    with pytest.raises(DescriptionError, match=r"part \[0.0, 3.0, 0.0\] of the force.*would never act"):
        control.HybridForcePosition([1, 3, 0], [[1, 0, 0]], *more)
    for odd in ([], [[0, 0, 0]], [[1, 0, 0], [2, 0, 0]], [[1, 0]], [[1, 0, 0]] * 4):
        with pytest.raises(DescriptionError, match=r"[Dd]irections"):
            control.HybridForcePosition([1, 0, 0], odd, *more)
    robot, q0 = arm("planar-2r"), [0.4, 0.9]
    scenario = mp.Scenario(robot=robot, reference=beside(robot, q0, 0.0, [0.0, 0.1, 0.0]), q0=q0,
                           controller=control.HybridForcePosition([1, 0, 0], [[1, 0, 0]], *more))  # fmt: skip
    assert load_text(file_text(scenario)) == scenario
    with pytest.raises(DescriptionError, match="cannot move its tip along z"):
        mp.simulate(scenario.replace(controller=control.HybridForcePosition([0, 0, 1], [[0, 0, 1]], *more)))
    with pytest.raises(UnknownNameError, match="frame in robot"):
        mp.simulate(scenario.replace(controller=control.HybridForcePosition([1, 0, 0], [[1, 0, 0]], *more, frame="ti")))

"""Names from elsewhere: Pinocchio's against Pinocchio itself, the toolbox's against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

import manipula.compat.pinocchio as like_pinocchio
import manipula.compat.robotics_toolbox as like_toolbox
from manipula.model import Model, compile
from strategies import random_robot, random_state

ROUNDOFF = 1e-12  # scaled; compiled code beside another program


@pytest.fixture(scope="module")
def model() -> Model:
    return compile(random_robot(np.random.default_rng(1), 4, drives=True, tool=True, base=True, name="four"))


def close(value: np.ndarray, reference: np.ndarray) -> bool:
    reference = np.asarray(reference, float)
    assert np.shape(value) == reference.shape
    return bool(np.max(np.abs(value - reference)) <= ROUNDOFF * max(1.0, np.max(np.abs(reference))))


def test_pinocchios_names(model: Model) -> None:
    pytest.importorskip("pinocchio")
    from oracles import Judge

    judge = Judge(model.robot)
    q, v, a = random_state(np.random.default_rng(2), 4)
    assert close(like_pinocchio.rnea(model, q, v, a), judge.inverse_dynamics(q, v, a))
    assert close(like_pinocchio.crba(model, q), judge.mass_matrix(q))
    assert close(like_pinocchio.aba(model, q, v, a), judge.forward_dynamics(q, v, a))
    assert close(like_pinocchio.nle(model, q, v), judge.nonlinear_effects(q, v))
    assert like_pinocchio.nonLinearEffects is like_pinocchio.nle
    assert close(like_pinocchio.computeGeneralizedGravity(model, q), judge.gravity(q))
    assert close(like_pinocchio.computeCoriolisMatrix(model, q, v), judge.coriolis_matrix(q, v))
    assert close(like_pinocchio.computeMinverse(model, q), np.linalg.inv(judge.mass_matrix(q)))
    assert close(like_pinocchio.computeKineticEnergy(model, q, v), np.array(judge.kinetic_energy(q, v)))
    assert close(like_pinocchio.computePotentialEnergy(model, q), np.array(judge.potential_energy(q)))
    assert close(like_pinocchio.computeJointTorqueRegressor(model, q, v, a), judge.regressor(q, v, a))
    for ours, theirs in (
        (like_pinocchio.computeRNEADerivatives(model, q, v, a), judge.inverse_dynamics_derivatives(q, v, a)),
        (like_pinocchio.computeABADerivatives(model, q, v, a), judge.forward_dynamics_derivatives(q, v, a)),
    ):
        assert all(close(x, y) for x, y in zip(ours, theirs, strict=True))
    assert close(like_pinocchio.framePlacement(model, q), judge.pose(q))
    for axes in ("base", "body"):
        assert close(like_pinocchio.computeFrameJacobian(model, q, "tip", axes), judge.jacobian(q, "tip", axes))
        rate = like_pinocchio.getFrameJacobianTimeVariation(model, q, v, "tip", axes)
        assert close(rate, judge.jacobian_rate(q, v, "tip", axes))


def test_the_toolboxs_names(model: Model) -> None:
    q, qd, x = random_state(np.random.default_rng(3), 4)
    T, J0, Je = like_toolbox.fkine(model, q), like_toolbox.jacob0(model, q), like_toolbox.jacobe(model, q)
    R = T[:3, :3]
    assert close(np.vstack([R @ Je[:3], R @ Je[3:]]), J0)
    h = 1e-6
    finite = (like_toolbox.jacob0(model, q + h * qd) - like_toolbox.jacob0(model, q - h * qd)) / (2 * h)
    step_error = 1e-8  # h² and 1e-16 / h, times entries of order 10
    assert np.max(np.abs(like_toolbox.jacob0_dot(model, q, qd) - finite)) <= step_error
    M, C, g = like_toolbox.inertia(model, q), like_toolbox.coriolis(model, q, qd), like_toolbox.gravload(model, q)
    tau = like_toolbox.rne(model, q, qd, x)
    assert close(tau, M @ x + C @ qd + g)
    assert close(like_toolbox.itorque(model, q, x), M @ x)
    assert np.max(np.abs(like_toolbox.accel(model, q, qd, tau) - x)) <= 1e-14 * np.linalg.cond(M) * np.max(np.abs(tau))


def test_payload_wrench_in_either_axes(model: Model) -> None:
    q, _, _ = random_state(np.random.default_rng(4), 4)
    W = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    R = like_toolbox.fkine(model, q)[:3, :3]
    in_base = np.concatenate([R @ W[:3], R @ W[3:]])
    assert close(like_toolbox.pay(model, W, q), like_toolbox.pay(model, in_base, q, frame=0))
    assert close(like_toolbox.pay(model, in_base, q, frame=0), model.external_torque(q, in_base))
    with pytest.raises(ValueError, match="frame is 0"):
        like_toolbox.pay(model, W, q, frame=2)


def test_trajectories_are_batches(model: Model) -> None:
    rng = np.random.default_rng(5)
    q, qd, x = rng.uniform(-1, 1, (3, 10, 4))
    W = rng.normal(size=6)
    assert like_toolbox.fkine(model, q).shape == (10, 4, 4)
    for k in range(10):
        assert np.array_equal(like_toolbox.rne(model, q, qd, x)[k], like_toolbox.rne(model, q[k], qd[k], x[k]))
        assert close(like_toolbox.itorque(model, q, x)[k], like_toolbox.itorque(model, q[k], x[k]))
        assert close(like_toolbox.pay(model, W, q)[k], like_toolbox.pay(model, W, q[k]))
        assert np.array_equal(like_pinocchio.aba(model, q, qd, x)[k], like_pinocchio.aba(model, q[k], qd[k], x[k]))

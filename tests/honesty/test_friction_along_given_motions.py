"""Inverse-dynamics and kinematic runs: friction that remembers or depends on load is the friction of that motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

import manipula as mp
from manipula import friction
from manipula.algebra import ops
from manipula.motion.formula_motion import formula_motion
from manipula.physics.reactions import normal_forces
from manipula.robot.friction.base import FrictionLaw

ARM = mp.planar([0.5, 0.4], [2.0, 1.0])
SWING = formula_motion(
    ["0.4*sin(3*t)", "0.3 - 0.5*sin(2*t)"], 2.0, space="joint"
)  # both joints come to rest and turn back
LAWS = (
    friction.LuGre(1e4, 30.0, 0.4, 0.01, 0.15, 0.1, diameter=0.08),  # load from the reactions
    friction.Dahl(2e3, 1.5, 0.2),
)


@dataclass(frozen=True)
class TwoSprings(FrictionLaw):
    """A user's law: two bristles in a row, one of them slow."""

    stiffness: float = 500.0
    name: ClassVar[str] = "two_springs"
    states: ClassVar[int] = 2

    def torque(self, qd: Any, state: Any = (0.0, 0.0), load: Any = 0.0) -> Any:
        return self.stiffness * state[0] + 3.0 * state[1]

    def state_rate(self, qd: Any, state: Any, load: Any = 0.0) -> Any:
        z, slow = state
        return (qd - self.stiffness * ops.abs(qd) * z, 4.0 * (qd - slow))


def bristles(law: Any, qd: Any, t: np.ndarray) -> np.ndarray:
    """What the law remembers along qd(t), by SciPy's stiff integrator, started anew where the velocity changes its sign."""
    fine = np.linspace(0.0, t[-1], 4001)
    sign = np.sign([qd(x) for x in fine])
    borders = [0.0, *fine[1:][np.diff(sign) != 0], t[-1]]
    state, out = np.zeros(law.states), np.zeros((len(t), law.states))
    for a, b in zip(borders[:-1], borders[1:]):
        if b <= a:
            continue
        found = solve_ivp(lambda x, z: law.state_rate(qd(x), tuple(z)), (a, b), state, "Radau", rtol=1e-8, atol=1e-12,
                          dense_output=True)  # fmt: skip
        inside = (t >= a) & (t <= b)
        out[inside] = found.sol(t[inside]).T
        state = found.y[:, -1]
    return out


def check(result: mp.Result, laws: Any, qd: Any) -> None:
    """Bristles as by another integrator; friction as by the law; torques that balance."""
    column = 0
    for i, law in enumerate(laws):
        expected = bristles(law, lambda x, i=i: float(qd(x)[i]), result.t)
        mine = result.bristles[:, column : column + law.states]
        assert np.abs(mine - expected).max() <= 1e-6 * np.abs(expected).max()
        column += law.states
        loads = np.array([normal_forces(ARM, *x)[i] for x in zip(result.q, result.qd, result.qdd)], float)
        torque = [law.torque(v, tuple(z), f) for v, z, f in zip(result.qd[:, i], mine, loads)]
        np.testing.assert_allclose(result.friction[:, i], torque, rtol=1e-9, atol=1e-12)
    rigid = mp.compile(ARM).inverse_dynamics(result.q, result.qd, result.qdd)
    np.testing.assert_allclose(result.tau, rigid + result.friction, atol=1e-9)
    assert np.abs(result.friction).max(axis=0).min() > 0.1


@pytest.mark.parametrize("laws", [LAWS, (TwoSprings(), friction.LuGre(500.0, 2.0, 0.1, 0.05, 0.3, 0.2, load=40.0))])
def test_inverse_dynamics_integrates_what_friction_remembers(laws: Any) -> None:
    run = mp.Scenario(ARM, SWING, kind="inverse_dynamics", friction=laws, step=1e-2, duration=0.9)
    result = mp.simulate(run)
    assert result.ok, result.reason
    assert 0.0 <= result.error_estimate <= 1e-6
    check(result, laws, lambda x: (1.2 * np.cos(3 * x), -np.cos(2 * x)))


def test_the_torques_found_drive_the_same_motion() -> None:
    """Played back, step by step, the torques of the inverse run give the motion they were computed for."""
    laws = (friction.LuGre(500.0, 1.0, 0.1, 0.1, 0.3, 0.2, diameter=0.08), friction.Dahl(200.0, 1.5, 0.2))
    inverse = mp.simulate(
        mp.Scenario(ARM, SWING, kind="inverse_dynamics", friction=laws, step=1e-4, duration=0.4, verify=False)
    )
    forward = mp.simulate(
        mp.Scenario(ARM, torques=(inverse.t, inverse.tau), q0=inverse.q[0], qd0=inverse.qd[0], friction=laws, duration=0.4,
                    integrator="rk4", sample=0.02, step=1e-4, verify=False)
    )  # fmt: skip
    np.testing.assert_allclose(forward.q, inverse.q[::200], atol=1e-5)  # torques are linear between the samples
    np.testing.assert_allclose(forward.bristles, inverse.bristles[::200], atol=1e-7)


def test_kinematic_runs_do_the_same() -> None:
    q0 = np.array([0.4, 0.9])
    tip = mp.compile(ARM).position(q0)
    path = formula_motion([f"{tip[0]} - 0.1*sin(3*t)", f"{tip[1]} + 0.1*sin(2*t)", "0"], 0.9)
    laws = (friction.Dahl(2e3, 1.5, 0.2), friction.LuGre(1e3, 5.0, 0.1, 0.05, 0.3, 0.2, diameter=0.2))
    run = mp.Scenario(ARM, path, kind="kinematic", q0=q0, friction=laws, step=1e-3, sample=0.01)
    result = mp.simulate(run)
    assert result.ok, result.reason
    dense = mp.simulate(run.replace(sample=None, friction=(), verify=False))
    check(result, laws, CubicHermiteSpline(dense.t, dense.qd, dense.qdd))


def test_every_member_of_a_batch_has_its_own_memory() -> None:
    levels = (1.0, 1.5, 2.5)
    laws = (friction.Dahl(2e3, 1.5, 0.2), None)
    batch = mp.simulate(
        mp.Scenario(ARM, SWING, kind="inverse_dynamics", friction=laws, step=2e-2, vary={"friction[0].level": levels})
    )
    for k, level in enumerate(levels):
        one = mp.simulate(
            mp.Scenario(ARM, SWING, kind="inverse_dynamics", friction=(friction.Dahl(2e3, level, 0.2), None), step=2e-2)
        )
        np.testing.assert_allclose(batch.tau[k], one.tau, rtol=1e-6, atol=1e-9)
    assert np.abs(batch.friction[2] - batch.friction[0]).max() > 1.0

"""Digital controllers: a run whose steps cannot tell what encoders count, or what is decided, is not finished. Judge: SciPy from instant to instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.algebra import ops

PERIOD, DURATION, FILTER = 0.002, 0.8, 0.005
ARM = mp.planar([0.5, 0.4], [3.0, 2.0])
MODEL = mp.compile(ARM)
CASES = (  # start, goal, gains, smallest step of a position; found among 600 random runs
    ([0.6567956377599631, 0.4865992164193216], [0.3393499896576193, -0.27877428070945],
     [68.44355282520888, 50.64507296730807], [6.26275271581105, 6.7813650840236726], 8.050080741988234e-05),
    ([0.29467284102156843, -0.30948333697623753], [0.3089807504793256, -0.22381060856314616],
     [130.3437935055247, 142.50060867743684], [6.573103661914967, 8.12295186558206], 3.7458999535507e-05),
)  # fmt: skip


def scenario(case: Any, **settings: Any) -> mp.Scenario:
    q0, goal, kp, kv, resolution = case
    encoder = mp.Encoder(resolution=resolution, velocity="difference", filter_time=FILTER)
    law = mp.control.PDGravity(kp=kp, kv=kv, goal=goal)
    common: dict[str, Any] = {"duration": DURATION, "sample": 0.02, "control_period": PERIOD, "integrator": "rk4"}
    return mp.Scenario(ARM, None, law, q0=q0, encoder=encoder, tolerance=2e-5, **{**common, **settings})


def exact(case: Any) -> np.ndarray:
    """Positions and speeds every 20 ms, (S, 4)."""
    q0, goal, kp, kv, r = case

    def rate(_: float, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], MODEL.forward_dynamics(x[:2], x[2:], tau)])

    x, v, before, out = np.array([*q0, 0.0, 0.0]), np.zeros(2), None, []
    for k in range(round(DURATION / PERIOD) + 1):
        if k % 10 == 0:
            out.append(x)
        y = r * np.floor(x[:2] / r + 0.5)
        v = v if before is None else v + (1.0 - np.exp(-PERIOD / FILTER)) * ((y - before) / PERIOD - v)
        before, tau = y, np.array(kp) * (np.array(goal) - y) - np.array(kv) * v + MODEL.gravity(y)
        x = solve_ivp(rate, (0.0, PERIOD), x, args=(tau,), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return np.array(out)


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_counts_otherwise_than_the_exact_motion_is_not_finished(case: Any) -> None:
    right = exact(case)
    run = mp.simulate(scenario(case, step=PERIOD))
    off = np.abs(np.hstack([run.q, run.qd]) - right).max()
    assert off > 1e-3  # one count makes another motion of it
    assert run.status == "inaccurate"
    assert "The encoder of 'joint" in run.reason
    assert run.reason.endswith(" Reduce the step.")
    assert mp.simulate(scenario(case, step=PERIOD, control_period=None)).reason.endswith(
        " State control_period = 0.002 and reduce the step."
    )
    finer = mp.simulate(scenario(case, step=PERIOD / 16)).check()
    np.testing.assert_allclose(np.hstack([finer.q, finer.qd]), right, atol=2e-5)
    assert np.abs(np.hstack([run.q, run.qd]) - right)[run.t <= run.trusted_until].max() < 2e-5


def test_an_arm_that_rests_on_the_edge_of_a_count_is_finished() -> None:
    """Where nothing moves there is no error that could change a count."""
    case = ([0.5, 0.25], [0.5, 0.25], [50.0, 50.0], [5.0, 5.0], 1.0)
    level = mp.planar([0.5, 0.4], [3.0, 2.0], gravity=(0, 0, 0))
    law = mp.control.PD(kp=50.0, kv=5.0, goal=[1.0, 0.0])
    assert mp.simulate(scenario(case, step=PERIOD).replace(robot=level, controller=law)).status == "finished"


def test_runs_of_a_batch_are_told_apart() -> None:
    """One whose count is unsure beside one that rests."""
    sure = ([0.1, 0.2], [0.1, 0.2], *CASES[0][2:])
    both = scenario(CASES[0], step=PERIOD).replace(q0=[CASES[0][0], sure[0]])
    batch = mp.simulate(both)
    for k in range(2):
        alone = mp.simulate(both.replace(q0=np.asarray(both.q0)[k]))
        assert (alone.status, alone.reason) == (batch.statuses[k], batch.reasons[k])
        assert alone.trusted_until == batch.trusted_untils[k]
    assert batch.statuses[0] == "inaccurate"


def test_motors_count_too_and_what_nobody_uses_decides_nothing() -> None:
    """A law that looks at motors alone does not mind what the encoders of the links count."""
    drives = [mp.drives.Flexible(stiffness=800.0, damping=1.0, initial_position="balanced")] * 2
    elastic = ARM.replace(joints=[replace(j, rotor_inertia=0.002, gear_ratio=10.0) for j in ARM.joints])
    base = scenario(CASES[0], step=PERIOD / 2).replace(
        q0=[0.3, 0.2], robot=elastic, drives=drives, noise=mp.Noise(position=1e-5)
    )
    goals = np.random.default_rng(0).uniform(-0.5, 0.5, (12, 2))
    runs = [mp.simulate(base.replace(controller=mp.control.MotorPD(kp=100, kv=10, goal=goal))) for goal in goals]
    unsure = [(k, run.reason) for k, run in enumerate(runs) if "encoder" in run.reason]
    assert unsure
    assert all("the motor of" in reason for _, reason in unsure)
    law = mp.control.MotorPD(kp=100, kv=10, goal=goals[unsure[0][0]])
    mp.simulate(base.replace(step=PERIOD / 40, controller=law)).check()


ROUNDED = (  # start, goal, gains, smallest step of a position, period, tolerance
    ([-0.31686383864509327, -0.6677154024899594], [-0.4324682651834907, 0.0052710782907881], [80.30572747391031, 78.12829884660309],
     [6.836586656604142, 7.178730319480241], 0.0006988029108950261, 0.004, 2.8e-5),
    ([0.3134844739872986, -0.09386250933728002], [0.2321469278526037, 0.042325182955611385], [64.55706164490759, 98.73134039290815],
     [9.173265131543825, 6.467031937130448], 0.0001600881076579785, 0.002, 7.5e-6),
)  # fmt: skip


@pytest.mark.parametrize("case", ROUNDED)
def test_a_users_law_that_rounds_is_held_to_the_same(case: Any) -> None:
    q0, goal, kp, kv, r, period, tolerance = case

    def law(t: Any, q: Any, qd: Any, target: Any) -> list[Any]:
        to = lambda x, by: by * ops.floor(x / by + 0.5)
        return [kp[i] * (goal[i] - to(q[i], r)) - kv[i] * to(qd[i], 10 * r) for i in range(2)]

    def rate(_: float, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], level.forward_dynamics(x[:2], x[2:], tau)])

    arm = ARM.replace(gravity=(0, 0, 0))
    level, x, right = mp.compile(arm), np.array([*q0, 0.0, 0.0]), []
    for k in range(round(DURATION / period) + 1):
        if k % round(0.02 / period) == 0:
            right.append(x)
        tau = np.array(law(0.0, x[:2], x[2:], None))
        x = solve_ivp(rate, (0.0, period), x, args=(tau,), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    s = mp.Scenario(arm, None, mp.control.UserFunction(law), q0=q0, duration=DURATION, step=period, sample=0.02, control_period=period,
                    integrator="rk4", tolerance=tolerance)  # fmt: skip
    run = mp.simulate(s)
    assert np.abs(np.hstack([run.q, run.qd]) - right).max() > 10 * tolerance
    assert run.status == "inaccurate"
    assert run.reason.startswith("What the controller decides for 'joint")
    finer = mp.simulate(s.replace(step=period / 16)).check()
    np.testing.assert_allclose(np.hstack([finer.q, finer.qd]), right, atol=tolerance)

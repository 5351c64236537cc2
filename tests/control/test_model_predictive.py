"""Model predictive control: held against Riccati recursions with Pinocchio's linearisation, SciPy's bounded least squares, and SciPy's own closed loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_discrete_are
from scipy.optimize import lsq_linear

import manipula as mp
from control.arms_and_gains import GOAL, arm
from manipula import control, native
from manipula.errors import BudgetError, DescriptionError
from manipula.redundancy.arm import Arm
from manipula.redundancy.quadratic_program import minimise
from manipula.simulation.files.scenario_file import file_text, load_text
from oracles import Judge

OUTSIDE = 1e-9
UPRIGHT = np.array([np.pi / 2, 0.0])
T = 0.02


def discrete(robot: mp.Robot, goal: Any, period: float = T) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Φ, Γ and the holding torque from Pinocchio's derivatives."""
    judge, n = Judge(robot), robot.n
    import pinocchio as pin

    q, still = judge.theirs(goal), np.zeros(n)
    hold = pin.rnea(judge.model, judge.data, q, still, still)
    pin.computeABADerivatives(judge.model, judge.data, q, still, hold)
    back = np.ix_(judge.rank, judge.rank)
    flow = np.zeros((3 * n, 3 * n))
    flow[:n, n : 2 * n] = np.eye(n)
    flow[n : 2 * n] = np.hstack([d[back] for d in (judge.data.ddq_dq, judge.data.ddq_dv, judge.data.Minv)])
    minv = np.array(judge.data.Minv)
    flow[n : 2 * n, 2 * n :] = (np.triu(minv) + np.triu(minv, 1).T)[back]
    step = expm(flow * period)
    return step[: 2 * n, : 2 * n], step[: 2 * n, 2 * n :], hold[judge.rank]


def commanded(law: control.ModelPredictive, robot: mp.Robot, q: Any, qd: Any) -> np.ndarray:
    model: Any = Arm(robot)
    return np.asarray(law.facing(model, None).prepare(model).torque(model, 0.0, np.array(q), np.array(qd), None, ()))  # type: ignore[arg-type]


def weights(n: int, law: control.ModelPredictive) -> tuple[np.ndarray, np.ndarray]:
    return np.diag([law.position_weight] * n + [law.velocity_weight] * n), law.effort_weight * np.eye(n)


@pytest.mark.parametrize("name", ["planar-2r", "scara-khang"])
def test_far_from_its_bounds_it_is_the_regulator_of_the_same_weights(name: str) -> None:
    """The Riccati recursion over the horizon, and the discrete Riccati equation for every horizon and number of moves that reach its end."""
    robot, goal = arm(name), np.array(GOAL[name])
    Phi, Gamma, hold = discrete(robot, goal)
    dq, qd = 1e-3 * np.cos(np.arange(robot.n)), 1e-3 * np.sin(1.0 + np.arange(robot.n))
    law = control.ModelPredictive(goal, horizon=5, moves=5, effort_limit=1000.0, terminal="weights")
    Q, R = weights(robot.n, law)
    P, K = Q, R
    for _ in range(5):
        K = np.linalg.solve(R + Gamma.T @ P @ Gamma, Gamma.T @ P @ Phi)
        P = Q + Phi.T @ P @ (Phi - Gamma @ K)
    expected = hold - K @ np.concatenate([dq, qd])
    np.testing.assert_allclose(commanded(law, robot, goal + dq, qd), expected, rtol=OUTSIDE, atol=OUTSIDE)
    P = solve_discrete_are(Phi, Gamma, Q, R)
    K = np.linalg.solve(R + Gamma.T @ P @ Gamma, Gamma.T @ P @ Phi)
    for horizon in (1, 4):
        law = control.ModelPredictive(goal, horizon=horizon, moves=horizon, effort_limit=1000.0)
        np.testing.assert_allclose(
            commanded(law, robot, goal + dq, qd), hold - K @ np.concatenate([dq, qd]), rtol=1e-8, atol=1e-8
        )


def foreseen(law: control.ModelPredictive, robot: mp.Robot, limit: np.ndarray) -> Any:
    """The same program by SciPy: bounded least squares on the stacked roots of the weights, moves held after the last one."""
    n, N, m = robot.n, int(law.horizon), int(law.moves)
    Phi, Gamma, hold = discrete(robot, law.goal, float(law.period))
    Q, R = weights(n, law)
    P = solve_discrete_are(Phi, Gamma, Q, R) if law.terminal == "riccati" else Q
    roots = [np.linalg.cholesky(W + 1e-300 * np.eye(2 * n)).T for W in [Q] * (N - 1) + [P]]
    low, high = np.tile(-limit - hold, m), np.tile(limit - hold, m)

    def torque(x: np.ndarray) -> np.ndarray:
        G, e, rows, right = np.zeros((2 * n, m * n)), x.copy(), [], []
        for k in range(N):
            at = min(k, m - 1) * n
            rows.append(np.sqrt(R) @ np.eye(m * n)[at : at + n])
            right.append(np.zeros(n))
            G, e = Phi @ G, Phi @ e
            G[:, at : at + n] += Gamma
            rows.append(roots[k] @ G)
            right.append(-roots[k] @ e)
        found = lsq_linear(np.vstack(rows), np.concatenate(right), (low, high), method="bvls", tol=1e-15)
        return hold + found.x[:n]

    return torque


def test_within_bounds_it_is_scipys_bounded_least_squares() -> None:
    robot, limit = arm("planar-2r"), np.array([30.0, 8.0])
    rng = np.random.default_rng(3)
    law = control.ModelPredictive(UPRIGHT, horizon=12, moves=4, effort_limit=limit, period=T)
    judge, bound = foreseen(law, robot, limit), 0
    for _ in range(40):
        x = np.concatenate([rng.uniform(-0.6, 0.6, 2), rng.uniform(-2, 2, 2)])
        tau = commanded(law, robot, UPRIGHT + x[:2], x[2:])
        np.testing.assert_allclose(tau, judge(x), atol=1e-8 * 30.0)
        bound += bool((np.abs(np.abs(tau) - limit) < 1e-6).any())
    assert 5 < bound < 40


def test_a_run_that_saturates_is_scipys_run() -> None:
    """Pinocchio's arm under DOP853 between the instants, SciPy's bounded least squares at them."""
    robot, limit = arm("planar-2r"), np.array([30.0, 8.0])
    law = control.ModelPredictive(UPRIGHT, horizon=12, moves=4, effort_limit=limit, period=T)
    q0 = UPRIGHT + np.array([-0.35, 0.2])
    result = mp.simulate(
        mp.Scenario(robot, controller=law, q0=q0, duration=0.6, control_period=T, step=0.005, sample=T, friction=())
    )
    assert result.ok, result.reason
    assert result.mpc_optimal.min() == 1.0
    decide, judge = foreseen(law, robot, limit), Judge(robot)
    x = np.concatenate([q0, np.zeros(2)])
    for k, t in enumerate(result.t):
        np.testing.assert_allclose(np.concatenate([result.q[k], result.qd[k]]), x, atol=2e-7)
        tau = decide(np.concatenate([x[:2] - UPRIGHT, x[2:]]))

        def flow(_t: float, x: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
            return np.concatenate([x[2:], judge.forward_dynamics(x[:2], x[2:], tau)])

        x = solve_ivp(flow, (t, t + T), x, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    assert np.isclose(np.abs(result.command).max(axis=0), limit, rtol=1e-9).any()
    assert np.abs(result.q[-1] - UPRIGHT).max() < 0.1


def limited(velocity: float | None, upper: float | None = None) -> mp.Robot:
    robot = arm("planar-2r")
    joints = [replace(j, limits=replace(j.limits, velocity=velocity, effort=60.0)) for j in robot.joints]
    joints[1] = replace(joints[1], limits=replace(joints[1].limits, lower=-2.0, upper=upper) if upper else joints[1].limits)  # fmt: skip
    return robot.replace(joints=tuple(joints))


def test_speeds_and_ranges_are_kept_because_they_are_foreseen() -> None:
    """Without the bounds both are broken; with them they are kept, but for what the linearisation does not see, which is little near the goal."""
    goal = np.array([0.4, 0.45])
    q0 = goal - 0.0015
    robot = limited(0.004, upper=0.450001)
    runs = {}
    for bounds in ("torque", "torque and motion"):
        law = control.ModelPredictive(goal, horizon=10, moves=4, bounds=bounds)
        scenario = mp.Scenario(robot, controller=law, q0=q0, duration=1.5, control_period=T, step=0.004, friction=())
        runs[bounds] = mp.simulate(scenario)
        assert runs[bounds].ok, runs[bounds].reason
    free, kept = runs["torque"], runs["torque and motion"]
    assert np.abs(free.qd).max() > 1.9 * 0.004
    assert free.q[:, 1].max() > 0.450004
    assert np.abs(kept.qd).max() < 0.004 * 1.002
    assert kept.q[:, 1].max() < 0.450001 + 2e-8
    assert np.abs(kept.q[-1] - goal).max() < 1e-5


def test_numbers_of_a_batch_act_and_a_file_holds_it() -> None:
    robot = arm("planar-2r")
    law = control.ModelPredictive([0.3, 0.1], effort_weight=1.0, horizon=6, moves=2, effort_limit=100.0)
    scenario = mp.Scenario(
        robot, controller=law, q0=[0.4, 0.2], duration=0.1, control_period=T, verify=False, vary={"controller.effort_weight": [1.0, 0.01]},
    )  # fmt: skip
    both = mp.simulate(scenario)
    alone = mp.simulate(scenario.replace(vary=None, controller=replace(law, effort_weight=0.01)))
    assert np.array_equal(both.q[1], alone.q)
    assert np.abs(both.q[0] - both.q[1]).max() > 1e-4
    read: Any = load_text(file_text(scenario))
    assert read.controller == law
    with pytest.raises(mp.ManipulaError, match=r"hessian|computed from other numbers"):
        mp.simulate(scenario.replace(vary={"controller.hessian[0][0]": [1.0, 2.0]}))


@pytest.mark.parametrize(
    ("changes", "error", "field", "words"),
    [
        ({"effort_limit": None}, DescriptionError, "controller.effort_limit", "No effort limit"),
        ({"moves": 30, "horizon": 30}, BudgetError, "controller.moves", "60 unknowns"),
        ({"bounds": "torque and motion"}, DescriptionError, "controller.bounds", "never act"),
        ({"effort_limit": 1.0}, DescriptionError, "controller.goal", "no torque is left"),
    ],
)
def test_what_it_cannot_do_is_refused(changes: dict[str, Any], error: Any, field: str, words: str) -> None:
    law = replace(control.ModelPredictive([0.3, 0.1], effort_limit=100.0, horizon=6, moves=2), **changes)
    with pytest.raises(error, match=words) as found:
        mp.simulate(mp.Scenario(arm("planar-2r"), controller=law, duration=0.1))
    assert found.value.field == field


def test_moves_beyond_the_horizon_are_refused() -> None:
    with pytest.raises(DescriptionError, match="do not fit"):
        control.ModelPredictive([0.0], horizon=3, moves=4)


def test_a_horizon_over_which_rounding_grows_into_torques_is_refused() -> None:
    """Upright, 25 steps of 50 ms: within the longest horizon that is told torques are those of the program in 40 digits, to 1e-6 of their limits."""
    robot, goal, most = arm("planar-3r"), np.array([1.5, 0.1, -0.1]), np.array([200.0, 100.0, 50.0])
    law = control.ModelPredictive(goal, period=0.05, horizon=25, moves=6, effort_limit=most)
    with pytest.raises(DescriptionError, match=r"It can look \d+ steps ahead") as found:
        mp.simulate(mp.Scenario(robot, controller=law, q0=goal, duration=0.1))
    assert found.value.field == "controller.horizon"
    longest = int(str(found.value).split("It can look ")[1].split()[0])
    assert longest >= 8
    law = replace(law, horizon=longest)
    x = np.array([0.02, -0.01, 0.015, 0.05, -0.03, 0.02])
    assert np.abs(commanded(law, robot, goal + x[:3], x[3:]) - in_many_digits(law, robot, x, most)).max() < 1e-6 * 50.0


def in_many_digits(law: control.ModelPredictive, robot: mp.Robot, x: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The torque of the program without bounds, solved with 40 digits."""
    import mpmath

    n, N, m = robot.n, int(law.horizon), int(law.moves)
    Phi, Gamma, hold = discrete(robot, law.goal, float(law.period))
    Q, R = weights(n, law)
    P = solve_discrete_are(Phi, Gamma, Q, R)
    with mpmath.workdps(40):
        exact = lambda a: np.array([[mpmath.mpf(float(v)) for v in row] for row in a], dtype=object)
        H, F = exact(np.zeros((m * n, m * n))), exact(np.zeros((m * n, 1)))
        G, e = exact(np.zeros((2 * n, m * n))), exact(x[:, None])
        for k in range(N):
            at = slice(min(k, m - 1) * n, min(k, m - 1) * n + n)
            H[at, at] = H[at, at] + exact(R)
            G, e = exact(Phi) @ G, exact(Phi) @ e
            G[:, at] = G[:, at] + exact(Gamma)
            W = exact(P if k == N - 1 else Q)
            H, F = H + G.T @ W @ G, F + G.T @ W @ e
        u = mpmath.lu_solve(mpmath.matrix(H.tolist()), -mpmath.matrix(F.tolist()))
        assert all(abs(u[i]) < most[i % n] for i in range(m * n))
        return hold + np.array([float(v) for v in u[:n]])


def random_program(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    m, r = int(rng.integers(1, 9)), int(rng.integers(0, 8))
    A = rng.normal(size=(m, m)) * 10 ** rng.uniform(-2, 2)
    H, f = A @ A.T + 10 ** rng.uniform(-5, 0) * np.eye(m), rng.normal(size=m) * 10 ** rng.uniform(-2, 3)
    C = np.vstack([np.eye(m), rng.normal(size=(r, m))])
    centre, width = C @ rng.normal(size=m) * 0.1, rng.uniform(0.05, 2, m + r)
    return H, f, C, centre - width, centre + width


def test_quadratic_programs_keep_the_conditions_of_a_minimum() -> None:
    """Karush, Kuhn and Tucker in units of the objective; multipliers not below zero."""
    rng = np.random.default_rng(7)
    for _ in range(150):
        H, f, C, low, high = random_program(rng)
        found = minimise(H, f, C, low, high)
        unit, value = max(np.diag(H).max(), np.abs(f).max()), C @ found.x
        assert found.optimal == 1.0
        assert np.abs(H @ found.x + f + C.T @ (found.upper - found.lower)).max() <= 1e-10 * unit
        assert max((value - high).max(), (low - value).max()) <= 1e-10
        assert np.abs(np.concatenate([found.upper * (high - value), found.lower * (value - low)])).max() <= 1e-12 * unit
        assert min(found.upper.min(), found.lower.min()) >= 0.0


def test_bounds_that_exclude_each_other_have_no_minimum_and_soft_ones_are_broken_least() -> None:
    H, f, C = np.eye(2), np.zeros(2), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    low, high = np.array([1.0, -np.inf, -1.0]), np.array([np.inf, 0.0, 1.0])
    assert minimise(H, f, C, low, high).optimal == 0.0
    soft = minimise(H, f, C, low, high, [1e-6, 0.0, 0.0])
    assert soft.optimal == 1.0
    np.testing.assert_allclose(soft.x, 0.0, atol=1e-8)
    assert soft.lower[0] == pytest.approx(1e6, rel=1e-6)  # what it misses, 1, at its price


def test_quadratic_programs_in_machine_code() -> None:
    H, f, C, low, high = random_program(np.random.default_rng(5))
    kernel = native.compile_function(lambda f: minimise(H, f, C, low, high).x, {"f": (len(f),)})
    for scale in (0.1, 1.0, 3.0):
        np.testing.assert_allclose(kernel(scale * f), minimise(H, scale * f, C, low, high).x, atol=1e-9)


def test_the_minimum_is_that_of_the_equations_on_the_bounds_that_hold() -> None:
    """A dense solve with those bounds as equations, by NumPy."""
    rng = np.random.default_rng(7)
    for _ in range(150):
        H, f, C, low, high = random_program(rng)
        found = minimise(H, f, C, low, high)
        value, m = C @ found.x, len(f)
        above, below = found.upper > high - value, found.lower > value - low
        A, b = np.vstack([C[above], C[below]]), np.concatenate([high[above], low[below]])
        system = np.block([[H, A.T], [A, np.zeros((len(A), len(A)))]])
        exact = np.linalg.lstsq(system, np.concatenate([-f, b]), rcond=None)[0][:m]
        np.testing.assert_allclose(found.x, exact, rtol=0.0, atol=1e-11)

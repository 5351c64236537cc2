"""Dry friction that holds: closed forms, and an event-driven integration of a 2R arm by SciPy that knows nothing of ours."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.errors import DescriptionError
from manipula.simulation.files.scenario_file import file_text, load_text
from manipula.simulation.loops.setup import prepare_run
from simulation.test_forces import slider

CART = slider("x").replace(gravity=(0, 0, 0))
INTEGRATORS = ("dop853", "rk4", "rodas")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_body_on_an_incline_stays(integrator: str) -> None:
    angle = 0.3
    weight = 9.81 * np.sin(angle)
    block = CART.replace(gravity=(weight, 0, -9.81 * np.cos(angle)))
    s = mp.Scenario(robot=block, duration=180.0, step=0.05, sample=10.0, integrator=integrator)
    r = mp.simulate(s.replace(friction=mp.friction.Stiction(static=1.001 * weight, kinetic=1.0))).check()
    assert np.abs(r.q).max() <= 1e-12
    np.testing.assert_allclose(r.friction, weight, rtol=1e-13)  # the reaction, not the limit
    slides = mp.simulate(s.replace(duration=1.0, friction=mp.friction.Stiction(static=0.999 * weight))).check()
    np.testing.assert_allclose(slides.q[-1], 0.5 * 0.001 * weight, rtol=1e-9)


def test_an_arm_on_its_friction_does_not_creep() -> None:
    arm = mp.load("puma560")
    hold = 3.0 * np.abs(mp.compile(arm).gravity(np.full(6, 0.3))) + 1.0
    laws = tuple(mp.friction.Stiction(static=float(v)) for v in hold)
    r = mp.simulate(mp.Scenario(robot=arm, q0=[0.3] * 6, duration=10.0, sample=1.0, friction=laws, step=0.01)).check()
    assert np.array_equal(r.q[-1], r.q[0])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_oscillator_loses_the_same_amplitude_every_half_swing(integrator: str) -> None:
    k, F, x0 = 100.0, 2.0, 0.33
    spring = mp.Wrench([f"-{k}*x", 0, 0, 0, 0, 0])
    half = np.pi / np.sqrt(k)
    s = mp.Scenario(robot=CART, q0=[x0], duration=12 * half, sample=half, friction=mp.friction.Stiction(static=F),
                    disturbances=(spring,), integrator=integrator, tolerance=1e-5)  # fmt: skip
    r = mp.simulate(s).check()
    swings = int(np.ceil((x0 - F / k) / (2 * F / k)))
    turning = [(-1) ** i * (x0 - 2 * F / k * i) for i in range(swings + 1)]
    np.testing.assert_allclose(r.q[: swings + 1, 0], turning, atol=1e-9 if integrator == "dop853" else 1e-6)
    np.testing.assert_array_equal(r.q[swings + 1 :], r.q[-1:].repeat(len(r.t) - swings - 1, 0))
    assert np.abs(r.audit).max() < 1e-6


def test_stick_and_slip_on_a_belt_have_the_known_period() -> None:
    """In axes of the belt; the spring's other end moves away with the speed of the belt."""
    m, k, v, F_s, F_k = 1.0, 50.0, 0.1, 4.0, 2.0
    w, jump = np.sqrt(k / m), (F_s - F_k) / k
    phase = np.arctan2(jump, v / w)
    sticks, slips = 2 * jump / v, (2 * np.pi - 2 * phase) / w
    first = F_s / k / v  # from a relaxed spring
    spring = mp.Wrench([f"-{k}*(x + {v}*t)", 0, 0, 0, 0, 0])
    period, many = sticks + slips, 5
    s = mp.Scenario(robot=CART, duration=first + many * period + 0.2, sample=0.002, disturbances=(spring,), step=0.01,
                    friction=mp.friction.Stiction(static=F_s, kinetic=F_k))  # fmt: skip
    r = mp.simulate(s).check()
    steady = slice(int((first + period) / 0.002), int((first + (many - 1) * period) / 0.002))
    mode = r.bristles[steady, 0]
    assert np.mean(mode == 0.0) == pytest.approx(sticks / period, abs=3e-3)
    starts = [mp.simulate(s.replace(duration=first + i * period + d, sample=10.0)).bristles[-1, 0]
              for i in (0, 4) for d in (-1e-8, 1e-8)]  # fmt: skip
    assert starts == [0.0, -1.0, 0.0, -1.0]  # it breaks away when the closed form says so


def test_stribeck_fades_to_the_kinetic_level() -> None:
    law = mp.friction.Stiction(static=3.0, kinetic=1.0, v_stribeck=0.1, damping=0.5)
    assert law.torque(1e-9, (1.0,)) == pytest.approx(3.0)
    assert law.torque(1.0, (1.0,)) == pytest.approx(1.5)
    r = mp.simulate(mp.Scenario(robot=CART, duration=1.0, sample=0.1, friction=law,
                                disturbances=(mp.Wrench(["4*t", 0, 0, 0, 0, 0]),))).check()  # fmt: skip
    assert np.all(r.q[r.t < 0.75] == 0.0)
    assert r.q[-1, 0] > 1e-3
    np.testing.assert_allclose(r.friction[r.t < 0.75, 0], 4 * r.t[r.t < 0.75], atol=1e-12)


def planar(q: Any, qd: Any) -> tuple[np.ndarray, np.ndarray]:
    """M and C q̇ + g of two rods of 1 m and 1 kg with their masses at their ends, by the textbook."""
    c2, s2, g = np.cos(q[1]), np.sin(q[1]), 9.81
    M = np.array([[3.0 + 2.0 * c2, 1.0 + c2], [1.0 + c2, 1.0]])
    h = np.array([-s2 * (2 * qd[0] * qd[1] + qd[1] ** 2), s2 * qd[0] ** 2])
    weight = np.array([2 * g * np.cos(q[0]) + g * np.cos(q[0] + q[1]), g * np.cos(q[0] + q[1])])
    return M, h + weight


def reference_2r(q0: Any, F_s: np.ndarray, F_k: np.ndarray, end: float) -> np.ndarray:
    """Event-driven: modes by enumeration, SciPy's events."""

    def accelerations(x: Any, mode: Any) -> tuple[np.ndarray, np.ndarray]:
        M, n = planar(x[:2], x[2:])
        stuck, friction = mode == 0, mode * F_k
        A = np.block([[M, np.diag(stuck * 1.0)], [np.diag(stuck * 1.0), np.diag(1.0 - stuck)]])
        both = np.linalg.solve(A, np.concatenate([-n - friction, np.zeros(2)]))
        return both[:2], both[2:]

    def choose(x: Any, mode: Any, breaking: Any) -> np.ndarray:
        rest = x[2:] == 0.0
        for found in itertools.product(*([0.0, 1.0, -1.0] if r else [m] for r, m in zip(rest, mode))):
            qdd, force = accelerations(x, np.array(found))
            held = all(abs(force[i]) <= F_s[i] and i not in breaking for i in range(2) if found[i] == 0)
            away = all(found[i] * qdd[i] > 0 for i in range(2) if rest[i] and found[i] != 0)
            if held and away:
                return np.array(found)
        raise AssertionError

    t, x = 0.0, np.concatenate([q0, [0.0, 0.0]])
    mode = choose(x, np.zeros(2), ())
    while t < end:

        def crossing(i: int, mode: Any = mode) -> Any:
            def event(t: float, y: Any) -> float:
                return (
                    float(y[2 + i] * mode[i] + 1e-12) if mode[i] else float(F_s[i] - abs(accelerations(y, mode)[1][i]))
                )

            event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
            return event

        run = solve_ivp(lambda t, y, mode=mode: np.concatenate([y[2:], accelerations(y, mode)[0]]), (t, end), x, rtol=1e-12, atol=1e-13,
                        method="DOP853", events=[crossing(0), crossing(1)])  # fmt: skip
        t, x = run.t[-1], run.y[:, -1]
        fired = [i for i in range(2) if len(run.t_events[i])]
        for i in range(2):
            if i in fired or not mode[i]:
                x[2 + i] = 0.0  # of a stuck joint, whose speed is rounding
        if fired:
            mode = choose(x, mode, [i for i in fired if not mode[i]])
    return x


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_two_joints_stick_and_slip_as_an_independent_integration_says(integrator: str) -> None:
    arm = mp.planar([1.0, 1.0], masses=[1.0, 1.0], com=[1.0, 1.0], inertia=[0.0, 0.0])
    F_s, F_k, q0 = np.array([4.0, 2.0]), np.array([3.0, 1.5]), [-0.2, 0.6]
    laws = tuple(mp.friction.Stiction(static=a, kinetic=b) for a, b in zip(F_s, F_k))
    s = mp.Scenario(robot=arm, q0=q0, duration=3.0, sample=0.01, friction=laws, integrator=integrator)
    r = mp.simulate(s).check()
    modes = r.bristles
    assert {0.0, 1.0, -1.0} <= set(modes[:, 0]) | set(modes[:, 1])
    expected = reference_2r(q0, F_s, F_k, 3.0)
    np.testing.assert_allclose(r.q[-1], expected[:2], atol=1e-9 if integrator == "dop853" else 1e-6)
    assert np.abs(r.audit).max() < 1e-5


def test_a_batch_is_its_single_runs_and_controllers_see_the_same_joint() -> None:
    law = mp.friction.Stiction(static=2.0, kinetic=1.5)
    move = mp.joint_move([0.0], [0.3], velocity=1.0, acceleration=2.0, jerk=20.0)
    s = mp.Scenario(
        robot=CART, reference=move, controller=mp.control.PD(200.0, 20.0), duration=0.5, sample=0.1, friction=law
    )
    batch = mp.simulate(s.replace(q0=[[0.0], [0.01], [-0.02]])).check()
    for k, q0 in enumerate((0.0, 0.01, -0.02)):
        alone = mp.simulate(s.replace(q0=[q0])).check()
        np.testing.assert_array_equal(batch.run(k).q, alone.q)
    e = s.replace(noise=mp.Noise(position=1e-4), actuator=mp.Actuator(delay=0.0015))
    noisy = mp.simulate(e).check()
    assert np.abs(noisy.q - mp.simulate(s.replace(q0=[0.0])).q).max() < 0.02
    python = mp.control.UserFunction(
        lambda t, q, qd, target: [float(200 * (target.position[0] - q[0]) + 20 * (target.velocity[0] - qd[0]))]
    )
    slow = mp.simulate(s.replace(controller=python, duration=0.3, integrator="rk4"))
    np.testing.assert_allclose(
        slow.check().q[:3], mp.simulate(s.replace(duration=0.3, integrator="rk4", q0=[0.0])).q[:3], atol=1e-9
    )


def test_a_step_of_sliding_joints_asks_nothing_of_joints_at_rest() -> None:
    """What holds joints at rest is found only where one rests: outside of every branch there is one evaluation of the equations."""
    arm, law = mp.load("puma560"), mp.friction.Stiction(static=0.04, kinetic=0.03, v_stribeck=0.05)
    common: Any = {
        "robot": arm,
        "controller": mp.control.PDGravity(kp=1.0, kv=6.0, goal=np.full(6, 4.0)),
        "integrator": "rk4",
    }
    common |= {"q0": np.zeros(6), "qd0": np.full(6, 0.5), "duration": 0.5, "step": 1e-3}

    def always(friction: Any) -> int:
        """Operations of a step outside of loops that may be left at once."""
        graph = prepare_run(mp.Scenario(**common, friction=friction)).loop.run.graph

        def count(body: list[int], depth: int) -> int:
            total = 0
            for op in (graph.operations[k] for k in body):
                if op.code == "loop":
                    once = op.data.kind == "until" and graph.operations[op.data.steps].data in (1.0, 8.0)
                    total += 0 if once else count(op.data.body, depth + 1)
                else:
                    total += op.code not in ("const", "input", "param", "pick")
            return total

        return count(graph.body, 0)

    assert always([law] * 6) < always([None] * 6)  # whose stages are not in such a loop


def test_the_law_is_told_where_it_does_not_fit_and_written() -> None:
    with pytest.raises(DescriptionError, match="exceeds what holds"):
        mp.friction.Stiction(static=1.0, kinetic=2.0)
    with pytest.raises(DescriptionError, match="kinetic level"):
        mp.friction.Stiction(static=1.0, v_stribeck=0.1)
    s = mp.Scenario(robot=mp.load("planar-2r"), duration=0.1, friction=mp.friction.Stiction(static=2.0, kinetic=1.0))
    assert load_text(file_text(s)) == s


def test_given_motions_have_the_friction_of_their_direction() -> None:
    law = mp.friction.Stiction(static=2.0, kinetic=1.5)
    move = mp.joint_move([0.0], [0.3], velocity=1.0, acceleration=2.0, jerk=20.0)
    r = mp.simulate(mp.Scenario(robot=CART, reference=move, kind="inverse_dynamics", friction=law)).check()
    np.testing.assert_allclose(r.friction[1:-1], 1.5)

"""Beside an unstable equilibrium a run and its repetition are rounded alike; what rounding decides is not called right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.simulation.stepping.rests_at_zero import rests_at_zero
from manipula.simulation.stepping.verification import beside

ROD = mp.planar([0.5], [1.0])
UP = np.pi / 2


def angle(q0: float, t: float) -> float:
    """Of the rod that falls from rest: d̈ = λ² d, λ² = 3g/2l, as long as the distance d from upright is small."""
    return q0 - np.cos(q0) * (np.cosh(np.sqrt(3 * 9.81) * t) - 1.0)


@pytest.mark.parametrize("beside", [0, -1])
@pytest.mark.parametrize(("method", "sample"), [("rk4", 0.1), ("auto", 0.02)])
def test_a_rod_that_stands_upright_falls(method: str, sample: float, beside: int) -> None:
    start = UP + beside * np.spacing(UP)  # the number nearest to π/2, and others beside it
    result = mp.simulate(mp.Scenario(ROD, q0=[start], duration=6.0, sample=sample, integrator=method))
    assert result.status == "inaccurate"
    assert 2.0 < result.trusted_until < 5.0
    k = int(np.searchsorted(result.t, result.trusted_until - 1e-9))
    assert abs(result.q[k, 0] - angle(start, result.t[k])) < 1e-6
    assert abs(result.q[-1, 0] - angle(start, 6.0)) > 1e-6


def test_every_run_of_a_batch_and_a_weak_controller() -> None:
    batch = mp.simulate(
        mp.Scenario(
            ROD, q0=[[0.3], [UP], [-UP]], duration=6.0, sample=0.1, integrator="rk4", controller=mp.control.PD(0.1, 0.0, goal=[UP])
        )
    )  # fmt: skip
    assert batch.statuses == ("finished", "inaccurate", "finished")
    assert batch.trusted_untils[1] < 5.0


def test_an_exact_equilibrium_stays_exact() -> None:
    """Zero is the number itself, and its sine is zero: a rod that stands on q = 0 stands for ever."""
    standing = mp.planar([0.5], [1.0], gravity=(9.81, 0, 0))
    result = mp.simulate(mp.Scenario(standing, q0=[0.0], duration=30.0, sample=1.0, integrator="rk4"))
    assert result.ok
    assert not result.q.any()


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_start_on_a_limit_is_within_it(method: str) -> None:
    resting = mp.planar([0.5], [1.0], gravity=(0, 0, 0))
    limited = resting.replace(
        joints=tuple(replace(j, limits=replace(j.limits, lower=-1.1, upper=1.1)) for j in resting.joints)
    )
    result = mp.simulate(
        mp.Scenario(limited, q0=[1.1], duration=0.1, sample=0.01, integrator=method, stop_at_limits=True)
    )
    assert result.ok, result.reason


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_a_free_joint_of_a_programmed_motion_falls_too(formulation: str) -> None:
    """The second link stands upright on the first one, which is held."""
    program = mp.ProgramScenario(
        mp.planar([0.5, 0.5], [1.0, 1.0]), ["q1 = 0"], q0=[0.0, UP], duration=6.0, step=5e-3, sample=0.1, formulation=formulation
    )  # fmt: skip
    result = program.run()
    assert result.status == "inaccurate"
    assert 2.0 < result.trusted_until < 5.0
    assert abs(result.q[-1, 1] - angle(UP, 6.0)) > 1e-6


class Lazy(mp.friction.Viscous):
    """Somebody's friction law."""

    def torque(self, qd: Any, state: Any = (), load: Any = 0.0) -> Any:
        return 1e-3 * qd


def idle(t: Any, q: Any, qd: Any, target: Any) -> Any:
    return 0.0 * q


def untraced(t: Any, q: Any, qd: Any, target: Any) -> Any:
    return np.array([float(x) * 0.0 for x in q])


def test_a_free_joint_of_a_programmed_motion_falls_with_somebodys_friction() -> None:
    program = mp.ProgramScenario(
        mp.planar([0.5, 0.5], [1.0, 1.0]), ["q1 = 0"], q0=[0.0, UP], duration=6.0, step=5e-3, sample=0.1, friction=Lazy(1e-3)
    )  # fmt: skip
    result = program.run()
    assert result.status == "inaccurate"
    assert 2.0 < result.trusted_until < 5.0


@pytest.mark.parametrize(("method", "sample"), [("rk4", 0.1), ("auto", 0.02), ("dop853", 0.1)])
@pytest.mark.parametrize(
    "options",
    [
        {"controller": mp.control.UserFunction(idle)},
        {"friction": Lazy(1e-3)},
        {"contacts": (mp.contact.EndStop(1e5, low=-4.0, high=4.0),)},
    ],
    ids=["controller", "friction", "contact"],
)
def test_a_rod_falls_whosever_code_holds_it(method: str, sample: float, options: dict[str, Any]) -> None:
    result = mp.simulate(mp.Scenario(ROD, q0=[UP], duration=6.0, sample=sample, integrator=method, **options))
    assert result.status == "inaccurate", result.reason
    assert 2.0 < result.trusted_until < 5.0
    assert "last digit" not in "".join(result.notes)


def test_nor_does_a_controller_in_python_hold_it() -> None:
    law = mp.control.UserFunction(untraced)
    result = mp.simulate(
        mp.Scenario(ROD, q0=[UP], duration=6.0, step=0.01, sample=0.1, integrator="rk4", controller=law)
    )
    assert result.status == "inaccurate", result.reason
    assert 2.0 < result.trusted_until < 5.0


def test_every_run_of_a_batch_with_somebodys_code() -> None:
    law = mp.control.UserFunction(idle)
    batch = mp.simulate(
        mp.Scenario(ROD, q0=[[0.3], [UP], [-UP]], duration=6.0, sample=0.1, integrator="rk4", controller=law)
    )
    assert batch.statuses == ("finished", "inaccurate", "finished")


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_start_on_the_edge_of_a_decision_is_right_and_told(method: str) -> None:
    """Up to the angle at which it begins the rod is left alone, and pushed beyond it."""
    resting = mp.planar([0.5], [1.0], gravity=(0, 0, 0))
    push = mp.control.UserFunction(lambda t, q, qd, target: np.array([ops.where(q[0] > 0.7, 0.5, 0.0)]))
    options = {"controller": push, "duration": 0.5, "sample": 0.1, "integrator": method}
    result = mp.simulate(mp.Scenario(resting, q0=[0.7], **options))
    assert result.ok, result.reason
    assert np.array_equal(result.q, np.full((6, 1), 0.7))
    assert any("last digit of the start decides" in note for note in result.notes)
    batch = mp.simulate(mp.Scenario(resting, q0=[[0.2], [0.7]], **options))
    assert batch.ok
    assert any("of run 1 decides" in note for note in batch.notes)
    away = mp.simulate(mp.Scenario(resting, q0=[0.2], **options))
    assert away.ok
    assert not any("last digit" in note for note in away.notes)


def leaning(angle: float) -> mp.Robot:
    """A rod that stands on its joint at q = 0, against a weight along the same line: the two products in its torque cancel but for rounding."""
    row = {
        "theta": angle,
        "a": 0.5,
        "mass": 1.0,
        "com": [-0.25, 0.0, 0.0],
        "inertia": np.diag([0.0, 0.02, 0.02]).tolist(),
    }
    return mp.from_dh([row], "standard", gravity=(-9.81 * np.cos(angle), -9.81 * np.sin(angle), 0.0))


def fallen(angle: float, start: float, t: float) -> float:
    """The angle d of that rod as long as it is small, from its torque in fifty digits: d̈ = λ² d + τ(0)/J, from rest."""
    with mpmath.workdps(50):
        x, y = (mpmath.mpf(float(-9.81 * f(angle))) for f in (np.cos, np.sin))
        torque, inertia = (mpmath.cos(angle) * y - mpmath.sin(angle) * x) / 4, mpmath.mpf(0.02) + mpmath.mpf(0.0625)
        rate = mpmath.sqrt(9.81 / (4 * inertia))
        return float(start * mpmath.cosh(rate * t) + torque / inertia / rate**2 * (mpmath.cosh(rate * t) - 1))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("method", ["rk4", "auto"])
@pytest.mark.parametrize(("turned", "start"), [(0.528, 0.0), (1.098, 0.0), (0.812, 1e-15)])
def test_a_zero_that_rounding_balances_is_not_exact(turned: float, start: float, method: str, own: bool) -> None:
    """Which way such a rod falls is decided by the last digits of its torque, which every repetition computes alike."""
    law = None if own else mp.control.UserFunction(idle)
    result = mp.simulate(
        mp.Scenario(leaning(turned), q0=[start], duration=5.5, sample=0.1, integrator=method, controller=law)
    )
    assert result.status == "inaccurate"
    k = int(np.searchsorted(result.t, result.trusted_until - 1e-9))
    assert abs(result.q[k, 0] - fallen(turned, start, result.t[k])) < 2e-6


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_nor_is_that_of_a_programmed_motion(formulation: str) -> None:
    arm = mp.from_dh(
        [
            {"a": 0.5, "mass": 1.0, "inertia": np.diag([0.0, 0.02, 0.02]).tolist()},
            {"theta": 1.098, "a": 0.5, "mass": 1.0, "com": [-0.25, 0.0, 0.0], "inertia": np.diag([0.0, 0.02, 0.02]).tolist()},
        ],
        "standard", gravity=(-9.81 * np.cos(1.098), -9.81 * np.sin(1.098), 0.0),
    )  # fmt: skip
    program = mp.ProgramScenario(
        arm, ["q1 = 0"], q0=[0.0, 0.0], duration=5.5, step=5e-3, sample=0.1, formulation=formulation
    )
    assert program.run().status == "inaccurate"


def test_zeros_are_exact_where_nothing_else_holds_the_arm() -> None:
    rod = mp.planar([0.5, 0.4], [1.0, 1.0], gravity=(9.81, 0, 0))
    slide = [{"joint": "prismatic", "mass": 1.0}]
    for arm, exact in (
        (rod, True),
        (mp.planar([0.5], [1.0], gravity=(0, 0, 0)), True),
        (mp.planar([0.5], [1.0]), False),
        (leaning(0.3), False),
        (mp.from_dh(slide, "standard", gravity=(0, -9.81, 0)), True),
        (mp.from_dh(slide, "standard"), False),
        (mp.from_dh([{"alpha": np.pi / 2, "mass": 1.0}, {"a": 0.5, "theta": np.pi / 2, "mass": 1.0}], "standard"), True),
        (mp.from_dh([{"alpha": np.pi / 2, "mass": 1.0}, {"a": 0.5, "theta": 1.5, "mass": 1.0}], "standard"), False),
        (mp.load("iiwa14"), False),
    ):  # fmt: skip
        assert rests_at_zero(arm) is exact, arm


@pytest.mark.parametrize("start", [0.0, 1e-12])
def test_beside_an_exact_zero_roundings_are_in_proportion(start: float) -> None:
    """The rod stands on the line of its weight, d̈ = λ² sin d: from 1e-12 it falls by 1e-12 cosh λt as long as that is small."""
    standing = mp.planar([0.5], [1.0], gravity=(-9.81, 0, 0))
    result = mp.simulate(mp.Scenario(standing, q0=[start], duration=5.0, step=2e-3, sample=0.1, integrator="rk4"))
    assert result.ok, result.reason
    grown = start * np.cosh(np.sqrt(3 * 9.81) * result.t)
    small = grown < 1e-4
    np.testing.assert_allclose(result.q[small, 0], grown[small], rtol=1e-6, atol=1e-300)
    assert small.sum() > 30


def test_where_repetitions_begin() -> None:
    eps = np.finfo(float).eps
    x0 = np.array([[2.0, -0.5, 0.0, 3.0, 0.0, 7.0], [1e-5, 0.0, -1e-4, 3.0, 0.0, 7.0]])
    part = 40.0 * eps
    for exact, second in ((False, [part, part, -part]), (True, [1e-5 * part, 0.0, -1e-4 * part])):
        found = beside(x0, 3, 5, 1600.0, 1.0, exact) - x0
        assert found[0, :3] == pytest.approx([2.0 * part, -part, part], rel=0.1)
        assert found[1, :3] == pytest.approx(second, rel=1e-3)
        assert found[:, 3] == pytest.approx(3.0 * part, rel=0.1)
        assert not found[:, 4:].any()  # zero speed is exact, and works are no coordinates
    for steps, factor, size in ((1.0, 1.0, 16.0), (1.0, -1.0, -16.0), (1.0, 0.05, 320.0)):
        assert beside(np.ones(2), 1, 1, steps, factor) - 1.0 == pytest.approx([size * eps, 0.0])


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("rest", "falls"), [(3 / 10 - 0.3, False), (0.1 * 3 - 0.3, True)])
def test_what_somebodys_rounding_leaves_of_zero_is_no_rest(
    rest: float, falls: bool, compiled: bool, method: str
) -> None:
    """3/10 - 0.3 is 0 and 0.1·3 - 0.3 is not: the rod stands on q = 0 for ever, or falls in six seconds."""
    standing = mp.planar([0.5], [1.0], gravity=(-9.81, 0, 0))
    law = mp.control.UserFunction(lambda t, q, qd, target: [rest + 0.0 * (q[0] if compiled else float(q[0]))])
    options: dict[str, Any] = {"q0": [0.0], "duration": 8.0, "step": 0.01, "sample": 0.1, "integrator": method}
    result = mp.simulate(mp.Scenario(standing, controller=law, **options))
    assert result.status == ("inaccurate" if falls else "finished"), result.reason
    assert bool(result.q.any()) is falls

"""Runs of every kind: energies audited, statuses honest, wrong input refused with its field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula import control, drives, friction
from manipula.errors import BudgetError, DescriptionError, ManipulaError, ShapeError, SolveError, UnknownNameError

ROBOT = mp.load("planar-2r")
HOLD = control.PDGravity(30.0, 5.0, goal=[0.3, -0.2])
RUN = mp.Scenario(robot=ROBOT, controller=HOLD, q0=[0.1, 0.2], duration=0.2, sample=0.01, integrator="rk4", step=5e-4)
ROTORS = ROBOT.replace(joints=tuple(replace(j, rotor_inertia=2e-3, gear_ratio=10.0) for j in ROBOT.joints))
AUDIT = 1e-6  # J of some ten joules: the tolerance of these runs
NAN, INF = float("nan"), float("inf")

KINDS = {
    "free": RUN.replace(controller=None, integrator="auto"),
    "dynamic": RUN,
    "adaptive": RUN.replace(integrator="dop853"),
    "stiff": RUN.replace(integrator="rodas", friction=(friction.Coulomb(1.0, width=1e-2),) * 2),
    "symmetric": RUN.replace(controller=None, integrator="midpoint", tolerance=1e-4),
    "flexible": RUN.replace(robot=ROTORS, drives=(drives.Flexible(2000.0, 2.0),) * 2, controller=control.PDGravity(30.0, 3.0, goal=[0.3, -0.2])),
    "prescribed motor": RUN.replace(controller=None, integrator="dop853", drives=(drives.Flexible(900.0, 5.0, motor="0.1+0.2*sin(3*t)"), None)),
    "dc motor": RUN.replace(drives=(drives.DCMotor(0.05, 0.5, 2e-3, gear_ratio=50.0),) * 2),
    "limited motor": RUN.replace(drives=(drives.Rigid(30.0, 4.0),) * 2, tolerance=1e-5),
    "pushed": RUN.replace(disturbances=(mp.Wrench([1.0, 2.0, 0, 0, 0, 0.5]),)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(KINDS))
def test_energy_is_accounted_for(name: str) -> None:
    """Work of drives − friction + outside = change of energy; and M q̈ + h + g + τ_f = τ + Jᵀw at every sample."""
    result = mp.simulate(KINDS[name])
    assert result.ok, result.reason
    assert np.abs(result.audit).max() <= max(AUDIT, 10 * KINDS[name].tolerance)
    robot = KINDS[name].robot
    if name == "flexible":
        robot = ROBOT  # rotors move on their own
    balance = mp.compile(robot).inverse_dynamics(result.q, result.qd, result.qdd) + result.friction
    np.testing.assert_allclose(balance, result.tau + result.external, atol=1e-9)
    np.testing.assert_allclose(result.power, result.tau * result.qd, atol=1e-12)
    np.testing.assert_allclose(result.tip, mp.compile(ROBOT).position(result.q), atol=1e-14)
    np.testing.assert_allclose(result.energy, result.kinetic + result.potential, atol=1e-12)


def test_spring_torque_and_rotor_balance() -> None:
    """What the motor puts in is in rotors, springs, dampers and links."""
    run = KINDS["flexible"].replace(sample=None)
    result = mp.simulate(run)
    rates = result.motors[:, 1::2]
    work = np.trapezoid((result.command * rates).sum(axis=1), result.t)
    heat = np.trapezoid((2.0 * (rates - result.qd) ** 2).sum(axis=1), result.t)
    kept = (result.energy + result.drive_energy)[[0, -1]]
    assert work - heat == pytest.approx(kept[1] - kept[0], abs=2e-4)  # the trapezium rule at 0.5 ms


def test_result_speaks() -> None:
    result = mp.simulate(RUN)
    assert "error about" in result.reason
    assert result.meta["robot_digest"] == ROBOT.digest
    assert result.meta["versions"]["manipula"]
    assert "tau" in result.signals
    with pytest.raises(AttributeError, match="tau"):
        result.taus
    assert result.check() is result
    unknown = mp.simulate(RUN.replace(verify=False))
    assert "not verified" in unknown.reason


def test_failures_are_statuses_not_exceptions() -> None:
    wild = mp.simulate(RUN.replace(controller=control.PD(1e8, 0.0, goal=[0, 0])))
    assert wild.status in ("diverged", "not_finite")
    with pytest.raises(SolveError, match="ended as") as caught:
        wild.check()
    assert caught.value.result is wild
    coarse = mp.simulate(RUN.replace(step=0.02, controller=control.PD(800.0, 8.0, goal=[0, 0])))
    assert coarse.status in ("inaccurate", "diverged", "not_finite")
    limited = ROBOT.replace(
        joints=tuple(replace(j, limits=replace(j.limits, lower=-0.5, upper=0.25)) for j in ROBOT.joints)
    )
    stopped = mp.simulate(RUN.replace(robot=limited, stop_at_limits=True, duration=1.0))
    assert stopped.status == "limit"
    assert np.isnan(stopped.q[-1]).all()
    assert stopped.q[np.isfinite(stopped.q).all(axis=1)][:-1].max() <= 0.25


BAD_NUMBERS = {
    "q0": lambda x: {"q0": [x, 0.0]},
    "qd0": lambda x: {"qd0": [0.0, x]},
    "duration": lambda x: {"duration": x},
    "step": lambda x: {"step": x},
    "sample": lambda x: {"sample": x},
    "tolerance": lambda x: {"tolerance": x},
    "controller": lambda x: {"controller": control.PDGravity(x, 5.0, goal=[0.3, 0.1])},
    "goal": lambda x: {"controller": control.PDGravity(5.0, 5.0, goal=[x, 0.1])},
    "friction": lambda x: {"friction": (friction.Viscous(x), None)},
    "drives": lambda x: {"robot": ROTORS, "drives": (drives.Flexible(x), None)},
    "wrench": lambda x: {"disturbances": (mp.Wrench([x, 0, 0, 0, 0, 0]),)},
    "payload": lambda x: {"disturbances": (mp.PayloadChange(0.1, x),)},
    "noise": lambda x: {"noise": mp.Noise(position=x)},
    "limit": lambda x: {"actuator": mp.Actuator(limit=x)},
    "delay": lambda x: {"actuator": mp.Actuator(delay=x)},
    "vary": lambda x: {"vary": {"controller.kp": [10.0, x]}},
    "torques": lambda x: {"controller": None, "torques": ([0.0, 1.0], [[0.0, 0.0], [x, 1.0]])},
}


@pytest.mark.parametrize("field", sorted(BAD_NUMBERS))
def test_nan_is_refused_or_flagged(field: str) -> None:
    try:
        result = mp.simulate(RUN.replace(**BAD_NUMBERS[field](NAN)))
    except ManipulaError:
        return
    assert result.status != "finished"


@pytest.mark.parametrize("field", ["q0", "qd0", "duration", "step", "tolerance", "noise", "delay"])
def test_infinity_is_refused(field: str) -> None:
    with pytest.raises(ManipulaError, match=rf"(?i){field.rstrip('0')}"):
        mp.simulate(RUN.replace(**BAD_NUMBERS[field](INF)))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"q0": [0.1]}, ShapeError, "q0"),
        ({"q0": np.zeros((2, 2, 2))}, ShapeError, "q0"),
        ({"qd0": [1.0, 2.0, 3.0]}, ShapeError, "qd0"),
        ({"friction": (friction.Viscous(1.0),)}, DescriptionError, "friction"),
        ({"drives": (None,) * 3}, DescriptionError, "drives"),
        ({"integrator": "rk5"}, UnknownNameError, "rk4"),
        ({"kind": "dynamical"}, UnknownNameError, "dynamic"),
        (
            {"controller": control.PDGravity(10.0, 1.0, goal=[0.1, 0.2, 0.3])},
            (ShapeError, DescriptionError),
            "controller",
        ),
        (
            {"controller": control.PDGravity((1.0, 2.0, 3.0), 1.0, goal=[0.1, 0.2])},
            (ShapeError, DescriptionError),
            "controller",
        ),
        ({"controller": "pd"}, DescriptionError, "controller"),
        ({"duration": None}, DescriptionError, "duration"),
        ({"step": 1e-12}, BudgetError, "steps"),
        ({"model": mp.load("planar-3r")}, DescriptionError, "model"),
        ({"disturbances": (mp.Wrench([1, 0, 0, 0, 0, 0], frame="hand"),)}, DescriptionError, "hand"),
        ({"kind": "kinematic"}, DescriptionError, "reference"),
        ({"kind": "inverse_dynamics"}, DescriptionError, "reference"),
    ],
)
def test_parts_that_do_not_fit_are_named(changes: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        mp.simulate(RUN.replace(**changes))


def test_simulate_takes_a_scenario() -> None:
    with pytest.raises(DescriptionError, match="Scenario"):
        mp.simulate({"robot": "planar-2r"})  # pyright: ignore[reportArgumentType]


def test_samples_coarser_than_the_run() -> None:
    for integrator in ("rk4", "dop853"):
        result = mp.simulate(RUN.replace(sample=5.0, integrator=integrator))
        assert result.t[-1] <= 0.2 + 1e-12
        assert result.q.shape == (len(result.t), 2)

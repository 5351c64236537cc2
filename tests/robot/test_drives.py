"""What every drive must obey: rest at rest, and no energy from nowhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manipula as mp
from manipula import native
from manipula.errors import DescriptionError
from manipula.formats.toml import to_toml
from manipula.robot.drives import REGISTRY, DCMotor, Flexible, Rigid, Spring
from manipula.robot.drives.base import Drive

DRIVES: dict[str, Drive] = {
    "rigid": Rigid(torque_limit=20.0, speed_limit=3.0),
    "spring": Spring(stiffness=30.0, rest=0.4),
    "flexible": Flexible(stiffness=800.0, damping=2.0),
    "dc_motor": DCMotor(torque_constant=0.05, resistance=0.8, inductance=1e-3, gear_ratio=80.0, voltage=24.0),
}
ROTOR = 0.35  # kg·m², seen from the joint
ROUNDING = 1e-14
CASES = np.random.default_rng(5).uniform(-1.0, 1.0, (20, 5)) * [15.0, 1.0, 2.0, 1.5, 2.0]  # command, q, qd, two states


def test_every_drive_has_an_example() -> None:
    assert set(DRIVES) == set(REGISTRY)
    assert all(type(DRIVES[name]) is kind for name, kind in REGISTRY.items())


@pytest.mark.parametrize("name", sorted(DRIVES))
def test_rest_without_command_is_an_equilibrium(name: str) -> None:
    drive = DRIVES[name]
    state = drive.initial_state(0.4, 0.0)
    assert len(state) == drive.states
    assert drive.torque(0.0, 0.0, 0.4, 0.0, state, ROTOR) == 0.0
    assert all(rate == 0.0 for rate in drive.state_rate(0.0, 0.0, 0.4, 0.0, state, ROTOR))


@pytest.mark.parametrize("name", sorted(DRIVES))
def test_compiled_drive_is_the_drive(name: str) -> None:
    drive = DRIVES[name]

    def f(u, q, qd, z):
        state = tuple(z)[: drive.states]
        rates = drive.state_rate(u, 0.0, q, qd, state, ROTOR)
        energy = drive.stored_energy(q, qd, state, ROTOR)
        return {"out": np.array([drive.torque(u, 0.0, q, qd, state, ROTOR), energy, *rates], object)}

    kernel = native.compile_function(f, {"u": (), "q": (), "qd": (), "z": (2,)})
    out = kernel(CASES[:, 0], CASES[:, 1], CASES[:, 2], CASES[:, 3:])
    for row, (u, q, qd, *z) in zip(np.asarray(out), CASES):
        state = tuple(z)[: drive.states]
        expected = [drive.torque(u, 0.0, q, qd, state, ROTOR), drive.stored_energy(q, qd, state, ROTOR)]
        expected += drive.state_rate(u, 0.0, q, qd, state, ROTOR)
        np.testing.assert_allclose(row, np.asarray(expected, float), rtol=ROUNDING, atol=ROUNDING * 1e3)


def stored_rate(drive: Drive, u: float, q: float, qd: float, state: tuple[float, ...]) -> float:
    """d/dt of the stored energy along the motion, by central differences."""
    rates, h = drive.state_rate(u, 0.0, q, qd, state, ROTOR), 1e-6
    ahead, behind = (
        drive.stored_energy(q + s * h * qd, qd, tuple(z + s * h * r for z, r in zip(state, rates)), ROTOR)
        for s in (1, -1)
    )
    return (ahead - behind) / (2 * h)


@pytest.mark.parametrize("row", range(20))
def test_power_is_accounted_for(row: int) -> None:
    """Power in = power to the link + what is stored + what becomes heat, and heat is never negative."""
    difference = 2e-6  # central differences of quadratics in numbers up to 1e3
    u, q, qd, a, b = CASES[row]
    spring = DRIVES["spring"]
    tau = spring.torque(u, 0.0, q, qd, (), ROTOR)
    assert abs(u * qd - tau * qd - stored_rate(spring, u, q, qd, ())) <= difference * (1 + abs(tau * qd))
    flexible = DRIVES["flexible"]
    tau = flexible.torque(u, 0.0, q, qd, (a, b), ROTOR)
    heat = 2.0 * (b - qd) ** 2
    balance = u * b - tau * qd - stored_rate(flexible, u, q, qd, (a, b)) - heat
    assert abs(balance) <= difference * (1 + abs(tau * qd) + abs(u * b))
    motor = DRIVES["dc_motor"]
    current = 4.0 * a
    back = 80.0 * 0.05 * qd
    voltage = float(np.clip(0.8 * u / 4.0 + back, -24.0, 24.0))
    tau = motor.torque(u, 0.0, q, qd, (current,), ROTOR)
    balance = voltage * current - tau * qd - stored_rate(motor, u, q, qd, (current,)) - 0.8 * current**2
    assert abs(balance) <= difference * (1 + abs(tau * qd) + abs(voltage * current))


def test_rigid_drive_is_cut_to_its_speed_torque_line() -> None:
    drive = Rigid(torque_limit=20.0, speed_limit=4.0)
    at = lambda u, qd: drive.torque(u, 0.0, 0.0, qd, (), 0.0)
    assert at(50.0, 0.0) == 20.0
    assert at(-50.0, 0.0) == -20.0
    assert at(50.0, 3.0) == 5.0  # a quarter left at three quarters of the speed
    assert at(-50.0, 3.0) == -20.0  # braking is not limited
    assert at(50.0, 9.0) == 0.0
    assert at(7.0, 1.0) == 7.0
    assert Rigid().torque(1e6, 0.0, 0.0, 0.0, (), 0.0) == 1e6


def test_speed_limit_without_torque_limit_is_refused() -> None:
    with pytest.raises(DescriptionError, match="torque_limit"):
        Rigid(speed_limit=3.0)


def test_motor_settles_at_the_torque_asked_for() -> None:
    motor = DRIVES["dc_motor"]
    i = 6.0 / 4.0
    (rate,) = motor.state_rate(6.0, 0.0, 0.0, 0.5, (i,), ROTOR)
    assert abs(rate) <= 1e-11
    assert motor.torque(6.0, 0.0, 0.0, 0.5, (i,), ROTOR) == pytest.approx(6.0, rel=1e-14)


def test_prescribed_motor_follows_its_formula() -> None:
    drive = Flexible(stiffness=100.0, damping=3.0, motor="0.5*sin(2*t)")
    t = 0.7
    expected = 100.0 * (0.5 * np.sin(1.4) - 0.1) + 3.0 * (np.cos(1.4) - 0.2)
    assert drive.torque(99.0, t, 0.1, 0.2, (0.0, 0.0), 0.0) == pytest.approx(expected, rel=1e-14)
    assert drive.stored_energy(0.1, 0.2, (0.0, 0.0), 0.0, t) == pytest.approx(
        50.0 * (0.5 * np.sin(1.4) - 0.1) ** 2, rel=1e-13
    )


def test_flexible_drive_needs_a_rotor() -> None:
    with pytest.raises(DescriptionError, match="rotor"):
        Flexible(stiffness=10.0).state_rate(0.0, 0.0, 0.0, 0.0, (0.0, 0.0), 0.0)


@pytest.mark.parametrize("name", [*sorted(DRIVES), "prescribed"])
def test_files_keep_every_drive(name: str) -> None:
    drive = DRIVES.get(name, Flexible(stiffness=10.0, motor="0.1*t^2"))
    robot = mp.load("planar-2r")
    driven = robot.replace(
        joints=tuple(replace(j, drive=drive, rotor_inertia=1e-3, gear_ratio=80.0) for j in robot.joints)
    )
    again = mp.from_toml(to_toml(driven))
    assert again.joints[1].drive == drive
    assert again == driven

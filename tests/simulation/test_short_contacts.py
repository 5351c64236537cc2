"""Contacts shorter than a step: found, and never finished and wrong. Against the closed form of a ball that is thrown against a ceiling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import manipula as mp

G = 9.81
BALL = mp.from_urdf(
    '<robot name="ball"><link name="base"/><link name="l"><inertial><mass value="1"/>'
    '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="z" type="prismatic"><parent link="base"/><child link="l"/><axis xyz="0 0 1"/>'
    '<limit effort="1000" velocity="100" lower="-10" upper="10"/></joint></robot>'
)
LATE: dict[str, Any] = {
    "controller": mp.control.PD(kp=0.0, kv=0.0, goal=[0.0]),
    "actuator": mp.Actuator(delay=0.001),
}
STOP = mp.contact.EndStop(stiffness=100.0, low=[-1.0], high=[0.1])


def thrown(k: float, above: float, ceiling: float = 0.5, **more: Any) -> tuple[mp.Result, float]:
    """A ball thrown so that it would rise ``above`` the ceiling, of stiffness k; and how far its last state is from the closed form."""
    v = np.sqrt(2 * G * (ceiling + above))
    plane = mp.contact.PlaneContact(stiffness=k, point=(0, 0, ceiling), normal=(0, 0, -1))
    r = mp.simulate(mp.Scenario(robot=BALL, q0=[0.0], qd0=[v], contacts=(plane,), duration=0.6, **more))
    hit, w = np.sqrt(2 * G * above), np.sqrt(k)
    left = 0.6 - (v - hit) / G - 2 * np.arctan2(hit / w, G / k) / w
    exact = ceiling - hit * left - 0.5 * G * left**2, -hit - G * left
    return r, float(max(abs(r.q[-1, 0] - exact[0]), abs(r.qd[-1, 0] - exact[1])))


@pytest.mark.parametrize("more", [{"integrator": "rk4"}, LATE, {"integrator": "midpoint"}], ids=["rk4", "late", "midpoint"])  # fmt: skip
@pytest.mark.parametrize(("k", "above"), [(3e6, 1e-2), (3e7, 1e-3), (3e7, 0.1), (1e8, 1e-2)])
def test_a_contact_shorter_than_a_fixed_step_is_right_or_not_finished(k: float, above: float, more: Any) -> None:
    r, off = thrown(k, above, sample=0.01, **more)
    assert r.status == "inaccurate" or off < 2e-6, (r.reason, off)


@pytest.mark.parametrize("integrator", ["auto", "dop853", "rk4", "rodas"])
@pytest.mark.parametrize("above", [1e-3, 1e-5, 1e-7])
def test_a_touch_between_the_ends_of_a_step_is_found(integrator: str, above: float) -> None:
    for step in (0.2, 0.01):
        r, off = thrown(1e5, above, step=step, sample=0.6, integrator=integrator)
        assert r.status == "inaccurate" or off < 2e-6, (step, r.reason, off)
        assert r.status == "finished" or integrator == "rk4"


@pytest.mark.parametrize("ceiling", [0.5, 0.43, 0.3171])
def test_a_graze_is_found_with_nothing_chosen(ceiling: float) -> None:
    for k, above in ((1e4, 1e-8), (1e6, 1e-7), (1e8, 1e-6)):
        r, off = thrown(k, above, ceiling)
        assert r.status == "finished", (k, above, r.reason)
        assert off < 2e-6, (k, above, off)


def test_a_ball_that_stays_below_the_ceiling_flies_freely() -> None:
    for below in (1e-9, 1e-6, 1e-3):
        v = np.sqrt(2 * G * (0.5 - below))
        plane = mp.contact.PlaneContact(stiffness=1e5, point=(0, 0, 0.5), normal=(0, 0, -1))
        for integrator in ("auto", "rk4"):
            r = mp.simulate(mp.Scenario(robot=BALL, qd0=[v], q0=[0.0], contacts=(plane,), duration=0.6, integrator=integrator)).check()  # fmt: skip
            np.testing.assert_allclose(r.q[-1, 0], v * 0.6 - 0.5 * G * 0.36, atol=1e-12)


def test_energy_that_nobody_accounts_for_is_told() -> None:
    """Without a repetition nothing else tells that steps were too long for a contact."""
    r, off = thrown(3e8, 0.1, sample=0.01, verify=False, **LATE)
    assert off > 1e-4
    assert r.status == "inaccurate"
    assert "energy" in r.reason


class Remembering:
    """A controller with an integral of its own."""

    def __init__(self) -> None:
        self.sum = 0.0

    def __call__(self, t: Any, q: Any, qd: Any, target: Any) -> list[Any]:
        self.sum += 0.01 * (0.2 - q[0])
        return [10 * (0.2 - q[0]) + 5 * self.sum - 2 * qd[0] + G]


@pytest.mark.parametrize(
    "more",
    [
        {"control_period": 0.01},
        {"encoder": mp.Encoder(resolution=1e-4)},
        {"controller": mp.control.UserFunction(Remembering())},
        {"controller": mp.control.UserFunction(Remembering()), "control_period": 0.01},
    ],
    ids=["period", "encoder", "memory", "both"],
)
def test_a_sampled_loop_with_contacts_takes_rk4_when_nothing_is_chosen(more: dict[str, Any]) -> None:
    usual = {"controller": mp.control.PD(kp=60.0, kv=5.0, goal=[0.3])}
    s = mp.Scenario(robot=BALL, q0=[0.0], duration=0.3, sample=0.01, contacts=(STOP,), **{**usual, **more})
    chosen = mp.simulate(s)
    assert np.array_equal(chosen.q, mp.simulate(s.replace(integrator="rk4")).q)

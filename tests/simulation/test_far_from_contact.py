"""Steps in which the arm cannot come to touch anything: how far a point gets at most, and runs in which nothing else is looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.physics.mechanism import mechanism_of
from manipula.simulation.plant import events
from manipula.simulation.plant.surroundings import Surroundings

HAND = (
    '<robot name="hand"><link name="palm"/><link name="left"/><link name="right"/>'
    '<joint name="a" type="revolute"><parent link="palm"/><child link="left"/><origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/>'
    '<limit effort="9" velocity="9" lower="-1" upper="1"/></joint>'
    '<joint name="b" type="prismatic"><parent link="left"/><child link="right"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>'
    '<limit effort="9" velocity="9" lower="-1" upper="1"/><mimic joint="a" multiplier="-2.5" offset="0.2"/></joint></robot>'
)


def arms() -> dict[str, Any]:
    return {"panda": mp.load("panda"), "stanford": mp.load("stanford"), "hand": mp.from_urdf(HAND, tip="right")}


@pytest.mark.parametrize("name", ["panda", "stanford", "hand"])
def test_no_distance_changes_by_more_than_the_arm_can_travel(name: str) -> None:
    """Along random motions within the ways of the joints; the bound is not far above what a stretched arm reaches."""
    robot = arms()[name]
    mechanism, rng = mechanism_of(robot), np.random.default_rng(3)
    plane = mp.contact.PlaneContact(
        1e4, normal=(1.0, 2.0, -0.5), points=((0.05, 0.0, 0.1), (0.0, -0.2, 0.0)), radius=0.03
    )
    stops = mp.contact.EndStop(100.0, low=-2.0, high=2.0).fitted(robot)
    closest = 0.0
    for contact in (plane, stops):
        for _ in range(300):
            q, way = rng.uniform(-2, 2, robot.n), rng.uniform(0, 1, robot.n) ** 3
            there = q + way * rng.uniform(-1, 1, robot.n)
            gaps = [
                np.array(contact.touch(Surroundings(mechanism, x, np.zeros(robot.n))).gaps, float) for x in (q, there)
            ]
            told: Any = contact.travel(Surroundings(mechanism, q, np.zeros(robot.n)), way.tolist())
            travel = float(told)
            assert np.abs(gaps[1] - gaps[0]).max() <= travel * (1 + 1e-12)
            closest = max(closest, float(np.abs(gaps[1] - gaps[0]).max() / travel))
    assert closest > 0.3


def scenarios() -> dict[str, mp.Scenario]:
    panda = mp.load("panda")
    q0 = np.array([0.1, 0.3, -0.2, -1.2, 0.1, 1.4, 0.2])
    tip = mp.compile(panda).position(q0)
    wall = mp.contact.PlaneContact(2e4, point=tuple(tip - [0, 0, 0.15]), damping=0.3, friction=0.2)
    press = mp.control.PDGravity(200.0, 10.0, goal=tuple(np.add(q0, [0, 0.3, 0, -0.1, 0, 0, 0])))
    two = mp.load("planar-2r")
    stops = mp.contact.EndStop(500.0, low=[-1.2, -0.8], high=[1.5, 2.0])
    tool = mp.PayloadChange(0.1, 0.5, tool=(0.1, 0.0, 0.0))
    settings: dict[str, Any] = {"sample": 0.01, "friction": (), "tolerance": 1e-4}
    return {
        "pressing": mp.Scenario(panda, controller=press, q0=[q0, q0 + 0.02], duration=0.4, contacts=(wall,), integrator="rk4", **settings),
        "falling": mp.Scenario(
            two, q0=[0.3, 0.4], duration=0.8, disturbances=(tool,), integrator="dop853",
            contacts=(stops, mp.contact.PlaneContact(1e4, point=(0, -0.6, 0), normal=(0, 1, 0), exponent=1.5)), **settings,
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["pressing", "falling"])
def test_what_cannot_touch_is_not_looked_at_and_no_bit_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenarios()[name]
    fast = mp.simulate(scenario)
    assert np.abs(fast.contact_force).max() > 1.0
    monkeypatch.setattr(events, "_near", lambda *_: None)
    slow = mp.simulate(scenario)
    for signal, values in slow.arrays.items():
        np.testing.assert_array_equal(fast.arrays[signal], values)
    assert fast.statuses == slow.statuses


class Breathing(mp.contact.PlaneContact):
    """A plane that rises and falls: its distances change while the arm stands still, and ``travel`` is that of a plane that does not."""

    def touch(self, around: Any) -> Any:
        found = super().touch(around)
        return found._replace(gaps=[g + 1.0 - around.q[0] for g in found.gaps])


def test_distances_of_a_class_that_extends_another_are_looked_at() -> None:
    plane = mp.contact.PlaneContact(1e4)
    assert events._says_how_far(plane)
    assert not events._says_how_far(Breathing(1e4))
    assert events._says_how_far(mp.contact.EndStop(1.0))
    assert (
        replace(plane, radius=0.1).travel(
            Surroundings(mechanism_of(mp.load("panda")), np.zeros(7), np.zeros(7)), [0.0] * 7
        )
        == 0.0
    )

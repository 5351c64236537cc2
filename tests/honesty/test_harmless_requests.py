"""Requests that look harmless: code that catches its own exceptions, payloads listed in any order, limits that cannot be."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.errors import DescriptionError

ARM = mp.planar(lengths=[0.5], masses=[2.0], gravity=(0, 0, 0))
INERTIA = 2.0 * 0.25 / 3.0
TWO = mp.planar(lengths=[0.5, 0.4], masses=[2.0, 1.5])


def staircase(t, q, qd, target):
    try:
        k = int(t / 0.1)
    except (TypeError, ValueError):
        k = 0
    return np.array([float(k)])


def suppressed(t, q, qd, target):
    u = 0.5
    with contextlib.suppress(Exception):
        u = 1.0 if t > 0.25 else -1.0
    return np.array([u])


def typed(t, q, qd, target):
    return np.array([1.0 if isinstance(t, float) else 2.0])


@pytest.mark.parametrize(("law", "wanted"), [(staircase, 1.0), (suppressed, 0.0), (typed, 0.5)])
def test_a_controller_that_takes_another_way_while_it_is_traced_runs_in_python(law, wanted):
    """``wanted`` is the integral of the torque over 0.5 s."""
    run = mp.simulate(
        mp.Scenario(ARM, None, mp.control.UserFunction(law), q0=[0.1], qd0=[0.2], duration=0.5, sample=0.05)
    )
    if run.ok:
        assert run.qd[-1, 0] == pytest.approx(0.2 + wanted / INERTIA, abs=1e-5)
    assert any("in Python" in note for note in run.notes)


class Swallows(mp.friction.FrictionLaw):
    name = "swallows"

    def torque(self, qd, state=(), load=0.0):
        try:
            return 0.5 * float(qd)
        except TypeError:
            return 0.0 * qd


def test_a_friction_law_that_takes_another_way_is_refused():
    with pytest.raises(DescriptionError, match="other torques than in Python"):
        mp.simulate(mp.Scenario(ARM, q0=[0.0], qd0=[1.0], duration=0.2, friction=(Swallows(),)))


@pytest.mark.parametrize("reverse", [False, True])
def test_payloads_change_by_their_times_not_by_their_order(reverse):
    loaded = mp.planar(lengths=[0.5], masses=[2.0], payload=1.0, gravity=(0, 0, 0))
    changes = (mp.PayloadChange(0.5, 2.0), mp.PayloadChange(0.3, 3.0))
    torques = ([0.0, 1.0], [[1.0], [1.0]])
    run = mp.simulate(mp.Scenario(loaded, torques=torques, q0=[0.0], duration=1.0, sample=0.1,
                                  disturbances=changes[::-1] if reverse else changes))  # fmt: skip
    at = lambda m: INERTIA + 0.25 * m
    assert run.ok, run.reason
    assert run.qd[-1, 0] == pytest.approx(0.3 / at(1.0) + 0.2 / at(3.0) + 0.5 / at(2.0), abs=1e-6)


def test_a_batch_may_exchange_the_order_of_its_payloads():
    torques = ([0.0, 1.0], [[1.0], [1.0]])
    changes = (mp.PayloadChange(0.3, 3.0), mp.PayloadChange(0.5, 2.0))
    run = mp.simulate(mp.Scenario(ARM, torques=torques, q0=[0.0], duration=1.0, sample=0.1, disturbances=changes,
                                  vary={"disturbances[0].time": [0.3, 0.7]}))  # fmt: skip
    at = lambda m: INERTIA + 0.25 * m
    wanted = [0.3 / at(0) + 0.2 / at(3) + 0.5 / at(2), 0.5 / at(0) + 0.2 / at(2) + 0.3 / at(3)]
    assert run.qd[:, -1, 0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: mp.Actuator(limit=-5.0), "at least 0"),
        (lambda: mp.Actuator(limit=[80.0, -40.0]), "at least 0"),
        (lambda: mp.Actuator(limit=[80.0, float("nan")]), "at least 0"),
        (lambda: mp.Actuator(limit="efort"), "effort"),
        (lambda: mp.Scenario(TWO, duration=1.0, actuator=mp.Actuator(limit=[1, 2, 3])), r"per joint is needed \(2\)"),
        (lambda: mp.PayloadChange(0.1, -1.0), r"at least 0 \[kg\]"),
        (lambda: mp.Wrench((0, 1, 0, 0, 0, 0), start=0.3, stop=0.2), "never act"),
        (lambda: mp.Noise(position=1e-3, seed=-1), "whole number"),
        (lambda: mp.Noise(position=1e-3, seed=1.5), "whole number"),
        (lambda: mp.Scenario(TWO, duration=1.0, disturbances=("push",)), "found str"),
    ],
)
def test_limits_and_disturbances_that_cannot_be_are_refused(make, text):
    with pytest.raises(DescriptionError, match=text):
        make()


GAIN = 1.0


def shaken(t, q, qd, target):
    return np.array([GAIN * ops.sin(10.0 * t)])


def test_the_jerk_of_a_run_is_not_that_of_code_that_changed_since(monkeypatch):
    run = mp.simulate(
        mp.Scenario(
            ARM, None, mp.control.UserFunction(shaken), q0=[0.0], duration=0.5, sample=0.01, limits={"jerk": 80.0}
        )
    )
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 5.0)
    jerk = run.jerk()
    assert not jerk.exact
    assert run.feasible is not False  # 10/I = 60 rad/s³, as it was
    assert float(np.max(jerk.largest)) == pytest.approx(10.0 / INERTIA, rel=0.05)


def test_a_run_that_ended_at_a_limit_is_not_feasible():
    text = "gravity=[0,0,0]\n[planar]\nlengths=[0.5]\nmasses=[2.0]\nlimits=[{position=[-1,0.5]}]\n"
    run = mp.simulate(
        mp.Scenario(mp.from_toml(text), q0=[0.0], qd0=[1.0], stop_at_limits=True, duration=1.0, sample=0.3)
    )
    assert run.status == "limit"
    assert run.feasible is False
    assert "joint1" in run.feasibility.reason
    batch = mp.simulate(
        mp.Scenario(
            mp.from_toml(text), q0=[[0.0], [-0.9]], qd0=[[1.0], [0.1]], stop_at_limits=True, duration=1.0, sample=0.3
        )
    )
    assert batch.feasibility.runs == (False, True)
    assert batch.feasible is False


def test_one_disturbance_may_be_given_by_itself():
    push = mp.Wrench((0, 1, 0, 0, 0, 0))
    assert mp.Scenario(TWO, duration=1.0, disturbances=push).disturbances == (push,)


URDF = """<robot name="a"><link name="base"/><link name="l"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><self_collision_checking/></link>
<joint name="j" type="revolute"><parent link="base"/><child link="l"/><origin xyz="1 2 3"/><axis xyz="0 1 0"/>
<dynamics damping="3"/><limit lower="-1" upper="1" effort="1" velocity="1"/><vendor_tag/></joint></robot>"""


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("axis", "axes"),
        ("origin", "orign"),
        ("dynamics", "dynamic"),
        ("limit", "limits"),
        ("inertial", "inertal"),
        ("mass", "mas"),
    ],
)
def test_a_slip_in_an_element_of_a_urdf_is_refused(right, slip):
    assert mp.from_urdf(URDF).n == 1  # tags of somebody's own are left alone
    wrong = (
        URDF.replace(f"<{right} ", f"<{slip} ").replace(f"<{right}>", f"<{slip}>").replace(f"</{right}>", f"</{slip}>")
    )
    with pytest.raises(DescriptionError, match=f"Did you mean <{right}>"):
        mp.from_urdf(wrong)

"""The doctor: no false alarms on legal bodies, no silence on impossible ones, and a holding torque judged by others."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from manipula.formats.catalog import load_catalog
from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.physics.kinematics import position
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot import Limits
from manipula.robot.doctor import doctor
from manipula.robot.doctor_rules import RULES
from manipula.robot.doctor_rules.bodies import SLACK, is_of_a_body
from manipula.robot.doctor_rules.statics import holding_torque
from strategies import random_robot, robots

ROUNDING = 1e-11  # sums of a few hundred N·m in double precision
BODIES = 20_000


def arm(**changes):
    """Three links that give the doctor nothing to complain about, with one row changed."""
    rows = [{"a": 0.4, "mass": 3.0 - i, "com": (-0.2, 0, 0), "inertia": [0.01, 0.04, 0.04, 0, 0, 0],
             "limits": Limits(-2.0, 2.0, 3.0, 10.0, 100.0, 500.0)} for i in range(3)]  # fmt: skip
    rows[1].update(changes)
    return from_dh(rows, "standard", name="arm")


def codes(robot, severity: str | None = None) -> set[str]:
    return {f.code for f in doctor(robot).findings if severity in (None, f.severity)}


def random_tensors(rng: np.random.Generator, count: int) -> np.ndarray:
    """Inertias of bodies: I = tr(Σ) 1 − Σ from second moments Σ = A Aᵀ of any rank and any scale."""
    A = rng.normal(size=(count, 3, 3)) * np.exp(rng.uniform(-9, 9, (count, 1, 1)))
    A *= np.exp(rng.uniform(-9, 0, (count, 1, 3)))
    rank = rng.integers(1, 4, count)
    A[rank < 3, :, 2] = 0.0
    A[rank < 2, :, 1] = 0.0
    S = A @ np.swapaxes(A, 1, 2)
    return np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S


def test_a_healthy_arm_has_no_errors_or_warnings() -> None:
    diagnosis = doctor(arm())
    assert diagnosis.ok
    assert diagnosis.warnings == ()


def test_no_legal_body_is_refused() -> None:
    tensors = random_tensors(np.random.default_rng(1), BODIES)
    assert sum(not is_of_a_body(I) for I in tensors) == 0


def test_every_impossible_body_is_seen() -> None:
    """One principal moment beyond the sum of the others by ten times the slack, or below zero, in random axes."""
    rng = np.random.default_rng(2)
    accepted = 0
    for _ in range(BODIES // 4):
        a, b = np.exp(rng.uniform(-9, 9, 2))
        beyond = (a + b) * (1.0 + 10 * SLACK * (1.0 + rng.random()) + rng.choice([0.0, rng.random()]))
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        accepted += is_of_a_body(R @ np.diag([a, b, beyond]) @ R.T)
        accepted += is_of_a_body(R @ np.diag([a, b, -1e-4 * max(a, b)]) @ R.T)
    assert accepted == 0


@given(robots(massless=False, friction=False))
@settings(max_examples=60, deadline=None)
def test_random_legal_robots_have_no_errors(robot) -> None:
    assert doctor(robot, strict=True).errors == ()


@given(robots())
@settings(max_examples=60, deadline=None)
def test_holding_torque_is_the_gravity_term(robot) -> None:
    zero = np.zeros(robot.n)
    expected = inverse_dynamics(robot, zero, zero, zero)
    assert np.abs(holding_torque(robot) - expected).max() < ROUNDING * max(1.0, np.abs(expected).max())


def test_holding_torque_by_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from oracles import pinocchio_model

    rng = np.random.default_rng(3)
    for _ in range(10):
        robot = random_robot(rng, 6, base=True, gravity=True, payload=True, tool=True)
        model, data = pinocchio_model(robot)
        assert (
            np.abs(holding_torque(robot) - pin.computeGeneralizedGravity(model, data, np.zeros(6))).max()
            < ROUNDING * 100
        )


def test_holding_torque_is_a_sentence_with_its_sign() -> None:
    (found,) = doctor(planar([1.0], [2.0])).find("holding")
    assert found.value == {"joint1": pytest.approx(9.81)}
    assert "joint1 +9.81 N·m" in found.sentence
    (found,) = doctor(planar([1.0], [2.0], gravity=(0, 9.81, 0))).find("holding")
    assert "joint1 −9.81 N·m" in found.sentence


def test_puma_is_warned_about_and_refused_when_strict() -> None:
    puma = load_catalog("puma560")
    assert doctor(puma).ok
    assert {f.place for f in doctor(puma).find("inertia.triangle")} == {"link1", "link3"}
    strict = doctor(puma, strict=True)
    assert not strict.ok
    assert "principal moments" in strict.errors[0].sentence


@pytest.mark.parametrize(("changes", "severity", "code"), [
    ({"inertia": [-0.01, 0.04, 0.04, 0, 0, 0]}, "error", "inertia.negative"),
    ({"inertia": [0.01, 0.04, 0.04, 0.1, 0, 0]}, "error", "inertia.negative"),
    ({"inertia": [0.01, 0.02, 0.04, 0, 0, 0]}, "warning", "inertia.triangle"),
    ({"inertia": [1, 1, 1, 0, 0, 0]}, "warning", "placeholder.identity"),
    ({"mass": 0.0, "inertia": None}, "warning", "mass.zero"),
    ({"inertia": None}, "info", "inertia.point"),
    ({"mass": None, "com": None, "inertia": None}, "warning", "inertial.missing"),
    ({"com": (5.0, 0, 0)}, "warning", "com.far"),
    ({"com": (-200.0, 0, 0)}, "warning", "units.millimetres"),
    ({"inertia": [1e4, 4e4, 4e4, 0, 0, 0]}, "warning", "inertia.large"),
    ({"a": 400.0}, "warning", "units.millimetres"),
    ({"alpha": 90.0}, "warning", "units.degrees"),
    ({"theta": -45.0}, "warning", "units.degrees"),
    ({"limits": Limits(-170.0, 170.0)}, "warning", "units.degrees"),
    ({"limits": Limits(-1.0, 1.0, velocity=180.0)}, "warning", "units.degrees"),
    ({"limits": Limits(1.0, 1.0)}, "warning", "limits.empty"),
    ({"limits": Limits(lower=1.0)}, "warning", "limits.one-sided"),
    ({"limits": Limits(-1.0, 1.0, velocity=0.0)}, "warning", "limits.velocity"),
    ({"limits": Limits(-1.0, 1.0, effort=0.0)}, "warning", "limits.effort"),
    ({"limits": None}, "info", "limits.missing"),
    ({"limits": None, "joint": "prismatic"}, "warning", "limits.missing"),
])  # fmt: skip
def test_each_fault_is_named(changes, severity: str, code: str) -> None:
    changes = {k: v for k, v in changes.items() if v is not None} | {k: d for k, d in (
        ("mass", 0.0), ("com", (0, 0, 0)), ("inertia", [0] * 6), ("limits", Limits())) if k in changes and changes[k] is None}  # fmt: skip
    robot = arm(**changes)
    if code == "inertial.missing":
        robot = robot.replace(links=tuple(replace(l, described=i != 1) for i, l in enumerate(robot.links)))
    assert code in codes(robot, severity)
    assert code not in codes(arm())


def test_faults_that_a_reader_would_refuse() -> None:
    robot = arm()
    negative = robot.replace(links=(replace(robot.links[0], mass=-1.0), *robot.links[1:]))
    assert "mass.negative" in codes(negative, "error")
    reversed_ = robot.replace(joints=(replace(robot.joints[0], limits=Limits(1.0, -1.0)), *robot.joints[1:]))
    assert "limits.reversed" in codes(reversed_, "error")


def test_same_mass_everywhere() -> None:
    rows = [{"a": 0.2 + 0.1 * i, "mass": 1.0, "com": (-0.1, 0, 0)} for i in range(3)]
    same = from_dh(rows, "standard")
    assert "placeholder.mass" in codes(same, "info")
    rows[1]["com"] = (-0.15, 0, 0)
    assert "placeholder.mass" in codes(from_dh(rows, "standard"), "warning")


def test_a_joint_that_moves_nothing() -> None:
    rows = [{"a": 0.4, "mass": 1.0, "com": (-0.2, 0, 0)}, {"a": 0.2}]
    assert "joint.idle" in codes(from_dh(rows, "standard"), "error")
    rows[1]["rotor_inertia"] = 1e-4
    assert "joint.idle" not in codes(from_dh(rows, "standard"))
    kinematic = from_dh([{"a": 0.4}, {"a": 0.2}], "standard")
    assert doctor(kinematic).ok
    assert "inertial.none" in codes(kinematic, "warning")


def test_too_weak_to_hold_itself() -> None:
    robot = planar([1.0], [2.0])
    weak = robot.replace(joints=(replace(robot.joints[0], limits=Limits(effort=5.0)),))
    assert "holding.weak" in codes(weak, "warning")


@pytest.mark.parametrize(("gravity", "severity", "code"), [
    ((0, 0, 9.81), "warning", "gravity.up"), ((0, 0, -9810.0), "warning", "units.millimetres"), ((0, 0, 0), "info", "gravity.none"),
    ((0, 0, -1.62), "info", "gravity.size"),
])  # fmt: skip
def test_gravity(gravity, severity: str, code: str) -> None:
    assert code in codes(arm().replace(gravity=gravity), severity)


def test_dh_convention() -> None:
    assert doctor(arm()).find("dh.form")[0].value == "standard"
    assert doctor(load_catalog("panda")).find("dh.form")[0].value == "modified"
    assert doctor(load_catalog("iiwa14")).find("dh.form")[0].value is None
    turned = [
        {"a": 0.4, "alpha": 0.3 * i, "d": 0.1, "theta": 0.2, "mass": 1.0 + i, "com": (0.2, 0, 0)} for i in range(3)
    ]
    assert doctor(from_dh(turned, "modified")).find("dh.form")[0].value == "modified"
    assert "dh.com" not in codes(from_dh(turned, "modified"))
    assert "dh.com" in codes(from_dh(turned, "standard"), "warning")  # centres measured from the joint


def test_symbols_are_reported_and_the_rest_is_checked() -> None:
    robot = from_dh(
        [{"a": "a1", "mass": "m1", "inertia": [0.01, 0.02, 0.04, 0, 0, 0]}, {"a": 1.0, "mass": 1.0}], "standard"
    )
    diagnosis = doctor(robot)
    assert diagnosis.find("symbolic")[0].value == ("a1", "m1")
    assert diagnosis.find("inertia.triangle")
    assert diagnosis.find("holding") == ()


def test_mass_and_reach() -> None:
    diagnosis = doctor(arm())
    assert diagnosis.find("mass.total")[0].value == 6.0
    assert diagnosis.find("reach")[0].value == pytest.approx(1.2)


@given(robots(prismatic=False, tree=False))
@settings(max_examples=30, deadline=None)
def test_nothing_lies_beyond_the_reach(robot) -> None:
    (found,) = doctor(robot).find("reach")
    rng = np.random.default_rng(5)
    first = (robot.base @ robot.joints[0].placement).p
    for _ in range(5):
        tip = position(robot, rng.uniform(-math.pi, math.pi, robot.n))
        assert np.linalg.norm(tip - first) <= found.value * (1 + 1e-12)


def test_the_report_is_plain_text_and_json() -> None:
    diagnosis = doctor(load_catalog("puma560"))
    data = json.loads(json.dumps(diagnosis.to_dict()))
    assert data["robot"] == "puma560"
    assert data["ok"] is True
    assert data["warnings"] == 3
    assert [f["severity"] for f in data["findings"]] == sorted((f["severity"] for f in data["findings"]),
                                                               key=["error", "warning", "info"].index)  # fmt: skip
    assert diagnosis.text().endswith("puma560: no errors, 3 warnings.")
    assert str(diagnosis) == diagnosis.text()


def test_every_rule_survives_a_robot_without_joints() -> None:
    from manipula.robot.build import LinkDraft, build_robot

    stump = build_robot("stump", [LinkDraft("base", 1.0)], [])
    for rule in RULES:
        list(rule(stump))

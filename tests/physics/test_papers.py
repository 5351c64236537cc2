"""The arms of five published papers, at states computed by independent programs and stored in ``tests/data``.

The judges behind the data: Lagrange's equations by automatic differentiation, Pinocchio and the corrected formulas of the
papers; each file states how well they agreed. Tolerances follow from that agreement.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.physics import articulated, composite
from manipula.physics.composite import mass_matrix
from manipula.physics.coriolis import coriolis_matrix
from manipula.physics.kinematics import jacobian, jacobian_rate, pose, position
from manipula.physics.lagrange_euler import lagrange_euler
from manipula.physics.mechanism import mechanism_of, regrouped
from manipula.physics.newton_euler import bias, gravity, inverse_dynamics
from manipula.physics.planar import planar_arm, planar_model
from manipula.physics.reactions import normal_forces
from manipula.robot.robot import Robot

DATA = Path(__file__).parent.parent / "data"
PLANAR, SCARA, GPME = 1e-11, 1e-11, 1e-11  # the independent programs agree to 2e-13, 1e-14, 3e-14
ARORA = 1e-10  # entries up to 1600, agreement 5e-13
PUBLISHED = 5e-5  # the paper prints four decimals
TWO_R = 1e-12  # agreement 7e-15


def load(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def near(value: Any, reference: Any, tolerance: float) -> bool:
    return bool(np.max(np.abs(np.asarray(value, float) - np.asarray(reference, float))) <= tolerance)


# ------------------------------------------------------------------------------- Žlajpah: n-R planar arms


@pytest.mark.parametrize("case", load("planar_nR")["cases"], ids=lambda c: f"{c['n']}R{'-payload' if c['ml'] else ''}")
def test_planar_arms(case: dict[str, Any]) -> None:
    robot = planar(case["L"], case["m"], case["Lc"], case["I"], payload=case["ml"], damping=np.diag(case["B"]))
    q, qd, qdd = (np.array(case[k]) for k in ("q", "qd", "qdd"))
    assert near(position(robot, q), [*case["x"], 0.0], PLANAR)
    assert near(jacobian(robot, q)[:2], case["J"], PLANAR)
    assert near(jacobian_rate(robot, q, qd)[:2], case["Jd"], PLANAR)
    assert near(mass_matrix(robot, q), case["H"], PLANAR)
    assert near(bias(robot, q, qd), case["h"], PLANAR)
    assert near(coriolis_matrix(robot, q, qd) @ qd, case["h"], PLANAR)
    assert near(gravity(robot, q), case["g"], PLANAR)
    tau = inverse_dynamics(robot, q, qd, qdd)
    assert near(tau, case["tau_without_B"], PLANAR)
    damped = tau + [joint.friction.torque(v) for joint, v in zip(robot.joints, qd) if joint.friction is not None]
    assert near(damped, case["tau_with_B"], PLANAR)


@pytest.mark.parametrize("case", load("planar_nR")["cases"], ids=lambda c: f"{c['n']}R{'-payload' if c['ml'] else ''}")
def test_planar_recursions(case: dict[str, Any]) -> None:
    """The running sums of ``physics.planar`` give the same complete model."""
    arm = planar_arm(planar(case["L"], case["m"], case["Lc"], case["I"], payload=case["ml"]))
    found = planar_model(arm, np.array(case["q"]), np.array(case["qd"]))
    for value, key in zip(found, ("x", "J", "Jd", "H", "h", "g")):
        assert near(value, case[key], PLANAR), key


# ------------------------------------------------------------------------------- Arora: 5R of uniform rods


def arora() -> Robot:
    p = load("arora5")["parameters"]
    return planar(p["a"], p["m"], name="arora-5r")


def test_arora_as_published() -> None:
    data = load("arora5")
    q = np.array(data["parameters"]["q"])
    assert near(pose(arora(), q), data["published"]["T05"], PUBLISHED)
    assert near(mass_matrix(arora(), q), data["published"]["M"], PUBLISHED)


def test_arora_unrounded() -> None:
    data = load("arora5")
    expected = data["expected"]
    robot, q, qd = arora(), np.array(data["parameters"]["q"]), np.array(data["parameters"]["qd"])
    assert near(pose(robot, q), expected["T05"], ARORA)
    assert near(mass_matrix(robot, q), expected["M"], ARORA)
    assert near(bias(robot, q, qd), expected["h"], ARORA)
    assert near(bias(robot, q, qd * 60.0), expected["h_if_1_deg_per_s"], ARORA)
    assert near(gravity(robot, q), expected["g_gravity_minus_y"], ARORA)
    assert near(gravity(robot.replace(gravity=(0.0, 0.0, -9.81)), q), expected["g_gravity_minus_z"], ARORA)


@pytest.mark.parametrize("k", range(6))
def test_arora_at_random_states(k: int) -> None:
    state = load("arora5")["random_states"][k]
    robot = arora()
    q, qd, qdd = (np.array(state[key]) for key in ("q", "qd", "qdd"))
    assert near(pose(robot, q), state["T05"], ARORA)
    assert near(mass_matrix(robot, q), state["M"], ARORA)
    assert near(bias(robot, q, qd), state["h"], ARORA)
    assert near(gravity(robot, q), state["g_gravity_minus_y"], ARORA)
    assert near(inverse_dynamics(robot, q, qd, qdd), state["tau"], ARORA)
    traces = lagrange_euler(robot, q)  # the paper's own route, with its errata corrected
    assert near(traces.M, state["M"], ARORA)
    assert near(traces.bias(qd), state["h"], ARORA)
    assert near(traces.g, state["g_gravity_minus_y"], ARORA)


# ------------------------------------------------------------------------------- Khang & Trung: SCARA


def scara() -> Robot:
    p = load("scara")["meta"]["parameters"]
    rows = [
        {"a": a, "alpha": math.pi if i == 2 else 0.0, "d": d, "mass": m, "com": (l - a, 0.0, 0.0), "inertia": [0.0, 0.0, I, 0.0, 0.0, 0.0]}
        for i, (a, d, m, l, I) in enumerate(zip(p["a"], (p["d1"], p["d2"], 0.0), p["m"], p["l"], p["Iz"]))
    ]  # fmt: skip
    last = {
        "joint": "prismatic",
        "mass": p["m"][3],
        "com": (0.0, 0.0, -p["l"][3]),
        "inertia": [0, 0, p["Iz"][3], 0, 0, 0],
    }
    return from_dh([*rows, last], "standard", gravity=(0.0, 0.0, -p["g"]), name="scara-khang")


@pytest.mark.parametrize("k", range(8))
def test_scara_at_random_states(k: int) -> None:
    state = load("scara")["random_states"][k]
    robot = scara()
    q, qd, qdd = (np.array(state[key]) for key in ("q", "qd", "qdd"))
    assert near(mass_matrix(robot, q), state["M"], SCARA)
    assert near(bias(robot, q, qd), state["h"], SCARA)
    assert near(gravity(robot, q), state["g"], SCARA)
    assert near(inverse_dynamics(robot, q, qd, qdd), state["tau"], SCARA)
    assert near(pose(robot, q), state["T04"], SCARA)


@pytest.mark.parametrize("branch", ["elbow_q2_positive", "elbow_q2_negative"])
def test_scara_along_its_trajectory(branch: str) -> None:
    robot = scara()
    for sample in load("scara")["trajectory"][branch]:
        q, qd, qdd = (np.array(sample[key]) for key in ("q", "qd", "qdd"))
        assert near(inverse_dynamics(robot, q, qd, qdd), sample["tau"], SCARA)


@pytest.mark.parametrize("k", range(8))
def test_scara_velocity_terms_in_the_corrected_closed_form(k: int) -> None:
    """h of the paper with its five misprints corrected: b = m3 l3 + m4 a3, e = m2 l2 + a2 (m3 + m4)."""
    data = load("scara")
    p = data["meta"]["parameters"]
    (a1, a2, a3), (_, m2, m3, m4), (_, l2, l3, _) = p["a"], p["m"], p["l"]
    q, qd = (np.array(data["random_states"][k][key]) for key in ("q", "qd"))
    u1, u2, u3, _ = qd
    s2, s3, s23 = math.sin(q[1]), math.sin(q[2]), math.sin(q[1] + q[2])
    b, e = m3 * l3 + m4 * a3, m2 * l2 + a2 * (m3 + m4)
    h1 = (
        -a1 * b * s23 * (2 * u1 * u2 + 2 * u1 * u3 + 2 * u2 * u3 + u2**2 + u3**2)
        - a2 * b * s3 * (2 * u1 * u3 + 2 * u2 * u3 + u3**2)
        - a1 * e * s2 * (2 * u1 * u2 + u2**2)
    )
    h2 = -a2 * b * s3 * (u3**2 + 2 * u2 * u3 + 2 * u1 * u3) + (a1 * b * s23 + a1 * e * s2) * u1**2
    h3 = a2 * b * s3 * (u1 + u2) ** 2 + a1 * b * s23 * u1**2
    assert near(bias(scara(), q, qd), [h1, h2, h3, 0.0], SCARA)


# ------------------------------------------------------------------------------- Abdelsatar: 2R, and R-P


@pytest.mark.parametrize("k", range(8))
def test_two_r(k: int) -> None:
    case = load("twoR")["cases"][k]
    robot = planar(case["a"], case["m"], gravity=(0.0, -case["gc"], 0.0))
    q, qd, qdd = (np.array(case[key]) for key in ("q", "qd", "qdd"))
    assert near(mass_matrix(robot, q), case["M"], TWO_R)
    assert near(bias(robot, q, qd), case["V"], TWO_R)
    assert near(gravity(robot, q), case["G"], TWO_R)
    assert near(inverse_dynamics(robot, q, qd, qdd), case["tau"], TWO_R)


def test_two_r_in_symbols() -> None:
    """Torques of the arm with every constant a symbol, less those printed in the paper, vanish."""
    import sympy

    data = load("twoR")
    a1, a2, m1, m2, gc = sympy.symbols("a1 a2 m1 m2 gc")
    robot = planar([a1, a2], [m1, m2], gravity=(0, -gc, 0))
    q, qd, qdd = (np.array(sympy.symbols(f"th1{end} th2{end}")) for end in ("", "d", "dd"))
    tau = inverse_dynamics(robot, q, qd, qdd)
    for found, printed in zip(tau, (data["tau1"], data["tau2"])):
        difference = sympy.nsimplify(sympy.expand(found), rational=True) - sympy.parse_expr(printed)
        assert sympy.simplify(sympy.expand_trig(sympy.expand(difference))) == 0


def test_turning_and_sliding_example() -> None:
    example = load("twoR")["extra_RP_example"]["numeric"]
    v = example["values"]
    rows = [
        {"alpha": math.pi / 2, "mass": v["m1"], "com": (0, 0, 0), "inertia": [0, v["J1"], 0, 0, 0, 0]},
        {"joint": "prismatic", "mass": v["m2"], "com": (0, 0, 0), "inertia": [0, v["J2"], 0, 0, 0, 0]},
    ]
    robot = from_dh(rows, "standard", gravity=(0.0, -v["gc"], 0.0))
    q, qd, qdd = ([v[a], v[b]] for a, b in (("th1", "d2"), ("th1d", "d2d"), ("th1dd", "d2dd")))
    assert near(inverse_dynamics(robot, q, qd, qdd), example["tau"], TWO_R)


# ------------------------------------------------------------------------------- Jarzębowska et al.: R-R-R-P


def gpme_arm() -> Robot:
    p = load("gpme4")["parameters"]
    rows = [
        {"a": r["a"], "alpha": r["alpha"], "d": r["d"], "theta": r["theta"], "mass": r["m"], "com": r["com"], "inertia": r["I"],
         "joint": "revolute" if r["type"] == "R" else "prismatic"} for r in p["links"]
    ]  # fmt: skip
    tool = np.eye(4)
    tool[:3, 3] = p["r_E4"][:3]
    return from_dh(rows, "standard", tool=tool, name="gpme-4")


@pytest.mark.parametrize("k", range(6))
def test_programmed_arm_at_its_states(k: int) -> None:
    state = load("gpme4")["states"][k]
    robot = gpme_arm()
    q, qd, qdd = (np.array(state[key]) for key in ("q", "qd", "qdd"))
    assert near(position(robot, q), state["tip"], GPME)
    assert near(mass_matrix(robot, q), state["M"], GPME)
    assert near(bias(robot, q, qd), state["h_lhs_C_qd"], GPME)
    assert near(gravity(robot, q), state["g"], GPME)
    assert near(jacobian(robot, q)[:3], state["C"], GPME)
    assert near(jacobian_rate(robot, q, qd)[:3] @ qd, state["d"], GPME)
    assert near(normal_forces(robot, q, qd, qdd), state["normal_forces_RNEA_no_tip_force"], 10 * GPME)


# ------------------------------------------------------------------------------- all of them


@pytest.mark.parametrize("robot", [arora(), scara(), gpme_arm()], ids=lambda r: r.name)
def test_every_road_to_the_accelerations(robot: Robot) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
        tau = inverse_dynamics(robot, q, qd, qdd)
        for mechanism in (mechanism_of(robot), regrouped(mechanism_of(robot))):
            allowed = 1e-14 * np.linalg.cond(mass_matrix(robot, q)) * max(1.0, np.max(np.abs(tau)))
            assert near(composite.forward_dynamics(mechanism, q, qd, tau), qdd, allowed)
            assert near(articulated.forward_dynamics(mechanism, q, qd, tau), qdd, allowed)

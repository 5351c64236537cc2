"""The examples: every file reads, is written back equal, runs, and gives the published or recomputed numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.files.scenario_file import file_text, load_file, load_text

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    path for path in sorted((ROOT / "examples").glob("*.toml")) if "[study]" not in path.read_text(encoding="utf-8")
]
DATA = ROOT / "tests" / "data"
JOINTS = 1e-8  # of the references of the papers' examples, integrated by other programs at their own tolerance
LAW = 1e-9  # of the analytic error law of task-space computed torque
CLOSED_FORM = 1e-11  # where no integration is involved
ROUNDING = 1e-12


def data(name: str) -> dict:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def example(name: str):
    return load_file(ROOT / "examples" / f"{name}.toml")


def largest(result, samples, key: str) -> float:
    return max(np.abs(result.arrays[key][i] - s[key]).max() for i, s in enumerate(samples))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_is_written_back_equal(path):
    scenario = load_file(path)
    again = load_text(file_text(scenario))
    assert again == scenario
    assert hash(again) == hash(scenario)


@pytest.mark.parametrize("run", ["zero_initial_error", "with_initial_error"])
def test_line_of_five_joints(run):
    reference = data("planar5R_line")["runs"][run]
    scenario = example("planar5r_line")
    assert np.abs(np.array(scenario.q0) - data("planar5R_line")["runs"]["zero_initial_error"]["q0"]).max() < ROUNDING
    result = mp.simulate(scenario.replace(q0=reference["q0"], sample=0.1)).check()
    assert largest(result, reference["samples"], "q") < JOINTS
    assert largest(result, reference["samples"], "qd") < JOINTS
    assert largest(result, reference["samples"], "tau") < JOINTS
    law = (1 + 10 * result.t) * np.exp(-10 * result.t)  # kp = 100, kv = 20, starting at rest
    assert np.abs(result.error - law[:, None] * result.error[0]).max() < LAW
    assert np.abs(result.audit).max() < LAW


def test_pose_of_seven_joints():
    """Both parts of the error, 3 cm and 179°, by one law."""
    result = mp.simulate(example("panda_pose_tracking")).check()
    law = ((1 + 10 * result.t) * np.exp(-10 * result.t))[:, None]
    assert np.linalg.norm(result.arrays["orientation_error"][0]) > 3.12
    for e in (result.error, result.arrays["orientation_error"]):
        assert np.abs(e - law * e[0]).max() < LAW


def test_priorities_of_seven_joints():
    """The tip keeps its law and the joints their limits, whatever the posture asks for."""
    scenario = example("panda_priorities")
    result = mp.simulate(scenario.replace(verify=False))
    law = ((1 + 10 * result.t) * np.exp(-10 * result.t))[:, None]
    assert np.abs(result.error - law * result.error[0]).max() < LAW
    assert (result.arrays["task_bounds"] == 1.0).all()
    most = np.array([j.limits.velocity for j in scenario.robot.joints])
    assert (np.abs(result.qd) <= most + 1e-9).all()
    assert (np.abs(result.qd) > most - 1e-3).any()


def test_spline_of_four_joints():
    reference = data("planar4R_spline")
    T = reference["duration"]
    scenario = example("planar4r_spline")
    assert abs(scenario.duration - T) < ROUNDING
    result = mp.simulate(scenario.replace(step=T / 4000, sample=T / 40)).check()
    for key in ("q", "qd", "qdd"):
        assert largest(result, reference["samples"], key) < JOINTS
    speed = np.linalg.norm(mp.compile(scenario.robot).jacobian(result.q)[:, :2] @ result.qd[:, :, None], axis=(1, 2))
    assert np.abs(speed - 0.25).max() < ROUNDING
    assert np.abs(result.error).max() < JOINTS


def test_square_of_five_joints():
    reference = data("arora5_squares")["inward_ccw_1m_projected_start"]
    scenario = example("arora_square")
    result = mp.simulate(scenario.replace(sample=0.005)).check()
    assert np.abs(result.q[0] - reference["q_start"]).max() < ROUNDING
    assert np.abs(result.q[-1] - reference["q_end"]).max() < JOINTS
    assert (
        np.abs(np.abs(result.q).max(axis=0) - reference["max_abs_q"]).max() < 1e-6
    )  # between samples it may be larger
    for s in reference["samples"]:
        i = round(s["t"] / 0.005)
        assert np.abs(result.q[i] - s["q"]).max() < JOINTS
        if s["t"] % 15:  # at a corner rates have two values
            assert np.abs(result.qd[i] - s["qd"]).max() < JOINTS
            assert np.abs(result.tau[i] - s["tau_gravity_minus_y"]).max() < JOINTS * 1e3  # torques of 1 kN·m
    assert mp.feasibility(result, scenario.robot).feasible
    turned = np.degrees(result.q[-1] - result.q[0])
    assert np.abs(turned - [0.145, -0.933, 1.070, -0.033, 0.272]).max() < 5e-4  # not cyclic


def test_square_that_breaks_joint_limits():
    reference = data("arora5_squares")["centred_4m_projected_start_violates_limits"]
    points = [c[:2] for c in reference["corners"][:4]]
    path = mp.paths.polyline(points, closed=True)
    scenario = example("arora_square").replace(
        reference=mp.trajectory(path, mp.timing.constant_speed(reference["speed"])), step=1e-3
    )
    result = mp.simulate(scenario)
    assert np.abs(result.q[-1] - reference["q_end"]).max() < 1e-6
    verdict = mp.feasibility(result, scenario.robot)
    assert not verdict.feasible
    assert np.isinf(verdict.slow_down)


@pytest.mark.parametrize("branch", ["elbow_q2_positive", "elbow_q2_negative"])
def test_scara_circle(branch):
    samples = data("scara")["trajectory"][branch]
    scenario = example("scara_circle").replace(sample=0.1)
    for ik_solution in (0, 1):
        result = mp.simulate(scenario.replace(ik_solution=ik_solution)).check()
        if np.sign(result.q[0, 1]) == np.sign(samples[0]["q"][1]):
            break
    for key in ("q", "qd", "tau"):
        assert largest(result, samples, key) < CLOSED_FORM
    assert largest(result, samples, "qdd") < CLOSED_FORM * np.abs(result.qdd).max()
    assert np.abs(result.error).max() < CLOSED_FORM


def run_program(name: str, formulation: str = "gpme"):
    scenario = example(name)
    result = scenario.replace(formulation=formulation, verify=False).run().check()
    assert np.abs(result.residual).max() < ROUNDING
    assert np.abs(result.audit).max() < 1e-9
    velocity = (mp.compile(scenario.robot).jacobian(result.q)[:, :3] @ result.qd[:, :, None])[:, :, 0]
    return scenario, result, velocity


def test_tilted_circle():
    scenario, result, v = run_program("program_tilted_circle")
    p = scenario.parameters
    r = result.tip - np.array([p["cx"], p["cy"], p["cz"]])
    normal = np.array([np.sin(p["tilt"]), 0.0, np.cos(p["tilt"])])
    assert np.abs(np.linalg.norm(r, axis=1) - p["r"]).max() < ROUNDING
    assert np.abs(r @ normal).max() < ROUNDING
    speed = np.linalg.norm(v, axis=1)[result.t >= 1.0]
    assert np.abs(speed - p["r"] * p["rate"]).max() < ROUNDING


def test_the_elbow_moves_and_the_tip_stays():
    scenario, result, v = run_program("program_elbow")
    assert np.abs(v).max() < 1e-10
    elbow = result.point_motion(point=("panda_link4", (0.05, 0.02, 0.01)))
    wanted = scenario.parameters["h"] + scenario.parameters["rise"] * (1 - np.cos(np.pi * result.t)) / 2
    assert np.abs(elbow.position[:, 2] - wanted).max() < ROUNDING


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_line_with_constant_speed(formulation):
    scenario, result, v = run_program("program_line_speed", formulation)
    assert np.abs(np.linalg.norm(v, axis=1) - scenario.parameters["speed"]).max() < ROUNDING
    along = result.tip - result.tip[0]
    assert np.abs(np.cross(along, v[0])).max() < ROUNDING  # the tip stays on the line of its first velocity
    assert (
        np.abs(result.tau[:, 3] + 2.0 * 9.81).max() < ROUNDING
    )  # joint 4 holds its own 2 kg: its height does not change


def test_figure_eight():
    scenario, result, _ = run_program("program_figure_eight")
    p, t = scenario.parameters, result.t
    x = np.stack([0.45 + p["width"] * np.sin(p["rate"] * t), p["height"] * np.sin(2 * p["rate"] * t)], axis=1)
    assert np.abs(result.tip[:, :2] - x).max() < ROUNDING


def test_square_with_rounded_corners():
    scenario, result, _ = run_program("program_rounded_square")
    p = scenario.parameters
    x, y = (result.tip[:, :2] - [p["cx"], p["cy"]]).T / p["a"]
    assert np.abs(x**6 + y**6 - 1).max() < ROUNDING
    angle = np.unwrap(np.arctan2(y, x))
    assert angle[-1] - angle[0] > 2 * np.pi  # more than once around
    assert np.abs(result.pose[:, 1, 0] - np.sin(p["heading"])).max() < ROUNDING
    model = mp.compile(scenario.robot)  # every joint is programmed: the torques are those of inverse dynamics
    assert np.abs(result.tau - model.inverse_dynamics(result.q, result.qd, result.qdd)).max() < 1e-9


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
def test_seven_joints(formulation):
    scenario, result, v = run_program("program_seven_joints", formulation)
    assert np.abs(result.pose[:, 2, 2] + 1.0).max() < ROUNDING  # straight down
    assert np.abs(result.tip[:, 2] - 0.4).max() < ROUNDING
    speed = np.linalg.norm(v, axis=1)[result.t >= 1.0]
    assert np.abs(speed - scenario.parameters["r"] * scenario.parameters["rate"]).max() < ROUNDING


def test_prediction_stays_within_its_bounds():
    """Torques reach their bound and never pass it; every quadratic program was solved; the arm arrives."""
    scenario = example("predictive_within_bounds")
    result = mp.simulate(scenario).check()
    bound = np.array(scenario.controller.effort_limit)
    assert (np.abs(result.command) <= bound + 1e-9).all()
    assert (np.abs(result.command) > 0.999 * bound).any()
    assert (result.arrays["mpc_optimal"] == 1.0).all()
    assert np.abs(result.q[-1] - scenario.controller.goal).max() < 1e-4


def test_an_observed_push_is_the_push_through_a_filter():
    """ṙ = K_o (Jᵀw − r), integrated here along the recorded motion."""
    scenario = example("pushed_and_observed")
    result = mp.simulate(scenario.replace(sample=1e-3)).check()
    K, t = 40.0, result.t
    r = np.zeros(6)
    for k in range(len(t) - 1):  # exact for a push that is linear within a sample
        h, a, b = t[k + 1] - t[k], result.external[k], result.external[k + 1]
        decay = np.exp(-K * h)
        slope = (b - a) / h
        r = decay * r + (1 - decay) * (a - slope / K) + slope * h if t[k] >= 0.2 - 1e-9 else 0 * r
        assert (
            np.abs(result.arrays["observed_torque"][k + 1] - r).max() < 1e-4
        )  # what lines within a sample leave of a sine
    assert np.abs(result.q[-1] - scenario.controller.goal).max() < 3e-3
    assert np.abs(result.external).max() > 10.0


def test_a_carried_arm_keeps_the_limits_of_its_tip_in_the_world():
    result = mp.simulate(example("carried_by_a_ship")).check()
    assert result.feasible is True
    speed = np.linalg.norm(np.gradient(result.tip, result.t, axis=0), axis=1)[2:-2].max()
    (check,) = [c for c in result.feasibility.checks if c.quantity == "velocity" and not c.name]
    assert abs(check.worst - speed) < 1e-3
    assert np.abs(result.audit).max() < 1e-6

"""Programmed motions: two formulations, drift, order, friction, independent coordinates, and programs that cannot be."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import ops
from manipula.errors import DescriptionError, UnknownNameError
from manipula.simulation.files.scenario_file import load_file

ROOT = Path(__file__).parents[2]
RUNS = json.loads((ROOT / "tests" / "data" / "gpme4_runs.json").read_text(encoding="utf-8"))
FRICTIONLESS = 1e-8  # two other programs at the same step agree to 5e-14, a third to 2e-11
LUGRE = 1e-6  # |qd| has kinks where joints turn back: 2e-8 by step halving
STABILISED, DRIFT = 1e-12, 1e-11
ENERGY = 1e-9  # J


@pytest.fixture(scope="module")
def ellipse():
    return load_file(ROOT / "examples" / "programmed_ellipse.toml").replace(sample=0.1, verify=False)


def off(result, run: str, key: str) -> float:
    return max(np.abs(result.arrays[key][i] - s[key]).max() for i, s in enumerate(RUNS["runs"][run]))


@pytest.mark.parametrize(("formulation", "stabilisation"), [("gpme", "none"), ("multipliers", "projection")])
def test_paper_without_friction(ellipse, formulation, stabilisation):
    ellipse = ellipse.replace(independent=ellipse.independent if formulation == "gpme" else None)
    result = ellipse.replace(formulation=formulation, stabilisation=stabilisation).run(friction=False).check()
    for key in ("q", "qd", "tip"):
        assert off(result, "frictionless", key) < FRICTIONLESS
    assert np.abs(result.residual).max() < (DRIFT if stabilisation == "none" else STABILISED)
    assert np.abs(result.audit).max() < ENERGY
    braked = ellipse.replace(
        formulation=formulation, stabilisation=stabilisation, drives={**dict(ellipse.drives), 0: -20.0}
    )
    assert off(braked.run(friction=False), "frictionless_t1_minus20_literal_Q_sign", "q") < FRICTIONLESS


@pytest.mark.parametrize(("formulation", "stabilisation"), [("gpme", "projection"), ("multipliers", "none")])
def test_paper_with_lugre_friction(ellipse, formulation, stabilisation):
    ellipse = ellipse.replace(independent=ellipse.independent if formulation == "gpme" else None)
    run = ellipse.replace(formulation=formulation, stabilisation=stabilisation)
    result = run.run().check()
    for key in ("q", "qd", "tip", "friction"):
        assert off(result, "lugre_as_table_mus0.1_muk0.2", key) < LUGRE * (100 if key == "friction" else 1)
    assert np.abs(result.residual).max() < (DRIFT if stabilisation == "none" else STABILISED)
    assert np.abs(result.audit).max() < ENERGY
    swapped = [replace(law, mu_static=law.mu_kinetic, mu_kinetic=law.mu_static) for law in ellipse.friction]
    assert off(run.replace(friction=swapped).run(), "lugre_swapped_mus0.2_muk0.1", "q") < LUGRE


def test_friction_on_and_off_in_one_call(ellipse):
    both = ellipse.compare_friction()
    assert both.ok
    assert both.lost > 0.0
    assert both.difference()[-1, 0] == pytest.approx(19.483253 - 20.066847, abs=1e-5)  # friction slows link 1
    assert "psi1" in both.text()
    with pytest.raises(DescriptionError, match="friction"):
        ellipse.replace(friction=()).compare_friction()


def test_independent_coordinates_may_be_left_open(ellipse):
    given = ellipse.run(friction=False)
    chosen = ellipse.replace(independent=None).run(friction=False).check()
    assert np.abs(given.q - chosen.q).max() < FRICTIONLESS


def test_coordinates_are_split_anew_where_they_become_singular():
    """A frictionless pendulum bob on a circle: going around, x and y take turns in determining the motion."""
    robot = mp.load("planar-2r")
    motion = mp.programmed_motion(robot, ["qd1 = 2.0"], friction=())  # one constraint, two joints
    assert motion.run([0.3, 0.4], duration=0.5, step=1e-3, start="project").check().meta["splits"] == 0
    slide = mp.programmed_motion(robot, ["(x - 0.5)^2 + (y - 0.2)^2 = 0.09"], drives={0: 3.0}, friction=())
    by_parts = slide.run([0.3, 1.2], duration=3.0, step=5e-4, sample=0.01, start="project")
    whole = slide.run([0.3, 1.2], duration=3.0, step=5e-4, sample=0.01, start="project", formulation="multipliers")
    assert by_parts.ok
    assert by_parts.meta["splits"] > 0
    assert np.abs(by_parts.q - whole.q).max() < FRICTIONLESS


def test_halving_the_step_shows_order_four(ellipse):
    """Over half a second, from 2 ms to 1 ms to 0.5 ms; the flexible drive's stiffness is lowered so that 2 ms resolve it."""
    drives = {**dict(ellipse.drives), 2: mp.drives.Flexible(500.0, 0.0, motor="0.4*t^3")}
    runs = [
        ellipse.replace(duration=0.5, step=h, sample=0.1, drives=drives).run(friction=False) for h in (4e-3, 2e-3, 1e-3)
    ]
    first, second = (np.abs(a.q - b.q).max() for a, b in zip(runs, runs[1:]))
    assert np.log2(first / second) == pytest.approx(4.0, abs=0.1)


def test_other_parameters_use_the_same_machine_code(ellipse):
    from manipula.native.calling import kernel_cache

    ellipse.run()
    before = dict(kernel_cache.KERNELS.items())
    result = ellipse.with_parameters({"a": 0.45, "height": 0.12}).replace(start="project").run().check()
    assert dict(kernel_cache.KERNELS.items()) == before
    assert np.abs((result.tip[:, 0] / 0.45) ** 2 + (result.tip[:, 1] / 0.4) ** 2 - 1).max() < STABILISED
    assert np.abs(result.tip[:, 2] - 0.12).max() < STABILISED
    with pytest.raises(UnknownNameError, match="height"):
        ellipse.with_parameters({"hight": 0.1})


def test_baumgarte_stabilisation_pulls_back():
    """From a start that breaks the program by the tolerance allowed, e(t) = (1 + a t) exp(−a t) e(0)."""
    motion = mp.programmed_motion(mp.load("planar-2r"), ["x = 0.7"], friction=())
    start = motion.run([0.3, 1.2], duration=1e-3, step=1e-3, start="project").q[0]
    result = motion.run(start + np.array([5e-10, 0.0]), duration=0.2, step=1e-4, stabilisation="baumgarte", gain=40.0)
    e, t = result.residual[:, 0], result.t
    assert np.abs(e - e[0] * (1 + 40 * t) * np.exp(-40 * t)).max() < 1e-3 * abs(e[0])


def test_python_functions_and_levels_are_the_same_program():
    robot = mp.load("planar-3r")
    q0 = [1.4, -1.5, -0.4]
    formula = mp.programmed_motion(robot, ["x^2 + y^2 = 0.5", "vx*x + vy*y = 0", "yaw = -0.5"][::2], friction=())
    function = mp.programmed_motion(
        robot, [lambda v: v["x"] * v["x"] + v["y"] * v["y"] - 0.5, "yaw = -0.5"], friction=()
    )
    a, b = (m.run(q0, duration=0.2, step=1e-3, start="project").check() for m in (formula, function))
    assert np.abs(a.q - b.q).max() < STABILISED
    # the same demand one and two derivatives later, from a state that obeys it
    velocity = mp.programmed_motion(robot, ["x*vx + y*vy = 0", "wz = 0"], friction=())
    acceleration = mp.programmed_motion(robot, ["x*ax + y*ay + vx^2 + vy^2 = 0", "qdd1 + qdd2 + qdd3 = 0"], friction=())
    for motion in (velocity, acceleration):
        c = motion.run(a.q[0], a.qd[0], duration=0.2, step=1e-3).check()
        assert np.abs(a.q - c.q).max() < 1e-9  # nothing holds the position level: it drifts by the integration error


def test_untraceable_function_says_what_to_do():
    branching = lambda v: v["x"] - 0.5 if v["x"] > 0 else v["x"]
    with pytest.raises(mp.TracingError, match="where"):
        mp.programmed_motion(mp.load("planar-2r"), [branching], friction=()).run([0.3, 1.2], start="project")
    smooth = lambda v: ops.where(v["x"] > 0, v["x"] - 0.7, v["x"])
    mp.programmed_motion(mp.load("planar-2r"), [smooth], friction=()).run(
        [0.3, 1.2], duration=0.01, step=1e-3, start="project"
    ).check()


ARM = "planar-3r"  # reach 1.2 m
POSTURE = [1.4, -1.5, -0.4]


def attempt(constraints, duration=3.0, **options):
    motion = mp.programmed_motion(mp.load(ARM), constraints, friction=())
    return motion.run(POSTURE, duration=duration, step=1e-3, sample=0.01, **{"start": "project", **options})


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (["x = 1.3"], ["'x = 1.3'", "out of reach"]),
        (["x = 0.5", "x = 0.6"], ["'x = 0.5'", "'x = 0.6'", "contradict"]),
        (["x = 0.5", "vx = 0.1"], ["'x = 0.5'", "'vx = 0.1'", "contradict"]),
        (["x = 0.5", "y = 0.2", "x + y = 0.7"], ["'x + y = 0.7'", "are redundant"]),
        (["z = 0.2"], ["'z = 0.2'", "gradient is zero"]),
        (["sqrt(x - 5) = 1"], ["'sqrt(x - 5) = 1'", "no value"]),
        (["x = 0.5", "y = 0.2", "yaw = 0", "q1 = 1"], ["4 constraints", "3 joints"]),
    ],
)
def test_impossible_from_the_start(constraints, words):
    with pytest.raises(DescriptionError) as error:
        attempt(constraints)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("formulation", ["gpme", "multipliers"])
@pytest.mark.parametrize(
    ("constraints", "name", "between"),
    [
        (["x = 0.5 + 0.4*t", "y = 0.3"], "x = 0.5 + 0.4*t", (1.60, 1.66)),  # 1.1619 m is the end of reach at y = 0.3
        (
            ["(x - 0.6)^2 + (y - 0.3)^2 = (0.1 - 0.05*t)^2", "y = 0.3 + 0.08*t", "yaw = -0.5"],
            "y = 0.3 + 0.08*t",
            (0.7, 0.78),
        ),
    ],
    ids=["out of reach", "contradiction"],
)
def test_impossible_later_ends_with_the_constraint_and_the_time(constraints, name, between, formulation):
    result = attempt(constraints, formulation=formulation)
    assert result.status == "singular"
    assert f"'{name}'" in result.reason
    known = np.isfinite(result.q).all(axis=1)
    end = result.t[known][-1]
    assert between[0] < end < between[1]
    assert f"t = {end:.2g}"[:6] in result.reason
    assert np.abs(result.residual[known]).max() <= 1e-6  # what is recorded obeys the program
    for name_ in result.signals:
        assert not np.isfinite(result.arrays[name_][~known]).any()


def test_chosen_independent_joints_that_cannot_carry_the_program():
    motion = mp.programmed_motion(
        mp.load("jarzebowska-4"), ["(x/0.5)^2 + (y/0.4)^2 = 1", "z = 0.1"], independent=[1, 3], friction=()
    )
    result = motion.run(RUNS["q0"], duration=1.0, step=1e-3)
    assert result.status == "singular"
    assert "'psi2', 'z4'" in result.reason
    with pytest.raises(DescriptionError, match="leave 2 independent"):
        mp.programmed_motion(mp.load("jarzebowska-4"), ["x = 0.5", "z = 0.1"], independent=[1])


def test_start_may_be_refused():
    with pytest.raises(DescriptionError, match=r"breaks 'x = 0\.4'"):
        attempt(["x = 0.4"], start="refuse")


def test_too_large_a_step_is_told():
    heavy = [mp.friction.Viscous(50.0)] * 3
    motion = mp.programmed_motion(mp.load(ARM), ["x = 0.5"], friction=heavy)
    result = motion.run(POSTURE, duration=1.0, step=1e-2, start="project")
    assert result.status == "diverged"
    assert "smaller step" in result.reason

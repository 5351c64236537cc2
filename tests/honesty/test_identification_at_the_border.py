"""Clean data and absent friction put the estimate on its bounds; there it is found as elsewhere."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import manipula as mp

ROOT = Path(__file__).parents[2]

EXTRAS = ("viscous", "coulomb")
PUMA = {  # of docs/identification.md: the first link, without mass in the description, must carry the rest
    "masses": {"link2": (15.0, 20.0)},
    "centres": {"link2": ((-0.5, 0.0), (-0.1, 0.1), (0.0, 0.3))},
    "total_mass": (30.0, 45.0),
}
HEAVY = {"masses": {"link2": (1.1, 1.2)}, "total_mass": (0.8, 1.5)}  # parts of what the robot states


@functools.cache
def measured(name):
    """A robot without friction and rotor inertia, a motion, and its torques."""
    robot = mp.load(name)
    joints = tuple(replace(j, friction=None, rotor_inertia=0.0) for j in robot.joints)
    model = mp.compile(robot.replace(joints=joints))
    _, q, qd, qdd = mp.excitation(model, 10.0, 5, starts=4, iterations=2).sampled(80)
    return model, (q, qd, qdd), model.inverse_dynamics(q, qd, qdd)


def bounds_for(robot, kind):
    if kind == "none":
        return {}
    if robot.name == "puma560":
        return PUMA | {"prior_weight": 1e-2}  # the description says nothing of the mass of the first link
    second, total = robot.links[1], sum(float(link.mass) for link in robot.links)
    lo, hi = HEAVY["masses"]["link2"]
    return {
        "masses": {second.name: (lo * second.mass, hi * second.mass)},
        "total_mass": tuple(part * total for part in HEAVY["total_mass"]),
    }


@pytest.mark.parametrize("name", ["planar-2r", "puma560", "panda"])
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("extras", [EXTRAS, ()])
@pytest.mark.parametrize("kind", ["none", "bounds"])
def test_no_friction_is_found_as_no_friction(name, noise, extras, kind):
    model, motion, clean = measured(name)
    tau = clean + noise * np.random.default_rng(1).normal(size=clean.shape)
    bounds = bounds_for(model.robot, kind)
    found = mp.identify(model, *motion, tau, extras=extras, **bounds)
    assert np.all(found.is_physical)
    least = np.sum((found.residuals / found.sigma) ** 2)
    assert np.sum((found.physical_residuals / found.sigma) ** 2) < least + 0.5 * clean.size
    if noise == 0.0:
        size = np.max(np.abs(clean), axis=0)
        assert np.all(np.max(np.abs(found.physical_residuals), axis=0) < 1e-6 * size)
    for values in found.friction.values():
        assert np.all(values >= 0.0)
        assert np.max(values) < 1e-6 * np.max(np.abs(clean)) + 2.0 * noise
    masses = {link.name: float(link.mass) for link in found.robot.links}
    for link, (lo, hi) in bounds.get("masses", {}).items():
        assert lo <= masses[link] <= hi
    lo, hi = bounds.get("total_mass", (0.0, np.inf))
    assert lo <= sum(masses.values()) <= hi


def test_bounds_against_the_data_still_have_a_nearest_answer():
    model, motion, clean = measured("planar-2r")
    total = sum(float(link.mass) for link in model.robot.links)
    found = mp.identify(model, *motion, clean, total_mass=(0.2 * total, 0.5 * total))
    assert np.all(found.is_physical)
    assert sum(float(link.mass) for link in found.robot.links) == pytest.approx(0.5 * total, rel=1e-6)


@pytest.mark.parametrize("given", [{"weights": 1e-15}, {"prior_weight": 1e-4}, {"prior_weight": 1e4}])
def test_clean_data_with_unusual_weights(given):
    model, motion, clean = measured("puma560")
    found = mp.identify(model, *motion, clean, **given)
    assert np.all(np.abs(found.physical_residuals) < 1e-6 * np.max(np.abs(clean)))


def test_the_examples_of_the_documentation_run():
    text = (ROOT / "docs" / "identification.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:3]]  # the others belong to logs and poses
    assert len(blocks) == 2
    code = "\n".join(blocks).replace("print(", "str(")
    short = code.replace("velocity=1.5, acceleration=6.0)", "velocity=1.5, acceleration=6.0, starts=4, iterations=2)")
    assert short != code
    names: dict = {}
    exec(compile(short.replace("sampled(1000)", "sampled(200)"), "identification.md", "exec"), names)  # noqa: S102
    masses = [float(link.mass) for link in names["found"].robot.links]
    assert 15.0 <= masses[1] <= 20.0
    assert 30.0 <= sum(masses) <= 45.0

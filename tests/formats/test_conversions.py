"""From format to format and back, through files: the mechanics stay, whatever route is taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from manipula.cli.app import app
from manipula.errors import DescriptionError
from manipula.formats.catalog import catalog_names, load_catalog
from manipula.formats.dh import to_dh
from manipula.formats.load import load, save
from manipula.physics.kinematics import pose
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.robot import Robot
from strategies import random_robot, random_state

KEPT = 1e-12  # relative to the largest torque or coordinate: what a conversion may cost
ALL_ROUTES = {
    "URDF → TOML → URDF": ("urdf", "toml", "urdf"),
    "URDF → standard → modified → URDF": ("urdf", "standard", "modified", "urdf"),
    "MJCF → TOML → URDF → MJCF": ("xml", "toml", "urdf", "xml"),
}
UNFIT = {
    "cobra600": "moves and has no mass",
    "zlajpah-4r": "moves and has no mass",
    "puma560": "moves and has no mass",  # the table lists one moment of the first link, and nothing else
    "jarzebowska-4": "No body has the principal moments",
}  # what MuJoCo refuses is not written as MJCF
NUMERIC = [name for name in catalog_names() if not load_catalog(name).parameters]


def assert_same_mechanics(one: Robot, other: Robot, seed: int) -> None:
    state = random_state(np.random.default_rng(seed), one.n)
    index = [other.joint_names.index(name) for name in one.joint_names]
    there = np.empty((3, one.n))
    there[:, index] = state
    tau, found = inverse_dynamics(one, *state), inverse_dynamics(other, *there)[index]
    assert np.abs(found - tau).max() <= KEPT * max(1.0, np.abs(tau).max())
    if one.tip is not None:
        X = np.array(pose(one, state[0]), float)
        assert np.abs(np.array(pose(other, there[0]), float) - X).max() <= KEPT * max(1.0, np.abs(X).max())


def travel(robot: Robot, route: Sequence[str], folder: Path) -> Robot:
    """The robot after it was written and read in one format after the other."""
    for k, stop in enumerate(route):
        if stop in ("standard", "modified"):
            robot = to_dh(robot, stop).to_robot()  # pyright: ignore[reportArgumentType]
        else:
            path = folder / f"stop{k}.{stop}"
            path.unlink(missing_ok=True)
            save(robot, path)
            robot = load(path, tip=robot.tip)
    return robot


@pytest.mark.parametrize("route", ALL_ROUTES)
@pytest.mark.parametrize("name", NUMERIC)
def test_catalog_arms(name: str, route: str, tmp_path: Path) -> None:
    robot = load_catalog(name)
    coupled = bool(robot.followers) and "standard" in ALL_ROUTES[route]
    if coupled or (name in UNFIT and "xml" in ALL_ROUTES[route]):
        with pytest.raises(DescriptionError, match="coupled joint" if coupled else UNFIT[name]):
            travel(robot, ALL_ROUTES[route], tmp_path)
        return
    assert_same_mechanics(robot, travel(robot, ALL_ROUTES[route], tmp_path), seed=1)


@pytest.mark.parametrize("suffix", ["toml", "urdf", "xml", "txt"])
@pytest.mark.parametrize("name", catalog_names())
def test_nothing_is_lost_on_the_way(name: str, suffix: str, tmp_path: Path) -> None:
    """Tip, torques, limits, friction and drives come back from every format, or the format refuses what it has no place for."""
    robot = load_catalog(name)
    why = "free parameters" if robot.parameters and suffix != "toml" else ""
    if suffix == "txt":
        held = bool(robot.payload) or any(j.rotor_inertia for j in robot.joints)
        why = why or ("coupled joint" if robot.followers else "payload or rotor inertia" if held else "")
    if why or (suffix == "xml" and name in UNFIT):
        with pytest.raises(DescriptionError, match=why or UNFIT[name]):
            save(robot, tmp_path / f"arm.{suffix}")
        return
    save(robot, tmp_path / f"arm.{suffix}")
    again = load(tmp_path / f"arm.{suffix}", tip=robot.tip)
    if not robot.parameters:
        assert_same_mechanics(robot, again, seed=3)
    joints = {j.name: j for j in again.joints}
    for joint in robot.joints:
        found = joints[joint.name]
        assert (found.limits, found.friction, found.drive) == (joint.limits, joint.friction, joint.drive)
        assert found.armature == pytest.approx(joint.armature, rel=KEPT)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), tree=st.booleans(), rich=st.booleans(), route=st.sampled_from(list(ALL_ROUTES))
)  # fmt: skip
def test_random_legal_robots(seed: int, n: int, tree: bool, rich: bool, route: str, tmp_path: Path) -> None:
    chain_only = "standard" in ALL_ROUTES[route]
    features = dict.fromkeys(("limits", "drives", "friction", "base", "tool", "payload", "gravity"), rich)
    robot = random_robot(np.random.default_rng(seed), n, tree and not chain_only, **features)
    assert_same_mechanics(robot, travel(robot, ALL_ROUTES[route], tmp_path), seed)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("out.toml", ()),
        ("out.urdf", ()),
        ("out.xml", ()),
        ("out.toml", ("--dh", "standard")),
        ("out.toml", ("--dh", "modified")),
    ],
)
def test_the_command_keeps_the_mechanics(options: tuple[str, ...], target: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.urdf", tmp_path / target
    save(load_catalog("iiwa14"), source)
    done = CliRunner().invoke(app, ["convert", str(source), str(out), *options])
    assert done.exit_code == 0, done.stderr
    assert_same_mechanics(load_catalog("iiwa14"), load(out), seed=2)


def test_a_xacro_file_is_answered_with_the_command_that_expands_it(tmp_path: Path) -> None:
    for name in ("x.xacro", "arm.urdf.xacro", "ARM.URDF.XACRO"):
        with pytest.raises(DescriptionError, match=r"xacro=True.*expand it first: xacro FILE > arm.urdf"):
            load(tmp_path / name)

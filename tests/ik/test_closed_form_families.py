"""Every family of closed forms, on random members in three descriptions: no posture is lost, none is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from arm_families import DESCRIPTIONS, POSE, POSITION, distance, postures, robot_of
from manipula.ik.closed_form import find
from manipula.physics.kinematics import pose
from manipula.robot.robot import Robot

TARGETS = 700  # of each description: 2100 a family
REACHED = 1e-9  # m and rad, by forward kinematics
CLEARLY = 1e-7  # a deviation that is geometry and not rounding
SAME = 1e-5  # rad and m: postures near a fold of the map are found with half of the digits


def _forward(robot: Robot, q: np.ndarray) -> np.ndarray:
    from manipula import native

    kernel = native.compile_function(lambda q: pose(robot, q), {"q": (robot.n,)}, name="pose")
    return kernel.python(q)


def _member(make, rng: np.random.Generator, description: str):
    """A random member of a family; one that happens to be almost more special is drawn again."""
    for _ in range(4):
        robot = robot_of(make(rng), rng, description)
        form = find(robot)
        assert form is not None
        if form.exact:
            return robot, form
        assert form.deviation > CLEARLY
    raise AssertionError("four members in a row were near-matches")


def _check(make, kind: str) -> None:
    for k, description in enumerate(DESCRIPTIONS):
        rng = np.random.default_rng(40 + k)
        robot, form = _member(make, rng, description)
        assert form.kind == kind
        q = postures(robot, TARGETS, rng)
        T = _forward(robot, q)
        kernel = form._position_kernel if kind == "position" else form._pose_kernel  # interpreted: nothing to compile
        inputs = [T[:, :3, 3] if kind == "position" else T]
        if form.parameter is not None:
            inputs.append(np.array([form.parameter_of(row) for row in q]))
        found, count = kernel.python(*inputs)
        exists = np.isfinite(found[..., 0])
        np.testing.assert_array_equal(exists.sum(axis=1), count)
        nearest = distance(robot, np.where(np.isfinite(found), found, 99.0), q[:, None]).min(axis=1)
        assert np.count_nonzero(nearest > SAME) == 0, f"{np.count_nonzero(nearest > SAME)} postures lost"
        reached = _forward(robot, found[exists])
        wanted = np.broadcast_to(T[:, None], (*exists.shape, 4, 4))[exists]
        error = np.abs(reached - wanted)
        assert (error[:, :3, 3] if kind == "position" else error).max() < REACHED


@pytest.mark.parametrize("family", POSITION)
def test_arms_that_carry_a_point_lose_no_posture(family: str) -> None:
    _check(POSITION[family], "position")


@pytest.mark.parametrize("family", POSE)
def test_arms_that_carry_a_body_lose_no_posture(family: str) -> None:
    _check(POSE[family], "pose")

"""Objects of the Robotics Toolbox become the same robot; where the toolbox is installed it is the judge."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.algebra.pose import Pose, rotation_z, translation
from manipula.errors import DescriptionError
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.friction import Asymmetric, Coulomb, Viscous
from strategies import random_pose, random_state

SAME = 1e-12  # of the largest entry
EYE = np.eye(4)


def link(**fields: Any) -> SimpleNamespace:
    """What every link of the toolbox has."""
    usual = {"m": 0.0, "r": np.zeros(3), "I": np.zeros((3, 3)), "Jm": 0.0, "B": 0.0, "Tc": np.zeros(2), "G": 1.0, "qlim": None,
             "isflip": False, "name": ""}  # fmt: skip
    return SimpleNamespace(**{**usual, **fields})


def row(**fields: Any) -> SimpleNamespace:
    """A DHLink."""
    return link(**{"a": 0.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, "sigma": 0, "mdh": 0, "offset": 0.0, **fields})


def dh_robot(links: list[Any], **fields: Any) -> SimpleNamespace:
    usual = {"name": "arm", "links": links, "base": EYE, "tool": EYE, "gravity": np.array([0.0, 0.0, -9.81])}
    return SimpleNamespace(**{**usual, **fields})


def rows(mdh: int) -> list[Any]:
    body = {"m": 2.0, "r": np.array([-0.1, 0.02, 0.03]), "I": np.diag([0.1, 0.2, 0.25]), "mdh": mdh}
    return [
        row(a=0.3, alpha=np.pi / 2, d=0.4, offset=0.2, qlim=np.array([-1.0, 2.0]), Jm=1e-4, G=-50.0, B=1e-3, Tc=[0.3, -0.4], **body),
        row(sigma=1, theta=0.3, a=0.1, alpha=0.5, offset=0.05, B=0.2, **body),
        row(a=0.2, alpha=-0.7, d=0.1, isflip=True, **body),
    ]  # fmt: skip


@pytest.mark.parametrize("mdh", [0, 1])
def test_rows_in_both_conventions(mdh):
    """T(q) of each link is the product of elementary transforms of the textbook, with the toolbox's offset and flip."""
    rng = np.random.default_rng(mdh)
    base, tool = random_pose(rng), random_pose(rng)
    links = rows(mdh)
    robot = mp.from_rtb(dh_robot(links, base=base.matrix(), tool=tool.matrix()))
    q = rng.normal(size=3)
    X = base
    for at, l in zip(q, links):
        at = l.offset + (-at if l.isflip else at)
        theta, d = (l.theta, at) if l.sigma else (at, l.d)
        turn = rotation_z(theta) @ translation(0.0, 0.0, d)
        bend = translation(l.a, 0.0, 0.0) @ Pose.of(_about_x(l.alpha))
        X = X @ (bend @ turn if mdh else turn @ bend)
    np.testing.assert_allclose(np.array(poses(robot, q, ("tip",))[0], float), (X @ tool).matrix(), atol=SAME)
    first, second, _ = robot.joints
    assert (first.rotor_inertia, first.gear_ratio, first.limits.upper) == (1e-4, -50.0, 2.0)
    assert first.friction == Asymmetric(15.0, 20.0, 2.5, 2.5)  # |G| Tc, G² B
    assert second.friction == Viscous(0.2)


def _about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sign_of_gravity_is_that_of_the_toolboxs_own_load(sign):
    """Releases of the toolbox differ: what counts is how its own gravity load comes out."""
    right = mp.from_rtb(dh_robot(rows(0)))

    def load(q: np.ndarray) -> np.ndarray:
        return np.array(inverse_dynamics(right, q, np.zeros(3), np.zeros(3)), float)

    robot = mp.from_rtb(dh_robot(rows(0), gravity=np.array([0.0, 0.0, -9.81 * sign]), gravload=load))
    assert robot.gravity == (0.0, 0.0, -9.81)
    assert robot.notes == ()
    other = mp.from_rtb(dh_robot(rows(0), gravload=lambda q: 2.0 * load(q)))
    assert "other torques than this robot" in other.notes[0]


def et(axis: str) -> SimpleNamespace:
    return SimpleNamespace(axis=axis)


def test_trees_of_elementary_transforms():
    rng = np.random.default_rng(5)
    X1, X2, X3 = (random_pose(rng) for _ in range(3))
    body = {"m": 1.5, "r": np.array([0.1, 0.0, 0.2]), "I": np.diag([0.1, 0.2, 0.25])}
    a = link(name="a", parent=None, isjoint=True, isrevolute=True, jindex=0, Ts=X1.matrix(), v=et("Rz"), **body)
    b = link(
        name="b",
        parent=a,
        isjoint=True,
        isrevolute=False,
        jindex=1,
        Ts=X2.matrix(),
        v=et("tx"),
        isflip=True,
        Tc=[0.5, -0.5],
        **body,
    )
    hand = link(name="hand", parent=b, isjoint=False, isrevolute=False, jindex=None, Ts=X3.matrix(), v=None, **body)
    gripper = SimpleNamespace(name="claw")
    robot = mp.from_rtb(dh_robot([a, b, hand], ee_links=[hand], grippers=[gripper]))
    assert (robot.n, robot.tip, [j.kind for j in robot.joints]) == (2, "hand", ["revolute", "prismatic"])
    assert robot.joints[1].friction == Coulomb(0.5)
    assert "'claw' is an object of its own" in robot.notes[0]
    q = np.array([0.4, 0.3])
    truth = X1 @ rotation_z(0.4) @ X2 @ translation(-0.3, 0.0, 0.0) @ X3
    np.testing.assert_allclose(np.array(poses(robot, q, ("hand",))[0], float), truth.matrix(), atol=SAME)
    assert sum(x.mass for x in robot.links) == pytest.approx(4.5)


@pytest.mark.parametrize("thing", [None, 3, "panda", SimpleNamespace(links=[]), SimpleNamespace(links=[object()])])
def test_what_is_no_robot_is_refused(thing):
    with pytest.raises(DescriptionError, match="DHRobot or ERobot"):
        mp.from_rtb(thing)


def test_mixed_conventions_and_strange_axes_are_refused():
    with pytest.raises(DescriptionError, match="standard and some in modified"):
        mp.from_rtb(dh_robot([row(mdh=0), row(mdh=1)]))
    odd = link(name="a", parent=None, isjoint=True, isrevolute=True, jindex=0, Ts=None, v=et("SE3"))
    with pytest.raises(DescriptionError, match="joint axis 'SE3'"):
        mp.from_rtb(dh_robot([odd]))


@pytest.mark.parametrize("name", ["Puma560", "Stanford", "Panda", "TwoLink"])
def test_the_toolbox_itself_is_the_judge(name):
    toolbox: Any = pytest.importorskip("roboticstoolbox")
    theirs = getattr(toolbox.models.DH, name)()
    robot = mp.from_rtb(theirs)
    q, v, a = random_state(np.random.default_rng(1), robot.n)
    still = theirs.nofriction(coulomb=True, viscous=True)
    tau = np.ravel(still.rne(q, v, a))
    ours = np.array(inverse_dynamics(robot, q, v, a), float)
    assert np.abs(tau - ours).max() <= SAME * max(1.0, np.abs(tau).max())
    np.testing.assert_allclose(np.array(poses(robot, q, ("tip",))[0], float), np.array(theirs.fkine(q)), atol=SAME)

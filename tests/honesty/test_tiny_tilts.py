"""Joints that are almost straight: a tilt of 1e-9 rad is a tilt, and what is taken for a right angle is said."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import manipula as mp
from manipula.formats.catalog import catalog_names

pin = pytest.importorskip("pinocchio")

URDF = """<robot name="tilted">
<link name="base"/>
{links}
</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="{m}"/>
<inertia ixx="0.31" iyy="0.22" izz="0.13" ixy="0.02" ixz="-0.03" iyz="0.04"/></inertial></link>
<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/><axis xyz="{axis}"/>
<origin xyz="0.3 0.1 {z}" rpy="{rpy}"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>"""


def arm(rpys, kinds="RRR", axes=("0 0 1",) * 9, parents=("base", "l1", "l2")):
    links = []
    for k, (rpy, kind) in enumerate(zip(rpys, kinds)):
        links.append(
            LINK.format(k=k + 1, m=1.0 + k, parent=parents[k], z=0.1 * k, axis=axes[k],
                        kind="revolute" if kind == "R" else "prismatic", rpy=" ".join(map(repr, rpy)))
        )  # fmt: skip
    return URDF.format(links="\n".join(links))


def states(n, count=4):
    rng = np.random.default_rng(5)
    return rng.uniform(-1.5, 1.5, (count, 3, n))


class Interpreted:
    """The functions of a model without machine code, which would take longer to make than these tests do."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        return self.model.kernel(name).python


def agrees(text, tolerance=2e-14):
    """M against the columns of inverse dynamics and against Pinocchio, and what is made from M."""
    robot = mp.from_urdf(text)
    model, reference = Interpreted(mp.compile(robot)), pin.buildModelFromXML(text)
    data = reference.createData()
    for q, qd, qdd in states(robot.n):
        M = model.mass_matrix(q)
        expected = pin.crba(reference, data, q)
        expected = np.triu(expected) + np.triu(expected, 1).T
        size = np.abs(expected).max()
        assert np.abs(M - expected).max() <= tolerance * size
        rest = model.inverse_dynamics(q, qd, 0 * q)
        columns = np.array([model.inverse_dynamics(q, qd, e) - rest for e in np.eye(robot.n)]).T
        assert np.abs(M - columns).max() <= 10 * tolerance * size
        tau = pin.rnea(reference, data, q, qd, qdd)
        assert np.abs(M @ qdd + model.nonlinear_effects(q, qd) - tau).max() <= 10 * tolerance * np.abs(tau).max()
        assert np.abs(model.kinetic_energy(q, qd) - 0.5 * qd @ expected @ qd) <= 10 * tolerance * size
        derived = model.inverse_dynamics_derivatives(q, qd, qdd)[2]
        assert np.abs(derived - expected).max() <= tolerance * size
        found = model.forward_dynamics(q, qd, tau)
        assert np.abs(found - qdd).max() <= 1e-11 * max(1.0, np.abs(qdd).max())


@pytest.mark.parametrize("kinds", ["RRR", "RPR", "PRP"])
@pytest.mark.parametrize("tilt", [1e-13, 1e-9, 3e-8, 1e-6])
def test_a_tilted_joint_about_each_axis(kinds, tilt):
    for axis in range(3):
        rpys = [[0.0, 0.0, 0.0] for _ in kinds]
        for rpy in rpys[1:]:
            rpy[axis] = tilt
        agrees(arm(rpys, kinds))


@pytest.mark.parametrize("kinds", ["RRR", "RRP", "RPP", "PRR"])
@pytest.mark.parametrize("tilt", [1e-9, 3e-8, 1e-6])
def test_a_tilted_second_branch(kinds, tilt):
    """The x axis of a link is chosen for its first child, so that another child stands anyhow."""
    for axis in range(3):
        rpys = [[0.0, 0.0, 0.0] for _ in kinds]
        rpys[2][axis] = tilt
        agrees(arm(rpys, kinds, parents=("base", "l1", "l1")))


def test_tilts_about_several_axes_beside_right_angles():
    agrees(arm([(1e-9, 2e-9, 0.0), (math.pi / 2, 3e-9, 0.0), (1e-9, math.pi / 2, 1e-8)], "RPR"))
    agrees(arm([(0, 0, 0), (1e-12, 1e-9, 0.3), (1e-3, 1e-9, 0)], "RRP", ("0 0 1", "1e-9 0 1", "0 1 1e-9")))


ROUNDED = arm([(0, 0, 0), (0, 1.570796327, 0), (1.570796327, 0, 0)], "RRR")  # as UR5's file writes it


@pytest.mark.parametrize("level", ["raw", "compact", "base"])
def test_equations_keep_the_numbers_of_the_file_when_asked(level):
    eq = mp.equations(mp.from_urdf(ROUNDED), level, right_angles="given")
    assert eq.snapped == {}
    reference = pin.buildModelFromXML(ROUNDED)
    tau = eq.compile("tau")
    for q, qd, qdd in states(3):
        expected = pin.rnea(reference, reference.createData(), q, qd, qdd)
        assert np.abs(tau(q, qd, qdd) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_what_is_snapped_is_said_with_its_size():
    eq = mp.equations(mp.from_urdf(ROUNDED))
    off = 1.570796327 - math.pi / 2
    assert set(eq.snapped) == {"joint 'j2'", "joint 'j3'"}
    assert all(abs(angle - off) < 1e-3 * off for angle in eq.snapped.values())
    for written in (eq.text("M"), eq.unicode("M"), eq.latex("M"), eq.html("M").replace("&#x27;", "'")):
        assert "joint 'j2'" in written
        assert f"{off:.2g} rad" in written
    assert json.loads(eq.json("M"))["snapped"] == eq.snapped
    straight = mp.equations(mp.from_urdf(ROUNDED.replace("1.570796327", repr(math.pi / 2))))
    assert straight.snapped == {}
    assert "right angles" not in straight.text("M")


def test_the_size_that_is_said_is_the_size_of_the_error():
    eq = mp.equations(mp.from_urdf(ROUNDED))
    reference = pin.buildModelFromXML(ROUNDED)
    tau = eq.compile("tau")
    for q, qd, qdd in states(3):
        expected = pin.rnea(reference, reference.createData(), q, qd, qdd)
        assert np.abs(tau(q, qd, qdd) - expected).max() <= 10 * sum(eq.snapped.values()) * np.abs(expected).max()


@pytest.mark.parametrize("tilt", [1e-11, 3e-10, 1e-8])
def test_equations_of_a_tiny_tilt(tilt):
    text = arm([(0, 0, 0), (0, tilt, 0), (tilt, 0, math.pi / 2 - tilt)], "RPR")
    eq = mp.equations(mp.from_urdf(text), "raw", right_angles="given")
    reference = pin.buildModelFromXML(text)
    tau = eq.compile("tau")
    for q, qd, qdd in states(3):
        expected = pin.rnea(reference, reference.createData(), q, qd, qdd)
        assert np.abs(tau(q, qd, qdd) - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("beyond", [1e-12, 3e-11, 1e-10])
@pytest.mark.parametrize("tangent", [1 / 3, 1 / 2, 1.0, -1 / 4])
def test_equations_beside_an_angle_whose_half_has_a_simple_tangent(tangent, beyond):
    """A fraction with few digits is far from its neighbours: what stands close to it is not it."""
    _derived_as_judged(arm([(0, 0, 0), (2 * math.atan(tangent) + beyond, 0, 0), (0.4, 0, 0)], "RRR"))


@pytest.mark.parametrize("tilt", [3e-7, 1e-6, 1e-5, 1e-4])
def test_equations_of_an_axis_that_is_tilted_two_ways(tilt):
    _derived_as_judged(arm([(0, 0, 0)] * 3, "RRR", ("0 0 1", f"0 1 {tilt}", f"{tilt} {-tilt} 1")))


@pytest.mark.parametrize("tilt", [1.1e-11, 1e-8, 1e-6, 1e-4])
def test_base_constants_are_regrouped_with_small_factors(tilt):
    """Regrouping by a tilt divides by it; the constant that keeps the digits stays."""
    quarter = math.pi / 2
    _derived_as_judged(arm([(0, 0, 0), (quarter, 0, -tilt), (0, quarter, -tilt)], "RPR"), "base")
    _derived_as_judged(arm([(0, 0, 0), (quarter, 1e-12, 0.3), (0.0, quarter, -tilt)], "RPR"), "base")
    _derived_as_judged(arm([(0, 0, 0), (tilt, 1e-3 * tilt, 0), (1e-4 * tilt, quarter, tilt)], "RPR"), "base")
    _derived_as_judged(
        arm([(tilt, 1e-14, 1e-12), (quarter + 1e-12, -quarter, tilt**2), (1e-10, 0, tilt)], "RPP"), "base"
    )
    _derived_as_judged(arm([(0.4, 0, 0), (quarter, math.pi, -quarter), (0.1 * tilt, tilt, 0.4)], "RPP"), "base")


def _derived_as_judged(text, level="raw"):
    tau = mp.equations(mp.from_urdf(text), level, right_angles="given").compile("tau")
    reference = pin.buildModelFromXML(text)
    for q, qd, qdd in states(3):
        expected = pin.rnea(reference, reference.createData(), q, qd, qdd)
        assert np.abs(tau(q, qd, qdd) - expected).max() <= 1e-14 * np.abs(expected).max()


def test_the_catalog_states_its_right_angles_exactly():
    for robot in map(mp.load, catalog_names()):
        assert mp.equations(robot, "recursive").snapped == {}

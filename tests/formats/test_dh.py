"""DH tables: both conventions against matrices multiplied out here, conversions that keep the mechanics, hostile rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

from manipula.algebra.pose import Pose, mat3, vec3
from manipula.errors import BudgetError, DescriptionError, ManipulaError, ShapeError, UnknownNameError, UnphysicalError
from manipula.formats.dh import to_dh
from manipula.formats.dh.rows import Convention, from_dh
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import pose
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.friction import Viscous
from manipula.robot.limits import Limits
from manipula.robot.link import Payload
from manipula.robot.robot import Robot
from strategies import random_body, random_pose, random_robot, random_state

ROUNDOFF = 1e-13  # products of up to 7 matrices of order one
ROUND_TRIP = 1e-12  # scaled; common normals of oblique axes may lie metres away, which costs a digit
NEARLY_PARALLEL = 0.05  # [rad] axes closer than this, but not parallel, have normals far away; they are left out here


# ------------------------------------------------------------------------------- rows to robot


def row_matrix(a: float, alpha: float, d: float, theta: float, convention: str) -> np.ndarray:
    """The 4×4 of the textbooks, entry by entry."""
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    if convention == "standard":
        return np.array(
            [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
        )
    return np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]])


def random_rows(rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
    rows = []
    for _ in range(n):
        mass, com, inertia = random_body(rng)
        a, d = rng.uniform(-0.5, 0.5, 2)
        alpha, theta = rng.uniform(-3, 3, 2)
        kind = "prismatic" if rng.random() < 0.35 else "revolute"
        rows.append(
            {
                "a": a,
                "alpha": alpha,
                "d": d,
                "theta": theta,
                "joint": kind,
                "mass": mass,
                "com": com,
                "inertia": inertia,
            }
        )
    return rows


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_every_row_frame_is_the_product_of_the_textbook_matrices(n: int, convention: Convention) -> None:
    rng = np.random.default_rng(n)
    rows = random_rows(rng, n)
    base, tool = random_pose(rng).matrix(), random_pose(rng).matrix()
    robot = from_dh(rows, convention, base=base, tool=tool)
    for _ in range(3):
        q = rng.uniform(-3, 3, n)
        T = base
        for i, row in enumerate(rows):
            turn, slide = (q[i], 0.0) if row["joint"] == "revolute" else (0.0, q[i])
            T = T @ row_matrix(row["a"], row["alpha"], row["d"] + slide, row["theta"] + turn, convention)
            assert np.allclose(pose(robot, q, f"link{i + 1}"), T, rtol=0, atol=ROUNDOFF)
        assert np.allclose(pose(robot, q), T @ tool, rtol=0, atol=ROUNDOFF)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_kinetic_energy_of_the_rows_own_bodies(convention: Convention) -> None:
    """½ q̇ᵀ M q̇ against masses moved by finite steps of the textbook matrices: com and inertia sit in the row's frame."""
    rng = np.random.default_rng(5)
    rows = random_rows(rng, 4)
    robot = from_dh(rows, convention)
    q, qd, _ = random_state(rng, 4)
    h = 1e-5

    def frames(t: float) -> list[np.ndarray]:
        T, found = np.eye(4), []
        for row, x, v in zip(rows, q, qd):
            turn, slide = (x + t * v, 0.0) if row["joint"] == "revolute" else (0.0, x + t * v)
            T = T @ row_matrix(row["a"], row["alpha"], row["d"] + slide, row["theta"] + turn, convention)
            found.append(T)
        return found

    energy = 0.0
    for row, before, now, after in zip(rows, frames(-h), frames(0.0), frames(h)):
        rate = (after - before) / (2 * h)
        W = rate[:3, :3] @ now[:3, :3].T
        w = now[:3, :3].T @ np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        v = rate[:3, :3] @ row["com"] + rate[:3, 3]
        energy += 0.5 * row["mass"] * v @ v + 0.5 * w @ row["inertia"] @ w
    step_error = 1e-8  # h² times third derivatives of order 10
    assert abs(0.5 * qd @ mass_matrix(robot, q) @ qd - energy) <= step_error * max(1.0, energy)


def test_inertia_as_six_entries_or_as_a_matrix() -> None:
    six = [0.1, 0.2, 0.25, 0.01, -0.02, 0.03]
    matrix = [[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.25]]
    row = {"a": 0.3, "mass": 1.0}
    assert from_dh([{**row, "inertia": six}], "standard") == from_dh([{**row, "inertia": matrix}], "standard")


def test_defaults_and_options_of_a_row() -> None:
    friction, limits = Viscous(0.3), Limits(-1.0, 2.0, velocity=3.0)
    full = {
        "a": 1.0,
        "name": "shoulder",
        "link": "upper",
        "limits": limits,
        "rotor_inertia": 1e-4,
        "gear_ratio": 100.0,
        "friction": friction,
    }
    robot = from_dh([full, {"joint": "prismatic", "limits": (0.0, 0.4)}], "standard", name="arm", payload=2.0)
    assert robot.joint_names == ("shoulder", "joint2")
    assert robot.links[0].name == "upper"
    assert robot.joints[0].armature == 1e-4 * 100.0**2
    assert (robot.joints[0].limits, robot.joints[0].friction) == (limits, friction)
    assert robot.joints[1].limits == Limits(0.0, 0.4)
    assert robot.payload == Payload(2.0)
    assert not robot.links[1].described  # no mass was stated and none is invented
    assert robot.links[1].mass == 0.0
    assert robot.gravity == (0.0, 0.0, -9.81)


def test_formulas_and_symbols_in_rows() -> None:
    robot = from_dh([{"a": "l/2", "alpha": "pi/2", "theta": "-pi/3", "mass": sympy.Symbol("m1")}], "standard")
    assert robot.parameters == ("l", "m1")
    numeric = robot.with_parameters(l=0.8, m1=3.0)
    assert numeric == from_dh([{"a": 0.4, "alpha": math.pi / 2, "theta": -math.pi / 3, "mass": 3.0}], "standard")


# ------------------------------------------------------------------------------- robot to rows and back


def oblique_chain(rng: np.random.Generator, n: int, **features: Any) -> Robot:
    """A random chain whose neighbouring axes are not nearly parallel."""
    while True:
        robot = random_robot(rng, n, prismatic=True, **features)
        axes, R = [], np.eye(3)
        for joint, link in zip(robot.joints, robot.links):
            R = R @ joint.placement.R
            axes.append(R @ np.array(joint.axis))
            R = R @ link.frame.R
        sines = [np.linalg.norm(np.cross(x, y)) for x, y in zip(axes, axes[1:])]
        if all(s > NEARLY_PARALLEL for s in sines):
            return robot


def tidy_chain(rng: np.random.Generator, n: int) -> Robot:
    """As on a drawing board: right angles and many zero offsets, so that axes are parallel, intersect or coincide."""
    links, joints = [LinkDraft("base", described=False)], []
    for i in range(n):
        signed = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
        R = signed * np.linalg.det(signed)
        p = rng.choice([0.0, 0.0, 0.3, -0.2], 3)
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        links.append(LinkDraft(f"link{i + 1}", *random_body(rng)))
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        joints.append(JointDraft(f"joint{i + 1}", kind, links[-2].name, links[-1].name, Pose.of(R, p), axis))
    return build_robot("tidy", links, joints, base=random_pose(rng), tool=random_pose(rng))


def same_mechanics(one: Robot, other: Robot, rng: np.random.Generator) -> None:
    for _ in range(2):
        q, qd, qdd = random_state(rng, one.n)
        tau = inverse_dynamics(one, q, qd, qdd)
        assert np.max(np.abs(inverse_dynamics(other, q, qd, qdd) - tau)) <= ROUND_TRIP * max(1.0, np.max(np.abs(tau)))
        X = pose(one, q)
        assert np.max(np.abs(pose(other, q) - X)) <= ROUND_TRIP * max(1.0, np.max(np.abs(X)))


@pytest.mark.parametrize("seed", range(25))
def test_any_chain_as_standard_and_then_as_modified_rows(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    n = 1 + seed % 7
    robot = (
        tidy_chain(rng, n)
        if seed % 2
        else oblique_chain(rng, n, oblique=True, base=True, tool=True, gravity=True, drives=True, payload=True)
    )
    standard = to_dh(robot, "standard").to_robot()
    same_mechanics(robot, standard, rng)
    modified = to_dh(standard, "modified").to_robot()
    same_mechanics(robot, modified, rng)
    same_mechanics(robot, to_dh(modified, "standard").to_robot(), rng)


def test_rows_base_and_tool_are_accepted_by_from_dh_as_they_are() -> None:
    rng = np.random.default_rng(200)
    robot = oblique_chain(rng, 5, base=True, tool=True)
    for convention in ("standard", "modified"):
        table = to_dh(robot, convention)
        same_mechanics(robot, from_dh(table.rows, convention, table.gravity, table.base, table.tool), rng)


def test_what_is_not_geometry_comes_along() -> None:
    rng = np.random.default_rng(201)
    robot = oblique_chain(rng, 4, limits=True, friction=True, drives=True, payload=True, tool=True, gravity=True)
    back = to_dh(robot, "modified").to_robot()
    assert back.name == robot.name
    assert back.joint_names == robot.joint_names
    assert [link.name for link in back.links] == [link.name for link in robot.links]
    for one, other in zip(robot.joints, back.joints):
        assert replace(other, placement=one.placement, axis=one.axis) == one
    assert (back.payload, back.gravity) == (robot.payload, robot.gravity)


def test_named_frames_stay_where_they_are() -> None:
    rng = np.random.default_rng(202)
    links = [LinkDraft("base_link", described=False), LinkDraft("base", described=False)]
    joints = [JointDraft("weld", "fixed", "base_link", "base", random_pose(rng))]  # as on Universal Robots' arms
    for i in range(3):
        links.append(LinkDraft(f"l{i}", *random_body(rng)))
        joints.append(
            JointDraft(
                f"j{i}", "revolute", f"l{i - 1}" if i else "base_link", f"l{i}", random_pose(rng), rng.normal(size=3)
            )
        )
    frames = [FrameDraft("camera", "l1", random_pose(rng)), FrameDraft("lamp", "base_link", random_pose(rng))]
    robot = build_robot("framed", links, joints, frames=frames, tip="l2", base=random_pose(rng))
    q, _, _ = random_state(rng, 3)
    for convention in ("standard", "modified"):
        back = to_dh(robot, convention).to_robot()
        for name in ("camera", "lamp", "base", "tip"):
            assert np.allclose(pose(back, q, name), pose(robot, q, name), rtol=0, atol=ROUND_TRIP), name


def test_a_known_arm_keeps_its_own_table() -> None:
    """Right angles and parallel axes, as on an elbow arm: the rows come back up to the freedom that DH leaves."""
    rows = [{"alpha": math.pi / 2, "d": 0.4}, {"a": 0.43}, {"a": 0.02, "alpha": -math.pi / 2, "d": 0.15},
            {"alpha": math.pi / 2, "d": 0.43}, {"alpha": -math.pi / 2}, {}]  # fmt: skip
    full = [{"a": 0.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, **row} for row in rows]
    table = to_dh(from_dh(full, "standard"), "standard")
    for given, found in zip(full, table.rows):
        assert abs(found["a"] - given["a"]) <= ROUNDOFF
        assert abs(abs(found["alpha"]) - abs(given["alpha"])) <= ROUNDOFF


def test_trees_symbols_and_tips_elsewhere_are_refused() -> None:
    rng = np.random.default_rng(203)
    tree = random_robot(rng, 3, tree=True)
    while tree.is_chain:
        tree = random_robot(rng, 3, tree=True)
    with pytest.raises(DescriptionError, match="not a serial chain"):
        to_dh(tree, "standard")
    with pytest.raises(DescriptionError, match=r"free parameters \(l\)"):
        to_dh(from_dh([{"a": "l"}], "standard"), "modified")
    chain = random_robot(rng, 3)
    with pytest.raises(DescriptionError, match="not on its last link 'link3'"):
        to_dh(chain.replace(tip="link2"), "standard")


# ------------------------------------------------------------------------------- hostile tables


@pytest.mark.parametrize("convention", ["Standard", "craig", "", None, 1])
def test_the_convention_is_never_guessed(convention: Any) -> None:
    with pytest.raises(UnknownNameError, match="standard, modified"):
        from_dh([{"a": 1.0}], convention)
    with pytest.raises(UnknownNameError, match="standard, modified"):
        to_dh(from_dh([{"a": 1.0}], "standard"), convention)


NOT_NUMBERS = [
    math.nan, math.inf, -math.inf, 1j, True, None, [1.0], {"x": 1}, b"1", object(), 10**400, np.array([1.0]),
    sympy.nan, sympy.zoo, sympy.I, "", "nan", "inf", "1e400", "1/0", "sqrt(-1)", "a b", "().__class__",
    "__import__('os')", "__import__('os').system('true')", "lambda: 1", "[1]", "x" * 10_000, "9" * 5000, "(" * 500,
]  # fmt: skip


@pytest.mark.parametrize("key", ["a", "alpha", "d", "theta", "mass", "rotor_inertia", "gear_ratio"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: repr(v)[:16])
def test_what_is_not_a_finite_number_is_refused_with_its_place(key: str, value: Any) -> None:
    for convention in ("standard", "modified"):
        with pytest.raises(DescriptionError, match=rf"^row 2\.{key}: "):
            from_dh([{}, {key: value}], convention)


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: repr(v)[:16])
def test_vectors_poses_and_payloads_are_checked_too(value: Any) -> None:
    for row in ({"com": [0.0, value, 0.0]}, {"inertia": [0.1, 0.1, 0.1, value, 0.0, 0.0]}, {"limits": [0.0, value]}):
        with pytest.raises(ManipulaError, match="row 1"):
            from_dh([row], "standard")
    if value is not None:
        with pytest.raises(ManipulaError, match="gravity"):
            from_dh([{}], "standard", gravity=[0.0, 0.0, value])
        with pytest.raises(ManipulaError, match="payload"):
            from_dh([{}], "standard", payload=value)


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"mas": 1.0}, UnknownNameError, r"row 1.*Did you mean 'mass'"),
        ({"Alpha": 1.0}, UnknownNameError, r"Did you mean 'alpha'"),
        ({"joint": "revolut"}, UnknownNameError, r"Did you mean 'revolute'"),
        ({"joint": ["revolute"]}, UnknownNameError, r"Known: revolute, prismatic"),
        ({"mass": -1.0}, UnphysicalError, r"at least 0, found -1"),
        ({"com": [1.0, 2.0]}, ShapeError, r"3 entries"),
        ({"inertia": [1.0, 2.0]}, DescriptionError, r"3×3, "),
        ({"inertia": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}, UnphysicalError, r"not symmetric"),
        ({"limits": {"lowr": 1.0}}, UnknownNameError, r"Did you mean 'lower'"),
        ({"limits": (2.0, 1.0)}, DescriptionError, r"reversed"),
        ({"limits": {"velocity": -1.0}}, UnphysicalError, r"at least 0"),
        ({"rotor_inertia": -1.0}, UnphysicalError, r"at least 0"),
        ({"friction": "viscous"}, DescriptionError, r"must be a FrictionLaw, found str"),
        ({"drive": 3.0}, DescriptionError, r"must be a Drive, found float"),
        ({"name": ""}, DescriptionError, r"not empty"),
        ({"name": 7}, DescriptionError, r"needs a name"),
        ({"link": "a\x1b[31m"}, DescriptionError, r"printable"),
        ({"link": "base"}, DescriptionError, r"Two links are named 'base'"),
        ({"name": "x" * 201}, DescriptionError, r"at most 200"),
    ],
)  # fmt: skip
def test_wrong_rows_say_what_is_wrong(row: dict[str, Any], error: type[ManipulaError], message: str) -> None:
    with pytest.raises(error, match=message):
        from_dh([row], "standard")


@pytest.mark.parametrize("rows", [None, 3, "row", b"row", {"a": 1.0}, [], [3], [[1, 2, 3, 4]], ["a"]])
def test_tables_that_are_no_tables(rows: Any) -> None:
    with pytest.raises(DescriptionError):
        from_dh(rows, "standard")


def test_poses_that_are_no_poses() -> None:
    row = [{"a": 1.0}]
    moved = np.eye(4)
    moved[:3, 3] = 1.0
    for wrong in (
        np.ones((4, 4)),
        2.0 * np.eye(4),
        np.diag([1.0, 1.0, -1.0, 1.0]),
        moved.T,
        np.eye(3),
        np.full((4, 4), math.nan),
    ):
        for place in ("base", "tool"):
            with pytest.raises(ManipulaError, match=r"last row of a pose|not a rotation|4×4 matrix|finite number"):
                from_dh(row, "standard", **{place: wrong})
    with pytest.raises(DescriptionError, match="row 1 to 1, or 0"):
        from_dh(row, "standard", frames=[("camera", -1, np.eye(4))])
    nan = Payload(math.nan, vec3((0, 0, 0)), mat3(np.zeros((3, 3))))
    with pytest.raises(DescriptionError, match="payload"):
        from_dh(row, "standard", payload=nan)


def test_more_rows_than_any_arm_has() -> None:
    with pytest.raises(BudgetError, match="2000"):
        from_dh([{"a": 1.0}] * 5001, "modified")


def test_moments_along_the_axes_are_enough_and_degrees_are_refused_with_the_right_word():
    row = {"a": 1.0, "mass": 1.0, "inertia": [0.1, 0.2, 0.25]}
    np.testing.assert_array_equal(from_dh([row], "standard").links[0].inertia, np.diag([0.1, 0.2, 0.25]))
    with pytest.raises(
        DescriptionError, match=r"row 1.alpha_deg: Angles of rows in Python are radians: alpha=math.radians\(…\)"
    ):
        from_dh([row | {"alpha_deg": 90}], "standard")

"""Robot is a value: it compares, hashes and travels; and what building one checks and merges."""

from __future__ import annotations

import copy
import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import sympy

from manipula.algebra.pose import IDENTITY, Pose, translation
from manipula.errors import BudgetError, DescriptionError, ManipulaError, ShapeError, UnknownNameError, UnphysicalError
from manipula.formats.dh import from_dh
from manipula.formats.planar import planar
from manipula.physics.composite import mass_matrix
from manipula.physics.kinematics import pose
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot.build import FrameDraft, JointDraft, LinkDraft, build_robot
from manipula.robot.limits import Limits
from manipula.robot.link import Payload
from strategies import random_body, random_pose, random_robot, random_state

ROUNDOFF = 1e-12  # scaled


def chain_drafts(n: int = 3, seed: int = 1) -> tuple[list[LinkDraft], list[JointDraft]]:
    rng = np.random.default_rng(seed)
    links, joints = [LinkDraft("base", described=False)], []
    for i in range(n):
        links.append(LinkDraft(f"l{i + 1}", *random_body(rng)))
        joints.append(
            JointDraft(f"j{i + 1}", "revolute", links[-2].name, links[-1].name, random_pose(rng), rng.normal(size=3))
        )
    return links, joints


# ------------------------------------------------------------------------------- a value


def test_equal_descriptions_are_equal_robots() -> None:
    one, two = (random_robot(np.random.default_rng(5), 4, drives=True, friction=True, limits=True) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one.digest == two.digest
    assert len({one, two, copy.deepcopy(one)}) == 1


@pytest.mark.parametrize(
    "change",
    [{"name": "other"}, {"gravity": (0, 0, -1.62)}, {"payload": 1.0}, {"tool": translation(0, 0, 0.1)},
     {"base": translation(1, 0, 0)}, {"tip": "link1"}],
    ids=lambda c: next(iter(c)),
)  # fmt: skip
def test_every_change_is_another_robot(change: dict[str, Any]) -> None:
    robot = random_robot(np.random.default_rng(6), 2)
    changed = robot.replace(**change)
    assert changed != robot
    assert changed.digest != robot.digest
    assert robot == random_robot(np.random.default_rng(6), 2)  # the original did not move


def test_a_robot_cannot_be_changed_in_place() -> None:
    robot = planar([1.0], [1.0])
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        robot.links[0].mass = 2.0  # pyright: ignore[reportAttributeAccessIssue]


def test_minus_zero_is_zero() -> None:
    one, two = from_dh([{"a": 1.0, "d": 0.0}], "standard"), from_dh([{"a": 1.0, "d": -0.0}], "standard")
    assert one == two
    assert one.digest == two.digest


def test_the_digest_sees_the_friction_law_and_every_joint() -> None:
    from manipula.robot.friction import Viscous

    rows: list[dict[str, Any]] = [{"a": 1.0}, {"a": 1.0}]
    seen = {from_dh(rows, "standard").digest}
    seen.add(from_dh([{**rows[0], "friction": Viscous(0.1)}, rows[1]], "standard").digest)
    seen.add(from_dh([rows[0], {**rows[1], "friction": Viscous(0.1)}], "standard").digest)
    seen.add(from_dh([rows[0], {**rows[1], "joint": "prismatic"}], "standard").digest)
    seen.add(from_dh([rows[0], {**rows[1], "name": "other"}], "standard").digest)
    assert len(seen) == 5


def test_replace_names_the_nearest_field() -> None:
    robot = planar([1.0], [1.0])
    with pytest.raises(UnknownNameError, match="Did you mean 'gravity'"):
        robot.replace(gravty=(0, 0, 0))
    with pytest.raises(UnknownNameError, match="Did you mean 'link1'"):
        robot.replace(tip="link9")
    assert robot.replace(payload=2.0).payload == Payload(2.0)
    assert robot.replace(payload=0.0).payload is None


@pytest.mark.parametrize(
    "change",
    [{"gravity": (0, 0, math.nan)}, {"gravity": (1, 2)}, {"payload": math.nan}, {"payload": -1.0}, {"payload": "x"},
     {"base": np.ones((4, 4))}, {"base": Pose.of(2.0 * np.eye(3))}, {"tool": np.full((4, 4), math.nan)}, {"tool": np.eye(3)}],
    ids=repr,
)  # fmt: skip
def test_replace_refuses_what_building_refuses(change: dict[str, Any]) -> None:
    (field,) = change
    with pytest.raises(ManipulaError, match=rf"(?i){field}|last row of a pose|4×4|3 entries|formula|name"):
        planar([1.0], [1.0]).replace(**change)


# ------------------------------------------------------------------------------- parameters


def test_parameters_sorted_naturally_and_filled_in() -> None:
    robot = planar(["l2", "l10", "l1"], ["m", "m", "m"])
    assert robot.parameters == ("l1", "l2", "l10", "m")
    assert not robot.is_numeric
    partly = robot.with_parameters(l1=0.3, l2=0.5, l10=sympy.Symbol("k"))
    assert partly.parameters == ("k", "m")
    done = partly.with_parameters(k=0.4, m=2.0)
    assert done.is_numeric
    q = np.array([0.1, 0.2, 0.3])
    assert np.allclose(mass_matrix(done, q), mass_matrix(planar([0.5, 0.4, 0.3], [2.0] * 3), q), rtol=0, atol=ROUNDOFF)
    with pytest.raises(UnknownNameError, match="Known: l1, l2, l10, m"):
        robot.with_parameters(l11=1.0)


# ------------------------------------------------------------------------------- frames and tip


def test_tip_frame_includes_the_tool() -> None:
    links, joints = chain_drafts()
    tool = translation(0.0, 0.0, 0.2)
    robot = build_robot("arm", links, joints, tool=tool)
    q, _, _ = random_state(np.random.default_rng(1), 3)
    assert np.allclose(pose(robot, q, "tip"), pose(robot, q, "l3") @ tool.matrix(), rtol=0, atol=ROUNDOFF)
    assert robot.frame("tip") == robot.tip_frame


def test_a_tree_has_no_tip_until_one_is_named() -> None:
    links, joints = chain_drafts(2)
    links.append(LinkDraft("side", 1.0))
    joints.append(JointDraft("js", "revolute", "l1", "side"))
    tree = build_robot("tree", links, joints)
    assert tree.tip is None
    with pytest.raises(
        DescriptionError, match=r"several frames that could be its tip \(l2, side\); name one: tip='side'"
    ):
        tree.tip_frame
    assert tree.replace(tip="side").tip_frame.link == 2
    assert build_robot("tree", links, joints, tip="side").tip == "side"


def test_unknown_frames_and_joints_list_the_known_ones() -> None:
    robot = build_robot("arm", *chain_drafts())
    with pytest.raises(UnknownNameError, match=r"Known: .*l1"):
        robot.frame("nowhere")
    with pytest.raises(UnknownNameError, match="Did you mean 'j2'"):
        robot.joint_index("j22")
    assert robot.joint_index("j2") == 1


def test_position_limits_are_infinite_where_none_is_stated() -> None:
    robot = from_dh([{"limits": (-1.0, 2.0)}, {"limits": {"upper": 0.5}}, {}], "standard")
    assert np.array_equal(robot.position_limits, [[-1.0, 2.0], [-np.inf, 0.5], [-np.inf, np.inf]])


# ------------------------------------------------------------------------------- building


def test_fixed_joints_are_merged_with_their_inertia_and_keep_their_names() -> None:
    """A link cut in three and welded together again moves as before."""
    rng = np.random.default_rng(7)
    masses, points = rng.uniform(0.1, 1.0, 9), rng.uniform(-0.3, 0.3, (9, 3))

    def body(which: slice, frame: Pose) -> tuple[float, np.ndarray, np.ndarray]:
        m, r = masses[which], (points[which] - frame.p) @ frame.R
        c = m @ r / m.sum()
        d = r - c
        return float(m.sum()), c, np.sum([k * (v @ v * np.eye(3) - np.outer(v, v)) for k, v in zip(m, d)], axis=0)

    X1 = random_pose(rng)
    X2 = random_pose(rng)  # both in the frame of the whole link
    origin, axis = random_pose(rng), rng.normal(size=3)
    next_body = random_body(rng)
    next_origin = random_pose(rng)
    whole = build_robot(
        "whole",
        [LinkDraft("base"), LinkDraft("arm", *body(slice(0, 9), IDENTITY)), LinkDraft("hand", *next_body)],
        [
            JointDraft("j1", "revolute", "base", "arm", origin, axis),
            JointDraft("j2", "prismatic", "arm", "hand", next_origin),
        ],
    )
    welded = build_robot(
        "welded",
        [LinkDraft("base"), LinkDraft("arm", *body(slice(0, 3), IDENTITY)), LinkDraft("part1", *body(slice(3, 6), X1)),
         LinkDraft("part2", *body(slice(6, 9), X2)), LinkDraft("hand", *next_body)],
        [JointDraft("j1", "revolute", "base", "arm", origin, axis), JointDraft("w1", "fixed", "arm", "part1", X1),
         JointDraft("w2", "fixed", "part1", "part2", X1.inverse() @ X2),
         JointDraft("j2", "prismatic", "part2", "hand", X2.inverse() @ next_origin)],
    )  # fmt: skip
    assert welded.n == 2
    q, qd, qdd = random_state(rng, 2)
    assert np.allclose(
        inverse_dynamics(welded, q, qd, qdd), inverse_dynamics(whole, q, qd, qdd), rtol=0, atol=100 * ROUNDOFF
    )
    assert np.allclose(pose(welded, q, "part2"), pose(whole, q, "arm") @ X2.matrix(), rtol=0, atol=ROUNDOFF)


def test_the_order_of_the_source_is_kept_whenever_parents_come_first() -> None:
    links, joints = chain_drafts(2)
    links += [LinkDraft("r1", 1.0), LinkDraft("l_end", 1.0)]
    joints += [JointDraft("right", "revolute", "base", "r1"), JointDraft("left_end", "revolute", "l2", "l_end")]
    assert build_robot("tree", links, joints).joint_names == ("j1", "j2", "right", "left_end")
    backwards = build_robot("tree", links, joints[::-1])
    assert set(backwards.joint_names) == {"j1", "j2", "right", "left_end"}
    assert all(parent < i for i, parent in enumerate(backwards.parents))


def test_axes_are_normalised() -> None:
    links, joints = chain_drafts(1)
    joints[0].axis = (0.0, 3.0, 4.0)
    assert build_robot("arm", links, joints).joints[0].axis == (0.0, 0.6, 0.8)


def draft_errors() -> list[Any]:
    def case(name: str, error: type[ManipulaError], match: str, edit: Any) -> Any:
        return pytest.param(error, match, edit, id=name)

    def with_joint(**changes: Any) -> Any:
        return lambda links, joints: [setattr(joints[1], k, v) for k, v in changes.items()]

    def with_link(**changes: Any) -> Any:
        return lambda links, joints: [setattr(links[2], k, v) for k, v in changes.items()]

    mirror = Pose.of(np.diag([1.0, 1.0, -1.0]))
    return [
        case("two links of one name", DescriptionError, "Two links are named 'l1'", with_link(name="l1")),
        case("two joints of one name", DescriptionError, "Two joints are named 'j1'", with_joint(name="j1")),
        case("unknown parent", UnknownNameError, "Did you mean 'l1'", with_joint(parent="ll1")),
        case("two parents", DescriptionError, "two parents", with_joint(child="l1")),
        case("cycle", DescriptionError, "cycle", lambda links, joints: setattr(joints[0], "parent", "l3")),
        case("two roots", DescriptionError, "exactly one root", lambda links, joints: links.append(LinkDraft("alone"))),
        case("joint type", UnknownNameError, "Did you mean 'revolute'", with_joint(kind="revolut")),
        case("zero axis", DescriptionError, "axis of joint 'j2' is zero", with_joint(axis=(0.0, 0.0, 0.0))),
        case("nan axis", DescriptionError, "finite", with_joint(axis=(0.0, math.nan, 0.0))),
        case("nan origin", DescriptionError, "finite", with_joint(origin=translation(math.nan, 0.0, 0.0))),
        case("infinite link frame", DescriptionError, "finite", with_joint(frame=translation(math.inf, 0.0, 0.0))),
        case("mirrored frame", DescriptionError, "not a rotation", with_joint(frame=mirror)),
        case("scaled origin", DescriptionError, "not a rotation", with_joint(origin=Pose.of(1.1 * np.eye(3)))),
        case("negative mass", UnphysicalError, "at least 0", with_link(mass=-1.0)),
        case("nan mass", DescriptionError, "finite", with_link(mass=math.nan)),
        case("text as mass", DescriptionError, "finite", with_link(mass="heavy")),
        case("nan com", DescriptionError, "finite", with_link(com=(0.0, 0.0, math.nan))),
        case("short com", ShapeError, "3 numbers", with_link(com=(0.0, 0.0))),
        case(
            "inertia not symmetric",
            UnphysicalError,
            "not symmetric",
            with_link(inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
        ),
        case("reversed limits", DescriptionError, "reversed", with_joint(limits=Limits(1.0, -1.0))),
        case("negative rotor", UnphysicalError, "rotor inertia", with_joint(rotor_inertia=-1.0)),
        case("friction of another kind", DescriptionError, "FrictionLaw", with_joint(friction="viscous")),
        case("empty name", DescriptionError, "not empty", with_link(name=" ")),
    ]


@pytest.mark.parametrize(("error", "match", "edit"), draft_errors())
def test_drafts_that_are_no_robot(error: type[ManipulaError], match: str, edit: Any) -> None:
    links, joints = chain_drafts()
    edit(links, joints)
    with pytest.raises(error, match=match):
        build_robot("arm", links, joints)


def test_frames_gravity_base_tool_and_payload_are_checked() -> None:
    links, joints = chain_drafts()
    for options, match in (
        ({"frames": [FrameDraft("l1", "l2")]}, "Two frames are named 'l1'"),
        ({"frames": [FrameDraft("camera", "l9")]}, "No link named 'l9'"),
        ({"frames": [FrameDraft("camera", "l1", translation(math.nan, 0, 0))]}, "finite"),
        ({"gravity": (0.0, math.inf, 0.0)}, "gravity"),
        ({"tip": "l9"}, "No frame named 'l9'"),
        ({"base": Pose.of(2.0 * np.eye(3))}, "not a rotation"),
        ({"tool": translation(0.0, math.nan, 0.0)}, "tool"),
        ({"payload": Payload(-1.0)}, "at least 0"),
        ({"payload": 3.0}, "Payload object"),
    ):
        with pytest.raises(DescriptionError, match=match):
            build_robot("arm", links, joints, **options)  # pyright: ignore[reportArgumentType]


def test_long_chains_and_long_cycles_do_not_recurse() -> None:
    n = 1500
    links = [LinkDraft(f"l{i}", 1.0) for i in range(n + 1)]
    joints = [JointDraft(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", translation(0.1, 0.0, 0.0)) for i in range(n)]
    assert build_robot("snake", links, joints).n == n
    assert build_robot("snake", links, joints[::-1]).n == n
    joints.append(JointDraft("closing", "revolute", f"l{n}", "l0"))
    with pytest.raises(DescriptionError, match="cycle"):
        build_robot("ring", links, joints)
    with pytest.raises(BudgetError, match="2000"):
        build_robot("endless", 4 * links, joints)

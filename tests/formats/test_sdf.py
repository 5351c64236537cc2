"""SDF: the same robot in URDF and SDF is the same robot; every way to state a pose; what would change the motion is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manipula as mp
from manipula.algebra.pose import Pose
from manipula.algebra.rotation import from_rpy, to_rpy
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.sdf import from_sdf
from manipula.formats.urdf import from_urdf
from manipula.physics.kinematics import poses
from manipula.physics.newton_euler import inverse_dynamics
from manipula.robot import Robot
from manipula.robot.drives import Spring
from manipula.robot.friction import Coulomb, Viscous
from strategies import random_pose, random_state, robots

SAME = 1e-12  # of the largest torque, and of metres: poses are stated relative to other frames and composed

URDF = """<robot name="arm">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.02" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>
  <link name="slider"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="upper"/>
    <axis xyz="0 3 4"/><limit lower="-2" upper="1" effort="20" velocity="3"/><dynamics damping="0.7" friction="0.2"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0.3 0 0" rpy="-0.3 0.1 0.2"/><parent link="upper"/><child link="slider"/>
    <axis xyz="1 0 0"/><limit lower="-0.1" upper="0.4" effort="50" velocity="1"/></joint>
</robot>"""
BASE = '<link name="base"/>'
UPPER = """<inertial><pose>0.1 0.2 0.3 0.4 -0.5 0.6</pose><mass>2</mass><inertia><ixx>0.03</ixx><iyy>0.02</iyy><izz>0.04</izz>
  <ixy>0.001</ixy><ixz>-0.002</ixz><iyz>0.003</iyz></inertia></inertial>"""
SLIDER = "<inertial><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"
TURN = """<axis><xyz>0 3 4</xyz><limit><lower>-2</lower><upper>1</upper><effort>20</effort><velocity>3</velocity></limit>
  <dynamics><damping>0.7</damping><friction>0.2</friction></dynamics></axis>"""
SLIDE = "<axis><xyz>1 0 0</xyz><limit><lower>-0.1</lower><upper>0.4</upper><effort>50</effort><velocity>1</velocity></limit></axis>"


def model(inside: str, version: str = "1.9", attributes: str = "") -> str:
    return f'<sdf version="{version}"><model name="arm" {attributes}>{inside}</model></sdf>'


def joint(name: str, kind: str, parent: str, child: str, inside: str) -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def arm(turn: str = TURN, slide: str = SLIDE, extra: str = "", base: str = BASE) -> str:
    """The robot of URDF with each link's pose stated in the frame of its joint, and the joint's in its parent."""
    return model(
        f'{base}<link name="upper"><pose relative_to="turn"/>{UPPER}</link>'
        f'<link name="slider"><pose relative_to="slide"/>{SLIDER}</link>'
        + joint("turn", "revolute", "base", "upper", f'<pose relative_to="base">0 0 1 0.1 0.2 0.3</pose>{turn}')
        + joint(
            "slide", "prismatic", "upper", "slider", f'<pose relative_to="upper">0.3 0 0 -0.3 0.1 0.2</pose>{slide}'
        )
        + extra
    )


ARM = arm()


def assert_same(a: Robot, b: Robot, frames: tuple[str, ...] | None = None) -> None:
    assert a.joint_names == b.joint_names
    frames = a.frame_names if frames is None else frames
    for seed in range(3):
        q, qd, qdd = random_state(np.random.default_rng(seed), a.n)
        x, y = (np.array(inverse_dynamics(r, q, qd, qdd), float) for r in (a, b))
        assert np.abs(x - y).max(initial=0.0) <= SAME * max(1.0, np.abs(x).max(initial=0.0))
        X, Y = (np.array(poses(r, q, frames), float) for r in (a, b))
        assert np.abs(X - Y).max() <= SAME * max(1.0, np.abs(X).max())


def test_the_same_arm_in_both_formats_is_the_same_robot():
    assert from_sdf(ARM) == from_urdf(URDF)


def test_a_file_is_loaded_by_its_suffix(tmp_path):
    path = tmp_path / "arm.sdf"
    path.write_text(ARM, encoding="utf-8")
    assert mp.load(path) == mp.from_sdf(ARM) == from_sdf(str(path))
    assert mp.load(path, tip="upper").tip == "upper"
    path.write_text(ARM.replace("<mass>2<", "<mass>two<"), encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"arm.sdf:1, mass.text: 'two' is not a decimal number"):
        mp.load(path)


def text(X: Pose) -> str:
    return " ".join(repr(float(v)) for v in (*X.translation, *to_rpy(X.R)))


def in_sdf(robot: Robot, style: str) -> str:
    """A robot as SDF: poses of links in the model's frame (as Gazebo writes them) or in their parent's (as Drake's users do)."""
    names = [robot.base_link.name, *(link.name for link in robot.links)]
    zero = [np.array(m, float) for m in poses(robot.replace(base=Pose()), np.zeros(robot.n), tuple(names))]
    out = [f'<link name="{names[0]}"/>']
    for i, (link, j) in enumerate(zip(robot.links, robot.joints)):
        parent = names[j.parent + 1]
        X = Pose.from_matrix(zero[i + 1]) if style == "model" else j.placement @ link.frame
        relative = "" if style == "model" else f' relative_to="{parent}"'
        I, unit = link.inertia, ("ixx", "ixy", "ixz", "iyx", "iyy", "iyz", "izx", "izy", "izz")
        tensor = "".join(
            f"<{t}>{I[k // 3][k % 3]!r}</{t}>" for k, t in enumerate(unit) if t not in ("iyx", "izx", "izy")
        )
        com = " ".join(map(repr, link.com))
        body = f"<pose>{com} 0 0 0</pose><mass>{link.mass!r}</mass><inertia>{tensor}</inertia>"
        out.append(f'<link name="{link.name}"><pose{relative}>{text(X)}</pose><inertial>{body}</inertial></link>')
        axis, R = np.array(j.axis, float), zero[i + 1][:3, :3] @ link.frame.R.T
        seen, xyz = (' expressed_in="__model__"', R @ axis) if style == "model" else ("", axis)
        motor = f"<drake:rotor_inertia>{j.rotor_inertia!r}</drake:rotor_inertia><drake:gear_ratio>{j.gear_ratio!r}</drake:gear_ratio>"
        inside = f"<pose>{text(link.frame.inverse())}</pose><axis><xyz{seen}>{' '.join(map(repr, map(float, xyz)))}</xyz></axis>{motor}"
        out.append(joint(j.name, "continuous" if j.is_revolute else "prismatic", parent, link.name, inside))
    for f in robot.frames:
        if f.name not in names:
            out.append(f'<frame name="{f.name}" attached_to="{names[f.link + 1]}"><pose>{text(f.pose)}</pose></frame>')
    gravity = " ".join(repr(float(g)) for g in robot.gravity)
    inside = f"<pose>{text(robot.base)}</pose>{''.join(out)}"
    return (
        f'<sdf version="1.9"><world name="w"><gravity>{gravity}</gravity><model name="r">{inside}</model></world></sdf>'
    )


@settings(max_examples=40, deadline=None)
@given(robots(), st.sampled_from(["model", "parent"]))
def test_any_robot_written_by_hand_in_either_style_is_the_same_robot(robot, style):
    assert_same(robot.replace(payload=None, tool=Pose()), from_sdf(in_sdf(robot, style)))


def test_every_field_is_read():
    robot = from_sdf(arm(extra='<frame name="camera" attached_to="slider"><pose>0 0 0.1 0 0 0</pose></frame>'))
    turn, slide = robot.joints
    assert (turn.limits.lower, turn.limits.upper, turn.limits.effort, turn.limits.velocity) == (-2.0, 1.0, 20.0, 3.0)
    assert turn.friction == Coulomb(0.2, damping=0.7)
    assert slide.friction is None
    assert robot.links[1].mass == 1.0  # SDF's default
    assert robot.frame("camera").pose.translation == (0.0, 0.0, 0.1)
    assert any("'base'> has no <inertial>: SDF's default, 1 kg" in note for note in robot.notes)
    assert any("link 'base' stands still" in note for note in robot.notes)
    assert robot.gravity == (0.0, 0.0, -9.81)  # no world is described


def test_limits_that_mean_none():
    def limits(inside: str, kind: str = "revolute"):
        axis = f"<axis><limit>{inside}</limit></axis>"
        return from_sdf(model(f'{BASE}<link name="b"/>{joint("j", kind, "base", "b", axis)}')).joints[0].limits

    for none in ("", "<lower>-1e16</lower><upper>1e16</upper><velocity>-1</velocity><effort>-1</effort>",
                 "<lower>-inf</lower><upper>inf</upper><velocity>inf</velocity><effort>Infinity</effort>"):  # fmt: skip
        found = limits(none)
        assert (found.lower, found.upper, found.velocity, found.effort) == (None, None, None, None)
    assert limits("<lower>-1</lower><upper>1</upper>", "continuous").lower is None
    assert limits("<upper>1</upper><effort>0</effort>").effort == 0.0
    for wrong in ("<lower>2</lower><upper>1</upper>", "<lower>-1</lower><upper>-1e308</upper>", "<lower>1e16</lower>",
                  "<lower>-1</lower><upper>-inf</upper>", "<lower>inf</lower><upper>1</upper>"):  # fmt: skip
        with pytest.raises(DescriptionError, match="reversed"):
            limits(wrong)


def test_poses_in_degrees_and_as_quaternions():
    stated = "0 0 1 0.1 0.2 0.3</pose>"
    degrees = " ".join(repr(math.degrees(a)) for a in (0.1, 0.2, 0.3))
    w, x, y, z = _quaternion(from_rpy(0.1, 0.2, 0.3))
    robot = from_sdf(ARM)
    for start, values in ((' degrees="true"', degrees), (' rotation_format="quat_xyzw"', f"{x!r} {y!r} {z!r} {w!r}")):
        other = ARM.replace(
            f'<pose relative_to="base">{stated}', f'<pose relative_to="base"{start}>0 0 1 {values}</pose>'
        )
        assert other != ARM
        assert_same(robot, from_sdf(other))


def _quaternion(R):
    from manipula.algebra.rotation import to_quaternion_wxyz

    return [float(v) for v in to_quaternion_wxyz(R)]


def test_the_axis_in_other_axes():
    """z of the model, seen from a joint that is turned by 90° about x, is its own −y … whichever way it is said."""
    tilted = '<pose relative_to="base">0 0 0 1.5707963267948966 0 0</pose>'
    links = f'{BASE}<link name="b"><pose relative_to="j"/></link>'

    def axis(xyz: str, version: str = "1.9", more: str = "") -> np.ndarray:
        inside = f"{tilted}<axis>{xyz}{more}</axis>"
        robot = from_sdf(model(links + joint("j", "revolute", "base", "b", inside), version))
        return np.array(robot.joints[0].axis, float)

    flag = "<use_parent_model_frame>1</use_parent_model_frame>"
    for found in (axis('<xyz expressed_in="__model__">0 0 1</xyz>'), axis('<xyz expressed_in="base">0 0 1</xyz>'),
                  axis("<xyz>0 0 1</xyz>", "1.6", flag), axis("<xyz>0 0 1</xyz>", "1.4")):  # fmt: skip
        np.testing.assert_allclose(found, (0.0, 1.0, 0.0), atol=1e-15)
    np.testing.assert_array_equal(axis("<xyz>0 0 1</xyz>", "1.6"), (0.0, 0.0, 1.0))
    np.testing.assert_array_equal(axis(""), (0.0, 0.0, 1.0))  # SDF's default


def test_a_joint_to_the_world_and_the_pose_of_the_model():
    rng = np.random.default_rng(4)
    X_WM, X_MB = random_pose(rng), random_pose(rng)
    base = f'<link name="base"><pose>{text(X_MB)}</pose></link>'
    pose = f"<pose>{text(X_WM)}</pose>"
    free = from_sdf(arm(base=base, extra=pose))
    held = from_sdf(arm(base=base, extra=pose + joint("stand", "fixed", "world", "base", "")))
    np.testing.assert_allclose(np.array(free.base.matrix(), float), (X_WM @ X_MB).matrix(), atol=1e-15)
    assert held.base_link.name == "world"
    assert_same(free, held)
    assert not any("stands still" in note for note in held.notes)
    placed = arm(base=base, extra=pose).replace('<model name="arm"', '<model name="arm" placement_frame="base"')
    np.testing.assert_allclose(np.array(from_sdf(placed).base.matrix(), float), X_WM.matrix(), atol=1e-15)


def test_joints_between_frames_and_frames_of_frames():
    frames = """<frame name="shoulder" attached_to="base"><pose>0 0 1 0.1 0.2 0.3</pose></frame>
      <frame name="flange" attached_to="upper"><pose>0.3 0 0 -0.3 0.1 0.2</pose></frame>
      <frame name="on_flange" attached_to="flange"><pose>0 0 0.5 0 0 0</pose></frame>"""
    other = model(
        f'{BASE}<link name="upper"><pose relative_to="shoulder"/>{UPPER}</link>'
        f'<link name="slider"><pose relative_to="flange"/>{SLIDER}</link>{frames}'
        + joint("turn", "revolute", "shoulder", "upper", TURN)
        + joint("slide", "prismatic", "flange", "slider", SLIDE)
    )
    robot = from_sdf(other)
    assert_same(from_sdf(ARM), robot)
    assert robot.frame("on_flange").link == 0
    np.testing.assert_allclose(robot.frame("on_flange").pose.R, from_rpy(-0.3, 0.1, 0.2), atol=1e-15)


def test_gravity_of_a_world():
    inside = ARM.removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    world = f'<sdf version="1.9"><world name="w">{inside}</world></sdf>'
    assert from_sdf(world).gravity == (0.0, 0.0, -9.8)  # SDF's default
    assert from_sdf(world.replace("<model", "<gravity>0 0 -1.62</gravity><model", 1)).gravity == (0.0, 0.0, -1.62)


def test_a_robot_among_static_models():
    inside = ARM.removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    table = '<model name="table"><static>true</static><link name="top"/></model>'
    robot = from_sdf(f'<sdf version="1.9"><world name="w">{table}{inside}{table}</world></sdf>')
    assert robot.joint_names == ("turn", "slide")
    assert "2 static model(s) beside the robot are not read." in robot.notes


def test_old_files_may_call_a_link_world():
    old = model(f'<link name="world"/>{BASE}{joint("stand", "fixed", "world", "base", "")}', "1.6")
    assert from_sdf(old).base_link.name == "world"
    assert from_sdf(old).frame_names == ("world", "base")


def test_what_is_not_read_is_told():
    visual = '<visual name="v"><geometry><mesh><uri>../../x.dae</uri></mesh></geometry></visual>'
    robot = from_sdf(
        arm(base=f'<link name="base">{visual}<my_own/></link>', extra='<plugin name="p" filename="x.so"/>')
    )
    assert "Not read: 1 <plugin>." in robot.notes
    assert any("1 of 1 mesh files of the appearance are not shown" in note for note in robot.notes)
    assert "1 <my_own> in <link> not part of SDF, ignored." in robot.notes


def test_coupled_joints_in_the_words_of_sdf_and_of_drake():
    led = SLIDE.removesuffix("</axis>")
    sdf = f'{led}<mimic joint="turn"><multiplier>0.2</multiplier><offset>0.1</offset><reference>0.25</reference></mimic></axis>'
    drake = f'{SLIDE}<drake:mimic joint="turn" multiplier="0.2" offset="0.05"/>'
    urdf = URDF.replace(
        '<limit lower="-0.1"', '<mimic joint="turn" multiplier="0.2" offset="0.05"/><limit lower="-0.1"'
    )
    truth = from_urdf(urdf)
    assert (truth.n, len(truth.followers)) == (1, 1)
    assert from_sdf(arm(slide=sdf)) == from_sdf(arm(slide=drake)) == truth
    for text, reason in ((sdf.replace('"turn"', '"trun"'), "trun"), (sdf.replace("<mimic", '<mimic axis="axis2"'), "one axis"),
                         (f'{sdf}<drake:mimic joint="turn"/>', "second <mimic>")):  # fmt: skip
        with pytest.raises(DescriptionError, match=reason):
            from_sdf(arm(slide=text))


def test_a_joint_that_cannot_be_modelled_may_be_held_or_left_out():
    text = arm(extra='<link name="wheel"/>' + joint("caster", "ball", "base", "wheel", ""))
    with pytest.raises(DescriptionError, match=r"three revolute joints.*lock=\{'caster': 0\}"):
        from_sdf(text)
    assert from_sdf(text, drop="caster").joint_names == ("turn", "slide")
    assert from_sdf(text, lock={"caster": 0}).joint_names == ("turn", "slide")


LINK_B = '<link name="b"/>'
REFUSED = {
    "URDF": ('<robot name="r"/>', "This is URDF"),
    "no version": ("<sdf/>", "version"),
    "version 2": ('<sdf version="2.0"/>', "found '2.0'"),
    "version of words": ('<sdf version="1.x"/>', "found '1.x'"),
    "no model": ('<sdf version="1.9"/>', "0 models"),
    "two models": ('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>', "2 models in <sdf> ('a', 'b')"),
    "include": ('<sdf version="1.9"><include><uri>model://a</uri></include></sdf>', "A text has no folder"),
    "include in a model": (model(f"{BASE}<include><uri>model://a</uri></include>"), "A text has no folder"),
    "nested without a joint": (model(f'{BASE}<model name="m">{BASE}</model>'), "2 links have no parent"),
    "nested and static": (model(f'{BASE}<model name="m"><static>1</static>{BASE}</model>'), "static cannot move"),
    "nested without links": (model(f'{BASE}<model name="m"/>'), "No link is described in this nested model"),
    "nested placement": (model(f'{BASE}<model name="m" placement_frame="base">{BASE}</model>'), "placement_frame"),
    "nested name": (model(f'{BASE}<model name="m::n">{BASE}</model>'), "'::' parts names"),
    "nested in an old file": (model(f'{BASE}<model name="m">{BASE}</model>', "1.4"), "from SDF 1.5 on"),
    "nested axis of the model": (model(f'{BASE}<model name="m">{BASE}{LINK_B}' + joint(
        "j", "revolute", "base", "b", "<axis><use_parent_model_frame>1</use_parent_model_frame></axis>") + "</model>"), "use_parent_model_frame"),
    "nested sensor of a model": (model(f'{BASE}<model name="m">{BASE}<route/></model>'), "<route> in a nested model"),
    "static": (model(f"{BASE}<static>true</static>"), "static"),
    "flag": (model(f"{BASE}<static>maybe</static>"), "true, false, 1 or 0"),
    "no links": (model(""), "No link"),
    "link called world": (model('<link name="world"/>'), "what the robot stands on"),
    "duplicate links": (model(BASE + BASE), "Two links"),
    "two roots": (model(BASE + LINK_B), "2 links have no parent"),
    "unknown parent": (arm().replace("<parent>base<", "<parent>bsae<"), "Did you mean 'base'"),
    "empty child": (arm().replace("<child>upper<", "<child><"), "is empty"),
    "child world": (arm(extra=joint("x", "fixed", "base", "world", "")), "cannot be the child"),
    "unknown frame": (arm().replace('relative_to="base"', 'relative_to="bse"'), "Did you mean 'base'"),
    "pose of itself": (arm().replace('relative_to="base"', 'relative_to="upper"'), "relative to itself"),
    "frame on itself": (arm(extra='<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'), "itself"),
    "frame twice": (arm(extra='<frame name="f"/><frame name="f"/>'), "Two frames are named 'f'"),
    "old frame": (arm().replace('relative_to="base"', 'frame="base"'), "no agreed meaning"),
    "five numbers": (arm().replace("0 0 1 0.1 0.2 0.3", "0 0 1 0.1 0.2"), "6 number"),
    "nan": (arm().replace("0 0 1 0.1 0.2 0.3", "0 0 nan 0.1 0.2 0.3"), "not a decimal number"),
    "huge": (arm().replace("0 0 1 0.1 0.2 0.3", "0 0 1e300 0.1 0.2 0.3"), "too large"),
    "long text": (arm().replace("0 0 1 0.1 0.2 0.3", "0 0 1 0.1 0.2" + " " * 2000 + "0.3"), "more than 900"),
    "zero quaternion": (
        arm().replace('"base">0 0 1 0.1 0.2 0.3', '"base" rotation_format="quat_xyzw">0 0 1 0 0 0 0'), "quaternion is zero"),
    "ball": (arm().replace('type="revolute"', 'type="ball"'), "three revolute"),
    "universal": (arm().replace('type="revolute"', 'type="universal"'), "two revolute"),
    "screw": (arm().replace('type="revolute"', 'type="screw"'), "screw"),
    "gearbox": (arm().replace('type="revolute"', 'type="gearbox"'), "loop"),
    "type": (arm().replace('type="revolute"', 'type="hinge"'), "No joint type named 'hinge'"),
    "no axis": (arm(turn=""), "<axis> is missing"),
    "zero axis": (arm(turn="<axis><xyz>0 0 0</xyz></axis>"), "axis of joint 'turn' is zero"),
    "spring": (arm(turn="<axis><dynamics><spring_stiffness>-3</spring_stiffness></dynamics></axis>"), "negative"),
    "negative damping": (arm(turn="<axis><dynamics><damping>-3</damping></dynamics></axis>"), "negative"),
    "negative mass": (arm().replace("<mass>2<", "<mass>-2<"), "negative"),
    "no gravity": (arm(base='<link name="base"><gravity>0</gravity></link>'), "gravity does not pull"),
    "auto": (arm().replace("<inertial>", '<inertial auto="true">'), "collision shapes"),
    "added mass": (arm().replace("<mass>2", "<fluid_added_mass><xx>1</xx></fluid_added_mass><mass>2"), "fluid"),
    "slip": (arm().replace("<inertial>", "<inertail>").replace("</inertial>", "</inertail>"), "Did you mean <inertial>"),
    "slip in limit": (arm().replace("<lower>-2</lower>", "<lowr>-2</lowr>"), "Did you mean <lower>"),
    "two masses": (arm().replace("<mass>2</mass>", "<mass>2</mass><mass>2</mass>"), "second <mass>"),
    "DTD": (f"<!DOCTYPE sdf>{ARM}", "DOCTYPE"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_why(name):
    text, reason = REFUSED[name]
    with pytest.raises(DescriptionError) as caught:
        from_sdf(text)
    assert reason in str(caught.value)


def test_budgets_and_long_chains():
    def chain(n: int) -> str:
        links = "".join(
            f'<link name="l{i}">{"" if i == 0 else f"<pose relative_to=%sj{i}%s/>" % (chr(34), chr(34))}</link>'
            for i in range(n)
        )
        joints = "".join(
            joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", f'<pose relative_to="l{i - 1}">0 0 1 0 0 0</pose><axis/>')
            for i in range(1, n)
        )  # fmt: skip
        return model(links + joints)

    assert from_sdf(chain(500)).n == 499
    with pytest.raises(BudgetError):
        from_sdf(model('<link name="a"/>' * 6000))


def test_springs_are_drives():
    spring = "<spring_stiffness>3</spring_stiffness><spring_reference>0.2</spring_reference>"
    robot = from_sdf(arm(turn=f"<axis><dynamics>{spring}</dynamics></axis>"))
    assert robot.joints[0].drive == Spring(3.0, 0.2)
    assert any("springs of joints act in simulations" in note for note in robot.notes)


def test_friction_of_damping_alone():
    robot = from_sdf(arm(turn="<axis><dynamics><damping>0.5</damping></dynamics></axis>"))
    assert robot.joints[0].friction == Viscous(0.5)


TOOL = f"""<link name="palm"><pose>0.01 0.02 0.03 0.1 0.2 0.3</pose>{SLIDER}</link>
  <link name="finger"><pose relative_to="open"/>{SLIDER}</link><frame name="grip" attached_to="finger"><pose>0 0 0.05 0 0 0</pose></frame>
  <frame name="mark"><pose>0.4 0.3 0.2 0 0 0</pose></frame>
  <joint name="open" type="prismatic"><parent>palm</parent><child>finger</child>
  <pose relative_to="__model__">0.1 0 0.2 0 0.4 0</pose><axis><xyz expressed_in="palm">0 0 1</xyz></axis></joint>"""
HOLD = '<joint name="hold" type="fixed"><parent>slider</parent><child>{}palm</child></joint>'
WHERE = '<pose relative_to="slider">0.2 0.1 0 0 0.5 0.6</pose>'


def written_out(prefix: str) -> str:
    """TOOL as links of the arm itself, at the place WHERE, by hand."""
    frame = '<frame name="hand" attached_to="slider"><pose>0.2 0.1 0 0 0.5 0.6</pose></frame>'
    text = TOOL
    for name in ("palm", "finger", "open", "grip", "mark"):
        text = text.replace(f'"{name}"', f'"{prefix}{name}"').replace(f">{name}<", f">{prefix}{name}<")
    text = text.replace("<pose>0.01", '<pose relative_to="hand">0.01').replace("__model__", "hand")
    text = text.replace("<pose>0.4 0.3", '<pose relative_to="hand">0.4 0.3')
    text = text.replace(f'<frame name="{prefix}mark">', f'<frame name="{prefix}mark" attached_to="{prefix}palm">')
    return arm(extra=frame + text + HOLD.format(prefix))


def assert_same_motion(one: Robot, other: Robot, prefix: str = "") -> None:
    assert one.joint_names == other.joint_names
    q, v, a = random_state(np.random.default_rng(5), one.n)
    x, y = (np.array(inverse_dynamics(r, q, v, a), float) for r in (one, other))
    assert np.abs(x - y).max() <= SAME * max(1.0, np.abs(x).max())
    names = [f"{prefix}{name}" for name in ("palm", "finger", "grip", "mark")]
    for X, Y in zip(poses(one, q, names), poses(other, q, names), strict=True):
        np.testing.assert_allclose(np.array(X, float), np.array(Y, float), atol=SAME)


def test_a_nested_model_is_its_links_under_longer_names():
    nested = from_sdf(arm(extra=f'<model name="hand">{WHERE}{TOOL}</model>{HOLD.format("hand::")}'), tip="hand::grip")
    assert nested.joint_names == ("turn", "slide", "hand::open")
    assert_same_motion(nested, from_sdf(written_out("hand::"), tip="hand::grip"), "hand::")
    assert "hand" in nested.frame_names
    by_model = HOLD.format("").replace("palm", "hand")  # a model's name stands for its frame
    assert_same_motion(
        from_sdf(arm(extra=f'<model name="hand">{WHERE}{TOOL}</model>{by_model}'), tip="hand::grip"), nested, "hand::"
    )


def test_models_are_nested_in_nested_models():
    inner = f'<model name="outer"><pose>0.1 0 0 0 0 0.2</pose><model name="hand">{WHERE.replace("slider", "arm")}{TOOL}</model>'
    inner += '<link name="arm"><pose>0 0 0.3 0 0 0</pose></link><joint name="h" type="fixed"><parent>arm</parent><child>hand::palm</child></joint></model>'
    hold = '<joint name="hold" type="fixed"><parent>slider</parent><child>outer::arm</child></joint>'
    robot = from_sdf(arm(extra=inner + hold), tip="outer::hand::grip")
    assert robot.joint_names[-1] == "outer::hand::open"
    X_M, X_arm, X_hand = (Pose.of(from_rpy(*p[3:]), p[:3]) for p in
                          ((0.1, 0, 0, 0, 0, 0.2), (0, 0, 0.3, 0, 0, 0), (0.2, 0.1, 0, 0, 0.5, 0.6)))  # fmt: skip
    found = poses(robot, np.zeros(3), ["base", "outer::hand"])
    stands = np.linalg.inv(np.array(found[0], float)) @ np.array(found[1], float)
    np.testing.assert_allclose(stands, np.array((X_M @ X_arm @ X_hand).matrix(), float), atol=SAME)


@pytest.fixture
def folder(tmp_path):
    """arm.sdf includes hand/model.sdf, whose mesh lies beside it."""
    (tmp_path / "hand").mkdir()
    shown = '<visual name="v"><geometry><mesh><uri>a.stl</uri></mesh></geometry></visual></link>'
    text = f'<sdf version="1.9"><model name="tool"><pose>9 9 9 0 0 0</pose>{TOOL.replace("</link>", shown, 1)}</model></sdf>'
    (tmp_path / "hand" / "model.sdf").write_text(text, encoding="utf-8")
    (tmp_path / "hand" / "a.stl").write_bytes(bytes(84))
    return tmp_path


@pytest.mark.parametrize("uri", ["hand/model.sdf", "hand", "model://hand", "model://hand/model.sdf", "package://hand"])
def test_an_included_file_takes_the_place_of_its_include(folder, uri):
    main = folder / "arm.sdf"
    include = f"<include><uri>{uri}</uri><name>hand</name>{WHERE}</include>"
    main.write_text(arm(extra=include + HOLD.format("hand::")), encoding="utf-8")
    robot = mp.load(main, tip="hand::grip")
    assert_same_motion(robot, from_sdf(written_out("hand::"), tip="hand::grip"), "hand::")
    assert [s.file for s in robot.appearance] == [str(folder / "hand" / "a.stl")]
    merged = include.replace("<include>", '<include merge="true">')
    main.write_text(arm(extra=merged + HOLD.format("")), encoding="utf-8")
    assert_same_motion(mp.load(main, tip="grip"), from_sdf(written_out(""), tip="grip"))


def test_a_model_of_a_package_and_its_config(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("models")
    (folder / "hand" / "model.sdf").rename(folder / "hand" / "new.sdf")
    config = '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.9">new.sdf</sdf></model>'
    (folder / "hand" / "model.config").write_text(config, encoding="utf-8")
    main = other / "arm.sdf"
    include = f"<include><uri>model://hand</uri><name>hand</name>{WHERE}</include>"
    main.write_text(arm(extra=include + HOLD.format("hand::")), encoding="utf-8")
    with pytest.raises(DescriptionError, match="package 'hand' is not found"):
        mp.load(main)
    assert mp.load(main, tip="hand::grip", package_dirs=[folder]).n == 3
    world = '<sdf version="1.9"><world name="w"><include><uri>hand</uri></include></world></sdf>'
    (folder / "world.sdf").write_text(world, encoding="utf-8")
    assert mp.load(folder / "world.sdf", tip="grip").joint_names == ("open",)


def test_included_files_that_are_refused(folder):
    main = folder / "arm.sdf"

    def refused(uri: str, inside: str = "") -> str:
        main.write_text(arm(extra=f"<include><uri>{uri}</uri>{inside}</include>"), encoding="utf-8")
        with pytest.raises(DescriptionError) as caught:
            mp.load(main)
        return str(caught.value)

    assert "includes itself" in refused("arm.sdf")
    loop = f'<sdf version="1.9"><model name="a">{BASE}<include><uri>b.sdf</uri></include></model></sdf>'
    (folder / "a.sdf").write_text(loop, encoding="utf-8")
    (folder / "b.sdf").write_text(loop.replace("b.sdf", "a.sdf"), encoding="utf-8")
    assert "includes itself" in refused("a.sdf")
    outside = folder.parent / "outside.sdf"
    outside.write_text(model(BASE), encoding="utf-8")
    (folder / "link.sdf").symlink_to(outside)
    for uri in ("../outside.sdf", "link.sdf"):
        assert "out of" in refused(uri)
    assert "absolute" in refused(str(outside))
    assert "absolute" in refused(f"file://{outside}")
    assert "does not exist" in refused("nothing.sdf") or "nothing.sdf" in refused("nothing.sdf")
    (folder / "two.sdf").write_text('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>', encoding="utf-8")
    assert "holds 2 models" in refused("two.sdf")
    (folder / "old.sdf").write_text(model(BASE, "1.4"), encoding="utf-8")
    assert "bring both files to one version" in refused("old.sdf")
    assert "changes the included model" in refused("hand", "<experimental:params/>".replace("experimental:", ""))
    deep = [folder / f"d{i}.sdf" for i in range(20)]
    for here, there in zip(deep, deep[1:]):
        here.write_text(model(f"{BASE}<include><uri>{there.name}</uri></include>"), encoding="utf-8")
    assert "levels deep" in refused("d0.sdf")
    many = model("".join(f"<include><uri>hand</uri><name>h{i}</name></include>" for i in range(300)))
    main.write_text(many, encoding="utf-8")
    with pytest.raises(DescriptionError, match="More than 200 included files"):
        mp.load(main)

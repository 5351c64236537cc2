"""What robots look like: shapes of URDF, SDF, MJCF and TOML stand where Pinocchio and MuJoCo put them, and never stop a robot."""

from __future__ import annotations

import os

import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.appearance import MeshFolders
from manipula.formats.mjcf import to_mjcf
from manipula.formats.sdf import from_sdf
from manipula.formats.toml import from_toml
from manipula.formats.urdf import from_urdf
from manipula.physics.kinematics import poses
from manipula.robot import Robot
from manipula.robot.appearance import Visual

SAME = 1e-12
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def stl(points: np.ndarray = CORNERS, faces: np.ndarray = SIDES) -> bytes:
    row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(len(faces), row)
    rows["corners"] = points[faces]
    return bytes(80) + len(faces).to_bytes(4, "little") + rows.tobytes()


def placed(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """X_WS of every shape."""
    bodies = np.array(poses(robot, q, tuple(link.name for link in robot.bodies)), float)
    base = np.array(robot.base.matrix(), float)
    return [(base if s.link < 0 else bodies[s.link]) @ np.array(s.pose.matrix(), float) for s in robot.appearance]


URDF = """<robot name="arm">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"><visual><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><geometry><box size="0.1 0.2 0.3"/></geometry>
    <material name="blue"/></visual></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0.1 0"/><geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name=""><color rgba="1 0.5 0 0.25"/></material></visual>
    <visual><geometry><sphere radius="0.07"/></geometry><material name="red"/></visual></link>
  <link name="cap"><visual><origin rpy="1 2 3" xyz="1 2 3"/><geometry><sphere radius="0.02"/></geometry>
    <material name="red"><color rgba="1 0 0 1"/></material></visual></link>
  <link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.3 0.1 0" rpy="0 0.7 0"/><geometry><mesh filename="meshes/a.stl" scale="0.1 0.2 -0.3"/></geometry></visual></link>
  <joint name="turn" type="continuous"><origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="weld" type="fixed"><origin xyz="0.1 0.2 0.3" rpy="0.5 0 0"/><parent link="upper"/><child link="cap"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0.2 0 0"/><parent link="cap"/><child link="hand"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(stl())
    (tmp_path / "arm.urdf").write_text(URDF, encoding="utf-8")
    return tmp_path


def test_urdf_shapes_stand_where_pinocchio_puts_them(folder):
    pin = pytest.importorskip("pinocchio")
    robot = mp.load(folder / "arm.urdf")
    model = pin.buildModelFromUrdf(str(folder / "arm.urdf"))
    geometry = pin.buildGeomFromUrdf(
        model, str(folder / "arm.urdf"), pin.GeometryType.VISUAL, package_dirs=[str(folder)]
    )
    data, shown = model.createData(), geometry.createData()
    rng = np.random.default_rng(3)
    assert len(geometry.geometryObjects) == len(robot.appearance) == 5
    order = [g.name for g in geometry.geometryObjects]
    ours = ["base_0", "upper_0", "upper_1", "cap_0", "hand_0"]
    for _ in range(5):
        q = rng.uniform(-1, 1, 2)
        pin.forwardKinematics(model, data, np.array([np.cos(q[0]), np.sin(q[0]), q[1]]))
        pin.updateGeometryPlacements(model, data, geometry, shown)
        for name, X in zip(ours, placed(robot, q)):
            np.testing.assert_allclose(X, shown.oMg[order.index(name)].homogeneous, rtol=0, atol=SAME)


def test_every_word_of_a_urdf_visual(folder):
    robot = mp.load(folder / "arm.urdf")
    assert [s.kind for s in robot.appearance] == ["box", "cylinder", "sphere", "sphere", "mesh"]
    assert [s.link for s in robot.appearance] == [-1, 0, 0, 0, 1]
    assert [s.size for s in robot.appearance] == [(0.1, 0.2, 0.3), (0.05, 0.4), (0.07,), (0.02,), (0.1, 0.2, -0.3)]
    blue, red = (0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0)
    assert [s.colour for s in robot.appearance] == [blue, (1.0, 0.5, 0.0, 0.25), red, red, None]
    assert robot.appearance[-1].file == str((folder / "meshes" / "a.stl").resolve())
    assert robot.notes == ("1 mesh is named: for pictures, no mass comes from it.",)
    capsule = from_urdf(URDF.replace("cylinder", "capsule"))
    assert capsule.appearance[1].kind == "capsule"
    assert robot == capsule


def test_appearance_follows_a_selection(folder):
    held = mp.load(folder / "arm.urdf", lock={"turn": 0.4})
    full = mp.load(folder / "arm.urdf")
    for a, b in zip(placed(held, np.array([0.2])), placed(full, np.array([0.4, 0.2]))):
        np.testing.assert_allclose(a, b, atol=SAME)
    assert len(mp.load(folder / "arm.urdf", drop=["slide"]).appearance) == 4


def test_the_places_where_meshes_may_lie(folder, tmp_path_factory, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    mesh = (folder / "meshes" / "a.stl").resolve()
    assert MeshFolders(folder).find("meshes/a.stl") == mesh
    assert MeshFolders(folder).find(f"file://{mesh}") == mesh
    assert MeshFolders(folder).find(str(mesh)) == mesh
    below = folder / "urdf"
    below.mkdir()
    for reference in ("../meshes/a.stl", str(mesh), f"package://{folder.name}/meshes/a.stl"):
        with pytest.raises(DescriptionError):
            MeshFolders(below).find(reference)
    (folder / "package.xml").write_text("<package/>")
    for reference in ("../meshes/a.stl", str(mesh), f"package://{folder.name}/meshes/a.stl"):
        assert MeshFolders(below).find(reference) == mesh
    other = tmp_path_factory.mktemp("other")
    with pytest.raises(DescriptionError, match="package_dirs"):
        MeshFolders(other).find(f"package://{folder.name}/meshes/a.stl")
    assert MeshFolders(other, [folder.parent]).find(f"package://{folder.name}/meshes/a.stl") == mesh
    assert MeshFolders(None, [folder.parent]).find(f"package://{folder.name}/meshes/a.stl") == mesh
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(folder.parent))
    assert MeshFolders(other).find(f"package://{folder.name}/meshes/a.stl") == mesh


@pytest.mark.parametrize(
    "reference",
    ["", "none.stl", "/etc/passwd", "file:///etc/passwd", "../../etc/passwd", "package://../../etc/passwd", "http://x.y/a.stl", "a\0b.stl",
     "x" * 5000 + ".stl", "meshes/" * 2000 + "a.stl", "meshes", "secret.stl", "pipe.stl", "arm.urdf", "package://", "model://x/y.dae"],
)  # fmt: skip
def test_references_that_lead_nowhere_are_told(folder, tmp_path_factory, reference):
    outside = tmp_path_factory.mktemp("outside") / "secret.stl"
    outside.write_bytes(stl())
    (folder / "secret.stl").symlink_to(outside)
    os.mkfifo(folder / "pipe.stl")
    with pytest.raises(DescriptionError):
        MeshFolders(folder).find(reference)
    if "\0" not in reference:
        (folder / "arm.urdf").write_text(URDF.replace("meshes/a.stl", reference), encoding="utf-8")
        robot = mp.load(folder / "arm.urdf")
        assert [s.kind for s in robot.appearance] == ["box", "cylinder", "sphere", "sphere"]
        assert "1 of 1 mesh files of the appearance are not shown" in robot.notes[-1]
        assert robot == from_urdf(URDF)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('size="0.1 0.2 0.3"', 'size="nan 0 1"'), ('size="0.1 0.2 0.3"', 'size="1e400 0 1"'), ('size="0.1 0.2 0.3"', 'size="-1 0 1"'),
        ('size="0.1 0.2 0.3"', 'size="1 2"'), ('size="0.1 0.2 0.3"', 'size="one two three"'), ('<box size="0.1 0.2 0.3"/>', ""),
        ('<box size="0.1 0.2 0.3"/>', '<torus r="1"/>'), ('xyz="0.1 0 0.2"', 'xyz="inf 0 0"'), ('rpy="0.3 0.2 0.1"', 'quat_xyzw="0 0 0 0"'),
        ('<box size="0.1 0.2 0.3"/>', '<box size="1 1 1"/><box size="1 1 1"/>'),
    ],
)  # fmt: skip
def test_a_damaged_shape_is_told_and_left_out(folder, old, new):
    assert old in URDF
    (folder / "arm.urdf").write_text(URDF.replace(old, new, 1), encoding="utf-8")
    robot = mp.load(folder / "arm.urdf")
    assert [s.kind for s in robot.appearance] == ["cylinder", "sphere", "sphere", "mesh"]
    assert "1 parts of the appearance cannot be shown" in robot.notes[-1]
    assert robot == from_urdf(URDF)


def test_a_damaged_colour_leaves_the_shape(folder):
    (folder / "arm.urdf").write_text(URDF.replace("1 0.5 0 0.25", "1 nan 0"), encoding="utf-8")
    robot = mp.load(folder / "arm.urdf")
    assert robot.appearance[1].colour is None
    assert "1 parts of the appearance cannot be shown" in robot.notes[-1]


def test_more_shapes_than_can_be_shown_are_no_fault_of_the_robot(monkeypatch):
    monkeypatch.setattr("manipula.formats.appearance.MOST_SHAPES", 3)
    robot = from_urdf(URDF)
    assert len(robot.appearance) == 3
    assert "At most 3 shapes" in robot.notes[-1]


SDF = """<sdf version="1.9"><model name="arm">
  <frame name="mark" attached_to="upper"><pose relative_to="upper">0.1 0.2 0.3 0.1 0 0</pose></frame>
  <link name="base"><visual name="a"><pose>0.1 0 0.2 0.3 0.2 0.1</pose><geometry><box><size>0.1 0.2 0.3</size></box></geometry>
    <material><diffuse>0 0 1 1</diffuse></material></visual></link>
  <link name="upper"><pose>0 0 0.5 0 0 0</pose>
    <visual name="b"><geometry><capsule><radius>0.05</radius><length>0.4</length></capsule></geometry></visual>
    <visual name="c"><pose relative_to="mark">0.5 0 0 0 0 0.3</pose><geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry>
      <transparency>0.5</transparency><material><diffuse>1 0 0</diffuse></material></visual>
    <visual name="d"><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>
    <visual name="e"><geometry><mesh><uri>meshes/a.stl</uri><scale>2 2 2</scale></mesh></geometry></visual>
    <visual name="f"><geometry><sphere><radius>many</radius></sphere></geometry></visual>
    <visual name="g"><geometry><cylinder><radius>0.1</radius><length>1</length></cylinder></geometry></visual></link>
  <joint name="turn" type="revolute"><parent>base</parent><child>upper</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def test_every_word_of_an_sdf_visual(folder):
    (folder / "arm.sdf").write_text(SDF, encoding="utf-8")
    robot = mp.load(folder / "arm.sdf")
    assert [s.kind for s in robot.appearance] == ["box", "capsule", "ellipsoid", "mesh", "cylinder"]
    assert [s.colour for s in robot.appearance] == [(0, 0, 1, 1), None, (1, 0, 0, 0.5), None, None]
    assert robot.appearance[3].size == (2.0, 2.0, 2.0)
    upper = np.array(poses(robot, np.array([0.3]), ("mark",)), float)[0]
    turn = np.eye(4)
    turn[:2, :2], turn[:3, 3] = [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]], [0.5, 0, 0]
    np.testing.assert_allclose(placed(robot, np.array([0.3]))[2], upper @ turn, atol=SAME)
    assert "1 parts of the appearance cannot be shown" in robot.notes[-1]
    assert robot == from_sdf(SDF)


MJCF = """<mujoco model="arm"><compiler angle="radian" meshdir="meshes"/>
  <default><geom rgba="0.5 0.5 0.5 1"/><default class="shown"><geom group="1" rgba="0 1 0 1" contype="0" conaffinity="0"/></default>
    <default class="hidden"><geom group="3"/></default><mesh scale="0.1 0.1 0.1"/></default>
  <asset><material name="blue" rgba="0 0 1 0.5"/><mesh name="m" file="a.stl" MORE/></asset>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/><geom type="box" size="1 1 1"/>
    <body name="stand" pos="0 0 0.5" euler="0.1 0.2 0.3"><geom class="shown" name="box" type="box" size="0.1 0.2 0.3" pos="1 0 0"/>
      <body name="upper" pos="0.1 0.2 0.3" childclass="shown"><joint name="turn" axis="0 1 0" pos="0.1 0 0"/>
        <geom name="capsule" type="capsule" size="0.05" fromto="0 0 0 0.3 0.2 0.4"/>
        <frame pos="0 0 1" euler="1 0 0"><geom name="ellipsoid" type="ellipsoid" size="0.1 0.2 0.3" quat="1 2 3 4"/></frame>
        <geom class="hidden" name="collision" type="box" size="1 1 1"/>
        <body name="hand" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
          <geom name="sphere" size="0.1" rgba="0.5 0.5 0.5 1" material="blue"/>
          <geom name="tube" type="cylinder" size="0.1 0.3" pos="1 2 3" zaxis="1 1 1" rgba="1 1 0 1"/>
          <geom name="ghost" type="box" size="1 1 1" rgba="1 1 1 0"/>
          <geom name="mesh" type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"/>
        </body></body></body></worldbody></mujoco>"""
SHOWN = ("box", "capsule", "ellipsoid", "sphere", "tube", "mesh")


def written(folder, more: str = "") -> str:
    path = folder / "arm.xml"
    path.write_text(MJCF.replace("MORE", more), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "more", ["", 'refpos="0.1 0.2 0.3"', 'refpos="0.1 0.2 0.3" refquat="1 2 3 4"', 'scale="1 -2 3" refpos="1 2 3"']
)
def test_mjcf_shapes_stand_where_mujoco_puts_them(folder, more):
    mujoco = pytest.importorskip("mujoco")
    robot = mp.load(written(folder, more))
    model = mujoco.MjModel.from_xml_path(written(folder, more))
    data = mujoco.MjData(model)
    assert [s.kind for s in robot.appearance] == ["box", "capsule", "ellipsoid", "sphere", "cylinder", "mesh"]
    rng = np.random.default_rng(5)
    mesh = robot.appearance[-1]
    for _ in range(4):
        q = rng.uniform(-1, 1, 2)
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        found = placed(robot, q)
        for name, X in zip(SHOWN[:-1], found):
            geom = data.geom(name)
            np.testing.assert_allclose(X[:3, 3], geom.xpos, rtol=0, atol=SAME)
            np.testing.assert_allclose(X[:3, :3], geom.xmat.reshape(3, 3), rtol=0, atol=SAME)
        geom = data.geom("mesh")
        theirs = model.mesh_vert.astype(float) @ geom.xmat.reshape(3, 3).T + geom.xpos
        ours = (CORNERS * mesh.size) @ found[-1][:3, :3].T + found[-1][:3, 3]
        theirs, ours = (np.unique(points.round(5) + 0.0, axis=0) for points in (theirs, ours))
        np.testing.assert_allclose(ours, theirs, atol=1e-4)  # MuJoCo keeps corners in single precision


def test_colours_and_sizes_of_mjcf(folder):
    robot = mp.load(written(folder))
    green = (0.0, 1.0, 0.0, 1.0)
    assert [s.colour for s in robot.appearance] == [green, green, green, (0, 0, 1, 0.5), (1, 1, 0, 1), green]
    assert robot.appearance[0].size == (0.2, 0.4, 0.6)
    assert robot.appearance[1].size == pytest.approx((0.05, np.sqrt(0.29)))
    assert robot.appearance[4].size == (0.1, 0.6)
    assert robot.appearance[5].size == (0.1, 0.1, 0.1)
    assert not any("appearance" in note for note in robot.notes)


def test_what_mjcf_cannot_show_is_told(folder):
    robot = mp.load(written(folder, 'scale="1 2 3" refquat="1 2 3 4"'))
    assert len(robot.appearance) == 5
    assert "1 parts of the appearance cannot be shown" in robot.notes[-1]
    stated = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    (folder / "meshes" / "a.stl").unlink()
    text = MJCF.replace("MORE", "").replace('<joint name="slide"', f'{stated}<joint name="slide"')
    (folder / "arm.xml").write_text(text, encoding="utf-8")
    robot = mp.load(folder / "arm.xml")
    assert len(robot.appearance) == 5
    assert "1 of 1 mesh files of the appearance are not shown" in robot.notes[-1]


def test_a_robot_may_have_so_many_shapes_and_no_more():
    robot = mp.load("scara-khang")
    shape = Visual(0, "sphere", (1.0,))
    with pytest.raises(BudgetError):
        robot.replace(appearance=(shape,) * 10_001).select(lock={robot.joint_names[-1]: 0.0})


TOML = """
name = "arm"
[planar]
lengths = [0.5, 0.4]
masses = [1.0, "m"]
[parameters]
m = 2.0
r = 0.05
[[visual]]
link = "link1"
kind = "capsule"
size = ["r", "4*r"]
xyz = [0.25, 0, 0]
rpy_deg = [0, 90, 0]
colour = [1, 0.5, 0]
[[visual]]
link = "link2"
kind = "sphere"
size = 0.1
[[visual]]
link = "base"
kind = "mesh"
file = "meshes/a.stl"
"""


def test_shapes_of_toml(folder):
    (folder / "arm.toml").write_text(TOML, encoding="utf-8")
    robot = mp.load(folder / "arm.toml")
    capsule, sphere, mesh = robot.appearance
    assert (capsule.link, capsule.kind, capsule.size, capsule.colour) == (0, "capsule", (0.05, 0.2), (1, 0.5, 0, 1))
    assert (sphere.link, sphere.size, sphere.colour) == (1, (0.1,), None)
    assert (mesh.link, mesh.size) == (-1, (1.0, 1.0, 1.0))
    assert mesh.file == str((folder / "meshes" / "a.stl").resolve())
    free = mp.load(folder / "arm.toml", symbolic=True)
    assert free.appearance == robot.appearance
    assert free.parameters == ("m",)
    text = from_toml(TOML)
    assert [s.kind for s in text.appearance] == ["capsule", "sphere"]
    assert "1 of 1 mesh files" in text.notes[-1]
    assert text == robot


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('link = "link2"', 'link = "link9"', "visual[1].link"), ('kind = "sphere"', 'kind = "ball"', "visual[1].kind"),
        ("size = 0.1", "size = -0.1", "visual[1]"),
        ("size = 0.1", "size = [0.1, 0.2]", "visual[1]"), ("size = 0.1", "", "visual[1]"), ("size = 0.1", "size = nan", "visual[1].size"),
        ("size = 0.1", 'size = 0.1\nfile = "a.stl"', "visual[1].file"), ('file = "meshes/a.stl"', "", "visual[2]"), ("[1, 0.5, 0]", "[1, 0.5]", "visual[0]"),
        ("size = 0.1", "size = 0.1\nradius = 1", "visual[1].radius"), ("[[visual]]", "[visual]", "visual"),
        ("xyz = [0.25, 0, 0]", "xyz = [1e300, 0, 0]", "visual[0].xyz[0]"),
    ],
)  # fmt: skip
def test_what_our_own_format_refuses(old, new, field):
    text = TOML if old != "[[visual]]" else TOML[: TOML.index("[[visual]]", 200)].replace("[[visual]]", "[visual]")
    with pytest.raises(DescriptionError) as caught:
        from_toml(text.replace(old, new, 1))
    assert caught.value.field == field
    assert caught.value.line is not None


def test_a_free_parameter_of_shapes_alone_is_refused():
    with pytest.raises(DescriptionError, match="'s' is free and stands in shapes alone"):
        from_toml(TOML.replace('"4*r"', '"s"').replace("[planar]", 'free = ["s"]\n[planar]', 1))


def same(a: tuple[Visual, ...], b: tuple[Visual, ...]) -> None:
    def key(s: Visual):
        return (s.kind, s.link, s.size)

    assert len(a) == len(b)
    for x, y in zip(sorted(a, key=key), sorted(b, key=key)):
        assert (x.link, x.kind, x.colour, x.file) == (y.link, y.kind, y.colour, y.file)
        assert x.size == pytest.approx(y.size, abs=1e-16, rel=1e-15)
        np.testing.assert_allclose(np.array(x.pose.matrix(), float), np.array(y.pose.matrix(), float), atol=1e-14)


def test_written_and_read_again(folder):
    robot = mp.load(folder / "arm.urdf")
    more = (
        Visual(0, "ellipsoid", (0.1, 0.2, 0.3), robot.appearance[0].pose, (0.1, 0.2, 0.3, 0.4)),
        Visual(1, "capsule", (0.1, 0.3)),
    )
    robot = robot.replace(appearance=robot.appearance + more)
    for name in ("b.toml", "b.urdf"):
        mp.save(robot, folder / name)
        text = (folder / name).read_text(encoding="utf-8")
        assert "meshes/a.stl" in text
        assert str(folder) not in text
        again = mp.load(folder / name)
        same(again.appearance, robot.appearance)
        if name.endswith("toml"):
            assert again.appearance == robot.appearance
    mp.save(robot, folder / "b.xml")
    again = mp.load(folder / "b.xml")
    same(again.appearance, tuple(s for s in robot.appearance if s.kind != "mesh"))
    assert not any("contact" in note for note in again.notes)
    assert "a mesh of the appearance is not written" in (folder / "b.xml").read_text(encoding="utf-8")


def test_what_is_written_is_read_by_others(folder):
    robot = mp.load(folder / "arm.urdf")
    robot = robot.replace(
        appearance=(*robot.appearance, Visual(0, "capsule", (0.1, 0.3)), Visual(0, "box", (0.0, 0.3, 0.3)))
    )
    pin, mujoco = pytest.importorskip("pinocchio"), pytest.importorskip("mujoco")
    mp.save(robot, folder / "b.urdf")
    model = pin.buildModelFromUrdf(str(folder / "b.urdf"))
    geometry = pin.buildGeomFromUrdf(model, str(folder / "b.urdf"), pin.GeometryType.VISUAL, package_dirs=[str(folder)])
    assert len(geometry.geometryObjects) == 6
    mp.save(robot, folder / "b.xml")
    theirs = mujoco.MjModel.from_xml_path(str(folder / "b.xml"))
    assert theirs.ngeom == 5
    bare = mujoco.MjModel.from_xml_string(to_mjcf(robot.replace(appearance=())))
    np.testing.assert_array_equal(theirs.body_mass, bare.body_mass)
    np.testing.assert_array_equal(theirs.body_inertia, bare.body_inertia)


def test_a_mesh_elsewhere_is_named_by_its_whole_path_and_not_opened_again(folder, tmp_path_factory):
    robot, other = mp.load(folder / "arm.urdf"), tmp_path_factory.mktemp("other")
    for name in ("b.toml", "b.urdf"):
        mp.save(robot, other / name)
        assert str(folder.resolve() / "meshes" / "a.stl") in (other / name).read_text(encoding="utf-8")
        again = mp.load(other / name)
        assert len(again.appearance) == 4
        assert "1 of 1 mesh files" in again.notes[-1]
    assert len(mp.load(other / "b.urdf", package_dirs=[folder]).appearance) == 5


def test_shapes_of_a_base_called_world(folder):
    world = mp.load(written(folder))
    assert world.base_link.name == "world"
    mp.save(world, folder / "c.xml")
    same(mp.load(folder / "c.xml").appearance, tuple(s for s in world.appearance if s.kind != "mesh"))


def test_the_doctor_counts_shapes_and_tells_what_is_missing(folder):
    found = mp.doctor(mp.load(folder / "arm.urdf")).find("appearance")
    assert [f.value for f in found] == [{"shapes": 5, "meshes": 1, "files": 1}]
    assert found[0].sentence == "It is drawn with 5 shapes, 1 of them from 1 mesh file."
    assert not mp.doctor(mp.load("scara-khang")).find("appearance")

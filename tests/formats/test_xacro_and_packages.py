"""xacro only when it is asked for, packages of ROS inside their folders, names of robot_descriptions."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.appearance import MeshFolders
from manipula.formats.packages import find_package

URDF = """<robot name="arm"><link name="base"/><link name="hand"/><joint name="j" type="continuous">
  <parent link="base"/><child link="hand"/></joint></robot>"""
XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="prefix" default=""/>
  <link name="$(arg prefix)base"/><link name="hand"><inertial><mass value="${2 * 3}"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="$(arg prefix)base"/><child link="hand"/></joint></robot>"""


@pytest.fixture
def xacrodoc(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A stand-in for the library: it notes what it is asked, and gives back plain URDF."""
    asked: list[Any] = []

    class XacroDoc:
        @staticmethod
        def from_string(text: str, **options: Any) -> SimpleNamespace:
            asked.append((text, options))
            if "broken" in text:
                raise RuntimeError("no such macro")
            return SimpleNamespace(dom=SimpleNamespace(toxml=lambda: URDF))

    module: Any = ModuleType("xacrodoc")
    module.XacroDoc = XacroDoc
    module.packages = SimpleNamespace(
        look_in=asked.append,
        walk_up_from=lambda path: None,
        update_package_cache=lambda known: asked.append(sorted(known)),
    )
    monkeypatch.setitem(sys.modules, "xacrodoc", module)
    return asked


def test_a_xacro_file_is_expanded_only_when_the_caller_says_so(tmp_path: Path, xacrodoc: list[Any]) -> None:
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(XACRO, encoding="utf-8")
    with pytest.raises(DescriptionError, match="holds Python expressions"):
        mp.load(path)
    assert xacrodoc == []
    robot = mp.load(path, xacro=True)
    assert robot == mp.from_urdf(URDF)
    assert robot.notes[-1] == "xacro expanded this file: its Python expressions were evaluated."
    mp.load(path, "hand", xacro={"prefix": "a_"}, package_dirs=[tmp_path])
    options = {"resolve_packages": False, "rootdir": str(tmp_path)}
    assert xacrodoc[0] == (XACRO, {"subargs": {}, **options})
    assert xacrodoc[1:] == [[str(tmp_path)], [tmp_path.name], (XACRO, {"subargs": {"prefix": "a_"}, **options})]


def test_includes_are_meant_from_the_files_own_folder(tmp_path: Path, xacrodoc: list[Any]) -> None:
    path = tmp_path / "arm.xacro"
    includes = ["./hand.xacro", "$(find arm)/a.xacro", "/opt/b.xacro", "c & d.xacro"]
    path.write_text("".join(f'<xacro:include filename="{x}"/>' for x in includes), encoding="utf-8")
    mp.load(path, xacro=True)
    found = [part.split('"')[0] for part in xacrodoc[0][0].split('filename="')[1:]]
    assert found == [f"{tmp_path}/./hand.xacro", "$(find arm)/a.xacro", "/opt/b.xacro", f"{tmp_path}/c & d.xacro"]


def test_what_xacro_cannot_do_is_one_kind_of_error(tmp_path: Path, xacrodoc: list[Any]) -> None:
    path = tmp_path / "broken.xacro"
    path.write_text(XACRO.replace("arm", "broken"), encoding="utf-8")
    with pytest.raises(
        DescriptionError, match=r"broken.xacro: xacro cannot expand this file: RuntimeError: no such macro"
    ):
        mp.load(path, xacro=True)
    for wrong in ("yes", 3):
        with pytest.raises(DescriptionError, match="True or a table of arguments"):
            mp.load(path, xacro=wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DescriptionError, match="does not exist"):
        mp.load(tmp_path / "none.xacro", xacro=True)
    plain = tmp_path / "arm.urdf"
    plain.write_text(URDF, encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"no \.xacro file"):
        mp.load(plain, xacro=True)
    with pytest.raises(DescriptionError, match=r"does not exist"):
        mp.load(plain, package_dirs=[tmp_path / "none"])
    with pytest.raises(DescriptionError, match=r"name packages"):
        mp.load("scara-khang", package_dirs=[tmp_path])


def test_without_the_library_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    path = tmp_path / "arm.xacro"
    path.write_text(XACRO, encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"pip install 'manipula\[xacro\]'"):
        mp.load(path, xacro=True)


def test_xacrodoc_itself(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    path = tmp_path / "arm.xacro"
    path.write_text(XACRO, encoding="utf-8")
    weld = '<link name="{0}"/><joint name="to_{0}" type="fixed"><parent link="hand"/><child link="{0}"/></joint>'
    (tmp_path / "parts").mkdir()
    for name in ("tool", "eye"):
        part = f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{weld.format(name)}</robot>'
        (tmp_path / "parts" / f"{name}.xacro").write_text(part, encoding="utf-8")
    included = '<xacro:include filename="parts/tool.xacro"/><xacro:include filename="$(find parts)/eye.xacro"/></robot>'
    path.write_text(XACRO.replace("</robot>", included), encoding="utf-8")
    robot = mp.load(path, xacro={"prefix": "left_"}, package_dirs=[tmp_path])
    assert {"tool", "eye"} <= set(robot.frame_names)
    assert (robot.base_link.name, robot.links[0].mass) == ("left_base", 6.0)


def test_packages_are_found_where_ros_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    mesh = tmp_path / "ws" / "arm" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"solid")
    share = tmp_path / "install" / "share" / "hand"
    share.mkdir(parents=True)
    (share / "b.stl").write_bytes(b"solid")
    there = "package://arm/meshes/a.stl"
    with pytest.raises(
        DescriptionError, match=r"package 'arm' is not found; .* package_dirs=\[…\], or set ROS_PACKAGE_PATH"
    ):
        MeshFolders(tmp_path).find(there)
    for folders in ([tmp_path / "ws"], [tmp_path / "ws" / "arm"], [str(tmp_path), tmp_path / "ws"]):
        assert MeshFolders(tmp_path, folders).find(there) == mesh.resolve()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'nowhere'}:{tmp_path / 'ws'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert MeshFolders(tmp_path).find(there) == mesh.resolve()
    assert MeshFolders(tmp_path).find("model://hand/b.stl") == (share / "b.stl").resolve()
    assert find_package("hand") == share
    assert MeshFolders(tmp_path).find("ws/arm/meshes/a.stl") == mesh.resolve()
    (mesh.parent / "a.txt").write_bytes(b"solid")
    with pytest.raises(DescriptionError, match=r"ending in .*\.dae"):
        MeshFolders(tmp_path).find("package://arm/meshes/a.txt")


@pytest.mark.parametrize("reference", [
    "package://arm/../../secret.stl", "package://../secret.stl", "package://arm/way_out.stl", "package://", "package:///etc/passwd",
    "package://arm", "package://arm/", "package://./secret.stl", "model://../secret.stl", "/etc/passwd", "file:///etc/passwd", "../../secret.stl",
    "package://arm/meshes", "package://arm\\..\\..\\secret.stl", "package://a\0b/c.stl", "http://localhost/a.stl",
])  # fmt: skip
def test_no_reference_leads_out_of_its_package(tmp_path: Path, reference: str) -> None:
    package = tmp_path / "ws" / "arm"
    (package / "meshes").mkdir(parents=True)
    secret = tmp_path / "secret.stl"
    secret.write_bytes(b"secret")
    (package / "way_out.stl").symlink_to(secret)
    with pytest.raises(DescriptionError):
        MeshFolders(package, [tmp_path / "ws"]).find(reference)


@pytest.mark.parametrize("given", [None, 3, "x" * 300, "a\0b", "\ud800", "turning"])
@pytest.mark.parametrize("read", [mp.from_urdf, mp.from_mjcf, mp.from_sdf])
def test_what_no_folder_can_be_is_no_package_dir(tmp_path: Path, read, given) -> None:
    (tmp_path / "turning").symlink_to("turning")
    text = {
        mp.from_urdf: '<robot name="a"><link name="b"/></robot>',
        mp.from_mjcf: "<mujoco/>",
        mp.from_sdf: '<sdf version="1.7"><model name="a"><link name="b"/></model></sdf>',
    }[read]
    with pytest.raises(DescriptionError, match="package_dirs"):
        read(text, package_dirs=[tmp_path / given if given == "turning" else given])


def test_package_dirs_are_checked(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="does not exist"):
        find_package("arm", [tmp_path / "none"])
    with pytest.raises(DescriptionError, match="list of folders"):
        find_package("arm", str(tmp_path))


@pytest.fixture
def descriptions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A stand-in for robot_descriptions with one robot of each kind."""
    path = tmp_path / "arm.urdf"
    path.write_text(URDF, encoding="utf-8")
    root: Any = ModuleType("robot_descriptions")
    root.__path__ = []
    names: Any = ModuleType("robot_descriptions._descriptions")
    names.DESCRIPTIONS = dict.fromkeys(
        ["arm_description", "gone_description", "macro_description", "nothing_description"]
    )
    arm: Any = ModuleType("robot_descriptions.arm_description")
    arm.URDF_PATH = str(path)
    macro: Any = ModuleType("robot_descriptions.macro_description")
    macro.XACRO_PATH = "x.xacro"
    expander: Any = ModuleType("robot_descriptions._xacro")
    expander.get_urdf_path = lambda module: str(path)
    nothing: Any = ModuleType("robot_descriptions.nothing_description")
    for module in (root, names, arm, macro, expander, nothing):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return path


def test_names_of_robot_descriptions(descriptions: Path) -> None:
    robot = mp.from_urdf(URDF)
    assert mp.load("robot_descriptions:arm_description") == robot
    assert mp.load("robot_descriptions:arm", "base").tip == "base"
    assert mp.load("robot_descriptions:arm", lock={"j": 0.2}).n == 0
    with pytest.raises(DescriptionError, match="Did you mean 'arm_description'"):
        mp.load("robot_descriptions:arm_descripton")
    with pytest.raises(
        DescriptionError, match=r"'gone_description' cannot be fetched \(ModuleNotFoundError.*a network is needed"
    ):
        mp.load("robot_descriptions:gone")
    with pytest.raises(DescriptionError, match="neither a URDF nor an MJCF"):
        mp.load("robot_descriptions:nothing")
    with pytest.raises(DescriptionError, match="holds Python expressions"):
        mp.load("robot_descriptions:macro")
    assert mp.load("robot_descriptions:macro", xacro=True) == robot


def test_without_robot_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    monkeypatch.delitem(sys.modules, "robot_descriptions._descriptions", raising=False)
    with pytest.raises(DescriptionError, match=r"pip install 'manipula\[descriptions\]'"):
        mp.load("robot_descriptions:panda_description")


def test_a_scenario_cannot_ask_the_network(descriptions: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('robot = "robot_descriptions:arm_description"\nduration = 1\n', encoding="utf-8")
    with pytest.raises(DescriptionError, match="No robot in the catalog"):
        mp.run_file(path)


def test_the_package_itself_with_files_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Module, names and folders of the real package; only its download is replaced."""
    pytest.importorskip("robot_descriptions")
    cache = pytest.importorskip("robot_descriptions._cache")
    monkeypatch.setattr(cache, "clone_to_cache", lambda name, commit=None: str(tmp_path / name))
    for name in [n for n in sys.modules if n.startswith("robot_descriptions.") and n.endswith("_description")]:
        monkeypatch.delitem(sys.modules, name)
    panda = tmp_path / "example-robot-data" / "robots" / "panda_description" / "urdf" / "panda.urdf"
    ur5e = tmp_path / "mujoco_menagerie" / "universal_robots_ur5e" / "ur5e.xml"
    for path in (panda, ur5e):
        path.parent.mkdir(parents=True)
        mp.save(mp.load("planar-2r"), path)
    mesh = tmp_path / "example-robot-data" / "robots" / "panda_description" / "meshes" / "a.stl"
    mesh.parent.mkdir()
    mesh.write_bytes(bytes(84))
    shown = '<visual><geometry><mesh filename="package://panda_description/meshes/a.stl"/></geometry></visual></link>'
    panda.write_text(panda.read_text("utf-8").replace("</link>", shown, 1), "utf-8")
    robot = mp.load("robot_descriptions:panda_description")
    assert robot.n == 2
    assert [Path(s.file) for s in robot.appearance] == [mesh]
    assert mp.load("robot_descriptions:ur5e_mj").n == 2
    with pytest.raises(DescriptionError, match=r"no \.xacro file"):
        mp.load("robot_descriptions:panda", xacro=True)
    with pytest.raises(DescriptionError, match="Did you mean 'panda_description'"):
        mp.load("robot_descriptions:panda_descripton")
    with pytest.raises(DescriptionError, match="a xacro file"):
        mp.load("robot_descriptions:fr3_description")

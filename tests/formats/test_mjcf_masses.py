"""Masses that MJCF takes from geoms and meshes, included files, the compiler's bounds: MuJoCo is the judge."""

from __future__ import annotations

import struct

import mujoco
import numpy as np
import pytest

import manipula as mp
from manipula.errors import BudgetError, DescriptionError
from manipula.formats.meshes import read_mesh
from manipula.formats.mjcf import from_mjcf, read_mjcf
from manipula.physics.newton_euler import inverse_dynamics

SAME = 1e-12  # of the largest torque
MESHES = 1e-9  # there MuJoCo's iteration stops earlier
DIAGONALISED = 1e-10  # MuJoCo turns a sum of tensors into principal axes by its own iteration, stopped at 1e-12


pytestmark = pytest.mark.usefixtures("folder_for_the_log_of_mujoco")


def compare(model, robot, tolerance: float) -> None:
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(7)
    for _ in range(3):
        q, qd, qdd = (rng.uniform(-1, 1, model.nv) for _ in range(3))
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        truth = M @ qdd + data.qfrc_bias
        own = np.array(inverse_dynamics(robot, q, qd, qdd), float)
        assert np.abs(own - truth).max() <= tolerance * np.abs(truth).max()


def agrees(text: str, tolerance: float = SAME):
    robot = from_mjcf(text)
    compare(mujoco.MjModel.from_xml_string(text), robot, tolerance)
    return robot


def arm(geoms: str, above: str = "", more: str = "") -> str:
    return f"""<mujoco>{above}<worldbody><body name="one" pos="0.1 0.2 0.3"><joint name="a" axis="1 2 3"/>{geoms}
      <body name="two" pos="0.4 0 0.1" euler="10 20 30"><joint name="b" axis="0 1 0.5"/>{geoms}</body></body>{more}</worldbody></mujoco>"""


SHAPES = [
    'type="sphere" size="0.12"', 'type="capsule" size="0.05 0.2"', 'type="cylinder" size="0.05 0.2"', 'type="ellipsoid" size="0.05 0.1 0.2"',
    'type="box" size="0.05 0.1 0.2"',
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weight", ["", 'density="700"', 'mass="2.5"', 'mass="2.5" density="3"'])
@pytest.mark.parametrize("shell", ["", 'shellinertia="true"'])
def test_one_geom(shape, weight, shell):
    tolerance = (
        1e-9 if shell and "ellipsoid" in shape else SAME
    )  # a difference of two ellipsoids 1 µm apart loses six digits
    agrees(arm(f'<geom {shape} {weight} {shell} pos="0.1 0.2 -0.1" axisangle="1 2 3 40"/>'), tolerance)


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "ellipsoid", "box"])
@pytest.mark.parametrize("points", ["0 0 0 0.1 0.2 0.3", "0.3 0 0 -0.3 0 0", "0 0 0.2 0 0 0", "0 0 0 0 0 0.2"])
def test_between_two_points(kind, points):
    agrees(arm(f'<geom type="{kind}" size="0.04 0.5 0.6" fromto="{points}"/>'))


def test_several_geoms_classes_groups_and_frames():
    above = """<compiler inertiagrouprange="1 2" eulerseq="ZYX"/><default><geom type="capsule" size="0.1 0.3" group="1"/>
      <default class="thin"><geom size="0.02" density="2000"/><default class="seen"><geom group="4"/></default></default></default>"""
    geoms = """<geom pos="0.1 0 0"/><geom class="thin" euler="10 20 30"/><geom class="seen" pos="5 5 5"/><geom type="box" size="0.1 0.1 0.1" mass="0"/>
      <frame pos="0 0.1 0" euler="0 90 0" childclass="thin"><geom/><geom fromto="0 0 0 0.1 0.1 0.1" class="thin" size="0.03"/></frame>"""
    robot = agrees(arm(geoms, above), DIAGONALISED)
    assert any("come from their geoms: one, two" in note for note in robot.notes)


INERTIAL = '<inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.2 0.25"/>'


@pytest.mark.parametrize("mode", ["auto", "true", "false"])
def test_inertial_and_geoms(mode):
    above = f'<compiler inertiafromgeom="{mode}"/>'
    robot = agrees(arm(f'{INERTIAL}<geom size="0.1" mass="3"/>', above))
    assert [link.mass for link in robot.links] == [3.0 if mode == "true" else 2.0] * 2
    agrees(arm(f'{INERTIAL}<geom size="0.1" mass="0"/>', above))


@pytest.mark.parametrize(
    "settings",
    [
        'boundmass="5"', 'boundinertia="0.2"', 'boundmass="5" boundinertia="0.3"', 'settotalmass="11"', 'settotalmass="11" boundmass="5"',
        'settotalmass="4" fusestatic="true"', 'discardvisual="true"',
    ],
)  # fmt: skip
def test_the_bounds_of_the_compiler(settings):
    more = '<body name="table" pos="1 2 3"><geom size="0.1" mass="3"/></body>'
    empty = '<body name="nothing" pos="0.3 0.1 0.2" euler="1 2 3"/>'
    geoms = '<geom type="box" size="0.05 0.1 0.2" pos="0 0 0.1" mass="1" contype="0" conaffinity="0"/>'
    text = arm(geoms, f"<compiler {settings}/>", more)
    agrees(text)
    if "boundmass" in settings:
        agrees(text.replace("</body></body>", f"{empty}</body></body>", 1), DIAGONALISED)


@pytest.mark.parametrize("inertia", ['diaginertia="1 1 5"', 'fullinertia="1 1 5 0.1 0 0"', 'diaginertia="1 2 2.5"'])
def test_balanced_inertia(inertia):
    agrees(arm(f'<inertial pos="0.1 0 0" mass="2" {inertia}/>', '<compiler balanceinertia="true"/>'), DIAGONALISED)


# Meshes: a wedge whose base is a concave pentagon (a channel), so that the four modes differ.
PROFILE = np.array([(0, 0), (0.3, 0), (0.3, 0.2), (0.15, 0.05), (0, 0.2)])


def channel() -> tuple[np.ndarray, np.ndarray]:
    n = len(PROFILE)
    points = np.array([(x, y, z) for z in (0.0, 0.1) for x, y in PROFILE])
    fan = [(3, 4, 0), (3, 0, 1), (3, 1, 2)]
    faces = [(c, b, a) for a, b, c in fan] + [(a + n, b + n, c + n) for a, b, c in fan]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    return points, np.array(faces)


def stl(points: np.ndarray, faces: np.ndarray) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *points[f].ravel(), 0) for f in faces)
    return b"made for a test".ljust(80) + struct.pack("<I", len(faces)) + rows


def stl_text(points: np.ndarray, faces: np.ndarray) -> bytes:
    lines = ["solid s"]
    for f in faces:
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"  vertex {x!r} {y!r} {z!r}" for x, y, z in points[f].tolist()),
        ]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"]).encode()


def obj(points: np.ndarray, faces: np.ndarray) -> bytes:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    return "\n".join([*lines, "vn 0 0 1", *(f"f {a + 1}//1 {b + 1}//1 {c - 10}//1" for a, b, c in faces)]).encode()


def msh(points: np.ndarray, faces: np.ndarray) -> bytes:
    head = struct.pack("<4i", len(points), 0, 0, len(faces))
    return head + points.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


MESH = '<geom type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="10 20 30"/>'


def mesh_arm(folder, name: str, more: str = "", geom: str = MESH) -> str:
    text = arm(geom, f'<compiler meshdir="parts"/><asset><mesh name="m" file="{name}" {more}/></asset>')
    path = folder / "arm.xml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("writer", "name"), [(stl, "m.stl"), (obj, "m.obj"), (msh, "m.msh")])
@pytest.mark.parametrize("mode", ["", "legacy", "exact", "convex", "shell"])
def test_mesh_files(tmp_path, writer, name, mode):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / name).write_bytes(writer(*channel()))
    path = mesh_arm(tmp_path, name, f'inertia="{mode}"' if mode else "")
    compare(mujoco.MjModel.from_xml_path(path), read_mjcf(path), MESHES)


@pytest.mark.parametrize(
    "more",
    [
        'scale="0.5 2 1.5"',
        'scale="-1 1 1"',
        'refpos="0.1 0.2 0.3"',
        'refquat="1 2 3 4"',
        'refpos="0.1 0 0" refquat="1 1 0 0" scale="2 1 1"',
    ],
)
@pytest.mark.parametrize("mode", ["legacy", "exact", "convex", "shell"])
def test_meshes_are_moved_and_scaled(tmp_path, more, mode):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "m.stl").write_bytes(stl(*channel()))
    path = mesh_arm(tmp_path, "m.stl", f'{more} inertia="{mode}"')
    compare(mujoco.MjModel.from_xml_path(path), read_mjcf(path), MESHES)


def test_a_mesh_of_text_is_the_mesh_of_bytes(tmp_path):
    for name, data in (("text.stl", stl_text(*channel())), ("bytes.stl", stl(*channel()))):
        (tmp_path / name).write_bytes(data)
    text, binary = (read_mesh(tmp_path / name) for name in ("text.stl", "bytes.stl"))
    assert np.array_equal(text.vertices, binary.vertices)
    assert np.array_equal(text.faces, binary.faces)


def test_meshes_in_the_file_itself():
    points, faces = channel()
    numbers = " ".join(repr(float(v)) for v in points.ravel())
    corners = " ".join(str(v) for v in faces.ravel())
    above = f'<asset><mesh name="m" vertex="{numbers}" face="{corners}"/></asset>'
    agrees(arm(MESH, above), MESHES)
    agrees(arm(MESH, above.replace(f'face="{corners}"', "")), MESHES)


def test_a_missing_mesh_says_which_and_what_to_do(tmp_path):
    path = mesh_arm(tmp_path, "gone.stl")
    with pytest.raises(
        DescriptionError, match=r"mesh 'm': 'parts/gone.stl' does not exist. State <inertial>.*inertiafromgeom='false'"
    ):
        read_mjcf(path)
    path = mesh_arm(tmp_path, "gone.stl", geom=f'{MESH}<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>')
    assert read_mjcf(path).n == 2  # nothing opens it


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("m.stl", b"", "no STL file"),
        ("m.stl", stl(*channel())[:-1], "no STL file"),
        ("m.stl", b"\0" * 80 + struct.pack("<I", 2**32 - 1), "no STL file"),
        ("m.stl", b"solid x\nvertex 1 2 3\nvertex 1 2 3\n", "do not come in threes"),
        ("m.stl", b"solid x\nvertex 1 2 nan\nvertex 1 2 3\nvertex 1 2 4\n", "not finite|at least 4"),
        (
            "m.stl",
            stl(np.array([(0, 0, np.inf), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), np.array([(0, 1, 2), (1, 2, 3)])),
            "not finite",
        ),
        ("m.obj", b"v 1 2 1_0\n" * 4, "not a number"),
        ("m.obj", b"v 1 2 3\n" * 4 + b"f 1 2 99999999999999999999\n", "damaged"),
        ("m.obj", b"v 1 2\n", "fewer than three"),
        ("m.obj", b"v a b c\n" * 4 + b"f 1 2 3\n", "not a number"),
        ("m.obj", b"v 1 2 3\n" * 4 + b"f 1 2 9\n", "not there"),
        ("m.obj", b"v 1 2 3\n" * 4 + b"f 1 2 0\n", "damaged"),
        ("m.obj", b"v 1 2 3\n" * 4 + b"f 1 2 x\n", "damaged"),
        ("m.obj", b"f 1 2 3\n", "no vertices"),
        ("m.msh", b"\0" * 8, "no header"),
        ("m.msh", struct.pack("<4i", 2**30, 0, 0, 2**30), "does not fit"),
        ("m.msh", struct.pack("<4i", -4, 0, 0, 4), "does not fit"),
        ("m.dae", b"<COLLADA/>", "ending in .stl, .obj, .msh"),
    ],
)
def test_damaged_meshes_are_refused(tmp_path, name, data, problem):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / name).write_bytes(data)
    with pytest.raises(DescriptionError, match=problem):
        read_mjcf(mesh_arm(tmp_path, name))


def test_a_mesh_with_too_many_triangles_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("manipula.formats.meshes.triangles.MAX_TRIANGLES", 3)
    for name, data in (
        ("m.stl", stl(*channel())),
        ("t.stl", stl_text(*channel())),
        ("m.obj", obj(*channel())),
        ("m.msh", msh(*channel())),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BudgetError, match="at most 3 triangles"):
            read_mesh(tmp_path / name)


def test_inside_out_and_badly_oriented_meshes(tmp_path):
    (tmp_path / "parts").mkdir()
    points, faces = channel()
    (tmp_path / "parts" / "m.stl").write_bytes(stl(points, faces[:, ::-1]))
    with pytest.raises(DescriptionError, match="inside out"):
        read_mjcf(mesh_arm(tmp_path, "m.stl", 'inertia="exact"'))
    path = mesh_arm(tmp_path, "m.stl")
    compare(mujoco.MjModel.from_xml_path(path), read_mjcf(path), MESHES)  # legacy takes it as it is
    faces[0] = faces[0][::-1]
    (tmp_path / "parts" / "m.stl").write_bytes(stl(points, faces))
    with pytest.raises(DescriptionError, match="not oriented alike"):
        read_mjcf(mesh_arm(tmp_path, "m.stl", 'inertia="exact"'))


def write(folder, **files: str) -> str:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder / "main.xml")


LINK = '<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>'


def test_included_files(tmp_path):
    path = write(
        tmp_path,
        main='<mujoco model="m"><include file="sub/settings.xml"/><worldbody><include file="sub/arm.xml"/></worldbody></mujoco>',
        sub__settings='<mujoco><compiler angle="radian"/><default><joint armature="0.1"/></default></mujoco>',
        sub__arm=f'<anything><body name="one" euler="0.1 0.2 0.3"><joint name="a"/>{LINK}<include file="hand.xml"/></body></anything>',
        sub__hand=f'<mujocoinclude><body name="two" pos="0.3 0 0"><joint name="b"/>{LINK}</body><site name="end"/></mujocoinclude>',
    )
    robot = read_mjcf(path)
    assert robot.joint_names == ("a", "b")
    assert "end" in robot.frame_names
    compare(mujoco.MjModel.from_xml_path(path), robot, SAME)


def test_the_folder_of_the_main_file_is_looked_up_first(tmp_path):
    body = '<mujoco><worldbody><body name="{}"><joint/>{}</body></worldbody></mujoco>'
    path = write(
        tmp_path,
        main='<mujoco><include file="sub/one.xml"/></mujoco>',
        sub__one='<mujoco><include file="two.xml"/></mujoco>',
        sub__two=body.format("below", LINK),
        two=body.format("above", LINK),
    )
    assert read_mjcf(path).links[0].name == "above"
    assert mujoco.MjModel.from_xml_path(path).body(1).name == "above"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"main": '<mujoco><include file="a.xml"/></mujoco>', "a": '<mujoco><include file="main.xml"/></mujoco>'}, "second time"),
        ({"main": '<mujoco><include file="a.xml"/><include file="a.xml"/></mujoco>', "a": "<m><option/></m>"}, "second time"),
        ({"main": '<mujoco><include file="a.xml"><option/></include></mujoco>', "a": "<m><option/></m>"}, "nothing inside"),
        ({"main": '<mujoco><include file="a.xml"/></mujoco>', "a": "<mujoco/>"}, "is empty"),
        ({"main": '<mujoco><include file="b.xml"/></mujoco>'}, "does not exist"),
        ({"main": '<mujoco><include file="../b.xml"/></mujoco>'}, "climbs out"),
        ({"main": '<mujoco><include file="/etc/passwd"/></mujoco>'}, "absolute"),
        ({"main": '<mujoco><include file="a.xml"/></mujoco>', "a": '<m>\n<option gravity="0"/></m>'}, r"a\.xml:2, option.gravity"),
        ({"main": '<mujoco><include file="a.xml"/></mujoco>', "a": "<m><option</m>"}, r"a\.xml:1: Not well-formed"),
        ({"main": '<mujoco><include file="a.xml"/></mujoco>', "a": "<!DOCTYPE m><m><option/></m>"}, "DOCTYPE"),
    ],
)  # fmt: skip
def test_includes_that_are_refused(tmp_path, files, problem):
    with pytest.raises(DescriptionError, match=problem):
        read_mjcf(write(tmp_path, **files))


def test_links_do_not_lead_out_of_the_folder(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.xml").write_text("<m><option/></m>", encoding="utf-8")
    (tmp_path / "inside" / "a.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(DescriptionError, match="leads out"):
        read_mjcf(write(tmp_path / "inside", main='<mujoco><include file="a.xml"/></mujoco>'))


def test_text_has_no_folder():
    with pytest.raises(DescriptionError, match="give the path of the main file"):
        from_mjcf('<mujoco><include file="a.xml"/></mujoco>')


def test_all_files_share_one_budget(tmp_path):
    half = "<m>" + "<body/>" * 1100 + "</m>"
    path = write(
        tmp_path,
        main='<mujoco><worldbody><include file="a.xml"/><include file="b.xml"/></worldbody></mujoco>',
        a=half,
        b=half,
    )
    with pytest.raises(BudgetError, match="2000 <body>"):
        read_mjcf(path)
    blank = f"<m><option/><!--{' ' * (9 * 2**20)}--></m>"
    path = write(tmp_path, main='<mujoco><include file="a.xml"/><include file="b.xml"/></mujoco>', a=blank, b=blank)
    with pytest.raises(BudgetError, match="all files of a description together"):
        read_mjcf(path)
    for i in range(202):
        (tmp_path / f"n{i}.xml").write_text(f'<m><include file="n{i + 1}.xml"/></m>', encoding="utf-8")
    with pytest.raises(DescriptionError, match="More than 200 included files"):
        read_mjcf(write(tmp_path, main='<mujoco><include file="n0.xml"/></mujoco>'))


@pytest.mark.parametrize("meshdir", ["", "parts"])
def test_meshes_of_an_included_file(tmp_path, meshdir):
    """Looked up in the folder of meshes, then beside the included file."""
    points, faces = channel()
    path = write(
        tmp_path,
        main=arm('<geom type="mesh" mesh="m"/>', f'<compiler meshdir="{meshdir}"/><include file="sub/meshes.xml"/>'),
        sub__meshes='<m><asset><mesh name="m" file="x/m.stl"/></asset></m>',
    )
    for scale, folder in ((1.0, "sub/x"), (2.0, f"./{meshdir}/x")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "m.stl").write_bytes(stl(scale * points, faces))
        compare(mujoco.MjModel.from_xml_path(path), read_mjcf(path), MESHES)


def test_a_folder_above_that_the_caller_trusts(tmp_path):
    for name in ("arms", "shared", "shared/parts"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "parts" / "m.stl").write_bytes(stl(*channel()))
    (tmp_path / "shared" / "settings.xml").write_text('<m><compiler angle="radian"/></m>', encoding="utf-8")
    above = '<include file="../shared/settings.xml"/><compiler meshdir="../shared/parts"/><asset><mesh name="m" file="m.stl"/></asset>'
    path = tmp_path / "arms" / "arm.xml"
    path.write_text(arm(MESH, above), encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"climbs out of the folder.*package_dirs"):
        read_mjcf(path)
    robot = from_mjcf(path, package_dirs=[tmp_path / "shared", tmp_path])
    compare(mujoco.MjModel.from_xml_path(str(path)), robot, MESHES)
    assert mp.load(path, package_dirs=[tmp_path]) == robot
    for folders, problem in (
        ([tmp_path / "shared"], "None of these folders"),
        ([tmp_path / "elsewhere", tmp_path], "does not exist"),
        (str(tmp_path), "list of folders"),
    ):
        with pytest.raises(DescriptionError, match=problem):
            from_mjcf(path, package_dirs=folders)
    path.write_text(arm(MESH, above.replace("../shared", "../../shared")), encoding="utf-8")
    with pytest.raises(DescriptionError, match="climbs out of the folder"):
        from_mjcf(path, package_dirs=[tmp_path])
    with pytest.raises(DescriptionError, match="names no files"):
        from_mjcf(arm(GEOM_OF_TEXT), package_dirs=[tmp_path])


GEOM_OF_TEXT = '<geom size="0.1"/>'

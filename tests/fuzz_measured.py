"""More that the fuzzer feeds: SDF, mesh files, logs and measured poses."""

from __future__ import annotations

import base64
import functools
import json
import os
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from fuzz_text import NUMBERS, damaged, mutated
from manipula import planar
from manipula.formats.meshes import read_mesh
from manipula.formats.sdf import from_sdf
from manipula.formats.toml import from_toml, to_toml

SDF = """<sdf version="1.9"><model name="arm">
<link name="base"/>
<link name="upper"><pose relative_to="turn"/><inertial><pose>0.1 0.2 0.3 0.4 -0.5 0.6</pose><mass>2</mass><inertia><ixx>0.03</ixx>
<iyy>0.02</iyy><izz>0.04</izz><ixy>0.001</ixy><ixz>-0.002</ixz><iyz>0.003</iyz></inertia></inertial>
<visual name="v"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></visual></link>
<link name="slider"><pose relative_to="slide"/></link>
<joint name="turn" type="revolute"><parent>base</parent><child>upper</child><pose relative_to="base">0 0 1 0.1 0.2 0.3</pose>
<axis><xyz>0 3 4</xyz><limit><lower>-2</lower><upper>1</upper><effort>20</effort></limit><dynamics><damping>0.7</damping></dynamics></axis></joint>
<joint name="slide" type="prismatic"><parent>upper</parent><child>slider</child><pose relative_to="upper">0.3 0 0 -0.3 0.1 0.2</pose>
<axis><xyz expressed_in="upper">1 0 0</xyz><limit><lower>-0.1</lower><upper>0.4</upper></limit></axis></joint>
<frame name="camera" attached_to="slider"><pose degrees="true">0 0 0.1 90 0 0</pose></frame>
<model name="tool"><link name="grip"/></model>
<joint name="fix" type="fixed"><parent>slider</parent><child>tool::grip</child></joint>
</model></sdf>"""
SDF_WORDS = (
    *("relative_to", "attached_to", "base", "upper", "turn", "slide", "tool::grip", "__model__", "world", "<pose>", "</pose>"),
    *("fixed", "ball", "revolute", "continuous", "screw", "<include>", "<uri>", "model://arm", "<mimic>", "degrees", "true", "1.4"),
)  # fmt: skip

STL = "solid a\n" + "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n" * 4
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2 4/4\nf -4 -1 -2\nf 2//1 3//1 4//1 1//1\n"
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_nodes><node id="shared"><scale>1 2 3</scale><instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="scene"><node><translate>10 20 30</translate><rotate>0 0 1 90</rotate>
<instance_node url="#shared"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""
_POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4").tobytes()
_SIDES = np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], "<u2").tobytes()
GLTF = json.dumps({
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
    "nodes": [{"translation": [10, 20, 30], "rotation": [0, 0, 0.6, 0.8], "children": [1]}, {"scale": [1, 2, 3], "mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                  {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
    "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
    "buffers": [{"uri": "data:application/octet-stream;base64," + base64.b64encode(_POINTS + _SIDES).decode(), "byteLength": 72}],
}, indent=1)  # fmt: skip
BINARY_STL = b"\0" * 80 + (4).to_bytes(4, "little") + (b"\0" * 12 + _POINTS[:36] + b"\0\0") * 4
MESHES: tuple[tuple[str, str | bytes], ...] = (
    (".stl", STL), (".obj", OBJ), (".dae", DAE), (".gltf", GLTF), (".stl", BINARY_STL))  # fmt: skip
MESH_WORDS = (
    "v",
    "f",
    "vertex",
    "facet",
    "//",
    "/",
    "nan",
    "inf",
    "-1",
    "null",
    "[]",
    "{}",
    '"mode": 5',
    "5121",
    "#g",
    "#shared",
    "<p>",
    "</p>",
)

LOG = "t,q1,q2,qd1,qd2,tau1,tau2\n" + "".join(
    f"{0.01 * k:.4g},{np.sin(0.3 * k):.5g},{np.cos(0.2 * k):.5g},{0.3 * k:.4g},{-0.1 * k:.4g},{k % 7},{k % 5}\n"
    for k in range(40)
)
POSES = "q1,q2,x,y,z,qw,qx,qy,qz\n" + "".join(
    f"{0.1 * k:.4g},{-0.2 * k:.4g},{0.01 * k:.4g},0.5,0,1,0,0,0\n" for k in range(12)
)
TABLE_WORDS = (
    "t",
    "q1",
    "time",
    "q[0]",
    "nan",
    "inf",
    "",
    ",",
    ";",
    "\t",
    "\n",
    '"',
    "x",
    "rx",
    "1e400",
    "0x10",
    "1_0",
    "１",
)


@functools.cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


@functools.cache
def arm():
    return planar([1, 1], [1, 1])


def written(suffix: str, data: str | bytes) -> Path:
    file = folder() / f"case{os.getpid()}{suffix}"
    file.write_bytes(data.encode("utf-8", "replace") if isinstance(data, str) else data)
    return file


def make_sdf(r: Random) -> str | bytes:
    return damaged(r, SDF.encode()) if r.random() < 0.1 else mutated(r, SDF, SDF_WORDS, (SDF,))


def run_sdf(text: str | bytes) -> bool:
    """Read; what TOML can hold of it reads back equal."""
    if isinstance(text, str) and "<" not in text:
        return False  # this would be a path
    robot = from_sdf(text)
    if from_toml(to_toml(robot)) != robot:
        raise AssertionError("SDF in TOML")
    return True


def make_mesh(r: Random) -> tuple[str, str | bytes]:
    suffix, seed = r.choice(MESHES)
    if isinstance(seed, bytes) or r.random() < 0.15:
        return suffix, damaged(r, seed if isinstance(seed, bytes) else seed.encode())
    return suffix, mutated(r, seed, MESH_WORDS, (seed,))


def run_mesh(case: tuple[str, str | bytes]) -> bool:
    """Triangles whose corners are there and finite."""
    mesh = read_mesh(written(*case))
    if not np.isfinite(mesh.vertices).all() or (len(mesh.faces) and mesh.faces.max() >= len(mesh.vertices)):
        raise AssertionError("corners")
    return True


def make_log(r: Random) -> str:
    return mutated(r, LOG, (*TABLE_WORDS, *NUMBERS), (LOG,))


def run_log(text: str) -> bool:
    """Signals of equal length, finite, at increasing times."""
    from manipula import read_log

    log = read_log(written(".csv", text), arm())
    if not (np.diff(log.t) > 0).all() or not all(np.isfinite(v).all() for v in (log.t, log.q)):
        raise AssertionError("times or positions")
    return True


def make_poses(r: Random) -> str:
    return mutated(r, POSES, (*TABLE_WORDS, *NUMBERS), (POSES,))


def run_poses(text: str) -> bool:
    """Turns that are turns."""
    from manipula.analysis.identification.measured_poses import read_poses

    q, poses = read_poses(written(".csv", text), arm())
    if not np.isfinite(q).all() or not np.isfinite(poses).all():
        raise AssertionError("numbers")
    if poses.ndim == 3 and not np.allclose(
        np.swapaxes(poses[:, :3, :3], 1, 2) @ poses[:, :3, :3], np.eye(3), atol=1e-9
    ):
        raise AssertionError("turns")
    return True

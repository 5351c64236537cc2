"""Meshes to look at: COLLADA and glTF give the triangles they hold; damaged, huge, endless and reaching files are refused in one way."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

import manipula as mp
from manipula.errors import DescriptionError
from manipula.formats.meshes import read_mesh
from manipula.formats.meshes.dae import _Collada
from manipula.formats.meshes.gltf import _Gltf

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
PLACED = np.array([[0.01, 0.02, 0.03], [0.01, 0.021, 0.03], [0.008, 0.02, 0.03], [0.01, 0.02, 0.033]])

FACES = """<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>"""
DAE = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit name="mm" meter="0.001"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#f" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>FACES</mesh></geometry></library_geometries>
<library_nodes><node id="shared"><scale>1 2 3</scale><instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="scene"><node><translate>10 20 30</translate><rotate>0 0 1 90</rotate>NODE</node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""
INSIDE = '<node><scale>1 2 3</scale><instance_geometry url="#g"/></node>'


def dae(faces: str = FACES, node: str = INSIDE) -> str:
    return DAE.replace("FACES", faces).replace("NODE", node)


@pytest.fixture
def read(tmp_path):
    def reader(data: str | bytes, name: str = "a.dae"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return read_mesh(path)

    return reader


def volume(mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6)


@pytest.mark.parametrize(
    "faces",
    [
        FACES,
        FACES.replace('offset="0"', 'offset="1"').replace(
            "<p>0 2 1 0 1 3 0 3 2 1 2 3", "<p>9 0 9 2 9 1 9 0 9 1 9 3 9 0 9 3 9 2 9 1 9 2 9 3"
        ),
        '<polylist count="4"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist>',
        '<polygons count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1</p><p>0 1 3</p><p>0 3 2</p><p>1 2 3</p></polygons>',
        '<tristrips count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 3 0 2</p></tristrips>',
        '<trifans count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 3 2</p><p>1 2 3</p></trifans>',
    ],
)
def test_collada_with_units_and_transforms(read, faces):
    for node in (
        INSIDE,
        '<instance_node url="#shared"/>',
        '<matrix>1 0 0 0 0 2 0 0 0 0 3 0 0 0 0 1</matrix><instance_geometry url="#g"/>',
    ):
        mesh = read(dae(faces, node))
        np.testing.assert_allclose(mesh.vertices, PLACED, atol=1e-15)
        assert len(mesh.faces) == 4
        assert volume(mesh) == pytest.approx(1e-9, rel=1e-9)


def test_a_polygon_is_cut_into_triangles(read):
    square = '<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>0 2 1 3</p></polylist>'
    assert read(dae(square)).faces.tolist() == [[0, 2, 1], [0, 1, 3]]


def test_a_mirrored_node_keeps_the_outside_outside(read):
    assert volume(read(dae(node='<scale>-1 1 1</scale><instance_geometry url="#g"/>'))) > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0 0 0 1 0 0", "0 0 nan 1 0 0"), ("0 0 0 1 0 0", "0 0 zero 1 0 0"), ("0 0 0 1 0 0", "0 0 1e300 1 0 0"), ("0 0 0 1 0 0", "0"),
        ('count="4" stride="3"', 'count="999999999" stride="3"'), ('count="4" stride="3"', 'count="4" stride="0"'),
        ('count="4" stride="3"', 'count="-4" stride="3"'), ('count="4" stride="3"', 'count="9999999999999999999999" stride="3"'),
        ("0 2 1 0 1 3", "0 2 1 0 1 99"), ("0 2 1 0 1 3", "0 2 1 0 1 -3"), ("0 2 1 0 1 3", "0 2 1 0 1"), ("0 2 1 0 1 3", "0 2 1 0 1 nan"),
        ('offset="0"', 'offset="999999999"'), ('offset="0"', 'offset="-1"'), ('source="#v"', 'source="#nothing"'), ('source="#v"', 'source="#s"'),
        ('url="#g"', 'url="other.dae#g"'), ('url="#g"', 'url="http://a.b/c.dae#g"'), ('url="#g"', 'url="#scene"'), ('meter="0.001"', 'meter="0"'),
        ('meter="0.001"', 'meter="nan"'), ("<scale>1 2 3</scale>", "<scale>1 nan 3</scale>"), ("<scale>1 2 3</scale>", "<scale>1 2</scale>"),
        ("<scale>1 2 3</scale>", "<rotate>0 0 0 90</rotate>"), ("<scale>1 2 3</scale>", "<skew>1</skew>"), ("</COLLADA>", ""),
        ('<instance_visual_scene url="#scene"/>', '<instance_visual_scene url="#none"/>'), ("COLLADA", "robot"),
        ("<?xml version", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><?xml version"),
        ('<COLLADA xmlns', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA xmlns'), ('<instance_geometry url="#g"/>', ""),
    ],
)  # fmt: skip
def test_damaged_collada_is_refused(read, old, new):
    text = dae()
    assert old in text
    with pytest.raises(DescriptionError, match=r"a\.dae"):
        read(text.replace(old, new))


def test_nodes_that_hold_themselves_end(read):
    endless = dae(node='<instance_node url="#shared"/>').replace(
        "<scale>1 2 3</scale>", '<instance_node url="#shared"/>'
    )
    with pytest.raises(DescriptionError, match="nodes"):
        read(endless)
    nodes = "".join(f'<node id="n{k}">' + 10 * f'<instance_node url="#n{k + 1}"/>' + "</node>" for k in range(30))
    wide = dae(node='<instance_node url="#n0"/>').replace("<library_nodes>", f'<library_nodes><node id="n30"/>{nodes}')
    with pytest.raises(DescriptionError, match="nodes"):
        read(wide)


def test_a_mesh_shown_many_times_is_counted_each_time(read, monkeypatch):
    monkeypatch.setattr("manipula.formats.meshes.triangles.MAX_TRIANGLES", 10)
    assert len(read(dae(node=2 * INSIDE)).faces) == 8
    with pytest.raises(DescriptionError, match="at most 10"):
        read(dae(node=3 * INSIDE))


def gltf(folder=None, uri: str | None = None, indices: str = "<u2", **changes) -> dict:
    points, corners = CORNERS.astype("<f4").tobytes(), SIDES.astype(indices).tobytes()
    data = points + corners
    component = {"<u1": 5121, "<u2": 5123, "<u4": 5125}[indices]
    if uri is None:
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    elif folder is not None:
        (folder / uri).write_bytes(data)
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"translation": [10, 20, 30], "rotation": [0, 0, np.sqrt(0.5), np.sqrt(0.5)], "children": [1]}, {"scale": [1, 2, 3], "mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 1, "componentType": component, "count": 12, "type": "SCALAR"}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": len(corners)}],
        "buffers": [{"uri": uri, "byteLength": len(data)}], **changes,
    }  # fmt: skip


def glb(root: dict) -> bytes:
    root = json.loads(json.dumps(root))
    data = base64.b64decode(root["buffers"][0].pop("uri").split(",")[1])
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    parts = b"".join(len(p).to_bytes(4, "little") + kind + p for p, kind in ((text, b"JSON"), (data, b"BIN\0")))
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(parts)).to_bytes(4, "little") + parts


@pytest.mark.parametrize("indices", ["<u1", "<u2", "<u4"])
def test_gltf_with_its_buffer_inside_beside_and_behind(read, tmp_path, indices):
    for name, data in (
        ("a.gltf", json.dumps(gltf(indices=indices))), ("b.gltf", json.dumps(gltf(tmp_path, "b.bin", indices))), ("c.glb", glb(gltf(indices=indices))),
    ):  # fmt: skip
        mesh = read(data, name)
        np.testing.assert_allclose(mesh.vertices * 0.001, PLACED, atol=1e-12)
        assert mesh.faces.tolist() == SIDES.tolist()


def test_strips_fans_strides_and_matrices_of_gltf(read):
    root = gltf()
    root["nodes"] = [{"matrix": [0, 1, 0, 0, -2, 0, 0, 0, 0, 0, 3, 0, 10, 20, 30, 1], "mesh": 0}]
    np.testing.assert_allclose(read(json.dumps(root), "a.gltf").vertices * 0.001, PLACED, atol=1e-12)
    del root["scenes"], root["scene"]
    assert len(read(json.dumps(root), "a.gltf").faces) == 4
    root["bufferViews"][0]["byteStride"] = 12
    for mode, count in ((5, 10), (6, 10), (4, 4)):
        root["meshes"][0]["primitives"][0]["mode"] = mode
        assert len(read(json.dumps(root), "a.gltf").faces) == count
    root["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0}, "mode": 1})
    assert len(read(json.dumps(root), "a.gltf").faces) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes": [{"children": [0], "mesh": 0}]}, {"nodes": [{"children": [0] * 1000}]}, {"nodes": [{"mesh": 7}]}, {"nodes": [{"mesh": -1}]},
        {"nodes": [{"mesh": True}]}, {"nodes": 5}, {"nodes": []}, {"nodes": [{"mesh": 0, "scale": [1, 1]}]}, {"scenes": [{}]}, {"scene": "x"},
        {"nodes": [{"mesh": 0, "scale": [1, 1, 10**400]}]}, {"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, {"nodes": [{"mesh": 0, "matrix": 4}]},
        {"buffers": [{"uri": "http://a.b/c.bin", "byteLength": 72}]}, {"buffers": [{"uri": "../c.bin", "byteLength": 72}]}, {"buffers": [{}]},
        {"buffers": [{"uri": "/etc/passwd"}]}, {"buffers": [{"uri": "file:///etc/passwd"}]}, {"buffers": [{"uri": "none.bin"}]},
        {"buffers": [{"uri": "data:;base64,!!"}]}, {"buffers": [{"uri": "data:text/plain,abc"}]}, {"buffers": [{"uri": 5}]}, {"buffers": []},
        {"buffers": [{"uri": "%2e%2e/c.bin"}]}, {"bufferViews": [{"buffer": 0, "byteLength": 10**18}] * 2}, {"bufferViews": [{"buffer": 0}] * 2},
        {"bufferViews": [{"buffer": 0, "byteOffset": -4, "byteLength": 48}] * 2}, {"bufferViews": [{"buffer": 0, "byteLength": 8}] * 2},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "count": 10**9, "type": "VEC3"}] * 2},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "sparse": {}}] * 2},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                       {"bufferView": 1, "componentType": 5126, "count": 4, "type": "SCALAR"}]},
        {"meshes": [{"primitives": [5]}]}, {"meshes": [{}]}, {"meshes": [{"primitives": [{"attributes": {}}]}]},
        {"extensionsRequired": ["KHR_draco_mesh_compression"]},
    ],
)  # fmt: skip
def test_damaged_gltf_is_refused(read, changes):
    with pytest.raises(DescriptionError, match=r"a\.gltf"):
        read(json.dumps(gltf(**changes)), "a.gltf")


def test_coordinates_of_gltf_that_are_no_numbers(read):
    root = gltf()
    data = np.full((4, 3), np.nan, "<f4").tobytes() + SIDES.astype("<u2").tobytes()
    root["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(data).decode()
    with pytest.raises(DescriptionError, match="not finite"):
        read(json.dumps(root), "a.gltf")
    data = CORNERS.astype("<f4").tobytes() + (SIDES + 2).astype("<u2").tobytes()
    root["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(data).decode()
    with pytest.raises(DescriptionError, match="not there"):
        read(json.dumps(root), "a.gltf")


def test_every_cut_of_a_file_is_refused_or_read(read):
    """No cut raises anything but our own error."""
    whole = {"a.glb": glb(gltf()), "a.gltf": json.dumps(gltf()).encode(), "a.dae": dae().encode()}
    for name, data in whole.items():
        for end in range(0, len(data) - 1, 17):
            try:
                read(data[:end], name)
            except DescriptionError:
                continue
            pytest.fail(f"{name} cut at {end} was read")
    for text in ("[" * 100_000, "null", "5", '{"nodes": [{}]}', ""):
        with pytest.raises(DescriptionError):
            read(text, "a.gltf")


def test_one_buffer_named_many_times_is_no_way_around_the_budget(read, monkeypatch):
    """Pieces are counted as they are read, not after all of them have been."""
    monkeypatch.setattr("manipula.formats.meshes.triangles.MAX_TRIANGLES", 10)
    made: list[int] = []
    root = gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}] * 5000}])
    original = _Gltf._primitive
    monkeypatch.setattr(_Gltf, "_primitive", lambda self, row: (made.append(1), original(self, row))[1])
    with pytest.raises(DescriptionError, match="at most 10"):
        read(json.dumps(root), "a.gltf")
    first = _Collada._faces
    monkeypatch.setattr(_Collada, "_faces", lambda self, e: (made.append(1), first(self, e))[1])
    with pytest.raises(DescriptionError, match="at most 10"):
        read(dae(node=5000 * '<instance_geometry url="#g"/>'))
    assert len(made) < 10


MATERIALS = """<library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong><diffuse><color>0.9 0.2 0.1 0</color></diffuse></phong></technique>
</profile_COMMON></effect><effect id="pic"><profile_COMMON><technique>
<lambert><diffuse><texture texture="p" texcoord="c"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects><library_materials><material id="red"><instance_effect url="#e"/></material>
<material id="wood"><instance_effect url="#pic"/></material></library_materials>"""
HALVES = "".join(
    f'<triangles count="2" material="{name}"><input semantic="VERTEX" source="#v" offset="0"/><p>{p}</p></triangles>'
    for name, p in (("r", "0 2 1 0 1 3"), ("w", "0 3 2 1 2 3"))
)


def painted(text: str, target: str = "#red") -> str:
    bound = (
        f'<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="r" target="{target}"/>'
        '<instance_material symbol="w" target="#wood"/></technique_common></bind_material></instance_geometry>'
    )
    return text.replace('<instance_geometry url="#g"/>', bound).replace(
        "<library_geometries>", f"{MATERIALS}<library_geometries>"
    )


def test_collada_gives_the_diffuse_colours_of_its_materials(read):
    mesh = read(painted(dae(HALVES)))
    assert mesh.colours[:2].tolist() == [[0.9, 0.2, 0.1, 1.0]] * 2
    assert np.isnan(mesh.colours[2:]).all()  # a texture is no colour
    parts = dict(mesh.by_colour())
    assert set(parts) == {(0.9, 0.2, 0.1, 1.0), None}
    assert sum(len(p.faces) for p in parts.values()) == 4
    for part in parts.values():
        assert set(part.faces.ravel()) == set(range(len(part.vertices)))
    for damaged in (
        painted(dae(HALVES), "#gone"),
        painted(dae(HALVES)).replace("0.9 0.2 0.1 0", "0.9 nan x"),
        dae(HALVES),
    ):
        assert read(damaged).colours is None


@pytest.mark.parametrize(
    ("material", "colour"),
    [
        ({"pbrMetallicRoughness": {"baseColorFactor": [1.0, 0.0, 0.2158605, 0.5]}}, [1.0, 0.0, 0.5019607, 1.0]),
        ({"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 0.5]}, "alphaMode": "BLEND"}, [1.0, 0.0, 0.0, 0.5]),
        ({}, [1.0, 1.0, 1.0, 1.0]),
        ({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}, None),
        ({"pbrMetallicRoughness": {"baseColorFactor": [1, "x", 0, 1]}}, None),
        ({"pbrMetallicRoughness": 3}, None),
        (7, None),
    ],
)
def test_gltf_gives_the_base_colour_of_its_materials(read, material, colour):
    """0.2158605 of linear light is the value 128 of 255 on a screen."""
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, "material": 0}
    mesh = read(json.dumps(gltf(materials=[material], meshes=[{"primitives": [primitive]}])), "a.gltf")
    if colour is None:
        assert mesh.colours is None
    else:
        np.testing.assert_allclose(mesh.colours, [colour] * 4, atol=1e-6)


def test_obj_files_that_give_masses_have_a_budget_together(tmp_path):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    big = corners + "# nothing\n" * 1_800_000  # 18 MB
    names = [f"m{k}" for k in range(2)]
    for name in names:
        (tmp_path / f"{name}.obj").write_text(big)
    assets = "".join(f'<mesh name="{name}" file="{name}.obj"/>' for name in names)
    geoms = "".join(f'<geom type="mesh" mesh="{name}"/>' for name in names)
    text = f'<mujoco><asset>{assets}</asset><worldbody><body><joint axis="0 0 1"/>{geoms}</body></worldbody></mujoco>'
    (tmp_path / "arm.xml").write_text(text)
    with pytest.raises(DescriptionError, match=r"256 MiB together, text of OBJ files counted 8 times"):
        mp.load(tmp_path / "arm.xml")
    (tmp_path / "m1.obj").write_text(corners)
    assert mp.load(tmp_path / "arm.xml").n == 1

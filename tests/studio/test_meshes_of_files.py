"""The studio shows the mesh files of the file that it begins with, and no other ones."""

from __future__ import annotations

import shutil
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
from manipula.errors import DescriptionError
from manipula.studio import documents
from manipula.studio.documents import opened, opened_file, robot_from_document, scenario_from, text_of

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)[
    [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
]
SHAPE = '[[visual]]\nlink = "link1"\nkind = "mesh"\nfile = "meshes/a.stl"\n'
URDF = """<robot name="arm"><link name="base"/><link name="link1"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://own/meshes/a.stl"/></geometry></visual></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="link1"/><axis xyz="0 1 0"/></joint></robot>"""
MJCF = '<mujoco><include file="body.xml"/></mujoco>'
BODY = """<mujoco><asset><mesh name="a" file="meshes/a.stl"/></asset><worldbody><body><joint axis="0 1 0"/>
  <inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="a" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
FILES = {
    "urdf/arm.urdf": URDF,
    "arm.xml": MJCF,
    "arm.toml": "[planar]\nlengths = [0.4]\nmasses = [1]\n" + SHAPE,
    "run.toml": "duration = 1\nq0 = [0.1]\n[robot.planar]\nlengths = [0.4]\nmasses = [1]\n"
    + SHAPE.replace("[[", "[[robot."),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MESHES", set())
    own = tmp_path / "own"
    for name in ("meshes", "urdf"):
        (own / name).mkdir(parents=True)
    (own / "package.xml").write_text("<package/>")
    (own / "body.xml").write_text(BODY)
    row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(4, row)
    rows["corners"] = TETRAHEDRON
    (own / "meshes" / "a.stl").write_bytes(bytes(80) + (4).to_bytes(4, "little") + rows.tobytes())
    for name, text in FILES.items():
        (own / name).write_text(text)
    return own


def shown(document: dict[str, Any]) -> list[str]:
    return [shape.file for shape in robot_from_document(document).appearance]


@pytest.mark.parametrize("name", FILES)
def test_meshes_of_the_file_it_begins_with_are_shown(folder, name):
    from manipula.studio.robot_view import robot_view

    mesh = str((folder / "meshes" / "a.stl").resolve())
    document = opened_file(folder / name)
    assert shown(document) == [mesh]
    assert [shape.file for shape in scenario_from(document).robot.appearance] == [mesh]
    view = robot_view(robot_from_document(document))
    assert view["drawn"]["page"]["robots"][0]["surfaces"]
    assert not any("not shown" in note for note in view["notes"])

    (folder / "saved.toml").write_text(text_of(document))  # begun anew with what was saved
    documents.MESHES.clear()
    assert shown(opened_file(folder / "saved.toml")) == [mesh]


def test_no_other_mesh_is_shown(folder, tmp_path):
    document = opened_file(folder / "arm.toml")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(folder / "meshes" / "a.stl", elsewhere / "b.stl")
    (folder / "meshes" / "link.stl").symlink_to(elsewhere / "b.stl")
    for file in (
        elsewhere / "b.stl",
        folder / "meshes" / "link.stl",
        folder / "meshes" / ".." / ".." / "elsewhere" / "b.stl",
        "b.stl",
        "/etc/passwd",
    ):
        other = deepcopy(document)
        other["robot"]["visual"][0]["file"] = str(file)
        assert shown(other) == [], file
    text = (folder / "arm.toml").read_text().replace("meshes/a.stl", str(elsewhere / "b.stl"))
    (folder / "arm.toml").write_text(text)
    documents.MESHES.clear()
    assert shown(opened_file(folder / "arm.toml")) == []
    assert not documents.MESHES


def test_a_file_that_is_dropped_shows_no_mesh(folder):
    for name in FILES:
        if name == "arm.xml":
            with pytest.raises(DescriptionError):
                opened(name, FILES[name])
        else:
            assert shown(opened(name, FILES[name])) == []


def test_meshes_that_went_away_leave_the_arm(folder):
    document = opened_file(folder / "arm.toml")
    shutil.rmtree(folder / "meshes")
    assert shown(document) == []
    assert scenario_from(document).robot.n == 1


def test_answers_with_meshes_are_not_kept_for_the_next_studio(folder):
    from manipula.studio.first_answers import FirstAnswers

    kept = FirstAnswers()
    for question, answer in ((b'{"kind": "mesh"}', None), (b'{"kind": "box"}', b"{}")):
        kept.note("robot", question, {}, b"{}")
        kept.close()
        assert kept.find("robot", question, {}) == answer

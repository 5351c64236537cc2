"""A robot as triangles: closed surfaces of the right size where the robot stands, under a budget, whatever its files hold."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import manipula as mp
from manipula.algebra import rotation
from manipula.algebra.pose import Pose
from manipula.errors import ManipulaError
from manipula.formats.meshes import Triangles
from manipula.physics.kinematics import poses
from manipula.reports.mechanism import TRIANGLES, mechanism_of
from manipula.reports.packed import Packer
from manipula.reports.scene import UNCOLOURED, scene
from manipula.reports.skeleton import skeleton
from manipula.reports.tessellation import simplified, triangles_of
from manipula.robot.appearance import Visual
from packed_arrays import unpacked

WHERE = Pose.of(rotation.from_rpy(0.3, -0.2, 0.7), (0.1, 0.2, 0.3))


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", np.cross(a, b), c) / 6)


def stl(mesh: Triangles) -> bytes:
    row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(len(mesh.faces), row)
    rows["corners"] = mesh.vertices[mesh.faces]
    return bytes(80) + len(mesh.faces).to_bytes(4, "little") + rows.tobytes()


@pytest.mark.parametrize(
    ("kind", "size", "ideal"),
    [
        ("box", (0.1, 0.2, 0.3), 0.006), ("sphere", (0.5,), np.pi / 6), ("ellipsoid", (0.1, 0.2, 0.3), 0.008 * np.pi),
        ("cylinder", (0.2, 0.5), 0.02 * np.pi), ("capsule", (0.2, 0.5), 0.02 * np.pi + 4 / 3 * np.pi * 0.008),
    ],
)  # fmt: skip
def test_simple_bodies_are_closed_and_nearly_as_large(kind, size, ideal):
    vertices, faces, _ = triangles_of(Visual(0, kind, size))
    assert volume(vertices, faces) == pytest.approx(ideal, rel=0.03)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    assert {tuple(e) for e in edges.tolist()} == {(b, a) for a, b in edges.tolist()}  # every edge, once each way
    assert len({tuple(e) for e in edges.tolist()}) == len(edges)
    reach = {
        "box": (0.05, 0.1, 0.15),
        "sphere": (0.5,) * 3,
        "ellipsoid": size,
        "cylinder": (0.2, 0.2, 0.25),
        "capsule": (0.2, 0.2, 0.45),
    }[kind]
    np.testing.assert_allclose(np.abs(vertices).max(axis=0), reach, atol=1e-12)


@pytest.fixture
def arm(tmp_path):
    ball = triangles_of(Visual(0, "sphere", (0.2,)))
    (tmp_path / "ball.stl").write_bytes(stl(ball))
    robot = mp.load("scara-khang").numeric
    shapes = (
        Visual(-1, "box", (0.1, 0.2, 0.3)), Visual(0, "cylinder", (0.1, 0.3), WHERE, (1.0, 0.0, 0.0, 1.0)),
        Visual(0, "sphere", (0.1,), WHERE, (1.0, 0.0, 0.0, 1.0)),
        Visual(1, "mesh", (1.0, -2.0, 1.0), WHERE, None, str(tmp_path / "ball.stl")),
    )  # fmt: skip
    return robot.replace(appearance=shapes)


def test_pieces_stand_where_the_robot_is(arm):
    q = np.array([0.3, -0.4, 0.1, 0.2][: arm.n])
    shown = scene(arm, q)
    assert [s.link for s in shown.surfaces] == [-1, 0, 1]  # what moves together in one colour is one piece
    assert shown.notes == ()
    bodies = np.array(poses(arm, q, tuple(x.name for x in arm.links)), float)
    np.testing.assert_allclose(shown.poses, [np.array(arm.base.matrix(), float), bodies[0], bodies[1]], atol=1e-12)
    assert shown.surfaces[1].colour == (1.0, 0.0, 0.0, 1.0)
    mesh = shown.surfaces[2]
    assert volume(mesh.vertices, mesh.faces) == pytest.approx(
        2 * 4 / 3 * np.pi * 0.008, rel=0.03
    )  # mirrored, yet not inside out
    np.testing.assert_allclose(mesh.vertices.mean(axis=0), WHERE.translation, atol=1e-3)
    assert scene(arm).surfaces is scene(arm, q).surfaces  # made once


def test_a_robot_without_appearance_shows_nothing():
    assert scene(mp.load("scara-khang")).surfaces == ()
    assert scene(mp.load("scara-khang")).poses.shape == (0, 4, 4)


def test_more_triangles_than_the_budget_are_made_fewer(arm):
    full = sum(len(s.faces) for s in scene(arm).surfaces)
    for most in (full, full // 2, 100, 1):
        shown = scene(arm, triangles=most)
        assert sum(len(s.faces) for s in shown.surfaces) <= most
        assert bool(shown.notes) == (most < full)
        for s in shown.surfaces:
            assert len(s.faces) == 0 or s.faces.max() < len(s.vertices)


def test_a_fine_mesh_keeps_its_shape():
    u, v = np.meshgrid(
        np.linspace(0, 2 * np.pi, 200, endpoint=False), np.linspace(0, 2 * np.pi, 100, endpoint=False), indexing="ij"
    )
    points = np.stack(
        [(1 + 0.3 * np.cos(v)) * np.cos(u), (1 + 0.3 * np.cos(v)) * np.sin(u), 0.3 * np.sin(v)], axis=-1
    ).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(200), np.arange(100), indexing="ij")
    at = lambda a, b: ((a % 200) * 100 + b % 100).reshape(-1)
    faces = np.concatenate(
        [
            np.column_stack([at(i, j), at(i + 1, j), at(i + 1, j + 1)]),
            np.column_stack([at(i, j), at(i + 1, j + 1), at(i, j + 1)]),
        ]
    )
    coarse = simplified(Triangles(points, faces), 4000)
    assert 500 < len(coarse.faces) <= 4000
    assert volume(*coarse[:2]) == pytest.approx(volume(points, faces), rel=0.05)


def test_mesh_files_that_are_gone_or_damaged_are_told(arm, tmp_path):
    before = len(scene(arm).surfaces)
    (tmp_path / "ball.stl").write_bytes(b"nothing")
    shown = scene(arm)
    assert len(shown.surfaces) == before - 1
    assert "1 mesh files are not shown" in shown.notes[0]
    (tmp_path / "ball.stl").unlink()
    assert "does not exist" in scene(arm).notes[0]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"q": [0.0]}, "one number per joint"),
        ({"q": "x"}, "numbers in equal rows"),
        ({"q": [np.nan] * 4}, r"'q\[0\]' is nan"),
        ({"triangles": 0}, "allowed is 1 to"),
        ({"triangles": 1.5}, "must be a whole number"),
        ({"triangles": 10**9}, "allowed is 1 to"),
    ],
)
def test_requests_that_are_refused(arm, wrong, told):
    with pytest.raises(ManipulaError, match=told):
        scene(arm, **wrong)


def test_what_is_no_robot_is_refused():
    with pytest.raises(ManipulaError, match="takes a Robot, found str"):
        scene("arm")  # pyright: ignore[reportArgumentType]


def placed(told: dict, q: np.ndarray) -> list[np.ndarray]:
    """Poses of the bodies as the page computes them (web/src/kinematics.ts): X_WP · placement · motion · frame."""

    def matrix(rows: list[float]) -> np.ndarray:
        return np.vstack([np.reshape(rows, (3, 4)), [0, 0, 0, 1]])

    found: list[np.ndarray] = []
    positions = [*q, *(f["offset"] + f["ratio"] * q[f["leader"]] for f in told["followers"])]
    for body, at in zip(told["bodies"], positions):
        move = np.eye(4)
        if body["slides"]:
            move[:3, 3] = at * np.array(body["axis"])
        else:
            move[:3, :3] = np.array(rotation.about_axis(body["axis"], at), float)
        parent = matrix(told["base"]) if body["parent"] < 0 else found[body["parent"]]
        found.append(parent @ matrix(body["placement"]) @ move @ matrix(body["frame"]))
    return found


def test_a_report_is_fed_with_surfaces_and_joints_that_place_them(arm):
    q = np.array([[0.3, -0.4, 0.1, 0.2], [0.1, 0.2, 0.0, -0.3]])[:, : arm.n]
    packer = Packer()
    told = mechanism_of(arm, skeleton(arm, q), packer)
    arrays = unpacked(packer.arrays, packer.text())
    assert [s["body"] for s in told["surfaces"]] == [-1, 0, 1]
    assert told["surfaces"][1]["colour"] == [1.0, 0.0, 0.0, 1.0]
    for at in q:
        expected = scene(arm, at)
        mine = placed(told, at)
        np.testing.assert_allclose(mine[0], expected.poses[1], atol=1e-12)
        np.testing.assert_allclose(mine[1], expected.poses[2], atol=1e-12)
    for surface, own in zip(told["surfaces"], scene(arm).surfaces):
        np.testing.assert_allclose(arrays[surface["corners"]], own.vertices, atol=1e-7)
        assert np.array_equal(arrays[surface["faces"]], own.faces)
    assert sum(packer.arrays[s["faces"]]["rows"] for s in told["surfaces"]) <= TRIANGLES
    assert mechanism_of(arm.replace(appearance=()), skeleton(arm, q), Packer())["surfaces"] == []


def test_a_body_is_shown_by_the_ellipsoid_of_its_inertia():
    arm = mp.load("panda").numeric
    told = mechanism_of(arm, skeleton(arm, np.zeros((1, 7))), Packer())
    for link, body in zip(arm.bodies, told["bodies"]):
        found = body["inertia"]
        axes, half = np.reshape(found["axes"], (3, 3)), np.array(found["half"])
        moments = found["mass"] / 5 * (np.sum(half**2) - half**2)  # of a solid ellipsoid
        np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, np.array(link.inertia, float), atol=1e-3 * found["mass"])  # fmt: skip


def test_a_mesh_shows_its_own_colours_unless_the_description_states_one(arm, monkeypatch):
    ball = triangles_of(Visual(0, "sphere", (0.2,)))
    half = len(ball.faces) // 2
    colours = np.where(np.arange(len(ball.faces))[:, None] < half, [0.0, 0.0, 1.0, 1.0], [np.nan] * 4)
    monkeypatch.setattr("manipula.reports.scene.read_mesh", lambda *_: ball._replace(colours=colours))
    mesh = arm.appearance[-1]
    own = scene(arm.replace(appearance=(mesh,))).surfaces
    assert {(s.colour, len(s.faces)) for s in own} == {
        ((0.0, 0.0, 1.0, 1.0), half),
        (UNCOLOURED, len(ball.faces) - half),
    }
    few = scene(arm.replace(appearance=(mesh,)), triangles=100).surfaces
    assert sum(len(s.faces) for s in few) <= 100
    (one,) = scene(arm.replace(appearance=(dataclasses.replace(mesh, colour=(1.0, 0.0, 0.0, 1.0)),))).surfaces
    assert one.colour == (1.0, 0.0, 0.0, 1.0)

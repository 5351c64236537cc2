"""Orientation along a path: rotations, their rates, interpolation between keys."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from manipula.errors import DescriptionError, ShapeError
from manipula.motion import paths, timing
from manipula.motion.trajectory import trajectory

POINTS = [(0, 0, 0), (1, 0, 0.2), (1, 1, 0.3), (0.2, 1.2, 0.8)]
ROUNDOFF = 1e-12
KEYS = Rotation.random(4, np.random.default_rng(7))  # the name of the generator is new in SciPy 1.15
WXYZ = KEYS.as_quat(scalar_first=True)

ORIENTATIONS = {
    "constant": lambda: paths.orientation.constant(WXYZ[0]),
    "tangent": lambda: paths.orientation.tangent(),
    "slerp": lambda: paths.orientation.slerp_keys(WXYZ),
    "squad": lambda: paths.orientation.squad(WXYZ),
}


def oriented(name):
    return paths.spline(POINTS).with_orientation(ORIENTATIONS[name]())


@pytest.mark.parametrize("name", ORIENTATIONS)
def test_rotations_are_rotations_and_rates_follow(name):
    motion = trajectory(oriented(name), timing.quintic(2.0))
    t = np.linspace(0.03, 1.97, 41)
    X = motion.pose(t)
    R = X[:, :3, :3]
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), R.shape), atol=ROUNDOFF)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=ROUNDOFF)
    np.testing.assert_array_equal(X[:, 3], np.broadcast_to([0, 0, 0, 1], (41, 4)))
    np.testing.assert_allclose(X[:, :3, 3], motion.position(t))
    h = 1e-4  # central differences: error O(h²) on rates of order 10
    before, after = motion.rotation(t - h), motion.rotation(t + h)
    turn = Rotation.from_matrix(after @ before.transpose(0, 2, 1)).as_rotvec() / (2 * h)
    keys = np.linspace(0, motion.path.length, 4)[1:-1]
    smooth = np.abs(motion.arc_length(t, 0)[0][:, None] - keys).min(axis=1) > 0.01
    np.testing.assert_allclose(motion.angular_velocity(t)[smooth], turn[smooth], atol=2e-5)
    spin = (motion.angular_velocity(t + h) - motion.angular_velocity(t - h)) / (2 * h)
    np.testing.assert_allclose(motion.angular_acceleration(t)[smooth], spin[smooth], atol=2e-4)


def test_slerp_is_scipys():
    path = oriented("slerp")
    s = np.linspace(0, path.length, 50)
    expected = Slerp(np.linspace(0, path.length, 4), KEYS)(s).as_matrix()
    np.testing.assert_allclose(path.rotation(s)[0], expected, atol=ROUNDOFF)
    placed = paths.spline(POINTS).with_orientation(paths.orientation.slerp_keys(WXYZ, at=[0, 0.1, 0.5, 1]))
    expected = Slerp(path.length * np.array([0, 0.1, 0.5, 1]), KEYS)(s).as_matrix()
    np.testing.assert_allclose(placed.rotation(s)[0], expected, atol=ROUNDOFF)


def test_squad_passes_its_keys_with_a_continuous_rate():
    path = oriented("squad")
    keys = np.linspace(0, path.length, 4)
    np.testing.assert_allclose(path.rotation(keys)[0], KEYS.as_matrix(), atol=1e-10)
    left, right = (path.rotation(keys[1:-1], 1, side)[1] for side in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=1e-9)
    jump = oriented("slerp").rotation(keys[1:-1], 1, "left")[1] - oriented("slerp").rotation(keys[1:-1], 1, "right")[1]
    assert np.abs(jump).max() > 0.1


def test_tangent_follows_the_path():
    path = oriented("tangent")
    s = np.linspace(0, path.length, 20)
    R = path.rotation(s)[0]
    np.testing.assert_allclose(R[:, :, 0], path.tangent(s), atol=ROUNDOFF)
    assert np.all(R[:, 2, 2] > 0)
    np.testing.assert_allclose(R[:, 2, 1], 0, atol=ROUNDOFF)  # y stays level
    rise = paths.line((0, 0, 0), (0, 0, 1)).with_orientation(paths.orientation.tangent())
    with pytest.raises(DescriptionError, match="choose another 'up'"):
        rise.rotation(0.5)


def test_equal_keys_do_not_turn():
    path = paths.line((0, 0), (1, 0)).with_orientation(paths.orientation.squad([WXYZ[0], -WXYZ[0], WXYZ[0]]))
    R = path.rotation(np.linspace(0, 1, 9), 2)
    np.testing.assert_allclose(R[0], np.broadcast_to(KEYS[0].as_matrix(), (9, 3, 3)), atol=ROUNDOFF)
    np.testing.assert_allclose(R[1:], 0, atol=1e-10)


def test_quaternions_keep_their_sign_together():
    motion = trajectory(paths.circle((0, 0), 1).with_orientation(paths.orientation.tangent()), timing.quintic(1.0))
    q = motion.quaternion_wxyz(np.linspace(0, 1, 200))
    assert q.shape == (200, 4)
    assert np.all(np.sum(q[1:] * q[:-1], axis=1) > 0.99)


def test_composition_carries_the_orientation():
    path = oriented("squad")
    s = np.linspace(0, path.length, 11)
    R = path.rotation(s, 1)
    back = paths.reverse(path).rotation(path.length - s, 1, "left")
    np.testing.assert_allclose(back[0], R[0], atol=1e-10)
    np.testing.assert_allclose(back[1], -R[1], atol=1e-8)
    X = np.eye(4)
    X[:3, :3] = KEYS[1].as_matrix()
    np.testing.assert_allclose(paths.transform(path, X).rotation(s)[0], X[:3, :3] @ R[0], atol=ROUNDOFF)
    np.testing.assert_allclose(paths.scale(path, 2.0).rotation(2 * s, 1)[1], R[1] / 2, atol=1e-10)
    both = paths.concatenate([path, paths.reverse(path)])
    np.testing.assert_allclose(both.rotation(s)[0], R[0], atol=1e-10)
    np.testing.assert_allclose(both.rotation(2 * path.length - s)[0], R[0], atol=1e-10)
    with pytest.raises(DescriptionError, match="all paths carry"):
        paths.concatenate([path, paths.reverse(paths.spline(POINTS))])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: paths.orientation.constant([0, 0, 0, 0]), DescriptionError, "zero quaternion"),
        (lambda: paths.orientation.constant(np.ones((3, 3))), DescriptionError, "not a rotation matrix"),
        (lambda: paths.orientation.constant([1, 0, 0]), ShapeError, "quaternion wxyz"),
        (lambda: paths.orientation.slerp_keys([WXYZ[0]]), DescriptionError, "two or more"),
        (lambda: paths.orientation.slerp_keys(WXYZ, at=[0, 1]), DescriptionError, "increasing fractions"),
        (
            lambda: paths.joint([[0, 0], [1, 1]]).with_orientation(ORIENTATIONS["tangent"]()),
            DescriptionError,
            "joints fix",
        ),
    ],
)
def test_wrong_orientations_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()

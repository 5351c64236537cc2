"""Kinematic calibration: against truth with known errors, Pinocchio's poses and SciPy on forward kinematics of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import manipula as mp
from manipula.analysis.identification.calibration import calibrate
from manipula.analysis.identification.kinematic_errors import AXES, SerialChain, moved
from manipula.analysis.identification.measured_poses import read_poses
from manipula.errors import DescriptionError, ShapeError, SolveError
from oracles import Judge

EXACT = 1e-9
DEVICE = np.eye(4)
DEVICE[:3, :3] = Rotation.from_rotvec([0.3, -0.2, 1.1]).as_matrix()
DEVICE[:3, 3] = 1.5, -0.8, 0.4


@pytest.fixture(scope="module")
def arm():
    return mp.load("panda")


def postures(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    lower, upper = robot.position_limits.T
    return rng.uniform(lower, upper, (count, robot.n))


def measured(robot, q, base=DEVICE):
    """Poses by Pinocchio, seen by a device."""
    judge = Judge(robot)
    return np.array([base @ judge.pose(x) for x in q])


def truth(robot, names, seed=1, size=2e-3):
    """A robot that is wrong by known errors in the named places, and the errors."""
    chain, rng = SerialChain.to(robot), np.random.default_rng(seed)
    errors = np.zeros((len(chain.places), 6))
    for name in names:
        place, axis = name.rsplit(" ", 1)
        if place != "base":
            errors[chain.places.index(place), AXES.index(axis)] = size * rng.normal()
    return chain.corrected(errors), errors


def noisy(poses, position, rotation, seed=0):
    rng = np.random.default_rng(seed)
    out = poses.copy()
    out[:, :3, 3] += position * rng.normal(size=(len(poses), 3))
    out[:, :3, :3] = Rotation.from_rotvec(rotation * rng.normal(size=(len(poses), 3))).as_matrix() @ out[:, :3, :3]
    return out


@pytest.mark.parametrize("full", [True, False])
def test_without_noise_the_identifiable_errors_are_exact(arm, full):
    q = postures(arm, 60)
    seen = measured(arm, q)
    names = calibrate(arm, q, seen if full else seen[:, :3, 3]).names
    wrong, errors = truth(arm, names)
    poses = measured(wrong, q)
    found = calibrate(arm, q, poses if full else poses[:, :3, 3], validate=0.3)
    assert found.names == names
    assert found.errors[1:] == pytest.approx(errors[1:], abs=EXACT)
    assert found.base == pytest.approx(DEVICE, abs=EXACT)
    assert found.after.position < EXACT
    assert found.validation[1].position < EXACT
    assert found.before.position > 1e-3
    corrected = mp.compile(found.robot)
    assert DEVICE @ corrected.pose(q) == pytest.approx(poses, abs=1e-8)


def test_the_number_of_identifiable_errors_is_the_known_one(arm):
    """4 per turning joint, 2 per sliding one, 6 for base and tool together with full poses [Everett, Driels & Mooring 1987]."""
    q = postures(arm, 60)
    found = calibrate(arm, q, measured(arm, q))
    assert len(found.names) == 4 * 7 + 6
    slider = mp.load("scara-khang")
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (60, slider.n)) * 0.5
    found = calibrate(slider, q, measured(slider, q))
    kinds = [j.is_revolute for j in slider.joints]
    assert len(found.names) == 4 * sum(kinds) + 2 * (len(kinds) - sum(kinds)) + 6
    left = {name for name, _ in found.left_out}
    assert len(left) + len(found.names) == 6 * (slider.n + 2)
    assert all(like for _, like in found.left_out)


def test_errors_that_act_only_because_of_others_are_found_where_the_places_show_them():
    """The tip of a UR5e lies on the axis of its last joint, whose tilt moves it only once it is beside it: all errors of a robot, by places alone."""
    robot = mp.load("ur5e")
    q, other = np.random.default_rng(5).uniform(-2.0, 2.0, (2, 60, 6))
    wrong, _ = truth(robot, [f"{place} {axis}" for place in SerialChain.to(robot).places for axis in AXES])
    seen, new = measured(wrong, q)[:, :3, 3], measured(wrong, other)[:, :3, 3]
    found = calibrate(robot, q, seen, validate=(other, new))
    assert found.after.position < EXACT
    assert found.validation[1].position < EXACT
    rough = seen + 1e-3 * np.random.default_rng(6).normal(size=seen.shape)
    assert len(calibrate(robot, q, rough).names) < len(found.names)


def test_noise_is_reached_and_intervals_cover(arm):
    q = postures(arm, 80)
    names = calibrate(arm, q, measured(arm, q)).names
    wrong, errors = truth(arm, names, seed=4)
    chain = SerialChain.to(arm)
    place = [(chain.places.index(n.rsplit(" ", 1)[0]), AXES.index(n.rsplit(" ", 1)[1])) for n in names]
    clean, distance = measured(wrong, q), []
    for seed in range(8):
        found = calibrate(arm, q, noisy(clean, 1e-4, 2e-4, seed))
        assert found.sigma[0] == pytest.approx(1e-4, rel=0.2)
        assert found.sigma[3] == pytest.approx(2e-4, rel=0.2)
        own = [k for k, (p, _) in enumerate(place) if p > 0]  # the base stands where Kabsch put it
        off = found.corrections[own] - np.array([errors[place[k]] for k in own])
        C = found.covariance[np.ix_(own, own)]
        distance.append(off @ np.linalg.solve(C, off) / len(own))
    assert 0.7 < np.mean(distance) < 1.4  # χ²/k of 8 × 28 numbers


def test_scipy_on_other_forward_kinematics_finds_the_same(arm):
    """Planar arm of two joints, its forward kinematics written out; lengths, zeros of encoders, place of the first joint."""
    robot = mp.planar([0.5, 0.4], [1.0, 1.0])
    rng = np.random.default_rng(3)
    q = rng.uniform(-2.0, 2.0, (40, 2))

    def tip(x):
        a, b, one, two, *centre = x
        first, second = q[:, 0] + a, q[:, 0] + a + q[:, 1] + b
        return (
            np.stack([one * np.cos(first) + two * np.cos(second), one * np.sin(first) + two * np.sin(second)], axis=1)
            + centre
        )

    seen = tip([0.02, -0.03, 0.505, 0.398, 0.002, -0.001]) + 1e-4 * rng.normal(size=(40, 2))
    theirs = least_squares(
        lambda x: (tip(x) - seen).ravel(), [0.0, 0.0, 0.5, 0.4, 0.0, 0.0], xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x
    poses = np.column_stack([seen, np.zeros(40)])
    found = calibrate(robot, q, poses, what=("joints", "tool"))
    ours = mp.compile(found.robot).pose(q)[:, :2, 3]
    assert ours == pytest.approx(tip(theirs), abs=EXACT)
    assert found.after.position == pytest.approx(
        float(np.sqrt(np.mean(np.sum((seen - tip(theirs)) ** 2, axis=1)))), rel=1e-6
    )


def test_what_is_left_out_is_named(arm):
    robot = mp.planar([0.5, 0.4], [1.0, 1.0])
    q = np.random.default_rng(3).uniform(-2.0, 2.0, (40, 2))
    found = calibrate(robot, q, measured(robot, q, np.eye(4))[:, :3, 3], what=("joints", "tool"))
    left = dict(found.left_out)
    assert f"{robot.joint_names[0]} rz" in found.names
    assert "tool rx" in left or "tool rz" in left  # places alone do not show how the tool is turned
    assert "cannot be distinguished from" in found.text()


def test_the_corrected_robot_is_kept_in_a_file(arm, tmp_path):
    q = postures(arm, 40)
    wrong, _ = truth(arm, calibrate(arm, q, measured(arm, q)).names)
    found = calibrate(arm, q, measured(wrong, q))
    mp.save(found.robot, tmp_path / "arm.toml")
    again = mp.load(tmp_path / "arm.toml")
    assert again == found.robot
    assert found.base @ mp.compile(again).pose(q[0]) == pytest.approx(measured(wrong, q[:1])[0], abs=1e-8)
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_joint_alone(arm):
    q = postures(arm, 30)
    joint = arm.joint_names[3]
    wrong, errors = truth(arm, [f"{joint} rz"])
    found = calibrate(arm, q, measured(wrong, q, np.eye(4)), what=joint)
    assert {name.rsplit(" ", 1)[0] for name in found.names} == {joint}
    assert found.errors == pytest.approx(errors, abs=EXACT)


def test_poses_from_files(arm, tmp_path):
    q = postures(arm, 30)
    X = measured(arm, q)
    quaternion = Rotation.from_matrix(X[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]
    names = [*(f"q{i}" for i in range(1, 8)), "x", "y", "z", "qw", "qx", "qy", "qz"]
    rows = np.column_stack([np.degrees(q), 1e3 * X[:, :3, 3], quaternion])
    np.savetxt(tmp_path / "poses.csv", rows, delimiter=",", header=",".join(names), comments="", fmt="%.15g")
    read_q, read_X = read_poses(tmp_path / "poses.csv", arm, units={"q": "deg", "position": "mm"})
    assert read_q == pytest.approx(q)
    assert read_X == pytest.approx(X)
    np.savetxt(tmp_path / "places.csv", rows[:, :10], delimiter=",", header=",".join(names[:10]), comments="")
    assert read_poses(tmp_path / "places.csv", arm)[1].shape == (30, 3)
    with pytest.raises(DescriptionError, match="parsec"):
        read_poses(tmp_path / "poses.csv", arm, units={"position": "parsec"})
    np.savetxt(tmp_path / "bad.csv", rows[:, :9], delimiter=",", header=",".join(names[:9]), comments="")
    with pytest.raises(DescriptionError, match="x, y, z"):
        read_poses(tmp_path / "bad.csv", arm)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"what": "elbow"}, DescriptionError, "elbow"),
        ({"what": ()}, DescriptionError, "No errors are searched"),
        ({"validate": 2.0}, DescriptionError, "share"),
        ({"confidence": 0.0}, DescriptionError, "between 0 and 1"),
        ({"position_noise": -1.0}, DescriptionError, "greater than 0"),
        ({"position_noise": 1e-11, "rotation_noise": 1e3}, DescriptionError, "at most"),
        ({"position_noise": 1e-20}, DescriptionError, "1e-12"),
        ({"rotation_noise": 1e-20}, DescriptionError, "1e-12"),
        ({"frame": "nowhere"}, DescriptionError, "nowhere"),
        ({"q": np.zeros((30, 3))}, ShapeError, "expected"),
        ({"poses": np.zeros((30, 4, 4))}, DescriptionError, "no pose"),
        ({"poses": np.zeros((5, 3))}, ShapeError, "poses"),
        ({"poses": np.full((30, 3), np.nan)}, DescriptionError, "finite"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(arm, change, error, words):
    q = postures(arm, 30)
    given = {"q": q, "poses": measured(arm, q)} | change
    with pytest.raises(error, match=words):
        calibrate(arm, **given)


def test_too_few_poses_are_refused(arm):
    q = postures(arm, 4)
    with pytest.raises(DescriptionError, match="measure more"):
        calibrate(arm, q, measured(arm, q))


def test_errors_are_moved_in_place():
    assert moved(np.zeros(6)) == pytest.approx(np.eye(4))


def test_the_base_of_the_robot_is_where_it_is_described(arm):
    """Without looking for the base, poses are those of ``model.pose``: a robot that stands elsewhere has nothing to correct."""
    robot = arm.replace(base=mp.load("panda").base.from_matrix(DEVICE))
    q = postures(robot, 60)
    poses = np.array([DEVICE @ Judge(arm).pose(x) for x in q])
    found = calibrate(robot, q, poses, what=("joints",))
    assert found.before.position < EXACT
    assert np.abs(found.corrections).max() < EXACT
    assert np.allclose(mp.compile(found.robot).pose(q), poses, atol=1e-8)


def test_poses_of_something_else_are_doubted(arm):
    """Measured at the elbow, or with the joints in another order: found is what fits best, and told that no robot is so wrong."""
    robot, q = arm, postures(arm, 40)
    for other in (q[:, ::-1], np.roll(q, 1, axis=0)):
        try:
            found = calibrate(robot, q, measured(robot, other)[:, :3, 3])
        except SolveError as error:
            assert "mm apart (rms)" in str(error)  # noqa: PT017
            continue
        assert "look whether the poses belong" in found.doubt
        assert found.doubt in found.text()
        assert found.to_dict()["doubt"] == found.doubt
    assert calibrate(robot, q, measured(robot, q)).doubt == ""


@pytest.mark.parametrize("noise", [{"position_noise": 1e12}, {"rotation_noise": 1e-12}])
def test_a_noise_far_from_the_other_loses_no_digits(noise):
    """The other is found from what is left over, and rotations here are exact."""
    model, rng = mp.compile(mp.load("puma560")), np.random.default_rng(5)
    q = rng.uniform(-2.0, 2.0, (30, 6))
    poses = model.pose(q)
    poses[:, :3, 3] += rng.normal(0.0, 1e-4, (30, 3))
    found = mp.calibrate(model, q, poses, **noise)
    assert found.after.position < 3e-4
    assert found.after.rotation < 3e-4

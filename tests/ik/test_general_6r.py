"""All postures of general 6R arms: elimination, completed by a search, agrees with exhaustive search."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import manipula as mp
from arm_families import distance, rigid
from manipula.errors import DescriptionError, ShapeError
from manipula.ik.closed_form.subproblems import cos_sin_of
from manipula.ik.general import all_postures, polished, prepared
from manipula.ik.general.closure import closure, fourteen, moved
from manipula.robot.robot import Robot

DENSE = 3000  # random starts of an exhaustive search
REACHED = 1e-9  # m and rad, by forward kinematics
SAME = 1e-4  # rad
RIGHT = math.pi / 2
Rows = list[dict[str, float]]


def _orthogonal(rows: Rows, rng: np.random.Generator) -> None:
    for row in rows:
        row["alpha"] = float(rng.choice([-RIGHT, RIGHT]))


def _two_parallel_pairs(rows: Rows, rng: np.random.Generator) -> None:
    rows[1]["alpha"] = rows[3]["alpha"] = 0.0


def _meeting_pairs(rows: Rows, rng: np.random.Generator) -> None:
    rows[0]["a"] = rows[4]["a"] = 0.0


def _wrist_in_the_middle(rows: Rows, rng: np.random.Generator) -> None:
    rows[2]["a"] = rows[3]["a"] = rows[3]["d"] = 0.0


def _first_three_parallel(rows: Rows, rng: np.random.Generator) -> None:
    rows[0]["alpha"] = rows[1]["alpha"] = 0.0


def _bent_wrist(rows: Rows, rng: np.random.Generator) -> None:
    """Offsets in the wrist instead of a common point, most axes meeting in pairs (as Kinova Jaco)."""
    for k, row in enumerate(rows):
        row["a"], row["alpha"] = (row["a"], math.pi) if k == 1 else (0.0, RIGHT if k < 3 else 1.0)


SPECIAL: dict[str, Callable[[Rows, np.random.Generator], None]] = {
    "general": lambda rows, rng: None,
    "orthogonal": _orthogonal,
    "two parallel pairs": _two_parallel_pairs,
    "meeting pairs": _meeting_pairs,
    "wrist in the middle": _wrist_in_the_middle,
    "first three parallel": _first_three_parallel,
    "bent wrist": _bent_wrist,
}


def _arm(special: str, seed: int) -> tuple[Robot, np.random.Generator]:
    rng = np.random.default_rng(seed)
    rows = [
        {
            "a": float(rng.uniform(-0.5, 0.5)),
            "d": float(rng.uniform(-0.5, 0.5)),
            "alpha": float(rng.uniform(-math.pi, math.pi)),
            "theta": float(rng.uniform(-math.pi, math.pi)),
        }
        for _ in range(6)
    ]
    SPECIAL[special](rows, rng)
    return mp.from_dh(rows, "standard", base=rigid(rng), tool=rigid(rng)), rng


def _equal(robot: Robot, a: np.ndarray, b: np.ndarray) -> bool:
    return len(a) == len(b) and bool(distance(robot, a[:, None], b[None]).min(axis=1).max(initial=0.0) < SAME)


@pytest.mark.parametrize("special", SPECIAL)
def test_all_postures_are_those_of_exhaustive_search(special: str) -> None:
    robot, rng = _arm(special, 11)
    model = mp.compile(robot)
    for posture in rng.uniform(-math.pi, math.pi, (4, 6)):
        T = model.pose(posture)
        q = all_postures(robot, T).q
        assert len(q) <= 16
        assert np.abs(model.pose(q) - T).max() < REACHED
        assert (np.abs(q) <= math.pi).all()
        assert distance(robot, q, posture).min() < SAME
        dense = polished(prepared(robot), T, rng.uniform(-math.pi, math.pi, (DENSE, 6)))
        assert _equal(robot, q, dense)


def test_elimination_alone_is_complete_on_general_arms() -> None:
    robot, rng = _arm("general", 5)
    for posture in rng.uniform(-math.pi, math.pi, (40, 6)):
        found = all_postures(robot, mp.compile(robot).pose(posture))
        assert found.agreed
        assert all("elimination" in source for source in found.sources)
        assert distance(robot, found.q, posture).min() < SAME


@pytest.mark.parametrize("name", ["puma560", "ur5e"])
def test_special_arms_lose_nothing(name: str) -> None:
    """What elimination cannot see, the closed form and the search do."""
    robot = mp.load(name)
    T = mp.compile(robot).pose(np.array([0.3, -0.9, -1.4, 0.9, 0.8, -0.4]))
    found = all_postures(robot, T)
    assert len(found.q) == 8
    assert all("closed form" in source for source in found.sources)


def test_arm_with_sixteen_postures() -> None:
    """The arm and target of Manseur and Doty (1989), a robot manipulator with 16 real inverse kinematic solution sets."""
    table = zip((0.3, 1.0, 0.0, 1.5, 0.0, 0.0), (90, 1, 90, 1, 90, 1), (0.0, 0.0, 0.2, 0.0, 0.0, 0.0))
    robot = mp.from_dh([{"a": a, "alpha": math.radians(alpha), "d": d} for a, alpha, d in table], "standard")
    T = np.eye(4)
    T[:3] = [
        [-0.760117, -0.641689, 0.102262, -1.140175],
        [0.133333, 0.0, 0.991071, 0.0],
        [-0.635959, 0.766965, 0.085558, 0.0],
    ]
    U, _, V = np.linalg.svd(T[:3, :3])
    T[:3, :3] = U @ V  # printed with six digits
    found = all_postures(robot, T)
    assert found.agreed
    assert len(found.q) == 16
    assert np.abs(mp.compile(robot).pose(found.q) - T).max() < REACHED


def test_unreachable_target_has_no_posture() -> None:
    robot, _ = _arm("general", 5)
    T = np.eye(4)
    T[:3, 3] = [9.0, 0.0, 0.0]
    assert all_postures(robot, T).q.shape == (0, 6)


def test_closure_holds_at_random_postures() -> None:
    """The coefficients found by sampling reproduce both sides at any angles, and both sides agree on a closed loop."""
    rng = np.random.default_rng(8)
    h = rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = rng.normal(size=(6, 3))
    q = rng.uniform(-math.pi, math.pi, 6)
    from manipula.ik.general import motion

    left, right = closure(h, p, motion(h, p, q))
    c, s = np.cos(q), np.sin(q)
    m = [np.array([1.0, c[i], s[i]]) for i in range(6)]
    a = np.einsum("k,kem,m->e", m[2], left, np.kron(m[3], m[4]))
    b = right @ np.kron(m[0], m[1])
    np.testing.assert_allclose(a, b, atol=1e-12)
    l, x = h[5], p[5]
    for joint in (4, 3, 2):
        l, x = moved(h[joint], p[joint], cos_sin_of(float(q[joint])), False, l, x)
    np.testing.assert_allclose(a, np.array(fourteen(l, x - p[2]), float), atol=1e-12)


@pytest.mark.parametrize("name", ["stanford", "iiwa14", "scara-khang"])
def test_other_arms_are_refused(name: str) -> None:
    with pytest.raises(DescriptionError, match="six revolute joints"):
        all_postures(mp.load(name), np.eye(4))


@pytest.mark.parametrize("target", [np.eye(3), np.full((4, 4), np.nan)])
def test_wrong_targets_are_refused(target: np.ndarray) -> None:
    robot, _ = _arm("general", 5)
    with pytest.raises(ShapeError):
        all_postures(robot, target)


@pytest.mark.parametrize("elbow", [-0.03, -3e-3, 2e-3, 1.2e-2, 3e-2])
def test_an_arm_that_is_nearly_special_has_all_its_postures(elbow: float) -> None:
    """Gen3's wrist misses being spherical by 0.2 mm: near its fold a closed form beside it has half of the postures."""
    model, rng = mp.compile(mp.load("gen3-6dof")), np.random.default_rng(6)
    for q in rng.uniform(-1.5, 1.5, (4, 6)):
        q[2] = elbow
        X = model.pose(q)
        found = mp.solve_ik(model, X, all_solutions=True)
        every = mp.solve_ik(model, X, "elimination", all_solutions=True).q
        for posture in (q, *every):
            assert np.abs(turned(found.q - posture)).max(axis=1).min() < 1e-6
        assert np.abs(mp.solve_ik(model, X, q0=q).q - q).max() < 1e-8


def turned(difference: np.ndarray) -> np.ndarray:
    return (difference + np.pi) % (2 * np.pi) - np.pi

"""Motions through waypoints: against SciPy's splines, by their own continuity, in files and in runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicSpline, make_interp_spline

import manipula as mp
from manipula.native.llvm.objects import compile_object

RNG = np.random.default_rng(3)
COUNTS = (2, 3, 7, 120)
ZERO = np.zeros(3)


def data(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(k)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.3, 1.0, k - 1))])
    return t, rng.normal(size=(k, 3)), rng.normal(size=(k, 3)), rng.normal(size=(k, 3))


def same(motion: Any, judge: Any, orders: int, tolerance: float = 1e-12) -> None:
    x = np.linspace(0.0, motion.duration, 777)
    found = motion.derivatives(x, orders)
    size = 0.0
    for order in range(orders + 1):
        expected = judge(x, order)
        size = max(size, np.abs(expected).max())
        assert np.abs(found[order] - expected).max() <= tolerance * max(1.0, size)


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize(("ends", "order"), [("clamped", 1), ("natural", 2), (None, 1)])
def test_cubics_are_scipys(k: int, ends: Any, order: int) -> None:
    t, p, _, _ = data(k)
    same(mp.waypoints(t, p, ends=ends), CubicSpline(t, p, bc_type=((order, ZERO), (order, ZERO))), 2)


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize(("ends", "orders"), [("clamped", (1, 2)), ("natural", (3, 4))])
def test_quintics_are_scipys(k: int, ends: Any, orders: tuple[int, int]) -> None:
    t, p, _, _ = data(k)
    if k == 2 and ends == "natural":
        with pytest.raises(mp.DescriptionError, match="Two points leave a natural quintic open"):
            mp.waypoints(t, p, ends=ends, method="quintic")
        return
    conditions = [(order, ZERO) for order in orders]
    same(
        mp.waypoints(t, p, ends=ends, method="quintic"),
        make_interp_spline(t, p, k=5, bc_type=(conditions, conditions)),
        3,
    )


@pytest.mark.parametrize("k", COUNTS)
def test_given_velocities_and_accelerations_are_scipys(k: int) -> None:
    t, p, v, a = data(k)
    same(mp.waypoints(t, p, v), BPoly.from_derivatives(t, np.stack([p, v], axis=1)), 2)
    full = mp.waypoints(t, p, v, method="quintic", accelerations=a)
    same(full, BPoly.from_derivatives(t, np.stack([p, v, a], axis=1)), 3)


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize("ends", ["clamped", "natural"])
def test_a_quintic_with_velocities_has_a_continuous_jerk(k: int, ends: Any) -> None:
    t, p, v, _ = data(k)
    motion = mp.waypoints(t, p, v, method="quintic", ends=ends)
    np.testing.assert_allclose(motion.derivatives(t, 1), [p, v], atol=1e-12)
    left, right = (motion.derivatives(t[1:-1], 3, side) for side in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=1e-10)
    order = 2 if ends == "clamped" else 3
    assert np.abs(motion.derivatives([0.0, t[-1]], 3)[order]).max() < 1e-10
    same(motion, BPoly.from_derivatives(t, np.stack([p, v, motion.acceleration(t)], axis=1)), 3)


@pytest.mark.parametrize("k", COUNTS)
@pytest.mark.parametrize("ends", ["clamped", "natural"])
def test_blends_are_lines_and_parabolas(k: int, ends: Any) -> None:
    t, p, _, _ = data(k)
    blend = 0.15
    motion = mp.waypoints(t, p, method="blended", blend=blend, ends=ends)
    np.testing.assert_allclose(motion.position([0.0, t[-1]]), p[[0, -1]], atol=1e-12)
    inner = motion.breaks[1:-1]
    left, right = (motion.derivatives(inner, 1, side) for side in ("left", "right"))
    np.testing.assert_allclose(left, right, atol=1e-12)
    assert (np.abs(motion.velocity([0.0, t[-1]])).max() < 1e-14) == (ends == "clamped")
    if k > 2:
        before, after = motion.velocity(t[1:-1] - blend / 2), motion.velocity(t[1:-1] + blend / 2)
        off = motion.position(t[1:-1]) - p[1:-1]
        np.testing.assert_allclose(off, (after - before) * blend / 8, atol=1e-12)
    np.testing.assert_array_equal(motion.jerk(np.linspace(0.0, t[-1], 50)), 0.0)


def test_blends_may_touch_but_not_overlap() -> None:
    touching = mp.waypoints([0, 1, 2], [[0.0], [1.0], [0.0]], method="blended", blend=2 / 3)
    assert len(touching.breaks) == 4
    assert touching.velocity(1.0) == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(mp.DescriptionError, match="waypoints 1 and 2 overlap, which are 1 s apart") as error:
        mp.waypoints([0, 1, 2], [[0.0], [1.0], [0.0]], method="blended", blend=0.67)
    assert error.value.field == "blend"


GOOD = {"times": [0.0, 1.0, 2.0], "points": [[0.0, 1.0], [1.0, 0.5], [0.5, 0.0]]}
REFUSED = [
    ({"times": [0.0, 2.0, 1.0]}, "times", r"must increase; times\[1\] is 2 s and times\[2\] is 1 s"),
    ({"times": [0.0, 1.0, 1.0]}, "times", "must increase"),
    ({"times": [1.0, 2.0, 3.0]}, "times", "must start at 0; found 1"),
    ({"times": [0.0, 1e-12, 1.0]}, "times", r"1e-12 s apart"),
    ({"times": [0.0, np.nan, 1.0]}, "times", "finite"),
    ({"times": [0.0, 1.0]}, "points", "found 2 and 3"),
    ({"times": [0.0]}, "times", "at least two"),
    ({"times": []}, "times", "at least two"),
    ({"points": [[0.0, 1.0], [1.0, np.inf], [0.5, 0.0]]}, "points", "finite"),
    ({"points": [0.0, 1.0, 2.0]}, "points", "rows of numbers"),
    ({"points": [[0.0, 1.0], [1.0], [0.5, 0.0]]}, "points", "equal rows"),
    ({"points": [[], [], []]}, "points", "rows of numbers"),
    ({"points": [[0.0] * 4] * 3, "space": "task"}, "points", "2 or 3 coordinates; found 4"),
    ({"velocities": [[0.0, 0.0]]}, "velocities", r"shape of the points, \(3, 2\)"),
    ({"velocities": [0.0, 0.0, 0.0]}, "velocities", "rows"),
    ({"accelerations": [[0.0, 0.0]] * 3}, "accelerations", "quintic"),
    ({"accelerations": [[0.0, 0.0]] * 3, "method": "quintic"}, "accelerations", "velocities"),
    ({"velocities": [[0.0, 0.0]] * 3, "ends": "natural"}, "ends", "leave it out"),
    ({"velocities": [[0.0, 0.0]] * 3, "method": "blended", "blend": 0.1}, "velocities", "leave them out"),
    ({"method": "blended"}, "blend", "needed there"),
    ({"blend": 0.1}, "blend", "belongs to method='blended'"),
    ({"method": "blended", "blend": 0.0}, "blend", "greater than 0"),
    ({"method": "linear"}, "method", "cubic, quintic, blended"),
    ({"space": "tool"}, "space", "task, joint"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field", "words"), REFUSED, ids=[f"{i} {r[1]}" for i, r in enumerate(REFUSED)])
def test_what_cannot_be_is_refused(change: dict[str, Any], field: str, words: str) -> None:
    mp.waypoints(**GOOD)
    with pytest.raises(mp.DescriptionError, match=words) as error:
        mp.waypoints(**{**GOOD, **change})
    assert str(error.value.field).startswith(field)


FILE = """
robot = "planar-2r"
kind = "inverse_dynamics"
[reference]
kind = "waypoints"
times = [0, 0.5, "2/3"]
points = [[0.1, 0.5], ["pi/8", 0.3], [0.2, 0.1]]
method = "quintic"
"""


def test_a_file_holds_waypoints(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(FILE)
    run = mp.Scenario.load(tmp_path / "run.toml")
    assert run.reference == mp.waypoints([0, 0.5, 2 / 3], [[0.1, 0.5], [np.pi / 8, 0.3], [0.2, 0.1]], method="quintic")
    run.save(tmp_path / "again.toml")
    assert 'kind = "waypoints"' in (tmp_path / "again.toml").read_text()
    assert mp.Scenario.load(tmp_path / "again.toml") == run
    (tmp_path / "bad.toml").write_text(FILE.replace('0.5, "2/3"', "0.5, 0.4"))
    with pytest.raises(mp.DescriptionError, match=r"bad.toml:6.*must increase"):
        mp.Scenario.load(tmp_path / "bad.toml")


ARM = mp.load("planar-2r")
JOINTS = mp.waypoints([0.0, 0.2, 0.4], [[0.1, 0.5], [0.3, 0.8], [0.2, 0.4]], [[0.0, 0.0], [0.5, 0.2], [0.0, 0.0]])
TIP = mp.compile(ARM).position([0.3, 0.8])
TASK = mp.waypoints([0.0, 0.2, 0.4], TIP + np.array([[0, 0, 0], [-0.05, 0.04, 0], [-0.1, 0, 0]]), space="task")


@pytest.mark.parametrize(
    "run",
    [
        mp.Scenario(ARM, JOINTS, controller=mp.control.ComputedTorque(100.0, 20.0), q0=[0.1, 0.5]),
        mp.Scenario(ARM, TASK, controller=mp.control.TaskSpaceComputedTorque(100.0, 20.0), q0=[0.3, 0.8]),
        mp.Scenario(ARM, TASK, kind="kinematic", q0=[0.3, 0.8]),
        mp.Scenario(ARM, JOINTS, kind="inverse_dynamics"),
        mp.Scenario(ARM, TASK, kind="inverse_dynamics", q0=[0.3, 0.8]),
    ],
    ids=["joints", "tip", "kinematic", "joints given", "tip given"],
)
def test_every_kind_of_run_follows_waypoints(run: mp.Scenario) -> None:
    result = mp.simulate(run)
    assert result.ok, result.reason
    at = np.searchsorted(result.t, 0.2 - 1e-9)
    reached, meant = (result.q, JOINTS) if run.reference is JOINTS else (result.tip, TASK)
    np.testing.assert_allclose(reached[at], meant.position(0.2), atol=1e-6)


def test_the_jump_of_the_acceleration_is_seen_by_limits() -> None:
    """Cubics with given velocities: the extreme of the acceleration lies just before or after a waypoint."""
    left, right = JOINTS.derivatives(0.2, 2, "left")[2], JOINTS.derivatives(0.2, 2)[2]
    assert np.abs(left - right).min() > 1.0
    most = np.abs(np.stack([left, right, *JOINTS.acceleration([0.0, 0.4])])).max(axis=0)
    kept = mp.check_limits(JOINTS, acceleration=most * 1.0001, samples=7)
    broken = mp.check_limits(JOINTS, acceleration=most * 0.9999, samples=7)
    assert kept.kept
    assert {p.coordinate for p in broken.violations} == {0, 1}
    for scale, feasible in ((1.0001, True), (0.9999, False)):
        run = mp.Scenario(
            ARM, JOINTS, kind="inverse_dynamics", sample=0.15, limits={"acceleration": (most * scale).tolist()}
        )
        assert mp.simulate(run).feasible is feasible


def test_other_waypoints_need_no_other_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(reference: Any) -> mp.Result:
        return mp.simulate(
            mp.Scenario(
                ARM, reference, controller=mp.control.PD(100.0, 20.0), q0=[0.1, 0.5], duration=0.2, integrator="dop853"
            )
        )

    first = run(JOINTS)
    compiled: list[Any] = []
    for module in [m for n, m in sys.modules.items() if n.startswith("manipula.native")]:
        if vars(module).get("compile_object") is compile_object:
            monkeypatch.setattr(module, "compile_object", lambda text: compiled.append(text) or compile_object(text))
    points = [[0.1, 0.5], [0.2, 0.4], [0.3, 0.3], [0.1, 0.2]]
    others = [run(mp.waypoints([0.0, 0.1, 0.15, 0.2], points, method=m)) for m in ("cubic", "quintic")]
    others.append(run(mp.waypoints([0.0, 0.1, 0.2], points[:3], method="blended", blend=0.02)))
    assert first.ok
    assert all(r.ok for r in others)
    assert not compiled

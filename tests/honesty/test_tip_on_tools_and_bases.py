"""Where the tip is moved by a tool or by its base, motions, jerks and limits of points are those in the world: SciPy, closed forms."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import manipula as mp
from manipula.errors import DescriptionError

ARM = mp.load("planar-2r")
TOOL = mp.PayloadChange(time=0.05, mass=0.1, tool=(1.0, 0.0, 0.0))
SHAKEN = mp.BaseMotion(position=("0.5*sin(20*t)", 0, 0))
MOVED = [{"disturbances": (TOOL,)}, {"base_motion": SHAKEN}]


def swing(**more: Any) -> mp.Result:
    control = mp.control.PDGravity(kp=200, kv=40, goal=[1.2, 0.3])
    return mp.simulate(
        mp.Scenario(robot=ARM, q0=[0.2, 0.3], duration=0.3, sample=0.001, controller=control, **more)
    ).check()


@pytest.mark.parametrize("moved", MOVED)
def test_a_tip_limit_is_held_against_the_tip_that_moves(moved: dict[str, Any], tmp_path: Path) -> None:
    limits = {"tip": {"velocity": 100.0, "acceleration": 1e4}}
    result = swing(**moved, limits=limits)
    assert result.feasible is True
    largest = np.linalg.norm(np.gradient(result.tip, result.t, axis=0), axis=1)[2:-2]
    jumps = np.abs(np.diff(result.tip, axis=0)).max(axis=1) > 0.1  # where another tool begins
    speed = largest[~(jumps[1:-2] | jumps[2:-1])].max()
    (check,) = [c for c in result.feasibility.checks if c.quantity == "velocity" and not c.name]
    assert check.worst == pytest.approx(speed, rel=2e-2)
    assert mp.feasibility(result, tip={"velocity": 0.9 * speed}).feasible is False
    result.save(tmp_path / "run.nc")
    assert mp.load_result(tmp_path / "run.nc").feasible is True


def rod(disturbances: Any = (), base: Any = None, **more: Any) -> mp.Result:
    """A rod of 0.5 m with 1 kg at its end, free in a vertical plane."""
    arm = mp.planar([0.5], [1.0], com=[0.5], inertia=[0.0])
    return mp.simulate(
        mp.Scenario(robot=arm, q0=[0.4], qd0=[1.0], duration=0.6, sample=0.03, tolerance=1e-9, disturbances=disturbances, base_motion=base, **more)
    ).check()  # fmt: skip


def derivative(f: Any, t: np.ndarray, order: int, h: float = 4e-3) -> np.ndarray:
    """Differences of order 6 of a dense solution."""
    weights = {
        1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60,
        2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180,
        3: np.array([1, -8, 13, 0, -13, 8, -1]) / 8,
    }[order]
    return sum(w * f(t + k * h) for w, k in zip(weights, range(-3, 4))) / h**order  # pyright: ignore[reportReturnType]


def test_motion_and_jerk_on_a_moving_base_are_derivatives_of_the_solution_of_scipy() -> None:
    """θ̈ = (ẍ sin θ − (g + ÿ) cos θ)/l with θ the angle in the world, the base turning with it."""
    base = mp.BaseMotion(("0.2*sin(4*t)", "0.1*cos(5*t)", 0), (0, 0, "0.5*t"))
    r = rod(base=base, limits={"tip": {"velocity": 9.0, "jerk": 1e9}})

    def rate(t: float, y: Any) -> list[float]:
        ax, ay = -3.2 * np.sin(4 * t), -2.5 * np.cos(5 * t)
        return [y[1], (ax * np.sin(y[0]) - (9.81 + ay) * np.cos(y[0])) / 0.5]

    done = [
        solve_ivp(rate, (0, end), [0.4, 1.5], rtol=1e-12, atol=1e-12, method="DOP853", dense_output=True).sol
        for end in (-0.1, 0.7)
    ]

    def tip(t: np.ndarray) -> np.ndarray:
        angle = np.where(t < 0, done[0](np.minimum(t, 0))[0], done[1](np.maximum(t, 0))[0])
        return np.stack([0.2 * np.sin(4 * t) + 0.5 * np.cos(angle), 0.1 * np.cos(5 * t) + 0.5 * np.sin(angle), 0 * t])

    found, jerk = r.point_motion(), r.jerk("tip")
    np.testing.assert_allclose(found.position, tip(r.t).T, atol=1e-8)
    np.testing.assert_allclose(found.velocity, derivative(tip, r.t, 1).T, atol=1e-7)
    np.testing.assert_allclose(found.acceleration, derivative(tip, r.t, 2).T, atol=1e-5)
    np.testing.assert_allclose(jerk.values, derivative(tip, r.t, 3, 1e-2).T, atol=2e-3 * np.abs(jerk.values).max())
    dense = np.linspace(0, 0.6, 3001)
    largest = np.linalg.norm(derivative(tip, dense, 3, 1e-2), axis=0).max()
    assert np.nanmax(jerk.signal()[1]) == pytest.approx(largest, rel=2e-3)
    (check,) = [c for c in r.feasibility.checks if c.quantity == "velocity"]
    assert check.worst == pytest.approx(np.linalg.norm(derivative(tip, dense, 1), axis=0).max(), rel=1e-6)
    assert r.feasible is True


@pytest.mark.parametrize("mass", [0.0, 0.7])
def test_both_sides_of_a_tool_change_are_held_against_limits(mass: float) -> None:
    """A rod whose tip is 0.5 m out, then 0.8 m; with the new tool comes a mass, and the acceleration jumps with it."""
    change = mp.PayloadChange(0.2017, mass, com=(0.3, 0, 0), tool=(0.3, 0, 0))
    r = rod((change,), limits={"tip": {"velocity": 1e3, "acceleration": 1e3}})

    def pendulum(load: float, start: list[float], span: tuple[float, float]) -> Any:
        inertia, moment = 0.25 + load * 0.64, 9.81 * (0.5 + load * 0.8)
        rate = lambda t, y: [y[1], -moment * np.cos(y[0]) / inertia]
        return solve_ivp(rate, span, start, rtol=1e-12, atol=1e-13, method="DOP853", dense_output=True).sol

    first = pendulum(0.0, [0.4, 1.0], (0, 0.2017))
    second = pendulum(mass, first(0.2017).tolist(), (0.2017, 0.6))

    def worst(order: int) -> float:
        found = []
        for solution, length, load, span in ((first, 0.5, 0.0, (0, 0.2017)), (second, 0.8, mass, (0.2017, 0.6))):
            angle, speed = solution(np.linspace(*span, 4001))
            turn = -9.81 * (0.5 + load * 0.8) * np.cos(angle) / (0.25 + load * 0.64)
            found.append(length * np.abs(speed) if order == 1 else length * np.hypot(turn, speed**2))
        return float(np.concatenate(found).max())

    checks = {c.quantity: c.worst for c in r.feasibility.checks if not c.name}
    assert checks["velocity"] == pytest.approx(worst(1), rel=1e-6)
    assert checks["acceleration"] == pytest.approx(worst(2), rel=1e-6)
    jerk = r.jerk("tip")
    if mass:
        assert {t for _, _, t in jerk.jumps} == {0.2017}
        assert mp.feasibility(r, tip={"jerk": 1e9}).feasible is False
    else:
        assert not jerk.jumps  # another point of the same body: nothing jumps
        exact = []
        for solution, length, span in ((first, 0.5, (0, 0.2017)), (second, 0.8, (0.2017, 0.6))):
            angle, speed = solution(np.linspace(*span, 4001))
            turn, turning = -19.62 * np.cos(angle), 19.62 * np.sin(angle) * speed
            exact.append(length * np.hypot(turning - speed**3, 3 * speed * turn))
        assert np.nanmax(jerk.signal()[1]) == pytest.approx(np.concatenate(exact).max(), rel=1e-6)
        assert mp.feasibility(r, tip={"jerk": 1e9}).feasible is True


def test_runs_of_a_batch_have_bases_and_tools_of_their_own(tmp_path: Path) -> None:
    s = mp.Scenario(
        robot=ARM, q0=[0.2, 0.3], duration=0.2, sample=0.01, base_motion=mp.BaseMotion((1.0, 0, 0), (0, 0, 0.0)),
        disturbances=(TOOL,), vary={"disturbances[0].time": [0.05, 0.15], "base_motion.position[0]": [1.0, 2.0]},
        limits={"tip": {"velocity": 100.0}, "points": {"link2": {"velocity": 100.0}}},
    )  # fmt: skip
    batch = mp.simulate(s).check()
    np.testing.assert_allclose(batch.point_motion().position, batch.tip, atol=1e-14)
    assert batch.feasible is True
    batch.save(tmp_path / "batch.nc")
    stored = mp.load_result(tmp_path / "batch.nc").run(1)
    np.testing.assert_allclose(stored.point_motion().position, batch.tip[1], atol=1e-14)


def test_without_its_scenario_nobody_says_how_a_carried_point_moves() -> None:
    result = dataclasses.replace(swing(base_motion=SHAKEN), scenario=None)
    bare = dataclasses.replace(result, meta={**result.meta, "scenario_toml": ""})
    with pytest.raises(DescriptionError, match="scenario"):
        bare.point_motion()
    with pytest.raises(DescriptionError, match="scenario"):
        bare.jerk("tip")
    assert mp.feasibility(bare, {"velocity": 1e3}, tip={"velocity": 1e3}).feasible is None


def test_a_tool_leaves_other_points_alone_and_a_load_leaves_the_tip() -> None:
    tooled = swing(disturbances=(TOOL,))
    assert tooled.point_motion("link2").position.shape == (301, 3)
    with pytest.raises(DescriptionError, match="tool"):
        tooled.to_reference(space="task")
    loaded = swing(disturbances=(mp.PayloadChange(0.05, 0.1),), limits={"tip": {"velocity": 100.0}})
    assert loaded.feasible is True
    np.testing.assert_allclose(loaded.point_motion().position, loaded.tip, atol=1e-14)
    batch = mp.Scenario(
        robot=ARM, q0=[0.2, 0.3], duration=0.1, disturbances=(mp.PayloadChange(0.05, 0.1),),
        vary={"disturbances[0].mass": [0.1, 0.2]}, limits={"tip": {"velocity": 100.0}},
    )  # fmt: skip
    assert mp.simulate(batch).feasible is True


def test_the_orientation_error_is_that_of_the_reference_whatever_the_base_does() -> None:
    robot = mp.planar(lengths=[0.5, 0.4, 0.3], masses=[1, 1, 1], gravity=(0, 0, 0))
    q0 = [0.3, 0.4, 0.5]
    x, y = mp.compile(robot).pose(q0)[:2, 3]
    held = mp.formula_motion([str(x), str(y), "0"], duration=0.2, orientation=["0", "0", "1.2"])
    control = mp.control.OperationalSpace(kp=100, kv=20)
    s = mp.Scenario(robot=robot, reference=held, q0=q0, sample=0.05, controller=control)
    turned = mp.simulate(s.replace(base_motion=mp.BaseMotion(rotation=(0, 0, 0.5)))).check()
    assert np.abs(turned.q - q0).max() < 1e-9
    assert np.abs(turned.orientation_error).max() < 1e-9

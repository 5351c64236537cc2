"""An answer is a value: it does not change, compares by content, hashes, prints in one line and travels to other processes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula import control
from manipula.algebra.value import FrozenDict, Value, key
from manipula.analysis.manipulability import manipulability
from manipula.analysis.power import power_report
from manipula.analysis.singularities import singularities
from manipula.analysis.vibration import spectrum
from manipula.analysis.workspace import workspace
from manipula.motion.time_optimal import solve_time_optimal
from manipula.simulation.programmed.friction_comparison import FrictionComparison


@cache
def run(gain: float = 30.0) -> mp.Result:
    return mp.simulate(
        mp.Scenario(
            robot=arm(),
            controller=control.PDGravity(gain, 5.0, goal=[0.3, -0.2]),
            q0=[0.1, 0.2],
            duration=0.05,
            sample=0.01,
        )
    )


@cache
def arm() -> mp.Robot:
    return mp.load("planar-2r")


def programmed() -> mp.Result:
    return mp.programmed_motion(arm(), ["x - 1.2"]).run([0.3, 1.2], duration=0.02, step=1e-3)


def identified() -> Any:
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 40, 2))
    return mp.identify(
        arm(), q, qd, qdd, mp.compile(arm()).inverse_dynamics(q, qd, qdd), extras="viscous", physical=False
    )


def line() -> Any:
    return mp.trajectory(mp.paths.line([1.2, 0.3, 0.0], [1.0, 0.6, 0.0]), mp.timing.cycloid(1.0))


ANSWERS: dict[str, Callable[[], Any]] = {
    "simulate": lambda: mp.simulate(run().scenario),
    "a batch": lambda: mp.simulate(run().scenario.replace(q0=[[0.1, 0.2], [0.0, 0.4]])),
    "one run of a batch": lambda: mp.simulate(run().scenario.replace(q0=[[0.1, 0.2], [0.0, 0.4]])).run(1),
    "limits of a run": lambda: mp.simulate(run().scenario).feasibility,
    "jerk": lambda: mp.simulate(run().scenario).jerk(),
    "programmed motion": programmed,
    "with and without friction": lambda: FrictionComparison(programmed(), programmed()),
    "solve_ik": lambda: mp.solve_ik(mp.load("ur5e"), mp.compile(mp.load("ur5e")).pose([0.1, -1.0, 1.2, 0.3, 0.4, 0.5])),
    "solve_ik of many": lambda: mp.solve_ik(
        mp.load("ur5e"),
        mp.compile(mp.load("ur5e")).pose([[0.1, -1.0, 1.2, 0.3, 0.4, 0.5], [0.2, -1.1, 1.0, 0.3, 0.4, 0.5]]),
    ),
    "track": lambda: mp.track(arm(), line()),
    "time_optimal": lambda: solve_time_optimal(
        mp.paths.spline([(0, 0), (1, 0.5), (2, 0)]), acceleration=2.0, points=60
    ),
    "check_limits": lambda: mp.check_limits(line(), velocity=0.1),
    "to_dh": lambda: mp.to_dh(mp.load("ur5e"), "standard"),
    "doctor": lambda: mp.doctor(mp.load("puma560")),
    "feasibility": lambda: mp.feasibility(run(), {"torque": 10.0, "velocity": 0.1}),
    "workspace": lambda: workspace(arm(), 4, orientations=2, postures=2),
    "manipulability": lambda: manipulability(arm(), [[0.3, 0.8], [0.2, 0.5]]),
    "manipulability of one posture": lambda: manipulability(arm(), [0.3, 0.8]),
    "power": lambda: power_report(run()),
    "spectrum": lambda: spectrum(np.arange(32) * 0.01, np.sin(np.arange(32.0))),
    "singularities": lambda: singularities(arm(), np.linspace([0.1, 1.0], [0.2, -1.0], 9)),
    "base_parameters": lambda: mp.base_parameters(arm(), "viscous"),
    "identify": identified,
    "excitation": lambda: mp.excitation(arm(), 4.0, 3, starts=2, iterations=1),
}


@cache
def made(name: str) -> Any:
    return ANSWERS[name]()


@pytest.mark.parametrize("name", ANSWERS)
def test_equal_when_made_twice(name: str) -> None:
    one, two = made(name), ANSWERS[name]()
    assert one is not two
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert one != "something else"


@pytest.mark.parametrize("name", ANSWERS)
def test_nothing_in_it_can_be_changed(name: str) -> None:
    answer = made(name)
    before = hash(answer)
    for field in dataclasses.fields(answer):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(answer, field.name, None)
        assert unchangeable(getattr(answer, field.name)), field.name
    assert hash(answer) == before


def unchangeable(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.flags.writeable and (value.base is None or unchangeable(value.base))
    if isinstance(value, dict):
        return isinstance(value, FrozenDict) and all(map(unchangeable, value.values()))
    if isinstance(value, tuple):
        return all(map(unchangeable, value))
    return not isinstance(value, list | set | bytearray)


@pytest.mark.parametrize("name", ANSWERS)
def test_it_prints_in_a_line(name: str) -> None:
    shown = repr(made(name))
    assert "\n" not in shown
    assert len(shown) < 600


@pytest.mark.parametrize("name", ANSWERS)
def test_it_travels(name: str) -> None:
    answer = made(name)
    for other in (
        pickle.loads(pickle.dumps(answer)),  # noqa: S301
        copy.deepcopy(answer),
        copy.copy(answer),
        dataclasses.replace(answer),
    ):
        assert other == answer
        assert hash(other) == hash(answer)
        assert all(unchangeable(getattr(other, f.name)) for f in dataclasses.fields(other))


@pytest.mark.parametrize("name", ANSWERS)
def test_any_changed_field_is_seen(name: str) -> None:
    answer = made(name)
    for field in dataclasses.fields(answer):
        if field.compare:
            assert dataclasses.replace(answer, **{field.name: "other"}) != answer, field.name


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_contract_covers(name: str) -> None:
    assert isinstance(made(name), Value)


@pytest.mark.parametrize("name", [n for n in mp.__all__ if n.islower() and not n.startswith("_")])
def test_what_a_public_function_gives_is_a_value(name: str) -> None:
    """Whatever dataclass or named tuple a public function says it returns does not change, compares and hashes."""
    function = inspect.unwrap(getattr(mp, name))
    if not inspect.isfunction(function):
        assert inspect.ismodule(function), "a room with functions of its own, such as mp.control"
        return
    given = typing.get_type_hints(function).get("return")
    for kind in typing.get_args(given) or (given,):
        if isinstance(kind, type) and issubclass(kind, tuple):
            assert "ndarray" not in str(getattr(kind, "__annotations__", "")), f"== of {kind} would raise"
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            assert kind.__dataclass_params__.frozen, kind  # type: ignore[attr-defined]
            assert kind.__hash__ is not None, kind
            held = [str(f.type) for f in dataclasses.fields(kind)]
            assert issubclass(kind, Value) or not any("ndarray" in text or "dict[" in text for text in held), kind


def test_a_linearisation_is_a_value() -> None:
    one, two = (mp.equations(arm()).linearise(at_rest=True) for _ in range(2))
    assert one == two
    assert len({one, two}) == 1
    with pytest.raises(TypeError):
        one.K[0, 0] = 1


def test_every_number_of_a_result_counts() -> None:
    result = run()
    rng = np.random.default_rng(0)
    for name in result.signals:
        values = np.array(result.arrays[name])
        values[tuple(rng.integers(k) for k in values.shape)] += 1e-9
        assert dataclasses.replace(result, arrays={**result.arrays, name: values}) != result, name
    assert run(31.0) != result


def test_nan_equals_nan_at_the_same_place_only() -> None:
    a, b = np.array([1.0, np.nan, 3.0]), np.array([np.nan, 1.0, 3.0])
    made = lambda q: mp.Result(np.arange(3.0), {"q": q}, "finished", "", error_estimate=float("nan"))
    assert made(a) == made(a.copy())
    assert made(a) != made(b)
    assert made(np.array([0.0, 1.0])) == made(np.array([-0.0, 1.0]))
    assert hash(made(np.array([0.0, 1.0]))) == hash(made(np.array([-0.0, 1.0])))


def test_arrays_of_others_are_copied() -> None:
    t, q = np.arange(3.0), np.zeros((3, 2))
    result = mp.Result(t, {"q": q[:]}, "finished", "")
    q[0] = 7.0
    t[0] = 7.0
    assert result.q[0, 0] == 0.0
    assert result.t[0] == 0.0
    assert q.flags.writeable
    view = q.view()
    view.flags.writeable = False
    kept = mp.Result(t, {"q": view}, "finished", "")
    q[0] = 8.0
    assert kept.q[0, 0] == 7.0


def test_what_is_refused_says_what_to_do() -> None:
    result = run()
    with pytest.raises(ValueError, match="read-only"):
        result.q[0, 0] = 1.0
    with pytest.raises(TypeError, match="dict"):
        result.meta["name"] = "x"
    with pytest.raises(TypeError, match="dict"):
        result.meta["versions"].update(python="x")
    with pytest.raises(TypeError, match="dict"):
        del result.arrays["q"]
    json.dumps(result.meta)


def test_signals_are_offered_by_completion() -> None:
    assert {"q", "tau", "status"} <= set(dir(run()))
    assert not hasattr(run(), "_repr_png_")
    with pytest.raises(AttributeError, match="tau"):
        run().tua


def test_the_key_of_numbers_follows_python() -> None:
    assert key(1) == key(1.0) == key(np.float64(1.0)) == key(True)
    assert key(np.array([1, 2])) == key(np.array([1.0, 2.0]))
    assert key(np.zeros((2, 3))) != key(np.zeros((3, 2)))
    assert key({"a": float("nan")}) == key({"a": float("nan")})


REFERENCES: dict[str, Callable[[], Any]] = {
    "formulas": lambda: mp.formula_motion(["1 + a*sin(t)", "t^2"], 1.0, orientation=["t", "0", "0"], constants={"a": 0.1}),
    "a path by formulas": lambda: mp.trajectory(
        mp.paths.formula(["cos(u)", "sin(u)"], u=[0, 1]), mp.timing.formula("L*(t/T)^2*(3 - 2*t/T)", 1.0)
    ),
    "a path": lambda: mp.paths.circle([0.5, 0.0, 0.0], 0.1),
    "a path with a time law": line,
    "points": lambda: mp.waypoints([0, 1, 2], [[0, 0], [1, 1], [0, 2]]),
    "a move": lambda: mp.joint_move([0, 0], [1, 1], velocity=1, acceleration=2, jerk=9),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_travels_and_does_not_change(name: str) -> None:
    reference = REFERENCES[name]()
    for other in (pickle.loads(pickle.dumps(reference)), copy.deepcopy(reference)):  # noqa: S301
        assert other == reference == REFERENCES[name]()
        assert hash(other) == hash(reference)
    for kept in ("breaks", "coefficients"):
        numbers = getattr(reference, kept, np.zeros(1))
        if numbers is getattr(reference, kept, None):
            with pytest.raises(ValueError, match="read-only"):
                numbers[-1] = 7.0

"""Limits of many runs: the compiled reduction and the verdict over all runs at once, against NumPy run after run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.simulation.loops.setup import Run
from manipula.simulation.simulate import _integrated, _prepared, simulate_runs  # pyright: ignore[reportPrivateUsage]
from manipula.simulation.stated_limits import stated_limits
from manipula.simulation.verdicts.extremes import extremes, held_limits, peak_rows
from manipula.simulation.verdicts.peaks import Peaks
from manipula.simulation.verdicts.screening import suspects

RUNS = 6
TIGHT = {
    "position": [[-0.5, 1.2], [-0.3, 0.9]],
    "velocity": [0.8, 2.0],
    "acceleration": [20.0, 8.0],
    "torque": [12.0, 6.0],
    "power": [9.0, 4.0],
}


def batch(seed: int, **changes: Any) -> mp.Scenario:
    """Six runs of a two-link arm with random gains and starts, against limits that some of them break."""
    chance = np.random.default_rng(seed)
    places = chance.uniform(-0.6, 0.9, (4, 2))
    move = mp.waypoints([0.0, 0.08, 0.19, 0.3], places)
    settings: dict[str, Any] = {
        "q0": places[0] + chance.normal(0.0, 0.05, (RUNS, 2)),
        "duration": 0.3,
        "step": 1e-3,
        "sample": 0.02,
        "limits": TIGHT,
        "vary": {"controller.kp": chance.uniform(20.0, 200.0, RUNS)},
    }
    settings |= {"reference": move, "controller": mp.control.PDGravity(kp=60.0, kv=9.0)}
    return mp.Scenario(mp.load("planar-2r"), **{**settings, **changes})


def pushed(seed: int) -> mp.Scenario:
    chance = np.random.default_rng(seed)
    push = mp.Wrench((30.0, -20.0, 0.0, 0.0, 0.0, 0.0), start=0.05, stop=0.0735)
    starts = {"disturbances[0].start": chance.uniform(0.01, 0.06, RUNS)}
    return batch(seed, disturbances=(push, mp.PayloadChange(0.1234, mass=2.0)), vary=starts)


def slid(seed: int) -> mp.Scenario:
    """Two sliding joints and turning ones, in other units."""
    chance = np.random.default_rng(seed)
    robot = mp.load("stanford")
    q0 = np.array([0.1, -0.7, 0.4, 0.2, 0.3, -0.2]) + chance.normal(0.0, 0.02, (RUNS, 6))
    limits = {
        "position": [[-0.5, 0.5]] * 2 + [[0.35, 0.46]] + [[-1, 1]] * 3,
        "velocity": [0.4, 0.4, 0.2, 2, 2, 2],
        "torque": 40.0,
    }
    return mp.Scenario(robot, q0=q0, qd0=chance.normal(0.0, 0.5, (RUNS, 6)), duration=0.3, step=1e-3, sample=0.03, limits=limits, integrator="rk4")  # fmt: skip


def stopped(seed: int) -> mp.Scenario:
    """Runs that end at a limit, each at its own time, and one that goes on."""
    return batch(seed, stop_at_limits=True)


def diverging(seed: int) -> mp.Scenario:
    gains = np.array([50.0, 1e9, 80.0, 1e7, 3e8, 20.0])
    return batch(seed, vary={"controller.kp": gains}, integrator="rk4")


CASES = {
    "smooth": lambda k: batch(k, reference=mp.trajectory(mp.paths.joint([[0.1, 0.1], [0.9, -0.4]]), mp.timing.quintic(0.3))),
    "waypoints": batch,
    "corners of the acceleration": lambda k: batch(
        k, reference=mp.trajectory(mp.paths.joint([[0.1, 0.1], [0.9, -0.4]]), mp.timing.trapezoid(8.0, 90.0)),
        controller=mp.control.ComputedTorque(kp=60.0, kv=9.0)),
    "pushes of their own": pushed,
    "held commands": lambda k: batch(k, control_period=7.3e-3),
    "noise": lambda k: batch(k, noise=mp.Noise(position=1e-4, velocity=1e-3, seed=k)),
    "late commands": lambda k: batch(k, actuator=mp.Actuator(delay=2.6e-3)),
    "friction": lambda k: batch(k, friction=(mp.friction.Stribeck(1.5, 1.0, 0.05),) * 2, vary=None),
    "adaptive": lambda k: batch(k, integrator="dop853"),
    "free": lambda k: batch(k, controller=None, reference=None, vary=None),
    "a switch": lambda k: batch(k, switches=(mp.Switch(time=0.111, controller=mp.control.PDGravity(kp=500.0, kv=9.0)),), vary=None),
    "ends at limits": stopped,
    "diverges": diverging,
    "sliding joints": slid,
}  # fmt: skip


class BothRoads:
    """Watches a run by the compiled reduction and by NumPy."""

    def __init__(self) -> None:
        self.compiled: dict[Any, tuple[float, ...]] = {}
        self.plain: dict[Any, tuple[float, ...]] = {}
        self.odd: set[int] = set()

    def __call__(self, run: Run, members: Sequence[int], t: Any, x: Any, commands: Any, instants: Any) -> None:
        s = run.scenario
        limits = stated_limits(s.robot, s.limits, parameters=s.parameters)
        held = held_limits(limits)
        found = extremes(run, held, members, t, x, commands, instants, 1)
        for place, rows in peak_rows(held, found, members, False):
            self.compiled |= {(members[place], *row[1:3]): row[3:] for row in rows}
        self.odd |= {members[i] for i in np.flatnonzero(found.odd > 0.5).tolist()}
        for rows in Peaks.one_by_one(run, limits, members, range(len(members)), t, x, commands, False).values():
            self.plain |= {row[:3]: row[3:] for row in rows}


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_reduction_finds_what_numpy_finds(name: str) -> None:
    """Extremes, their times and the first passage, of every limited quantity of every run."""
    seen, broken = 0, 0
    for seed in range(3):
        ready: Any = _prepared(CASES[name](seed))
        both = BothRoads()
        with np.errstate(all="ignore"):
            _integrated(ready.run, 1, both)  # pyright: ignore[reportArgumentType]
        plain = {key: row for key, row in both.plain.items() if key[0] not in both.odd}
        assert both.compiled.keys() == plain.keys()
        assert len(both.odd) < RUNS
        for key, row in plain.items():
            got = both.compiled[key]
            size = max(abs(row[0]), abs(row[2]))
            assert abs(got[0] - row[0]) <= 1e-11 * (1.0 + size)
            assert abs(got[2] - row[2]) <= 1e-11 * (1.0 + size)
            assert np.isnan(got[4]) == np.isnan(row[4])
            assert np.isnan(row[4]) or abs(got[4] - row[4]) <= 1e-9
            seen += 1
            broken += not np.isnan(row[4])
            if row[2] - row[0] > 1e-6 * size:  # of a plateau any place is its top
                assert abs(got[1] - row[1]) <= 1e-9 or abs(got[0] - row[0]) <= 1e-12 * size
    assert seen
    assert broken


class Screened:
    """Watches a run by the screening and by the whole reduction."""

    def __init__(self) -> None:
        self.near: dict[int, bool] = {}
        self.broken: set[int] = set()

    def __call__(self, run: Run, members: Sequence[int], t: Any, x: Any, commands: Any, instants: Any) -> None:
        s = run.scenario
        held = held_limits(stated_limits(s.robot, s.limits, parameters=s.parameters))
        self.near |= dict(zip(members, suspects(run, held, members, t, x, instants, 1).tolist()))
        found = extremes(run, held, members, t, x, commands, instants, 1)
        rows = dict(peak_rows(held, found, members, True))
        self.broken |= {members[i] for i in range(len(members)) if found.odd[i] > 0.5 or rows[i]}
        peaks = Peaks(1)
        peaks(run, members, t, x, commands, instants)
        assert [row for row in peaks.rows if found.odd[members.index(row[0])] < 0.5] == [
            row for i in sorted(rows) for row in rows[i]
        ]


@pytest.mark.parametrize(
    "name", ["smooth", "waypoints", "pushes of their own", "a switch", "free", "diverges", "sliding joints"]
)
def test_screening_passes_no_run_that_breaks_a_limit(name: str) -> None:
    """Limits as they are, wider and far away: whoever breaks one is a suspect, and whoever is far from all of them is not."""
    passed = 0
    for wider in (1.0, 3.0, 1e4):
        given = CASES[name](2)
        limits: dict[str, Any] = {k: np.asarray(v) * wider for k, v in (given.limits or {}).items() if k != "position"}
        ends = np.asarray((given.limits or {})["position"])
        limits["position"] = ends.mean(axis=1, keepdims=True) + wider * (ends - ends.mean(axis=1, keepdims=True))
        limits = {quantity: limit.tolist() for quantity, limit in limits.items()}
        ready: Any = _prepared(given.replace(limits=limits))
        both = Screened()
        with np.errstate(all="ignore"):
            _integrated(ready.run, 1, both)  # pyright: ignore[reportArgumentType]
        assert both.broken <= {k for k, near in both.near.items() if near}
        passed += sum(not near for near in both.near.values())
    assert passed


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_of_a_batch_is_that_of_its_runs(name: str) -> None:
    """Feasible, how much of the most strained limit is used, and the worst run with joint, value and time."""
    result = simulate_runs(CASES[name](1))
    verdict = result.feasibility
    later = mp.simulate(CASES[name](1))
    assert all(np.array_equal(later.arrays[name], values, equal_nan=True) for name, values in result.arrays.items())
    assert later.meta["peaks"] == result.meta["peaks"]
    np.testing.assert_array_equal(later.feasibility.uses, verdict.uses)
    single = [result.run(k).feasibility for k in range(RUNS)]
    assert verdict.runs == tuple(one.feasible for one in single)
    np.testing.assert_array_equal(verdict.uses, [max((c.use for c in one.checks), default=np.nan) for one in single])
    for c in verdict.checks:
        own = [next((d for d in one.checks if (d.name, d.quantity) == (c.name, c.quantity)), None) for one in single]
        uses = [-np.inf if d is None else d.use for d in own]
        assert c.use == max(uses)
        assert c.run == int(np.argmax(uses))
        d: Any = own[c.run]
        assert (c.worst, c.time, c.limit, c.unit) == (d.worst, d.time, d.limit, d.unit)
        assert c.first == d.first or np.isnan(c.first) == np.isnan(d.first)
    said = {said for one in single for said in one.unchecked}
    assert set(verdict.unchecked) == said


def test_a_run_is_judged_alike_in_any_batch() -> None:
    """The bits of a verdict do not depend on the other runs."""
    whole = batch(5)
    vary: Any = whole.vary
    together = simulate_runs(whole)
    rows = together.meta["peaks"]
    for k in range(RUNS):
        alone = simulate_runs(
            whole.replace(q0=np.asarray(whole.q0)[k : k + 1], vary={p: v[k : k + 1] for p, v in vary.items()})
        )
        assert alone.feasibility.uses[0] == together.feasibility.uses[k]
        assert [row[1:] for row in alone.meta["peaks"]] == [row[1:] for row in rows if row[0] == k]


@pytest.mark.parametrize(
    "how", [{"control_period": 5e-3}, {"noise": mp.Noise(velocity=1e-2)}, {"actuator": mp.Actuator(delay=2e-3)}, {}]
)
def test_a_held_command_is_looked_at_between_samples_too(how: dict[str, Any]) -> None:
    """A torque limit that only a step between two samples breaks is broken, whoever decides when the torque changes."""
    vary, q0 = {"controller.kp": 150.0}, batch(2).q0[0]
    calm = batch(2, q0=q0, limits={"torque": [1e3, 1e3]}, sample=0.1, vary=vary, **how)
    samples = np.abs(mp.simulate(calm).tau[:, 0]).max()
    steps = np.abs(mp.simulate(calm.replace(sample=1e-3)).tau[:, 0]).max()
    assert steps > 1.05 * samples
    assert mp.simulate(calm).feasible
    between = calm.replace(limits={"torque": [0.5 * (samples + steps), 1e3]})
    assert mp.simulate(between).feasible is False
    assert mp.simulate(between.replace(q0=[q0], vary={"controller.kp": [150.0]})).feasible is False

"""Signals that follow from the recorded states are computed when somebody looks, and are the same as if computed at once."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import manipula as mp
from manipula.algebra.value import LazyDict
from manipula.robot.friction import FrictionLaw
from manipula.simulation.signals import observed

ARM = mp.planar([1.0, 0.8], masses=[2.0, 1.0])
LAW = mp.control.PDGravity(20.0, 2.0, goal=(0.4, -0.2))


def scenario(**more):
    return mp.Scenario(ARM, controller=LAW, q0=(0.1, 0.3), duration=0.1, step=1e-3, integrator="rk4", **more)


@pytest.fixture
def count(monkeypatch):
    """How often the observer ran."""
    calls = []
    derived = observed._derived
    monkeypatch.setattr(observed, "_derived", lambda *args: calls.append(1) or derived(*args))
    return calls


def test_nothing_is_observed_before_somebody_looks_and_then_once(count):
    result = mp.simulate(scenario())
    assert result.ok
    assert "tau" in result.arrays
    assert {"q", "qd", "qdd", "tau", "energy", "audit", "tip"} <= set(result.signals)
    assert len(result.q) == len(result.t)
    assert not count
    tau, energy = result.tau, result.energy
    assert len(count) == 1
    assert tau.shape == result.q.shape
    assert not tau.flags.writeable
    assert np.ptp(result.audit) < 1e-6
    assert energy.shape == result.t.shape
    assert len(count) == 1


@pytest.mark.parametrize(
    "look",
    [
        lambda r: dict(r.arrays),
        lambda r: {**r.arrays},
        lambda r: dict(r.arrays.items()),
        lambda r: pickle.loads(pickle.dumps(r.arrays)),  # noqa: S301
        lambda r: copy.deepcopy(r).arrays,
        lambda r: r.arrays | {},
        lambda r: r.arrays.copy(),
        lambda r: {k: r.arrays[k] for k in r.arrays},
        lambda r: {k: r.arrays.get(k) for k in r.arrays},
        lambda r: dict(zip(r.arrays, r.arrays.values())),
    ],
)
def test_every_way_of_looking_gives_the_numbers(look):
    whole = mp.simulate(scenario())
    whole.arrays["tau"]
    seen = look(mp.simulate(scenario()))
    assert list(seen) == list(whole.arrays)
    for name, value in whole.arrays.items():
        assert np.array_equal(seen[name], value), name


def test_results_compare_equal_whether_or_not_somebody_looked():
    looked, fresh = mp.simulate(scenario()), mp.simulate(scenario())
    looked.arrays["energy"], looked.meta["scenario_toml"]
    assert fresh == looked
    assert hash(fresh) == hash(looked)
    assert fresh.meta == looked.meta
    assert json.dumps(dict(mp.simulate(scenario()).meta), sort_keys=True, default=str) == json.dumps(
        dict(looked.meta), sort_keys=True, default=str
    )


def test_a_saved_result_that_nobody_looked_at_loads_equal(tmp_path):
    result = mp.simulate(scenario(verify=False))
    result.save(tmp_path / "run.npz")
    assert mp.load_result(tmp_path / "run.npz") == mp.simulate(scenario(verify=False))


def test_signals_of_somebodys_law_are_those_of_the_code_that_ran():
    size = {"c": 1.0}

    @dataclass(frozen=True)
    class Mine(FrictionLaw):
        name = "mine"

        def torque(self, qd, *rest):
            return size["c"] * qd

    result = mp.simulate(scenario(friction=Mine()))
    size["c"] = 100.0
    assert np.allclose(result.friction, result.qd, atol=1e-12)


def test_a_missing_entry_is_named():
    lazy = LazyDict({"a": 1}, (("b",), lambda: {"c": 2}))
    assert lazy["a"] == 1
    with pytest.raises(KeyError, match="b, c"):
        lazy["b"]
    with pytest.raises(TypeError, match="does not change"):
        lazy["a"] = 2


def test_what_a_run_did_between_samples_is_found_when_feasibility_is_asked_for(monkeypatch):
    from manipula.simulation import simulate as module

    runs = []
    integrated = module._integrated
    monkeypatch.setattr(module, "_integrated", lambda *args: runs.append(args) or integrated(*args))
    push = mp.Wrench((0.0, 300.0, 0.0, 0.0, 0.0, 0.0), start=0.0102, stop=0.0107)
    coarse = mp.simulate(scenario(disturbances=push, sample=0.1, verify=False, limits={"acceleration": 200.0}))
    assert len(runs) == 1
    assert coarse.meta["versions"]
    assert len(runs) == 1
    assert coarse.feasible is False
    assert len(runs) == 2
    assert 0.0102 <= coarse.feasibility.broken[0].time <= 0.0107 + 1e-9
    assert len(runs) == 2


@pytest.mark.parametrize("integrator", ["rk4", "auto"])
def test_code_replaced_after_the_run_is_not_taken_for_the_code_that_ran(monkeypatch, integrator):
    arm = mp.planar([1.0, 0.7], masses=[2.0, 1.5])
    run = mp.Scenario(arm, controller=LAW, q0=(0.1, 0.3), duration=0.05, integrator=integrator, limits={"torque": 1e3})
    result = mp.simulate(run)
    with monkeypatch.context() as patch:
        patch.setattr(type(LAW), "torque", lambda self, arm, t, q, qd, target, state: 0.0 * q)
        tau = result.tau
        with pytest.raises(mp.DescriptionError, match="replaced after it"):
            _ = result.feasible
    assert np.array_equal(tau, mp.simulate(run).tau)
    assert result.feasible

"""Runs that stand still for a while: the loop itself is held, nothing is computed twice, and the result is the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the studio is an extra")

from manipula.errors import DescriptionError
from manipula.studio.runs import OVER, RunStore
from manipula.studio.verbs import call

SWING = {
    "format": 1, "name": "swing", "robot": "planar-3r", "duration": 4.0, "step": 1e-4, "sample": 0.01, "q0": [0.3, 0.2, 0.1],
    "integrator": "rk4", "verify": False,
}  # fmt: skip
A_WHILE = 0.4  # s; the whole run takes a small part of this


@pytest.fixture
def runs():
    store = RunStore()
    yield store
    store.close()


def held_in_its_loop(runs, monkeypatch):
    """A run that is paused the moment its loop begins."""
    from manipula.studio import runs as module

    begun, once = module.StudioRun._begun, [True]

    def paused(self, name, outputs, stop):
        if once:
            self.pause(once.pop())
        begun(self, name, outputs, stop)

    monkeypatch.setattr(module.StudioRun, "_begun", paused)
    return runs.start(SWING)


def whole(runs):
    run = runs.start(SWING)
    assert run.over.wait(120)
    return run


def test_a_loop_that_is_held_goes_on_where_it_stood(runs, monkeypatch):
    other = whole(runs)  # compiled
    held = held_in_its_loop(runs, monkeypatch)
    assert not held.over.wait(A_WHILE)
    assert held.summary()["paused"]
    assert held.state == "integrating"
    assert len(held.progress()[0]) < len(held.scenario.times) // 2
    call("pause", runs, {"run": held.id, "paused": False})
    assert held.over.wait(120)
    assert held.state == "done"
    assert not held.summary()["paused"]
    assert np.array_equal(held.result.q, other.result.q)


def test_a_loop_that_is_held_can_be_stopped(runs, monkeypatch):
    whole(runs)
    held = held_in_its_loop(runs, monkeypatch)
    assert not held.over.wait(A_WHILE)
    assert call("stop", runs, {"run": held.id})["state"] == "stopped"
    assert not held.summary()["paused"]


def test_a_run_that_has_not_begun_waits(runs):
    run = runs.start(SWING)
    run.pause(True)
    run.pause(False)
    assert run.over.wait(120)
    assert run.state == "done"
    run.pause(True)  # nothing is left to hold
    assert not run.summary()["paused"]
    assert run.state in OVER


@pytest.mark.parametrize("given", [1, 0, None, "yes", [True]])
def test_paused_is_true_or_false(runs, given):
    run = whole(runs)
    with pytest.raises(DescriptionError, match="true or false"):
        call("pause", runs, {"run": run.id, "paused": given})

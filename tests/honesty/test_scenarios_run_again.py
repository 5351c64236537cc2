"""A scenario that is run again is not prepared again, unless anything it is made of has changed meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
import pytest

import manipula as mp
from manipula.identity import KeptAnswers
from manipula.identity.classes import ForeignCode
from manipula.identity.watched import Watched
from manipula.simulation.frozen_mapping import Frozen
from manipula.simulation.integrators import FIXED

ARM = mp.planar(lengths=[0.7, 0.6], masses=[1.5, 1.0])


def scenario(**changes: Any) -> mp.Scenario:
    """Made of nothing but this package's parts, and new: nobody has run it."""
    options: dict[str, Any] = {"controller": mp.control.PDGravity(30.0, 8.0, goal=(0.2, 0.3)), "integrator": "rk4"}
    return mp.Scenario(ARM, q0=(0.0, 0.1), duration=0.02, **{**options, "limits": {"velocity": 9.0}, **changes})


def preparations(run: Callable[[], object]) -> int:
    """How often a plant is made while ``run`` runs; counted from outside, because a replaced function would be noticed."""
    found = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_qualname == "prepare_run"

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found


def test_a_scenario_is_prepared_until_it_was_met_twice() -> None:
    s = scenario()
    results: list[mp.Result] = []
    counts = [preparations(lambda: results.append(mp.simulate(s))) for _ in range(4)]
    assert counts == [1, 1, 0, 0]
    assert results[0] == results[-1]
    assert np.array_equal(results[0].tau, results[-1].tau)
    assert preparations(lambda: mp.simulate(s.replace(duration=0.01))) == 1


def final(s: mp.Scenario) -> np.ndarray:
    return mp.simulate(s).q[-1]


def test_a_number_written_into_a_frozen_part_acts() -> None:
    s = scenario()
    before = [final(s) for _ in range(3)][-1]
    object.__setattr__(s.controller, "kp", 300.0)
    assert np.array_equal(final(s), final(scenario(controller=mp.control.PDGravity(300.0, 8.0, goal=(0.2, 0.3)))))
    assert not np.array_equal(final(s), before)


def test_an_integrator_registered_anew_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    s = scenario(verify=False, step=5e-3)
    before = [final(s) for _ in range(3)][-1]
    monkeypatch.setitem(FIXED, "rk4", FIXED["semi_implicit"])
    assert not np.array_equal(final(s), before)
    assert np.array_equal(final(s), final(scenario(verify=False, step=5e-3, integrator="semi_implicit")))


def test_a_replaced_method_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    s = scenario()
    before = [final(s) for _ in range(3)][-1]
    monkeypatch.setattr(mp.control.PDGravity, "torque", lambda self, arm, t, q, qd, target, state: 0.0 * q)
    assert np.abs(final(s) - before).max() > 1e-4
    monkeypatch.undo()
    assert np.array_equal(final(s), before)


def test_code_of_somebody_is_asked_in_every_run() -> None:
    gain = [30.0]
    s = scenario(controller=mp.control.UserFunction(lambda t, q, qd, target: gain[0] * (0.2 - q) - 8.0 * qd))
    before = [final(s) for _ in range(3)][-1]
    gain[0] = 300.0
    assert not np.array_equal(final(s), before)


@dataclass
class Box:
    """Stands for a class of this package in the tests below."""

    value: Any
    more: Any = None
    derived: list[float] = field(default_factory=list)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes count as made by this package."""
    for name in ("manipula.identity.watched.holds_all", "manipula.identity.parts.holds_all"):
        monkeypatch.setattr(name, lambda kind: True)
    monkeypatch.setattr("manipula.identity.parts.class_text", lambda kind: kind.__qualname__)


@pytest.mark.usefixtures("ours")
def test_what_is_watched_does_not_change_unseen() -> None:
    array, table, entries, inner = np.ones(3), {"a": 1.0}, [1.0, 2.0], Box(1.0)
    mapping = Frozen({"limit": 2.0})
    changes: list[Callable[[], Any]] = [
        lambda: array.__setitem__(1, 2.0),
        lambda: table.__setitem__("a", 2.0),
        lambda: table.__setitem__("b", 2.0),
        lambda: entries.append(3.0),
        lambda: entries.__setitem__(0, -1.0),
        lambda: setattr(inner, "value", -0.0),
        lambda: setattr(inner, "another", 1.0),
        lambda: object.__setattr__(mapping, "_entries", {"limit": 3.0}),
    ]
    thing = Box((array, table), Box(entries, (inner, mapping)))
    for change in changes:
        watched = Watched(thing)
        assert watched.unchanged()
        change()
        assert not watched.unchanged()


def test_what_cannot_be_looked_at_is_not_watched() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ForeignCode):
        Watched(lambda: later)
    for thing in (object(), lambda x: x, iter([1.0]), Box(1.0), np.zeros(10_000), (0.0,) * 20_000, circle):
        with pytest.raises(ForeignCode):
            Watched(thing)
    answers: KeptAnswers[int] = KeptAnswers(4)
    thing = Box(1.0)
    for _ in range(3):
        answers.put(thing, 7)
        assert answers.get(thing) is None
    later = 1.0
    assert later

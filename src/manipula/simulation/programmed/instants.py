"""Instants at which constraints or drives change quickly in time: steps end there, and jumps that no finite force makes are reported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.expression import parse
from manipula.algebra.scattered import Scattered
from manipula.identity import is_own
from manipula.simulation.programmed.constraint import LEVELS, Constraint, value_of, values_at
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.kernels import kernel, names_of, values_of
from manipula.simulation.stepping.instants import (
    LEAST_CELLS,
    MOST_CELLS,
    NARROWEST,
    Examined,
    derivative_marks,
    formula_marks,
    function_marks,
    in_order,
    narrower,
)

JUMP = 1e-6  # of the largest value met, below which two sides count as one
MOST_CUTS = 4000  # instants at which a run is cut into stretches
BESIDE = 0.1  # how far names are moved from their values at the start, so that no factor is zero by chance
ORDERS = ("value", "rate", "second")


class ConstraintJump(NamedTuple):
    """At time t a constraint (order 0) or its rate (order 1) jumps by ``size``."""

    t: float
    constraint: str
    order: int
    size: float


class Instants(NamedTuple):
    """Where steps have to end, what cannot be followed (empty: everything can), where the constraints jump, and of what a part may be missing."""

    marks: np.ndarray
    unseen: tuple[str, ...]
    jumps: tuple[ConstraintJump, ...]
    doubts: tuple[str, ...] = ()


def instants_of(plant: ProgrammedPlant, x: np.ndarray, duration: float, step: float) -> Instants:
    """What is known of a programmed motion before it runs: its formulas in t are looked at in many more places than the steps will be.

    All other names are held at their values at the start x. Of every constraint its value, its gradient and its first and second
    derivative by time are examined, because the accelerations follow from the second. What hides between the places is found by the ranges
    of value and derivatives over cells of times, every other name held at the start and at values beside it.
    """
    examined = formula_marks(plant.drives, (), duration, step, plant.parameters)
    marks, unseen, doubts = [examined.marks], list(examined.unresolved), list(examined.doubts)
    cells = int(np.clip(duration / step, LEAST_CELLS, MOST_CELLS))
    timed = [
        k for k, c in enumerate(plant.constraints) if not isinstance(c.formula, str) or "t" in parse(c.formula).names
    ]
    if timed:
        rows = _rows(plant, x, timed)
        for order in ORDERS:
            found = function_marks(lambda t, order=order: rows(t)[order], duration, cells)
            if found is None:
                unseen.append(f"the constraint '{plant.constraints[timed[0]].name}'")
                break
            marks.append(found)
        for k in timed:
            hidden = _hidden(plant, x, plant.constraints[k], duration, cells)
            marks.append(hidden.marks)
            unseen += [what for what in hidden.unresolved if what not in unseen]
            doubts += hidden.doubts
    if any(callable(d) or not is_own(d) for d in plant.drives if not isinstance(d, str)):
        found = function_marks(_applied(plant, x), duration, cells)
        if found is None:
            unseen.append("the torque of a drive")
        else:
            marks.append(found)
    close = narrower(in_order(np.concatenate(marks)), step)
    jumps = _jumps(plant, _rows(plant, x, timed), timed, close, duration) if timed else ()
    if len(close) > MOST_CUTS:
        unseen.append("a formula in t")
        close = np.zeros(0)
    return Instants(close, tuple(unseen), jumps, tuple(doubts))


def jumps_in_words(jumps: tuple[ConstraintJump, ...]) -> str:
    """The jumps in words: "'x = …' changes its rate by 0.2 /s at t = 0.1 s, …"."""
    parts = [
        f"'{j.constraint}' jumps by {j.size:.3g}" if j.order == 0 else f"the rate of '{j.constraint}' jumps by {j.size:.3g}/s"
        for j in jumps[:3]
    ]  # fmt: skip
    more = f" and {len(jumps) - 3} times more" if len(jumps) > 3 else ""
    return ", ".join(f"{words} at t = {j.t:.6g} s" for words, j in zip(parts, jumps)) + more


def _rows(plant: ProgrammedPlant, x: np.ndarray, timed: list[int]) -> Any:
    """``rows(t)``: value and gradient, rate, and second derivative of the chosen constraints at the start state, (..., m) each."""
    run, lay = kernel("rows", plant, ""), plant.layout
    p = np.array([plant.parameters[name] for name in names_of(plant)] or [0.0], float)

    def rows(t: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):
            A, b, value, rate = (np.asarray(v) for v in run(lay.q(x), lay.qd(x), p, t))
        gradient = A[..., timed, :].reshape(*A.shape[:-2], -1)
        return {
            "value": np.concatenate([value[..., timed], gradient], axis=-1),
            "rate": rate[..., timed],
            "second": b[..., timed],
        }

    return rows


def _hidden(plant: ProgrammedPlant, x: np.ndarray, c: Constraint, duration: float, cells: int) -> Examined:
    """What one constraint holds that the places looked at do not show, in its value and both derivatives by time."""
    lay, level = plant.layout, LEVELS.index(c.level)
    moving = (lay.qd(x) if level > 0 else None, np.zeros(lay.n) if level > 1 else None)
    used = frozenset(parse(c.formula).names) if isinstance(c.formula, str) else frozenset[str]()
    start = values_at(plant.mechanism(), used, lay.q(x), *moving, 0.0, plant.parameters)
    rng = Scattered(10)
    beside = {
        name: v if name in plant.parameters else v + BESIDE * float(rng.uniform(0.5, 1.0)) for name, v in start.items()
    }
    marks, hidden = [np.zeros(0)], 0.0
    for held in (start, beside):
        for order in range(3 - level):
            try:
                found = derivative_marks(lambda t, held=held: value_of(c, {**held, "t": t}), order, duration, cells)
            except Exception:  # a user's function that takes no ranges
                return Examined(
                    in_order(np.concatenate(marks)), (), (f"'{c.name}' could not be searched for short pulses.",)
                )
            if found.marks is None:
                if held is start:
                    return Examined(np.zeros(0), (f"the constraint '{c.name}'",))
                continue
            marks.append(found.marks)
            hidden = max(hidden, found.hidden)
    narrow = (
        f"The constraint '{c.name}' was searched for pulses down to {hidden:.1g} s; shorter ones may have been missed."
    )
    return Examined(in_order(np.concatenate(marks)), (), (narrow,) if hidden else ())


def _applied(plant: ProgrammedPlant, x: np.ndarray) -> Any:
    now = replace(plant, formulation="multipliers", independent=())
    look = kernel("observer", now, "rk4")
    at, p = list(look.graph.outputs).index("applied"), np.array(values_of(now))
    return lambda t: np.asarray(look(x, p, t)[at])


def _jumps(
    plant: ProgrammedPlant, rows: Any, timed: list[int], marks: np.ndarray, duration: float
) -> tuple[ConstraintJump, ...]:
    """Where a constraint on positions, or its rate, or one on velocities differs on both sides of an instant."""
    if not len(marks):
        return ()
    close = 4.0 * NARROWEST * duration
    groups = np.split(marks, np.flatnonzero(np.diff(marks) > close) + 1)
    places = np.array([[g[0] - close, g[-1] + close] for g in groups if len(g) > 1 and g[0] > 0.0 and g[-1] < duration])
    if not len(places):
        return ()
    even, both = rows(np.linspace(0.0, duration, 257)), rows(places)
    found = []
    for k, index in enumerate(timed):
        level = plant.constraints[index].level
        for order, name in enumerate(ORDERS[: {"position": 2, "velocity": 1}.get(level, 0)]):
            off = np.abs(both[name][:, 1, k] - both[name][:, 0, k])
            size = max(float(np.abs(even[name][:, k]).max()), float(np.abs(both[name][..., k]).max()), 1e-12)
            found += [
                ConstraintJump(float(places[i].mean()), plant.constraints[index].name, order, float(off[i]))
                for i in np.flatnonzero(off > JUMP * size)
            ]
    return tuple(sorted(found))

"""User code in a programmed motion, compiled and in Python: both must be the same function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from manipula.algebra.scattered import Scattered
from manipula.errors import DescriptionError, ManipulaError
from manipula.identity import is_own
from manipula.simulation.programmed.constraint import values_at
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.kernels import kernel, values_of

SAME = 1e-7  # of a number and 1: rounding of one that divides by small differences
FIELDS = {"applied": "drives", "friction": "friction", "residual": "constraints"}
PROBES = 5


def check_memory(plant: ProgrammedPlant, q: np.ndarray, qd: np.ndarray | None, duration: float) -> None:
    """Code that remembers something between its calls is no function of the state: called again there it gives other numbers.

    Raises:
        DescriptionError: with the part, and both of its answers.
    """
    functions = tuple(c.formula for c in plant.constraints if not isinstance(c.formula, str))
    if is_own(plant.friction, plant.drives, functions):
        return
    rng = Scattered(0)
    x = np.asarray(plant.start(q, np.zeros(len(q)) if qd is None else qd), float)
    moved = np.arange(len(x)) < 2 * plant.robot.n
    states = [(float(t), x + 0.1 * moved * rng.uniform(-1.0, 1.0, len(x))) for t in np.linspace(0.0, duration, PROBES)]
    first, again = ([_answers(plant, t, state) for t, state in states] for _ in range(2))
    for a, b in zip(first, again):
        for place, number in a.items():
            if not np.array_equal(number, b[place], equal_nan=True):
                raise DescriptionError(
                    f"It remembers something between its calls (or draws random numbers): asked twice at the same state it gave "
                    f"{number:.6g} and {b[place]:.6g}. A programmed motion takes functions of the state and the time alone; write what "
                    "it remembers as a formula in t, or as a state of a Drive or FrictionLaw.",
                    field=place,
                )


def _answers(plant: ProgrammedPlant, t: float, x: np.ndarray) -> dict[str, float]:
    """What user code gives at a state, on plain numbers, by its place; NaN where it fails."""
    lay, mechanism, n = plant.layout, plant.mechanism(), plant.robot.n
    q, qd, states, motors = lay.q(x), lay.qd(x), lay.friction_states(x), lay.drive_states(x)
    asked: dict[str, Callable[[], Any]] = {}
    for k, c in enumerate(plant.constraints):
        if callable(c.formula):
            given = (
                (qd, None) if c.level == "velocity" else (qd, 0.1 * qd) if c.level == "acceleration" else (None, None)
            )
            asked[f"constraints[{k}]"] = lambda f=c.formula, given=given: f(
                values_at(mechanism, frozenset(), q, *given, t, plant.parameters)
            )
    for i in range(n):
        law, alone = (
            plant.friction[i],
            replace(plant, drives=tuple(d if j == i else None for j, d in enumerate(plant.drives))),
        )
        if law is not None and not is_own(law):
            asked[f"friction[{i}]"] = lambda i=i, law=law: law.torque(qd[i], states[i], 1.0)
        if not is_own(plant.drives[i]):
            asked[f"drives[{i}]"] = lambda i=i, alone=alone: alone.applied(t, q, qd, motors)[0][i]
    found = {}
    for place, ask in asked.items():
        try:
            with np.errstate(all="ignore"):
                found[place] = float(ask())
        except Exception:  # user code: the run will say how it fails
            found[place] = float("nan")
    return found


def check_traced(plant: ProgrammedPlant, x: np.ndarray, duration: float) -> None:
    """Code that catches exceptions or looks at types may take another way while it is traced, without anybody noticing.

    Raises:
        DescriptionError: with the part that is compiled into something else than it is in Python.
    """
    functions = tuple(c.formula for c in plant.constraints if not isinstance(c.formula, str))
    if is_own(plant.friction, plant.drives, functions):
        return
    now = replace(plant, formulation="multipliers", independent=())
    look, p = kernel("observer", now, "rk4"), np.array(values_of(now))
    rng, n = Scattered(0), plant.robot.n
    for t in np.linspace(0.0, duration, PROBES):
        state = x + np.where(np.arange(len(x)) < 2 * n, 0.1 * rng.uniform(-1.0, 1.0, len(x)), 0.0) * (t > 0.0)
        seen = dict(zip(look.graph.outputs, look(state, p, float(t))))
        try:
            with np.errstate(all="ignore"):
                flow = now.flow(float(t), state)
            own = {"applied": flow.applied, "friction": flow.friction, "residual": flow.rows.value}
            wanted = {name: np.asarray(v, float) for name, v in own.items()}
        except (ManipulaError, TypeError, ValueError, ArithmeticError):
            continue  # it fails by itself there; the run will say how
        for name, field in FIELDS.items():
            off = np.abs(np.asarray(seen[name], float) - wanted[name]) > SAME * (1.0 + np.abs(wanted[name]))
            if np.any(off & np.isfinite(wanted[name])):
                i = int(np.argmax(off))
                raise DescriptionError(
                    "Compiled it gives other numbers than in Python (does it catch exceptions, or look at types?); write it with "
                    "manipula.algebra.ops.",
                    field=f"{field}[{i}]",
                )

"""Somebody's code in a programmed motion, compiled and in Python: both must be the same function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manipula.errors import DescriptionError, ManipulaError
from manipula.identity import is_own
from manipula.simulation.programmed.equations import ProgrammedPlant
from manipula.simulation.programmed.kernels import kernel, values_of

SAME = 1e-7  # of a number and 1: rounding of one that divides by small differences
FIELDS = {"applied": "drives", "friction": "friction", "residual": "constraints"}
PROBES = 5


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
    rng, n = np.random.default_rng(0), plant.robot.n
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

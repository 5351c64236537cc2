"""Which of many runs may break a limit? One compiled loop that finds the extremes of every limited quantity, and neither when they occur nor which limit
is passed first; a run that is beyond doubt needs no more, the others are looked at by ``extremes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.loops.setup import Run
from manipula.simulation.stepping.grid import margin
from manipula.simulation.verdicts.extremes import (
    NEVER,
    SIDES,
    JointLimitRows,
    doubtful,
    turning_joints,
    turning_point,
    two_sided,
)


def suspects(
    run: Run,
    held: JointLimitRows,
    members: Sequence[int],
    t: np.ndarray,
    x: np.ndarray,
    instants: np.ndarray,
    threads: int | None,
) -> np.ndarray:
    """Which of some runs, whose states x (N, S, size) at the times t are known, come near a limit or hold what is no number, (N,).

    Args:
        instants: at which something is known to change, so that the side before them is looked at too.
    """
    count, states = x.shape[:2]
    both = two_sided(run, t, False, instants)
    row = np.repeat(np.arange(states), 1 + both.astype(int))
    before = np.append(row[1:] == row[:-1], False)  # the first of two looks at one state
    at = np.where(before, np.maximum(t[row] - SIDES * margin(t[row]), 0.0), t[row] + SIDES * margin(t[row]))
    at[-1] = t[-1]
    looks = t[row], at, row.astype(float), before.astype(float)
    kernel = _kernel(run.loop, held.rows)
    low, high, total = kernel(
        run.p[list(members)], states * np.arange(count, dtype=float), *run.inputs, *looks, np.ascontiguousarray(x).reshape(count * states, -1),
        len(row), threads=threads, turns=float(len(row)),
    )  # fmt: skip
    shape = (count, len(held.rows))
    near = doubtful(held, np.reshape(low, shape), np.reshape(high, shape)).any(axis=1)
    return near | ~np.isfinite(np.reshape(total, count))


def _kernel(loop: CompiledLoop, rows: tuple[tuple[str, int], ...]) -> native.Kernel:
    """``kernel(p, first, breaks, coefficients, times, at, row, before, states, looks)`` → low, high (m,), and a sum that is a number where everything was."""
    lay = loop.plant.layout
    turning = turning_joints(rows)

    def reduce(
        p: Any,
        first: Any,
        breaks: Any,
        coefficients: Any,
        times: Any,
        at: Any,
        row: Any,
        before: Any,
        states: Any,
        looks: Any,
    ) -> Any:
        plant = loop.traced(p, breaks, coefficients)

        def look(k: Any, t0: Any, q0: Any, v0: Any, a0: Any, total: Any, low: Any, high: Any) -> Any:
            t, x = native.lookup(times, k), native.lookup(states, first + native.lookup(row, k))
            q, v = lay.q(x), lay.qd(x)
            flow = plant.flow(native.lookup(at, k), x)
            a = flow.qdd
            values = {"position": q, "velocity": v, "acceleration": a, "torque": flow.tau, "power": flow.tau * v}
            for value in (*q, *v, *a, *flow.tau):
                total = total + ops.abs(value)
            now = array([values[quantity][i] for quantity, i in rows])
            turns: Any = 0.0
            early = native.lookup(before, k) > 0.5
            for j in turning:
                rates = (v0, v) if rows[j][0] == "position" else (a0, a)
                turns = ops.where(rates[0][rows[j][1]] * rates[1][rows[j][1]] < 0.0, 1.0, turns)

            def turned(_: Any, low: Any, high: Any) -> Any:
                between = list(now)
                for j in turning:
                    between[j] = turning_point(*rows[j], t0, t, (q0, v0, a0), (q, v, a))[1]
                return 0.0, _least(low, between), _most(high, between)

            turns = ops.where(early, 0.0, turns)
            if turning:
                low, high = native.until(turned, (turns, low, high), lambda flag, *_: flag < 0.5, 1).state[1:]
            kept = (
                array([ops.where(early, old, new) for old, new in zip(*pair)]) for pair in ((q0, q), (v0, v), (a0, a))
            )
            return ops.where(early, t0, t), *kept, total, _least(low, now), _most(high, now)

        rest, never = np.zeros(lay.n), np.full(len(rows), NEVER)
        done = native.repeat(look, (0.0, rest, rest, rest, 0.0, never, -never), looks).state
        return {"low": done[5], "high": done[6], "total": done[4]}

    inputs: dict[str, tuple[Any, ...]] = {
        "p": loop.inputs["p"], "first": (), "breaks": loop.inputs["breaks"], "coefficients": loop.inputs["coefficients"], "times": ("s",),
        "at": ("s",), "row": ("s",), "before": ("s",), "states": ("w", lay.size), "looks": (),
    }  # fmt: skip
    parts = None if loop.parts is None else loop.parts + repr(rows).encode()
    name = f"{loop.plant.robot.name}.screening"
    return native.kernel_of(reduce, inputs, name, parts, [key for key in inputs if key not in ("p", "first")])


def _least(known: Any, values: Any) -> Any:
    return array([ops.where(old > new, new, old) for old, new in zip(known, values)])


def _most(known: Any, values: Any) -> Any:
    return array([ops.where(old < new, new, old) for old, new in zip(known, values)])

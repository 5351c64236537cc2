"""The extremes of every limited quantity of many runs, found by one compiled loop over the states that were looked at.

It gives what :func:`manipula.simulation.limit_checks.peaks_of` finds with NumPy, one run after the other, to rounding: for each limited quantity of each
joint the lowest and the highest value with their times, turning points between two looks included, and when the limit is first passed.

Both sides of an instant are looked at where something can jump: at known instants, everywhere where a command is held, a switch acts or the base moves.
Elsewhere the equations are continuous in time, and both sides, 8·10⁻¹⁴ (1 + t) s apart, are one value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.simulation.limit_checks import SIGNALS, SLACK, Check, Peak
from manipula.simulation.loops.loop import CompiledLoop
from manipula.simulation.loops.setup import Run
from manipula.simulation.stated_limits import StatedLimit, limit_of
from manipula.simulation.stepping.grid import margin

NEVER = 1e300  # the time of what did not happen, and a size that nothing reaches
SIDES = 4.0  # margins on either side of an instant
LOOKED_AT = {"acceleration": "qdd", "torque": "tau", "power": "power"}  # what may jump


class JointLimitRows(NamedTuple):
    """The limited quantities of the joints.

    Attributes:
        rows: (quantity, joint) of each. limits: the limit of each. low, high: its ends, (m,). slack: by how much an end is passed at least, (m,).
    """

    rows: tuple[tuple[str, int], ...]
    limits: tuple[StatedLimit, ...]
    low: np.ndarray
    high: np.ndarray
    slack: np.ndarray


def held_limits(limits: Mapping[str, Any]) -> JointLimitRows:
    """The limits of joints, but for the jerk, quantity after quantity."""
    rows, found, low, high, slack = [], [], [], [], []
    for quantity in SIGNALS:
        for i, entry in enumerate(limits.get(quantity) or ()):
            limit = limit_of(entry)
            if limit is None:
                continue
            ends = limit if isinstance(limit, tuple) else (-limit, limit)
            size = max((abs(x) for x in ends if np.isfinite(x)), default=0.0)
            rows.append((quantity, i))
            found.append(limit)
            low.append(ends[0])
            high.append(ends[1])
            slack.append(SLACK * ((ends[1] - ends[0]) / 2 if np.isfinite(ends[1] - ends[0]) else size))
    return JointLimitRows(tuple(rows), tuple(found), np.array(low), np.array(high), np.array(slack))


class Extremes(NamedTuple):
    """Of every run and limited quantity, (N, m): lowest and highest value with their times, when the limit is first passed (NEVER: it is not).

    ``odd``: has a run signals that are no numbers while it goes on, (N,)?
    """

    low: np.ndarray
    low_at: np.ndarray
    high: np.ndarray
    high_at: np.ndarray
    first: np.ndarray
    odd: np.ndarray


def extremes(run: Run, held: JointLimitRows, members: Sequence[int], t: np.ndarray, x: np.ndarray, commands: np.ndarray | None,
             instants: np.ndarray, threads: int | None) -> Extremes:  # fmt: skip
    """The extremes of some runs whose states x (N, S, size) at the times t are known.

    Args:
        commands: (N, S, n), where they were decided elsewhere. instants: at which something is known to change.
    """
    loop, given = run.loop, commands is not None
    kernel = _kernel(loop, held.rows, given)
    count, looks = x.shape[:2]
    both = two_sided(run, t, given, instants)
    rows = [np.ascontiguousarray(x).reshape(count * looks, -1)]
    if commands is not None:
        rows.append(np.ascontiguousarray(commands).reshape(count * looks, -1))
    first = looks * np.arange(count, dtype=float)
    ends = held.low, held.high, held.slack
    found = kernel(
        run.p[list(members)], first, *run.inputs, t, both, *rows, *ends, looks, threads=threads, turns=float(looks)
    )
    return Extremes(*(np.asarray(v, float).reshape(count, *np.shape(v)[1:]) for v in found))


def two_sided(run: Run, t: np.ndarray, given: bool, instants: np.ndarray) -> np.ndarray:
    """Where something can jump, so that both sides of an instant are looked at: 1, elsewhere 0, (S,)."""
    both = np.zeros(len(t))
    if given:
        both[:] = run.loop.sampled
    elif run.plant.switches or run.plant.base_motion is not None:
        both[:] = 1.0
    elif len(instants):
        near = np.clip(np.searchsorted(instants, t), 1, max(1, len(instants) - 1))
        distance = np.minimum(np.abs(instants[near - 1] - t), np.abs(instants[min(1, len(instants) - 1) * near] - t))
        both[distance <= 2.0 * SIDES * margin(t)] = 1.0
    return both


def doubtful(held: JointLimitRows, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which extremes, (N, m), are beyond their limits or near them."""
    over = np.maximum(held.low - low, high - held.high)  # how far beyond its limit each quantity goes
    return over > -1e-6 * (1.0 + np.abs(low) + np.abs(high))


def peak_rows(
    held: JointLimitRows, found: Extremes, members: Sequence[int], broken_only: bool
) -> list[tuple[int, list[Peak]]]:
    """The rows of every run that is not odd, by its place among the members."""
    near = doubtful(held, found.low, found.high)
    out: list[tuple[int, list[Peak]]] = []
    for i, k in enumerate(members):
        if found.odd[i] > 0.5:
            continue
        rows: list[Peak] = []
        for j in np.flatnonzero(near[i]).tolist() if broken_only else range(len(held.rows)):
            if found.low[i, j] >= NEVER:  # the run has no state that is a number
                continue
            ends = tuple(float(v[i, j]) for v in (found.low, found.low_at, found.high, found.high_at))
            if broken_only and _check(held, j, ends).ok:
                continue
            first = float(found.first[i, j])
            quantity, joint = held.rows[j]
            low, low_at, high, high_at = ends
            rows.append((int(k), quantity, joint, low, low_at, high, high_at, first if first < NEVER else float("nan")))
        out.append((i, rows))
    return out


def _check(held: JointLimitRows, j: int, ends: tuple[float, ...]) -> Check:
    """The extreme that goes furthest beyond its limit, of two that go equally far the earlier one."""
    low, low_at, high, high_at = ends
    below, above = held.low[j] - low, high - held.high[j]
    at_low = below > above or (below == above and low_at < high_at)
    worst, time = (low, low_at) if at_low else (high, high_at)
    return Check(held.rows[j][0], worst, time, held.limits[j])


def _kernel(loop: CompiledLoop, rows: tuple[tuple[str, int], ...], given: bool) -> native.Kernel:
    """``kernel(p, first, breaks, coefficients, times, both, states[, commands], low, high, slack, looks)`` → Extremes."""
    lay, m = loop.plant.layout, max(1, len(rows))
    numbers, turning = loop.inputs, turning_joints(rows)

    def reduce(
        p: Any, first: Any, breaks: Any, coefficients: Any, times: Any, both: Any, states: Any, *more: Any
    ) -> Any:
        commands, (low, high, slack, looks) = (more[0], more[1:]) if given else (None, more)
        plant = loop.traced(p, breaks, coefficients)
        if given:
            plant = replace(plant, controller=None)
        reduction = _Reduction(rows, low, high, slack)

        def seen(k: Any, t: Any, x: Any, found: Any) -> Any:
            """Accelerations just after t; whether something is no number; and the extremes with all that may jump, on one side or on both."""
            sides = 1.0 + native.lookup(both, k)

            def one(side: Any, kept: Any, odd: Any, *found: Any) -> Any:
                before = side > 0.5
                later = ops.where(k > looks - 1.5, t, t + SIDES * margin(t))
                at = ops.where(before, ops.maximum(t - SIDES * margin(t), 0.0), later)
                if commands is None:
                    flow = plant.flow(at, x)
                else:  # until an instant the command before the one of this instant was held
                    row = ops.where(before, ops.maximum(k - 1.0, 0.0), k)
                    flow = plant.flow(at, x, None, native.lookup(commands, first + row))
                signals = {"qdd": flow.qdd, "tau": flow.tau, "power": array(flow.tau * lay.qd(x))}
                sick: Any = odd
                for value in (*signals["qdd"], *signals["tau"]):
                    sick = ops.where(native.is_finite(value), sick, 1.0)
                found = reduction.with_values(found, {q: signals[name] for q, name in LOOKED_AT.items()}, t)
                kept = array([ops.where(before, old, new) for old, new in zip(kept, flow.qdd)])
                return side + 1.0, kept, sick, *found

            begun = (0.0, np.zeros(lay.n), 0.0, *found)
            return native.until(one, begun, lambda side, *_: side > sides - 0.5, 2).state[1:]

        def look(k: Any, t0: Any, q0: Any, v0: Any, a0: Any, odd: Any, *found: Any) -> Any:
            t, x = native.lookup(times, k), native.lookup(states, first + k)
            q, v = lay.q(x), lay.qd(x)
            alive = (q[0] < NEVER) & (q[0] > -NEVER)
            a, sick, *reduced = seen(k, t, x, found)
            found = tuple(reduced)
            for value in (*q, *v):
                sick = ops.where(native.is_finite(value), sick, 1.0)
            odd = ops.where(alive & (sick > 0.5), 1.0, odd)
            turns: Any = 0.0
            for quantity, i in (rows[j] for j in turning):
                rate0, rate = (v0, v) if quantity == "position" else (a0, a)
                turns = ops.where(rate0[i] * rate[i] < 0.0, 1.0, turns)

            def turned(_: Any, *found: Any) -> Any:
                for j in turning:
                    u, value = turning_point(*rows[j], t0, t, (q0, v0, a0), (q, v, a))
                    found = reduction.with_value(found, *rows[j], value, t0 + u * (t - t0))
                return 0.0, *found

            if turning:
                found = native.until(turned, (turns, *found), lambda flag, *_: flag < 0.5, 1).state[1:]
            found = reduction.with_values(found, {"position": q, "velocity": v}, t)
            return t, q, v, a, odd, *found

        rest = np.zeros(lay.n)
        start = (0.0, rest, rest, rest, 0.0, *reduction.nothing())
        done = native.repeat(look, start, looks).state
        return dict(zip(("low", "low_at", "high", "high_at", "first", "odd"), (*done[5:], done[4])))

    inputs: dict[str, tuple[Any, ...]] = {
        "p": numbers["p"], "first": (), "breaks": numbers["breaks"], "coefficients": numbers["coefficients"], "times": ("s",), "both": ("s",),
        "states": ("w", lay.size), **({"commands": ("w", lay.n)} if given else {}), "low": (m,), "high": (m,), "slack": (m,), "looks": (),
    }  # fmt: skip
    name = f"{loop.plant.robot.name}.extremes"
    parts = None if loop.parts is None else loop.parts + repr((rows, given)).encode()
    return native.kernel_of(reduce, inputs, name, parts, [key for key in inputs if key not in ("p", "first")])


class _Reduction:
    """Running extremes of all rows: (low, low_at, high, high_at, first), (m,) each, traced."""

    def __init__(self, rows: tuple[tuple[str, int], ...], low: Any, high: Any, slack: Any) -> None:
        self.places = {row: j for j, row in enumerate(rows)}
        self.count = max(1, len(rows))
        self.low, self.high, self.slack = low, high, slack

    def joints(self, quantity: str) -> list[int]:
        """The joints of which a quantity is limited."""
        return [i for name, i in self.places if name == quantity]

    def nothing(self) -> tuple[Any, ...]:
        """Before the first look."""
        full = lambda value: np.full(self.count, value)  # noqa: E731
        return full(NEVER), full(NEVER), full(-NEVER), full(NEVER), full(NEVER)

    def with_values(self, found: Any, values: Mapping[str, Any], t: Any) -> Any:
        """One more value of every joint at the time t."""
        for quantity, of_joints in values.items():
            for i in self.joints(quantity):
                found = self.with_value(found, quantity, i, of_joints[i], t)
        return found

    def with_value(self, found: Any, quantity: str, joint: int, value: Any, t: Any) -> Any:
        """One more value; no number changes nothing."""
        j = self.places[quantity, joint]
        low, low_at, high, high_at, first = (np.array(part, object) for part in found)
        # the traced number stands first: a constant of old NumPy would not leave the comparison to it
        below, above = low[j] > value, high[j] < value
        passed = (self.low[j] - value > self.slack[j]) | (value - self.high[j] > self.slack[j])
        low[j], low_at[j] = ops.where(below, value, low[j]), ops.where(below, t, low_at[j])
        high[j], high_at[j] = ops.where(above, value, high[j]), ops.where(above, t, high_at[j])
        first[j] = ops.where(passed & (first[j] >= NEVER), t, first[j])
        return low, low_at, high, high_at, first


def turning_joints(rows: Sequence[tuple[str, int]]) -> list[int]:
    """The rows whose extremes may lie between two looks."""
    return [j for j, (quantity, _) in enumerate(rows) if quantity in ("position", "velocity")]


def turning_point(quantity: str, i: int, t0: Any, t: Any, before: Any, now: Any) -> tuple[Any, Any]:
    """Where between two looks, as a fraction, joint i turns and what it reaches there; where it does not turn, how it began.

    Args:
        before, now: positions, velocities and accelerations at both looks.
    """
    (q0, v0, a0), (q, v, a) = ([x[i] for x in state] for state in (before, now))
    position = quantity == "position"
    y0, y, r0, r, more = (q0, q, v0, v, (a0, a)) if position else (v0, v, a0, a, (q0, q))
    is_turn = r0 * r < 0.0
    u, value = _turning(t - t0, y0, y, r0, r, *more, position)
    return ops.where(is_turn, u, 0.0), ops.where(is_turn, value, y0)


def _turning(h: Any, a: Any, b: Any, rate0: Any, rate1: Any, more0: Any, more1: Any, quintic: bool) -> tuple[Any, Any]:
    """Where between two looks a signal turns (as a fraction) and what it reaches there: see ``limit_checks.turning_points``."""
    v, w = h * rate0, h * rate1
    c2, c3 = 3.0 * (b - a) - 2.0 * v - w, 2.0 * (a - b) + v + w
    root = ops.sqrt(ops.maximum(c2 * c2 - 3.0 * c3 * v, 0.0))
    u = -v / ops.where(v > 0.0, c2 - root, c2 + root)
    u = ops.minimum(ops.maximum(ops.where(native.is_finite(u), u, 0.5), 0.0), 1.0)
    cubic = a + u * (v + u * (c2 + u * c3))
    if quintic:
        d0, d1 = h * h * (more0 / 2.0) - c2, h * h * (more1 / 2.0) - (c2 + 3.0 * c3)
        finer = u * u * (1.0 - u) * (1.0 - u) * (d0 * (1.0 - u) + d1 * u)
    else:
        mean = a + v / 2.0 + c2 / 3.0 + c3 / 4.0
        finer = 30.0 * ((more1 - more0) / h - mean) * (u * (1.0 - u)) * (u * (1.0 - u))
    size = ops.abs(finer)
    top = ops.maximum(cubic + finer - size, ops.maximum(a, b))
    bottom = ops.minimum(cubic + finer + size, ops.minimum(a, b))
    return u, ops.where(rate0 > 0.0, top, bottom)

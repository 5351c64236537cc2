"""Loops inside compiled functions.

``repeat`` runs a step a number of times that is known only at run time and records samples; ``until`` runs a step until a
condition holds. The step is traced once and runs natively; a batch runs several states side by side, each frozen when
its own condition holds. On plain floats, outside a trace, both run as ordinary Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula.errors import ShapeError, TracingError
from manipula.native.tracing.graph import Loop, core_size
from manipula.native.tracing.interpreter import count
from manipula.native.tracing.nodes import GraphBuilder, current
from manipula.native.tracing.tables import Samples
from manipula.native.tracing.tracer import Condition, Node, TracedValue


class Repeated(NamedTuple):
    """What a counted loop gives: the last state, the samples, and the step at which it stopped (−1: it did not)."""

    state: tuple
    samples: Any
    stopped: Any


class Converged(NamedTuple):
    """What an until-converged loop gives: the last state and how many iterations were taken."""

    state: tuple
    iterations: Any


def repeat(
    step: Callable[..., Any],
    state: Sequence[Any],
    steps: Any,
    *,
    record: Callable[..., Any] | None = None,
    every: Any = 1,
    stop: Callable[..., Any] | None = None,
) -> Repeated:
    """``for i in range(steps): state = step(i, *state)``.

    Args:
        step: gives the next state, with the shapes of ``state``.
        state: a tuple of numbers and arrays.
        steps: a whole number, or an input declared in ``shared=`` (so that a new duration needs no compilation).
        record: ``record(i, *state)`` is sampled at i = 0, every, 2·every, … ≤ steps: an array, or a tuple or dict of
            arrays. Samples have shape ``(steps // every + 1, *shape)`` and can only be returned as outputs.
        every: steps between samples, like ``steps``.
        stop: ``stop(i, *state)`` is asked before every step and once at the end. Where it holds the state is kept as it
            is, ``stopped`` is that ``i``, and samples after it are NaN.
    """
    builder = current()
    state = tuple(state)
    if builder is None:
        return _plain_repeat(step, state, steps, record, every, stop)
    loop = begin(builder, "repeat", len(_flat(state)))
    loop.initial = tuple(builder.lift(x) for x in _flat(state))
    loop.steps, loop.every = _counter(builder, steps, "steps"), _counter(builder, every, "every")
    index, inner = loop.params[-1], _shaped([loop.params[k] for k in range(len(loop.initial))], state)
    loop.results = _results(builder, step(index, *inner), state, "repeat")
    if stop is not None:
        loop.stop = _condition(stop(index, *inner), builder, "stop")
    columns: dict[str, tuple[int, tuple]] = {}
    recorded = None
    if record is not None:
        if builder.depth > 1:
            raise TracingError("samples can be recorded only by a loop that is not inside another loop.")
        recorded = record(index, *inner)
        values: list[TracedValue] = []
        for name, value in _parts(recorded).items():
            array = np.asarray(value, object)
            columns[name] = (len(values), array.shape)
            values += [builder.lift(x) for x in array.ravel().tolist()]
        loop.record = tuple(values)
    node = end(builder, loop)
    samples = {name: Samples(node, k, shape, loop.steps, loop.every) for name, (k, shape) in columns.items()}
    picked = [builder.make("pick", (node,), k) for k in range(len(loop.initial) + 1)]
    return Repeated(_shaped(picked[:-1], state), _joined(recorded, samples), picked[-1])


def until(
    step: Callable[..., Any],
    state: Sequence[Any],
    done: Callable[..., Any],
    max_iterations: Any = 100,
    flat: bool = False,
) -> Converged:
    """``while not done(*state) and iterations < max_iterations: state = step(*state)``.

    In a batch a state that is done keeps its value while others go on; the loop ends when all are done.

    Args:
        flat: derivatives take what the loop gives for a constant. Right for the root of an equation when one more step of Newton's
            method follows the loop: that step alone carries the derivative of the root, exactly, at a fraction of the cost.
    """
    builder = current()
    state = tuple(state)
    if builder is None:
        taken = 0
        while taken < max_iterations and not done(*state):
            state = _tuple(step(*state), len(state))
            taken += 1
        return Converged(state, float(taken))
    loop = begin(builder, "until", len(_flat(state)))
    loop.flat = flat
    loop.initial = tuple(builder.lift(x) for x in _flat(state))
    loop.steps = builder.lift(max_iterations)
    inner = _shaped([loop.params[k] for k in range(len(loop.initial))], state)
    loop.results = _results(builder, step(*inner), state, "until")
    loop.stop = _condition(done(*inner), builder, "done")
    node = end(builder, loop)
    picked = [builder.make("pick", (node,), k) for k in range(len(loop.initial) + 1)]
    return Converged(_shaped(picked[:-1], state), picked[-1])


def begin(builder: GraphBuilder, kind: str, states: int) -> Loop:
    """Open a loop: nodes made from its variables until :func:`end` form its body."""
    builder.depth += 1
    builder.loops += 1
    loop = Loop(kind, builder.loops, builder.depth)
    for k in range(-1, states):
        loop.params[k] = builder.fresh("param", (), (loop.number, k, loop.depth))
    return loop


def end(builder: GraphBuilder, loop: Loop) -> Node:
    """Close a loop and give its node."""
    builder.depth -= 1
    counters = tuple(v for v in (loop.steps, loop.every) if v is not None)
    return builder.fresh("loop", (*loop.initial, *counters), loop)


# ---------------------------------------------------------------------- shapes of states
def _flat(state: tuple) -> list[Any]:
    return [x for part in state for x in np.asarray(part, object).ravel().tolist()]


def _shaped(values: list[Any], like: tuple) -> tuple:
    out, k = [], 0
    for part in like:
        shape = np.shape(part)
        if shape == ():
            out.append(values[k])
            k += 1
            continue
        array = np.empty(core_size(shape), object)
        array[:] = values[k : k + len(array)]
        k += len(array)
        out.append(array.reshape(shape))
    return tuple(out)


def _tuple(result: Any, parts: int) -> tuple:
    if parts == 1 and not isinstance(result, (tuple, list)):
        return (result,)
    if not isinstance(result, (tuple, list)) or len(result) != parts:
        found = f"{len(result)} parts" if isinstance(result, (tuple, list)) else type(result).__name__
        raise ShapeError(f"the step of a loop must return its whole state, {parts} parts; it returned {found}.")
    return tuple(result)


def _results(builder: GraphBuilder, result: Any, state: tuple, kind: str) -> tuple[TracedValue, ...]:
    parts = _tuple(result, len(state))
    for k, (new, old) in enumerate(zip(parts, state)):
        if np.shape(new) != np.shape(old):
            raise ShapeError(
                f"part {k} of the state of a {kind} loop has shape {np.shape(old)}, the step returned {np.shape(new)}."
            )
    return tuple(builder.lift(x) for x in _flat(parts))


def _condition(value: Any, builder: GraphBuilder, what: str) -> TracedValue:
    if isinstance(value, Condition):
        return value
    if isinstance(value, (bool, np.bool_)):
        zero = builder.const(0.0)
        return builder.make("eq" if value else "ne", (zero, zero))
    raise TracingError(f"'{what}' of a loop must give a condition such as x < y, got {type(value).__name__}.")


def _counter(builder: GraphBuilder, x: Any, what: str) -> Node:
    node = builder.lift(x)
    if node.code == "const" and node.data == node.data and abs(node.data) < 2**53:
        return builder.const(float(count(node.data)) if what == "steps" else float(max(count(node.data), 1)))
    if node.code != "input":
        raise TracingError(
            f"'{what}' of native.repeat must be a whole number or an input declared in shared=, because it is the same "
            "for all states of a batch; a number of iterations that differs belongs into native.until."
        )
    return node


def _parts(recorded: Any) -> dict[str, Any]:
    if isinstance(recorded, Mapping):
        return {str(k): v for k, v in recorded.items()}
    if isinstance(recorded, (tuple, list)):
        return {str(k): v for k, v in enumerate(recorded)}
    return {"": recorded}


def _joined(recorded: Any, samples: dict[str, Any]) -> Any:
    if recorded is None:
        return None
    if isinstance(recorded, Mapping):
        return samples
    if isinstance(recorded, (tuple, list)):
        return tuple(samples.values())
    return samples[""]


def _plain_repeat(step: Any, state: tuple, steps: Any, record: Any, every: Any, stop: Any) -> Repeated:
    steps, every = count(steps), max(count(every), 1)
    rows: list[dict[str, Any]] = []
    recorded, stopped = None, -1.0
    for i in range(steps + 1):
        if record is not None and i % every == 0:
            recorded = record(float(i), *state)
            rows.append(_parts(recorded))
        if stop is not None and stop(float(i), *state):
            stopped = float(i)
            break
        if i < steps:
            state = _tuple(step(float(i), *state), len(state))
    samples: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = np.full((steps // every + 1, *np.shape(rows[0][name])), np.nan)
        values[: len(rows)] = [np.asarray(row[name], float) for row in rows]
        samples[name] = values
    return Repeated(state, _joined(recorded, samples), stopped)

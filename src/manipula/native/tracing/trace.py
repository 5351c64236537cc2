"""From a Python function to a graph: run it once on traced numbers, keep what the outputs need.

The nodes a function made form one pool. Each belongs to the innermost loop on whose variables it depends, so whatever
does not depend on a loop is computed outside it, however the function was written.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from manipula.errors import ManipulaError, TracingError
from manipula.native.tracing.graph import Graph, Loop, Operation, Sampled, core_size
from manipula.native.tracing.nodes import GraphBuilder
from manipula.native.tracing.tables import RunTimeArray, Samples
from manipula.native.tracing.tracer import Condition, Node, TracedValue


def trace(f: Callable[..., Any], inputs: Mapping[str, tuple], name: str = "f", *, shared: Iterable[str] = ()) -> Graph:
    """The graph of ``f`` for inputs of the given shapes.

    ``f`` is called by position with an object array of traced numbers per input (a bare one for shape ``()``). It
    returns an array, a number, or a tuple or dict of those. ``shared`` names inputs that are the same for all states
    of a batch; one whose shape contains a name, such as ``("m", 4)``, has that length at run time and arrives as a
    :class:`~manipula.native.tracing.tables.RunTimeArray` for use in tables.
    """
    builder = GraphBuilder()
    shared = frozenset(shared)
    unknown = shared - set(inputs)
    if unknown:
        raise TracingError(f"{name}: shared names {sorted(unknown)} are not inputs; inputs are {list(inputs)}.")
    with builder, without_garbage_collection():
        arguments = [make_input(builder, key, tuple(shape), key in shared) for key, shape in inputs.items()]
        result = _called(f, arguments, name)
        return graph_of(builder, inputs, result, name, shared)


_TRACED = ("Node", "Condition", "ufunc", "dtype('O')", "object arrays")


def _called(f: Callable[..., Any], arguments: list[Any], name: str) -> Any:
    """``f(*arguments)``; what NumPy says when one of its functions knows no traced numbers becomes a TracingError."""
    try:
        return f(*arguments)
    except ManipulaError:
        raise
    except (TypeError, AttributeError, ValueError) as error:
        if not any(word in str(error) for word in _TRACED):
            raise
        raise TracingError(
            f"{name} cannot be compiled: {error}. Use functions of manipula.algebra.ops (sin, where, minimum …) on traced numbers."
        ) from error


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """A trace makes many objects and drops none; looking through all of them again and again takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def make_input(builder: GraphBuilder, name: str, shape: tuple, shared: bool) -> Any:
    """The traced argument of one input."""
    if any(isinstance(d, str) for d in shape):
        if not shared:
            raise TracingError(f"input '{name}' of shape {shape} has a run-time length, so it must be in shared=.")
        return RunTimeArray(name, shape)
    nodes = [builder.fresh("input", (), (name, i)) for i in range(core_size(shape))]
    if shape == ():
        return nodes[0]
    array = np.empty(len(nodes), object)
    array[:] = nodes
    return array.reshape(shape)


def named_outputs(result: Any) -> dict[str, Any]:
    """What a traced function returned, by name: ``out``, ``out0 out1 …`` for a tuple, or the keys of a dict."""
    if isinstance(result, Mapping):
        return {str(k): v for k, v in result.items()}
    if isinstance(result, tuple):
        return {f"out{i}": v for i, v in enumerate(result)}
    return {"out": result}


def graph_of(
    builder: GraphBuilder, inputs: Mapping[str, tuple], result: Any, name: str, shared: Iterable[str]
) -> Graph:
    """The graph that computes ``result``, made of nodes of ``builder``."""
    if not named_outputs(result):
        raise TracingError(
            f"{name} returns nothing; a traced function returns numbers, arrays, or a tuple or dict of them."
        )
    outputs: dict[str, tuple] = {}
    wanted: dict[str, list[TracedValue]] = {}
    sampled: dict[str, Samples] = {}
    for key, value in named_outputs(result).items():
        if isinstance(value, Samples):
            steps, every = value.counters()
            outputs[key] = (f"{steps}//{every}+1", *value.shape)
            sampled[key] = value
            continue
        array = value if isinstance(value, np.ndarray) else np.asarray(value, object)
        outputs[key] = array.shape
        try:
            wanted[key] = [
                x.select(1.0, 0.0) if isinstance(x, Condition) else builder.lift(x) for x in array.ravel().tolist()
            ]
        except TracingError as error:
            raise TracingError(f"output '{key}' of {name}: {error}") from None
    roots = [v for values in wanted.values() for v in values] + [s.loop for s in sampled.values()]
    operations, body, number = flatten(builder, roots)
    _check_counters(operations, frozenset(shared))
    return Graph(
        name,
        {k: tuple(s) for k, s in inputs.items()},
        shared,
        operations,
        body,
        outputs,
        {k: [number[v.index] for v in values] for k, values in wanted.items()},
        {k: Sampled(number[s.loop.index], s.start, s.shape, *s.counters()) for k, s in sampled.items()},
    )


def _check_counters(operations: list[Operation], shared: frozenset[str]) -> None:
    for op in operations:
        if op.code == "loop" and op.data.kind == "repeat":
            for v in (op.data.steps, op.data.every):
                code, _, data = operations[v]
                if code != "const" and data[0] not in shared:
                    raise TracingError(
                        f"input '{data[0]}' counts the steps of a loop, so it must be declared in shared=: it is the same "
                        "for all states of a batch."
                    )


def flatten(builder: GraphBuilder, roots: list[TracedValue]) -> tuple[list[Operation], list[int], dict[int, int]]:
    """Operations that ``roots`` need, the numbers of those outside all loops, and the number of each node."""
    values = builder.values
    live = mark(values, roots)
    indices = [i for i in range(len(values)) if live[i]]
    lines: dict[int, Any] = {
        i: (v.code, tuple([a.index for a in v.args]), v.data) for i in indices for v in (values[i],)
    }
    absorb_signs(lines, roots)
    same = carry_signs(lines, roots)
    extra = sorted(key for key in lines if key < 0)  # constants that the signs went into
    region = regions(values, indices)
    order = extra + [i for i in indices if i in lines]
    number = {index: n for n, index in enumerate(order)}
    number |= {index: number[kept] for index, kept in same.items()}
    bodies: dict[int, list[int]] = {-1: []}
    operations: list[Operation] = []
    for n, index in enumerate(order):
        code, args, data = lines[index]
        if code == "loop":
            data = data.mapped(lambda v: number[v.index])
            data.body = bodies.pop(data.number, [])
            split_record(operations, data)
        operations.append(Operation(code, tuple([number[a] for a in args]), data))
        bodies.setdefault(region.get(index, -1), []).append(n)
    return operations, bodies[-1], number


def mark(values: list[TracedValue], roots: Iterable[TracedValue], first: int = 0) -> bytearray:
    """Which nodes from number ``first`` on are needed, walking from the last to the first."""
    live = bytearray(len(values))
    last = -1
    for root in roots:
        live[root.index] = 1
        last = max(last, root.index)
    for i in range(last, first - 1, -1):
        if live[i]:
            value = values[i]
            for a in value.args:
                live[a.index] = 1
            if value.code == "loop":
                for inner in value.data.inner():
                    live[inner.index] = 1
    return live


def absorb_signs(lines: dict[int, Any], roots: list[TracedValue]) -> None:
    """Drop changes of sign where another operation can carry them; new constants get negative keys.

    −(a − b) → b − a,   −(c·x) → (−c)·x,   −(c/x) → (−c)/x   when the inner value has no other use.
    """
    uses: dict[int, int] = {}
    for code, args, data in lines.values():
        for a in args:
            uses[a] = uses.get(a, 0) + 1
        if code == "loop":
            for v in data.inner():
                uses[v.index] = uses.get(v.index, 0) + 1
    for root in roots:
        uses[root.index] = uses.get(root.index, 0) + 1
    fresh: dict[float, int] = {}
    for index, (code, args, _) in list(lines.items()):
        if code != "neg" or uses[args[0]] != 1:
            continue
        inner, parts, _ = lines[args[0]]
        if inner == "sub":
            lines[index] = ("sub", parts[::-1], None)
        elif inner in ("mul", "div") and lines[parts[0]][0] == "const":
            c = -lines[parts[0]][2]
            key = fresh.setdefault(c, -2 - len(fresh))
            lines[key] = ("const", (), c)
            lines[index] = (inner, (key, parts[1]), None)
            uses[parts[0]] -= 1
            if not uses[parts[0]]:
                del lines[parts[0]]
        else:
            continue
        del lines[args[0]]


def carry_signs(lines: dict[int, Any], roots: list[TracedValue]) -> dict[int, int]:
    """Keep a value with the opposite sign where that saves its change of sign; gives {dropped negation: kept value}.

    A difference is turned round, and whoever adds it subtracts it instead (and the reverse), so a running sum of which only
    the negative is wanted is carried as a negative. Computations with loops are left alone.
    """
    if any(code == "loop" for code, _, _ in lines.values()):
        return {}
    users: dict[int, list[int]] = {}
    for index, (_, args, _) in lines.items():
        for a in args:
            users.setdefault(a, []).append(index)
    wanted = {root.index for root in roots}
    same: dict[int, int] = {}
    for index in sorted(lines):
        if index not in lines:
            continue
        code, args, _ = lines[index]
        scaled = code in ("mul", "div") and lines[args[0]][0] == "const"
        if not (scaled or code == "sub") or index in wanted or args[0] == args[1]:
            continue
        around = users.get(index, [])
        negations = [u for u in around if lines[u][0] == "neg"]
        if not negations or not all(_carries(lines[u], index) for u in around):
            continue
        if scaled:
            key = _constant(lines, -lines[args[0]][2])
            users[args[0]].remove(index)
            if not users[args[0]] and args[0] not in wanted:
                del lines[args[0]]
            users.setdefault(key, []).append(index)
            lines[index] = (code, (key, args[1]), None)
        else:
            lines[index] = ("sub", args[::-1], None)
        for u in around:
            kind, (a, b, *_), _ = (*lines[u][:1], (*lines[u][1], None), None)
            if kind == "add":
                lines[u] = ("sub", (b if a == index else a, index), None)
            elif kind == "sub":
                lines[u] = ("add", (a, index), None)
        for u in negations:
            same[u] = index
            del lines[u]
            for later in users.pop(u, []):
                kind, parts, data = lines[later]
                lines[later] = (kind, tuple(index if x == u else x for x in parts), data)
                users[index].append(later)
        users[index] = [u for u in users[index] if u in lines]
    return same


def _constant(lines: dict[int, Any], number: float) -> int:
    """Key of a constant made by a sign pass (they have negative keys)."""
    for key, (_, _, data) in lines.items():
        if key < 0 and data == number:
            return key
    key = min((k for k in lines if k < 0), default=-1) - 1
    lines[key] = ("const", (), number)
    return key


def _carries(line: Any, value: int) -> bool:
    """Can this operation take the opposite of ``value`` at no cost?"""
    code, args, _ = line
    if code == "neg":
        return True
    if code == "add":
        return args[0] != args[1]
    return code == "sub" and args[1] == value and args[0] != value


def regions(values: list[TracedValue], indices: list[int]) -> dict[int, int]:
    """The number of the innermost loop each node depends on (absent: none).

    A loop itself belongs to the innermost *other* loop on which its start values or its body depend.
    """
    if not any(values[i].code in ("loop", "param") for i in indices):
        return {}
    region: dict[int, int] = {}
    loops = {values[i].data.number: values[i] for i in indices if values[i].code == "loop"}
    uses: dict[int, set[int]] = {number: set() for number in loops}
    for i in indices:
        value = values[i]
        code = value.code
        if code == "param":
            number = value.data[0]
            if number not in loops:
                raise TracingError("a number made inside a loop was used outside it; return it from the step instead.")
            region[i] = number
            continue
        found = {region[a.index] for a in value.args if a.index in region}
        if code == "loop":
            loop = value.data
            found |= {region[v.index] for v in loop.inner() if v.index in region} | uses[loop.number]
            found.discard(loop.number)
        for number in found:
            if loops[number].index < i:
                raise TracingError("a number made inside a loop was used outside it; return it from the step instead.")
        if found:
            deepest = max(found, key=lambda number: loops[number].data.depth)
            region[i] = deepest
            uses[deepest] |= found - {deepest}
    return region


def split_record(operations: list[Operation], loop: Loop) -> None:
    """Move to ``record_body`` what only the recorded samples need."""
    if not loop.record:
        return
    members = set(loop.body)
    needed = {v for v in (*loop.results, *([] if loop.stop is None else [loop.stop])) if v in members}
    for n in reversed(loop.body):
        if n in needed:
            op = operations[n]
            needed.update(a for a in op.args if a in members)
            if op.code == "loop":
                needed.update(free_values(operations, op.data) & members)
    loop.record_body = [n for n in loop.body if n not in needed]
    loop.body = [n for n in loop.body if n in needed]


def free_values(operations: list[Operation], loop: Loop) -> set[int]:
    """Values from outside that the body of a loop uses."""
    own = {*loop.body, *loop.record_body}
    found = {v for v in loop.inner() if v not in own}
    for n in own:
        op = operations[n]
        found.update(op.args)
        if op.code == "loop":
            found |= free_values(operations, op.data)
    return found - own


__all__ = ["Node", "flatten", "graph_of", "make_input", "named_outputs", "trace"]

"""Exact derivatives of traced computations, by forward (sparse) and reverse differentiation of their nodes.

Both apply the chain rule to the partial derivatives ∂y/∂aᵢ of every operation (:func:`partials`). Forward carries, for
each value, its non-zero derivatives only; reverse carries, for each output, the sensitivity of the output to each value
[Griewank & Walther, Evaluating Derivatives, 2nd ed., ch. 3]. The results are nodes again, so they share everything they
can with the function itself, and they can be differentiated again. Loops are differentiated forward: the derivative of a
loop is a loop over the state and its tangents. It is the derivative of the iterations that were made. After a loop that
solves an equation, one more step of a quadratically convergent method outside the loop, x = step(x), makes it the
derivative of the solution, however few iterations there were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from manipula.errors import TracingError, unknown_name
from manipula.native.tracing.graph import Graph, Loop
from manipula.native.tracing.loops import begin, end
from manipula.native.tracing.nodes import GraphBuilder
from manipula.native.tracing.replay import clone, inline
from manipula.native.tracing.trace import graph_of, make_input, mark, trace
from manipula.native.tracing.tracer import Node, TracedValue

Tangents = dict[int, dict[int, Node]]  # node index → direction → derivative

_FLAT = frozenset({"floor", "sign", "locate", "gather", "length", "const", "input", "param"})


def partials(y: Node) -> list[tuple[Any, Any]]:
    """(argument, ∂y/∂argument) for the arguments of an operation on which it depends smoothly."""
    code = y.code
    args: tuple[Any, ...] = y.args
    a: Any = args[0]
    b: Any = args[-1]
    one = y.builder.const(1.0)
    if code == "add":
        return [(a, one), (b, one)]
    if code == "sub":
        return [(a, one), (b, -one)]
    if code == "mul":
        return [(a, b), (b, a)]
    if code == "div":
        return [(a, one / b), (b, -(y / b))]
    if code == "select":
        c: Any = y.args[0]
        return [(y.args[1], c.select(1.0, 0.0)), (y.args[2], c.select(0.0, 1.0))]  # type: ignore[list-item]
    if code == "minimum":
        return [(a, (a <= b).select(1.0, 0.0)), (b, (a <= b).select(0.0, 1.0))]
    if code == "maximum":
        return [(a, (a >= b).select(1.0, 0.0)), (b, (a >= b).select(0.0, 1.0))]
    if code == "atan2":  # y = atan2(a, b)
        r = one / (a * a + b * b)
        return [(a, b * r), (b, -(a * r))]
    if code == "pow":
        found = [(a, b * a ** (b - 1.0))]
        return found if b.code == "const" else [*found, (b, y * a.log())]
    slope: dict[str, Callable[[], Any]] = {
        "neg": lambda: -one,
        "abs": lambda: a.sign(),
        "sqrt": lambda: 0.5 / y,
        "sin": lambda: a.cos(),
        "cos": lambda: -a.sin(),
        "tan": lambda: 1.0 + y * y,
        "asin": lambda: 1.0 / ((1.0 - a) * (1.0 + a)).sqrt(),
        "acos": lambda: -1.0 / ((1.0 - a) * (1.0 + a)).sqrt(),
        "atan": lambda: 1.0 / (1.0 + a * a),
        "exp": lambda: y,
        "log": lambda: 1.0 / a,
        "sinh": lambda: a.cosh(),
        "cosh": lambda: a.sinh(),
        "tanh": lambda: 1.0 - y * y,
    }
    return [(a, slope[code]())]


# ---------------------------------------------------------------------- forward
def forward(values: Iterable[TracedValue], tangents: Tangents) -> None:
    """Add to ``tangents`` the derivatives of ``values``, which come in the order of their making."""
    for y in values:
        if y.index in tangents or y.code in _FLAT:
            continue
        if y.code == "loop":
            if not y.data.flat:
                _forward_loop(y, tangents)
            continue
        if y.code == "pick":
            continue  # filled in by its loop
        if not any(a.index in tangents for a in y.args) or not isinstance(y, Node):
            continue
        found = _forward_step(y, tangents)
        if found:
            tangents[y.index] = found


def _forward_step(y: Node, tangents: Tangents) -> dict[int, Node]:
    code = y.code
    args: tuple[Any, ...] = y.args
    none: dict[int, Node] = {}
    zero = y.builder.const(0.0)
    if code in ("select", "minimum", "maximum"):
        if code == "select":
            condition, a, b = args
        else:
            a, b = args
            condition = a <= b if code == "minimum" else a >= b
        x, z = tangents.get(a.index, none), tangents.get(b.index, none)
        chosen = {k: condition.select(x.get(k, zero), z.get(k, zero)) for k in sorted(x.keys() | z.keys())}
        return {k: v for k, v in chosen.items() if not (v.code == "const" and v.data == 0.0)}
    if code == "div":
        a, b = args
        x, z = tangents.get(a.index, none), tangents.get(b.index, none)
        keys = sorted(x.keys() | z.keys())
        return {k: (x.get(k, zero) - y * z[k]) / b if k in z else x[k] / b for k in keys}
    found: dict[int, Node] = {}
    for a, slope in partials(y):
        for k, t in tangents.get(a.index, none).items():
            term = slope * t
            found[k] = found[k] + term if k in found else term
    return {k: v for k, v in found.items() if not (v.code == "const" and v.data == 0.0)}


def _forward_loop(node: TracedValue, tangents: Tangents) -> None:
    """Tangents of what a loop gives: a second loop over the state and those tangents that can be non-zero."""
    builder, loop = node.builder, node.data
    pattern = _loop_pattern(node, tangents)
    if not any(pattern):
        return
    pairs = [(k, d) for k in range(len(pattern)) for d in sorted(pattern[k])]
    states = len(loop.initial)
    dual = begin(builder, loop.kind, states + len(pairs))
    zero = builder.const(0.0)
    dual.initial = (*loop.initial, *(tangents.get(loop.initial[k].index, {}).get(d, zero) for k, d in pairs))
    dual.steps, dual.every = loop.steps, loop.every
    mapping: dict[int, Any] = {loop.params[k].index: dual.params[k] for k in range(-1, states)}
    body = _body(node)
    clone(builder, body, mapping)
    results = [mapping.get(v.index, v) for v in loop.results]
    dual.stop = None if loop.stop is None else mapping.get(loop.stop.index, loop.stop)
    inner: Tangents = dict(tangents)
    for place, (k, d) in enumerate(pairs):
        inner.setdefault(dual.params[k].index, {})[d] = dual.params[states + place]
    start = dual.params[-1].index
    live = mark(builder.values, results, start)
    forward([v for v in builder.values[start:] if live[v.index]], inner)
    slopes = (inner.get(results[k].index, {}).get(d, zero) for k, d in pairs)
    dual.results = (*results, *slopes)
    made = end(builder, dual)
    for place, (k, d) in enumerate(pairs):
        pick = builder.make("pick", (node,), k)
        tangents.setdefault(pick.index, {})[d] = builder.make("pick", (made,), states + place)


def _body(node: TracedValue) -> list[TracedValue]:
    """The nodes a loop's body may consist of, in order."""
    loop, values = node.data, node.builder.values
    start = min(p.index for p in loop.params.values())
    live = mark(values, loop.inner(), start)
    return [v for v in values[start : node.index] if live[v.index]]


def _loop_pattern(node: TracedValue, tangents: Tangents) -> list[set[int]]:
    """For each state the directions in which it can have a derivative: the smallest set closed under the step."""
    loop = node.data
    pattern = [set(tangents.get(v.index, ())) for v in loop.initial]
    body = _body(node)
    while True:
        grown = _propagate(loop, body, pattern, tangents)
        if grown == pattern:
            return pattern
        pattern = grown


def _propagate(loop: Loop, body: list[TracedValue], pattern: list[set[int]], tangents: Tangents) -> list[set[int]]:
    found: dict[int, set[int]] = {loop.params[k].index: pattern[k] for k in range(len(pattern))}
    empty: set[int] = set()

    def of(v: TracedValue) -> set[int]:
        return found[v.index] if v.index in found else set(tangents.get(v.index, empty))

    for v in body:
        if v.code == "loop":  # every state of an inner loop may depend on everything that enters it
            inside = [] if v.data.flat else [of(x) for x in _body(v)] + [of(x) for x in v.args]
            found[v.index] = set().union(*inside)
        elif v.index not in found and (v.code == "pick" or v.code not in _FLAT) and v.args:
            found[v.index] = set().union(*(of(x) for x in v.args))
    return [old | of(v) for old, v in zip(pattern, loop.results)]


# ---------------------------------------------------------------------- reverse
def reverse(output: Node, wanted: set[int]) -> dict[int, Node]:
    """∂output/∂node for the nodes ``wanted``, by one sweep from the output backwards."""
    builder = output.builder
    values = builder.values
    live = mark(values, [output])
    depends = bytearray(output.index + 1)
    for i in range(output.index + 1):
        if live[i]:
            depends[i] = i in wanted or any(depends[a.index] for a in values[i].args)
    adjoint: dict[int, Any] = {output.index: builder.const(1.0)}
    for i in range(output.index, -1, -1):
        weight = adjoint.get(i)
        if weight is None or not depends[i]:
            continue
        y = values[i]
        if y.code in ("loop", "pick"):
            raise TracingError("loops are differentiated forward only; use mode='forward'.")
        if y.code in _FLAT or i in wanted:
            continue
        if y.code == "div":
            a, b = y.args
            shared = weight / b
            terms = [(a, shared), (b, -(shared * y))]
        elif y.code == "select":
            condition: Any = y.args[0]
            terms = [(y.args[1], condition.select(weight, 0.0)), (y.args[2], condition.select(0.0, weight))]
        else:
            terms = [(a, weight * slope) for a, slope in partials(y)]  # type: ignore[arg-type]
        for a, term in terms:
            if depends[a.index]:
                adjoint[a.index] = adjoint[a.index] + term if a.index in adjoint else term
    return {i: adjoint[i] for i in wanted if i in adjoint}


# ---------------------------------------------------------------------- what people call
def derivative(outputs: Any, inputs: Any, mode: str = "auto") -> np.ndarray:
    """∂outputs/∂inputs inside a traced function, an array of shape ``(*outputs.shape, *inputs.shape)``.

    ``inputs`` may be any nodes, also intermediate ones; everything computed from them is differentiated. ``mode`` is
    "forward", "reverse" or "auto" (reverse when there are at most as many outputs as inputs, and no loops).
    """
    if mode not in ("auto", "forward", "reverse"):
        raise unknown_name("mode of differentiation", mode, ("auto", "forward", "reverse"))
    out, given = np.asarray(outputs, object), np.asarray(inputs, object)
    xs, ys = _scalars(given), _scalars(out)
    for x in xs:
        if not isinstance(x, Node):
            raise TracingError(f"derivatives are taken with respect to traced numbers, got {type(x).__name__}.")
    result = np.full((len(ys), len(xs)), 0.0, object)
    nodes = [y for y in ys if isinstance(y, Node)]
    if nodes and xs:
        if mode == "auto":
            loops = any(v.code == "loop" for v in xs[0].builder.values)
            mode = "reverse" if len(nodes) <= len(xs) and not loops else "forward"
        rows = _reverse_rows(ys, xs) if mode == "reverse" else _forward_rows(nodes, ys, xs)
        for i, row in enumerate(rows):
            for k, slope in row.items():
                result[i, k] = slope.data if slope.code == "const" else slope
    return result.reshape((*out.shape, *given.shape))


def _scalars(values: np.ndarray) -> list[Any]:
    """The traced or plain numbers in an array; one that is wrapped in an array of its own is taken out.

    Raises:
        TracingError: for anything else, whose derivative nobody knows.
    """
    found = [v.item() if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in values.ravel().tolist()]
    for v in found:
        if not isinstance(v, (Node, int, float, np.number, np.bool_)):
            raise TracingError(f"derivatives are of traced numbers, got {type(v).__name__}.")
    return found


def _forward_rows(nodes: list[Node], ys: list[Any], xs: list[Any]) -> list[dict[int, Node]]:
    builder = xs[0].builder
    tangents: Tangents = {}
    for k, x in enumerate(xs):
        tangents.setdefault(x.index, {})[k] = builder.const(1.0)
    _run_forward(builder, nodes, tangents)
    return [tangents.get(y.index, {}) if isinstance(y, Node) else {} for y in ys]


def _run_forward(builder: GraphBuilder, nodes: list[Node], tangents: Tangents) -> None:
    first = min(tangents)
    live = mark(builder.values, nodes, first)
    forward([v for v in builder.values[first:] if live[v.index]], tangents)


def _reverse_rows(ys: list[Any], xs: list[Any]) -> list[dict[int, Node]]:
    places: dict[int, list[int]] = {}
    for k, x in enumerate(xs):
        places.setdefault(x.index, []).append(k)
    rows = []
    for y in ys:
        found = reverse(y, set(places)) if isinstance(y, Node) else {}
        rows.append({k: slope for i, slope in found.items() for k in places[i]})
    return rows


def time_derivative(outputs: Any, rates: Mapping[Node, Any]) -> Any:
    """The rate of change of ``outputs`` when the nodes in ``rates`` change at the given rates: Σ ∂y/∂x · ẋ."""
    out = np.asarray(outputs, object)
    ys = _scalars(out)
    nodes = [y for y in ys if isinstance(y, Node)]
    slopes = np.full(len(ys), 0.0, object)
    if nodes and rates:
        builder = nodes[0].builder
        tangents: Tangents = {}
        for x, rate in rates.items():
            lifted = builder.lift(rate)
            if not (lifted.code == "const" and lifted.data == 0.0):
                tangents[x.index] = {0: lifted}
        if tangents:
            _run_forward(builder, nodes, tangents)
            for i, y in enumerate(ys):
                if isinstance(y, Node) and y.index in tangents:
                    slopes[i] = tangents[y.index][0]
    slopes = slopes.reshape(out.shape)
    return slopes if out.shape else slopes[()]


def jacobian(
    function: Graph | Callable[..., Any],
    wrt: Sequence[str] | str,
    *,
    inputs: Mapping[str, tuple] | None = None,
    shared: Iterable[str] = (),
    mode: str = "auto",
) -> Graph:
    """The graph of the derivatives of a graph (or of a function with ``inputs``) with respect to some of its inputs.

    Its outputs are named ``d<output>_d<input>`` and have shape ``(*output shape, *input shape)``. ``mode="auto"`` tries
    forward and reverse and takes the one with fewer operations; with loops only forward is possible.
    """
    if not isinstance(function, Graph):
        if inputs is None:
            raise TypeError("jacobian of a function needs inputs={name: shape}")
        function = trace(function, inputs, getattr(function, "__name__", "f"), shared=shared)
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    for name in names:
        if name not in function.inputs:
            raise unknown_name("input", name, function.inputs)
    if mode == "auto":
        if function.loops():
            return jacobian(function, names, mode="forward")
        both = [jacobian(function, names, mode=m) for m in ("forward", "reverse")]
        return min(both, key=lambda graph: graph.operation_count()["total"])
    builder = GraphBuilder()
    with builder:
        arguments = {k: make_input(builder, k, s, k in function.shared) for k, s in function.inputs.items()}
        results = inline(function, *arguments.values(), named=True)
        found: dict[str, Any] = {}
        every = np.concatenate([np.ravel(np.asarray(arguments[name], object)) for name in names])
        for key, value in results.items():
            whole = derivative(value, every, mode)
            start = 0
            for name in names:
                shape = function.inputs[name]
                size = int(np.prod(shape, dtype=int))
                part = whole[..., start : start + size].reshape((*np.shape(value), *shape))
                start += size
                found[f"d{key}_d{name}"] = part
        return graph_of(builder, function.inputs, found, f"{function.name}_jacobian", function.shared)

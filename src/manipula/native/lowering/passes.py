"""Passes over a graph before machine code is made from it.

``lower`` fuses products into sums where that costs nothing and puts the operations into an order that keeps few values
alive. Both depend on the graph only, so one state and four states at a time compute the same bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from manipula.native.lowering.schedule import schedule
from manipula.native.tracing.graph import Graph, Operation

SUMS = frozenset({"add", "sub"})


def use_counts(graph: Graph) -> list[int]:
    """How often each value is used by operations, loops and outputs."""
    uses = [0] * len(graph.operations)
    for op in graph.operations:
        for a in op.args:
            uses[a] += 1
        if op.code == "loop":
            for v in op.data.inner():
                uses[v] += 1
    for values in graph.output_values.values():
        for v in values:
            uses[v] += 1
    return uses


def form_fma(graph: Graph, shared: int = 2) -> Graph:
    """Fuse products with the sums that use them: a·b + c rounded once.

    A product is fused when all its uses (at most ``shared``) are sums in the same body, so that it vanishes itself. Of two
    products in one sum the later one is fused; products that a loop does not change stay outside it.
    """
    operations = list(graph.operations)
    uses = use_counts(graph)
    home = homes(graph)
    sums = [0] * len(operations)
    for n, (code, args, _) in enumerate(operations):
        if code in SUMS:
            for a in set(args):
                if home[a] == home[n]:
                    sums[a] += 1
    for n, (code, args, _) in enumerate(operations):
        if code not in SUMS or args[0] == args[1]:
            continue
        a, b = args
        for product, other, place in ((b, a, 1), (a, b, 0)):
            op = operations[product]
            if (
                op.code == "mul"
                and uses[product] <= shared
                and sums[product] == uses[product]
                and home[product] == home[n]
            ):
                kind = "fma" if code == "add" else ("fms" if place == 0 else "fnma")
                operations[n] = Operation(kind, (*op.args, other), None)
                break
    return pruned(graph, operations)


def homes(graph: Graph) -> list[int]:
    """The loop operation in whose body each operation stands; −1 outside all loops, records count separately."""
    home = [-1] * len(graph.operations)
    for n, op in enumerate(graph.operations):
        if op.code == "loop":
            for m in op.data.body:
                home[m] = 2 * n
            for m in op.data.record_body:
                home[m] = 2 * n + 1
    return home


def pruned(graph: Graph, operations: list[Operation]) -> Graph:
    """The graph with new operations, without those that nothing needs any more."""
    live = bytearray(len(operations))
    for values in graph.output_values.values():
        for v in values:
            live[v] = 1
    for sampled in graph.sampled.values():
        live[sampled.loop] = 1
    for n in range(len(operations) - 1, -1, -1):
        if live[n]:
            for a in operations[n].args:
                live[a] = 1
            if operations[n].code == "loop":
                for v in operations[n].data.inner():
                    live[v] = 1
    kept = [n for n in range(len(operations)) if live[n]]
    number = {n: k for k, n in enumerate(kept)}
    return _renumbered(graph, operations, kept, number)


def _renumbered(graph: Graph, operations: list[Operation], kept: list[int], number: dict[int, int]) -> Graph:
    new: list[Operation] = []
    for n in kept:
        code, args, data = operations[n]
        if code == "loop":
            data = data.mapped(lambda v: number.get(v, -1))
            data.body = [v for v in data.body if v >= 0]
            data.record_body = [v for v in data.record_body if v >= 0]
        new.append(Operation(code, tuple([number[a] for a in args]), data))
    return Graph(
        graph.name,
        graph.inputs,
        graph.shared,
        new,
        [number[n] for n in graph.body if n in number],
        graph.outputs,
        {k: [number[v] for v in values] for k, values in graph.output_values.items()},
        {k: s._replace(loop=number[s.loop]) for k, s in graph.sampled.items()},
    )


def lower(graph: Graph, fma: bool = True) -> Graph:
    """The graph as machine code will compute it."""
    lowered = form_fma(graph) if fma else pruned(graph, graph.operations)
    schedule(lowered)
    return lowered


class Cost(NamedTuple):
    """Operations of one evaluation.

    Attributes:
        fixed: whatever the inputs are. counted: to be multiplied by an input that counts steps, with its name.
        turn: of all loops that such inputs count turning once, with every loop until convergence inside them taken once.
    """

    fixed: float
    counted: list[tuple[float, str]]
    turn: float


def cost(graph: Graph) -> Cost:
    """What an evaluation of a graph takes."""
    fixed, turn = 0.0, 0.0
    counted: list[tuple[float, str]] = []

    def visit(body: list[int], times: float, once: float, name: str | None) -> None:
        nonlocal fixed, turn
        count = sum(graph.operations[n].code not in ("const", "input", "param", "pick") for n in body)
        if name is None:
            fixed += count * times
        else:
            counted.append((count * times, name))
            turn += count * once
        for n in body:
            op = graph.operations[n]
            if op.code == "loop":
                steps = graph.operations[op.data.steps]
                if op.data.kind == "until":
                    visit(op.data.body, times * UNTIL_ITERATIONS, once, name)
                elif steps.code == "const":
                    visit(op.data.body, times * steps.data, once * steps.data, name)
                else:
                    visit(op.data.body, times, once, steps.data[0])

    visit(graph.body, 1.0, 1.0, None)
    return Cost(fixed, counted, turn)


UNTIL_ITERATIONS = 8.0  # a guess of what a loop until convergence takes

LONG_OPERATIONS = 1e8  # about 10 ms: loops that may take longer look whether they are called off


def long_loops(graph: Graph) -> dict[int, str]:
    """Loops that may take long, by the number of their operation, with their kind; all others end by themselves soon.

    The bound of a loop is its body, inner loops included, times the largest number of iterations; no bound is known where
    that number arrives at run time, unless the function takes the smaller of it and a constant.
    """
    bounds: dict[int, float] = {}
    found: dict[int, str] = {}
    for n, op in enumerate(graph.operations):  # inner loops stand before outer ones
        if op.code != "loop":
            continue
        once = sum(bounds.get(m, 1.0) for m in (*op.data.body, *op.data.record_body))
        bounds[n] = max(once, 1.0) * _most(graph, op.data.steps)
        if bounds[n] > LONG_OPERATIONS:
            found[n] = op.data.kind
    return found


def _most(graph: Graph, steps: int) -> float:
    """The largest value that a number of iterations can have."""
    code, args, data = graph.operations[steps]
    if code == "const":
        return float(data)
    return min(_most(graph, a) for a in args) if code == "minimum" else math.inf

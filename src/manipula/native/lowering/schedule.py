"""The order in which operations are computed.

Values wait in registers between their making and their last use; when too many wait they go to memory and back. Two orders
are compared: that of the trace, which follows the recursions of the traced function, and depth first from the results,
arguments that need more registers first [Sethi & Ullman 1970]. The one with the smaller sum of waiting times is taken.
"""

from __future__ import annotations

from collections.abc import Iterable

from manipula.native.tracing.graph import Graph, Operation
from manipula.native.tracing.trace import free_values

_SILENT = frozenset({"const", "input", "param"})

ENOUGH = 0.8
"""How much better the other order must be to leave that of the trace."""


def schedule(graph: Graph) -> None:
    """Put the bodies of a graph into a good order (in place)."""
    operations = graph.operations
    roots = [v for values in graph.output_values.values() for v in values]
    graph.body = ordered(operations, graph.body, roots)
    for loop in graph.loops():
        loop.body = ordered(operations, loop.body, list(loop.inner()))


def ordered(operations: list[Operation], body: list[int], roots: Iterable[int]) -> list[int]:
    """The better of the two orders of a body."""
    needs = {n: _needs(operations, n) for n in body if operations[n].code not in _SILENT}
    silent, others = [n for n in body if n not in needs], list(needs)
    first = depth_first(others, needs, roots)
    return silent + (first if waiting(first, needs) < ENOUGH * waiting(others, needs) else others)


def _needs(operations: list[Operation], n: int) -> tuple[int, ...]:
    op = operations[n]
    if op.code != "loop":
        return op.args
    return (*op.args, *sorted(free_values(operations, op.data)))


def waiting(body: list[int], needs: dict[int, tuple[int, ...]]) -> int:
    """Sum over all values of the distance between making and last use."""
    place = {n: k for k, n in enumerate(body)}
    last: dict[int, int] = {}
    for k, n in enumerate(body):
        for a in needs[n]:
            if a in place:
                last[a] = k
    return sum(k - place[a] for a, k in last.items())


def depth_first(body: list[int], needs: dict[int, tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """Operations in the order in which a walk from the results leaves them; what no result needs comes last."""
    registers: dict[int, int] = {}
    for n in body:
        counts = [registers[a] for a in needs[n] if a in registers]
        if len(counts) > 1:
            counts.sort(reverse=True)
            registers[n] = max([c + k for k, c in enumerate(counts)])
        else:
            registers[n] = counts[0] if counts else 1
    order: list[int] = []
    seen: set[int] = set()
    for root in (*roots, *body):
        if root not in registers or root in seen:
            continue
        stack = [root]
        while stack:
            n = stack.pop()
            if n < 0:  # its arguments are computed
                order.append(~n)
            elif n not in seen:
                seen.add(n)
                stack.append(~n)
                inside = [a for a in needs[n] if a in registers and a not in seen]
                if len(inside) > 1:
                    inside.sort(key=registers.__getitem__)  # the last one pushed is visited first
                stack += inside
    return order

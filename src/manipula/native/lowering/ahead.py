"""What every turn of a short counted loop computes from the number of the turn alone.

A loop over the stages of a Runge-Kutta step asks for the time of every stage, and for whatever follows from it: formulas in t, references, the
motion of a base. Nothing of that depends on the state that goes around, so all turns of it can be computed at once before the loop begins, side by
side as if they were states of a batch, and cost little more than one.
"""

from __future__ import annotations

from typing import NamedTuple

from manipula.native.tracing.graph import Graph, Loop
from manipula.native.tracing.nodes import CONDITIONS
from manipula.native.tracing.trace import free_values

MOST_TURNS = 8
LEAST = 4  # operations that are worth it


class Ahead(NamedTuple):
    """What can be computed before a loop begins.

    Attributes:
        members: operations of the body that depend on nothing that goes around, in their order.
        kept: those of them that the rest of the body asks for. rest: what every turn computes.
        needed: what they take from outside the loop.
        turns: of the loop. number: the operation that is the number of the turn.
    """

    members: list[int]
    kept: list[int]
    rest: list[int]
    needed: list[int]
    turns: int
    number: int


def ahead_of(graph: Graph, loop: Loop) -> Ahead | None:
    """What of a loop can be computed before it; None where that is too little, or the loop may end early or take many turns."""
    operations = graph.operations
    steps = operations[loop.steps]
    if loop.kind != "repeat" or loop.stop is not None or loop.record or steps.code != "const":
        return None
    body, turns = set(loop.body), int(steps.data)
    index = next((n for n in loop.body if operations[n].code == "param" and operations[n].data[1] == -1), None)
    if index is None or not 2 <= turns <= MOST_TURNS:
        return None
    free = {index}
    members: list[int] = []
    for n in loop.body:
        code, args, _ = operations[n]
        if code not in ("param", "loop", "pick") and all(a in free or a not in body for a in args):
            free.add(n)
            members.append(n)
    rest = [n for n in loop.body if n not in free]
    while True:
        kept = _asked_for(graph, loop, rest, members)
        # memory holds numbers: every turn finds these itself
        truths = {n for n in kept if operations[n].code in CONDITIONS}
        if not truths - set(rest):
            break
        rest = [n for n in loop.body if n in truths or n in set(rest)]
    kept = [n for n in kept if n not in truths]
    if len(members) < LEAST:
        return None
    inside = {*members, index}
    needed = sorted(
        {a for n in members for a in operations[n].args if a not in inside and operations[a].code != "const"}
    )
    return Ahead(members, kept, rest, needed, turns, index)


def _asked_for(graph: Graph, loop: Loop, rest: list[int], members: list[int]) -> list[int]:
    """Members that what every turn computes, or what comes after a turn, needs."""
    operations = graph.operations
    used = set(loop.results)
    for n in rest:
        op = operations[n]
        used.update(op.args)
        if op.code == "loop":
            used |= free_values(operations, op.data)
    return [n for n in members if n in used]

"""LLVM text of a list of operations with its loops, inside one function."""

from __future__ import annotations

import math
from typing import Any

from manipula.native.llvm import memory
from manipula.native.llvm.graph_text import MATH, Function
from manipula.native.llvm.lookups import array_length, gather, input_pointer, locate
from manipula.native.llvm.math_calls import Calls
from manipula.native.llvm.turns import Turns
from manipula.native.llvm_text import hexadecimal
from manipula.native.lowering.ahead import ahead_of
from manipula.native.tracing.graph import Loop
from manipula.native.tracing.trace import free_values

FILL = """define internal void @manipula_fill(ptr %to, i64 %count) {
entry:
  br label %test
test:
  %i = phi i64 [0, %entry], [%next, %body]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %place = getelementptr double, ptr %to, i64 %i
  store double 0x7FF8000000000000, ptr %place, align 8
  %next = add i64 %i, 1
  br label %test
done:
  ret void
}
"""


def block(f: Function, body: list[int]) -> None:
    """Write the operations numbered ``body``."""
    if f.outline is not None:
        f.outline.run(f, body)
        return
    operations = f.module.graph.operations
    calls = Calls(f, body)
    for n in body:
        op = operations[n]
        code = op.code
        if code in ("const", "input", "param", "pick") or n in f.done:
            continue
        if code in MATH:
            calls.write(n)
        elif code == "loop":
            loop_results(f, n, op.data)
            calls.pending.difference_update(v for v, _ in f.module.picks.get(n, ()))
        elif code == "gather":
            f.set(n, gather(f, op))
        elif code == "locate":
            f.set(n, locate(f, op))
        elif code == "length":
            length = array_length(f, op.data[0])
            f.set(n, f.splat(f.let(f"sitofp i64 {length} to double")))
        else:
            f.operation(n, op)
        calls.pending.discard(n)


# ---------------------------------------------------------------------- loops
def loop_results(f: Function, n: int, loop: Loop) -> None:
    """Write a loop and name what it gives."""
    results = repeat(f, n, loop) if loop.kind == "repeat" else until(f, n, loop)
    for v, k in f.module.picks.get(n, ()):
        f.set(v, results[k])


def bind(f: Function, n: int, name: str) -> None:
    """A loop variable gets its name; functions that the loop calls find it in its slot."""
    f.names[n] = name
    if f.outline is not None:
        f.outline.store(f, n, f.outline.slot(n))


def params(f: Function, loop: Loop) -> dict[int, int]:
    """State number → operation number of a loop's variables that are used (−1: the index)."""
    operations = f.module.graph.operations
    return {operations[n].data[1]: n for n in (*loop.body, *loop.record_body) if operations[n].code == "param"}


def step_count(f: Function, v: int, least: int) -> str:
    """A number of steps as an integer: rounded down, at least ``least``, NaN is ``least``."""
    op = f.module.graph.operations[v]
    if op.code == "const":
        return str(max(int(op.data), least))
    place = memory.address(f, input_pointer(f, f.module.input_place[op.data[0]]), op.data[1])
    number = f.let(f"load double, ptr {place}, align 8")
    enough = f.let(f"fcmp ogt double {number}, {hexadecimal(float(least))}")
    safe = f.let(f"select i1 {enough}, double {number}, double {hexadecimal(float(least))}")
    return f.let(f"fptosi double {safe} to i64")


def enter(f: Function, loop: Loop) -> list[str]:
    """Bring everything a loop needs from outside to hand before it starts; gives its start values."""
    operations = f.module.graph.operations
    if f.outline is None:
        for v in sorted(free_values(operations, loop)):
            if operations[v].code not in ("const", "loop"):
                f.get(v)
    return [f.get(v) for v in loop.initial]


def phi(f: Function, kind: str, first: str, before: str) -> tuple[str, int]:
    """A variable of a loop whose next value is filled in later by :func:`close`."""
    name = f.let(f"phi {kind} [{first}, %{before}], ")
    return name, len(f.lines) - 1


def close(f: Function, variable: tuple[str, int], value: str, latch: str) -> None:
    """The next value of a loop variable."""
    f.lines[variable[1]] += f"[{value}, %{latch}]"


def needed_by(f: Function, loop: Loop, root: Any) -> tuple[list[int], list[int]]:
    """The body in two parts: what the value ``root`` needs, and the rest."""
    operations = f.module.graph.operations
    members, needed = set(loop.body), {root}
    for n in reversed(loop.body):
        if n in needed:
            needed.update(operations[n].args)
            if operations[n].code == "loop":
                needed |= free_values(operations, operations[n].data) & members
    return [n for n in loop.body if n in needed], [n for n in loop.body if n not in needed]


class LoopStopFlag:
    """What a loop that may take long looks at before every step: a number that the caller sets to end it (1) or to hold it (2)."""

    def __init__(self, f: Function, number: int) -> None:
        self.f = f
        self.pointer = input_pointer(f, f.module.stop_place) if number in f.module.long_loops else ""

    def clear(self) -> str:
        """One bit: nobody has called the loop off."""
        f = self.f
        return f.let(f"icmp eq i64 {f.let(f'load volatile i64, ptr {self.pointer}, align 8')}, 0")

    def unless_stopped(self, going: str) -> str:
        """``going``, and false once the loop is called off. A loop that is held sleeps here; the block that is written ends and another begins."""
        if not self.pointer:
            return going
        f, p = self.f, self.pointer
        hold, on = f.label("hold"), f.label("on")
        f.do(f"br label %{hold}.look")
        f.start(f"{hold}.look")
        held = f.let(f"icmp eq i64 {f.let(f'load volatile i64, ptr {p}, align 8')}, 2")
        f.do(f"br i1 {held}, label %{hold}, label %{on}")
        f.start(hold)
        words = [f.let(f"getelementptr i64, ptr {p}, i64 {k}") for k in (1, 2)]
        sleep = f.let(f"load ptr, ptr {words[0]}, align 8")
        f.do(f"call void {sleep}(i32 {f.let(f'load i32, ptr {words[1]}, align 8')}) nounwind")
        f.do(f"br label %{hold}.look")
        f.start(on)
        return f.let(f"and i1 {going}, {self.clear()}")


def until(f: Function, number: int, loop: Loop) -> list[str]:
    """``while not stop(state) and taken < limit: state = step(state)``, each lane until its own end."""
    m = f.module
    T, B = m.T, m.B
    start = enter(f, loop)
    flag = LoopStopFlag(f, number)
    limit = f.get(loop.steps)
    head, body, done = f.label("until"), f.label("step"), f.label("converged")
    before = f.block
    mask = f.mask if f.mask is not None else m.truth(True)
    f.do(f"br label %{head}")
    f.start(head)
    states = [phi(f, T, s, before) for s in start]
    taken = phi(f, T, m.constant(0.0), before)
    active = phi(f, B, mask, before) if m.width > 1 else None
    saved = f.scope()
    for k, n in params(f, loop).items():
        bind(f, n, taken[0] if k < 0 else states[k][0])
    check, rest = needed_by(f, loop, loop.stop)
    block(f, check)
    going = f.let(f"xor {B} {f.get(loop.stop)}, {m.truth(True)}")
    going = f.let(f"and {B} {going}, {f.let(f'fcmp olt {T} {taken[0]}, {limit}')}")
    if active is not None:
        going = f.let(f"and {B} {going}, {active[0]}")
    f.do(f"br i1 {flag.unless_stopped(f.any(going))}, label %{body}, label %{done}")
    f.start(body)
    outer, f.mask = f.mask, going
    block(f, rest)
    f.mask = outer
    values = [f.get(v) for v in loop.results]
    more = f.let(f"fadd {T} {taken[0]}, {m.constant(1.0)}")
    if active is not None:
        values = [f.select(going, new, old[0]) for new, old in zip(values, states)]
        more = f.select(going, more, taken[0])
    latch = f.block
    f.do(f"br label %{head}")
    for variable, value in zip((*states, taken), (*values, more)):
        close(f, variable, value, latch)
    if active is not None:
        close(f, active, going, latch)
    f.leave(saved)
    f.start(done)
    return [*(s[0] for s in states), taken[0]]


def repeat(f: Function, number: int, loop: Loop) -> list[str]:
    """``for i in range(steps): state = step(i, state)``, with samples and a stop per lane where asked for."""
    m = f.module
    T, B = m.T, m.B
    start = enter(f, loop)
    flag = LoopStopFlag(f, number)
    steps = step_count(f, loop.steps, 0)
    watched = loop.stop is not None or bool(loop.record)
    recorder = Recorder(f, number, loop, steps) if loop.record else None
    plan = ahead_of(m.graph, loop) if f.outline is None else None
    turns = None if plan is None else Turns(f, plan, block)
    head, body, done = f.label("repeat"), f.label("step"), f.label("repeated")
    before = f.block
    mask = f.mask if f.mask is not None else m.truth(True)
    f.do(f"br label %{head}")
    f.start(head)
    i = phi(f, "i64", "0", before)
    states = [phi(f, T, s, before) for s in start]
    stopping = loop.stop is not None
    stopped = phi(f, T, m.constant(-1.0), before) if stopping else None
    active = phi(f, B, mask, before) if stopping else None
    if recorder is not None:
        recorder.variables(before)
    saved = f.scope()
    here = params(f, loop)
    index = f.splat(f.let(f"sitofp i64 {i[0]} to double")) if -1 in here or stopping else ""
    for k, n in here.items():
        bind(f, n, index if k < 0 else states[k][0])
    if not watched:
        more = flag.unless_stopped(f.let(f"icmp slt i64 {i[0]}, {steps}"))
        f.do(f"br i1 {more}, label %{body}, label %{done}")
        f.start(body)
    rest = loop.body
    if turns is not None:
        turns.take(i[0])
        rest = turns.plan.rest
    going, halted = mask, ""
    if stopped is not None and active is not None:
        check, rest = needed_by(f, loop, loop.stop)
        block(f, check)
        asked: Any = loop.stop
        now = f.let(f"and {B} {active[0]}, {f.get(asked)}")
        halted = f.select(now, index, stopped[0])
        going = f.let(f"and {B} {active[0]}, {f.let(f'xor {B} {now}, {m.truth(True)}')}")
    outer = f.mask
    if stopping:
        f.mask = active[0] if active is not None and loop.record else going
    block(f, rest)
    if recorder is not None:
        recorder.sample(active[0] if active is not None else None)
    f.mask = outer
    values = [f.get(v) for v in loop.results]
    if stopping:
        values = [f.select(going, new, old[0]) for new, old in zip(values, states)]
    following = f.let(f"add i64 {i[0]}, 1")
    if watched:
        more = flag.unless_stopped(f.let(f"icmp slt i64 {i[0]}, {steps}"))
        if stopping:
            more = f.let(f"and i1 {more}, {f.any(going)}")
        latch = f.block
        f.do(f"br i1 {more}, label %{head}, label %{done}")
    else:
        latch = f.block
        f.do(f"br label %{head}")
    for variable, value in zip((i, *states), (following, *values)):
        close(f, variable, value, latch)
    if stopped is not None and active is not None:
        close(f, stopped, halted, latch)
        close(f, active, going, latch)
    if recorder is not None:
        recorder.close(latch)
    f.leave(saved)
    f.start(done)
    if recorder is not None and stopping:
        recorder.fill(flag)
    return [*(s[0] for s in states), halted if stopping else m.constant(-1.0)]


class Recorder:
    """Writes the samples of a counted loop into the outputs that want them."""

    def __init__(self, f: Function, number: int, loop: Loop, steps: str) -> None:
        self.f, self.loop = f, loop
        self.every = step_count(f, loop.every, 1)
        self.total = f.let(f"add i64 {f.let(f'sdiv i64 {steps}, {self.every}')}, 1")
        self.outputs = [(name, s) for name, s in f.module.graph.sampled.items() if s.loop == number]
        self.lanes = {name: sample_lanes(f, name) for name, _ in self.outputs}
        self.after = ("", "")

    def variables(self, before: str) -> None:
        """The number of the next sample, and the steps until it is due."""
        self.next = phi(self.f, "i64", "0", before)
        self.due = phi(self.f, "i64", "0", before)

    def sample(self, active: str | None) -> None:
        """Write a sample if one is due; lanes that have stopped before write NaN."""
        f = self.f
        m = f.module
        write, on = f.label("sample"), f.label("on")
        before = f.block
        f.do(f"br i1 {f.let(f'icmp eq i64 {self.due[0]}, 0')}, label %{write}, label %{on}")
        f.start(write)
        saved = f.scope()
        block(f, self.loop.record_body)
        values = [f.get(v) for v in self.loop.record]
        if active is not None and m.width > 1:
            values = [f.select(active, v, m.constant(math.nan)) for v in values]
        for name, sampled in self.outputs:
            width = _size(sampled.shape)
            offset = f.let(f"mul i64 {self.next[0]}, {width}")
            lanes = [memory.address(f, p, offset) for p in self.lanes[name]]
            memory.store(f, lanes, values[sampled.start : sampled.start + width])
        following = f.let(f"add i64 {self.next[0]}, 1")
        written = f.block
        f.do(f"br label %{on}")
        f.leave(saved)
        f.start(on)
        count = f.let(f"phi i64 [{self.next[0]}, %{before}], [{following}, %{written}]")
        due = f.let(f"phi i64 [{self.due[0]}, %{before}], [{self.every}, %{written}]")
        self.after = (count, f.let(f"sub i64 {due}, 1"))

    def close(self, latch: str) -> None:
        """The loop variables of the next step."""
        close(self.f, self.next, self.after[0], latch)
        close(self.f, self.due, self.after[1], latch)

    def fill(self, flag: LoopStopFlag) -> None:
        """NaN for the samples after the loop has ended early; nobody reads those of a loop that was called off."""
        f = self.f
        f.module.declared["@manipula_fill"] = FILL
        missing = f.let(f"sub i64 {self.total}, {self.after[0]}")
        if flag.pointer:
            missing = f.let(f"select i1 {flag.clear()}, i64 {missing}, i64 0")
        for name, sampled in self.outputs:
            width = _size(sampled.shape)
            offset = f.let(f"mul i64 {self.after[0]}, {width}")
            count = f.let(f"mul i64 {missing}, {width}")
            for p in self.lanes[name]:
                f.do(f"call void @manipula_fill(ptr {memory.address(f, p, offset)}, i64 {count})")


def sample_lanes(f: Function, name: str) -> list[str]:
    """Where each lane's samples go."""
    lanes = f.rows.get(("samples", name))
    assert lanes is not None, name
    return lanes


def _size(shape: tuple[int, ...]) -> int:
    return math.prod(shape)

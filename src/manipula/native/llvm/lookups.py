"""LLVM text of tables: where their numbers stand, finding a piece, reading a row."""

from __future__ import annotations

from typing import Any

from manipula.native.llvm import memory
from manipula.native.llvm.graph_text import Function
from manipula.native.tracing.graph import Operation
from manipula.native.tracing.tables import RunTimeArray

LOCATE = """define internal i64 @manipula_locate(ptr %breaks, i64 %count, double %x) {
entry:
  %pieces = sub i64 %count, 1
  br label %test
test:
  %low = phi i64 [0, %entry], [%low1, %half]
  %length = phi i64 [%pieces, %entry], [%length1, %half]
  %more = icmp sgt i64 %length, 1
  br i1 %more, label %half, label %done
half:
  %middle = lshr i64 %length, 1
  %probe = add i64 %low, %middle
  %place = getelementptr double, ptr %breaks, i64 %probe
  %b = load double, ptr %place, align 8
  %right = fcmp ole double %b, %x
  %low1 = select i1 %right, i64 %probe, i64 %low
  %length1 = sub i64 %length, %middle
  br label %test
done:
  ret i64 %low
}
"""


def array_pointer(f: Function, source: Any) -> str:
    """Where the numbers of a table stand."""
    if isinstance(source, RunTimeArray):
        return input_pointer(f, f.module.input_place[source.name])
    return f.module.array(source)


def input_pointer(f: Function, place: int) -> str:
    """The start of input number ``place`` (one more than the last: the run-time lengths)."""
    found = f.rows.get(("pointer", place))
    if found is None:
        slot = f.let(f"getelementptr ptr, ptr %inputs, i64 {place}")
        found = f.rows[("pointer", place)] = f.let(f"load ptr, ptr {slot}, align 8")
    return found


def array_length(f: Function, source: Any) -> str:
    """Number of rows of a table, an ``i64``."""
    if not isinstance(source, RunTimeArray):
        return str(source.rows)
    first = source.shape[0]
    if not isinstance(first, str):
        return str(first)
    found = f.rows.get(("length", first))
    if found is None:
        sizes = input_pointer(f, len(f.module.graph.inputs))
        slot = f.let(f"getelementptr i64, ptr {sizes}, i64 {f.module.size_place[first]}")
        found = f.rows[("length", first)] = f.let(f"load i64, ptr {slot}, align 8")
    return found


def locate(f: Function, op: Operation) -> str:
    """The piece of a sorted array, found by bisection lane by lane, as a double."""
    m = f.module
    m.declared["@manipula_locate"] = LOCATE
    pointer, count = array_pointer(f, op.data[0]), array_length(f, op.data[0])
    x = f.get(op.args[0])
    found = []
    for k in range(m.width):
        piece = f.let(f"call i64 @manipula_locate(ptr {pointer}, i64 {count}, double {f.lane(x, k)})")
        found.append(f.let(f"sitofp i64 {piece} to double"))
    if m.width == 1:
        return found[0]
    vector = "poison"
    for k, value in enumerate(found):
        vector = f.let(f"insertelement {m.T} {vector}, double {value}, i32 {k}")
    return vector


def gather(f: Function, op: Operation) -> str:
    """One entry of the row of a table whose number each lane has computed."""
    source, column = op.data
    row = op.args[0]
    columns = source.columns
    operation = f.module.graph.operations[row]
    if operation.code == "const":
        place = memory.address(f, array_pointer(f, source), int(operation.data) * columns + column)
        return f.splat(f.let(f"load double, ptr {place}, align 8"))
    key = ("row", id(source), row)
    lanes = f.rows.get(key)
    if lanes is None:
        pointer = array_pointer(f, source)
        numbers = f.get(row)
        lanes = []
        for k in range(f.module.width):
            number = f.let(f"fptosi double {f.lane(numbers, k)} to i64")
            lanes.append(memory.address(f, pointer, f.let(f"mul i64 {number}, {columns}")))
        f.rows[key] = lanes
    return memory.load(f, key, lanes, column, columns)

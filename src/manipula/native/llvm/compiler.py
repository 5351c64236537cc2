"""A graph as machine code, through LLVM.

The code has the binary interface of ``binary_interface.py``. A batch is computed W states at a time; the last group repeats the last
row in its spare lanes.
"""

from __future__ import annotations

import functools

from manipula.native.binary_interface import STOPPABLE, WORKSPACE
from manipula.native.llvm import memory, segments, target
from manipula.native.llvm.blocks import block
from manipula.native.llvm.graph_text import Function, Module
from manipula.native.llvm.lookups import input_pointer
from manipula.native.llvm_text import ModuleText
from manipula.native.lowering.passes import lower
from manipula.native.mathlib import functions as mathlib
from manipula.native.tracing.graph import Graph, core_size
from manipula.native.tracing.trace import without_garbage_collection


@without_garbage_collection()
def module_text(graph: Graph, width: int) -> ModuleText:
    """The LLVM module of a graph that is not lowered yet."""
    graph = lower(graph, target.processor().fma)
    module = Module(graph, width, target.attributes(width))
    most = target.INLINE_RUN if graph.sampled else target.INLINE
    weight = segments.weight(graph, graph.body)
    outline = segments.Outline(module) if weight > most else None
    if width == 1:
        _one(module, outline)
    else:
        _batch(module, outline)
    workspace = 0 if outline is None else outline.count * width
    kinds = set(module.long_loops.values())
    stoppable = 2 if "until" in kinds else len(kinds)
    parts = [
        f"@{WORKSPACE} = constant i64 {workspace}",
        f"@{STOPPABLE} = constant i64 {stoppable}",
        *module.globals,
        *{**_math_texts(frozenset(module.math)), **module.declared}.values(),
        *module.functions,
    ]
    in_order = width == 1 and bool(graph.sampled) and weight > target.IN_ORDER
    return ModuleText(graph.name, "\n".join(parts), in_order)


def _pointers(f: Function, array: str, names: list[str]) -> list[str]:
    return [
        f.let(f"load ptr, ptr {f.let(f'getelementptr ptr, ptr {array}, i64 {k}')}, align 8") for k in range(len(names))
    ]


def _one(module: Module, outline: segments.Outline | None) -> None:
    graph = module.graph
    f = Function(module, "define void @one(ptr noalias %inputs, ptr noalias %outputs, ptr noalias %workspace)")
    places = {name: [p] for name, p in zip(graph.outputs, _pointers(f, "%outputs", list(graph.outputs)))}
    inputs = {name: [input_pointer(f, k)] for k, name in enumerate(graph.inputs)}
    _body(f, inputs, places, outline)
    f.do("ret void")
    f.finish()


def _batch(module: Module, outline: segments.Outline | None) -> None:
    """The loop over groups of W states; spare lanes of the last group repeat the last state."""
    graph, W = module.graph, module.width
    head = (
        "define void @batch(ptr noalias %inputs, ptr noalias %input_strides, ptr noalias %outputs, "
        "ptr noalias %output_strides, i64 %count, ptr noalias %workspace)"
    )
    f = Function(module, head)
    own = [name for name in graph.inputs if name not in graph.shared]
    bases = {name: input_pointer(f, k) for k, name in enumerate(graph.inputs)}
    bases_out = dict(zip(graph.outputs, _pointers(f, "%outputs", list(graph.outputs))))
    input_strides = {name: _stride(f, "%input_strides", k) for k, name in enumerate(graph.inputs) if name in own}
    output_strides = {name: _stride(f, "%output_strides", k) for k, name in enumerate(graph.outputs)}
    last = f.let("sub i64 %count, 1")
    f.do("br label %group")
    f.start("group")
    f.lines.append("")  # the loop variable, completed at the end
    variable = len(f.lines) - 1
    left = f.let(f"sub i64 {last}, %row")
    rows = ["%row"]
    for k in range(1, W):
        short = f.let(f"icmp slt i64 {left}, {k}")
        step = f.let(f"select i1 {short}, i64 {left}, i64 {k}")
        rows.append(f.let(f"add i64 %row, {step}"))

    def lanes(base: str, stride: str) -> list[str]:
        return [memory.address(f, base, f.let(f"mul i64 {r}, {stride}")) for r in rows]

    inputs = {name: lanes(bases[name], input_strides[name]) for name in own}
    inputs.update({name: [bases[name]] for name in graph.shared})
    outputs = {name: lanes(bases_out[name], output_strides[name]) for name in graph.outputs}
    _body(f, inputs, outputs, outline)
    following = f.let(f"add i64 %row, {W}")
    latch = f.block
    f.do(f"br i1 {f.let(f'icmp slt i64 {following}, %count')}, label %group, label %done")
    f.start("done")
    f.do("ret void")
    f.lines[variable] = f"  %row = phi i64 [0, %entry], [{following}, %{latch}]"
    f.finish()


def _stride(f: Function, array: str, k: int) -> str:
    return f.let(f"load i64, ptr {f.let(f'getelementptr i64, ptr {array}, i64 {k}')}, align 8")


def _body(
    f: Function, inputs: dict[str, list[str]], outputs: dict[str, list[str]], outline: segments.Outline | None
) -> None:
    """The whole graph inside this function, or called from it."""
    graph = f.module.graph
    for name in graph.sampled:
        f.rows[("samples", name)] = outputs[name]
    if outline is not None:
        outline.body(f, inputs, outputs)
        return

    def load(f: Function, v: int) -> str:
        code, _, data = graph.operations[v]
        assert code == "input", f"value {v} ({code}) is not at hand"
        name, column = data
        if name in graph.shared:
            return f.splat(f.let(f"load double, ptr {memory.address(f, inputs[name][0], column)}, align 8"))
        return memory.load(f, ("input", name), inputs[name], column, core_size(graph.inputs[name]))

    f.load = load
    stores = memory.EarlyStores(outputs, graph.output_values, f.module.width)
    f.defined = stores.defined
    block(f, graph.body)
    stores.finish(f)


@functools.lru_cache(maxsize=256)
def _math_texts(wanted: frozenset[tuple[str, int]]) -> dict[str, str]:
    """Definitions of mathematical functions and what they need, by symbol."""
    texts: dict[str, str] = {}
    for name, width in sorted(wanted):
        mathlib.define(texts, name, width)
    return texts

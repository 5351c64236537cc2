"""A graph as machine code, through LLVM.

The binary interface of the code (C calling convention; strides count doubles):

``void one(const double *const *inputs, double *const *outputs, double *workspace)``
    One state. ``inputs[i]`` and ``outputs[k]`` point at C-contiguous blocks of the core shapes, in the order of
    ``graph.inputs`` and ``graph.outputs``.

``void batch(const double *const *inputs, const int64_t *input_strides,``
``           double *const *outputs, const int64_t *output_strides, int64_t count, double *workspace)``
    ``count`` ≥ 1 states, W at a time. Row r of input i starts at ``inputs[i] + r·input_strides[i]``; stride 0 repeats one
    row. The strides of shared inputs are ignored. The last group repeats the last row in its spare lanes.

``workspace`` has as many doubles as the number at the symbol ``manipula_workspace`` says (64-byte aligned, private to the
call; NULL if that is 0). If an input has a run-time length, ``inputs`` has one more entry that points at ``int64_t``
lengths, in the order in which their names appear in the shapes of the inputs. If the number at ``manipula_stoppable`` is not
0, ``inputs`` ends with an entry that points at an ``int64_t``, the stop flag: loops that may take long end when it is not 0,
and the outputs are then of no use. Outputs must not overlap inputs. Nothing touches Python: the code may run without the GIL.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from manipula.native.llvm import memory
from manipula.native.llvm.blocks import block
from manipula.native.llvm.llvm_text import Function, Module
from manipula.native.llvm.lookups import input_pointer
from manipula.native.lowering import segments
from manipula.native.lowering.passes import lower
from manipula.native.tracing.graph import Graph, core_size


class Processor(NamedTuple):
    """What the code generator needs to know of the machine."""

    width: int
    fma: bool


@functools.cache
def processor() -> Processor:
    """How many states stand side by side, and whether a product and a sum are one instruction."""
    from manipula.native.llvm.objects import host

    machine = host()
    fused = "+fma" in machine.features.split(",") or machine.triple.startswith(("aarch64", "arm64"))
    return Processor(8 if machine.vector_width() == 8 else 4, fused)


class Text:
    """LLVM text with the few attributes by which ``objects.compile_object`` knows a module."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.triple = self.data_layout = ""
        self.globals: dict[str, object] = {}  # external symbols come from mathlib alone

    def __str__(self) -> str:
        return f'target datalayout = "{self.data_layout}"\ntarget triple = "{self.triple}"\n{self.text}'


WORKSPACE = "manipula_workspace"
"""Symbol of a 64-bit number in the object code: the doubles of workspace that the code needs."""

STOPPABLE = "manipula_stoppable"
"""Symbol of a 64-bit number: 0 no loop may take long, 1 only counted loops may, 2 loops of unknown length may."""


@functools.cache
def attributes() -> str:
    """What every function is marked with.

    Some models of x86 processors schedule instructions a second time after registers are given out. On code like ours that
    takes up to half of the compile time and gains nothing, so code is tuned for a model that does not.
    """
    from manipula.native.llvm.objects import host

    machine = host()
    tuned = machine.triple.startswith("x86_64") and processor().width <= 4
    return 'nounwind "tune-cpu"="haswell"' if tuned else "nounwind"


def entry_name(width: int) -> str:
    """The symbol by which code of this width is entered."""
    return "one" if width == 1 else "batch"


def key_material(graph: Graph, width: int) -> bytes:
    """What the object code of a graph depends on, besides processor and package (the cache adds those)."""
    return (
        b"graph" + graph.digest() + bytes([width]) + repr((segments.INLINE, segments.SEGMENT, processor().fma)).encode()
    )


def module_text(graph: Graph, width: int) -> Text:
    """The LLVM module of a graph that is not lowered yet."""
    graph = lower(graph, processor().fma)
    module = Module(graph, width, attributes())
    outline = segments.Outline(module) if segments.weight(graph, graph.body) > segments.INLINE else None
    if width == 1:
        _one(module, outline)
    else:
        _batch(module, outline)
    workspace = 0 if outline is None else outline.count * width
    kinds = set(module.long_loops.values())
    stoppable = 2 if "until" in kinds else len(kinds)
    definitions = _math_text(frozenset(module.math), module)
    parts = [
        f"@{WORKSPACE} = constant i64 {workspace}",
        f"@{STOPPABLE} = constant i64 {stoppable}",
        *module.globals,
        *definitions,
        *module.declared.values(),
        *module.functions,
    ]
    return Text(graph.name, "\n".join(parts))


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
def _math_module(wanted: frozenset[tuple[str, int]]) -> tuple[list[str], dict[str, str]]:
    """The text of mathematical functions: definitions, and declarations by name."""
    from llvmlite import ir

    from manipula.native.mathlib import functions as mathlib

    module = ir.Module()
    for name, width in sorted(wanted):
        mathlib.emit(module, name, width)
    definitions, declarations = [], {}
    for value in module.global_values:
        text = str(value)
        if text.lstrip().startswith("declare"):
            declarations["@" + value.name] = text.strip()
        else:
            definitions.append(text)
    return definitions, declarations


def _math_text(wanted: frozenset[tuple[str, int]], module: Module) -> list[str]:
    if not wanted:
        return []
    definitions, declarations = _math_module(wanted)
    for name, text in declarations.items():
        module.declared.setdefault(name, text)
    return definitions

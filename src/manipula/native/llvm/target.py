"""What machine code is made for: the processor, and how large a function may become. It loads nothing of LLVM."""

from __future__ import annotations

import functools
from typing import NamedTuple

from manipula.native.host import host
from manipula.native.tracing.graph import Graph

INLINE = 1500
"""Graphs of up to so many operations become one function."""

INLINE_RUN = 8000
"""The same for a graph that records samples: its operations are turned around thousands of times and their values are better kept in registers than in
memory, which makes a run with contacts a fifth and one with stiction a third faster; with few outputs at the end it compiles as quickly as in parts."""

IN_ORDER = 4000
"""Runs of more operations are emitted without LLVM's second scheduling, which takes a fifth of the time of their compilation and gains nothing; shorter ones,
all of whose values could be in registers, become 3 to 10 % faster by it."""

SEGMENT = 1000
"""Operations in one function of a longer graph."""


class Processor(NamedTuple):
    """What the code generator needs to know of the machine."""

    width: int
    fma: bool


@functools.cache
def processor() -> Processor:
    """How many states stand side by side, and whether a product and a sum are one instruction."""
    machine = host()
    fused = machine.has("fma") or machine.triple.startswith(("aarch64", "arm64"))
    return Processor(8 if machine.vector_width() == 8 else 4, fused)


@functools.cache
def attributes(width: int) -> str:
    """What every function is marked with.

    Some models of x86 processors schedule instructions a second time after registers are given out. On code like ours that
    takes up to half of the compile time and gains nothing, so code is tuned for a model that does not. Code for one state on a processor with
    AVX-512 is tuned for none: that takes a fifth less time, and runs as fast.
    """
    if not host().triple.startswith("x86_64") or (processor().width > 4 and width > 1):
        return "nounwind"
    return f'nounwind "tune-cpu"="{"haswell" if processor().width <= 4 else "generic"}"'


def key_material(graph: Graph, width: int) -> bytes:
    """What the object code of a graph depends on, besides processor and package (the cache adds those)."""
    return (
        b"graph"
        + graph.digest()
        + bytes([width])
        + repr((INLINE, INLINE_RUN, IN_ORDER, SEGMENT, processor().fma)).encode()
    )

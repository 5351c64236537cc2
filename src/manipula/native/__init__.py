"""The compiler: functions of scalars become machine code. It knows no robots."""

from manipula.native.graph import Graph, Operation
from manipula.native.kernel import Kernel, compile_function, compile_graph, has_compiler
from manipula.native.trace import trace
from manipula.native.tracer import Condition, Node, is_finite

__all__ = [
    "Condition",
    "Graph",
    "Kernel",
    "Node",
    "Operation",
    "compile_function",
    "compile_graph",
    "has_compiler",
    "is_finite",
    "trace",
]

"""The compiler: functions of scalars become machine code. It knows no robots."""

from manipula.native.calling.kernel import Kernel, compile_function, compile_graph, has_compiler
from manipula.native.calling.kernel_cache import compile_known, kernel_of
from manipula.native.tracing.derivatives import derivative, jacobian, time_derivative
from manipula.native.tracing.graph import Graph, Operation
from manipula.native.tracing.loops import Converged, Repeated, repeat, until
from manipula.native.tracing.replay import inline
from manipula.native.tracing.tables import RunTimeArray, Table, interpolate, lookup, table
from manipula.native.tracing.trace import trace
from manipula.native.tracing.tracer import Condition, Node, is_finite

__all__ = [
    "Condition",
    "Converged",
    "Graph",
    "Kernel",
    "Node",
    "Operation",
    "Repeated",
    "RunTimeArray",
    "Table",
    "compile_function",
    "compile_graph",
    "compile_known",
    "derivative",
    "has_compiler",
    "inline",
    "interpolate",
    "is_finite",
    "jacobian",
    "kernel_of",
    "lookup",
    "repeat",
    "table",
    "time_derivative",
    "trace",
    "until",
]

"""The compiler: functions of scalars become machine code. It knows no robots.

``compile_function(f, {"q": (7,)})`` gives a :class:`Kernel`. The way there, each room importing only those below it:

=====================  ==================================================================================================
``calling/``           kernels, their entries from Python, threads, kernels found again
``store/``             object code on disk
``llvm/``              LLVM text of a graph, object code, addresses
``lowering/``          a graph made ready: fused, ordered, what loops compute ahead
``mathlib/``           elementary functions as LLVM code
``tracing/``           a Python function as a graph; derivatives; the interpreter
``llvm_text``          how LLVM functions are written
``host``               the processor and LLVM, known without loading it
``folder``             files that a user's processes keep for each other
``binary_interface``   how machine code is called, and what it knows about CPython and NumPy
``environment``        what the variables of the environment ask for
``locks``              LLVM, ``fork`` and the end of the program
=====================  ==================================================================================================
"""

from typing import TYPE_CHECKING

from manipula.lazy import names_in
from manipula.native.locks import import_module

if TYPE_CHECKING:
    from manipula.native.calling.kernel import Kernel, compile_function, compile_graph, has_compiler
    from manipula.native.calling.kernel_cache import compile_known, kernel_behind, kernel_of
    from manipula.native.calling.rows_call import RowsCall
    from manipula.native.tracing.derivatives import derivative, jacobian, time_derivative
    from manipula.native.tracing.graph import Graph, Operation
    from manipula.native.tracing.loops import Converged, Repeated, repeat, until
    from manipula.native.tracing.replay import inline, traced_once
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
    "RowsCall",
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
    "kernel_behind",
    "kernel_of",
    "lookup",
    "repeat",
    "table",
    "time_derivative",
    "trace",
    "traced_once",
    "until",
]

# what is kept on disk can be read without NumPy and the tracer
__getattr__ = names_in(
    __name__,
    import_module,
    Condition="tracing.tracer",
    Converged="tracing.loops",
    Graph="tracing.graph",
    Kernel="calling.kernel",
    Node="tracing.tracer",
    Operation="tracing.graph",
    Repeated="tracing.loops",
    RowsCall="calling.rows_call",
    RunTimeArray="tracing.tables",
    Table="tracing.tables",
    compile_function="calling.kernel",
    compile_graph="calling.kernel",
    compile_known="calling.kernel_cache",
    derivative="tracing.derivatives",
    has_compiler="calling.kernel",
    inline="tracing.replay",
    interpolate="tracing.tables",
    is_finite="tracing.tracer",
    jacobian="tracing.derivatives",
    kernel_behind="calling.kernel_cache",
    kernel_of="calling.kernel_cache",
    lookup="tracing.tables",
    repeat="tracing.loops",
    table="tracing.tables",
    time_derivative="tracing.derivatives",
    trace="tracing.trace",
    traced_once="tracing.replay",
    until="tracing.loops",
)

__dir__ = __all__.copy

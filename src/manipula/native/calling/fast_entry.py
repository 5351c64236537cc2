"""The fast entry: a compiled kernel as a Python built-in function, for one state, without a C compiler.

``make_callable`` builds the function; its code is ``fast_entry_code.py``, the same for all kernels, and what it assumes about Python
and NumPy is ``binary_interface.py``.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from manipula.bounded_cache import Lock
from manipula.errors import CompileError
from manipula.native import binary_interface as abi
from manipula.native.binary_interface import aligned_workspace
from manipula.native.calling import fast_entry_code as entry
from manipula.native.llvm.images import LoadedCode
from manipula.native.llvm_text import DOUBLE, POINTER, VOID, LlvmBuilder, ModuleText
from manipula.native.store.object_cache import load_or_compile

Shape = tuple[int, ...]

REMEMBERED_BYTES = 64 * 1024  # results larger than this are not kept for reuse

_self_test_lock = Lock()


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_callable(
    name: str,
    input_shapes: Sequence[Shape],
    output_shapes: Sequence[Shape],
    scalar_address: int,
    fallback: Callable[..., Any],
    *,
    workspace: int = 0,
    keep: object = None,
    doc: str = "",
) -> Callable[..., Any]:
    """A function ``f(*arrays)`` that runs a compiled kernel on one state with as little ceremony as possible.

    Calls with positional arguments that are exact, contiguous, aligned float64 arrays of the core shapes (a ``float`` or
    ``numpy.float64`` for a core shape ``()``) go straight to the kernel; every other call goes unchanged to ``fallback``,
    which must accept them too and give the same answer. One result is returned as it is, several as a tuple; a result of
    shape ``()`` is a ``numpy.float64``. The GIL is held: meant for kernels that take microseconds.

    Where the interpreter or NumPy is not of the known kind, or a self-test at the first use disagrees with a call through
    ``ctypes``, ``fallback`` itself is returned.

    Args:
        name: the function's ``__name__``.
        input_shapes: core shape of each argument.
        output_shapes: core shape of each result.
        scalar_address: the kernel's entry for one state (see ``binary_interface.py``).
        fallback: what handles everything else.
        workspace: doubles of scratch memory the kernel needs.
        keep: anything that must stay alive as long as the function, such as the ``LoadedCode`` of the kernel.
        doc: the function's ``__doc__``.
    """
    counts_fit = 1 <= len(input_shapes) <= entry.MAX_ARGUMENTS and 1 <= len(output_shapes) <= entry.MAX_ARGUMENTS
    ranks_fit = all(len(shape) <= entry.MAX_RANK for shape in (*input_shapes, *output_shapes))
    if not (counts_fit and ranks_fit and _entry_works()):
        return fallback
    return _build(name, input_shapes, output_shapes, scalar_address, fallback, workspace, keep, doc)


def _build(
    name: str,
    input_shapes: Sequence[Shape],
    output_shapes: Sequence[Shape],
    scalar_address: int,
    fallback: Callable[..., Any],
    workspace: int,
    keep: object,
    doc: str,
) -> Callable[..., Any]:
    code = _entry_code()
    words = entry.output_words(len(input_shapes), len(output_shapes))
    context: Any = _context_type(words)()
    scratch = aligned_workspace(workspace)
    _fill_header(context, scalar_address, scratch, fallback)
    context[entry.INPUTS], context[entry.OUTPUTS] = len(input_shapes), len(output_shapes)
    for i, shape in enumerate(input_shapes):
        _describe(context, entry.input_words(i), shape)
    for k, shape in enumerate(output_shapes):
        first = entry.output_words(len(input_shapes), k)
        _describe(context, first, shape)
        context[first + entry.OUT_FLAGS] = np.empty(shape).flags.num
    size = 8 * sum(int(np.prod(shape)) for shape in output_shapes)
    context[entry.REMEMBER] = int(size <= REMEMBERED_BYTES)
    context.pools = [entry.output_words(len(input_shapes), k) + entry.OUT_POOL for k in range(len(output_shapes))]
    definition = _MethodDef(name.encode(), code[entry.NAME], abi.METH_FASTCALL_KEYWORDS, doc.encode() or None)
    # The context owns all that the built-in function needs; the interpreter keeps it alive through the function's self.
    context.owned = (definition, fallback, scratch, keep, code)
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype = ctypes.py_object
    new_function.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return new_function(ctypes.addressof(definition), context, "manipula")


@functools.cache
def _context_type(words: int) -> type:
    def release(context: Any, pool: int = entry.POOL) -> None:  # at the end of a process the module may be gone already
        """Give up the arrays remembered for reuse."""
        for first in context.pools:
            for slot in range(first, first + pool):
                address, context[slot] = context[slot], 0
                if address:
                    decref(address)

    decref = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(abi.python_api("Py_DecRef"))
    return type("KernelContext", (ctypes.c_int64 * words,), {"__del__": release, "pools": ()})


def _fill_header(context: Any, scalar_address: int, scratch: np.ndarray | None, fallback: Callable) -> None:
    context[entry.KERNEL] = scalar_address
    context[entry.WORKSPACE] = 0 if scratch is None else scratch.ctypes.data
    context[entry.FALLBACK] = id(fallback)
    context[entry.VECTORCALL] = abi.python_api("PyObject_Vectorcall")
    context[entry.INCREF] = abi.python_api("Py_IncRef")
    context[entry.DECREF] = abi.python_api("Py_DecRef")
    context[entry.TUPLE_NEW] = abi.python_api("PyTuple_New")
    context[entry.TUPLE_SET] = abi.python_api("PyTuple_SetItem")
    context[entry.ARRAY_TYPE] = id(np.ndarray)
    context[entry.DTYPE] = id(np.dtype(np.float64))
    context[entry.FLOAT_TYPE] = id(float)
    context[entry.FLOAT64_TYPE] = id(np.float64)
    context[entry.NEW_ARRAY] = abi.array_api(abi.API_NEW_FROM_DESCR)
    context[entry.NEW_SCALAR] = abi.array_api(abi.API_SCALAR)


def _describe(context: Any, first: int, shape: Shape) -> None:
    context[first] = len(shape)
    for axis, length in enumerate(shape):
        context[first + 1 + axis] = length


# --- the entry's code and its self-test --------------------------------------------------------------------------------
_TEST_KERNEL = "manipula_entry_test"


@functools.cache
def _entry_code() -> LoadedCode:
    return load_or_compile(b"entry", (entry.NAME, _TEST_KERNEL), _entry_module)


def _entry_module() -> ModuleText:
    return ModuleText("manipula_entry", entry.entry_text() + _test_kernel())


def _test_kernel() -> str:
    """(a (3,), b (2, 3), c ()) → a + b[1]·c (3,), c − a[0] (), so that every kind of argument and result occurs."""
    f = LlvmBuilder(_TEST_KERNEL, VOID, [POINTER, POINTER, POINTER])
    inputs, outputs, workspace = f.arguments
    a, b, c = (f.word(inputs, 8 * k, POINTER) for k in range(3))
    first, second = (f.word(outputs, 8 * k, POINTER) for k in range(2))
    f.store(f.load(c, DOUBLE), workspace)
    scale = f.load(workspace, DOUBLE)
    for k in range(3):
        product = f.fmul(f.word(b, 8 * (3 + k), DOUBLE), scale)
        f.store(f.fadd(f.word(a, 8 * k, DOUBLE), product), f.at(first, 8 * k))
    f.store(f.fsub(scale, f.load(a, DOUBLE)), second)
    f.ret()
    return f.text()


@functools.cache
def _entry_works_once() -> bool:
    if not abi.supported():
        return False
    try:
        return _self_test()
    except (CompileError, OSError, AttributeError):
        return False


def _entry_works() -> bool:
    with _self_test_lock.here:
        return _entry_works_once()


def _self_test() -> bool:
    """Does the entry give what a call of the same kernel through ctypes gives, and leave reference counts alone?"""
    shapes: tuple[list[Shape], list[Shape]] = ([(3,), (2, 3), ()], [(3,), ()])
    slow = ctypes_callable(*shapes, _entry_code()[_TEST_KERNEL], workspace=1)
    seen: list[tuple] = []

    def fallback(*arguments: Any, **options: Any) -> Any:
        seen.append((arguments, options))
        return "fallback"

    fast = _build("self_test", *shapes, _entry_code()[_TEST_KERNEL], fallback, 1, None, "")
    a, b, c = np.array([0.25, -1.5, 3.0]), np.arange(6.0).reshape(2, 3) / 7, 0.3
    kept = []
    for step in range(3 * entry.POOL):
        a[0] = step
        got, expected = fast(a, b, c), slow(a, b, c)
        kept.append((got, expected))
    same = all(
        isinstance(got, tuple)
        and np.array_equal(got[0], expected[0])
        and got[1] == expected[1]
        and type(got[1]) is type(expected[1])
        for got, expected in kept
    )
    odd: tuple[tuple[Any, ...], ...] = ((a, b), (a, b, 1), (a[::-1], b, c), (a, b.T, c), (a.astype("f4"), b, c))
    handed_over = all(fast(*arguments) == "fallback" for arguments in odd) and fast(a, b, c=c) == "fallback"
    return same and handed_over and len(seen) == len(odd) + 1 and seen[-1][1] == {"c": c} and seen[0][0][1] is b


def ctypes_callable(
    input_shapes: Sequence[Shape], output_shapes: Sequence[Shape], scalar_address: int, *, workspace: int = 0
) -> Callable[..., Any]:
    """The slow route: the same kernel for one state through ``ctypes``, with nothing assumed about Python or NumPy."""
    kernel = abi.ONE(scalar_address)
    pointers_in, pointers_out = ctypes.c_void_p * len(input_shapes), ctypes.c_void_p * len(output_shapes)

    def call(*arguments: Any) -> Any:
        arrays = [np.require(a, np.float64, ["C", "A"]).reshape(shape) for a, shape in zip(arguments, input_shapes)]
        results = [np.empty(shape) for shape in output_shapes]
        scratch = aligned_workspace(workspace)
        kernel(
            pointers_in(*(a.ctypes.data for a in arrays)),
            pointers_out(*(r.ctypes.data for r in results)),
            None if scratch is None else scratch.ctypes.data,
        )
        values = tuple(r if r.ndim else r[()] for r in results)
        return values[0] if len(values) == 1 else values

    return call

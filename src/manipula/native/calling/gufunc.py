"""A NumPy generalised ufunc around a compiled batch kernel.

``make_gufunc`` gives an object that behaves like NumPy's own functions: broadcasting over leading axes, casting, ``out=``,
any strides; the GIL is released while the kernel runs. The inner loop is written once for all kernels: what it must know
about one (addresses, core shapes) stands in a block of 64-bit words, the *context*, that NumPy hands to it. Operands
whose core is C-contiguous are passed on as they are; when one is not, rows are gathered into scratch memory, run one by
one and scattered. Floating-point flags are cleared at the end: code without branches computes both sides of every
choice, and NumPy would warn about the side not taken.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from manipula.errors import CompileError, printable
from manipula.native import binary_interface as abi
from manipula.native.llvm.images import LoadedCode
from manipula.native.llvm_text import (
    DOUBLE,
    INT32,
    INT64,
    NULL,
    POINTER,
    VOID,
    ContextBuilder,
    LlvmValue,
    ModuleText,
    integer,
)
from manipula.native.store.object_cache import load_or_compile

MAX_OPERANDS = 16
MAX_RANK = 4
LOOP = "manipula_gufunc_loop"
ALL_FLOATING_POINT_FLAGS = 0x1F  # covers invalid, divide, overflow and underflow on x86, ARM and Windows alike

# The context, in words of 64 bits: a header, then one description per operand.
BATCH, MEMORY_BYTES, WORKSPACE_BYTES, MALLOC, FREE, CLEAR_FLAGS, ENSURE_GIL, NO_MEMORY, RELEASE_GIL = range(9)
INPUTS, OPERANDS, HEADER = 9, 10, 11
# Of each operand: doubles in a row; then for each of four axes (short shapes are padded in front with 1) its length, the
# position of its stride in NumPy's list, and the stride in bytes it has when the row is contiguous.
LENGTH, STRIDE_POSITION, CONTIGUOUS = 1, 1 + MAX_RANK, 1 + 2 * MAX_RANK
OPERAND_WORDS = 1 + 3 * MAX_RANK

Shape = tuple[int, ...]


def make_gufunc(
    name: str,
    input_shapes: Sequence[Shape],
    output_shapes: Sequence[Shape],
    batch_address: int,
    *,
    workspace: int = 0,
    keep: object = None,
    doc: str = "",
) -> np.ufunc:
    """The batch kernel at ``batch_address`` (see ``binary_interface.py``) as a NumPy gufunc.

    Args:
        name: the gufunc's ``__name__``.
        input_shapes: core shape of each argument, such as ``(7,)``; wrong shapes are refused by NumPy.
        output_shapes: core shape of each result.
        batch_address: where the batch kernel starts.
        workspace: doubles of scratch memory the kernel needs.
        keep: kept alive with the gufunc, such as the ``LoadedCode`` of the kernel.
        doc: the gufunc's ``__doc__``.

    Raises:
        CompileError: unknown NumPy, or more operands or axes than the inner loop is made for.
    """
    shapes = [*input_shapes, *output_shapes]
    if not abi.supported():
        raise CompileError("A gufunc cannot be built: this Python or NumPy is not of the known kind.")
    if len(shapes) > MAX_OPERANDS or any(len(shape) > MAX_RANK or 0 in shape for shape in shapes):
        raise CompileError(
            f"Function '{printable(name)}' has {len(shapes)} operands of shapes {signature(input_shapes, output_shapes)}."
            f" Allowed: {MAX_OPERANDS} operands of {MAX_RANK} axes, none of length 0."
        )
    code = _loop_code()
    context = _context(input_shapes, output_shapes, batch_address, workspace)
    loops, data = (ctypes.c_void_p * 1)(code[LOOP]), (ctypes.c_void_p * 1)(ctypes.addressof(context))
    types = ctypes.create_string_buffer(bytes([abi.NUMBER_OF_FLOAT64] * len(shapes)))
    texts = [ctypes.create_string_buffer(text.encode()) for text in (name, doc)]
    create = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p),
    )(abi.ufunc_api(abi.API_UFUNC_FROM_SIGNATURE))
    ufunc = create(
        *(ctypes.addressof(block) for block in (loops, data, types)),
        *(1, len(input_shapes), len(output_shapes), -1),
        *(ctypes.addressof(text) for text in texts),
        *(0, signature(input_shapes, output_shapes).encode()),
    )
    abi.keep_with_ufunc(
        ufunc,
        owned=(code, context, loops, data, types, texts, keep),
        pointers=tuple(map(ctypes.addressof, (loops, data, texts[0], types, texts[1]))),
    )
    return ufunc


def signature(input_shapes: Sequence[Shape], output_shapes: Sequence[Shape]) -> str:
    """NumPy's notation of the core shapes: ``(7),(7)->(7,7)``."""
    sides = [",".join("(" + ",".join(map(str, s)) + ")" for s in side) for side in (input_shapes, output_shapes)]
    return "->".join(sides)


def _context(inputs: Sequence[Shape], outputs: Sequence[Shape], batch_address: int, workspace: int) -> Any:
    shapes = [*inputs, *outputs]
    context: Any = (ctypes.c_int64 * (HEADER + len(shapes) * OPERAND_WORDS))()
    context[BATCH] = batch_address
    context[WORKSPACE_BYTES] = 8 * workspace
    context[MEMORY_BYTES] = 8 * sum(math.prod(shape) for shape in shapes)
    context[MALLOC], context[FREE] = abi.python_api("PyMem_RawMalloc"), abi.python_api("PyMem_RawFree")
    context[ENSURE_GIL], context[RELEASE_GIL] = (
        abi.python_api("PyGILState_Ensure"),
        abi.python_api("PyGILState_Release"),
    )
    context[NO_MEMORY], context[CLEAR_FLAGS] = abi.python_api("PyErr_NoMemory"), _clear_flags_address()
    context[INPUTS], context[OPERANDS] = len(inputs), len(shapes)
    position = len(shapes)
    for index, shape in enumerate(shapes):
        first = HEADER + index * OPERAND_WORDS
        context[first] = math.prod(shape)
        padding = MAX_RANK - len(shape)
        for axis in range(MAX_RANK):
            real = axis - padding
            context[first + LENGTH + axis] = shape[real] if real >= 0 else 1
            context[first + STRIDE_POSITION + axis] = position + real if real >= 0 else 0
            context[first + CONTIGUOUS + axis] = 8 * math.prod(shape[max(real, -1) + 1 :])
        position += len(shape)
    return context


@functools.cache
def _clear_flags_address() -> int:
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return ctypes.cast(library.feclearexcept, ctypes.c_void_p).value or 0


@functools.cache
def _loop_code() -> LoadedCode:
    return load_or_compile(b"gufunc loop", (LOOP,), _loop_text)


def _loop_text() -> ModuleText:
    loop = _Loop(LOOP, VOID, [POINTER, POINTER, POINTER, POINTER])
    loop.write()
    return ModuleText("manipula_gufunc", loop.text())


class _Loop(ContextBuilder):
    """Writes ``void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *context)``."""

    def write(self) -> None:
        self.args, dimensions, self.steps, self.block_of_words = self.arguments
        self.strides = self.alloca(INT64, MAX_OPERANDS)
        self.count, self.inputs, self.operands = (
            self.load(dimensions, INT64),
            self.context(INPUTS),
            self.context(OPERANDS),
        )
        start, strided, fail, done = (self.label(n) for n in ("start", "strided", "fail", "done"))
        self.branch_if(self.same(self.count, 0), done, start)
        self.start(start)
        self.memory = self.allocate(fail)
        self.workspace = self.aligned(self.memory)
        with self.loop(self.operands) as index:
            step = self.word(self.steps, self.words(index))
            self.require(self.same(self.and_(step, integer(7)), 0), strided)
            self.store(self.ashr(step, integer(3)), self.at(self.strides, self.words(index)))
            self.require_contiguous(self.description(index), strided)
        self.run(self.args, self.count)
        self.leave(done)
        self.start(strided)
        self.run_row_by_row()
        self.leave(done)
        self.start(fail)
        state = self.call(ENSURE_GIL, INT32)
        self.call(NO_MEMORY, POINTER)
        self.call(RELEASE_GIL, VOID, state)
        self.branch(done)
        self.start(done)
        self.ret()

    def allocate(self, fail: str) -> LlvmValue:
        """Memory for the workspace and one row of every operand."""
        size = self.add(self.add(self.context(WORKSPACE_BYTES), self.context(MEMORY_BYTES)), integer(64))
        memory = self.call(MALLOC, POINTER, size)
        self.require(self.differ(memory, NULL), fail)
        return memory

    def aligned(self, memory: LlvmValue) -> LlvmValue:
        """The first multiple of 64 bytes in ``memory``."""
        misfit = self.and_(self.sub(integer(0), self.convert("ptrtoint", memory, INT64)), integer(63))
        return self.at(memory, misfit)

    def leave(self, done: str) -> None:
        self.call(FREE, VOID, self.memory)
        self.call(CLEAR_FLAGS, INT32, integer(ALL_FLOATING_POINT_FLAGS, INT32))
        self.branch(done)

    def description(self, index: LlvmValue) -> LlvmValue:
        return self.at(self.block_of_words, self.add(self.mul(index, integer(8 * OPERAND_WORDS)), integer(8 * HEADER)))

    def core_stride(self, description: LlvmValue, axis: LlvmValue) -> LlvmValue:
        """NumPy's stride of one axis of a row, in bytes."""
        position = self.word(self.at(description, 8 * STRIDE_POSITION), axis)
        return self.word(self.steps, self.words(position))

    def require_contiguous(self, description: LlvmValue, strided: str) -> None:
        """Go on if every axis longer than 1 has the stride of a C-contiguous row."""
        with self.loop(integer(MAX_RANK)) as axis:
            offset = self.words(axis)
            wanted = self.word(self.at(description, 8 * CONTIGUOUS), offset)
            short = self.same(self.word(self.at(description, 8 * LENGTH), offset), 1)
            self.require(self.or_(short, self.same(self.core_stride(description, offset), wanted)), strided)

    def run(self, pointers: LlvmValue, count: LlvmValue) -> None:
        outputs, output_strides = (self.at(p, self.words(self.inputs)) for p in (pointers, self.strides))
        self.call(BATCH, VOID, pointers, self.strides, outputs, output_strides, count, self.workspace)

    def run_row_by_row(self) -> None:
        rows = self.alloca(POINTER, MAX_OPERANDS)
        filled = self.alloca(POINTER)
        self.store(self.at(self.workspace, self.context(WORKSPACE_BYTES)), filled)
        with self.loop(self.operands) as index:
            row = self.load(filled, POINTER)
            self.store(row, self.at(rows, self.words(index)))
            self.store(integer(0), self.at(self.strides, self.words(index)))
            self.store(self.at(row, self.words(self.word(self.description(index), 0))), filled)
        with self.loop(self.count) as number:
            with self.loop(self.inputs) as index:
                self.copy(index, number, rows, gather=True)
            self.run(rows, integer(1))
            with self.loop(self.sub(self.operands, self.inputs)) as output:
                self.copy(self.add(output, self.inputs), number, rows, gather=False)

    def copy(self, index: LlvmValue, number: LlvmValue, rows: LlvmValue, *, gather: bool) -> None:
        """Row ``number`` of an operand into scratch memory, or back."""
        description = self.description(index)
        step = self.word(self.steps, self.words(index))
        base = self.at(self.word(self.args, self.words(index), POINTER), self.mul(number, step))
        row = self.word(rows, self.words(index), POINTER)
        lengths = [self.word(description, 8 * (LENGTH + axis)) for axis in range(MAX_RANK)]
        strides = [self.core_stride(description, integer(8 * axis)) for axis in range(MAX_RANK)]
        with contextlib.ExitStack() as loops:
            far, near = base, integer(0)
            for length, stride in zip(lengths, strides):
                position = loops.enter_context(self.loop(length))
                far = self.at(far, self.mul(position, stride))
                near = self.add(self.mul(near, length), position)
            near = self.at(row, self.words(near))
            source, target = (far, near) if gather else (near, far)
            self.store(self.load(source, DOUBLE), target)

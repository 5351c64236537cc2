"""The fast entry: a Python built-in function in machine code around any compiled kernel.

``emit_entry`` emits one function with CPython's ``METH_FASTCALL | METH_KEYWORDS`` convention,

``PyObject *entry(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)``

that does what hand-written C would do in the common case, all arguments exact float64 arrays of the right shape, and
hands every other call unchanged to a Python function. It is generic: shapes, the kernel's address and the addresses of
Python's and NumPy's functions stand in a block of 64-bit words, the *context*, which ``self`` (a ctypes array) points to.
One entry serves all kernels, and its object code can be kept on disk.

Results are new arrays as far as any caller can tell. Making one costs more than many a kernel, so the context remembers
the last few arrays it gave out and hands one out again once nobody else holds it: its reference count is 1, it has no
base and no weak references, and shape, type and flags are what they were. (One visible trace: NumPy's ``resize`` in place
refuses such an array, as it does for every array that is referenced twice.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from manipula.native.calling import numpy_abi as abi
from manipula.native.llvm.llvm_builder import I32, I64, NULL, POINTER, Emission, integer

NAME = "manipula_entry"
MAX_RANK = 4
MAX_ARGUMENTS = 16
POOL = 4  # arrays remembered per result

# The context, in words of 64 bits: a header, then the descriptions of the arguments, then those of the results.
KERNEL, WORKSPACE, FALLBACK, VECTORCALL, INCREF, DECREF, TUPLE_NEW, TUPLE_SET = range(8)
ARRAY_TYPE, DTYPE, FLOAT_TYPE, FLOAT64_TYPE, NEW_ARRAY, NEW_SCALAR, INPUTS, OUTPUTS = range(8, 16)
REMEMBER = 16
HEADER = 17
INPUT_WORDS = 1 + MAX_RANK  # rank, shape
OUT_FLAGS, OUT_NEXT, OUT_POOL = 1 + MAX_RANK, 2 + MAX_RANK, 3 + MAX_RANK
OUTPUT_WORDS = OUT_POOL + POOL  # rank, shape, flags of a fresh array, slot to replace next, remembered arrays


def input_words(index: int) -> int:
    """The word at which the description of argument ``index`` starts."""
    return HEADER + index * INPUT_WORDS


def output_words(inputs: int, index: int) -> int:
    """The word at which the description of result ``index`` starts, with ``inputs`` arguments before."""
    return HEADER + inputs * INPUT_WORDS + index * OUTPUT_WORDS


def emit_entry(module: ir.Module) -> ir.Function:
    """Emit the entry into ``module``."""
    function = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, I64, POINTER]), NAME)
    _Entry(function).emit()
    return function


class _Entry(Emission):
    """Emits the body; ``slow`` and ``fail`` are the two early ways out."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__(function)
        self.self_object, self.args, self.nargs, self.kwnames = function.args
        self.slow, self.fail = self.new_block("slow"), self.new_block("fail")

    def emit(self) -> None:
        b = self.b
        input_list = b.alloca(POINTER, size=MAX_ARGUMENTS)
        output_list = b.alloca(POINTER, size=MAX_ARGUMENTS)
        self.numbers = b.alloca(ir.DoubleType(), size=MAX_ARGUMENTS)
        self.results = b.alloca(POINTER, size=MAX_ARGUMENTS)
        self.block = self.word(self.self_object, abi.CTYPES_DATA, POINTER)
        inputs, self.outputs = self.context(INPUTS), self.context(OUTPUTS)
        self.require(self.same(self.kwnames, NULL), self.slow)
        self.require(self.same(self.nargs, inputs), self.slow)
        with self.loop(inputs) as i:
            argument = self.word(self.args, self.words(i), POINTER)
            description = self.at(self.block, b.add(b.mul(i, integer(8 * INPUT_WORDS)), integer(8 * HEADER)))
            b.store(self.accept(argument, description), self.at(input_list, self.words(i)))
        with self.loop(self.outputs) as k:
            b.store(NULL, self.at(self.results, self.words(k)))
        first = b.add(b.mul(inputs, integer(8 * INPUT_WORDS)), integer(8 * HEADER))
        with self.loop(self.outputs) as k:
            description = self.at(self.block, b.add(b.mul(k, integer(8 * OUTPUT_WORDS)), first))
            b.store(self.result(k, description), self.at(output_list, self.words(k)))
        self.call(KERNEL, ir.VoidType(), input_list, output_list, self.context(WORKSPACE, POINTER))
        self.give_back()
        self.go_to(self.slow)
        b.ret(self.call(VECTORCALL, POINTER, self.context(FALLBACK, POINTER), self.args, self.nargs, self.kwnames))
        self.go_to(self.fail)
        with self.loop(self.outputs) as k:
            self.drop(self.word(self.results, self.words(k), POINTER))
        b.ret(NULL)

    def drop(self, reference: Any) -> None:
        """Give up a reference unless it is NULL."""
        with self.only_if(self.differ(reference, NULL)):
            self.call(DECREF, ir.VoidType(), reference)

    def accept(self, argument: Any, description: Any) -> Any:
        """The address of the argument's first double; the slow road if it is not exactly what the kernel wants."""
        b = self.b
        kind, rank = self.word(argument, abi.OBJECT_TYPE), self.word(description, 0)
        number, array, join = self.new_block("number"), self.new_block("array"), self.new_block("join")
        b.cbranch(self.same(rank, 0), number, array)
        self.go_to(number)
        is_number = b.or_(self.same(kind, self.context(FLOAT_TYPE)), self.same(kind, self.context(FLOAT64_TYPE)))
        self.require(is_number, self.slow)
        number_data, number_end = self.at(argument, abi.FLOAT_VALUE), b.block
        b.branch(join)
        self.go_to(array)
        self.require(self.same(kind, self.context(ARRAY_TYPE)), self.slow)
        self.require(self.same(self.word(argument, abi.ARRAY_DTYPE), self.context(DTYPE)), self.slow)
        wanted = abi.C_CONTIGUOUS | abi.ALIGNED
        flags = b.and_(self.word(argument, abi.ARRAY_FLAGS, I32), integer(wanted, I32))
        self.require(self.same(flags, wanted), self.slow)
        self.require_shape(argument, description, rank, self.slow)
        array_data, array_end = self.word(argument, abi.ARRAY_DATA, POINTER), b.block
        b.branch(join)
        self.go_to(join)
        return self.either((number_data, number_end), (array_data, array_end))

    def require_shape(self, array: Any, description: Any, rank: Any, otherwise: Any) -> None:
        """Go on if the array has the described shape (rank ≥ 1)."""
        self.require(self.same(self.b.sext(self.word(array, abi.ARRAY_RANK, I32), I64), rank), otherwise)
        shape, expected = self.word(array, abi.ARRAY_SHAPE, POINTER), self.at(description, 8)
        with self.loop(rank) as axis:
            offset = self.words(axis)
            self.require(self.same(self.word(shape, offset), self.word(expected, offset)), otherwise)

    def result(self, k: Any, description: Any) -> Any:
        """Where the kernel shall write result ``k``; its array, if it is one, goes into ``results``."""
        b = self.b
        rank = self.word(description, 0)
        number, array, join = self.new_block("number"), self.new_block("array"), self.new_block("join")
        b.cbranch(self.same(rank, 0), number, array)
        self.go_to(number)
        number_data = self.at(self.numbers, self.words(k))
        b.branch(join)
        self.go_to(array)
        taken, have = self.new_block("taken"), self.new_block("have")
        candidate = self.remembered(description, rank, taken)
        fresh = self.fresh(description, rank)
        fresh_end = b.block
        b.branch(have)
        self.go_to(taken)
        self.call(INCREF, ir.VoidType(), candidate)
        b.branch(have)
        self.go_to(have)
        chosen = self.either((fresh, fresh_end), (candidate, taken))
        b.store(chosen, self.at(self.results, self.words(k)))
        array_data = self.word(chosen, abi.ARRAY_DATA, POINTER)
        b.branch(join)
        self.go_to(join)
        return self.either((number_data, number), (array_data, have))

    def remembered(self, description: Any, rank: Any, taken: Any) -> Any:
        """Jump to ``taken`` with the first remembered array that nobody else holds and nobody has altered."""
        b = self.b
        with self.loop(integer(POOL)) as slot:
            following = self.new_block("next_slot")
            candidate = self.word(self.at(description, 8 * OUT_POOL), self.words(slot), POINTER)
            self.require(self.differ(candidate, NULL), following)
            self.require(self.same(self.word(candidate, 0, I32), 1), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_BASE), 0), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_WEAK), 0), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_DTYPE), self.context(DTYPE)), following)
            flags = b.zext(self.word(candidate, abi.ARRAY_FLAGS, I32), I64)
            self.require(self.same(flags, self.word(description, 8 * OUT_FLAGS)), following)
            self.require_shape(candidate, description, rank, following)
            b.branch(taken)
            self.go_to(following)
        return candidate

    def fresh(self, description: Any, rank: Any) -> Any:
        """A new array from NumPy, remembered if the context says so."""
        b = self.b
        dtype = self.context(DTYPE, POINTER)
        self.call(INCREF, ir.VoidType(), dtype)  # NumPy takes this reference
        kind, shape = self.context(ARRAY_TYPE, POINTER), self.at(description, 8)
        zero = integer(0, I32)
        array = self.call(NEW_ARRAY, POINTER, kind, dtype, b.trunc(rank, I32), shape, NULL, NULL, zero, NULL)
        self.require(self.differ(array, NULL), self.fail)
        keep, done = self.new_block("keep"), self.new_block("kept")
        b.cbranch(self.same(self.context(REMEMBER), 0), done, keep)
        self.go_to(keep)
        self.call(INCREF, ir.VoidType(), array)
        slot = self.word(description, 8 * OUT_NEXT)
        b.store(b.and_(b.add(slot, integer(1)), integer(POOL - 1)), self.at(description, 8 * OUT_NEXT))
        place = self.at(self.at(description, 8 * OUT_POOL), self.words(slot))
        old = b.load(place, typ=POINTER)
        b.store(array, place)  # before the old one goes: that may run Python code
        self.drop(old)
        b.branch(done)
        self.go_to(done)
        return array

    def give_back(self) -> None:
        """Turn numbers into NumPy scalars and return one object, or a tuple of several."""
        b = self.b
        with self.loop(self.outputs) as k:
            place = self.at(self.results, self.words(k))
            convert, done = self.new_block("convert"), self.new_block("converted")
            b.cbranch(self.same(b.load(place, typ=POINTER), NULL), convert, done)
            self.go_to(convert)
            data = self.at(self.numbers, self.words(k))
            scalar = self.call(NEW_SCALAR, POINTER, data, self.context(DTYPE, POINTER), NULL)
            self.require(self.differ(scalar, NULL), self.fail)
            b.store(scalar, place)
            b.branch(done)
            self.go_to(done)
        one, several = self.new_block("one"), self.new_block("several")
        b.cbranch(self.same(self.outputs, 1), one, several)
        self.go_to(one)
        b.ret(self.word(self.results, 0, POINTER))
        self.go_to(several)
        group = self.call(TUPLE_NEW, POINTER, self.outputs)
        self.require(self.differ(group, NULL), self.fail)
        with self.loop(self.outputs) as k:
            self.call(TUPLE_SET, I32, group, k, self.word(self.results, self.words(k), POINTER))
        b.ret(group)

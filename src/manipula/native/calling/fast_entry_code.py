"""The fast entry: a Python built-in function in machine code around any compiled kernel.

``entry_text`` is one function with CPython's ``METH_FASTCALL | METH_KEYWORDS`` convention,

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

from manipula.native import binary_interface as abi
from manipula.native.llvm_text import DOUBLE, INT32, INT64, NULL, POINTER, VOID, ContextBuilder, LlvmValue, integer

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


def entry_text() -> str:
    """The LLVM text of the entry."""
    entry = _FastEntryBuilder()
    entry.write()
    return entry.text()


class _FastEntryBuilder(ContextBuilder):
    """Writes the entry; ``slow`` and ``fail`` are the two early ways out."""

    def __init__(self) -> None:
        super().__init__(NAME, POINTER, [POINTER, POINTER, INT64, POINTER])
        self.self_object, self.args, self.nargs, self.kwnames = self.arguments
        self.slow, self.fail = self.label("slow"), self.label("fail")

    def write(self) -> None:
        input_list = self.alloca(POINTER, MAX_ARGUMENTS)
        output_list = self.alloca(POINTER, MAX_ARGUMENTS)
        self.numbers = self.alloca(DOUBLE, MAX_ARGUMENTS)
        self.results = self.alloca(POINTER, MAX_ARGUMENTS)
        self.block_of_words = self.word(self.self_object, abi.CTYPES_DATA, POINTER)
        inputs, self.outputs = self.context(INPUTS), self.context(OUTPUTS)
        self.require(self.same(self.kwnames, NULL), self.slow)
        self.require(self.same(self.nargs, inputs), self.slow)
        with self.loop(inputs) as i:
            argument = self.word(self.args, self.words(i), POINTER)
            description = self.at(
                self.block_of_words, self.add(self.mul(i, integer(8 * INPUT_WORDS)), integer(8 * HEADER))
            )
            self.store(self.accept(argument, description), self.at(input_list, self.words(i)))
        with self.loop(self.outputs) as k:
            self.store(NULL, self.at(self.results, self.words(k)))
        first = self.add(self.mul(inputs, integer(8 * INPUT_WORDS)), integer(8 * HEADER))
        with self.loop(self.outputs) as k:
            description = self.at(self.block_of_words, self.add(self.mul(k, integer(8 * OUTPUT_WORDS)), first))
            self.store(self.result(k, description), self.at(output_list, self.words(k)))
        self.call(KERNEL, VOID, input_list, output_list, self.context(WORKSPACE, POINTER))
        self.give_back()
        self.start(self.slow)
        self.ret(self.call(VECTORCALL, POINTER, self.context(FALLBACK, POINTER), self.args, self.nargs, self.kwnames))
        self.start(self.fail)
        with self.loop(self.outputs) as k:
            self.drop(self.word(self.results, self.words(k), POINTER))
        self.ret(NULL)

    def drop(self, reference: LlvmValue) -> None:
        """Give up a reference unless it is NULL."""
        with self.only_if(self.differ(reference, NULL)):
            self.call(DECREF, VOID, reference)

    def accept(self, argument: LlvmValue, description: LlvmValue) -> LlvmValue:
        """The address of the argument's first double; the slow route if it is not exactly what the kernel wants."""
        kind, rank = self.word(argument, abi.OBJECT_TYPE), self.word(description, 0)
        number, array, join = self.label("number"), self.label("array"), self.label("join")
        self.branch_if(self.same(rank, 0), number, array)
        self.start(number)
        is_number = self.or_(self.same(kind, self.context(FLOAT_TYPE)), self.same(kind, self.context(FLOAT64_TYPE)))
        self.require(is_number, self.slow)
        number_data, number_end = self.at(argument, abi.FLOAT_VALUE), self.block
        self.branch(join)
        self.start(array)
        self.require(self.same(kind, self.context(ARRAY_TYPE)), self.slow)
        self.require(self.same(self.word(argument, abi.ARRAY_DTYPE), self.context(DTYPE)), self.slow)
        wanted = abi.C_CONTIGUOUS | abi.ALIGNED
        flags = self.and_(self.word(argument, abi.ARRAY_FLAGS, INT32), integer(wanted, INT32))
        self.require(self.same(flags, wanted), self.slow)
        self.require_shape(argument, description, rank, self.slow)
        array_data, array_end = self.word(argument, abi.ARRAY_DATA, POINTER), self.block
        self.branch(join)
        self.start(join)
        return self.either((number_data, number_end), (array_data, array_end))

    def require_shape(self, array: LlvmValue, description: LlvmValue, rank: LlvmValue, otherwise: str) -> None:
        """Go on if the array has the described shape (rank ≥ 1)."""
        self.require(self.same(self.convert("sext", self.word(array, abi.ARRAY_RANK, INT32), INT64), rank), otherwise)
        shape, expected = self.word(array, abi.ARRAY_SHAPE, POINTER), self.at(description, 8)
        with self.loop(rank) as axis:
            offset = self.words(axis)
            self.require(self.same(self.word(shape, offset), self.word(expected, offset)), otherwise)

    def result(self, k: LlvmValue, description: LlvmValue) -> LlvmValue:
        """Where the kernel shall write result ``k``; its array, if it is one, goes into ``results``."""
        rank = self.word(description, 0)
        number, array, join = self.label("number"), self.label("array"), self.label("join")
        self.branch_if(self.same(rank, 0), number, array)
        self.start(number)
        number_data = self.at(self.numbers, self.words(k))
        self.branch(join)
        self.start(array)
        taken, have = self.label("taken"), self.label("have")
        candidate = self.remembered(description, rank, taken)
        fresh = self.fresh(description, rank)
        fresh_end = self.block
        self.branch(have)
        self.start(taken)
        self.call(INCREF, VOID, candidate)
        self.branch(have)
        self.start(have)
        chosen = self.either((fresh, fresh_end), (candidate, taken))
        self.store(chosen, self.at(self.results, self.words(k)))
        array_data = self.word(chosen, abi.ARRAY_DATA, POINTER)
        self.branch(join)
        self.start(join)
        return self.either((number_data, number), (array_data, have))

    def remembered(self, description: LlvmValue, rank: LlvmValue, taken: str) -> LlvmValue:
        """Jump to ``taken`` with the first remembered array that nobody else holds and nobody has altered."""
        with self.loop(integer(POOL)) as slot:
            following = self.label("next_slot")
            candidate = self.word(self.at(description, 8 * OUT_POOL), self.words(slot), POINTER)
            self.require(self.differ(candidate, NULL), following)
            self.require(self.same(self.word(candidate, 0, INT32), 1), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_BASE), 0), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_WEAK), 0), following)
            self.require(self.same(self.word(candidate, abi.ARRAY_DTYPE), self.context(DTYPE)), following)
            flags = self.convert("zext", self.word(candidate, abi.ARRAY_FLAGS, INT32), INT64)
            self.require(self.same(flags, self.word(description, 8 * OUT_FLAGS)), following)
            self.require_shape(candidate, description, rank, following)
            self.branch(taken)
            self.start(following)
        return candidate

    def fresh(self, description: LlvmValue, rank: LlvmValue) -> LlvmValue:
        """A new array from NumPy, remembered if the context says so."""
        dtype = self.context(DTYPE, POINTER)
        self.call(INCREF, VOID, dtype)  # NumPy takes this reference
        kind, shape = self.context(ARRAY_TYPE, POINTER), self.at(description, 8)
        zero = integer(0, INT32)
        array = self.call(
            NEW_ARRAY, POINTER, kind, dtype, self.convert("trunc", rank, INT32), shape, NULL, NULL, zero, NULL
        )
        self.require(self.differ(array, NULL), self.fail)
        keep, done = self.label("keep"), self.label("kept")
        self.branch_if(self.same(self.context(REMEMBER), 0), done, keep)
        self.start(keep)
        self.call(INCREF, VOID, array)
        slot = self.word(description, 8 * OUT_NEXT)
        self.store(self.and_(self.add(slot, integer(1)), integer(POOL - 1)), self.at(description, 8 * OUT_NEXT))
        place = self.at(self.at(description, 8 * OUT_POOL), self.words(slot))
        old = self.load(place, POINTER)
        self.store(array, place)  # before the old one goes: that may run Python code
        self.drop(old)
        self.branch(done)
        self.start(done)
        return array

    def give_back(self) -> None:
        """Turn numbers into NumPy scalars and return one object, or a tuple of several."""
        with self.loop(self.outputs) as k:
            place = self.at(self.results, self.words(k))
            convert, done = self.label("convert"), self.label("converted")
            self.branch_if(self.same(self.load(place, POINTER), NULL), convert, done)
            self.start(convert)
            data = self.at(self.numbers, self.words(k))
            scalar = self.call(NEW_SCALAR, POINTER, data, self.context(DTYPE, POINTER), NULL)
            self.require(self.differ(scalar, NULL), self.fail)
            self.store(scalar, place)
            self.branch(done)
            self.start(done)
        one, several = self.label("one"), self.label("several")
        self.branch_if(self.same(self.outputs, 1), one, several)
        self.start(one)
        self.ret(self.word(self.results, 0, POINTER))
        self.start(several)
        group = self.call(TUPLE_NEW, POINTER, self.outputs)
        self.require(self.differ(group, NULL), self.fail)
        with self.loop(self.outputs) as k:
            self.call(TUPLE_SET, INT32, group, k, self.word(self.results, self.words(k), POINTER))
        self.ret(group)

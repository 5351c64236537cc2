"""LLVM functions written as text.

:class:`FunctionText` is one function being written, line by line. :class:`LlvmBuilder` adds values that know their LLVM type, for code
that is written by hand: the elementary functions, the entries that Python calls. (The functions of a graph are large and all of
one type; ``llvm/graph_text.py`` writes them without such values.) A module is the text of its functions.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


class Type(NamedTuple):
    """An LLVM type: one ``element``, or a vector of ``width`` of them."""

    element: str
    width: int = 1

    def __str__(self) -> str:
        return self.element if self.width == 1 else f"<{self.width} x {self.element}>"


VOID, INT32, INT64, DOUBLE, POINTER = map(Type, ("void", "i32", "i64", "double", "ptr"))


class LlvmValue(NamedTuple):
    """Something an instruction may use: its LLVM type and what stands for it."""

    type: Type
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


class ModuleText(NamedTuple):
    """The text of an LLVM module, and what it is called in messages; ``in_order``: its operations are best left in the order they stand in."""

    name: str
    text: str
    in_order: bool = False


NULL = LlvmValue(POINTER, "null")


def hexadecimal(x: float) -> str:
    """A double as LLVM writes it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def integer(value: int, type: Type = INT64) -> LlvmValue:
    """An integer constant."""
    return LlvmValue(type, str(value))


class FunctionText:
    """The text of one function; ``block`` is the label of the basic block that is being written."""

    def __init__(self, head: str) -> None:
        self.head = head
        self.lines = ["entry:"]
        self.block = "entry"
        self.counter = 0

    def let(self, text: str) -> str:
        """A new name for the result of an instruction."""
        self.counter += 1
        name = f"%t{self.counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + text)

    def label(self, stem: str) -> str:
        """A name for a block that is not started yet."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def text(self, attributes: str = "nounwind") -> str:
        """The whole function."""
        return f"{self.head} {attributes} {{\n" + "\n".join(self.lines) + "\n}\n"


def _operation(name: str) -> Callable[[LlvmBuilder, LlvmValue, LlvmValue], LlvmValue]:
    def write(self: LlvmBuilder, a: LlvmValue, b: LlvmValue) -> LlvmValue:
        return LlvmValue(a.type, self.let(f"{name} {a}, {b.name}"))

    write.__doc__ = f"The LLVM instruction ``{name}`` on two values of one type."
    return write


class LlvmBuilder(FunctionText):
    """A function written by hand; ``arguments`` are its arguments."""

    def __init__(self, symbol: str, result: Type, arguments: Sequence[Type], linkage: str = "") -> None:
        self.arguments = [LlvmValue(kind, f"%a{k}") for k, kind in enumerate(arguments)]
        super().__init__(f"define {linkage} {result} @{symbol}({', '.join(map(str, self.arguments))})")

    add, sub, mul = _operation("add"), _operation("sub"), _operation("mul")
    shl, lshr, ashr = _operation("shl"), _operation("lshr"), _operation("ashr")
    and_, or_, xor = _operation("and"), _operation("or"), _operation("xor")
    fadd, fsub, fmul, fdiv = _operation("fadd"), _operation("fsub"), _operation("fmul"), _operation("fdiv")

    # --- values ------------------------------------------------------------------------------------------------------
    def compare(self, instruction: str, a: LlvmValue, b: LlvmValue) -> LlvmValue:
        """``icmp eq``, ``fcmp olt`` …: a bit for each lane."""
        return LlvmValue(Type("i1", a.type.width), self.let(f"{instruction} {a}, {b.name}"))

    def same(self, a: LlvmValue, b: LlvmValue | int) -> LlvmValue:
        """a = b, for integers and pointers."""
        return self.compare("icmp eq", a, integer(b, a.type) if isinstance(b, int) else b)

    def differ(self, a: LlvmValue, b: LlvmValue | int) -> LlvmValue:
        """a ≠ b, for integers and pointers."""
        return self.compare("icmp ne", a, integer(b, a.type) if isinstance(b, int) else b)

    def select(self, condition: LlvmValue, a: LlvmValue, b: LlvmValue) -> LlvmValue:
        """``a`` where the condition holds, else ``b``."""
        return LlvmValue(a.type, self.let(f"select {condition}, {a}, {b}"))

    def convert(self, instruction: str, a: LlvmValue, type: Type) -> LlvmValue:
        """``bitcast``, ``sext``, ``trunc`` … to another type."""
        return LlvmValue(type, self.let(f"{instruction} {a} to {type}"))

    def extract(self, vector: LlvmValue, lane: int) -> LlvmValue:
        """Lane number ``lane`` of a vector."""
        return LlvmValue(Type(vector.type.element), self.let(f"extractelement {vector}, i32 {lane}"))

    def insert(self, vector: LlvmValue, value: LlvmValue, lane: int) -> LlvmValue:
        """The vector with one lane replaced."""
        return LlvmValue(vector.type, self.let(f"insertelement {vector}, {value}, i32 {lane}"))

    def call_symbol(self, symbol: str, result: Type, *arguments: LlvmValue) -> LlvmValue:
        """Call a function by what stands for it: ``@name``, or a pointer."""
        text = f"call {result} {symbol}({', '.join(map(str, arguments))})"
        if result == VOID:
            self.do(text)
            return NULL
        return LlvmValue(result, self.let(text))

    # --- memory ------------------------------------------------------------------------------------------------------
    def alloca(self, type: Type, count: int = 1) -> LlvmValue:
        """Memory of this call."""
        return LlvmValue(POINTER, self.let(f"alloca {type}, i64 {count}"))

    def load(self, pointer: LlvmValue, type: Type, align: int = 8) -> LlvmValue:
        """What stands at an address."""
        return LlvmValue(type, self.let(f"load {type}, {pointer}, align {align}"))

    def store(self, value: LlvmValue, pointer: LlvmValue, align: int = 8) -> None:
        """Write to an address."""
        self.do(f"store {value}, {pointer}, align {align}")

    def at(self, base: LlvmValue, offset: LlvmValue | int) -> LlvmValue:
        """``base`` + ``offset`` bytes."""
        offset = integer(offset) if isinstance(offset, int) else offset
        return LlvmValue(POINTER, self.let(f"getelementptr i8, {base}, {offset}"))

    def words(self, index: LlvmValue) -> LlvmValue:
        """``index`` words of 64 bits, in bytes."""
        return self.shl(index, integer(3))

    def word(self, base: LlvmValue, offset: LlvmValue | int, type: Type = INT64) -> LlvmValue:
        """What stands ``offset`` bytes behind ``base``."""
        return self.load(self.at(base, offset), type, 4 if type == INT32 else 8)

    # --- the way through the function ----------------------------------------------------------------------------------
    def branch(self, label: str) -> None:
        """Go to a block."""
        self.do(f"br label %{label}")

    def branch_if(self, condition: LlvmValue, label: str, otherwise: str) -> None:
        """Go to one of two blocks."""
        self.do(f"br {condition}, label %{label}, label %{otherwise}")

    def ret(self, value: LlvmValue | None = None) -> None:
        """Return."""
        self.do("ret void" if value is None else f"ret {value}")

    def require(self, condition: LlvmValue, otherwise: str) -> None:
        """Go on if the condition holds, else to ``otherwise``."""
        go_on = self.label("go_on")
        self.branch_if(condition, go_on, otherwise)
        self.start(go_on)

    def either(self, *choices: tuple[LlvmValue, str]) -> LlvmValue:
        """The value that belongs to the block from which this one, which has just begun, was entered."""
        type = choices[0][0].type
        listed = ", ".join(f"[{value.name}, %{label}]" for value, label in choices)
        return LlvmValue(type, self.let(f"phi {type} {listed}"))

    @contextlib.contextmanager
    def only_if(self, condition: LlvmValue) -> Iterator[None]:
        """What is written inside runs only if the condition holds."""
        inside, after = self.label("inside"), self.label("after")
        self.branch_if(condition, inside, after)
        self.start(inside)
        yield
        self.branch(after)
        self.start(after)

    @contextlib.contextmanager
    def loop(self, count: LlvmValue) -> Iterator[LlvmValue]:
        """Repeat what is written inside for 0 … ``count`` − 1 (at least once); gives the index."""
        before, body, after = self.block, self.label("loop"), self.label("after_loop")
        self.branch(body)
        self.start(body)
        index = LlvmValue(INT64, f"%{self.label('i')}")
        place = len(self.lines)
        self.lines.append("")  # the index, completed at the end
        yield index
        following = self.add(index, integer(1))
        self.lines[place] = f"  {index.name} = phi i64 [0, %{before}], [{following.name}, %{self.block}]"
        self.branch_if(self.compare("icmp ult", following, count), body, after)
        self.start(after)


class ContextBuilder(LlvmBuilder):
    """A function that finds what it must know in a block of 64-bit words, the *context*, at the address ``block_of_words``."""

    block_of_words: LlvmValue

    def context(self, word: int, type: Type = INT64) -> LlvmValue:
        """A word of the context."""
        return self.word(self.block_of_words, 8 * word, type)

    def call(self, word: int, result: Type, *arguments: Any) -> LlvmValue:
        """Call the function whose address stands in a word of the context."""
        return self.call_symbol(self.context(word, POINTER).name, result, *arguments)

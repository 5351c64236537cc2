"""A thin layer over llvmlite's builder for code that walks through memory: addresses, words, loops, early exits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

I8, I32, I64, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
POINTER = ir.PointerType()
NULL = ir.Constant(POINTER, None)


def integer(value: int, kind: Any = I64) -> ir.Constant:
    """An integer constant."""
    return ir.Constant(kind, value)


class FunctionAt:
    """An address with a function type: what ``IRBuilder.call`` needs to know about its first argument."""

    def __init__(self, pointer: Any, function_type: ir.FunctionType) -> None:
        self.function_type, self.type, self._pointer = function_type, pointer.type, pointer

    def get_reference(self) -> str:
        return self._pointer.get_reference()


class Emission:
    """The body of ``function`` under construction; ``b`` is the builder, ``block`` the address of a context of words."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.b: Any = ir.IRBuilder(function.append_basic_block("entry"))
        self.block: Any = None

    def at(self, base: Any, offset: Any) -> Any:
        """``base`` + ``offset`` bytes."""
        return self.b.gep(base, [integer(offset) if isinstance(offset, int) else offset], source_etype=I8)

    def word(self, base: Any, offset: Any, kind: Any = I64) -> Any:
        """What stands ``offset`` bytes behind ``base``."""
        return self.b.load(self.at(base, offset), typ=kind)

    def context(self, word: int, kind: Any = I64) -> Any:
        """A word of the context."""
        return self.word(self.block, 8 * word, kind)

    def words(self, index: Any) -> Any:
        """``index`` words, in bytes."""
        return self.b.shl(index, integer(3))

    def call(self, word: int, result: Any, *arguments: Any) -> Any:
        """Call the function whose address stands in a word of the context."""
        pointer = self.context(word, POINTER)
        return self.b.call(FunctionAt(pointer, ir.FunctionType(result, [a.type for a in arguments])), arguments)

    def new_block(self, name: str) -> Any:
        """A basic block at the end of the function."""
        return self.function.append_basic_block(name)

    def go_to(self, block: Any) -> None:
        """Emit from here on into ``block``."""
        self.b.position_at_end(block)

    def require(self, condition: Any, otherwise: Any) -> None:
        """Go on if the condition holds, else to ``otherwise``."""
        go_on = self.new_block("go_on")
        self.b.cbranch(condition, go_on, otherwise)
        self.go_to(go_on)

    def same(self, a: Any, b: Any) -> Any:
        """a = b, for integers and pointers."""
        return self.b.icmp_unsigned("==", a, integer(b, a.type) if isinstance(b, int) else b)

    def differ(self, a: Any, b: Any) -> Any:
        """a ≠ b, for integers and pointers."""
        return self.b.icmp_unsigned("!=", a, integer(b, a.type) if isinstance(b, int) else b)

    def either(self, *choices: tuple[Any, Any]) -> Any:
        """The value that belongs to the block from which this one was entered."""
        value = self.b.phi(choices[0][0].type)
        for choice, block in choices:
            value.add_incoming(choice, block)
        return value

    @contextlib.contextmanager
    def only_if(self, condition: Any) -> Iterator[None]:
        """What is emitted inside runs only if the condition holds."""
        inside, after = self.new_block("inside"), self.new_block("after")
        self.b.cbranch(condition, inside, after)
        self.go_to(inside)
        yield
        self.b.branch(after)
        self.go_to(after)

    @contextlib.contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """Repeat what is emitted inside for 0 … ``count`` − 1 (at least once); gives the index."""
        before, body, after = self.b.block, self.new_block("loop"), self.new_block("after_loop")
        self.b.branch(body)
        self.go_to(body)
        index = self.b.phi(I64)
        index.add_incoming(integer(0), before)
        yield index
        following = self.b.add(index, integer(1))
        index.add_incoming(following, self.b.block)
        self.b.cbranch(self.b.icmp_unsigned("<", following, count), body, after)
        self.go_to(after)

"""A traced computation as a flat list of operations.

``graph.operations[i]`` is ``(code, args, data)``: value ``i`` is the result of operation ``code`` on the values
``args``, all of which have smaller numbers. ``graph.output_values[name]`` lists the values of an output in C order.

==============================  =============================================================================
code                            value
==============================  =============================================================================
``const``                       the number ``data``
``input``                       entry ``data = (name, flat index)`` of an input
``add sub mul div neg``         arithmetic
``fma fms fnma``                ``a·b + c``, ``a·b − c``, ``c − a·b`` rounded once (only after ``passes.lower``)
``sqrt abs floor sign``         as named
``sin cos tan asin acos atan``  as named; also ``sinh cosh tanh exp log``
``atan2 pow minimum maximum``   of two arguments
``lt le eq ne``                 truth value of a comparison
``and or not``                  truth values combined
``select``                      ``args[1]`` where ``args[0]`` holds, else ``args[2]``
``locate``                      the piece of a sorted array ``data`` that holds the argument (see tables.py)
``gather``                      entry ``data = (array, column)`` of row ``args[0]`` of an array (see tables.py)
``loop``                        ``data`` is a :class:`Loop`; its results are taken out by ``pick``
``pick``                        result number ``data`` of the loop ``args[0]``
``param``                       state number ``data[1]`` of the loop numbered ``data[0]``; −1 is the loop's index
``length``                      number of rows of the array ``data[0]``
==============================  =============================================================================

A computation without loops has ``graph.body == range(len(operations))`` and can be printed line by line. The body of a
loop is a list of operation numbers in the same list; what does not depend on the loop's variables is not in its body.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from manipula.lazy import cached_property

TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "atan2"})
OF_ARRAYS = frozenset({"locate", "gather", "length"})  # operations whose data begin with an array
_FREE = frozenset({"const", "input", "param", "pick", "loop"})


class Operation(NamedTuple):
    """One line of a graph."""

    code: str
    args: tuple[int, ...]
    data: Any


class Loop:
    """A counted (``repeat``) or an until-converged (``until``) loop.

    ``results[k]`` is the next value of state ``k``; ``stop`` is the condition that freezes a lane; ``record`` are the
    values written every ``every`` steps; ``steps`` is the number of steps (repeat) or the largest number of iterations
    (until). While tracing these are nodes; inside a graph they are numbers of operations, ``body`` is what every step
    computes and ``record_body`` what only the recorded steps need.
    """

    __slots__ = (
        "body", "depth", "every", "flat", "initial", "kind", "number", "params", "record", "record_body", "results", "steps",
        "stop",
    )  # fmt: skip

    def __init__(self, kind: str, number: int, depth: int) -> None:
        self.kind, self.number, self.depth = kind, number, depth
        self.flat = False  # while tracing: its results count as constants where derivatives are taken
        self.params: dict[int, Any] = {}  # while tracing: state number → its node, −1 → the node of the index
        self.initial: tuple[Any, ...] = ()
        self.results: tuple[Any, ...] = ()
        self.record: tuple[Any, ...] = ()
        self.stop: Any = None
        self.steps: Any = None
        self.every: Any = None
        self.body: list[int] = []
        self.record_body: list[int] = []

    def inner(self) -> Iterable[Any]:
        """Everything that the loop needs from its own body."""
        yield from self.results
        yield from self.record
        if self.stop is not None:
            yield self.stop

    def take(self, other: Loop, new: Any) -> None:
        """Become the same loop as ``other``, with ``new(value)`` in place of its values."""
        self.kind, self.flat = other.kind, other.flat
        self.initial, self.results, self.record = (
            tuple(map(new, v)) for v in (other.initial, other.results, other.record)
        )
        self.stop, self.steps, self.every = (
            None if v is None else new(v) for v in (other.stop, other.steps, other.every)
        )

    def mapped(self, new: Any) -> Loop:
        """The same loop with every value replaced by ``new(value)``."""
        loop = Loop(self.kind, self.number, self.depth)
        loop.take(self, new)
        loop.body = [new(v) for v in self.body]
        loop.record_body = [new(v) for v in self.record_body]
        return loop

    def __repr__(self) -> str:
        parts = (self.kind, self.number, self.initial, self.results, self.record, self.stop, self.steps, self.every)
        return f"Loop{(*parts, self.body, self.record_body)}"


class Sampled(NamedTuple):
    """An output filled by a loop: columns ``start … start+width`` of what loop operation ``loop`` records.

    There are ``steps // every + 1`` samples; each of the two is a number, or the name of the input that has it.
    """

    loop: int
    start: int
    shape: tuple[int, ...]
    steps: int | str
    every: int | str


class Graph:
    """Inputs, a list of operations, outputs."""

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, tuple],
        shared: Iterable[str],
        operations: list[Operation],
        body: list[int],
        outputs: Mapping[str, tuple],
        output_values: dict[str, list[int]],
        sampled: dict[str, Sampled],
    ) -> None:
        self.name = name
        self.inputs = dict(inputs)
        self.shared = tuple(n for n in inputs if n in set(shared))
        self.operations = operations
        self.body = body
        self.outputs = dict(outputs)
        self.output_values = output_values
        self.sampled = sampled
        counters = {v for loop in self.loops() for v in (loop.steps, loop.every) if v is not None}
        self.counters = frozenset(operations[v].data[0] for v in counters if operations[v].code == "input")

    def __repr__(self) -> str:
        def shapes(d: Mapping[str, tuple]) -> str:
            return ", ".join(f"{k}{v}" for k, v in d.items())

        return f"Graph {self.name}: {shapes(self.inputs)} -> {shapes(self.outputs)}, {len(self.operations)} operations"

    def loops(self) -> list[Loop]:
        """Every loop, inner ones first."""
        return [op.data for op in self.operations if op.code == "loop"]

    def operation_count(self) -> dict[str, int]:
        """Operations by kind, each counted once however often a loop repeats it; changes of sign count as ``neg``."""
        count = {"add": 0, "mul": 0, "div": 0, "neg": 0, "sqrt": 0, "trig": 0, "other": 0}
        for code, _, _ in self.operations:
            if code in _FREE:
                continue
            if code in ("add", "sub"):
                count["add"] += 1
            elif code in ("fma", "fms", "fnma"):
                count["add"] += 1
                count["mul"] += 1
            elif code in TRIGONOMETRIC:
                count["trig"] += 1
            elif code in count:
                count[code] += 1
            else:
                count["other"] += 1
        count["total"] = sum(count.values())
        return count

    def evaluate(self, *args: Any, **arrays: Any) -> Any:
        """The outputs computed operation by operation with NumPy (slow; needs no compiler)."""
        from manipula.native.tracing.interpreter import evaluate

        names = list(self.inputs)
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} inputs ({', '.join(names)}), {len(args)} were given")
        return evaluate(self, {**dict(zip(names, args)), **arrays})

    def digest(self) -> bytes:
        """A fingerprint of everything that the machine code depends on, the same in every process."""
        return self._digest

    @cached_property
    def _digest(self) -> bytes:
        text = hashlib.sha256()
        text.update(repr((self.inputs, self.shared, self.outputs, self.output_values, self.sampled)).encode())
        arrays: dict[int, bytes] = {}
        for code, args, data in self.operations:
            if code in OF_ARRAYS:
                array = data[0]
                if id(array) not in arrays:
                    arrays[id(array)] = array.digest()
                text.update(f"{code}{args}{_written(data[1:])}".encode())
                text.update(arrays[id(array)])
            else:
                text.update(f"{code}{args}{_written(data)};".encode())
        text.update(repr(self.body).encode())
        return text.digest()


def _written(data: Any) -> str:
    """What an operation carries, as text without addresses.

    Raises:
        TypeError: for anything whose text could differ from process to process.
    """
    if data is None or type(data) in (float, int, str, bool, Loop):
        return repr(data)
    if isinstance(data, tuple):
        return f"({','.join(map(_written, data))})"
    if isinstance(data, (float, int)):  # numbers of NumPy, which print themselves with their type
        return repr(float(data))
    raise TypeError(f"an operation carries a {type(data).__name__}, which has no fingerprint")


def core_size(shape: tuple) -> int:
    """Number of scalars in an array of a fixed shape."""
    return math.prod(shape)

"""NetCDF in its classic form, which every reader of NetCDF knows: 64-bit offsets (CDF-2), or 64-bit data (CDF-5) when that is not enough.

A header lists dimensions, attributes and variables with the place of their numbers; the numbers follow, uncompressed, big-endian. So
everything about the size of a file is known from its header, and nothing is allocated before the file was seen to be as long as that.

CDF-2 holds variables of up to 4 GiB, and one of any size when it comes last; CDF-5 has no such limits, but not every reader knows it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from manipula.errors import BudgetError, DescriptionError, printable

DIMENSION, VARIABLE, ATTRIBUTE = 10, 11, 12
CHAR, DOUBLE = 2, 6
NUMBERS = {1: ">i1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8"}  # types of attributes and variables, CHAR apart
MOST_ENTRIES = 10_000  # dimensions, attributes or variables
LARGE = 2**32 - 4  # bytes that the size field of CDF-2 can say
BLOCK = 1 << 18


class Variable(NamedTuple):
    """Numbers (float64) or letters (bytes, S1) over named dimensions."""

    dims: tuple[str, ...]
    attributes: dict[str, str]
    data: np.ndarray


class Stored(NamedTuple):
    """A variable of a file: where its numbers are."""

    dims: tuple[str, ...]
    attributes: dict[str, Any]
    type: int
    shape: tuple[int, ...]
    begin: int

    @property
    def room(self) -> int:
        """Bytes up to the next variable."""
        return -(-math.prod(self.shape) * (1 if self.type == CHAR else 8) // 4) * 4


class NetcdfHeader(NamedTuple):
    """The header of a file."""

    dims: dict[str, int]
    attributes: dict[str, Any]
    variables: dict[str, Stored]


def write(stream: IO[bytes], dims: Mapping[str, int], attributes: Mapping[str, str], variables: Mapping[str, Variable],
          large: int = LARGE) -> None:  # fmt: skip
    """A whole file."""
    head, begin, end = planned(dims, attributes, variables, large)
    stream.write(head)
    for name, following in zip(begin, [*list(begin.values())[1:], end]):
        flat = variables[name].data.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            block = flat[start : start + BLOCK]
            stream.write(block.astype(">f8" if _width(variables[name]) == 8 else "S1").tobytes())
        stream.write(b"\0" * (following - begin[name] - _width(variables[name]) * flat.size))


def planned(dims: Mapping[str, int], attributes: Mapping[str, str], variables: Mapping[str, Variable],
            large: int = LARGE) -> tuple[bytes, dict[str, int], int]:  # fmt: skip
    """The header, where each variable begins (in the order of the file), and the length of the file.

    Variables of more than ``large`` bytes come last; when there are several, the file is CDF-5.
    """
    size = {name: -(-_width(v) * v.data.size // 4) * 4 for name, v in variables.items()}
    ordered = sorted(variables, key=lambda name: size[name] > large)
    wide = sum(s > large for s in size.values()) > 1 or max(dims.values(), default=1) >= 2**31
    place = len(_header(dims, attributes, variables, dict.fromkeys(ordered, 0), size, wide))
    begin = {}
    for name in ordered:
        begin[name] = place
        place += size[name]
    return _header(dims, attributes, variables, begin, size, wide), begin, place


def _width(variable: Variable) -> int:
    return 1 if variable.data.dtype.kind == "S" else 8


def _header(dims: Mapping[str, int], attributes: Mapping[str, str], variables: Mapping[str, Variable],
            begin: Mapping[str, int], size: Mapping[str, int], wide: bool) -> bytes:  # fmt: skip
    count = ">q" if wide else ">I"
    number = lambda k: struct.pack(count, k)  # noqa: E731
    tag = lambda k, entries: struct.pack(">I", k if entries else 0) + number(entries)  # noqa: E731
    padded = lambda raw: number(len(raw)) + raw + b"\0" * (-len(raw) % 4)  # noqa: E731

    def listed(pairs: Mapping[str, str]) -> bytes:
        texts = [(name.encode(), value.encode()) for name, value in pairs.items()]
        return tag(ATTRIBUTE, len(texts)) + b"".join(padded(n) + struct.pack(">I", CHAR) + padded(v) for n, v in texts)

    numbers = {name: k for k, name in enumerate(dims)}
    parts = [b"CDF" + (b"\5" if wide else b"\2"), number(0), tag(DIMENSION, len(dims))]
    parts += [padded(name.encode()) + number(length) for name, length in dims.items()]
    parts += [listed(attributes), tag(VARIABLE, len(begin))]
    for name in begin:
        v = variables[name]
        told = size[name] if wide or size[name] <= LARGE else 2**32 - 1
        parts += [padded(name.encode()), number(len(v.dims)), *(number(numbers[d]) for d in v.dims), listed(v.attributes),
                  struct.pack(">I", CHAR if _width(v) == 1 else DOUBLE), number(told), struct.pack(">q", begin[name])]  # fmt: skip
    return b"".join(parts)


class _Cursor:
    """Reads a header field by field, never further than the file and its budget reach."""

    def __init__(self, stream: IO[bytes], end: int, limit: int) -> None:
        self.stream, self.end, self.limit, self.place = stream, end, limit, 0
        self.count = ">I"

    def raw(self, length: int) -> bytes:
        self.place += length
        if self.place > self.limit < self.end:
            raise BudgetError(f"The header has more than {self.limit} bytes.")
        found = self.stream.read(length) if self.place <= self.end else b""
        if len(found) != length:
            raise DescriptionError("The file ends inside its header.")
        return found

    def number(self, form: str = "") -> int:
        form = form or self.count
        (found,) = struct.unpack(form, self.raw(struct.calcsize(form)))
        if found < 0:
            raise DescriptionError("A size in the header is negative.")
        return found

    def padded(self, length: int) -> bytes:
        found = self.raw(length + -length % 4)
        if found[length:].strip(b"\0"):
            raise DescriptionError("The header holds something between its entries.")
        return found[:length]

    def text(self) -> str:
        return self.padded(self.number()).decode("utf-8")

    def entries(self, kind: int) -> range:
        tag, count = self.number(">I"), self.number()
        if tag != (kind if count else 0) or count > MOST_ENTRIES:
            raise DescriptionError(f"The header is damaged: a list is marked {tag} and has {count} entries.")
        return range(count)

    def attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in self.entries(ATTRIBUTE):
            name, kind, count = self.text(), self.number(">I"), self.number()
            if kind == CHAR:
                value: Any = self.padded(count).decode("utf-8")
            elif kind in NUMBERS:
                value = tuple(
                    np.frombuffer(self.padded(count * np.dtype(NUMBERS[kind]).itemsize), NUMBERS[kind]).tolist()
                )
            else:
                raise DescriptionError(f"Attribute '{printable(name)}' has the unknown type {kind}.")
            _once(found, name)
            found[name] = value
        return found


def _once(known: Mapping[str, Any], name: str) -> None:
    if name in known:
        raise DescriptionError(f"The header names '{printable(name)}' twice.")


def read_layout(stream: IO[bytes], end: int, limit: int) -> NetcdfHeader:
    """The header of a file of ``end`` bytes; every variable is inside the file, none overlaps another, nothing lies behind them."""
    cursor = _Cursor(stream, end, limit)
    magic = cursor.raw(4)
    if magic not in (b"CDF\2", b"CDF\5"):
        raise DescriptionError("This is not a classic NetCDF file (CDF-2 or CDF-5).")
    cursor.count = ">q" if magic == b"CDF\5" else ">I"
    if cursor.number():
        raise DescriptionError("The file has records, which results do not have.")
    dims: dict[str, int] = {}
    for _ in cursor.entries(DIMENSION):
        name = cursor.text()
        _once(dims, name)
        dims[name] = cursor.number()
    names = list(dims)
    attributes = cursor.attributes()
    variables: dict[str, Stored] = {}
    for _ in cursor.entries(VARIABLE):
        name = cursor.text()
        _once(variables, name)
        numbers = [cursor.number() for _ in range(min(cursor.number(), 99))]
        if any(k >= len(names) or not dims[names[k]] for k in numbers):
            raise DescriptionError(f"Variable '{printable(name)}' has a dimension that does not exist or is empty.")
        own, kind, told = cursor.attributes(), cursor.number(">I"), cursor.number()
        over = tuple(names[k] for k in numbers)
        variables[name] = stored = Stored(over, own, kind, tuple(dims[d] for d in over), cursor.number(">q"))
        if kind not in (CHAR, DOUBLE) or told != (
            stored.room if magic == b"CDF\5" or stored.room <= LARGE else 2**32 - 1
        ):
            raise DescriptionError(f"The header is damaged: variable '{printable(name)}' has another type or length.")
    place = cursor.place
    for name, v in sorted(variables.items(), key=lambda item: item[1].begin):
        if v.begin != place:
            raise DescriptionError(f"The header is damaged: variable '{printable(name)}' is not where it should be.")
        place += v.room
    if place != end:
        raise DescriptionError(f"The file has {end} bytes, its header says {place}.")
    return NetcdfHeader(dims, attributes, variables)


def numbers(stream: IO[bytes], variable: Stored) -> np.ndarray:
    """The numbers of a variable, block by block."""
    if variable.type != DOUBLE:
        raise DescriptionError("A variable holds letters where numbers are needed.")
    out = np.empty(math.prod(variable.shape))
    stream.seek(variable.begin)
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        part[:] = np.frombuffer(stream.read(8 * part.size), ">f8")
    return out.reshape(variable.shape)


def texts(stream: IO[bytes], variable: Stored) -> list[str]:
    """The rows of a variable of letters, and whatever is between it and the next one must be nothing."""
    if variable.type != CHAR or len(variable.shape) != 2:
        raise DescriptionError("A variable holds numbers where labels are needed.")
    rows, width = variable.shape
    stream.seek(variable.begin)
    raw = stream.read(rows * width)
    if stream.read(-rows * width % 4).strip(b"\0"):
        raise DescriptionError("The file holds something between its variables.")
    return [raw[k * width : (k + 1) * width].rstrip(b"\0").decode("utf-8") for k in range(rows)]


def letters(values: Sequence[str]) -> np.ndarray:
    """Texts as an array of single letters, (count, width)."""
    raw = [v.encode() for v in values]
    width = max(1, *(len(r) for r in raw))
    return np.frombuffer(b"".join(r.ljust(width, b"\0") for r in raw), "S1").reshape(len(raw), width)

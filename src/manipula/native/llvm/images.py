"""Object code made ready to run: laid out once, by the process that compiled it, and only mapped by the others.

``image_of`` puts the sections of an ELF object for x86-64 behind one another and fills in every distance between them. What is left for
the loader are a few absolute addresses: of functions of the C library, which are called through slots of eight bytes, and of
places in the image. ``load_image`` copies it into memory of its own, fills these in and makes the memory executable and
read-only. Objects of other kinds, and anything unusual in one, give no image: LLVM links them.

The format of objects and their relocations: System V Application Binary Interface, AMD64 Architecture Processor Supplement, §4.4.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import struct
import sys
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from manipula.errors import CompileError, printable
from manipula.native.mathlib.library import LIBM_SYMBOLS

MAGIC = b"MNPIMG\x00\x01"
X86_64, RELOCATABLE, LITTLE_64 = 62, 1, b"\x7fELF\x02\x01"
PROGBITS, SYMTAB, RELA, REL = 1, 2, 4, 9
WRITE, ALLOC = 1, 2
ABSOLUTE_64, PC_32, PLT_32, GOT_PC, PC_64, GOT_PC_RELAXED, GOT_PC_RELAXED_REX = 1, 2, 4, 9, 24, 41, 42
JUMP = b"\xff\x25"  # jmp *distance(%rip)
SLOT = 8  # bytes of an address, and of a jump through one
CODEGEN_CALLS = ("fma", "floor", "memcpy", "memset", "memmove")
"""What the code generator may call on its own: ``fma`` and ``floor`` where the processor has no such instruction."""


class LoadedCode:
    """Linked object code: ``code["name"]`` is the address of a function. Keep it alive while addresses are in use."""

    def __init__(self, owner: Any, addresses: Mapping[str, int]) -> None:
        self._owner, self.addresses = owner, dict(addresses)

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


@functools.cache
def external_symbols() -> Mapping[str, int]:
    """Name → address of everything object code may call."""
    if sys.platform == "win32":
        library = ctypes.CDLL("ucrtbase")
    else:
        library = ctypes.CDLL(None)
        if not hasattr(library, "sin"):
            from ctypes.util import find_library  # imports much; hardly ever needed

            library = ctypes.CDLL(find_library("m"))
    wanted = {**LIBM_SYMBOLS, **{name: name for name in CODEGEN_CALLS}}
    found = {symbol: getattr(library, name, None) for symbol, name in wanted.items()}
    return {s: ctypes.cast(f, ctypes.c_void_p).value or 0 for s, f in found.items() if f is not None}


def is_image(code: bytes) -> bool:
    """Is it an image, and no object?"""
    return code.startswith(MAGIC)


def image_of(object_code: bytes) -> bytes | None:
    """The image of an object, or ``None`` where there is anything in it that is not known here."""
    try:
        return _ImageLayout(object_code).image()
    except (_UnusualObject, struct.error, IndexError, ValueError, OverflowError):
        return None


class _UnusualObject(Exception):
    """Something in an object that an image cannot have."""


class _ImageLayout:
    """One object and the places of its sections in the image."""

    def __init__(self, data: bytes) -> None:
        kind, machine = struct.unpack_from("<HH", data, 16)
        if data[:6] != LITTLE_64 or kind != RELOCATABLE or machine != X86_64:
            raise _UnusualObject
        self.data, self.content = data, bytearray()
        (table,), (size, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * k) for k in range(count)]
        self.names = self.bytes_of(self.sections[names])
        self.place: dict[int, int] = {}
        for k, section in enumerate(self.sections):
            name, kind, flags, _, _, _, _, _, alignment, _ = section
            title = _text(self.names, name)
            if not flags & ALLOC or title.startswith(".eh_frame"):  # what unwinds stacks: no function here throws
                continue
            changes = flags & WRITE and not title.startswith(".data.rel.ro")
            if kind != PROGBITS or alignment > mmap.PAGESIZE or changes:
                raise _UnusualObject
            self.align(max(1, alignment))
            self.place[k] = len(self.content)
            self.content += self.bytes_of(section)
        (symbols,) = [section for section in self.sections if section[1] == SYMTAB]
        rows, strings = self.bytes_of(symbols), self.bytes_of(self.sections[symbols[6]])
        self.symbols = [struct.unpack_from("<IBBHQQ", rows, at) for at in range(0, len(rows), 24)]
        self.title = [_text(strings, symbol[0]) for symbol in self.symbols]
        self.absolute: list[tuple[int, int]] = []  # place, what stands there counted from the beginning
        self.external: list[tuple[int, str]] = []  # place, whose address stands there
        self.slots: dict[int, int] = {}
        self.jumps: dict[int, int] = {}

    def bytes_of(self, section: tuple) -> bytes:
        _, _, _, _, offset, size, *_ = section
        found = self.data[offset : offset + size]
        if len(found) != size:
            raise _UnusualObject
        return found

    def align(self, to: int) -> None:
        self.content += bytes(-len(self.content) % to)

    def image(self) -> bytes:
        for section in self.sections:
            if section[1] == REL and section[7] in self.place:
                raise _UnusualObject
            if section[1] == RELA and section[7] in self.place:
                rows = self.bytes_of(section)
                for at in range(0, len(rows), 24):
                    offset, information, addend = struct.unpack_from("<QQq", rows, at)
                    self.relocate(self.place[section[7]] + offset, information & 0xFFFFFFFF, information >> 32, addend)
        exports = {
            title: self.where(k)
            for k, (title, symbol) in enumerate(zip(self.title, self.symbols))
            if title and symbol[1] >> 4 == 1 and symbol[3] in self.place
        }
        head = json.dumps({"exports": exports, "absolute": self.absolute, "external": self.external}).encode()
        return MAGIC + struct.pack("<I", len(head)) + head + bytes(self.content)

    def where(self, symbol: int) -> int | None:
        """The place of a symbol, ``None`` of one from outside."""
        section = self.symbols[symbol][3]
        if section == 0:
            return None
        if section not in self.place:
            raise _UnusualObject
        return self.place[section] + self.symbols[symbol][4]

    def slot(self, symbol: int) -> int:
        """Eight bytes that hold the address of a symbol."""
        if symbol not in self.slots:
            self.align(SLOT)
            self.slots[symbol] = len(self.content)
            self.content += bytes(SLOT)
            self.address(self.slots[symbol], symbol, 0)
        return self.slots[symbol]

    def jump(self, symbol: int) -> int:
        """A jump to a symbol from outside, however far away it is."""
        if symbol not in self.jumps:
            slot = self.slot(symbol)
            self.align(SLOT)
            self.jumps[symbol] = at = len(self.content)
            self.content += JUMP + struct.pack("<i", slot - at - 6) + b"\xcc\xcc"
        return self.jumps[symbol]

    def address(self, at: int, symbol: int, addend: int) -> None:
        """The loader writes the address of a symbol to ``at``."""
        place = self.where(symbol)
        if place is not None:
            self.absolute.append((at, place + addend))
        elif addend or self.title[symbol] not in external_symbols():
            raise _UnusualObject
        else:
            self.external.append((at, self.title[symbol]))

    def relocate(self, at: int, kind: int, symbol: int, addend: int) -> None:
        if kind == ABSOLUTE_64:
            self.address(at, symbol, addend)
            return
        if kind in (GOT_PC, GOT_PC_RELAXED, GOT_PC_RELAXED_REX):
            target: int | None = self.slot(symbol)
        elif kind in (PC_32, PLT_32, PC_64):
            target = self.where(symbol)
            if target is None and kind == PLT_32:
                target = self.jump(symbol)
        else:
            raise _UnusualObject
        if target is None:
            raise _UnusualObject
        struct.pack_into("<q" if kind == PC_64 else "<i", self.content, at, target + addend - at)


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode() if at < len(table) else ""


def load_image(image: bytes, names: Iterable[str]) -> LoadedCode:
    """Map an image into the process and look up the functions ``names``.

    Raises:
        CompileError: the bytes are no image, a function is missing, or the system gives no executable memory.
    """
    begin = len(MAGIC) + 4
    try:
        (length,) = struct.unpack_from("<I", image, len(MAGIC))
        head, content = json.loads(image[begin : begin + length]), bytearray(image[begin + length :])
        places = {name: int(head["exports"][name]) for name in names}
        outside = external_symbols()
        base, owner = _reserved(len(content))
        for at, place in head["absolute"]:
            struct.pack_into("<Q", content, at, base + place)
        for at, name in head["external"]:
            struct.pack_into("<Q", content, at, outside[name])
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CompileError(f"Stored machine code could not be loaded: {printable(error, 200)}.") from error
    ctypes.memmove(base, bytes(content), len(content))
    if _system().mprotect(base, max(1, len(content)), mmap.PROT_READ | mmap.PROT_EXEC):
        raise CompileError("The system gives no executable memory to this process.")
    return LoadedCode(owner, {name: base + place for name, place in places.items()})


class _CodePages:
    """Pages of this process; they go with the last who holds this, and never while the program ends."""


def _reserved(size: int) -> tuple[int, _CodePages]:
    """The address of new pages that can be written to, and who owns them."""
    if sys.platform != "linux":
        raise CompileError("Images are mapped on Linux only.")
    size = max(1, size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    base = _system().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if base in (None, ctypes.c_void_p(-1).value):
        raise CompileError("The system gives no memory for machine code.")
    owner = _CodePages()
    weakref.finalize(owner, _system().munmap, base, size).atexit = False
    return base, owner


@functools.cache
def _system() -> Any:
    """The C library's functions for pages of memory."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    library.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library

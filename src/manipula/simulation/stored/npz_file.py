"""Results as ``.npz``: ``numpy.load("run.npz")["q"]``; the header is the text ``manipula``."""

from __future__ import annotations

import math
import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from manipula.errors import BudgetError, DescriptionError, printable
from manipula.simulation.result import Result
from manipula.simulation.stored import legacy
from manipula.simulation.stored.content import MAX_HEADER, check_size, closed, is_legacy, opened, parsed, sealed

MAX_DIRECTORY = 1 << 20  # bytes of the list of members
PIECE = 1 << 20


def write(result: Result, path: Path) -> None:
    """Write a result into an NPZ file."""
    arrays = {"manipula": np.array(sealed(result)), "t": result.t.astype(float, copy=False)}
    arrays |= {name: value.astype(float, copy=False) for name, value in result.arrays.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(value, order="C"), allow_pickle=False)


def read(path: Path, budget: int) -> Result:
    """The result in an NPZ file; one of more than ``budget`` numbers is refused."""
    with path.open("rb") as stream:
        _check_directory(stream, path.stat().st_size)
        with zipfile.ZipFile(stream) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if len(members) != len(archive.infolist()) or "manipula" not in members:
                raise DescriptionError("This is not a result of manipula: it has no header, or a member twice.")
            text = _text(archive, members.pop("manipula"))
            entries = parsed(text)
            if is_legacy(entries):
                shapes = {name: _declared(archive, info)[0] for name, info in members.items()}
                check_size(shapes, budget)
                arrays = {name: _numbers(archive, info, shapes[name]) for name, info in members.items()}
                t = arrays.pop("t")
                return legacy.closed(entries, t, {name.removeprefix("a_"): v for name, v in arrays.items()})
            header = opened(text, entries, budget)
            if set(members) != set(header.shapes):
                raise DescriptionError("The file is damaged: its arrays are not those that its header names.")
            return closed(header, {k: _numbers(archive, members[k], shape) for k, shape in header.shapes.items()})


def _check_directory(stream: IO[bytes], size: int) -> None:
    """The list of members is short; its size stands at the end of the file."""
    stream.seek(max(0, size - 42))
    tail = stream.read(42)
    if size < 42 or tail[20:24] != b"PK\5\6" or tail[40:] != b"\0\0":
        raise DescriptionError("This is not a result of manipula: the zip file is damaged, or ends in a comment.")
    length = struct.unpack("<I", tail[32:36])[0]
    if tail[:4] == b"PK\6\7":  # more than 4 GiB
        stream.seek(min(struct.unpack("<Q", tail[8:16])[0], size))
        record = stream.read(56).ljust(56, b"\0")
        length = struct.unpack("<Q", record[40:48])[0] if record[:4] == b"PK\6\6" else size
    if length > MAX_DIRECTORY:
        raise BudgetError(f"The list of members has {length} bytes, at most {MAX_DIRECTORY} are read.")
    stream.seek(0)


def _declared(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape and type that a member says it has, and the length of its own header."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DescriptionError(f"Member '{printable(info.filename)}' is compressed in an unknown way.")
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise DescriptionError(f"Member '{printable(info.filename)}' has an unknown version {version}.")
        shape, fortran, kind = readers[version](member)
        if fortran or kind.hasobject:
            raise DescriptionError(f"The file is damaged: member '{printable(info.filename)}' is no plain array.")
        length = member.tell()
    if info.file_size != length + math.prod(shape) * kind.itemsize:
        raise DescriptionError(f"Member '{printable(info.filename)}' is longer or shorter than it says.")
    return shape, kind, length


def _text(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    shape, kind, length = _declared(archive, info)
    if kind.kind != "U" or kind.str[0] != "<" or shape != ():
        raise DescriptionError("The header of the result is damaged: it is no text.")
    if info.file_size > 4 * MAX_HEADER:
        raise BudgetError(f"The header has {info.file_size} bytes, at most {4 * MAX_HEADER} are read.")
    with archive.open(info) as member:
        return member.read()[length:].decode("utf-32-le").rstrip("\0")


def _numbers(archive: zipfile.ZipFile, info: zipfile.ZipInfo, shape: tuple[int, ...]) -> np.ndarray:
    found, kind, length = _declared(archive, info)
    if found != shape or kind.str != "<f8":
        raise DescriptionError(f"Member '{printable(info.filename)}' has another shape or type than the header says.")
    out = np.empty(shape)
    room = out.reshape(-1).data.cast("B")
    with archive.open(info) as member:
        member.read(length)
        for start in range(0, len(room), PIECE):
            part = room[start : start + PIECE]
            part[:] = member.read(len(part))
        if member.read(1):  # also looks at the checksum
            raise DescriptionError(f"Member '{printable(info.filename)}' is longer than it says.")
    return out

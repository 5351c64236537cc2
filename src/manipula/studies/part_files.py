"""Part files: some runs of a study in one Parquet file that is whole or not there.

``runs-0000000000-0000000099-1a2b3c4d.parquet`` holds the runs 0 … 99; the last word is the CRC-32 of the file. It is written beside its
place, flushed to the disk, linked to its name, which fails where the name exists, and the folder is flushed. Its pages carry checksums, which are
verified when they are read. The bytes depend on the runs alone, so a part that is made twice is the same part.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from manipula.errors import CompileError, DescriptionError, printable

NAME = re.compile(r"runs-(\d{10,12})-(\d{10,12})-([0-9a-f]{8})\.parquet")
TEMPORARY = ".writing-"


class Part(NamedTuple):
    """A part file: runs ``first`` … ``last``, both included."""

    first: int
    last: int
    path: Path

    @property
    def crc(self) -> int:
        """What its name says."""
        return int(self.path.stem.rpartition("-")[2], 16)


def arrow() -> tuple[Any, Any]:
    """``pyarrow`` and ``pyarrow.parquet``; CompileError with the line that installs them."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise CompileError(
            "Studies are kept as Parquet, which needs pyarrow: pip install 'manipula[studies]'."
        ) from None
    return pyarrow, parquet


def write_part(folder: Path, first: int, last: int, table: Any) -> bool:
    """Publish a table as the part of some runs; whether it was new.

    Raises:
        DescriptionError: the folder cannot be written to (full, read-only); nothing half written is left in its place.
    """
    data = encoded(table)
    name = f"runs-{first:010d}-{last:010d}-{zlib.crc32(data):08x}.parquet"
    return publish(folder, name, data)


def encoded(table: Any) -> bytes:
    """The bytes of a Parquet file, with page checksums."""
    pa, parquet = arrow()
    sink = pa.BufferOutputStream()
    parquet.write_table(
        table, sink, compression="zstd", write_page_checksum=True, use_dictionary=_texts(pa, table), store_schema=True
    )
    return sink.getvalue().to_pybytes()


def _texts(pa: Any, table: Any) -> list[str]:
    return [f.name for f in table.schema if pa.types.is_string(f.type)]


def publish(folder: Path, name: str, data: bytes) -> bool:
    """Write a file that appears whole under its name, unless that exists; whether it did not."""
    target, part = folder / name, folder / f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}"
    try:
        try:
            with open(part, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            new = _linked(part, target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        flush_folder(folder)
    except OSError as problem:
        raise unwritable(problem, target) from None
    return new


def _linked(part: Path, target: Path) -> bool:
    try:
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError as problem:
        if problem.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, getattr(errno, "EOPNOTSUPP", -1)):
            raise
        if target.exists():  # a file system without hard links: equal bytes, so the last one may win
            return False
        os.replace(part, target)
    return True


def flush_folder(folder: Path) -> None:
    """The names in a folder reach the disk, where the system can do that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(problem: OSError, target: Path) -> DescriptionError:
    """A full disk, a folder without rights: what is there stays, and the study can go on later."""
    why = problem.strerror or printable(problem)
    return DescriptionError(
        f"The study stops here: {why}. Everything finished so far is kept; when there is room, resume it.",
        file=str(target),
    )


def listed(folder: Path) -> list[Part]:
    """The parts in a folder, by their names alone, in the order of their runs."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = NAME.fullmatch(entry.name)
                if match:
                    found.append(Part(int(match[1]), int(match[2]), folder / entry.name))
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda p: (p.first, -p.last, p.path.name))


def is_whole(part: Part) -> bool:
    """Has the file the bytes that its name promises?"""
    try:
        return zlib.crc32(part.path.read_bytes()) == part.crc
    except OSError:
        return False


class Taken(NamedTuple):
    """Rows of a part that no part before it has: runs ``first`` … ``last``."""

    first: int
    last: int
    part: Part


def covering(parts: Iterable[Part]) -> list[Taken]:
    """Which runs are read from which part, each once; parts of other chunk sizes may overlap."""
    out: list[Taken] = []
    reached = -1
    for part in parts:
        if part.last > reached:
            out.append(Taken(max(part.first, reached + 1), part.last, part))
            reached = part.last
    return out


def missing(taken: Iterable[Taken], runs: int) -> Iterator[tuple[int, int]]:
    """The gaps, as (first, last) with both included."""
    at = 0
    for some in taken:
        if some.first > at:
            yield at, some.first - 1
        at = max(at, some.last + 1)
    if at < runs:
        yield at, runs - 1


def read_part(taken: Taken, columns: list[str] | None = None) -> Any:
    """The rows of a part as an Arrow table, their checksums verified.

    Raises:
        DescriptionError: damaged, or not what its name says.
    """
    part = taken.part
    table = read_table(part, columns if columns is None or "run" in columns else ["run", *columns])
    runs = table.column("run").to_numpy()
    if len(runs) and (runs[0] != part.first or runs[-1] != part.last):
        raise damaged(part, "it holds other runs than its name says")
    if taken.first > part.first:
        table = table.slice(int((runs < taken.first).sum()))
    return table if columns is None else table.select(columns)


def read_table(part: Part, columns: list[str] | None = None) -> Any:
    """Everything in the file of a part, rows or samples, its checksums verified.

    Raises:
        DescriptionError: damaged.
    """
    pa, parquet = arrow()
    try:
        table = parquet.ParquetFile(part.path, page_checksum_verification=True).read(columns=columns)
        table.column("run")
    except (OSError, pa.ArrowException, KeyError) as problem:
        raise damaged(part, printable(problem, 200)) from None
    return table


def damaged(part: Part, why: str) -> DescriptionError:
    """The error about a part that cannot be read."""
    return DescriptionError(
        f"This part is damaged: {why}. Resume the study: it sets damaged parts aside and makes their runs again.",
        file=str(part.path),
    )

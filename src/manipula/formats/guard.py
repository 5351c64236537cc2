"""What may be opened, and how much of it: budgets for files, and paths that cannot leave their folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from manipula.errors import BudgetError, DescriptionError, printable

MAX_BYTES = 16 * 2**20  # of a description
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Source(NamedTuple):
    """Bytes of a description, and the name of the file they came from (``None`` for text from Python)."""

    data: bytes
    file: str | None
    declared: bool  # True when the bytes state their own encoding, False when they are UTF-8


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """The content of a regular file of at most ``limit`` bytes; pipes, devices and folders are refused unread."""
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):  # opening a device may already do something
            raise DescriptionError("This is not a regular file.", file=name)
        # O_NONBLOCK: a pipe put there in between, that nobody writes to, must not make us wait for ever.
        handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except DescriptionError:
        raise
    except FileNotFoundError:
        raise DescriptionError("This file does not exist.", file=name) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "the name is not a path"
        raise DescriptionError(f"This file cannot be opened: {reason}.", file=name) from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise DescriptionError("This is not a regular file.", file=name)
    with os.fdopen(handle, "rb") as stream:
        if status.st_size > limit:
            raise BudgetError(f"At most {limit} bytes are read, this file has {status.st_size}.", file=name)
        try:
            data = stream.read(limit + 1)
        except OSError as problem:
            raise DescriptionError(f"This file cannot be read: {problem.strerror}.", file=name) from None
    if len(data) > limit:
        raise BudgetError(f"At most {limit} bytes are read.", file=name)
    return data


def read_text(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> str:
    """The content of a regular UTF-8 file (a byte order mark is dropped)."""
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise DescriptionError("This is not UTF-8 text.", file=os.fspath(path), line=line) from None


def xml_source(text_or_path: str | bytes | os.PathLike[str], limit: int = MAX_BYTES) -> Source:
    """XML given as text (anything that holds a ``<``) or as the path of a file."""
    if isinstance(text_or_path, os.PathLike):
        return Source(read_bytes(text_or_path, limit), os.fspath(text_or_path), True)
    if isinstance(text_or_path, bytes):
        data, declared = text_or_path, True
    elif isinstance(text_or_path, str):
        if "<" not in text_or_path:
            if not text_or_path.strip() or "\n" in text_or_path:
                raise DescriptionError("This is neither XML nor the path of a file.")
            return Source(read_bytes(text_or_path, limit), text_or_path, True)
        try:
            data, declared = text_or_path.encode("utf-8"), False
        except UnicodeEncodeError:
            raise DescriptionError("The text holds half a surrogate pair, which no file can hold.") from None
    else:
        raise DescriptionError(f"XML text or a path is needed, found {printable(type(text_or_path).__name__)}.")
    if len(data) > limit:
        raise BudgetError(f"A description has at most {limit} bytes, this text {len(data)}.")
    return Source(data, None, declared)


def check_reference(reference: str) -> str:
    """The path of a mesh or of another file that does not climb out of its folder or package by ``..``; nothing is opened.

    ``package://arm/meshes/a.stl`` and ``meshes/a.stl`` give the path below the package folder or the file's folder.
    Absolute paths and other schemes are given back as they are: programs write them, ``safe_join`` opens none.
    """
    rest, root = reference.replace("\\", "/"), 0
    scheme = _SCHEME.match(rest)
    if scheme is not None:
        rest = rest[scheme.end() :].lstrip("/")
        root = 1 if scheme.group() in ("package:", "model:") else 0  # the first part is the package's name
    shown = printable(reference, 60)
    if "\0" in rest or not rest.strip("/ "):
        raise DescriptionError(f"The path '{shown}' is empty or holds a null character.")
    depth = 0
    for part in PurePosixPath(rest.lstrip("/")).parts:
        depth += -1 if part == ".." else 1
        if part == ".." and depth < root:
            raise DescriptionError(f"The path '{shown}' climbs out of the folder of the description.")
    return rest if root else reference.replace("\\", "/")


def safe_join(folder: str | os.PathLike[str], reference: str, suffixes: tuple[str, ...] = ()) -> Path:
    """The file that a description names, inside ``folder`` after every link has been followed, and regular."""
    root = Path(folder).resolve()
    below = check_reference(reference)
    if _SCHEME.match(below) or below.startswith("/"):
        raise DescriptionError(f"'{printable(reference, 60)}' is absolute; a path below the description is needed.")
    try:
        path = (root / below).resolve()
    except (OSError, RuntimeError, ValueError):
        raise DescriptionError(f"The path '{printable(reference, 60)}' cannot be followed.") from None
    if not path.is_relative_to(root):
        raise DescriptionError(f"The path '{printable(reference, 60)}' leads out of the folder of the description.")
    if suffixes and path.suffix.lower() not in suffixes:
        raise DescriptionError(f"A file ending in {', '.join(suffixes)} is needed, found '{printable(path.name, 60)}'.")
    try:
        fault = "" if path.is_file() else "is not a regular file" if path.exists() else "does not exist"
    except OSError as problem:  # a name that is too long for any file
        fault = f"cannot be opened: {problem.strerror}"
    if fault:
        raise DescriptionError(f"'{printable(reference, 60)}' {fault}.")
    return path

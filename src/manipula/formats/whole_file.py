"""Files that appear whole or not at all: written beside their place, flushed to the disk, then moved there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, printable

BESIDE = ".manipula-"  # how the names of files begin that are being written


def file_path(path: Any) -> Path:
    """A path to a file, from text or anything with a path; refused where it is something else."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise DescriptionError(f"The path of a file is needed, found {type(path).__name__}.") from None
    if not isinstance(text, str) or not text:
        raise DescriptionError(f"The path of a file is needed, found {printable(text, 40)!r}.")
    return Path(text)


def made_folder(folder: Path) -> Path:
    """The folder, made where it is missing.

    Raises:
        DescriptionError: it cannot be made: a file in its place, no right to write, a name that no folder can have.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "the name is not a path"
        raise DescriptionError(f"This folder cannot be made: {reason}.", file=str(folder)) from None
    return folder


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A temporary path beside ``target`` that takes its place at the end, or vanishes on any failure.

    Raises:
        DescriptionError: no such folder, a folder in the file's place, no right to write, a full disk, a name that no file can have.
    """
    if not os.path.isdir(target.parent):
        raise DescriptionError(f"The folder '{printable(target.parent)}' does not exist.", file=str(target))
    if os.path.isdir(target):
        raise DescriptionError("This is a folder; the path of a file is needed.", file=str(target))
    try:
        import tempfile  # only who writes needs it

        handle, name = tempfile.mkstemp(prefix=BESIDE, suffix=target.suffix, dir=target.parent)
    except (OSError, ValueError) as problem:
        raise _unwritable(problem, target) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(target)
    except DescriptionError:
        part.unlink(missing_ok=True)
        raise
    except (OSError, UnicodeError) as problem:
        part.unlink(missing_ok=True)
        raise _unwritable(problem, target) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(target: Path, text: str) -> Path:
    """Write a text as UTF-8."""
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return target


def _unwritable(problem: Exception, target: Path) -> DescriptionError:
    """A name that is too long, a full disk, half a surrogate pair, a null character …"""
    unwritable = "its name or its text holds what no file can hold"
    reason = (problem.strerror or printable(problem)) if isinstance(problem, OSError) else unwritable
    return DescriptionError(f"This file cannot be written: {reason}.", file=str(target))

"""Files that appear whole or not at all, and never over something that was there."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from manipula.errors import DescriptionError, printable
from manipula.formats.whole_file import made_folder


def write_files(directory: str | os.PathLike[str], texts: Mapping[str, str], force: bool = False) -> list[Path]:
    """Write texts by file name. Existing files are refused before anything is written, unless ``force``."""
    folder = made_folder(Path(directory))
    paths = {folder / name: text for name, text in texts.items()}
    if not force:
        there = [path.name for path in paths if os.path.lexists(path)]
        if there:
            raise DescriptionError(
                f"{', '.join(printable(n) for n in there)} would be overwritten; choose another folder or use force.",
                file=os.fspath(folder),
            )
    for path, text in paths.items():
        _write(path, text, force)
    return list(paths)


def _write(path: Path, text: str, force: bool) -> None:
    """Write beside the place, flush to disk, then move there in one step."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(draft, "x", encoding="ascii", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if force:
            os.replace(draft, path)
            return
        try:
            os.link(draft, path)  # fails when somebody was faster; rename would overwrite
        except FileExistsError:
            raise DescriptionError("This file appeared while it was being written.", file=os.fspath(path)) from None
        except OSError:  # no hard links on this file system
            os.rename(draft, path)
    except OSError as problem:
        raise DescriptionError(f"This file cannot be written: {problem.strerror}.", file=os.fspath(path)) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)

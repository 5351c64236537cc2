"""What an ``.xml`` file holds, by its first element: ``mujoco``, ``robot`` (URDF), ``sdf``, or something else."""

from __future__ import annotations

import re
from pathlib import Path

BEGINNING = 65536  # bytes that are looked at
_SPACE = re.compile(rb"(?:\xef\xbb\xbf)?\s*")
_TAG = re.compile(rb"<([A-Za-z_][\w.:-]*)")


def first_tag(path: str) -> str:
    """The name of the first element; empty where none is found near the beginning, or where nothing can be read."""
    try:
        if not Path(path).is_file():
            return ""
        with open(path, "rb") as stream:
            return tag_in(stream.read(BEGINNING))
    except (OSError, ValueError):
        return ""


def tag_in(data: bytes) -> str:
    """The name of the first element of a text, behind declarations and comments."""
    at = 0
    while True:
        at = _SPACE.match(data, at).end()  # pyright: ignore[reportOptionalMemberAccess]
        ending = b"?>" if data.startswith(b"<?", at) else b"-->" if data.startswith(b"<!--", at) else None
        if ending is None:
            found = _TAG.match(data, at)
            return found[1].decode("ascii") if found else ""
        at = data.find(ending, at)
        if at < 0:
            return ""
        at += len(ending)

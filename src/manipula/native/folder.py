"""A folder of files that one user keeps for his own processes: private, checked, and never half written.

An entry is one file named by its key::

    magic (8) · key (32) · SHA-256 of key, length and content (32) · length (8, little endian) · content

so that a flipped bit, a truncation, an entry of another key under this name and a file of another origin are all noticed;
such files are removed. The folder is created for its owner alone (0700) and is used only if it is a real folder (not a link),
belongs to this user and nobody else may write to it. Files are opened relative to the checked folder and never through a link. Writing
is a temporary file and an atomic replacement. Entries used longest ago go first.

``MANIPULA_CACHE_DIR`` names another folder, ``MANIPULA_CACHE=off`` switches everything off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from manipula.native.environment import switched

MAGIC = b"MNPOBJ\x00\x01"
HEADER_SIZE = len(MAGIC) + 32 + 32 + 8
ENTRY_LIMIT = 64 * 2**20  # bytes; larger objects are not kept
STALE_SECONDS = 3600.0  # a temporary file this old was left behind by a process that died

_POSIX = os.name == "posix"


def default_folder() -> Path | None:
    """Where entries go on this system, or ``None`` when no such place is known."""
    override = os.environ.get("MANIPULA_CACHE_DIR")
    if override:
        return Path(override).absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return Path(local, "manipula", "objects") if os.path.isabs(local) else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "manipula" / "objects"
    configured = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else home / ".cache"
    return base / "manipula" / "objects"


def enabled() -> bool:
    """Is anything kept at all?"""
    return switched("MANIPULA_CACHE", True)


@contextlib.contextmanager
def open_folder() -> Iterator[Folder | None]:
    """The folder, if there is one that may be used."""
    path = default_folder()
    descriptor = None
    folder = None
    if path is not None:
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _POSIX:
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                status = os.fstat(descriptor)
            else:
                status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode) and _private(status):
                folder = Folder(path, descriptor)
    try:
        yield folder
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _private(status: os.stat_result) -> bool:
    """Owned by this user, and nobody else may write. Windows keeps such rights elsewhere: the user's own profile."""
    if not _POSIX:
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def pack(key: bytes, object_code: bytes) -> bytes:
    """An entry: header and content."""
    length = len(object_code).to_bytes(8, "little")
    return b"".join((MAGIC, key, hashlib.sha256(key + length + object_code).digest(), length, object_code))


def unpack(key: bytes, entry: bytes) -> bytes | None:
    """The content of an entry of this key; ``None`` of anything else."""
    content = entry[HEADER_SIZE:]
    expected = pack(key, content)[:HEADER_SIZE]
    return content if entry[:HEADER_SIZE] == expected else None


class StoredObject(NamedTuple):
    """A file of the folder: when it was last used, its size and its name."""

    used: float
    size: int
    name: str


class Folder(NamedTuple):
    """A checked folder; ``descriptor`` pins it where the system has such a thing."""

    path: Path
    descriptor: int | None

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def _open(self, name: str, flags: int) -> int:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._at(name), flags, 0o600, dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self._at(name), dir_fd=self.descriptor)

    def read(self, key: bytes) -> bytes | None:
        """The content of the entry; anything else found under its name is removed."""
        name = key.hex() + ".o"
        try:
            file = self._open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError:  # a link, a folder, no right to read
            self.remove(name)
            return None
        try:
            status = os.fstat(file)
            content = None
            if stat.S_ISREG(status.st_mode) and _private(status) and status.st_size <= ENTRY_LIMIT + HEADER_SIZE:
                with os.fdopen(os.dup(file), "rb") as stream:
                    content = unpack(key, stream.read())
            if content is None:
                self.remove(name)
            elif os.utime in os.supports_fd:
                os.utime(file)  # used now: evicted last
            return content
        except OSError:
            return None
        finally:
            os.close(file)

    def write(self, key: bytes, object_code: bytes) -> bool:
        """Put the entry in place in one step; ``False`` when that is not possible."""
        temporary = f"{os.urandom(16).hex()}.tmp"
        try:
            file = self._open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(file, "wb") as stream:
                stream.write(pack(key, object_code))
            os.replace(
                self._at(temporary), self._at(key.hex() + ".o"), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor
            )
        except OSError:
            self.remove(temporary)
            return False
        return True

    def evict(self, budget: int, spare: int = 0) -> int:
        """Remove the entries used longest ago where there are more than ``budget`` bytes, until ``spare`` of them are free; how many are."""
        entries = self.entries()
        free = budget - sum(e.size for e in entries)
        for entry in sorted(entries) if free < 0 else ():
            if free >= spare:
                break
            self.remove(entry.name)
            free += entry.size
        return free

    def entries(self) -> list[StoredObject]:
        """Every entry of the folder; temporary files that a process left behind when it died are removed."""
        found: list[StoredObject] = []
        place = self.path if self.descriptor is None else self.descriptor
        with contextlib.suppress(OSError), os.scandir(place) as files:
            for file in files:
                with contextlib.suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    if file.name.endswith(".o"):
                        found.append(StoredObject(status.st_mtime, status.st_size, file.name))
                    elif file.name.endswith(".tmp") and time.time() - status.st_mtime > STALE_SECONDS:
                        self.remove(file.name)
        return found

"""Object code on disk: compiled once per machine, never run when it could be damaged, foreign or swapped.

``load(key_material)`` gives the bytes that ``store(key_material, object_code)`` kept, or ``None``. Key material is any bytes
that determine the code: the text of the intermediate code, or (faster, nothing need be built) a digest of what it is made
from. The key adds what else the code depends on: processor and features, LLVM and llvmlite, the content of the compiler's sources
and ``ABI_VERSION``.

An entry is one file named by its key::

    magic (8) · key (32) · SHA-256 of key, length and content (32) · length (8, little endian) · content

so that a flipped bit, a truncation, an entry of another key under this name and a file of another origin are all noticed;
such files are removed and the code is made anew. The folder is created for its owner alone (0700) and is used only if it is
a real folder (not a link), belongs to this user and nobody else may write to it; otherwise entries live in memory for this
process. Files are opened relative to the checked folder and never through a link. Writing is a temporary file and an atomic
replacement. When the folder grows beyond its budget the entries used longest ago go first.

``MANIPULA_CACHE_DIR`` names another folder, ``MANIPULA_CACHE=off`` switches everything off.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from manipula.bounded_cache import BoundedCache
from manipula.errors import CompileError
from manipula.native.llvm.objects import LoadedCode, compile_object, host, load_object
from manipula.native.llvm_text import ModuleText
from manipula.version import STARTED

ABI_VERSION = 1
"""Raised whenever compiled code would be called differently."""

MAGIC = b"MNPOBJ\x00\x01"
HEADER_SIZE = len(MAGIC) + 32 + 32 + 8
ENTRY_LIMIT = 64 * 2**20  # bytes; larger objects are not kept
DISK_BUDGET = 256 * 2**20
MEMORY_BUDGET = 64 * 2**20
STALE_SECONDS = 3600.0  # a temporary file this old was left behind by a process that died

_POSIX = os.name == "posix"
_memory: BoundedCache[bytes] = BoundedCache(MEMORY_BUDGET, len)


def load(key_material: bytes) -> bytes | None:
    """The object code stored under this key material, or ``None`` when there is none that can be trusted."""
    if not enabled():
        return None
    key = _key(key_material)
    with _folder() as folder:
        stored = None if folder is None else folder.read(key)
    return stored if stored is not None else _memory.get(key)


def store(key_material: bytes, object_code: bytes) -> None:
    """Keep ``object_code`` for later; failures (full disk, unsafe folder) only mean that it is compiled again."""
    if not enabled() or len(object_code) > ENTRY_LIMIT:
        return
    key = _key(key_material)
    with _folder() as folder:
        if folder is None or not folder.write(key, object_code):
            _memory.replace(key, object_code)
            return
        folder.evict(DISK_BUDGET)


def load_or_compile(key_material: bytes, names: Sequence[str], text: Callable[[], ModuleText]) -> LoadedCode:
    """The functions ``names``: linked from the cache if it has them, else compiled from the module ``text()``, and kept."""
    stored = load(key_material)
    if stored is not None:
        with contextlib.suppress(CompileError):
            return load_object(stored, names)
    object_code = compile_object(text())
    store(key_material, object_code)
    return load_object(object_code, names)


class Contents(NamedTuple):
    """What the cache holds.

    Attributes:
        folder: where it is; ``None`` when no place is known, or the place may not be used (see the top of this file).
        entries: how many. size: of all together [bytes].
        oldest: when the entry that goes first was last used, in seconds since 1970; ``None`` without entries.
    """

    folder: Path | None
    entries: int
    size: int
    oldest: float | None


def contents() -> Contents:
    """What is kept on disk; nothing is created."""
    path = default_folder()
    if path is None or not path.is_dir():
        return Contents(path, 0, 0, None)
    with _folder() as folder:
        if folder is None:
            return Contents(None, 0, 0, None)
        found = folder.entries()
    return Contents(path, len(found), sum(e.size for e in found), min((e.used for e in found), default=None))


def clear() -> Contents:
    """Remove every entry; gives what there was. Other files in the folder are left alone."""
    before = contents()
    if before.entries:
        with _folder() as folder:
            if folder is not None:
                for entry in folder.entries():
                    folder.remove(entry.name)
    _memory.clear()
    return before


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
    return os.environ.get("MANIPULA_CACHE", "").strip().lower() not in ("off", "0", "no", "false")


def _key(key_material: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in (b"manipula object %d" % ABI_VERSION, host().key_material(), code_version(), key_material):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


@functools.cache
def code_version() -> bytes:
    """Changes whenever the compiler's sources do: the content of every file of ``native``."""
    return sources(Path(__file__).parents[1])


def sources(root: Path, but: Collection[str] = ()) -> bytes:
    """A fingerprint of the names and the content of every source file below ``root``, ``but`` the folders named.

    Where the files cannot be read, or one was changed after this process began (which then may run other code than the file
    holds), a random number: nothing is found in the cache, and nothing stale.
    """
    text = hashlib.sha256()
    count = 0
    try:
        for name, path in _python_files(str(root), but=but):
            with open(path, "rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_mtime > STARTED:
                    return secrets.token_bytes(32)
                content = file.read()
            text.update(f"{name}\0{len(content)}\0".encode())
            text.update(content)
            count += 1
    except OSError:
        return secrets.token_bytes(32)
    return text.digest() if count else secrets.token_bytes(32)


def _python_files(folder: str, inside: str = "", but: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Name below the first folder and path of every Python file, in the order of their names."""
    with os.scandir(folder) as entries:
        found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    for name, is_folder in found:
        path = os.path.join(folder, name)
        if is_folder and name not in but:
            yield from _python_files(path, f"{inside}{name}/")
        elif name.endswith(".py"):
            yield inside + name, path


@contextlib.contextmanager
def _folder() -> Iterator[_Folder | None]:
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
                folder = _Folder(path, descriptor)
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


def _pack(key: bytes, object_code: bytes) -> bytes:
    length = len(object_code).to_bytes(8, "little")
    return b"".join((MAGIC, key, hashlib.sha256(key + length + object_code).digest(), length, object_code))


def _unpack(key: bytes, entry: bytes) -> bytes | None:
    content = entry[HEADER_SIZE:]
    expected = _pack(key, content)[:HEADER_SIZE]
    return content if hmac.compare_digest(entry[:HEADER_SIZE], expected) else None


class _StoredObject(NamedTuple):
    """A file of the folder: when it was last used, its size and its name."""

    used: float
    size: int
    name: str


@dataclass(frozen=True)
class _Folder:
    """A checked folder; ``descriptor`` pins it where the system has such a thing."""

    path: Path
    descriptor: int | None

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def _open(self, name: str, flags: int) -> int:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._at(name), flags, 0o600, dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
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
                    content = _unpack(key, stream.read())
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
        temporary = f"{secrets.token_hex(16)}.tmp"
        try:
            file = self._open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(file, "wb") as stream:
                stream.write(_pack(key, object_code))
            os.replace(
                self._at(temporary),
                self._at(key.hex() + ".o"),
                src_dir_fd=self.descriptor,
                dst_dir_fd=self.descriptor,
            )
        except OSError:
            self.remove(temporary)
            return False
        return True

    def evict(self, budget: int) -> None:
        """Remove the entries used longest ago until the rest fits into ``budget`` bytes."""
        entries = self.entries()
        excess = sum(e.size for e in entries) - budget
        for entry in sorted(entries):
            if excess <= 0:
                break
            self.remove(entry.name)
            excess -= entry.size

    def entries(self) -> list[_StoredObject]:
        """Every entry of the folder; temporary files that a process left behind when it died are removed."""
        found: list[_StoredObject] = []
        place = self.path if self.descriptor is None else self.descriptor
        with contextlib.suppress(OSError), os.scandir(place) as files:
            for file in files:
                with contextlib.suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    if file.name.endswith(".o"):
                        found.append(_StoredObject(status.st_mtime, status.st_size, file.name))
                    elif file.name.endswith(".tmp") and time.time() - status.st_mtime > STALE_SECONDS:
                        self.remove(file.name)
        return found

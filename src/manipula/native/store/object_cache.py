"""Object code on disk: compiled once per machine, never run when it could be damaged, foreign or swapped.

``load(key_material)`` gives the bytes that ``store(key_material, object_code)`` kept, or ``None``. Key material is any bytes
that determine the code: the text of the intermediate code, or (faster, nothing need be built) a digest of what it is made
from. The key adds what else the code depends on: processor and features, LLVM and llvmlite, the content of the compiler's sources
and ``ABI_VERSION``.

Entries are files of the user's folder (``native/folder.py``), which notices damage; where that folder cannot be used they live in memory for this
process. What is kept is an image that is mapped as it is (``native/llvm/images.py``), so that a process whose code is all on disk never
loads LLVM; where no image can be made of an object, it is the object itself, which LLVM links.

``MANIPULA_CACHE_DIR`` names another folder, ``MANIPULA_CACHE=off`` switches everything off.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from manipula.bounded_cache import BoundedCache
from manipula.errors import CompileError
from manipula.native.folder import ENTRY_LIMIT, HEADER_SIZE, default_folder, enabled, open_folder
from manipula.native.host import host, keep_host
from manipula.native.llvm.images import LoadedCode, image_of, is_image, load_image
from manipula.native.llvm_text import ModuleText
from manipula.native.locks import import_module
from manipula.version import started

__all__ = [
    "HEADER_SIZE", "Contents", "clear", "code_version", "contents", "default_folder", "enabled", "load", "load_or_compile", "sources", "store",
]  # fmt: skip

ABI_VERSION = 2
"""Raised whenever compiled code would be called differently."""

DISK_BUDGET = 256 * 2**20
DISK_SPARE = DISK_BUDGET // 16  # made free with every eviction, so that the next one is not needed at once
WRITERS = 8  # processes that may fill what is free at the same time
MEMORY_BUDGET = 64 * 2**20

_memory: BoundedCache[bytes] = BoundedCache(MEMORY_BUDGET, len)
_free: dict[Path, int] = {}  # bytes that this process may write before it looks through the folder again


def load(key_material: bytes) -> bytes | None:
    """The object code stored under this key material, or ``None`` when there is none that can be trusted."""
    if not enabled():
        return None
    key = _key(key_material)
    with open_folder() as folder:
        stored = None if folder is None else folder.read(key)
    return stored if stored is not None else _memory.get(key)


def store(key_material: bytes, object_code: bytes) -> None:
    """Keep ``object_code`` for later; failures (full disk, unsafe folder) only mean that it is compiled again."""
    if not enabled() or len(object_code) > ENTRY_LIMIT:
        return
    key = _key(key_material)
    with open_folder() as folder:
        if folder is None or not folder.write(key, object_code):
            _memory.replace(key, object_code)
            return
        free = _free.get(folder.path, 0) - HEADER_SIZE - len(object_code)
        _free[folder.path] = free if free >= 0 else folder.evict(DISK_BUDGET, DISK_SPARE) // WRITERS


def load_or_compile(key_material: bytes, names: Sequence[str], text: Callable[[], ModuleText]) -> LoadedCode:
    """The functions ``names``: linked from the cache if it has them, else compiled from the module ``text()``, and kept."""
    stored = load(key_material)
    if stored is not None:
        with contextlib.suppress(CompileError):
            loaded = load_image(stored, names) if is_image(stored) else load_object(stored, names)
            keep_host()
            return loaded
    object_code = compile_object(text())
    keep_host()
    image = image_of(object_code)
    if image is not None:
        # where a process may not make memory executable, LLVM's linker knows ways
        with contextlib.suppress(CompileError):
            loaded = load_image(image, names)
            store(key_material, image)
            return loaded
    store(key_material, object_code)
    return load_object(object_code, names)


def compile_object(module: ModuleText) -> bytes:
    """Object code of an LLVM module, by LLVM."""
    import_module("manipula.native.llvm.objects")
    from manipula.native.llvm import objects

    return objects.compile_object(module)


def load_object(object_code: bytes, names: Sequence[str]) -> LoadedCode:
    """Object code linked by LLVM."""
    import_module("manipula.native.llvm.objects")
    from manipula.native.llvm import objects

    return objects.load_object(object_code, names)


class Contents(NamedTuple):
    """What the cache holds.

    Attributes:
        folder: where it is; ``None`` when no place is known, or the place may not be used (see the top of this file).
        entries: how many. size: of all together [bytes].
    """

    folder: Path | None
    entries: int
    size: int


def contents() -> Contents:
    """What is kept on disk; nothing is created."""
    path = default_folder()
    if path is None or not path.is_dir():
        return Contents(path, 0, 0)
    with open_folder() as folder:
        if folder is None:
            return Contents(None, 0, 0)
        found = folder.entries()
    return Contents(path, len(found), sum(e.size for e in found))


def clear() -> Contents:
    """Remove every entry; gives what there was. Other files in the folder are left alone."""
    before = contents()
    if before.entries:
        with open_folder() as folder:
            if folder is not None:
                for entry in folder.entries():
                    folder.remove(entry.name)
    _memory.clear()
    return before


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
                if os.fstat(file.fileno()).st_mtime > started:
                    return os.urandom(32)
                content = file.read()
            text.update(f"{name}\0{len(content)}\0".encode())
            text.update(content)
            count += 1
    except OSError:
        return os.urandom(32)
    return text.digest() if count else os.urandom(32)


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

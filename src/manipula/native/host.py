"""The processor and the LLVM that machine code is made by, known without loading LLVM where it was asked before.

LLVM reads the processor's features from the processor. They stay the same until the machine starts anew, so the answer is kept
(``native/folder.py``) under the number that Linux gives to every start, together with the version of llvmlite and size and date of LLVM's
library. Elsewhere, and where nothing may be kept, LLVM is asked in every process.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from manipula.native.folder import enabled, open_folder
from manipula.native.locks import GUARDED, import_module

START_OF_SYSTEM = Path("/proc/sys/kernel/random/boot_id")
VERSION = 1  # of what is kept


@dataclass(frozen=True)
class Host:
    """What object code depends on besides its source."""

    triple: str
    cpu: str
    features: str
    llvm_version: str
    llvmlite_version: str

    def key_material(self) -> bytes:
        """These facts as bytes, for the key of a cache entry."""
        facts = (self.triple, self.cpu, self.features, self.llvm_version, self.llvmlite_version)
        return "\n".join(facts).encode()

    def vector_width(self) -> int:
        """Doubles in one register: 8 with AVX-512, 4 with AVX2, else 2."""
        return 8 if self.has("avx512f") else 4 if self.has("avx2") else 2

    def has(self, feature: str) -> bool:
        """Whether the processor has a feature, by LLVM's name of it."""
        return f"+{feature}" in self.features.split(",")


_known: list[Host] = []


def host() -> Host:
    """The processor and the LLVM of this process."""
    if not _known:
        _known.append(_kept() or _asked())
    return _known[0]


def confirmed() -> Host:
    """The same from LLVM itself, which is at hand: whoever compiles relies on nothing that was kept."""
    _known[:] = [_asked()]
    return _known[0]


@functools.cache
def guard_llvm() -> None:
    """A fork and the end of the program wait for llvmlite's own lock too, once LLVM is loaded."""
    import llvmlite.binding as llvm

    if hasattr(llvm.ffi.lib, "_lock"):
        GUARDED.append(llvm.ffi.lib._lock)


@functools.cache
def _asked() -> Host:
    """What LLVM says."""
    import_module("llvmlite.binding")
    import llvmlite
    import llvmlite.binding as llvm

    guard_llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        llvm_version=".".join(map(str, llvm.llvm_version_info)),
        llvmlite_version=llvmlite.__version__,
    )


def keep_host() -> None:
    """Let later processes know what LLVM said in this one, if it was asked."""
    if _asked.cache_info().currsize and enabled():
        _keep()


@functools.cache
def _keep() -> None:
    key = _key()
    if key is None:
        return
    with open_folder() as folder:
        if folder is not None:
            folder.write(key, json.dumps([VERSION, asdict(_asked())]).encode())


def _kept() -> Host | None:
    key = _key() if enabled() else None
    if key is None:
        return None
    with open_folder() as folder:
        stored = None if folder is None else folder.read(key)
    try:
        version, facts = json.loads(stored or b"[0, {}]")
        return Host(**facts) if version == VERSION and all(type(x) is str for x in facts.values()) else None
    except (ValueError, TypeError, AttributeError):
        return None


def _key() -> bytes | None:
    """What the answer belongs to: this start of this system, and one LLVM; ``None`` where that is not known."""
    import_module("llvmlite")
    import llvmlite

    try:
        start = START_OF_SYSTEM.read_bytes()
        library = os.stat(Path(llvmlite.__file__).parent / "binding" / "libllvmlite.so")
    except (OSError, TypeError):
        return None
    facts = sys.platform, os.uname().machine, llvmlite.__version__, library.st_size, library.st_mtime_ns
    return hashlib.sha256(b"manipula host\0" + repr((VERSION, start, facts)).encode()).digest()

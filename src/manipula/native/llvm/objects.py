"""From an LLVM module to object code, and from object code to addresses that can be called.

``compile_object`` runs LLVM's code generator (level 2) and none of its optimisation passes over the intermediate code:
the tracer has already shared, folded and dropped everything they would find. ``load_object`` links the object into this
process and gives the addresses of its functions; they stay valid as long as the returned :class:`LoadedCode` is alive.
External symbols belong to a closed list, ``external_symbols``: the C library's functions behind ``mathlib`` and what the
code generator itself may call; a module that declares another is refused. Object code never contains an address of the
process that made it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from manipula.errors import CompileError, printable
from manipula.native.llvm_text import ModuleText
from manipula.native.locks import GUARDED, compiling
from manipula.native.mathlib.functions import LIBM_SYMBOLS

CODEGEN_LEVEL = 2  # level 0 gives code three to six times slower, level 3 costs time and buys nothing

CODEGEN_CALLS = ("fma", "floor", "memcpy", "memset", "memmove")
"""What the code generator may call on its own: ``fma`` and ``floor`` where the processor has no such instruction."""

if hasattr(llvm.ffi.lib, "_lock"):
    GUARDED.append(llvm.ffi.lib._lock)  # llvmlite's own
_library_number = itertools.count()


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


@functools.cache
def host() -> Host:
    """The processor and the LLVM of this process."""
    _initialise()
    return Host(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        llvm_version=".".join(map(str, llvm.llvm_version_info)),
        llvmlite_version=llvmlite.__version__,
    )


@functools.cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _new_target_machine() -> llvm.TargetMachine:
    facts = host()
    target = llvm.Target.from_triple(facts.triple)
    return target.create_target_machine(
        cpu=facts.cpu, features=facts.features, opt=CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


@functools.cache
def _target_machine() -> llvm.TargetMachine:
    return _new_target_machine()


@functools.cache
def _linker() -> llvm.LLJIT:
    # JITLink loads in half the time of the older linker, which remains the better tested one for Windows objects.
    modern = sys.platform != "win32"
    return llvm.create_lljit_compiler(_new_target_machine(), use_jit_link=modern, suppress_errors=True)


@functools.cache
def external_symbols() -> Mapping[str, int]:
    """Name → address of everything object code may call."""
    if sys.platform == "win32":
        library = ctypes.CDLL("ucrtbase")
    else:
        library = ctypes.CDLL(None)
        if not hasattr(library, "sin"):
            from ctypes.util import find_library  # imports much; hardly ever needed

            library = ctypes.CDLL(find_library("m"))
    wanted = {**LIBM_SYMBOLS, **{name: name for name in CODEGEN_CALLS}}
    found = {symbol: getattr(library, name, None) for symbol, name in wanted.items()}
    return {s: ctypes.cast(f, ctypes.c_void_p).value or 0 for s, f in found.items() if f is not None}


def compile_object(module: ModuleText) -> bytes:
    """Object code of an LLVM module for this processor.

    Raises:
        CompileError: LLVM refuses the module, or it wants a function from outside that is not provided.
    """
    with compiling():
        machine = _target_machine()
        head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{host().triple}"\n'
        try:
            # a context of its own: what was parsed is freed here, by this thread, and nothing stays in a shared one
            with llvm.create_context() as context, llvm.parse_assembly(head + module.text, context) as parsed:
                parsed.verify()
                _refuse_unknown_symbols(module.name, parsed)
                return machine.emit_object(parsed)
        except CompileError:
            raise
        except RuntimeError as refusal:
            raise CompileError(
                f"LLVM refused the module '{printable(module.name)}': {printable(refusal, 400)}."
            ) from refusal


def _refuse_unknown_symbols(module: str, parsed: llvm.ModuleRef) -> None:
    known = external_symbols()
    for value in (*parsed.functions, *parsed.global_variables):
        name = value.name
        if value.is_declaration and not name.startswith("llvm.") and name not in known:
            listed = ", ".join(known)
            raise CompileError(
                f"Module '{printable(module)}' calls '{printable(name)}', which is not provided. Known: {listed}."
            )


class LoadedCode:
    """Linked object code: ``code["name"]`` is the address of a function. Keep it alive while addresses are in use."""

    def __init__(self, tracker: Any, names: Iterable[str]) -> None:
        self._tracker = tracker
        self.addresses: dict[str, int] = {name: tracker[name] for name in names}

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


def load_object(object_code: bytes, names: Iterable[str]) -> LoadedCode:
    """Link ``object_code`` into the process and look up the functions ``names``.

    Raises:
        CompileError: the bytes are no object for this machine, or a function is missing.
    """
    wanted = list(names)
    builder = llvm.JITLibraryBuilder().add_object_img(object_code)
    for name, address in external_symbols().items():
        builder.import_symbol(name, address)
    for name in wanted:
        builder.export_symbol(name)
    with compiling():
        try:
            tracker = builder.link(_linker(), f"manipula_{next(_library_number)}")
        except RuntimeError as refusal:
            raise CompileError(f"Object code could not be linked: {printable(refusal, 400)}.") from refusal
    return LoadedCode(tracker, wanted)

"""From an LLVM module to object code, and from object code to addresses that can be called.

``compile_object`` runs LLVM's code generator (level 2) and none of its optimisation passes over the intermediate code:
the tracer has already shared, folded and dropped everything they would find. ``load_object`` links the object into this
process and gives the addresses of its functions; they stay valid as long as the returned :class:`LoadedCode` is alive.
External symbols belong to a closed list, ``external_symbols``: the C library's functions behind ``mathlib`` and what the
code generator itself may call; a module that declares another is refused. Object code never contains an address of the
process that made it.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import llvmlite.binding as llvm

from manipula.errors import CompileError, printable
from manipula.native.host import confirmed, guard_llvm
from manipula.native.llvm.images import LoadedCode, external_symbols
from manipula.native.llvm_text import ModuleText
from manipula.native.locks import compiling

RESCHEDULING = "-enable-misched"  # LLVM's scheduler behind the choice of instructions, a fifth of its time
KNOWN_LLVM = range(20, 23)  # versions that have this option; an unknown one would end the process
CODEGEN_LEVEL = 2  # level 0 gives code three to six times slower, level 3 costs time and buys nothing

guard_llvm()
_library_number = itertools.count()


def _new_target_machine() -> llvm.TargetMachine:
    machine = confirmed()
    target = llvm.Target.from_triple(machine.triple)
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


@functools.cache
def _target_machine() -> llvm.TargetMachine:
    return _new_target_machine()


@functools.cache
def _linker() -> llvm.LLJIT:
    # JITLink loads in half the time of the older linker, which remains the better tested one for Windows objects.
    modern = sys.platform != "win32"
    return llvm.create_lljit_compiler(_new_target_machine(), use_jit_link=modern, suppress_errors=True)


def compile_object(module: ModuleText) -> bytes:
    """Object code of an LLVM module for this processor.

    Raises:
        CompileError: LLVM refuses the module, or it wants a function from outside that is not provided.
    """
    with compiling():
        machine = _target_machine()
        head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
        try:
            # a context of its own: what was parsed is freed here, by this thread, and nothing stays in a shared one
            with llvm.create_context() as context, llvm.parse_assembly(head + module.text, context) as parsed:
                parsed.verify()
                _refuse_unknown_symbols(module.name, parsed)
                with _rescheduled(not module.in_order):
                    return machine.emit_object(parsed)
        except CompileError:
            raise
        except RuntimeError as refusal:
            raise CompileError(
                f"LLVM refused the module '{printable(module.name)}': {printable(refusal, 400)}."
            ) from refusal


@contextmanager
def _rescheduled(wanted: bool) -> Iterator[None]:
    """Emit with or without LLVM's machine scheduler, which is on by default and for whoever else uses LLVM in this process.

    The operations of a graph are ordered already so that few values wait (``lowering/schedule.py``).
    """
    if wanted or llvm.llvm_version_info[0] not in KNOWN_LLVM:
        yield
        return
    llvm.set_option("manipula", f"{RESCHEDULING}=false")
    try:
        yield
    finally:
        llvm.set_option("manipula", f"{RESCHEDULING}=true")


def _refuse_unknown_symbols(module: str, parsed: llvm.ModuleRef) -> None:
    known = external_symbols()
    for value in (*parsed.functions, *parsed.global_variables):
        name = value.name
        if value.is_declaration and not name.startswith("llvm.") and name not in known:
            listed = ", ".join(known)
            raise CompileError(
                f"Module '{printable(module)}' calls '{printable(name)}', which is not provided. Known: {listed}."
            )


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
    return LoadedCode(tracker, {name: tracker[name] for name in wanted})

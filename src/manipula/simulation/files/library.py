"""Programmed motions under a name: stored with their parameters, listed, reloaded, run again with other values.

An entry is one TOML file (a programmed motion with its robot inside) in a folder: ``MANIPULA_LIBRARY``, else the place for data
of the system. The machine code is not part of the entry; it waits in the cache of object code, where any of the same
shape finds it, so that a reloaded one is neither derived nor compiled again.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, printable, unknown_name
from manipula.formats.whole_file import made_folder, write_whole
from manipula.simulation.files.scenario_file import file_text
from manipula.simulation.programmed.scenario import ProgramScenario

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Entry:
    """One programmed motion of the library.

    Attributes:
        name: what ``load`` takes. path: its file.
        program: the programmed motion.
    """

    name: str
    path: Path
    program: ProgramScenario

    def summary(self) -> dict[str, Any]:
        """Plain values for a listing."""
        p = self.program
        return {
            "name": self.name, "title": p.name, "robot": p.robot.name, "joints": p.robot.n,
            "constraints": [str(c.formula) for c in p.constraints], "parameters": dict(p.parameters), "duration": p.duration,
            "file": str(self.path),
        }  # fmt: skip


def folder() -> Path:
    """Where programmed motions are kept."""
    override = os.environ.get("MANIPULA_LIBRARY")
    if override:
        return Path(override).absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        configured = os.environ.get("XDG_DATA_HOME", "")
        base = Path(configured) if os.path.isabs(configured) else Path.home() / ".local" / "share"
    return base / "manipula" / "library"


def names() -> tuple[str, ...]:
    """Names of the stored motions, sorted."""
    place = folder()
    if not os.path.isdir(place):
        return ()
    found = (f.stem for f in place.iterdir() if f.suffix == ".toml" and f.is_file())
    return tuple(sorted(name for name in found if NAME.fullmatch(name)))


def add(
    name: str, program: ProgramScenario | str | os.PathLike[str], *, replace: bool = False, prepare: bool = True
) -> Entry:
    """Store a programmed motion under a name.

    Args:
        program: a ProgramScenario, or the file that describes it.
        replace: another one of that name may be overwritten.
        prepare: derive and compile it now, so that every later run starts at once.
    """
    path = _path(name)
    if os.path.exists(path) and not replace:
        raise DescriptionError(
            f"The library has a programmed motion '{name}' already; remove it first, or replace it.", field="name"
        )
    found = program if isinstance(program, ProgramScenario) else ProgramScenario.load(program)
    text = file_text(found)
    if prepare:
        found.replace(duration=found.step, sample=None, verify=False).run()
    made_folder(path.parent)
    write_whole(path, text)
    return Entry(name, path, found)


def load(name: str) -> ProgramScenario:
    """The programmed motion of that name, ready to run.

    Raises:
        UnknownNameError: with the nearest name.
    """
    return entry(name).program


def entry(name: str) -> Entry:
    """The programmed motion of that name with its place."""
    path = _existing(name)
    return Entry(name, path, ProgramScenario.load(path))


def remove(name: str) -> None:
    """Take a programmed motion out of the library."""
    _existing(name).unlink()


def _path(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise DescriptionError(
            f"'{printable(name, 60)}' cannot be a name: letters, digits, '_', '-' and '.', at most 64, beginning with a letter or digit.",
            field="name",
        )
    return folder() / f"{name}.toml"


def _existing(name: str) -> Path:
    path = folder() / f"{name}.toml" if NAME.fullmatch(name) else None
    if path is None or not os.path.isfile(path):
        raise unknown_name("programmed motion in the library", name, names(), field="name")
    return path

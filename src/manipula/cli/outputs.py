"""Files of a run: written beside their place first, then moved there together."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, printable
from manipula.simulation.result import Result


def check_free(folder: Path, names: list[str], force: bool) -> None:
    """Refuse, before any work, to replace files that exist."""
    if folder.exists() and not folder.is_dir():
        raise DescriptionError("This is a file, not a folder.", file=str(folder))
    for name in names:
        if not force and (folder / name).exists():
            raise DescriptionError("This file exists; --force replaces it.", file=str(folder / name))


def write_all(folder: Path, result: Result, scenario: Any, *, csv: bool, report: bool) -> dict[str, Path]:
    """``result.nc``, ``scenario.toml`` and, when wanted, ``result.csv`` and ``report.html``; the paths by what they are.

    Everything is written to a hidden folder first; an error or an interruption leaves no half result.
    """
    from manipula.simulation.scenario_file import save_scenario

    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    files: dict[str, Path] = {}
    try:
        result.save(staging / "result.nc")
        files["result"] = folder / "result.nc"
        save_scenario(scenario, staging / "scenario.toml")
        files["scenario"] = folder / "scenario.toml"
        if csv:
            result.save(staging / "result.csv")
            files["csv"] = folder / "result.csv"
        if report:
            try:
                result.report(staging / "report.html")
                files["report"] = folder / "report.html"
            except ModuleNotFoundError as missing:
                if not str(missing.name).startswith("manipula.reports"):
                    raise
        for path in files.values():
            os.replace(staging / path.name, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    shutil.rmtree(staging, ignore_errors=True)
    return files


def shown(path: Path) -> str:
    return printable(path, 400)

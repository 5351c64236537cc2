"""Files that commands write: none that exists is replaced unasked; those of a run are written beside their place first, then moved there together."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manipula.errors import DescriptionError, printable

if TYPE_CHECKING:
    from manipula.simulation.result import Result


Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def check_targets(force: bool, **targets: Path | None) -> None:
    """Refuse, before any work, to replace a file that exists, or to be told to where there is none.

    Args:
        targets: the file of every option, None where it was not given.
    """
    given = {option: path for option, path in targets.items() if path is not None}
    if force and not given:
        options = " or ".join(f"--{option}" for option in targets)
        raise DescriptionError(f"There is no file to replace without {options}.", field="--force")
    seen: dict[str, str] = {}
    for option, path in given.items():
        if path.is_dir():
            raise DescriptionError("This is a folder; the path of a file is needed.", file=str(path))
        if not force and path.exists():
            raise DescriptionError("This file exists; --force replaces it.", file=str(path))
        first = seen.setdefault(os.path.abspath(path), option)
        if first != option:
            raise DescriptionError(f"--{first} and --{option} name the same file.", field=f"--{option}")


def check_free(folder: Path, names: list[str], force: bool) -> None:
    """Refuse, before any work, to replace files that exist."""
    if folder.exists() and not folder.is_dir():
        raise DescriptionError("This is a file, not a folder.", file=str(folder))
    for name in names:
        if not force and (folder / name).exists():
            raise DescriptionError("This file exists; --force replaces it.", file=str(folder / name))


def write_all(
    folder: Path, result: Result, scenario: Any, *, csv: bool, report: bool
) -> tuple[dict[str, Path], tuple[str, ...]]:
    """``result.nc``, ``scenario.toml`` and, when wanted, ``result.csv`` and ``report.html``: the paths by what they are, and
    a sentence for each file that could not be made.

    Everything is written to a hidden folder first; an interruption leaves no half result. The numbers are never lost to a failure of
    what is made from them: a report, a table or a scenario file that cannot be written is left out.
    """
    import shutil
    import tempfile

    from manipula.simulation.files.scenario_file import save_scenario

    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    files: dict[str, Path] = {}
    left_out: list[str] = []
    try:
        result.save(staging / "result.nc")
        files["result"] = folder / "result.nc"
        wanted: list[tuple[str, str, Any]] = [("scenario", "scenario.toml", lambda path: save_scenario(scenario, path))]
        wanted += [("csv", "result.csv", result.save)] if csv else []
        wanted += [("report", "report.html", result.report)] if report else []
        for kind, name, write in wanted:
            try:
                write(staging / name)
                files[kind] = folder / name
            except OSError:
                raise  # the disk, not the picture
            except Exception as error:
                left_out.append(f"{name} could not be made and is left out: {type(error).__name__}: {error}")
        for path in files.values():
            os.replace(staging / path.name, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    shutil.rmtree(staging, ignore_errors=True)
    return files, tuple(left_out)


def shown(path: Path) -> str:
    """A path as messages print it."""
    return printable(path, 400)

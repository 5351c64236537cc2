"""Results in files: NetCDF, npz, CSV, Parquet and MCAP. A file appears whole or not at all, and loads back equal."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from manipula.algebra.arguments import whole_number
from manipula.errors import CompileError, DescriptionError, printable, unknown_name
from manipula.formats.whole_file import file_path, whole_file
from manipula.simulation.result import Result

MODULES = {".nc": "nc_file", ".npz": "npz_file", ".csv": "csv_file", ".parquet": "parquet_file", ".mcap": "mcap_file"}
FORMATS = tuple(MODULES)


def format_of(path: Path) -> Any:
    """The module that reads and writes files with this suffix."""
    suffix = path.suffix.lower()
    if suffix not in MODULES:
        raise unknown_name("format of results", suffix, FORMATS, file=str(path))
    return importlib.import_module(f"manipula.simulation.stored.{MODULES[suffix]}")


def to_xarray(result: Result) -> Any:
    """An ``xarray.Dataset``: dimensions (run,) time, joint, axis …, labels along them and CF units."""
    from manipula.simulation.stored import nc_file

    return nc_file.to_xarray(result)


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result; the format follows the suffix."""
    target = file_path(path)
    write = format_of(target).write
    with whole_file(target) as part:
        write(result, part)


def load_result(path: str | os.PathLike[str], *, budget: int | None = None) -> Result:
    """Read a result that ``save`` wrote: equal to the one that was saved, or an error.

    Args:
        budget: most bytes that its arrays may take in memory; 2 GiB when omitted. Larger files are refused before they are read.
    """
    from manipula.simulation.stored.content import MAX_LOADED

    most = MAX_LOADED if budget is None else whole_number(budget, "budget", 1, sys.maxsize)
    target = file_path(path)
    read = format_of(target).read
    if not os.path.isfile(target):
        folder = os.path.isdir(target)
        raise DescriptionError(
            "This is a folder, not a file." if folder else "This file does not exist.", file=str(path)
        )
    try:
        return read(target, most)
    except DescriptionError as error:
        raise error.at(file=str(path)) from None
    except CompileError:
        raise
    except Exception as error:
        raise DescriptionError(
            f"This is not a result of manipula, or it is damaged: {type(error).__name__}: {printable(error)}.",
            file=str(path),
        ) from error

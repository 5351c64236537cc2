"""Tables of measurements in files: CSV, Parquet, NetCDF and npz as named columns, within a budget, and nothing but data is read.

A variable of NetCDF or npz with two axes is one column per joint, ``q`` → ``q1 q2 …``, or by the labels that its axis has.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import BudgetError, CompileError, DescriptionError, printable, unknown_name
from manipula.formats.guard import read_bytes, read_text
from manipula.formats.whole_file import file_path

MAX_BYTES = 160 * 2**20  # of a file; two seconds for the largest, and so with all below
MAX_NUMBERS = 10_000_000
MAX_TEXT, MAX_CELLS = 40 * 2**20, 2_000_000  # bytes and numbers of a text, which takes longer to read
MAX_ODD_CELLS = 700_000  # of a table that is looked at cell by cell
MAX_COLUMNS = 2000
MAX_HEADER = 1 << 20
WORDS = ("", "nan", "NaN", "NA", "null", "None")  # cells that say: not measured
DATE = "date"  # what a column of dates is in: seconds since the first of them
TIMES = ("t", "time", "timestamp", "time_s")


class MeasuredColumns(dict[str, np.ndarray]):
    """Columns of numbers by name, with the units that the file states, by column."""

    def __init__(self, columns: Mapping[str, np.ndarray] | Iterable[tuple[str, np.ndarray]] = (), units: Mapping[str, str] | None = None) -> None:  # fmt: skip
        super().__init__(columns)
        self.units = dict(units or {})


def read_table(path: Any) -> MeasuredColumns:
    """Columns of numbers by name, all of one length; NaN where nothing was measured.

    Raises:
        DescriptionError: whatever is wrong with the file.
    """
    target = file_path(path)
    suffix = target.suffix.lower()
    if suffix not in READERS:
        raise unknown_name("format of logs", suffix, READERS, file=str(target))
    try:
        found = READERS[suffix](target)
    except DescriptionError as error:
        raise error.at(file=str(target)) from None
    except CompileError:
        raise
    except Exception as error:
        raise DescriptionError(
            f"This file cannot be read as {suffix[1:]}: {type(error).__name__}: {printable(error)}.", file=str(target)
        ) from None
    if not found:
        raise DescriptionError("The file has no columns of numbers.", file=str(target))
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        (one, first), (other, second) = next((a, b) for a in lengths.items() for b in lengths.items() if a[1] != b[1])
        raise DescriptionError(
            f"Columns have different lengths: '{printable(one)}' {first}, '{printable(other)}' {second}.",
            file=str(target),
        )
    return found


def _within(rows: int, columns: int, most: int | None = None) -> int:
    """How many numbers, where they are not too many."""
    most = MAX_NUMBERS if most is None else min(most, MAX_NUMBERS)
    if columns > MAX_COLUMNS:
        raise BudgetError(f"A log has at most {MAX_COLUMNS} columns, this one {columns}.")
    if rows * columns > most:
        more = "; Parquet, NetCDF and npz may hold more" if most < MAX_NUMBERS else ""
        raise BudgetError(f"A log has at most {most} numbers, this one {rows * columns}{more}.")
    return rows * columns


def _named(names: list[str]) -> list[str]:
    """The names of columns, without spaces around them; none twice."""
    clean = [name.strip() for name in names]
    for k, name in enumerate(clean):
        if name and name in clean[:k]:
            raise DescriptionError(f"Two columns are called '{printable(name)}'.")
    return clean


def _csv(path: Path) -> MeasuredColumns:
    """Comma, semicolon or tab between columns; the first line names them; lines that begin with # are left out."""
    text = read_text(path, MAX_TEXT)
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None)
    if start is None:
        raise DescriptionError("The file is empty.")
    if "\0" in text:
        raise DescriptionError("The file holds null characters: it is no table.")
    divider = max(",;\t", key=lines[start].count)
    if len(lines[start]) > MAX_HEADER:
        raise BudgetError(f"The first line has more than {MAX_HEADER} letters.")
    names = _named(next(csv.reader(lines[start:], delimiter=divider)))
    if all(_number(name) is not None for name in names if name):
        raise DescriptionError("The first line must name the columns; it holds numbers.", line=start + 1)
    size = _within(len(lines) - start - 1, len(names), MAX_CELLS)
    body = "\n".join(lines[start + 1 :])
    if body.isascii() and "_" not in body and '"' not in body:
        table = _plain_cells(body, divider, len(names))
        if table is not None:
            return MeasuredColumns({name: table[:, c] for c, name in enumerate(names) if name})
    if size > MAX_ODD_CELLS:
        raise BudgetError(
            f"Some cells are no plain numbers (words, quotes, letters beyond ASCII); of such a table at most {MAX_ODD_CELLS} cells are read, this "
            f"one has {size}. Leave these columns out, or write the table as Parquet."
        )
    return _odd_cells(lines, start, divider, names)


def _plain_cells(text: str, divider: str, columns: int) -> np.ndarray | None:
    """Cells that are numbers or empty, at once, (rows, columns); None where a cell is anything else or a row has another length."""
    if "#" in text:
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    if divider == ";":
        text = text.replace(",", ".")
    for _ in range(2):  # every other one of neighbours
        text = text.replace(2 * divider, f"{divider}nan{divider}")
    text = text.replace(f"{divider}\n", f"{divider}nan\n").replace(f"\n{divider}", f"\nnan{divider}")
    text = ("nan" if text.startswith(divider) else "") + text + ("nan" if text.endswith(divider) else "")
    rows = [row for row in text.split("\n") if row]
    if not rows or any(not row.strip() for row in rows):
        return None
    try:
        table = np.loadtxt(rows, delimiter=divider, comments=None, ndmin=2)
    except ValueError:  # which cell it was is reported by those that look at every one
        return None
    return table if table.shape == (len(rows), columns) else None


def _odd_cells(lines: list[str], start: int, divider: str, names: list[str]) -> MeasuredColumns:
    """Cell by cell: words that say that nothing was measured, times that are dates, columns of words, which are left out, and what is wrong."""
    decimal_comma = divider == ";"
    times = [c for c, name in enumerate(names) if name.lower() in TIMES]
    dates: dict[int, list[str]] = {c: [] for c in times}
    found: list[list[float]] = []
    words: dict[int, int] = {}
    for k, row in enumerate(csv.reader(lines[start + 1 :], delimiter=divider), start + 2):
        if not row or row[0].lstrip().startswith("#"):
            continue
        if len(row) != len(names):
            raise DescriptionError(f"This row has {len(row)} columns, the first line names {len(names)}.", line=k)
        numbers = []
        for c, cell in enumerate(row):
            value = _number(cell.replace(",", ".") if decimal_comma else cell)
            if value is None:
                words.setdefault(c, k)
            numbers.append(np.nan if value is None else value)
        for c in times:
            dates[c].append(row[c])
        found.append(numbers)
    table = np.array(found, float).reshape(-1, len(names))
    kept = MeasuredColumns({name: table[:, c] for c, name in enumerate(names) if name and c not in words})
    for c in [c for c in times if c in words]:
        seconds = _since_first(dates[c])
        if seconds is not None:
            kept[names[c]], kept.units[names[c]] = seconds, DATE
            del words[c]
    for c, line in words.items():  # a column of words is no signal; one that is numbers elsewhere is a fault
        if names[c] and np.isfinite(table[:, c]).any():
            raise DescriptionError(f"Column '{printable(names[c])}' holds something that is no number.", line=line)
    return kept


def _since_first(cells: list[str]) -> np.ndarray | None:
    """Seconds since the first of dates as ISO 8601 writes them, NaN where there is none; None where a cell is anything else."""
    try:
        found = np.array(
            ["NaT" if cell.strip() in WORDS else cell.strip().removesuffix("Z") for cell in cells], "datetime64[ns]"
        )
    except (ValueError, UserWarning):
        return None
    return _seconds(found)


def _seconds(dates: np.ndarray) -> np.ndarray:
    known = dates[~np.isnat(dates)]
    return (dates - known[0]) / np.timedelta64(1, "s") if len(known) else np.full(len(dates), np.nan)


def _number(cell: str) -> float | None:
    """NaN for an empty cell, None for a word."""
    cell = cell.strip()
    if cell in WORDS:
        return float("nan")
    if "_" in cell or not cell.isascii():  # Python reads 1_000 and ٣, no other program does
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _parquet(path: Path) -> MeasuredColumns:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise CompileError("Parquet needs pyarrow: pip install 'manipula[data]'.") from None
    data = read_bytes(path, MAX_BYTES)
    with parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True) as file:
        told = file.metadata
        _within(told.num_rows, told.num_columns)
        unpacked = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
        if unpacked > 16 * MAX_NUMBERS:
            raise BudgetError(f"Unpacked, a log has at most {16 * MAX_NUMBERS} bytes, this one {unpacked}.")
        names = _named(list(file.schema_arrow.names))
        kinds = [str(kind) for kind in file.schema_arrow.types]
        dated = {k for k, kind in enumerate(kinds) if kind.startswith("timestamp[")}
        kept = [k for k, kind in enumerate(kinds) if kind in _ARROW or k in dated]
        table = file.read(columns=[file.schema_arrow.names[k] for k in kept], use_threads=False)
        read = {k: table.column(i).to_numpy() for i, k in enumerate(kept)}
        values = {
            names[k]: _seconds(x.astype("datetime64[ns]")) if k in dated else np.asarray(x, float)
            for k, x in read.items()
        }
        return MeasuredColumns(values, {names[k]: DATE for k in dated})


_ARROW = {"double", "float", "halffloat", *(f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64))}


def _netcdf(path: Path) -> MeasuredColumns:
    """Classic NetCDF, as ``result.save("run.nc")`` and xarray write it; with one time axis. Packed numbers are unpacked, fill values are not measured."""
    data = read_bytes(path, MAX_BYTES)
    if data[1:4] == b"HDF":
        raise DescriptionError("This is NetCDF-4 (HDF5); write it as classic NetCDF: to_netcdf(path, engine='scipy').")
    from scipy.io import netcdf_file

    with netcdf_file(io.BytesIO(data), "r", mmap=False, maskandscale=True) as file:
        variables = {name: (v.dimensions, _unpacked(v)) for name, v in file.variables.items()}
        told = {name: v.units for name, v in file.variables.items() if isinstance(getattr(v, "units", None), bytes)}
    letters = {
        name: values for name, (over, values) in variables.items() if over[:1] == (name,) and values.dtype.kind == "S"
    }
    labels = {name: _texts(values) for name, values in letters.items() if values.ndim == 2}
    stated = {name: text.decode("utf-8", "replace").strip() for name, text in told.items()}
    numbers = {k: v for k, v in variables.items() if v[1].dtype.kind in "fiu"}
    found, units = {}, {}
    for origin, name, values in _columns(numbers, labels):
        found[name] = values
        if stated.get(origin):
            units[name] = stated[origin]
    return MeasuredColumns(found, units)


def _unpacked(variable: Any) -> np.ndarray:
    """The values of a variable, with NaN where a fill value stands."""
    if np.asarray(variable.data).dtype.kind not in "fiu":
        return np.array(variable.data)
    values = variable[:] if variable.shape else variable.data
    return np.ma.filled(values.astype(float), np.nan) if np.ma.is_masked(values) else np.array(values)


def _texts(letters: np.ndarray) -> list[str]:
    return [b"".join(row.tolist()).rstrip(b"\0").decode("utf-8", "replace") for row in letters]


def _columns(
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]], labels: dict[str, list[str]]
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Variables over time, and one column per joint of those over time and joint: variable, column and its numbers."""
    time = next((over[0] for name, (over, _) in variables.items() if name in TIMES and len(over) == 1), None)
    if time is None:
        raise DescriptionError(f"The file has no time; one variable over one axis must be called {', '.join(TIMES)}.")
    for name, (over, values) in variables.items():
        if over[:1] != (time,) or values.ndim > 2:
            continue
        if values.ndim == 1:
            yield name, name, values.astype(float)
        else:
            _within(len(values), values.shape[1])
            ends = labels.get(over[1], [])
            for k in range(values.shape[1]):
                yield name, (f"{name}_{ends[k]}" if k < len(ends) else f"{name}{k + 1}"), values[:, k].astype(float)


def _npz(path: Path) -> MeasuredColumns:
    data = read_bytes(path, MAX_BYTES)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        if sum(entry.file_size for entry in packed.infolist()) > 8 * MAX_NUMBERS + MAX_HEADER:
            raise BudgetError(f"Unpacked, a log has at most {8 * MAX_NUMBERS} bytes.")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    shown = {
        k: (("t", f"{k} axis")[: v.ndim], v) for k, v in arrays.items() if v.dtype.kind in "fiu" and v.ndim in (1, 2)
    }
    lengths = {len(v) for name, (_, v) in shown.items() if name in TIMES}
    kept = {k: v for k, v in shown.items() if len(v[1]) in lengths or not lengths}
    return MeasuredColumns((name, values) for _, name, values in _columns(kept, {}))


READERS: dict[str, Callable[[Path], MeasuredColumns]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".nc": _netcdf,
    ".npz": _npz,
}

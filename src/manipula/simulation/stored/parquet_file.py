"""Results as Parquet: columns as in CSV, units in the fields, the header in the metadata. ``pandas.read_parquet("run.parquet")`` reads it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import CompileError, DescriptionError
from manipula.simulation.result import Result
from manipula.simulation.stored import legacy
from manipula.simulation.stored.content import Header, check_size, closed, is_legacy, opened, parsed, sealed
from manipula.simulation.stored.flat import Filled, rows_of, single

ROWS = 1 << 16  # of one row group


def _arrow() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise CompileError("Parquet needs pyarrow: pip install 'manipula[data]'.") from None
    return parquet


def _schema(entries: dict[str, Any], shapes: dict[str, tuple[int, ...]], columns: list[str]) -> Any:
    """Columns of float64 with their units, without the header."""
    import pyarrow as pa

    units: list[str] = []
    for name, shape in shapes.items():
        v = entries["variables"]["time" if name == "t" else name]
        each = [v["attributes"].get("units", "")] * math.prod(shape[1:])
        mixed = [k for k in v["attributes"].get("coordinates", "").split() if k.endswith("_unit")]
        units += entries["labels"][mixed[0]]["values"] if mixed else each
    fields = [
        pa.field(name, pa.float64(), metadata={"units": unit} if unit else None) for name, unit in zip(columns, units)
    ]
    return pa.schema(fields)


def write(result: Result, path: Path) -> None:
    """Write a result into a Parquet file."""
    parquet = _arrow()
    import pyarrow as pa

    single(result)
    text = sealed(result)
    entries = parsed(text)
    shapes = {"t": result.t.shape, **{name: value.shape for name, value in result.arrays.items()}}
    schema = _schema(entries, shapes, entries["columns"]).with_metadata({b"manipula": text.encode()})
    with parquet.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for block in rows_of(result, ROWS):
            writer.write_batch(pa.record_batch([pa.array(np.ascontiguousarray(c)) for c in block.T], schema=schema))


def read(path: Path, budget: int) -> Result:
    """The result in a Parquet file; one of more than ``budget`` numbers is refused."""
    with _arrow().ParquetFile(path, page_checksum_verification=True) as file:
        told = file.metadata
        schema = file.schema_arrow
        text = (schema.metadata or {}).get(b"manipula", b"").decode()
        if not text:
            raise DescriptionError("This Parquet file holds no result of manipula: it has no metadata 'manipula'.")
        entries = parsed(text)
        # the arrays, and what a reader unpacks on the way to them
        check_size({"rows": (told.num_rows, told.num_columns)}, budget)
        check_size(
            {"pages": (sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups)) // 8,)}, budget
        )
        names = list(schema.names)
        if len(names) != told.num_columns or any(str(kind) != "double" for kind in schema.types):
            raise DescriptionError("The file is damaged: its columns are not numbers.")
        if is_legacy(entries):
            table = file.read()
            return legacy.from_columns(entries, names, [table.column(k).to_numpy() for k in range(len(names))])
        header = opened(text, entries, budget)
        if told.num_rows != header.samples or not schema.remove_metadata().equals(
            _schema(entries, header.shapes, header.columns), check_metadata=True
        ):
            raise DescriptionError(
                "The file was changed after it was written: its columns are not those of its header."
            )
        if set(schema.metadata) != {b"manipula"}:
            raise DescriptionError("The file was changed after it was written: it has other metadata.")
        return closed(header, _filled(file, header))


def _filled(file: Any, header: Header) -> dict[str, np.ndarray]:
    """A row group at a time."""
    found = Filled(header)
    for part in file.iter_batches(batch_size=ROWS, use_threads=False):
        if any(column.null_count for column in part.columns):
            raise DescriptionError("The file is damaged: a number is missing.")
        found.put(np.stack([column.to_numpy() for column in part.columns], axis=1))
    return found.done()

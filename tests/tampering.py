"""Stored results taken apart and put together again by other means than the package's own, with one thing changed."""

from __future__ import annotations

import copy
import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Change = tuple[str, bytes]  # what was changed, and the file with it
BEGIN = len('{"digest": "')


def header_of(path: Path) -> str:
    """The header's text, found without the package."""
    if path.suffix == ".npz":
        with np.load(path) as data:
            return str(data["manipula"])
    if path.suffix == ".csv":
        csv.field_size_limit(1 << 24)
        with path.open(newline="") as stream:
            return next(csv.DictReader(stream))["manipula"]
    if path.suffix == ".nc":
        from scipy.io import netcdf_file

        with netcdf_file(path, mmap=False) as data:
            return data.manipula.decode()
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        return parquet.read_schema(path).metadata[b"manipula"].decode()
    from mcap.reader import make_reader

    with path.open("rb") as stream:
        return next(iter(make_reader(stream).iter_metadata())).metadata["header"]


def with_header(path: Path, text: str) -> bytes:
    """The file with another header, everything else as it was."""
    return REBUILT[path.suffix](path, text, "", None)


def changed_headers(text: str) -> Iterator[tuple[str, str]]:
    """Headers that differ in one leaf, in one missing key, in the digest, in the number of the format."""
    entries = json.loads(text)
    for place in leaves(entries):
        if place != ("digest",):
            yield f"header {place}", json.dumps(replaced(entries, place))
    for name in entries:
        yield f"without {name}", json.dumps({k: v for k, v in entries.items() if k != name})
    yield "digest null", json.dumps({**entries, "digest": None})
    yield "digest empty", json.dumps({**entries, "digest": ""})
    yield "digest blank", json.dumps({**entries, "digest": "0" * 64})
    yield "digest cut", json.dumps({**entries, "digest": entries["digest"][:-1]})
    yield "digest key", text.replace('"digest"', '"Digest"', 1)
    for number in (0, 1, 3, "2", None):
        yield f"format {number}", json.dumps({**entries, "format": number})
    yield "format 1, flat", json.dumps({"digest": entries["digest"], **entries["fields"], "shapes": entries["shapes"]})
    yield "another space", text.replace(", ", ",  ", 1)
    yield "a key twice", text[:-1] + ', "format": 2}'


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for k, v in value.items():
            yield from leaves(v, (*place, k))
    elif isinstance(value, list) and value:
        for k, v in enumerate(value):
            yield from leaves(v, (*place, k))
    else:
        yield place


def replaced(value: Any, place: tuple[Any, ...]) -> Any:
    value = copy.deepcopy(value)
    inner = value
    for k in place[:-1]:
        inner = inner[k]
    old = inner[place[-1]]
    if isinstance(old, bool) or old is None:
        inner[place[-1]] = not old
    elif isinstance(old, int | float):
        inner[place[-1]] = old + 1
    elif isinstance(old, str):
        inner[place[-1]] = old[:-1] + ("x" if old[-1:] != "x" else "y")
    else:
        inner[place[-1]] = ["x"] if isinstance(old, list) else {"x": 1}
    return value


def changed_contents(path: Path, names: list[str]) -> Iterator[Change]:
    """The file with one number of each array changed (by the last bit, or to another sign of zero), and with arrays lost or new."""
    for name in names:
        yield f"number of {name}", REBUILT[path.suffix](path, None, name, lambda v: np.nextafter(v, np.inf))
    yield "zero for a number", REBUILT[path.suffix](path, None, names[0], lambda v: 0.0 * v)
    yield "no number", REBUILT[path.suffix](path, None, names[0], lambda v: v * np.nan)


Edit = Callable[[np.ndarray], np.ndarray] | None


def edited(values: np.ndarray, edit: Edit) -> np.ndarray:
    out = np.array(values, float)
    assert edit is not None
    out.flat[-1] = edit(out.flat[-1])
    return out


def npz(path: Path, text: str | None, name: str, edit: Edit) -> bytes:
    with np.load(path) as data:
        arrays = {k: data[k] for k in data.files}
    if text is not None:
        arrays["manipula"] = np.array(text)
    if name:
        arrays[name] = edited(arrays[name], edit)
    return npz_bytes(arrays)


def npz_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, v in arrays.items():
            with archive.open(f"{k}.npy", "w") as member:
                np.lib.format.write_array(member, v, allow_pickle=False)
    return out.getvalue()


def csv_text(path: Path, text: str | None, name: str, edit: Edit) -> bytes:
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    if text is not None:
        rows[1][-1] = text
    if name:
        k = max(i for i, column in enumerate(rows[0]) if column == name or column.startswith(f"{name}_"))
        rows[-1][k] = repr(float(edited(np.array([float(rows[-1][k])]), edit)[0]))
    return csv_bytes(rows)


def csv_bytes(rows: list[list[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def netcdf(path: Path, text: str | None, name: str, edit: Edit) -> bytes:
    return netcdf_with(path, text, {"time" if name == "t" else name: edit} if name else {})


def netcdf_with(path: Path, text: str | None = None, edits: dict[str, Edit] | None = None, attributes: Any = None,
                rename: dict[str, str] | None = None, letters: dict[str, bytes] | None = None) -> bytes:  # fmt: skip
    """Rewritten by SciPy."""
    from scipy.io import netcdf_file

    rename, out = rename or {}, io.BytesIO()
    with netcdf_file(path, mmap=False) as old:
        new = netcdf_file(out, "w", version=2)
        for k, v in old._attributes.items():
            setattr(new, k, v)
        if text is not None:
            new.manipula = text
        for k, v in (attributes or {}).get("", {}).items():
            delattr(new, k) if v is None else setattr(new, k, v)
            if v is None:
                del new._attributes[k]
        for k, v in old.dimensions.items():
            new.createDimension(rename.get(k, k), v)
        for k, v in old.variables.items():
            made = new.createVariable(rename.get(k, k), v.typecode(), tuple(rename.get(d, d) for d in v.dimensions))
            data = v[...].copy()
            if k in (edits or {}):
                data = edited(data, (edits or {})[k])
            if k in (letters or {}):
                data.flat[0] = (letters or {})[k]
            made[...] = data
            wanted = {**v._attributes, **(attributes or {}).get(k, {})}
            for a, value in wanted.items():
                if value is not None:
                    setattr(made, a, value)
        new.flush()
        return out.getvalue()


def parquet(path: Path, text: str | None, name: str, edit: Edit) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    if text is not None:
        table = table.replace_schema_metadata({b"manipula": text.encode()})
    if name:
        k = max(i for i, column in enumerate(table.column_names) if column == name or column.startswith(f"{name}_"))
        table = table.set_column(k, table.schema.field(k), pa.array(edited(table.column(k).to_numpy(), edit)))
    return parquet_bytes(table)


def parquet_bytes(table: Any) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def mcap(path: Path, text: str | None, name: str, edit: Edit) -> bytes:
    def body(values: dict[str, Any], last: bool) -> dict[str, Any]:
        if name and last:
            values[name] = edited(np.array(values[name]), edit).tolist()
        return values

    return mcap_with(path, text, body)


def mcap_with(path: Path, text: str | None = None, body: Any = None, **other: Any) -> bytes:
    from mcap.reader import make_reader
    from mcap.writer import Writer

    with path.open("rb") as stream:
        messages = list(make_reader(stream).iter_messages())
    out = io.BytesIO()
    writer = Writer(out)
    writer.start(profile="", library="somebody else")
    schema, channel, _ = messages[0]
    made = writer.register_schema(name=other.get("schema", schema.name), encoding=schema.encoding,
                                  data=other.get("schema_data", schema.data))  # fmt: skip
    on = writer.register_channel(schema_id=made, topic=other.get("topic", channel.topic), message_encoding="json")
    writer.add_metadata(
        other.get("record", "manipula"), {other.get("key", "header"): header_of(path) if text is None else text}
    )
    for i, (_, _, message) in enumerate(messages):
        values = json.loads(message.data)
        values = body(values, i == len(messages) - 1) if body else values
        late = other.get("late", 0)
        writer.add_message(on, message.log_time + late, json.dumps(values).replace("NaN", "null").encode(),
                           message.publish_time + late, other.get("sequence", i))  # fmt: skip
    writer.finish()
    return out.getvalue()


REBUILT: dict[str, Callable[[Path, str | None, str, Edit], bytes]] = {
    ".npz": npz, ".csv": csv_text, ".nc": netcdf, ".parquet": parquet, ".mcap": mcap,
}  # fmt: skip

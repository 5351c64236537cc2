"""Results as MCAP: one JSON message per sample on ``/robot``, the header in a metadata record."""

from __future__ import annotations

import importlib
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import BudgetError, CompileError, DescriptionError
from manipula.simulation.result import Result
from manipula.simulation.stored import legacy
from manipula.simulation.stored.content import Header, check_size, closed, is_legacy, opened, parsed, sealed
from manipula.simulation.stored.flat import single

TOPIC, SCHEMA = "/robot", "manipula.Sample"
LETTERS = 40  # of one number in JSON, at most
CHANGED = "The file was changed after it was written: "


def _mcap(part: str) -> Any:
    try:
        return importlib.import_module(f"mcap.{part}")
    except ImportError:
        raise CompileError("MCAP needs the mcap package: pip install 'manipula[export]'.") from None


def _schema(names: list[str]) -> bytes:
    return json.dumps({
        "type": "object", "properties": {k: {"type": "array", "items": {"type": "number"}} for k in names},
    }).encode()  # fmt: skip


def write(result: Result, path: Path) -> None:
    """Write a result into an MCAP file."""
    writing = _mcap("writer")
    single(result)
    text = sealed(result)
    with path.open("wb") as stream:
        writer = writing.Writer(stream)
        writer.start(profile="", library="manipula")
        schema = writer.register_schema(name=SCHEMA, encoding="jsonschema", data=_schema(list(result.arrays)))
        channel = writer.register_channel(schema_id=schema, topic=TOPIC, message_encoding="json")
        writer.add_metadata("manipula", {"header": text})
        for i, t in enumerate(result.t):
            parts = [f'"t": {float(t)!r}', *(f'"{name}": [{_numbers(v[i])}]' for name, v in result.arrays.items())]
            body = "{" + ", ".join(parts) + "}"
            stamp = _stamp(t)
            writer.add_message(channel_id=channel, log_time=stamp, publish_time=stamp, sequence=i, data=body.encode())
        writer.finish()


def _numbers(values: np.ndarray) -> str:
    """JSON has no NaN and no infinity: null, and a number beyond all doubles."""
    return ", ".join(
        repr(v) if math.isfinite(v) else "null" if v != v else "1e999" if v > 0 else "-1e999"
        for v in np.asarray(values, float).ravel().tolist()
    )


def _stamp(t: Any) -> int:
    return max(0, round(float(t) * 1e9))


def read(path: Path, budget: int) -> Result:
    """The result in an MCAP file; one of more than ``budget`` numbers is refused."""
    check_size({"file": (path.stat().st_size // 8,)}, budget)
    data = path.read_bytes()
    found = [m for m in _records(data, budget, inside=False) if type(m).__name__ == "Metadata"]
    if len(found) != 1 or found[0].name != "manipula" or list(found[0].metadata) != ["header"]:
        raise DescriptionError("This MCAP file holds no result of manipula: it has no metadata 'manipula'.")
    text = found[0].metadata["header"]
    entries = parsed(text)
    if is_legacy(entries):
        return _read_old(entries, data, budget)
    header = opened(text, entries, budget)
    if len(header.shapes["t"]) != 1 or any(shape[0] != header.samples for shape in header.shapes.values()):
        raise DescriptionError("The header of the result is damaged: this is no single run.")
    wanted = {name: (header.samples, math.prod(shape[1:])) for name, shape in header.shapes.items()}
    chunks = (_unpacked_size(m) for m in _records(data, budget, inside=False) if type(m).__name__ == "Chunk")
    if sum(2 * rows * columns for rows, columns in wanted.values()) > sum(chunks):
        raise DescriptionError("The file is damaged: it is too short for the samples it says.")
    arrays = {name: np.empty(shape) for name, shape in wanted.items()}
    _fill(header, arrays, _records(data, budget))
    return closed(header, {name: arrays[name].reshape(shape) for name, shape in header.shapes.items()})


def _letters(arrays: dict[str, np.ndarray]) -> int:
    """Most letters of one message."""
    return 1000 + sum(len(name) + 8 + LETTERS * v.shape[1] for name, v in arrays.items())


def _fill(header: Header, arrays: dict[str, np.ndarray], records: Iterator[Any]) -> None:
    """Messages into their rows; schema, channel, order and stamps are what the header implies."""
    letters = _letters(arrays)
    row = 0
    for record in records:
        kind = type(record).__name__
        if kind == "Schema":
            names = [name for name in arrays if name != "t"]
            good = (record.name, record.encoding, record.data) == (SCHEMA, "jsonschema", _schema(names))
        elif kind == "Channel":
            good = (record.topic, record.message_encoding, dict(record.metadata)) == (TOPIC, "json", {})
        elif kind == "Message":
            good = row < header.samples and record.sequence == row and len(record.data) <= letters
            if good:
                body = json.loads(record.data)
                good = list(body) == list(arrays)
                for name, value in body.items() if good else ():
                    entries = [value] if name == "t" else value
                    good = good and isinstance(entries, list) and len(entries) == arrays[name].shape[1]
                    arrays[name][row] = [math.nan if v is None else float(v) for v in entries] if good else math.nan
                good = good and record.log_time == record.publish_time == _stamp(arrays["t"][row, 0])
            row += 1
        else:
            good = kind != "Attachment"
        if not good:
            raise DescriptionError(f"{CHANGED}a {kind.lower()} is not what its header implies.")
    if row != header.samples:
        raise DescriptionError(f"The file is damaged: it has {row} messages of {header.samples}.")


def _records(data: bytes, budget: int, inside: bool = True) -> Iterator[Any]:
    """Records of the file, checksums checked; chunks are unpacked when their size is known to be within the budget."""
    reading = _mcap("stream_reader")
    reader = reading.StreamReader(
        io.BytesIO(data), emit_chunks=True, validate_crcs=True, record_size_limit=max(len(data), 1)
    )
    total = 0
    for record in reader.records:
        if type(record).__name__ != "Chunk" or not inside:
            yield record
        else:
            total += _unpacked_size(record)
            if total > budget:
                raise BudgetError(
                    f"The messages would take {total} bytes, allowed are {budget}: load_result(path, budget=…) allows more."
                )
            yield from reading.breakup_chunk(record, validate_crc=True)


def _unpacked_size(chunk: Any) -> int:
    """How large a chunk becomes: what it says, and what its compressed data say, agree."""
    told = len(chunk.data)
    if chunk.compression == "zstd":
        import zstandard

        told = zstandard.frame_content_size(chunk.data)
    elif chunk.compression:
        raise DescriptionError("A chunk is compressed in a way that manipula does not write.")
    if told != chunk.uncompressed_size:
        raise DescriptionError("The file is damaged: a chunk is larger than it says.")
    return told


def _read_old(entries: dict[str, Any], data: bytes, budget: int) -> Result:
    shapes = legacy.shapes(entries)
    messages = [m for m in _records(data, budget) if type(m).__name__ == "Message"]
    check_size({name: (len(messages), *shape) for name, shape in shapes.items()}, budget)
    t = np.empty(len(messages))
    arrays = {name: np.empty((len(messages), math.prod(shape))) for name, shape in shapes.items()}
    for row, message in enumerate(messages):
        if len(message.data) > _letters(arrays):
            raise DescriptionError("The file is damaged: a message is longer than its numbers.")
        body = json.loads(message.data)
        t[row] = body["t"]
        for name, values in arrays.items():
            values[row] = [np.nan if v is None else v for v in body[name]]
    return legacy.closed(entries, t, {name: v.reshape(len(t), *shapes[name]) for name, v in arrays.items()})

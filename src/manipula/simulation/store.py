"""Results in files: NetCDF, npz, CSV, Parquet and MCAP. A file appears whole or not at all, and loads back equal."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import CompileError, DescriptionError, printable, unknown_name
from manipula.simulation.result import UNITS, Result

FORMATS = (".nc", ".npz", ".csv", ".parquet", ".mcap")
LOADABLE = (".nc", ".npz", ".csv", ".parquet", ".mcap")
MAX_BYTES = 4 << 30
JOINT = frozenset(
    {"q", "qd", "qdd", "tau", "command", "friction", "outside", "loads", "power", "applied", "reaction"}
)  # fmt: skip


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A temporary path beside ``target`` that takes its place at the end, or vanishes on any failure."""
    if not target.parent.is_dir():
        raise DescriptionError(f"The folder '{printable(target.parent)}' does not exist.", file=str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def header(result: Result) -> dict[str, Any]:
    """Everything about a result that is not an array, as plain JSON values."""
    return {
        "status": result.status, "reason": result.reason, "statuses": list(result.statuses), "reasons": list(result.reasons),
        "error_estimate": _or_none(result.error_estimate), "error_estimates": [_or_none(x) for x in result.error_estimates],
        "trusted_until": _or_none(result.trusted_until), "trusted_untils": [_or_none(x) for x in result.trusted_untils],
        "meta": json.loads(json.dumps(result.meta, default=list)), "notes": list(result.notes),
    }  # fmt: skip


def _or_none(x: float) -> float | None:
    return None if np.isnan(x) else float(x)


def _or_nan(x: Any) -> float:
    return float("nan") if x is None else float(x)


def sealed(result: Result) -> str:
    """The header as JSON with the shapes of the arrays and a digest over everything: one changed bit is noticed."""
    text = {**header(result), "shapes": {k: list(v.shape[1:]) for k, v in result.arrays.items()}}
    return json.dumps({**text, "digest": digest(text, result.t, result.arrays)})


def digest(header: dict[str, Any], t: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of the header without its digest, the times and the arrays (whatever is not finite counts as one NaN)."""
    plain = {k: v for k, v in header.items() if k != "digest"}
    found = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in ("", *sorted(arrays)):
        values = np.asarray(arrays[name] if name else t, "<f8")
        found.update(f"{name}{values.shape}".encode())
        found.update(np.where(np.isfinite(values), values, np.nan).tobytes())
    return found.hexdigest()


def from_header(text: str, t: np.ndarray, arrays: dict[str, np.ndarray]) -> Result:
    """A result from its arrays and the text of its header."""
    try:
        h = json.loads(text)
        if "digest" in h and h["digest"] != digest(h, t, arrays):
            raise DescriptionError("The file is damaged: its numbers do not match the digest stored with them.")
        meta = dict(h["meta"])
        for name in ("joint_names", "joint_kinds", "constraints"):
            if name in meta:
                meta[name] = tuple(meta[name])
        error = _or_nan(h["error_estimate"])
        arrays = {name: arrays[name] for name in h.get("shapes", arrays)}
        return Result(
            t,
            arrays,
            str(h["status"]),
            str(h["reason"]),
            tuple(h["statuses"]),
            tuple(h["reasons"]),
            error,
            meta,
            tuple(h["notes"]),
            error_estimates=tuple(map(_or_nan, h.get("error_estimates", ()))),
            trusted_until=_or_nan(h.get("trusted_until")),
            trusted_untils=tuple(map(_or_nan, h.get("trusted_untils", ()))),
        )
    except DescriptionError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise DescriptionError(f"The header of the result is damaged: {error}.") from None


def to_xarray(result: Result) -> Any:
    """An ``xarray.Dataset``: dimensions (run,) time, joint and one per further axis; units as attributes."""
    import xarray as xr

    batch = result.arrays["q"].ndim == 3
    variables: dict[str, Any] = {}
    for name, value in result.arrays.items():
        lead = ["run", "time"] if batch else ["time"]
        extra = [("joint" if name in JOINT and k == 0 else f"{name}_{k}") for k in range(value.ndim - len(lead))]
        variables[name] = xr.Variable([*lead, *extra], value, {"units": UNITS.get(name, "")})
    coords: dict[str, Any] = {"time": ("time", result.t, {"units": "s"})}
    names = list(result.joint_names)
    if names:
        coords["joint"] = ("joint", names)
    return xr.Dataset(variables, coords, {"manipula": sealed(result)})


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result; the format follows the suffix."""
    target = Path(path)
    suffix = target.suffix.lower()
    writers = {
        ".nc": _write_nc,
        ".npz": _write_npz,
        ".csv": _write_csv,
        ".parquet": _write_parquet,
        ".mcap": _write_mcap,
    }
    if suffix not in writers:
        raise unknown_name("format of results", suffix, FORMATS, file=str(path))
    with whole_file(target) as part:
        writers[suffix](result, part)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that ``save`` wrote."""
    target = Path(path)
    suffix = target.suffix.lower()
    readers = {".nc": _read_nc, ".npz": _read_npz, ".csv": _read_csv, ".parquet": _read_parquet, ".mcap": _read_mcap}
    if suffix not in readers:
        raise unknown_name("format of results", suffix, LOADABLE, file=str(path))
    if not target.is_file():
        raise DescriptionError("There is no such file.", file=str(path))
    if target.stat().st_size > MAX_BYTES:
        raise DescriptionError(f"The file is larger than {MAX_BYTES >> 30} GiB.", file=str(path))
    try:
        return readers[suffix](target)
    except DescriptionError as error:
        raise error.at(file=str(path)) from None
    except CompileError:
        raise
    except Exception as error:
        raise DescriptionError(
            f"This is not a result of manipula, or it is damaged: {type(error).__name__}: {printable(error)}.",
            file=str(path),
        ) from error


def _write_nc(result: Result, path: Path) -> None:
    data = to_xarray(result)
    if "joint" in data.coords:  # classic NetCDF holds text as characters; the names are in the header as well
        data = data.drop_vars("joint")
    data.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _read_nc(path: Path) -> Result:
    import xarray as xr

    with xr.open_dataset(path, engine="scipy", decode_times=False) as data:
        arrays = {str(name): np.array(v.values, float) for name, v in data.data_vars.items()}
        return from_header(data.attrs["manipula"], np.array(data["time"].values, float), arrays)


def _write_npz(result: Result, path: Path) -> None:
    with path.open("wb") as stream:
        arrays: dict[str, Any] = {"manipula": np.array(sealed(result)), "t": result.t}
        arrays |= {f"a_{k}": v for k, v in result.arrays.items()}
        np.savez_compressed(stream, **arrays)


def _read_npz(path: Path) -> Result:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
        arrays = {name[2:]: np.array(data[name]) for name in data.files if name.startswith("a_")}
        return from_header(str(data["manipula"]), np.array(data["t"]), arrays)


def columns(result: Result) -> dict[str, np.ndarray]:
    """Flat columns of a single run: ``t, q[0], q[1], …``; shapes are in the header."""
    if result.arrays["q"].ndim != 2:
        raise DescriptionError("A batch has no flat columns; save one run (result.run(i)) or use .nc, .npz.")
    flat: dict[str, np.ndarray] = {"t": result.t}
    for name, value in result.arrays.items():
        rows = value.reshape(len(result.t), -1)
        for k in range(rows.shape[1]):
            flat[name if value.ndim == 1 else f"{name}[{k}]"] = rows[:, k]
    return flat


def from_columns(text: str, flat: dict[str, np.ndarray]) -> Result:
    """The result whose flat columns and header (with shapes) these are."""
    shapes = json.loads(text)["shapes"]
    t = flat["t"]
    arrays = {}
    for name, shape in shapes.items():
        count = int(np.prod(shape, dtype=int))
        keys = [name] if not shape else [f"{name}[{k}]" for k in range(count)]
        arrays[name] = np.stack([flat[k] for k in keys], axis=1).reshape(len(t), *shape)
    return from_header(text, t, arrays)


def _write_csv(result: Result, path: Path) -> None:
    flat = columns(result)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(f"# manipula {sealed(result)}\n")
        stream.write(",".join(flat) + "\n")
        for row in zip(*(v.tolist() for v in flat.values())):
            stream.write(",".join(map(repr, row)) + "\n")


def _read_csv(path: Path) -> Result:
    with path.open(encoding="utf-8") as stream:
        first = stream.readline()
        if not first.startswith("# manipula "):
            raise DescriptionError("The first line of a result in CSV starts with '# manipula'.")
        names = stream.readline().strip().split(",")
        rows = np.array([[float(v) for v in line.split(",")] for line in stream if line.strip()], float).reshape(
            -1, len(names)
        )
    return from_columns(first[len("# manipula ") :], {name: rows[:, k] for k, name in enumerate(names)})


def _arrow() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise CompileError("Parquet needs pyarrow: pip install 'manipula[data]'.") from None
    return parquet


def _write_parquet(result: Result, path: Path) -> None:
    parquet = _arrow()
    import pyarrow as pa

    table = pa.table({name: pa.array(v) for name, v in columns(result).items()})
    table = table.replace_schema_metadata({b"manipula": sealed(result).encode()})
    parquet.write_table(table, path, compression="zstd", write_page_checksum=True)


def _read_parquet(path: Path) -> Result:
    table = _arrow().read_table(path, page_checksum_verification=True)
    text = (table.schema.metadata or {})[b"manipula"].decode()
    return from_columns(text, {name: table.column(name).to_numpy() for name in table.column_names})


def _mcap(part: str) -> Any:
    try:
        import importlib

        return importlib.import_module(f"mcap.{part}")
    except ImportError:
        raise CompileError("MCAP needs the mcap package: pip install 'manipula[export]'.") from None


def _write_mcap(result: Result, path: Path) -> None:
    writing = _mcap("writer")
    if result.arrays["q"].ndim != 2:
        raise DescriptionError("MCAP holds one run; save result.run(i).")
    schema = {
        "type": "object",
        "properties": {k: {"type": "array", "items": {"type": "number"}} for k in result.arrays},
    }
    with path.open("wb") as stream:
        writer = writing.Writer(stream)
        writer.start(profile="", library="manipula")
        schema_id = writer.register_schema(
            name="manipula.Sample", encoding="jsonschema", data=json.dumps(schema).encode()
        )
        channel = writer.register_channel(schema_id=schema_id, topic="/robot", message_encoding="json")
        writer.add_metadata("manipula", {"header": sealed(result)})
        for i, t in enumerate(result.t):
            body = {"t": float(t), **{k: _finite(v[i].ravel()) for k, v in result.arrays.items()}}
            stamp = round(float(t) * 1e9)
            writer.add_message(
                channel_id=channel, log_time=stamp, publish_time=stamp, sequence=i, data=json.dumps(body).encode()
            )
        writer.finish()


def _finite(values: np.ndarray) -> list[float | None]:
    """JSON has no NaN: samples after an early end are null."""
    return [float(v) if np.isfinite(v) else None for v in values]


def _read_mcap(path: Path) -> Result:
    reading = _mcap("reader")
    with path.open("rb") as stream:
        reader = reading.make_reader(stream, validate_crcs=True)
        text = next(m.metadata["header"] for m in reader.iter_metadata() if m.name == "manipula")
        bodies = [json.loads(message.data) for _, _, message in reader.iter_messages(topics=["/robot"])]
    shapes = json.loads(text)["shapes"]
    arrays = {}
    for name, shape in shapes.items():
        rows = [[np.nan if v is None else v for v in body[name]] for body in bodies]
        arrays[name] = np.array(rows, float).reshape(len(bodies), *shape)
    return from_header(text, np.array([body["t"] for body in bodies]), arrays)

"""Results as NetCDF and as ``xarray.Dataset``: (run,) time, joint … as dimensions, labels and CF units.

The file is written and read by ``classic.py``; ``xarray.open_dataset("run.nc")`` and any other reader of NetCDF opens it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manipula.errors import BudgetError, DescriptionError, printable
from manipula.simulation.result import Result
from manipula.simulation.stored import classic, legacy
from manipula.simulation.stored.axes import described
from manipula.simulation.stored.content import (
    MAX_HEADER,
    attributes,
    check_size,
    closed,
    is_legacy,
    opened,
    parsed,
    sealed,
)

CHANGED = "The file was changed after it was written: "


def to_xarray(result: Result) -> Any:
    """An ``xarray.Dataset`` with the dimensions, labels and units of the file."""
    import xarray as xr

    found = described(result)
    inside = lambda told: {k: v for k, v in told.items() if k != "coordinates"}  # noqa: E731
    variables = {
        name: xr.Variable(v["dims"], result.arrays[name], inside(v["attributes"]))
        for name, v in found["variables"].items()
        if name != "time"
    }
    coords: dict[str, Any] = {"time": ("time", result.t, found["variables"]["time"]["attributes"])}
    coords |= {name: (label["dim"], label["values"]) for name, label in found["labels"].items()}
    return xr.Dataset(variables, coords, {**attributes(result), "manipula": sealed(result)})


def write(result: Result, path: Path) -> None:
    """Write a result into a classic NetCDF file."""
    text = sealed(result)
    entries = parsed(text)
    values = {"time": result.t, **result.arrays}
    dims = {d: size for name, v in entries["variables"].items() for d, size in zip(v["dims"], values[name].shape)}
    variables: dict[str, classic.Variable] = {}
    for name, label in entries["labels"].items():
        letters = classic.letters(label["values"])
        dims[f"{name}_letters"] = letters.shape[1]
        variables[name] = classic.Variable((label["dim"], f"{name}_letters"), {"_Encoding": "utf-8"}, letters)
    for name, v in entries["variables"].items():
        variables[name] = classic.Variable(tuple(v["dims"]), v["attributes"], values[name])
    with path.open("wb") as stream:
        classic.write(stream, dims, {**entries["attributes"], "manipula": text}, variables)


def read(path: Path, budget: int) -> Result:
    """The result in a classic NetCDF file; one of more than ``budget`` numbers is refused."""
    end = path.stat().st_size
    with path.open("rb") as stream:
        if stream.read(4)[1:] == b"HDF":
            raise DescriptionError("This is NetCDF-4 (HDF5); results are stored as classic NetCDF.")
        stream.seek(0)
        layout = classic.read_layout(stream, end, MAX_HEADER + (1 << 20))
        text = layout.attributes.get("manipula")
        if not isinstance(text, str):
            raise DescriptionError("This NetCDF file holds no result of manipula: it has no attribute 'manipula'.")
        entries = parsed(text)
        if is_legacy(entries):
            check_size({name: v.shape for name, v in layout.variables.items()}, budget)
            arrays = {name: classic.numbers(stream, v) for name, v in layout.variables.items()}
            return legacy.closed(entries, arrays.pop("time"), arrays)
        header = opened(text, entries, budget)
        _check(layout, entries, header.shapes)
        for name, label in entries["labels"].items():
            stored = layout.variables[name]
            if stored.shape[0] * stored.shape[1] > MAX_HEADER:
                raise BudgetError(f"The label '{printable(name)}' has more than {MAX_HEADER} letters.")
            if classic.texts(stream, stored) != label["values"]:
                raise DescriptionError(f"{CHANGED}the labels '{printable(name)}' are not those of its header.")
        return closed(header, {name: classic.numbers(stream, layout.variables[_there(name)]) for name in header.shapes})


def _there(name: str) -> str:
    return "time" if name == "t" else name


def _check(layout: classic.NetcdfHeader, entries: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Names, dimensions, attributes and shapes of the file are those of its header."""
    plain = {name: value for name, value in layout.attributes.items() if name != "manipula"}
    if plain != entries["attributes"]:
        raise DescriptionError(f"{CHANGED}its attributes are not those of its header.")
    wanted = {name: (tuple(v["dims"]), v["attributes"]) for name, v in entries["variables"].items()}
    for name, label in entries["labels"].items():
        wanted[name] = ((label["dim"], f"{name}_letters"), {"_Encoding": "utf-8"})
    found = {name: (v.dims, v.attributes) for name, v in layout.variables.items()}
    for name in sorted(set(wanted) | set(found)):
        if wanted.get(name) != found.get(name):
            raise DescriptionError(f"{CHANGED}variable '{printable(name)}' is not what its header says.")
    if set(layout.dims) != {d for dims, _ in wanted.values() for d in dims}:
        raise DescriptionError(f"{CHANGED}its dimensions are not those of its header.")
    if set(wanted) - set(entries["labels"]) != {_there(name) for name in shapes}:
        raise DescriptionError(f"{CHANGED}its variables are not those of its header.")
    for name, shape in shapes.items():
        if layout.variables[_there(name)].shape != shape:
            raise DescriptionError(f"{CHANGED}'{printable(name)}' has another shape than its header says.")

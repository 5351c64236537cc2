"""The table of a study: names, kinds, units and meanings of its columns, as an Arrow schema."""

from __future__ import annotations

from typing import Any

from manipula.simulation.plant.parameters import is_number
from manipula.studies.columns import StudyColumn, chosen_columns
from manipula.studies.distributions import Distribution
from manipula.studies.part_files import arrow
from manipula.studies.paths import AnyScenario
from manipula.studies.study import Study


def columns_of(study: Study) -> tuple[StudyColumn, ...]:
    """Every column of the summary: ``run``, what varies, how it ended, and the numbers."""
    status, summary = chosen_columns(study.base, study.keep)
    run = StudyColumn("run", "", "the number of the run, from 0", "count")
    return (run, *varied_columns(study), *status, *(c.column for c in summary))


def varied_columns(study: Study) -> tuple[StudyColumn, ...]:
    """What varies, under its path; a vector has one column per entry."""
    out: list[StudyColumn] = []
    for path, axis in study.vary.items():
        unit = unit_of(study.base, path)
        if isinstance(axis, Distribution) or all(is_number(v) for v in axis):
            out.append(StudyColumn(path, unit, "varied"))
        elif all(isinstance(v, bool) for v in axis):
            out.append(StudyColumn(path, "", "varied", "flag"))
        elif all(isinstance(v, tuple) for v in axis):
            out += [StudyColumn(f"{path}[{i}]", unit, "varied") for i in range(max(map(len, axis)))]
        else:
            out.append(StudyColumn(path, "", "varied", "text"))
    return tuple(out)


def unit_of(base: AnyScenario, path: str) -> str:
    """The unit that a part declares for the field of a path; "" where nobody does."""
    import dataclasses

    from manipula.errors import ManipulaError
    from manipula.parts.declared import declared
    from manipula.studies.paths import prepared_for, resolved, value_at

    try:
        ready = prepared_for(base, [path])
        tokens = resolved(ready, path)
        names = [k for k, t in enumerate(tokens) if isinstance(t, str)]
        part = value_at(ready, tokens[: names[-1]])
        name = str(tokens[names[-1]])
    except (ManipulaError, LookupError, TypeError):
        return ""
    for d in declared(type(part)) if dataclasses.is_dataclass(part) else ():
        if d.name == name and d.declared:
            return d.field.unit
    return PLAIN.get(name, "")


PLAIN = {"mass": "kg", "com": "m", "inertia": "kg·m²", "duration": "s", "step": "s", "sample": "s", "control_period": "s",
         "gravity": "m/s²", "rotor_inertia": "kg·m²", "q0": "rad or m", "qd0": "rad/s or m/s"}  # fmt: skip


def schema_of(columns: tuple[StudyColumn, ...]) -> Any:
    """The Arrow schema, units and meanings in the metadata of the fields."""
    pa, _ = arrow()
    kinds = {"number": pa.float64(), "text": pa.string(), "flag": pa.bool_(), "count": pa.int64()}
    return pa.schema([
        pa.field(c.name, kinds[c.kind], nullable=c.name != "run", metadata={"unit": c.unit, "meaning": c.meaning}) for c in columns
    ])  # fmt: skip


def table_of_rows(rows: list[dict[str, Any]], schema: Any) -> Any:
    """Rows as an Arrow table; what a row does not have is null."""
    pa, _ = arrow()
    return pa.table([_array(pa, [row.get(f.name) for row in rows], f.type) for f in schema], schema=schema)


def _array(pa: Any, values: list[Any], kind: Any) -> Any:
    """``pa.array(values, kind)``, which imports pandas, half a second of a new process, to see whether it was given something of its."""
    import numpy as np

    null = np.array([v is None for v in values], bool)
    known = [v for v in values if v is not None]
    valid = pa.py_buffer(np.packbits(~null, bitorder="little").tobytes()) if null.any() else None
    if pa.types.is_string(kind):
        texts = [b"" if v is None else v.encode() for v in values]
        ends = np.zeros(len(values) + 1, np.int32)
        np.cumsum([len(text) for text in texts], out=ends[1:])
        data = [pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(texts))]
    elif pa.types.is_boolean(kind):
        data = [pa.py_buffer(np.packbits([bool(v) for v in values], bitorder="little").tobytes())]
    else:
        numbers = np.zeros(len(values), np.int64 if pa.types.is_integer(kind) else np.float64)
        numbers[~null] = known
        data = [pa.py_buffer(numbers.tobytes())]
    return pa.Array.from_buffers(kind, len(values), [valid, *data], int(null.sum()))


def series_table(kept: list[tuple[int, Any, dict[str, Any]]]) -> Any:
    """Samples as long rows: run, t, and a column per component of every signal, ``q[0]``, ``q[1]`` …"""
    import numpy as np

    pa, _ = arrow()
    names: list[str] = []
    blocks: list[dict[str, Any]] = []
    for run, t, signals in kept:
        block: dict[str, Any] = {"run": np.full(len(t), run, np.int64), "t": np.asarray(t, float)}
        for name, values in signals.items():
            flat = np.reshape(values, (len(t), -1))
            wide = np.ndim(values) > 1
            block |= {f"{name}[{i}]" if wide else name: flat[:, i] for i in range(flat.shape[1])}
        names += [n for n in block if n not in names]
        blocks.append(block)
    columns = {}
    for name in names:
        pieces = [b[name] if name in b else np.full(len(b["t"]), np.nan) for b in blocks]
        numbers = np.concatenate(pieces)
        kind = pa.int64() if numbers.dtype == np.int64 else pa.float64()
        columns[name] = pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers.tobytes())], 0)
    return pa.table(columns)

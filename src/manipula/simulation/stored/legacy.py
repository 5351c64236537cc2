"""Headers that 0.1.0 wrote: format 1. Their digest has to be there and right; how arrays lie in the containers is defined by the formats.

Some signals have other names today.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

from manipula.errors import DescriptionError
from manipula.simulation.result import Result
from manipula.simulation.stored.content import DAMAGED, result_of, shape_of

SIGNALS = {
    "outside": "external",
    "held": "drive_energy",
    "work_outside": "work_external",
    "work_program": "work_constraints",
}


def digest(entries: dict[str, Any], t: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 as 0.1.0 took it: whatever is not finite counts as one NaN."""
    plain = {k: v for k, v in entries.items() if k != "digest"}
    found = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in ("", *sorted(arrays)):
        values = np.asarray(arrays[name] if name else t, "<f8")
        found.update(f"{name}{values.shape}".encode())
        found.update(np.where(np.isfinite(values), values, np.nan).tobytes())
    return found.hexdigest()


def shapes(entries: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the signals without their first axis."""
    found = entries.get("shapes")
    if not isinstance(found, dict):
        raise DescriptionError("The header of the result is damaged: it does not say how large its arrays are.")
    return {str(name): shape_of(name, shape) for name, shape in found.items()}


def from_columns(entries: dict[str, Any], names: list[str], columns: list[np.ndarray]) -> Result:
    """The result whose flat columns these are: ``t, q[0], q[1], …``."""
    wanted = shapes(entries)
    counts = {name: math.prod(shape) for name, shape in wanted.items()}
    if sum(counts.values()) + 1 != len(names) or len(set(names)) != len(names):
        raise DescriptionError("The file is damaged: it has other columns than its header says.")
    flat = dict(zip(names, columns))
    arrays = {}
    for name, shape in wanted.items():
        keys = [name] if not shape else [f"{name}[{k}]" for k in range(counts[name])]
        arrays[name] = np.stack([flat[k] for k in keys], axis=1).reshape(len(flat["t"]), *shape)
    return closed(entries, flat["t"], arrays)


def closed(entries: dict[str, Any], t: np.ndarray, arrays: dict[str, np.ndarray]) -> Result:
    """The result, when its digest is right."""
    if "digest" not in entries:
        raise DescriptionError("The file has no digest: it cannot be trusted.")
    if entries["digest"] != digest(entries, t, arrays):
        raise DescriptionError(DAMAGED)
    error = entries["error_estimate"]
    fields: dict[str, Any] = {name: entries[name] for name in ("status", "reason")}
    fields |= {name: tuple(entries[name]) for name in ("statuses", "reasons", "notes")}
    fields |= {"meta": dict(entries["meta"]), "error_estimate": float("nan") if error is None else float(error)}
    ordered = {str(SIGNALS.get(name, name)): arrays[name] for name in entries.get("shapes", arrays)}
    return result_of(fields, {"t": np.array(t, float), **ordered})

"""A fingerprint of a robot: equal robots have equal ones, on every machine and in every process.

It holds the qualified type of every part beside its numbers and texts, so that two laws with equal parameters differ. It names a robot
in results; it does not know what a user's part does, and is no key for machine code (``manipula.identity`` is).
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from manipula.algebra.symbols import is_symbolic

DEEPEST = 30  # levels of nesting; below, a part is its type


def digest_of(value: Any) -> str:
    """SHA-256 of the value's description."""
    return hashlib.sha256(_described(value).encode("utf-8", "surrogatepass")).hexdigest()


def qualified(kind: Any) -> str:
    """Module and name of a class or function."""
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"


def _described(value: Any, depth: int = 0) -> str:
    if value is None or isinstance(value, (bool, np.bool_, str)):
        return repr(bool(value) if isinstance(value, np.bool_) else value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return repr(float(value) + 0.0)  # 1 and 1.0 are equal, and so are 0.0 and -0.0
    if is_symbolic(value):
        from sympy import srepr

        return srepr(value)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return qualified(value)
    if depth > DEEPEST:
        return qualified(type(value))
    if isinstance(value, np.ndarray):
        return f"{value.shape}{_rows(value.ravel().tolist(), depth)}"
    if isinstance(value, (tuple, list)):
        return _rows(value, depth)
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{_described(k)}:{_described(v, depth + 1)}' for k, v in value.items()))}}}"
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value) if f.compare]
    else:
        names = sorted(vars(value)) if hasattr(value, "__dict__") else []
    inside = ",".join(f"{name}={_described(getattr(value, name), depth + 1)}" for name in names)
    return f"{qualified(type(value))}({inside})"


def _rows(values: Any, depth: int) -> str:
    return f"[{','.join(_described(v, depth + 1) for v in values)}]"

"""The constants in the modules that kernels are made from, by value: somebody may have replaced one before anybody looked."""

from __future__ import annotations

import hashlib
import sys
import types
from typing import Any

import numpy as np

from manipula.identity.package import loaded_modules

MOST_NUMBERS = 4096  # of an array that counts as a constant
_PLAIN = frozenset({float, int, bool, complex, str, type(None)})
_seen: dict[str, tuple[types.ModuleType, str]] = {}  # replaced ones are noticed later by ``is_untouched``


def constants() -> dict[str, str]:
    """A digest of the constants of every loaded module that has any, by the module's name."""
    return {name: digest for name, module in loaded_modules().items() if (digest := _constants_of(name, module))}


def hold(then: dict[str, str]) -> bool:
    """Have the modules that are loaded now the constants that they had then? What is not loaded nobody has changed."""
    loaded = ((name, sys.modules.get(name), digest) for name, digest in then.items())
    return all(not isinstance(m, types.ModuleType) or _constants_of(name, m) == digest for name, m, digest in loaded)


def _constants_of(name: str, module: types.ModuleType) -> str:
    """Their digest, made once; empty where there are none."""
    seen = _seen.get(name)
    if seen is None or seen[0] is not module:
        seen = _seen[name] = module, _digest(module)
    return seen[1]


def _digest(module: types.ModuleType) -> str:
    texts = [
        f"{name}={text};" for name, value in sorted(vars(module).items()) if name.isupper() and (text := _text(value))
    ]
    return hashlib.sha256("".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16] if texts else ""


def _text(value: Any) -> str:
    """A number, a text, a tuple of such or a small array; empty for anything else."""
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in (tuple, frozenset):
        inner = [_text(v) for v in value]
        return f"({','.join(inner if kind is tuple else sorted(inner))})" if all(inner) else ""
    if kind is np.ndarray and value.dtype.kind in "biufc" and value.size <= MOST_NUMBERS:
        return f"{value.dtype.str}{value.shape}{value.tobytes().hex()}"
    return ""

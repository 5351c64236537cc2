"""How a compiled function is called from Python: its signature, and named arguments put in order."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any


def signature(inputs: Iterable[str]) -> inspect.Signature:
    """``(q, qd, *, out=None, threads=None)``."""
    names = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in inputs]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("out", "threads")]
    return inspect.Signature([*names, *options])


def ordered(function: str, inputs: Iterable[str], arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Positional and named arguments in the order of ``inputs``; Python's own error where they do not fit."""
    inputs = list(inputs)
    for name in named:
        if name not in inputs:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if name in inputs[: len(arrays)]:
            raise TypeError(f"{function}() got multiple values for argument '{name}'")
    missing = [name for name in inputs[len(arrays) :] if name not in named]
    if missing or len(arrays) > len(inputs):
        raise TypeError(
            f"{function}() takes {len(inputs)} arguments ({', '.join(inputs)}), {len(arrays) + len(named)} were given"
            + (f"; missing: {', '.join(missing)}" if missing else "")
        )
    return (*arrays, *(named[name] for name in inputs[len(arrays) :]))

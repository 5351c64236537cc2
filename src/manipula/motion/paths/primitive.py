"""The register of path primitives: one decorator gives a function its name in files and menus.

A decorated function returns a :class:`~.base.Path` that remembers how it was made (``path.description``), so a scenario
can be written to a file and read again, and two paths made alike compare equal.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import numpy as np

from manipula.errors import DescriptionError
from manipula.motion.paths.base import Path
from manipula.parts.checks import check_arguments
from manipula.parts.registry import PartKind, described_call

P = ParamSpec("P")

REGISTRY: dict[str, Callable[..., Path]] = {}
KIND = PartKind("path", "kind", REGISTRY, "manipula.motion.paths.REGISTRY", public="mp.paths")


def primitive(function: Callable[P, Path]) -> Callable[P, Path]:
    """Register a function that makes a path, under its own name."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    none: dict[Any, Any] = {inspect.Parameter.VAR_POSITIONAL: (), inspect.Parameter.VAR_KEYWORD: {}}
    defaults = {p.name: none.get(p.kind, p.default) for p in parameters}
    needed = {p.name for p in parameters if p.default is p.empty}
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    ordinary = all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Path:
        given: dict[str, Any] = {**dict(zip(by_place, args)), **kwargs}
        complete = needed <= given.keys() <= defaults.keys() and len(given) == len(args) + len(kwargs)
        if not (ordinary and complete):  # it raises, with Python's words
            given = signature.bind(*args, **kwargs).arguments
        check_arguments(function, given, f"path '{function.__name__}'")
        path = function(*args, **kwargs)
        try:
            plain = {name: _plain(value) for name, value in {**defaults, **given}.items() if value is not None}
        except TypeError:
            return path
        path.description = {"kind": function.__name__, **plain, **path.read}
        return path

    taken = REGISTRY.get(function.__name__)
    if taken is not None and taken.__module__.startswith("manipula.") and taken.__module__ != function.__module__:
        raise DescriptionError(
            f"'{function.__name__}' is a path of this package already, also in files; give the new one another name."
        )
    REGISTRY[function.__name__] = wrapper
    return wrapper


def _plain(value: Any) -> Any:
    """Numbers, strings, lists and descriptions; TypeError for what a file cannot hold (functions, objects)."""
    if isinstance(value, Path):
        if value.description is None or value.orientation is not None:
            raise TypeError
        return dict(value.description)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        return value.item()
    if isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError


def from_description(description: Mapping[str, Any]) -> Path:
    """The path a file describes: ``{"kind": "circle", "center": [...], "radius": 0.1}``."""
    function, arguments = described_call(description, REGISTRY, "path", "path", "path primitive")
    nested = {
        name: from_description(value)
        if isinstance(value, Mapping)
        else [from_description(v) for v in value]
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
        else value
        for name, value in arguments.items()
    }
    return function(**nested)

"""Methods of a class whose work is done in a room above it, such as ``result.report(path)``.

The class calls the verb by its name; the package itself (``manipula/__init__.py``) says which function of which room does it, so that no room
knows those above it. The function is fetched when it is called.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

_FUNCTIONS: dict[str, str] = {}


def provide(functions: Mapping[str, str]) -> None:
    """Say what does each verb: ``{"Result.save": "package.module:function"}``."""
    _FUNCTIONS.update(functions)


def verb(name: str) -> Callable[..., Any]:
    """The function behind a verb."""
    module, _, function = _FUNCTIONS[name].partition(":")
    return getattr(importlib.import_module(module), function)


def notebook_html(value: Any) -> str | None:
    """What a notebook shows of a value; None where that cannot be made, and its text is shown."""
    try:
        return verb("notebook")(value)
    except Exception:  # a look at a value is never a reason to stop
        return None

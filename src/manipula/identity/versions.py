"""Has a dictionary changed since it was last looked at? One number per dictionary says so, where the interpreter keeps one.

CPython up to 3.13 numbers every change of any dictionary and keeps the number in the dictionary it happened in (PEP 509). Whether this
interpreter does is found out by trying, not by its version.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import types
from collections.abc import Iterable
from typing import Any

_BEHIND = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)  # the header, and how many entries there are


class Versions:
    """Of the name spaces of some modules and classes; nothing is known before :meth:`look`."""

    __slots__ = ("_cells", "_kept", "_then")

    def __init__(self, owners: Iterable[Any]) -> None:
        self._kept = [_dictionary(owner) for owner in owners] if are_kept() else []
        self._cells = [ctypes.c_uint64.from_address(id(space) + _BEHIND) for space in self._kept]
        self._then: list[int] = []

    def look(self) -> list[int]:
        """The numbers of all of them now."""
        return [cell.value for cell in self._cells]

    def keep(self, seen: list[int]) -> None:
        """What :meth:`look` gave is from now on what they are compared with."""
        self._then = seen

    def unchanged(self) -> bool:
        """Was nothing set, replaced or deleted in any of them? ``False`` also where nobody can tell."""
        return bool(self._then) and self.look() == self._then


def _dictionary(owner: Any) -> dict[str, Any]:
    space = vars(owner)
    if isinstance(space, types.MappingProxyType):  # of a class: a view of the dictionary
        (space,) = gc.get_referents(space)
    return space


@functools.cache
def are_kept() -> bool:
    """Does this interpreter number the changes of dictionaries, where they are looked for?"""
    if (
        sys.implementation.name != "cpython"
        or sys.version_info >= (3, 14)
        or not getattr(sys, "_is_gil_enabled", lambda: True)()
    ):
        return False
    tried: dict[str, Any] = {"a": 1}
    cell = ctypes.c_uint64.from_address(id(tried) + _BEHIND)
    seen = [cell.value]
    for change in (lambda: tried.update(b=2), lambda: tried.update(a=3.0), lambda: tried.pop("b"), tried.clear):
        change()
        seen.append(cell.value)
    before = cell.value
    _ = tried.get("a"), list(tried.values())
    return len(set(seen)) == len(seen) and cell.value == before

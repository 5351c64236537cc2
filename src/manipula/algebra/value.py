"""What an answer is: a value. It does not change, compares by content, hashes, prints in a line, travels to other processes.

``@dataclass(frozen=True, eq=False, repr=False) class Answer(Value)`` makes one. Arrays in its fields become read-only (an array that
somebody else could still write to is copied), lists become tuples, mappings become :class:`FrozenDict`. Two NaN at the same place
are equal; whole numbers equal floats of the same value, as everywhere in Python.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

MOST_SHOWN = 60  # letters of one field in a repr
_PLAIN = frozenset({str, float, int, bool, type(None)})
BLOCK = 1 << 18  # numbers that are looked at together


class FrozenDict(dict[str, Any]):
    """A dict that refuses to change: still a dict for JSON, ``==`` and ``dict(…)``."""

    __slots__ = ()

    def __init__(self, entries: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = (), *, mine: bool = False) -> None:
        super().__init__({str(k): frozen(v, mine) for k, v in dict(entries).items()})

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("This is part of a result and does not change; dict(…) gives a copy that may.")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(key(self))

    def __copy__(self) -> FrozenDict:
        return self

    def __reduce__(self) -> Any:
        return _unpacked, (dict(self),)


_PENDING = object()  # stands for an entry that nobody has looked at yet


Later = tuple[Iterable[str], Callable[[], Mapping[str, Any]]]  # names of entries, and what computes them all


class LazyDict(FrozenDict):
    """A FrozenDict with groups of entries that are computed, each group as a whole, when one of its entries is first looked at.

    Which entries there are is known from the start: ``in``, ``len`` and iterating over names compute nothing.
    """

    __slots__ = ("_later",)

    def __init__(self, entries: Mapping[str, Any], *groups: Later) -> None:
        super().__init__(entries)
        self._later: dict[str, tuple[list[str], Callable[[], Mapping[str, Any]]]] = {}
        for names, later in groups:
            group = list(names), later
            for name in group[0]:
                dict.__setitem__(self, name, _PENDING)
                self._later[name] = group

    def _find(self, name: str) -> None:
        group = self._later.get(name)
        if group is None:  # found meanwhile, by another thread
            return
        names, later = group
        found = FrozenDict(later())
        if set(names) != set(found):
            raise KeyError(", ".join(sorted(set(names) ^ set(found))))
        dict.update(self, found)
        for entry in names:
            self._later.pop(entry, None)

    def _complete(self) -> LazyDict:
        for name in list(self._later):
            self._find(name)
        return self

    def __getitem__(self, name: str) -> Any:
        if dict.__getitem__(self, name) is _PENDING:
            self._find(name)
        return dict.__getitem__(self, name)

    def get(self, name: str, default: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The entry, or ``default`` where there is none."""
        return self[name] if name in self else default  # noqa: SIM401

    def __iter__(self) -> Iterator[str]:  # so that dict(…) and {**…} ask for the entries one by one
        return iter(dict.keys(self))

    def items(self) -> Any:
        """Names and entries, all of them."""
        return dict.items(self._complete())

    def values(self) -> Any:
        """All entries."""
        return dict.values(self._complete())

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._complete(), other._complete() if isinstance(other, LazyDict) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = FrozenDict.__hash__  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return dict.__repr__(self._complete())

    def copy(self) -> dict[str, Any]:
        """A plain dict that may change."""
        return dict(self)

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)


def _unpacked(entries: dict[str, Any]) -> FrozenDict:
    return FrozenDict(entries, mine=True)  # fresh from a pickle or a copy: nobody else holds the arrays


class Value:
    """Base of frozen dataclasses that compare, hash and print; see the top of the file."""

    def __post_init__(self) -> None:
        stored = self.__dict__
        for name, value in stored.items():
            if not isinstance(value, (str, float)):
                stored[name] = frozen(value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        return self._key() == other._key()  # pyright: ignore[reportAttributeAccessIssue]

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """What is compared, found once: the fields that take part, arrays by shape and digest."""
        found = self.__dict__.get("_kept_key")
        if found is None:
            shown = [f.name for f in dataclasses.fields(self) if f.compare]  # pyright: ignore[reportArgumentType]
            found = (type(self).__qualname__, *((name, key(getattr(self, name))) for name in shown))
            self.__dict__["_kept_key"] = found
        return found

    def __repr__(self) -> str:
        shown = [f.name for f in dataclasses.fields(self) if f.repr]  # pyright: ignore[reportArgumentType]
        return f"{type(self).__name__}({', '.join(f'{name}={short(getattr(self, name))}' for name in shown)})"

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in dataclasses.fields(self)}  # pyright: ignore[reportArgumentType]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: frozen(value, mine=True) for name, value in state.items()})


def frozen(value: Any, mine: bool = False) -> Any:
    """The value with arrays read-only, lists as tuples, mappings as :class:`FrozenDict`; ``mine``: nobody else holds its arrays."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray):
        return read_only(value, mine)
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict(value, mine=mine)
    if type(value) in (list, tuple):
        return tuple([frozen(v, mine) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(frozen(v, mine) for v in value))  # a named tuple
    return value.item() if isinstance(value, np.generic) else value


def read_only(array: np.ndarray, mine: bool = False) -> np.ndarray:
    """The array itself when nobody can write to its numbers (or it is ``mine``, then nobody can any more), else a copy."""
    if not mine:
        owner: Any = array
        while type(owner) is np.ndarray and not owner.flags.writeable:
            owner = owner.base
        if owner is None or isinstance(owner, bytes):
            return array
        array = np.array(array)
    array.flags.writeable = False
    return array


def handed_over(array: np.ndarray) -> np.ndarray:
    """The array, read-only with all that it is a view of: nobody else will write to its numbers, so a value need not copy them."""
    owner: Any = array
    while type(owner) is np.ndarray:
        owner.flags.writeable = False
        owner = owner.base
    return array


def key(value: Any) -> Any:
    """Something hashable that is equal exactly when two values are: NaN equals NaN, arrays by shape and content."""
    if isinstance(value, float):
        return ("nan",) if value != value else float(value)
    if isinstance(value, np.ndarray):
        return ("array", value.shape, _content(value))
    if isinstance(value, np.generic):
        return key(value.item())
    if isinstance(value, Mapping):
        return ("mapping", frozenset((k, key(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(key(v) for v in value)
    return value


def _content(array: np.ndarray) -> Any:
    if array.dtype.kind not in "biufc":
        return tuple(key(v) for v in array.ravel().tolist())
    found = hashlib.blake2b(digest_size=20)
    flat = array.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        wide = flat[start : start + BLOCK].astype("<c16" if array.dtype.kind == "c" else "<f8") + 0.0  # −0 equals 0
        wide[np.isnan(wide)] = np.nan
        found.update(wide.data)
    return found.digest()


def short(value: Any) -> str:
    """A field of a repr: arrays by their shape, long texts and sequences cut."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return short(value.item())
        if value.size <= 8 and value.ndim <= 1 and value.dtype.kind in "biuf":
            return "[" + ", ".join(f"{x:.6g}" for x in value.tolist()) + "]"
        return (
            f"<{' × '.join(map(str, value.shape)) or 'one'} {'numbers' if value.dtype.kind in 'biufc' else 'entries'}>"
        )
    if isinstance(value, Mapping):
        return "{" + _several([f"{k!r}: {short(v)}" for k, v in list(value.items())[:9]], len(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "(" + _several([short(v) for v in value[:9]], len(value)) + ")"
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def _several(shown: list[str], count: int) -> str:
    text = ", ".join(shown)
    return text if count < 9 and len(text) <= 2 * MOST_SHOWN else f"… {count} entries"

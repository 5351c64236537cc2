"""The fields of a part, read from its class (a dataclass) or from the signature of the function that makes it."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from manipula.parts.field import Field, Kind

UNDECLARED: dict[Any, Kind] = {bool: "flag", str: "text"}


@dataclass(frozen=True)
class FieldDeclaration:
    """One field of a part.

    Attributes:
        name: in Python and in files. field: kind, unit, meaning, range.
        default: its value when it is not given. required: it must be given.
        declared: whether its author wrote a declaration; without one only the type is known, and nothing is checked.
    """

    name: str
    field: Field
    default: Any
    required: bool
    declared: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the field in files: its own, and for angles the one that takes degrees."""
        return (self.name, f"{self.name}_deg") if self.field.degrees else (self.name,)

    @property
    def optional(self) -> bool:
        """May it be ``None``?"""
        return not self.required and self.default is None

    def described(self) -> dict[str, Any]:
        """Plain values, for JSON and forms."""
        f = self.field
        bounds = {k: v for k in ("least", "above", "most", "below") if (v := getattr(f, k)) is not None}
        bounds |= {k: True for k in ("nonzero", "infinite") if getattr(f, k)}
        out = {"name": self.name, "kind": f.kind, "unit": f.unit, "meaning": f.meaning, "required": self.required,
               "default": None if self.required else _plain(self.default), "range": bounds, "choices": list(f.choices)}  # fmt: skip
        extra = {
            "each": f.each if f.kind == "one per joint" else None, "degrees": f.degrees or None, "of": f.of or None,
            "lengths": list(f.lengths) or None, "names": list(f.names) if f.kind in ("formula", "formulas") else None,
        }  # fmt: skip
        return out | {k: v for k, v in extra.items() if v is not None}


_KNOWN: WeakKeyDictionary[Any, tuple[FieldDeclaration, ...]] = WeakKeyDictionary()


def declared(part: Callable[..., Any]) -> tuple[FieldDeclaration, ...]:
    """The fields of a class or function, in order.

    A function whose parameters carry no declarations and that makes a declared dataclass has the fields of that class.
    """
    found = _KNOWN.get(part)
    if found is None:
        found = _KNOWN[part] = _read(part)
    return found


def _read(part: Callable[..., Any]) -> tuple[FieldDeclaration, ...]:
    if isinstance(part, type):
        if not dataclasses.is_dataclass(part):
            return ()
        return tuple(_of_dataclass(f, _hint(f.type, _home(part, f.name))) for f in dataclasses.fields(part) if f.init)
    signature = inspect.signature(part)
    inner = inspect.unwrap(part)
    space = getattr(inner, "__globals__", {})
    made = _hint(signature.return_annotation, space)
    own = dict.fromkeys(signature.parameters)
    if isinstance(made, type) and dataclasses.is_dataclass(made):
        of_class = {d.name: d for d in declared(made)}
        if own.keys() <= of_class.keys():
            return tuple(of_class[name] for name in own)
    return tuple(
        _declaration(p.name, _hint(p.annotation, space), p.default, p.default is p.empty)
        for p in signature.parameters.values()
    )


def _of_dataclass(f: dataclasses.Field[Any], hint: Any) -> FieldDeclaration:
    if f.default is not dataclasses.MISSING:
        return _declaration(f.name, hint, f.default, False)
    if f.default_factory is not dataclasses.MISSING:
        return _declaration(f.name, hint, f.default_factory(), False)
    return _declaration(f.name, hint, None, True)


def _declaration(name: str, hint: Any, default: Any, required: bool) -> FieldDeclaration:
    default = None if required else default
    if get_origin(hint) is Annotated:
        for note in get_args(hint)[1:]:
            if isinstance(note, Field):
                kind = get_args(hint)[0]
                if note.kind == "choice" and not note.choices and get_origin(kind) is Literal:
                    note = replace(note, choices=get_args(kind))
                return FieldDeclaration(name, note, default, required, True)
    return FieldDeclaration(name, Field(UNDECLARED.get(hint, "any")), default, required, False)


def _home(part: type, name: str) -> dict[str, Any]:
    """The globals of the module in which the field was written, which may be that of a base class."""
    for base in part.__mro__:
        if name in inspect.get_annotations(base):
            return vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
    return vars(sys.modules[part.__module__]) if part.__module__ in sys.modules else {}


def _hint(annotation: Any, space: dict[str, Any]) -> Any:
    """An annotation as an object; ``Any`` when it names something that only its author's function knows."""
    if not isinstance(annotation, str):
        return annotation
    try:
        holder = SimpleNamespace(__annotations__={"it": annotation})
        return get_type_hints(holder, dict(space), include_extras=True)["it"]
    except Exception:  # whatever an annotation names that is not there at run time
        return Any


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)

"""Numbers of free parameters, and those that follow from others by a formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from manipula.algebra.expression import parse

Values = tuple[tuple[str, float], ...]
Definitions = tuple[tuple[str, str], ...]


def needed(parameters: Iterable[str], values: Values, definitions: Definitions) -> dict[str, Any]:
    """``values`` and ``definitions`` of the named parameters and of those from which they follow; the others mean nothing."""
    known, formulas = dict(values), dict(definitions)
    wanted: dict[str, float] = {}
    todo = [name for name in parameters if name in known]
    while todo:
        name = todo.pop(0)
        wanted[name] = known[name]
        names = parse(formulas[name]).names if name in formulas else ()
        todo += [n for n in names if n in known and n not in wanted]
    return {
        "values": tuple(wanted.items()),
        "definitions": tuple((name, text) for name, text in definitions if name in wanted),
    }


def revalued(values: Values, definitions: Definitions, given: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` and ``definitions`` after some parameters were given: what is defined by a formula follows.

    A parameter that is given itself no longer follows its formula. One whose formula needs a name without a number has no value.
    """
    numbers: dict[str, float] = {name: value for name, value in values if name not in given}
    numbers |= {name: value for name, value in given.items() if isinstance(value, float)}
    formulas = {name: parse(text) for name, text in definitions if name not in given}
    changed = set(given)
    waiting = dict(formulas)
    while waiting:
        ready = [name for name, f in waiting.items() if not any(other in waiting for other in f.names)]
        for name in ready:
            needed = waiting.pop(name).names
            if changed.isdisjoint(needed):
                continue
            changed.add(name)
            if all(other in numbers for other in needed):
                numbers[name] = float(formulas[name].evaluate(numbers))
            else:
                numbers.pop(name, None)
    kept = {name for f in formulas.values() for name in f.names}
    return {
        "values": tuple((name, value) for name, value in numbers.items() if name not in given or name in kept),
        "definitions": tuple((name, text) for name, text in definitions if name not in given),
    }

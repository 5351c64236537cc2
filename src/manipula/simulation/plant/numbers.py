"""The numbers of a plant that are inputs of machine code, and their names, such as ``controller.kp``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, LengthError, printable, unknown_name
from manipula.parts.checks import check_numbers, label
from manipula.parts.declared import FieldDeclaration, declared
from manipula.simulation.plant.parameters import flatten, settled
from manipula.simulation.plant.plant import Plant

HEADS = (
    "controller",
    "friction",
    "drives",
    "disturbances",
    "actuator",
    "contacts",
    "base_motion",
    "encoder",
    "switches",
)


def template(plant: Plant) -> tuple[Any, ...]:
    """The parts of a plant whose numbers are inputs of the compiled loop."""
    return tuple(getattr(plant, name) for name in HEADS)


def paths_of(plant: Plant) -> list[str]:
    """Names of all numbers, such as ``controller.kp`` and ``friction[0].damping``."""
    return [_named(path) for path, _ in flatten(template(plant))]


def columns_of(plant: Plant, path: str) -> list[int]:
    """Where the numbers of a path (one number, a tuple, or all of a part) stand among them.

    Raises:
        UnknownNameError: when there are none. DescriptionError: when their part computed something from them once and for all.
    """
    paths = paths_of(plant)
    found = [k for k, name in enumerate(paths) if name == path or name.startswith((path + "[", path + "."))]
    if not found:
        whole, index, _ = path.rpartition("[")
        if index and whole in paths:
            raise DescriptionError(
                f"'{whole}' is one number, which has no entries: vary '{whole}' itself, or give it as a list with one number per joint; "
                f"then '{path}' is one of them.",
                field=f"vary.{path}",
            )
        raise unknown_name("number of the run", path, paths, field="vary")
    for part in map(_named, settled(template(plant))):
        if path.startswith((part + ".", part + "[")) or part == path or part.startswith((path + ".", path + "[")):
            raise DescriptionError(
                f"'{part}' computes something from its numbers when it is made, so other numbers cannot be laid over them; "
                f"compute it where it is used, or make one run for every value.",
                field="vary",
            )
    return found


def varied(plant: Plant, path: str, value: Any) -> tuple[list[int], np.ndarray]:
    """Where the numbers of a path stand, and their values in the runs of a batch: (N, k), (N, 1) or one number.

    Raises:
        DescriptionError: when a value is not what the part declares for its field.
    """
    columns, names = columns_of(plant, path), paths_of(plant)
    place: dict[str, Any] = {"field": f"vary.{path}"}
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        raise DescriptionError(
            f"Numbers in equal rows are needed, found {printable(repr(value), 60)}.", **place
        ) from None
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim > 2 or (values.ndim == 2 and values.shape[1] not in (1, len(columns))):
        raise LengthError(
            f"One number per run, or rows of {len(columns)}, are needed, found shape {values.shape}.", **place
        )
    if np.isnan(values).any():
        raise DescriptionError("A number is needed for every run, found nan.", **place)
    for i, k in enumerate(columns):
        part, declaration = field_at(plant, names[k])
        try:
            check_numbers(
                np.atleast_1d(values[:, min(i, values.shape[1] - 1)] if values.ndim else values),
                declaration,
                label(part),
                runs=True,
            )
        except DescriptionError as error:
            raise DescriptionError(error.problem, **place) from None
    return columns, values


def field_at(plant: Plant, path: str) -> tuple[Any, FieldDeclaration]:
    """The part and the declaration of the field in which a number stands."""
    head, *rest = re.findall(r"\w+", path)
    node, part, found = getattr(plant, head), None, None
    for word in rest:
        if word.isdigit():
            node = node[int(word)]
        else:
            part, found = node, next(d for d in declared(type(node)) if d.name == word)
            node = getattr(node, word)
    assert found is not None
    return part, found


def _named(path: str) -> str:
    """``[0].kp`` of the template as ``controller.kp``."""
    index, _, rest = path[1:].partition("]")
    return HEADS[int(index)] + rest

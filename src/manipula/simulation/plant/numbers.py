"""The numbers of a plant that are inputs of machine code, and their names, such as ``controller.kp``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from manipula.errors import DescriptionError, LengthError, printable, unknown_name
from manipula.parts.checks import check_numbers, label
from manipula.parts.declared import FieldDeclaration, declared
from manipula.simulation.plant.parameters import computed_parts, flatten, is_number
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
        _check_no_number(plant, path)
        whole, index, _ = path.rpartition("[")
        if index and whole in paths:
            raise DescriptionError(
                f"'{whole}' is one number, which has no entries: vary '{whole}' itself, or give it as a list with one number per joint; "
                f"then '{path}' is one of them.",
                field=f"vary.{path}",
            )
        raise unknown_name("number of the run", path, paths, field="vary")
    for part in map(_named, computed_parts(template(plant))):
        if path.startswith((part + ".", part + "[")) or part == path or part.startswith((path + ".", path + "[")):
            raise DescriptionError(
                f"'{part}' computes something from its numbers when it is made, so other numbers cannot be laid over them; "
                f"compute it where it is used, or make one run for every value.",
                field="vary",
            )
    return found


def varied(plant: Plant, path: str, value: Any) -> tuple[list[int], np.ndarray]:
    """Where the numbers of a path stand, and their values in the runs of a batch: (N, k), (N, 1) or one number.

    A path names one number, or a field with several: rows with one number per entry, or where the field itself takes one number for all joints
    (or coordinates, or parameters) one per run, which stands for all of them (:func:`stands_for_all`).

    Raises:
        DescriptionError: when the path names a whole part, a field with formulas among its entries, or when a value is not what the part declares
            for its field.
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
    for_all = _check_one_field(plant, path, [names[k] for k in columns])
    count = len(columns)
    if values.ndim > 2 or (values.shape[1] if values.ndim == 2 else 1) not in ((1, count) if for_all else (count,)):
        needed = f"Rows of {count} are" if not for_all else f"One number per run, or rows of {count}, are"
        needed = needed if count > 1 else "One number per run is"
        raise LengthError(f"{needed} needed, found shape {np.shape(value)}.", **place)
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


def stands_for_all(plant: Plant, path: str, value: Any) -> int:
    """How many entries of a field one number per run stands for; 0 where every entry has its own."""
    count = len(columns_of(plant, path))
    return count if count > 1 and (np.ndim(value) < 2 or np.shape(value)[1] == 1) else 0


def _check_one_field(plant: Plant, path: str, own: list[str]) -> bool:
    """Does a path name one field, all of whose entries are numbers? Whether one number may stand for all of them.

    Args:
        own: paths of the numbers below it.
    """
    _, declaration, value = _standing(plant, path)
    place: dict[str, Any] = {"field": f"vary.{path}"}
    if declaration is None or declaration.field.kind in ("part", "parts"):
        raise DescriptionError(
            f"'{path}' is a whole part, and a number for all its fields means nothing; vary one of them: {', '.join(own[:6])}"
            f"{' …' * (len(own) > 6)}.",
            **place,
        )
    if is_number(value):
        return True
    for i, entry in enumerate(value):
        if not is_number(entry) and not isinstance(entry, tuple):
            what = "a formula" if isinstance(entry, str) else "no number"
            raise DescriptionError(
                f"'{path}[{i}]' is {what}, {printable(repr(entry), 40)}, which numbers cannot take the place of; vary single entries: "
                f"{', '.join(own[:6])}.",
                **place,
            )
    return declaration.field.kind in ("one per joint", "any")


def _check_no_number(plant: Plant, path: str) -> None:
    """A path without numbers that names something all the same: say what stands there."""
    try:
        _, declaration, value = _standing(plant, path)
    except (LookupError, AttributeError, TypeError, ValueError, StopIteration):
        return
    if declaration is None or declaration.field.kind in ("part", "parts"):
        return
    place: dict[str, Any] = {"field": f"vary.{path}"}
    if value is None:
        raise DescriptionError(
            f"'{path}' is none in this run; give it a number that other runs can differ from.", **place
        )
    if is_number(value):
        raise DescriptionError(
            f"'{path}' decides how the run is computed and is the same in all runs of a batch.", **place
        )
    raise DescriptionError(
        f"'{path}' is no number but {printable(repr(value), 60)}, the same in all runs of a batch.", **place
    )


def field_at(plant: Plant, path: str) -> tuple[Any, FieldDeclaration]:
    """The part and the declaration of the field in which a number stands."""
    part, found, _ = _standing(plant, path)
    assert found is not None
    return part, found


def _standing(plant: Plant, path: str) -> tuple[Any, FieldDeclaration | None, Any]:
    """The part, the declaration of its field (none where the path names a part of the plant, or a list of them), and what stands there."""
    head, *rest = re.findall(r"\w+", path)
    node, part, found = getattr(plant, head), None, None
    for word in rest:
        if word.isdigit():
            node = node[int(word)]
        else:
            part, found = node, next(d for d in declared(type(node)) if d.name == word)
            node = getattr(node, word)
    return part, found, node


def _named(path: str) -> str:
    """``[0].kp`` of the template as ``controller.kp``."""
    index, _, rest = path[1:].partition("]")
    return HEADS[int(index)] + rest

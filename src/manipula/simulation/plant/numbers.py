"""The numbers of a plant that are inputs of machine code, and their names, such as ``controller.kp``."""

from __future__ import annotations

from typing import Any

from manipula.errors import DescriptionError, unknown_name
from manipula.simulation.plant.parameters import flatten, settled
from manipula.simulation.plant.plant import Plant

HEADS = ("controller", "friction", "drives", "disturbances", "actuator")


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
        raise unknown_name("number of the run", path, paths, field="vary")
    for part in map(_named, settled(template(plant))):
        if path.startswith((part + ".", part + "[")) or part == path or part.startswith((path + ".", path + "[")):
            raise DescriptionError(
                f"'{part}' computes something from its numbers when it is made, so other numbers cannot be laid over them; "
                f"compute it where it is used, or make one run for every value.",
                field="vary",
            )
    return found


def _named(path: str) -> str:
    """``[0].kp`` of the template as ``controller.kp``."""
    index, _, rest = path[1:].partition("]")
    return HEADS[int(index)] + rest

"""Free parameters of a robot inside its friction laws and drives: their numbers in every run.

``friction = { law = "viscous", damping = "b" }`` with ``parameters = { b = [0.1, 0.2] }``: masses and lengths go into the mechanism as
they are; the numbers of laws and drives are inputs of the compiled loop, computed here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from manipula.algebra.symbols import evaluate, free_names, is_symbolic
from manipula.errors import DescriptionError
from manipula.robot.drives.base import Drive
from manipula.robot.friction.base import FrictionLaw

Values = Mapping[str, Any]


def runs_of(parameters: Values | None) -> list[dict[str, float]]:
    """The values of the parameters in every run of a batch; one entry when all are single numbers."""
    numbers = {name: np.ravel(np.asarray(value, float)) for name, value in (parameters or {}).items()}
    count = max((len(v) for v in numbers.values()), default=1)
    return [{name: float(v[k if len(v) > 1 else 0]) for name, v in numbers.items()} for k in range(count)]


def symbolic_fields(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, expression) of every number in a part that still depends on free parameters."""
    if isinstance(part, tuple):
        for i, v in enumerate(part):
            yield from symbolic_fields(v, f"{path}[{i}]")
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for x in dataclasses.fields(part):
            yield from symbolic_fields(getattr(part, x.name), f"{path}.{x.name}" if path else x.name)
    elif is_symbolic(part):
        yield path, part


def with_numbers(part: Any, values: Values, field: str) -> Any:
    """A law or drive with the numbers of one run in the place of its formulas; the part itself looks at them.

    Raises:
        DescriptionError: a number is not what the part allows, or a parameter has no value.
    """
    known = [path.partition(".")[0].partition("[")[0] for path, _ in symbolic_fields(part)]
    if not known:
        return part
    try:
        changes = {
            name: _mapped(getattr(part, name), lambda e: float(evaluate(e, values))) for name in dict.fromkeys(known)
        }
        return dataclasses.replace(part, **changes)
    except DescriptionError as error:
        raise type(error)(error.problem, field=f"{field}.{error.field}" if error.field else field) from None
    except (ArithmeticError, TypeError, ValueError):  # 1/b with b = 0, the root of a negative number
        told = ", ".join(f"{path} = {expression}" for path, expression in symbolic_fields(part))
        raise DescriptionError(f"With these parameters it is no finite number: {told}.", field=field) from None


def check_every_run(
    robot: Any,
    friction: Sequence[FrictionLaw | None] | None,
    drives: Sequence[Drive | None] | None,
    parameters: Values | None,
) -> None:
    """Do the free parameters give numbers that bodies, gears, friction laws and drives may have, in every run?

    Raises:
        DescriptionError: with the field, what was found and what is allowed, and the run.
    """
    runs = runs_of(parameters)
    pieces: list[tuple[set[str], Callable[[Values], Any]]] = []
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links)):
        for what, value in (
            (f"The mass of link '{link.name}'", link.mass),
            (f"The rotor inertia of joint '{joint.name}'", joint.rotor_inertia),
        ):
            if is_symbolic(value):
                pieces.append(
                    (
                        set(free_names(value)),
                        lambda row, what=what, value=value: _not_negative(evaluate(value, row), what),
                    )
                )
        for name, own, given in (("friction", joint.friction, friction), ("drives", joint.drive, drives)):
            part = own if given is None else given[i] if given else None
            names = {n for _, e in symbolic_fields(part) for n in free_names(e)}
            if names:
                pieces.append((names, lambda row, part=part, at=f"{name}[{i}]": with_numbers(part, row, at)))
    for names, look in pieces:
        if not names <= runs[0].keys():
            continue  # told where the parameters are counted
        seen = set()
        for k, row in enumerate(runs):
            key = tuple(row[name] for name in sorted(names))
            if key in seen:
                continue
            seen.add(key)
            try:
                look(row)
            except DescriptionError as error:
                given = ", ".join(f"{name} = {row[name]:g}" for name in sorted(names))
                run = f" in run {k}" if len(runs) > 1 else ""
                raise type(error)(
                    f"{error.problem} (The parameters are {given}{run}.)", field=error.field or "parameters"
                ) from None


def _not_negative(value: Any, what: str) -> None:
    if not float(value) >= 0.0:
        raise DescriptionError(f"{what} must be at least 0, found {float(value):g}.")


def _mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_mapped(v, f) for v in value)
    return f(value) if is_symbolic(value) else value

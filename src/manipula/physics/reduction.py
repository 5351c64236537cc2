"""Functions of free joints as functions of coupled ones; see ``coupling.py`` for the equations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from manipula.physics.coupling import Coupling
from manipula.physics.mechanism import mechanism_of

F = TypeVar("F", bound=Callable[..., Any])


def coupled(
    inputs: int, contract: Sequence[int | Sequence[int]] = (), *, bodies: int | None = None, joints: int | None = None
) -> Callable[[F], F]:
    """A function of free joints as one of a mechanism that may have coupled ones.

    Args:
        inputs: how many of the arguments after the mechanism have one entry per joint.
        contract: axes of the result that count coordinates: :math:`G^T` acts on them. Of several results the same axes of each,
            or one list of axes for each.
        bodies: an axis of the result that counts bodies; it gets the robot's order.
        joints: an axis of the result with one entry per body, of which those of the robot's joints are wanted.
    """

    def decorate(f: F) -> F:
        @functools.wraps(f)
        def on_coordinates(robot: Any, *arguments: Any, **options: Any) -> Any:
            mechanism = mechanism_of(robot)
            coupling = mechanism.coupling
            if coupling is None:
                return f(mechanism, *arguments, **options)
            found = f(mechanism.free, *map(coupling.expand, arguments[:inputs]), *arguments[inputs:], **options)
            if not isinstance(found, tuple):
                return _reduced(coupling, found, contract, bodies, joints)
            axes = contract if contract and not isinstance(contract[0], int) else [contract] * len(found)
            return type(found)(*(_reduced(coupling, a, x, bodies, joints) for a, x in zip(found, axes)))

        return on_coordinates  # pyright: ignore[reportReturnType]

    return decorate


def _reduced(coupling: Coupling, a: Any, contract: Any, bodies: int | None, joints: int | None) -> Any:
    for axis in contract:
        a = coupling.contract(a, axis)
    if bodies is not None:
        a = coupling.pick(a, bodies, len(coupling.body))
    return a if joints is None else coupling.pick(a, joints, coupling.n)

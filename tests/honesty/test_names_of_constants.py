"""A lumped constant has one name, whatever is asked for first."""

from __future__ import annotations

import itertools

import pytest
import sympy

import manipula as mp
from manipula.symbolic.motion_formulas import ORDER

PARTS = ("M", "h", "g", "tau", "C", "kinetic_energy", "potential_energy")


def asked(order: tuple[str, ...]) -> tuple[dict[str, sympy.Basic], dict[str, sympy.Basic]]:
    eq = mp.equations(mp.load("scara-khang"), "lumped", inertia="symbolic")
    return {name: getattr(eq, name) for name in order}, eq.definitions


@pytest.mark.parametrize("first", PARTS)
def test_constants_are_named_the_same_in_any_order(first: str) -> None:
    parts, constants = asked(PARTS)
    others, found = asked((first, *(name for name in reversed(PARTS) if name != first)))
    assert len(constants) > 2
    assert found == constants
    assert others == parts


def test_one_part_alone_means_the_same_as_all_of_them() -> None:
    _, constants = asked(PARTS)
    for order in itertools.permutations(("g", "kinetic_energy"), 2):
        parts, found = asked(order)
        assert found.items() <= constants.items()
        used = set().union(*(part.free_symbols for part in parts.values()))
        assert {str(s) for s in used} & set(constants) <= set(found)


def test_linearisation_does_not_rename() -> None:
    arm = mp.load("scara-khang")
    eq, late = (mp.equations(arm, "lumped", inertia="symbolic") for _ in range(2))
    early = eq.linearise(at_rest=True)
    _ = late.M, late.h, late.g, late.C
    assert early == late.linearise(at_rest=True)
    assert eq.definitions.items() <= late.definitions.items() or late.definitions.items() <= eq.definitions.items()
    assert eq.M == late.M


def test_every_part_with_constants_has_its_place() -> None:
    parts = mp.equations(mp.load("scara-khang"), "lumped", inertia="symbolic").formulas
    assert all(hasattr(parts, name) for name in ORDER)

"""A lumped constant has one name, whatever is asked for first."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
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


def tilted(seed: int) -> mp.Robot:
    """Three joints with lengths of six digits, whose brackets have no small whole numbers."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "a": round(float(rng.uniform(0.1, 1)), 6), "alpha": float(rng.choice([0, np.pi / 2, -np.pi / 2])),
            "d": round(float(rng.uniform(0, 0.5)), 6), "mass": f"m{i + 1}", "com": [round(float(v), 5) for v in rng.uniform(-0.3, 0.3, 3)],
            "inertia": [f"I{i + 1}", f"I{i + 1}", f"I{i + 1}", 0, 0, 0],
        }
        for i in range(3)
    ]  # fmt: skip
    return mp.from_dh(rows, "standard")


@pytest.mark.parametrize(("seed", "inertia"), [(3, "symbolic"), (4, "given")])
def test_multiples_of_a_constant_are_no_constants_of_their_own(seed: int, inertia: Any) -> None:
    robot = tilted(seed)
    eq, late = (mp.equations(robot, "lumped", inertia=inertia) for _ in range(2))
    _ = eq.M, eq.h, eq.g, late.g, late.C, late.M
    constants = eq.definitions
    assert constants.items() <= late.definitions.items() or late.definitions.items() <= constants.items()
    assert (late.M, late.g) == (eq.M, eq.g)
    for (a, one), (b, other) in itertools.combinations(constants.items(), 2):
        if one.free_symbols == other.free_symbols:
            point = {s: float(k + 1) ** 1.5 for k, s in enumerate(sorted(one.free_symbols, key=str))}
            gradients = [[float(e.diff(s).subs(point)) for s in point] for e in (one, other)]
            assert np.linalg.matrix_rank(gradients, tol=1e-12 * np.max(np.abs(gradients))) == 2, (a, b)
    state = {
        s: 0.3 + 0.1 * k for k, s in enumerate(sorted(eq.tau.free_symbols - set(map(sympy.Symbol, constants)), key=str))
    }
    plain = mp.equations(robot, "compact", inertia=inertia)
    values = {s: 0.3 + 0.1 * k for k, s in enumerate(sorted(plain.tau.free_symbols, key=str))}
    numbers = {sympy.Symbol(name): formula.subs(values) for name, formula in constants.items()}
    found = np.array(eq.tau.subs(numbers).subs(values | {s: values.get(s, v) for s, v in state.items()}), float)
    expected = np.array(plain.tau.subs(values), float)
    assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())

"""A peer that is timed must compute the right thing: the named recursion against Newton–Euler."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import sympy

from manipula.formats.dh import from_dh
from manipula.physics.newton_euler import inverse_dynamics

FILE = Path(__file__).parents[2] / "benchmarks" / "named_recursion.py"
ROUNDING = 1e-12  # relative to the largest torque


@pytest.mark.skipif(not FILE.exists(), reason="benchmarks are not beside the tests")
def test_the_code_gives_the_torques() -> None:
    spec = importlib.util.spec_from_file_location("named_recursion", FILE)
    assert spec is not None
    assert spec.loader is not None
    peer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)

    rng = np.random.default_rng(0)
    shape = [(0.0, sympy.pi / 2, 0.3), (0.4, 0, 0.1), (0.2, -sympy.pi / 2, 0.0)]
    values: dict[str, float] = {"g": 9.81}
    rows = []
    for i, (a, alpha, d) in enumerate(shape, start=1):
        m, c, J = rng.uniform(1, 2), rng.normal(size=3) / 10, np.diag([0.1, 0.2, 0.15]) + 0.01
        rows.append({"a": a, "alpha": float(alpha), "d": d, "mass": m, "com": c, "inertia": J})
        J = J + m * (c @ c * np.eye(3) - np.outer(c, c))
        values |= {f"m{i}": m} | {f"m{x}{i}": m * c[k] for k, x in enumerate("xyz")}
        values |= {f"I{'xyz'[r]}{'xyz'[k]}{i}": J[r, k] for r in range(3) for k in range(r, 3)}
    state = rng.normal(size=(3, 3))
    for letters, numbers in zip(("q", "dq", "ddq"), state):
        values |= {f"{letters}{i + 1}": x for i, x in enumerate(numbers)}

    names, recursion = peer.Names(), peer.Recursion(shape)
    symbols = [[sympy.Symbol(f"{letters}{i}") for i in (1, 2, 3)] for letters in ("dq", "ddq")]
    torques = recursion.backward(names, recursion.forward(names, *symbols, sympy.Symbol("g")), sympy.Symbol)
    known = {sympy.Symbol(name): sympy.Float(x, 17) for name, x in values.items()}
    for symbol, formula in names.code(torques):
        known[symbol] = sympy.Float(formula.xreplace(known), 17)
    found = [float(t.xreplace(known)) for t in torques]
    expected = inverse_dynamics(from_dh(rows, "standard"), *state)
    np.testing.assert_allclose(found, expected, atol=ROUNDING * np.abs(expected).max())

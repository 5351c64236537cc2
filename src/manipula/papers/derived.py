"""Formulas that were derived in this run, for a page, and checks of symbolic identities on random states."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from manipula.papers.base import DerivedFormulas
from manipula.symbolic.equations import Equations

STATES = 64


def derived(eq: Equations, title: str, only: str) -> DerivedFormulas:
    """Parts of the equations of a robot, typeset."""
    page = eq.html(only)
    inside = page.partition("<body>")[2].rpartition("</body>")[0].strip()
    return DerivedFormulas(title, inside)


def rate(expression: Any, eq: Equations) -> Any:
    """The derivative by time of what depends on q: Σ ∂/∂q_i q̇_i."""
    return sum((expression.diff(q) * qd for q, qd in zip(eq.q.flat(), eq.qd.flat())), expression * 0)


def states(n: int, seed: int = 0, count: int = STATES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions, velocities and accelerations, (count, n) each."""
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, count, n))
    return 2.0 * q, qd, qdd


def largest(eq: Equations, *vanishing: Any, seed: int = 0) -> float:
    """The largest absolute value, over random states, of expressions that should vanish; eq has numbers for its parameters."""
    column = sympy.Matrix([entry for expression in vanishing for entry in sympy.Matrix([expression])])
    if all(entry == 0 for entry in column):
        return 0.0
    used = [bool(column.free_symbols & set(symbols.flat())) for symbols in (eq.q, eq.qd, eq.qdd)]
    count = max((k + 1 for k, found in enumerate(used) if found), default=1)
    return float(np.abs(eq.compile(column)(*states(eq.robot.n, seed)[:count])).max())

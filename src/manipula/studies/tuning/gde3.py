"""Generalised differential evolution: several objectives and constraints at once (Kukkonen and Lampinen, CEC 2005).

A trial is made of three other members, u = x₁ + F (x₂ − x₃), with each entry taken from u with probability CR (at least one is). It takes the place
of its parent when it is at least as good in everything, is dropped when the parent is, and stands beside it when neither beats the other; a generation
that grew is cut back to its size by fronts and crowding. With one objective this is plain differential evolution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from manipula.studies.tuning.pareto import beats, best

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
WEIGHT, CROSSOVER = 0.5, 0.7


def gde3(
    evaluate: Evaluate, start: np.ndarray, generations: int, random: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Minimise over the unit cube.

    Args:
        evaluate: points (N, d) → objectives (N, k) and violations (N, c); answers that are no number are infinite.
        start: the first generation, (N, d), N ≥ 4.

    Returns:
        Points, objectives and violations of the last generation.
    """
    size = len(start)
    x = start.copy()
    f, v = evaluate(x)
    for _ in range(generations):
        parents = x[:size]
        trial = _trials(parents, random)
        ft, vt = evaluate(trial)
        fp, vp = f[:size], v[:size]
        worse = beats(fp, vp, ft, vt)
        better = beats(ft, vt, fp, vp) | ((ft == fp).all(axis=1) & (vt == vp).all(axis=1))
        x, f, v = (np.where(better[:, None], new, old) for new, old in ((trial, parents), (ft, fp), (vt, vp)))
        beside = ~worse & ~better
        x, f, v = (np.concatenate([a, b[beside]]) for a, b in ((x, trial), (f, ft), (v, vt)))
        if len(x) > size:
            kept = best(f, v, size)
            x, f, v = x[kept], f[kept], v[kept]
    return x, f, v


def _trials(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One trial per member; what leaves the cube is reflected at its walls."""
    size, d = x.shape
    others = np.argsort(random.random((size, size - 1)), axis=1)[:, :3]
    others += others >= np.arange(size)[:, None]  # three different members, none of them the parent
    mutant = x[others[:, 0]] + WEIGHT * (x[others[:, 1]] - x[others[:, 2]])
    taken = random.random((size, d)) < CROSSOVER
    taken[np.arange(size), random.integers(0, d, size)] = True
    trial = np.where(taken, mutant, x)
    trial = np.abs(trial)
    return np.clip(np.where(trial > 1.0, 2.0 - trial, trial), 0.0, 1.0)

"""Which of several answers are worth having: dominance, fronts, and how crowded a front is.

Answers are rows of objectives, all to be made small; ``violation`` (rows, constraints) says by how much each breaks every constraint, 0 where it is kept.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def dominates(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Row by row: is a nowhere worse than b and somewhere better?"""
    return np.asarray((a <= b).all(axis=-1) & (a < b).any(axis=-1))


def beats(fa: np.ndarray, va: np.ndarray, fb: np.ndarray, vb: np.ndarray) -> np.ndarray:
    """Dominance under constraints (Deb, 2000; Kukkonen and Lampinen, 2005), row by row.

    What keeps the constraints beats what breaks them; of two that break them the one that breaks none more and one less; of two that keep
    them the one that dominates in the objectives.
    """
    a_keeps, b_keeps = (va <= 0.0).all(axis=-1), (vb <= 0.0).all(axis=-1)
    return np.where(a_keeps & b_keeps, dominates(fa, fb), np.where(a_keeps, True, ~b_keeps & dominates(va, vb)))


def fronts(f: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Number of the front of every row: 0 is beaten by nobody, 1 only by rows of front 0, and so on (Deb et al., 2002)."""
    rows = len(f)
    beaten = beats(f[:, None], v[:, None], f[None], v[None])  # [a, b]: a beats b
    open_, rank, number = np.ones(rows, bool), np.zeros(rows, int), 0
    while open_.any():
        now = open_ & ~(beaten & open_[:, None]).any(axis=0)
        rank[now], open_ = number, open_ & ~now
        number += 1
    return rank


def crowding(f: np.ndarray) -> np.ndarray:
    """Crowding distance of the rows of one front: mean side of the box between the neighbours; infinite at the ends."""
    rows, count = f.shape
    if rows <= 2:
        return np.full(rows, np.inf)
    out = np.zeros(rows)
    for k in range(count):
        order = np.argsort(f[:, k], kind="stable")
        span = f[order[-1], k] - f[order[0], k]
        out[order[[0, -1]]] = np.inf
        if span > 0.0:
            out[order[1:-1]] += (f[order[2:], k] - f[order[:-2], k]) / span
    return out


def best(f: np.ndarray, v: np.ndarray, count: int) -> np.ndarray:
    """Rows that are kept of a crowd: whole fronts, and of the last one the least crowded, thinned out one after the other."""
    rank = fronts(f, v)
    kept: list[int] = []
    for number in range(rank.max() + 1):
        members = np.flatnonzero(rank == number)
        while len(kept) + len(members) > count:
            members = np.delete(members, int(np.argmin(crowding(f[members]))))
        kept += members.tolist()
        if len(kept) >= count:
            break
    return np.array(sorted(kept), int)


def front_of(f: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rows that keep every constraint and that no other such row beats; of equal ones the first."""
    good = np.flatnonzero((v <= 0.0).all(axis=1) & np.isfinite(f).all(axis=1))
    if not len(good):
        return good
    _, first = np.unique(f[good], axis=0, return_index=True)
    good = good[np.sort(first)]
    order = good[np.lexsort(f[good].T[::-1])]  # by the first objective, then the next
    kept: list[int] = []
    for row in order:
        if not kept or not dominates(f[kept], f[row]).any():
            kept.append(int(row))
    return np.array(kept, int)

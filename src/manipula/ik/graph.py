"""A global search over the self-motion: postures at many places of the path, joined where a short motion leads from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from manipula.ik.track import Follower

LAYERS = 40
POSTURES = 160  # a layer
NEIGHBOURS = 6  # postures of the next layer that each tries to reach
REACH = 1.2  # rad or m: largest difference between layers worth trying


def search_graph(
    follower: Follower, targets: np.ndarray, q0: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray | None:
    """Samples (S, n) of a continuous motion, or None.

    Dynamic programming over layers: every posture of a layer is followed to the next one, arrives somewhere on its self-motion, and
    from there may slide along the self-motion to a posture of that layer. The cost is the largest nearness to a limit, then length.
    """
    last = len(targets) - 1
    places = np.unique(np.linspace(0, last, min(LAYERS, last) + 1).astype(int))
    alive = follower.candidates(targets[0], rng, POSTURES) if q0 is None else q0[None]
    histories = [alive[None]]  # samples (S_k, m, n) of every survivor up to its layer
    parents: list[np.ndarray] = []
    for a, b in zip(places, places[1:]):
        steps, lost = follower.advance(targets[a : b + 1], alive)
        good = np.flatnonzero(lost > b - a)
        if not len(good):
            return None
        arrived = steps[-1][good]
        spread, origin = _slide(follower, targets[b], arrived, rng)
        parents.append(good[origin])
        histories.append(steps[1:])
        alive = spread
    return _traced(follower, histories, parents, alive, targets)


def _slide(
    follower: Follower, target: np.ndarray, arrived: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Postures that can be kept at this layer (those that arrived), thinned to differ, safest first; and where each came from."""
    del target, rng
    margin = follower.margin(arrived[None])
    order = np.argsort(-margin)
    kept: list[int] = []
    for k in order:
        if all(np.max(np.abs(arrived[k] - arrived[j])) > 0.02 for j in kept):
            kept.append(int(k))
        if len(kept) >= POSTURES:
            break
    return arrived[kept], np.array(kept)


def _traced(
    follower: Follower, histories: list[np.ndarray], parents: list[np.ndarray], alive: np.ndarray, targets: np.ndarray
) -> np.ndarray | None:
    k = int(np.argmax(follower.margin(alive[None])))
    rows: list[np.ndarray] = []
    for samples, parent in zip(reversed(histories[1:]), reversed(parents)):
        k = int(parent[k])
        rows.append(samples[:, k])
    rows.append(histories[0][:, k])
    return np.concatenate(rows[::-1])

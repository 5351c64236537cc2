"""A global search over the self-motion: postures at many places of the path, joined where a motion leads from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from manipula.ik.tracking.track import Follower

LAYERS = 40
POSTURES = 120  # a layer
NEIGHBOURS = 8  # postures of the next layer that each tries to reach
LONGEST_EDGE = 1.5  # rad or m: largest joint difference between layers worth trying


class Layer(NamedTuple):
    """Postures at one place, the cost of getting there, the posture of the layer before, and the samples on the way."""

    q: np.ndarray  # (m, n)
    cost: np.ndarray  # (m,)
    parent: np.ndarray  # (m,)
    way: np.ndarray  # (samples, m, n)


def search_graph(
    follower: Follower, targets: np.ndarray, q0: np.ndarray | None, rng: np.random.Generator
) -> np.ndarray | None:
    """Samples (S, n) of a continuous motion from the first target to the last, or None.

    Dynamic programming over layers [Bellman 1957]: the cost of a posture is the least joint travel that leads to it.
    """
    last = len(targets) - 1
    places = np.unique(np.linspace(0, last, min(LAYERS, last) + 1).astype(int))
    first = follower.candidates(targets[0], rng, POSTURES) if q0 is None else q0[None]
    layers = [Layer(first, np.zeros(len(first)), np.zeros(len(first), int), first[None])]
    for a, b in zip(places, places[1:]):
        layer = _next(follower, targets[a : b + 1], layers[-1], rng)
        if layer is None:
            return None
        layers.append(layer)
    k = int(np.argmin(layers[-1].cost))
    rows = []
    for layer in reversed(layers):
        rows.append(layer.way[:, k])
        k = int(layer.parent[k])
    return np.concatenate(rows[::-1])


def _next(follower: Follower, targets: np.ndarray, before: Layer, rng: np.random.Generator) -> Layer | None:
    """The next layer: where postures drift by themselves, and chosen postures that others can be led to."""
    drifted, lost = follower.advance(targets, before.q)
    fine = np.flatnonzero(lost == len(targets))
    ways, parents = [drifted[1:, fine]], [fine]
    goals = follower.candidates(targets[-1], rng, POSTURES)
    if len(goals):
        apart = np.max(np.abs(before.q[:, None] - goals[None]), axis=2)  # (m, goals)
        near = np.argsort(apart, axis=1)[:, :NEIGHBOURS]
        start = np.repeat(np.arange(len(before.q)), near.shape[1])
        goal = near.ravel()
        worth = apart[start, goal] <= LONGEST_EDGE
        way, good = _led(follower, targets, before.q[start[worth]], goals[goal[worth]])
        ways.append(way[:, good])
        parents.append(start[worth][good])
    way, parent = np.concatenate(ways, axis=1), np.concatenate(parents)
    if not len(parent):
        return None
    travel = np.abs(np.diff(np.concatenate([before.q[parent][None], way]), axis=0)).sum(axis=(0, 2))
    return _thinned(Layer(way[-1], before.cost[parent] + travel, parent, way))


def _led(follower: Follower, targets: np.ndarray, q: np.ndarray, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lead postures (k, n) to goals on the last target, evenly over the samples: samples (S − 1, k, n), and which arrive."""
    from manipula.ik.tracking.track import LARGEST_STEP, TOLERANCE

    good = np.ones(len(q), bool)
    rows = []
    for j in range(1, len(targets)):
        hint = q + (goal - q) / (len(targets) - j)
        new, error, _ = follower.step(targets[j][None], hint, 0.0, TOLERANCE)
        good &= (error <= TOLERANCE) & (np.max(np.abs(new - q), axis=1) <= LARGEST_STEP)
        q = np.where(good[:, None], new, q)
        rows.append(q)
    return np.array(rows).reshape(len(targets) - 1, *q.shape), good


def _thinned(layer: Layer) -> Layer:
    """The cheapest of postures that are nearly the same, and no more than a layer holds."""
    kept: list[int] = []
    for k in np.argsort(layer.cost):
        if not kept or np.min(np.max(np.abs(layer.q[kept] - layer.q[k]), axis=1)) > 0.02:
            kept.append(int(k))
        if len(kept) >= 2 * POSTURES:
            break
    return Layer(layer.q[kept], layer.cost[kept], layer.parent[kept], layer.way[:, kept])

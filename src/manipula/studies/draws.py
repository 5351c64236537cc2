"""Numbers between 0 and 1 for every run of a study, by random access: those of run i depend on the seed and on i alone.

======================  ====================================================================================================
``random``              run i: Philox seeded by ``SeedSequence(seed, spawn_key=(i,))``
``latin_hypercube``     sample j of m lies in stratum π(j) of m in every direction, at a place drawn as above; π is a permutation by a
                        keyed Feistel network, so that no table of m numbers is kept
``sobol``               point j of a scrambled Sobol sequence, reached by jumping
``saltelli``            groups of d + 2 runs for Sobol indices: sample A, sample B, and A with one direction after the other taken from B
======================  ====================================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

DESIGNS = ("random", "latin_hypercube", "sobol", "saltelli", "grid", "list")
ROUNDS = 8  # of the Feistel network
_MASK = 0xFFFFFFFFFFFFFFFF


def generator(seed: int, run: int, *more: int) -> np.random.Generator:
    """The random numbers of one run: independent of every other run, of order, chunk and engine."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(run, *more))))


def noise_seed(seed: int, run: int) -> int:
    """The seed of the measurement noise of one run: 53 bits, so that every table holds it exactly."""
    return int(np.random.SeedSequence(seed, spawn_key=(run, 1)).generate_state(1, np.uint64)[0] >> np.uint64(11))


def unit_numbers(design: str, seed: int, runs: np.ndarray, samples: int, directions: int) -> np.ndarray:
    """Numbers 0 ≤ u < 1 of the given runs, (k, directions).

    Args:
        samples: how many draws there are at each point of the grid; run r is draw r mod samples there.
    """
    if not directions:
        return np.zeros((len(runs), 0))
    if design == "sobol":
        return _sobol(seed, runs % samples, directions)
    if design == "saltelli":
        return _exchanged(seed, runs % samples, directions)
    own = np.array([generator(seed, int(run)).random(directions) for run in runs]).reshape(len(runs), directions)
    if design != "latin_hypercube":
        return own
    strata = np.array(
        [[permuted(int(run) % samples, samples, (seed, d, int(run) // samples)) for d in range(directions)] for run in runs],
        float,
    ).reshape(len(runs), directions)  # fmt: skip
    return np.minimum((strata + own) / samples, np.nextafter(1.0, 0.0))


def generator_for(function: Any, generator: np.random.Generator) -> dict[str, Any]:
    """The generator as an argument of a function of SciPy, under the name that this version has for it."""
    import inspect

    return {"rng" if "rng" in inspect.signature(function).parameters else "seed": generator}


def _sobol(seed: int, points: np.ndarray, directions: int) -> np.ndarray:
    from scipy.stats import qmc

    out = np.empty((len(points), directions))
    engine: Any = None
    at, last = 0, np.zeros(directions)
    order = np.argsort(points, kind="stable")
    for k in order:  # forwards only: the engine jumps, it does not go back
        point = int(points[k])
        if engine is None:
            generator = np.random.default_rng(np.random.SeedSequence(seed))
            engine = qmc.Sobol(directions, scramble=True, **generator_for(qmc.Sobol, generator))
        if at == point + 1:
            out[k] = last
            continue
        if point > at:
            engine.fast_forward(point - at)
        last = engine.random(1)[0]
        out[k], at = last, point + 1
    return np.clip(out, 0.0, np.nextafter(1.0, 0.0))


def _exchanged(seed: int, points: np.ndarray, directions: int) -> np.ndarray:
    """A and B are the two halves of one Sobol point of 2 d directions [Saltelli et al. 2010]."""
    group, member = np.divmod(points, directions + 2)
    both = _sobol(seed, group, 2 * directions)
    a, b = both[:, :directions], both[:, directions:]
    exchanged = (member[:, None] - 2 == np.arange(directions)) | (member == 1)[:, None]
    return np.where(exchanged, b, a)


def permuted(index: int, size: int, key: tuple[int, ...]) -> int:
    """Where a keyed permutation of 0 … size − 1 puts ``index``, without a table.

    A Feistel network permutes the smallest square power of two that holds ``size``; what falls outside walks on until it is inside
    [Black & Rogaway 2002, cycle walking]: fewer than four turns on average.
    """
    half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    keys = _round_keys(key)
    while True:
        left, right = index >> half, index & mask
        for k in keys:
            left, right = right, left ^ (_mixed(right ^ k) & mask)
        index = (left << half) | right
        if index < size:
            return index


_KEYS: dict[tuple[int, ...], tuple[int, ...]] = {}


def _round_keys(key: tuple[int, ...]) -> tuple[int, ...]:
    found = _KEYS.get(key)
    if found is None:
        if len(_KEYS) > 4096:
            _KEYS.clear()
        seed, *rest = key
        state = np.random.SeedSequence(seed, spawn_key=(2, *rest)).generate_state(ROUNDS, np.uint64)
        found = _KEYS[key] = tuple(int(v) for v in state)
    return found


def _mixed(x: int) -> int:
    """A 64-bit mixing function (multiply, shift, xor) [Steele, Lea & Flood 2014, SplitMix]."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)

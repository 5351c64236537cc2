r"""Which inputs move an answer: rank correlations and Sobol indices.

Inputs X are (N, d), the answer y is (N,). Rows in which something is not finite are left out, and counted.

- **Rank correlation** (Spearman): the correlation ρ_i of the ranks of x_i and y: −1 … 1, how far y follows x_i monotonically.
- **Partial rank correlation**: the same after the linear influence of the other inputs' ranks on both was taken out (Iman and Conover, 1979).
- **First-order index** S_i = V[E(y|x_i)] / V(y): the part of the variance of y that x_i alone explains.
- **Total index** T_i = 1 − V[E(y|x_~i)] / V(y): what is lost of the variance when everything but x_i is known; T_i − S_i is interaction.

Independent samples of any kind give S_i by ranks (Gamboa, Gremaud, Klein and Lagnoux, *Bernoulli* 28, 2022). With π_i(k) the row whose x_i
follows that of row k,

    S_i = [ (1/N) Σ_k y_k y_{π_i(k)} − ȳ² ] / V(y)

A design in which single columns are exchanged between two independent samples A and B gives both (Saltelli et al., 2010, and Jansen, 1999):

    S_i = (1/N) Σ_k y_B,k (y_ABi,k − y_A,k) / V(y)        T_i = 1/(2N) Σ_k (y_A,k − y_ABi,k)² / V(y)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.arguments import real_array, whole_number
from manipula.algebra.value import Value
from manipula.errors import DescriptionError, ShapeError

LEAST_ROWS = 8
HALVES = 200
BAND = (2.5, 97.5)  # percentiles of a 95 % interval
NORMAL_95 = 1.959963984540054
BLOCK = 1 << 20  # numbers above which fewer halves are drawn


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Value):
    """How much every input moves the answer; one number per input.

    Attributes:
        names: of the inputs. used, left_out: rows.
        rank: Spearman's ρ. rank_low, rank_high: 95 % (Fisher's z). partial: partial rank correlation (NaN where inputs are dependent).
        first, first_low, first_high: first-order index and its 95 % interval (by halves of the rows).
        total, total_low, total_high: total index; NaN where the design does not give it.
    """

    names: tuple[str, ...]
    used: int
    left_out: int
    rank: np.ndarray
    rank_low: np.ndarray
    rank_high: np.ndarray
    partial: np.ndarray
    first: np.ndarray
    first_low: np.ndarray
    first_high: np.ndarray
    total: np.ndarray
    total_low: np.ndarray
    total_high: np.ndarray

    @property
    def order(self) -> tuple[int, ...]:
        """Inputs by their influence, the strongest first: by the total index where there is one, else by |ρ|."""
        weight = np.where(np.isfinite(self.total), self.total, np.abs(self.rank))
        return tuple(int(i) for i in np.argsort(-np.nan_to_num(weight, nan=-1.0), kind="stable"))


def sensitivity(inputs: Any, answer: Any, names: Sequence[str] | None = None, *, seed: int = 0) -> Sensitivity:
    """Sensitivities from independent samples, whatever made them (random, Latin hypercube, Sobol points).

    Args:
        inputs: (N, d). answer: (N,). names: of the inputs.
        seed: of the halves behind the intervals.
    """
    x, y, names = _samples(inputs, answer, names)
    good = np.isfinite(x).all(axis=1) & np.isfinite(y)
    x, y, left_out = x[good], y[good], int((~good).sum())
    _enough(len(y))
    ranks, of_answer = _ranks(x), _ranks(y[:, None])
    rho = _correlation(ranks, of_answer[:, 0])
    low, high = _fisher(rho, len(y))
    order = np.argsort(x, axis=0, kind="stable")
    first = _first_by_ranks(order, y)
    band = _half_samples(lambda kept: _first_by_ranks(order, y, kept), len(y), x.shape[1], seed)
    none = np.full(x.shape[1], np.nan)
    return Sensitivity(
        names, len(y), left_out, rho, low, high, _partial(ranks, of_answer[:, 0]), first, *_around(first, band), none, none, none
    )  # fmt: skip


def sobol_indices(
    inputs: Any, answer_a: Any, answer_b: Any, answer_ab: Any, names: Sequence[str] | None = None, *, seed: int = 0
) -> Sensitivity:
    """Sobol indices from a design in which single columns of one sample are exchanged.

    Args:
        inputs: sample A, (N, d). answer_a, answer_b: of samples A and B, (N,). answer_ab: of A with column i from B, (N, d).
    """
    x, a, names = _samples(inputs, answer_a, names)
    b, ab = real_array(answer_b, "answer_b"), real_array(answer_ab, "answer_ab")
    for name, found, wanted in (("answer_b", b, a.shape), ("answer_ab", ab, x.shape)):
        if found.shape != wanted:
            raise ShapeError(f"'{name}' must have shape {wanted}; found {found.shape}.")
    good = np.isfinite(x).all(axis=1) & np.isfinite(a) & np.isfinite(b) & np.isfinite(ab).all(axis=1)
    x, a, b, ab, left_out = x[good], a[good], b[good], ab[good], int((~good).sum())
    _enough(len(a))
    ranks, of_answer = _ranks(x), _ranks(a[:, None])
    rho = _correlation(ranks, of_answer[:, 0])
    low, high = _fisher(rho, len(a))
    first, total = _saltelli(a, b, ab)
    band = _half_samples(lambda k: np.stack(_saltelli(a[k], b[k], ab[k])), len(a), 2 * x.shape[1], seed)
    half = x.shape[1]
    return Sensitivity(
        names, len(a), left_out, rho, low, high, _partial(ranks, of_answer[:, 0]),
        first, *_around(first, band[:, :half]), total, *_around(total, band[:, half:]),
    )  # fmt: skip


def _samples(inputs: Any, answer: Any, names: Sequence[str] | None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    x, y = real_array(inputs, "inputs"), real_array(answer, "answer")
    if x.ndim != 2 or y.shape != x.shape[:1] or not x.shape[1]:
        raise ShapeError(f"'inputs' must be (N, d) and 'answer' (N,); found {x.shape} and {y.shape}.")
    named = tuple(f"x{i + 1}" for i in range(x.shape[1])) if names is None else tuple(names)
    if len(named) != x.shape[1]:
        raise ShapeError(f"'names' must name {x.shape[1]} inputs; found {len(named)}.")
    return x, y, named


def _enough(rows: int) -> None:
    if rows < LEAST_ROWS:
        raise DescriptionError(
            f"Sensitivities need at least {LEAST_ROWS} rows in which everything is finite; found {rows}.",
            field="answer",
        )


def _ranks(columns: np.ndarray) -> np.ndarray:
    """Rank of every entry within its column, equal entries share the mean of theirs."""
    out = np.empty(columns.shape)
    for i, column in enumerate(columns.T):
        order = np.argsort(column, kind="stable")
        place = np.empty(len(column))
        place[order] = np.arange(len(column))
        _, inverse, count = np.unique(column, return_inverse=True, return_counts=True)
        out[:, i] = (np.bincount(inverse, place) / count)[inverse]
    return out


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correlation of every column with y; NaN for what does not vary."""
    u, v = x - x.mean(axis=0), y - y.mean()
    size = np.sqrt((u * u).sum(axis=0) * (v * v).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 0.0, (u * v[:, None]).sum(axis=0) / size, np.nan)


def _fisher(rho: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of a correlation: tanh(atanh ρ ± 1.96/√(N − 3))."""
    with np.errstate(divide="ignore"):
        z = np.arctanh(np.clip(rho, -1.0, 1.0))
    half = NORMAL_95 / np.sqrt(rows - 3)
    return np.tanh(z - half), np.tanh(z + half)


def _partial(ranks: np.ndarray, of_answer: np.ndarray) -> np.ndarray:
    """Correlation of what is left of x_i and y when the other columns were fitted to both: −P_iy/√(P_ii P_yy), P the inverse correlation matrix."""
    every = np.column_stack([ranks, of_answer])
    varies = every.std(axis=0) > 0.0
    out = np.full(ranks.shape[1], np.nan)
    if not varies[-1] or len(every) <= varies.sum() + 1:
        return out
    matrix = np.corrcoef(every[:, varies], rowvar=False)
    if np.linalg.cond(np.atleast_2d(matrix)) > 1e12:  # an input, or the answer, follows from the others
        return out
    P = np.linalg.inv(np.atleast_2d(matrix))
    out[varies[:-1]] = -P[:-1, -1] / np.sqrt(np.diag(P)[:-1] * P[-1, -1])
    return out


def _first_by_ranks(order: np.ndarray, y: np.ndarray, kept: np.ndarray | None = None) -> np.ndarray:
    """First-order indices by the neighbour of every row in each input; the last row's neighbour is the first.

    Args:
        order: rows in the order of each input, (N, d). kept: rows that take part, all when omitted.
    """
    out = np.full(order.shape[1], np.nan)
    for i, rows in enumerate(order.T):
        sorted_y = y[rows if kept is None else rows[kept[rows]]]
        sorted_y = sorted_y - sorted_y.mean()
        variance = float(sorted_y @ sorted_y)
        if variance > 0.0:
            out[i] = float(sorted_y[:-1] @ sorted_y[1:] + sorted_y[-1] * sorted_y[0]) / variance
    return out


def _saltelli(a: np.ndarray, b: np.ndarray, ab: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First-order and total indices; means are taken out first, which changes nothing but rounding and scatter."""
    both = np.concatenate([a, b])
    centre, variance = both.mean(), both.var()
    if not variance > 0.0:
        none = np.full(ab.shape[1], np.nan)
        return none, none
    first = ((b - centre)[:, None] * (ab - a[:, None])).mean(axis=0) / variance
    total = 0.5 * ((a[:, None] - ab) ** 2).mean(axis=0) / variance
    return first, total


def _half_samples(estimate: Any, rows: int, columns: int, seed: int) -> np.ndarray:
    """The estimate on random halves of the rows, (times, columns): they scatter about that of all rows as it does about the truth."""
    random = np.random.Generator(np.random.Philox(whole_number(seed, "seed", 0, 2**63)))
    times = min(HALVES, max(20, HALVES * BLOCK // (rows * columns)))
    found, kept = [], np.zeros(rows, bool)
    kept[: rows // 2] = True
    for _ in range(times):
        random.shuffle(kept)
        found.append(np.ravel(estimate(kept)))
    return np.stack(found)


def _around(found: np.ndarray, halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A 95 % interval about the estimate from the spread of halves, which may be shifted as a whole."""
    low, high = np.percentile(halves - np.median(halves, axis=0), BAND, axis=0)
    return found + low, found + high

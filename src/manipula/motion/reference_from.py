r"""A reference from a log: the smoothing spline through noisy samples, with its error stated.

Of all quintic splines s the one is taken that makes

.. math:: \sum_i\,(q_i-s(t_i))^2+\lambda\int\dddot s^{\,2}\,dt

least, coordinate by coordinate: close to the samples with little jerk, no phase shift, four continuous derivatives. With the B-splines' matrices
:math:`A=B^TB` and :math:`P=\int\dddot B^T\dddot B` it is one banded system :math:`(A+\lambda P)c=B^Tq`. λ is chosen so that the RMS of what remains is
the given noise, or by generalised cross-validation [Craven & Wahba 1979]: the least :math:`\tfrac1N|q-s|^2/(1-\nu/N)^2`, where the degrees of freedom
are :math:`\nu=\operatorname{tr}(A+\lambda P)^{-1}A=m-\mathrm d\ln\det(A+\lambda P)/\mathrm d\ln\lambda`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from manipula.algebra.arguments import choice, finite_array
from manipula.errors import DescriptionError, LengthError
from manipula.motion.piecewise import PiecewiseTrajectory
from manipula.motion.pose_table import COORDINATES, PoseTable, continuous
from manipula.motion.waypoints import checked_rows, checked_times

DEGREE = 5
FEWEST = 8  # samples
MOST_PIECES = 2000
COARSER = 4  # times as long are the pieces of a coordinate that asks for more smoothing than WEIGHTS have
WEIGHTS = np.log([1e-8, 1e7])  # of the jerk, where a piece lasts 1 and holds one sample: beyond, rounding would show
GRID = 46  # weights that are tried before the best is refined
DELTA = 1e-2  # in ln λ, of the difference quotient of the determinant
TINY = 1e-300


class LoggedReference(PiecewiseTrajectory):
    """A motion found from samples.

    Attributes:
        rms, largest: of what remains between samples and motion, one per coordinate [rad or m].
        smoothing: λ of every coordinate [s⁵]. freedom: degrees of freedom ν of every coordinate.
        start_time: the time of the first sample [s], which is t = 0 of the motion.
    """

    rms: np.ndarray
    largest: np.ndarray
    smoothing: np.ndarray
    freedom: np.ndarray
    start_time: float


class LoggedPose(PoseTable):
    """A motion of position and orientation found from samples; the attributes are those of a :class:`LoggedReference` with seven coordinates."""

    table: LoggedReference

    def __getattr__(self, name: str) -> Any:
        if name in ("rms", "largest", "smoothing", "freedom", "start_time"):
            return getattr(self.table, name)
        raise AttributeError(name)


def reference_from(
    t: Any, q: Any, *, space: Literal["joint", "task", "pose"] = "joint", noise: Any = None
) -> LoggedReference | LoggedPose:
    """The motion behind samples ``q`` (N, d) [rad or m] at times ``t`` (N,) [s], which increase and need not be uniform.

    Args:
        space: what the samples are: joints, the tip (two or three coordinates), or poses: x y z and a quaternion wxyz (seven), whose signs may jump.
        noise: standard deviation of the samples, one number or one per coordinate [rad or m]. None: found by
            cross-validation, which expects errors that are independent from sample to sample.

    Returns:
        a reference with ``rms`` and ``largest``, the deviations from the samples, stated per coordinate.

    Raises:
        DescriptionError: times that do not increase, too few samples, what is not a finite number, noise that is not
            greater than 0 or smaller than a spline can leave.
    """
    choice(space, "space", ("joint", "task", "pose"))
    if space == "pose":
        rows = finite_array(q, "q")
        if rows.ndim != 2 or rows.shape[1] != COORDINATES:
            raise LengthError(
                f"Poses are rows of 7 numbers, x y z and a quaternion wxyz; found shape {rows.shape}.", field="q"
            )
        return LoggedPose(_logged(t, continuous(rows), "task", noise, checked=True))
    return _logged(t, q, space, noise)


def _logged(t: Any, q: Any, space: Literal["joint", "task"], noise: Any, checked: bool = False) -> LoggedReference:
    times = checked_times(t, "t")
    rows = q if checked else checked_rows(q, "q", space)
    if len(times) != len(rows) or len(times) < FEWEST:
        raise LengthError(
            f"'t' and 'q' must have one entry per sample, at least {FEWEST}; found {len(times)} and {len(rows)}.",
            field="q",
        )
    levels = _levels(noise, np.shape(q)[1], rows.shape[1])
    local = times - times[0]
    edges = local[np.unique(np.rint(np.linspace(0, len(local) - 1, min(len(local) - 1, MOST_PIECES) + 1)).astype(int))]
    found = [_smoothed(local, y, edges, level) for y, level in zip(rows.T, levels)]
    powers = np.array([1.0, 1.0, 2.0, 6.0, 24.0, 120.0])
    table = np.stack([[s(edges[:-1], k) / powers[k] for k in range(DEGREE + 1)] for s, _, _ in found], axis=-1)
    motion = LoggedReference(edges, table.transpose(1, 0, 2), space)
    off = rows - motion.position(local)
    motion.rms, motion.largest = np.sqrt(np.mean(off**2, axis=0)), np.abs(off).max(axis=0)
    motion.smoothing, motion.freedom = (np.array([f[k] for f in found]) for k in (1, 2))
    motion.start_time = float(times[0])
    return motion


def _levels(noise: Any, d: int, padded: int) -> list[float | None]:
    """The noise of every coordinate; a z that nobody gave has as much as the others."""
    if noise is None:
        return [None] * padded
    found = finite_array(noise, "noise")
    if found.shape not in ((), (d,)):
        raise LengthError(
            f"'noise' must be one number or {d}, one per coordinate; found shape {found.shape}.", field="noise"
        )
    if np.any(found <= 0.0):
        raise DescriptionError(
            f"'noise' must be greater than 0, found {found.min():g}; mp.waypoints passes through every sample.",
            field="noise",
        )
    every = np.broadcast_to(found, (d,)).tolist()
    return every + every[:1] * (padded - d)


def _smoothed(t: np.ndarray, y: np.ndarray, edges: np.ndarray, noise: float | None) -> tuple[Any, float, float]:
    """The spline of one coordinate as f(times, derivative), its λ [s⁵] and its degrees of freedom; pieces become longer while more smoothing is asked for."""
    # a parabola has no jerk: taken out, rounding of strong weights cannot touch it
    trend = np.polynomial.Polynomial.fit(t, y, 2)
    while True:
        fit = _Splines(t, y - trend(t), edges)
        x = fit.cross_validated() if noise is None else fit.leaving(noise)
        if x < WEIGHTS[1] or len(edges) <= COARSER:
            break
        edges = np.append(edges[:-1:COARSER], edges[-1])
    rest = fit.spline(x)
    return lambda at, k: rest(at, nu=k) + trend.deriv(k)(at), fit.smoothing(x), fit.freedom(x)


class _Splines:
    """All smoothing splines of one coordinate on given pieces, by the logarithm x of the weight of the jerk."""

    def __init__(self, t: np.ndarray, y: np.ndarray, edges: np.ndarray) -> None:
        from scipy import sparse
        from scipy.interpolate import BSpline

        self.t, self.y, self.edges, count = t, y, edges, len(edges) - 1
        self.unit, self.share = edges[-1] / count, len(t) / count  # duration of a piece, samples on it
        knots = np.concatenate([[0.0] * DEGREE, edges / self.unit, [edges[-1] / self.unit] * DEGREE])
        self.knots, self.size = knots, count + DEGREE
        self.B = BSpline.design_matrix(np.clip(t / self.unit, 0.0, knots[-1]), knots, DEGREE)
        D = sparse.identity(self.size, format="csr")
        # coefficients of the derivative: k (c_{i+1} − c_i) / (knot_{i+k+1} − knot_{i+1})
        for k in range(DEGREE, DEGREE - 3, -1):
            inner = knots[DEGREE - k : len(knots) - (DEGREE - k)]
            width = inner[k + 1 : -1] - inner[1 : -k - 1]
            m = len(width)
            steps: Any = [0, 1]  # SciPy's types know one diagonal only
            D = sparse.diags([-k / width, k / width], steps, shape=(m, m + 1)) @ D
        nodes, weights = np.polynomial.legendre.leggauss(3)  # exact for the square of a parabola
        low, h = knots[DEGREE:-DEGREE][:-1, None], np.diff(knots[DEGREE:-DEGREE])[:, None]
        G = BSpline.design_matrix((low + h * (nodes + 1) / 2).ravel(), knots[3:-3], DEGREE - 3) @ D
        self.A = _band(self.B.T @ self.B) / self.share
        self.P = _band(G.T @ sparse.diags((h * weights / 2).ravel()) @ G)
        self.right = self.B.T @ y / self.share

    def _factor(self, x: float) -> np.ndarray:
        from scipy.linalg import cholesky_banded

        return cholesky_banded(self.A + np.exp(x) * self.P, check_finite=False)

    def coefficients(self, x: float) -> np.ndarray:
        """c of (A + λ P) c = Bᵀ y."""
        from scipy.linalg import cho_solve_banded

        return cho_solve_banded((self._factor(x), False), self.right, check_finite=False)

    def rms(self, x: float) -> float:
        """Of what remains between samples and spline."""
        return float(np.sqrt(np.mean((self.y - self.B @ self.coefficients(x)) ** 2)))

    def freedom(self, x: float) -> float:
        """ν = m − d ln det(A + λ P) / d ln λ."""
        after, before = (2.0 * np.log(self._factor(x + d)[-1]).sum() for d in (DELTA, -DELTA))
        return float(self.size - (after - before) / (2.0 * DELTA))

    def smoothing(self, x: float) -> float:
        """λ [s⁵]."""
        return float(np.exp(x) * self.share * self.unit**5)

    def spline(self, x: float) -> Any:
        """The spline as a function of time [s]."""
        from scipy.interpolate import BSpline

        ends = [self.edges[:1]] * DEGREE, [self.edges[-1:]] * DEGREE
        return BSpline(np.concatenate([*ends[0], self.edges, *ends[1]]), self.coefficients(x), DEGREE)

    def cross_validated(self) -> float:
        """x of the least generalised cross-validation error."""
        from scipy.optimize import minimize_scalar

        def score(x: float) -> float:
            return float(np.log(self.rms(x) + TINY) - np.log(max(1.0 - self.freedom(x) / len(self.t), TINY)))

        grid = np.linspace(float(WEIGHTS[0]), float(WEIGHTS[1]), GRID)
        best = int(np.argmin([score(x) for x in grid]))
        if best == GRID - 1:
            return float(grid[-1])
        found: Any = minimize_scalar(score, bounds=(grid[max(best - 1, 0)], grid[best + 1]), method="bounded")
        return float(found.x)

    def leaving(self, noise: float) -> float:
        """x at which the RMS of what remains, which grows with x, is ``noise``; the strongest weight where none leaves so much."""
        from scipy.optimize import brentq

        weakest, strongest = (self.rms(x) for x in WEIGHTS)
        if strongest <= noise:
            return float(WEIGHTS[1])
        if weakest > noise:
            raise DescriptionError(
                f"'noise' is {noise:g}; a spline of {len(self.knots) - 2 * DEGREE - 1} pieces leaves at least {weakest:.3g}.",
                field="noise",
            )
        low, high = map(float, WEIGHTS)
        return float(brentq(lambda x: self.rms(x) - noise, low, high, xtol=1e-6))  # pyright: ignore[reportArgumentType]


def _band(matrix: Any) -> np.ndarray:
    """The upper bands of a symmetric sparse matrix as LAPACK stores them."""
    n = matrix.shape[0]
    out = np.zeros((DEGREE + 1, n))
    for k in range(DEGREE + 1):
        out[DEGREE - k, k:] = matrix.diagonal(k)
    return out

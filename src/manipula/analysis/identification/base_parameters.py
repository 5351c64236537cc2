r"""Base parameters: the fewest numbers that torques can depend on, by numerical rank.

Stack the regressor at random states, :math:`W`. Some columns vanish, others are combinations of those before them. With the
QR factorisation :math:`W = QR`, column j depends on the earlier ones exactly when :math:`R_{jj} = 0`; keep the others,
:math:`W_1`, and solve :math:`W_2 = W_1 B`. Then

.. math:: W\pi = W_1\,\beta, \qquad \beta = \pi_1 + B\,\pi_2 = K\pi

[Gautier, Numerical calculation of the base inertial parameters of robots, J. Robotic Systems 8(4), 1991]. Columns are taken
link by link from base to tip, second moments before first moments before masses, so parameters are regrouped towards the base
and masses go first, as in the symbolic rules of Gautier & Khalil.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from manipula.algebra.arguments import whole_number
from manipula.algebra.value import Value
from manipula.analysis.identification.folded import ROWS, parts
from manipula.analysis.identification.regressor_columns import Columns, Extras, columns, random_states, stacked
from manipula.errors import SolveError
from manipula.model import Model, model_of
from manipula.physics.regressor import PARAMETERS
from manipula.robot.robot import Robot

SEED = 1991
DEPENDENT = 1e-9  # |R_jj| relative to the column's length; rounding is 1e-13, the smallest real one seen is 1e-4
PREFERENCE = ("Jzz", "Jxx", "Jxy", "Jxz", "Jyz", "Jyy", "mx", "my", "mz", "m")  # kept before the later ones of a link
CLEAN = 1e-9  # entries of the regrouping this small against the largest one are rounding


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Value):
    """Which columns stay and how the others are regrouped into them.

    Attributes:
        columns: what the full parameters are.
        kept: numbers of the independent columns, increasing.
        unseen: numbers of the columns that never move the torque.
        K: (b, p), β = K π.
        gap: smallest kept and largest dropped |R_jj|, relative to the column: how sure the count is.
    """

    columns: Columns
    kept: tuple[int, ...]
    unseen: tuple[int, ...]
    K: np.ndarray
    gap: tuple[float, float]

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.kept)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that stay."""
        return tuple(self.columns.names[k] for k in self.kept)

    def values(self, pi: np.ndarray) -> np.ndarray:
        """β of full parameters."""
        return self.K @ np.asarray(pi, float)

    def regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(..., n, b): τ = regressor · β; of a long log some samples at a time, so that Ctrl-C is heard and nothing is held twice."""
        if not np.ndim(q) == np.ndim(qd) == np.ndim(qdd) == 2 or len(q) <= ROWS:
            return self.columns(q, qd, qdd)[..., self.kept]
        found = np.empty((*np.shape(q), self.count))
        for at in parts(len(q)):
            found[at] = self.columns(q[at], qd[at], qdd[at])[..., self.kept]
        return found

    def definitions(self, digits: int = 5) -> tuple[str, ...]:
        """Each base parameter as a sum: ``Jzz1 + Jyy2 + 0.1864*m2``."""
        names = self.columns.names
        found = []
        for row, k in zip(self.K, self.kept):
            text = names[k]
            for j in np.flatnonzero(row):
                if j != k:
                    size = abs(row[j])
                    factor = "" if abs(size - 1.0) < 1e-9 else f"{size:.{digits}g}*"
                    text += f" {'-' if row[j] < 0 else '+'} {factor}{names[j]}"
            found.append(text)
        return tuple(found)

    def text(self) -> str:
        """Count and definitions, one a line."""
        width = len(str(self.count))
        lines = [f"{self.count} base parameters of {self.columns.size} ({len(self.unseen)} have no effect):"]
        lines += [f"  {i:{width}d}  {d}" for i, d in enumerate(self.definitions(), start=1)]
        return "\n".join(lines)


def base_parameters(
    robot: Robot | Model, extras: Extras = (), *, samples: int | None = None, seed: int = SEED
) -> BaseParameters:
    """Base parameters of a robot.

    Args:
        extras: columns beside the inertial ones: "armature", "viscous", "coulomb", "stribeck", "offset"; for all joints, or
            as a mapping from a joint's name to its own.
        samples: random states; enough for three equations a column when omitted.
    """
    model, seed = model_of(robot), whole_number(seed, "seed", 0, 2**63 - 1)
    samples = None if samples is None else whole_number(samples, "samples", 1, 100_000)
    return base_of(columns(model, extras, v_stribeck=1.0), samples, seed)


def base_of(wanted: Columns, samples: int | None = None, seed: int = SEED) -> BaseParameters:
    """Base parameters of these columns; widths of friction do not matter for what depends on what."""
    count = samples or max(40, -(-3 * wanted.size // wanted.n))
    W = stacked(wanted.generic(*random_states(wanted.model, count, np.random.default_rng(seed))))
    lengths = np.linalg.norm(W, axis=0)
    seen = lengths > DEPENDENT * np.max(lengths)
    scaled = W[:, seen] / lengths[seen]
    numbers = np.flatnonzero(seen)
    order = np.argsort(np.argsort(_preference(wanted))[numbers], kind="stable")
    R = np.asarray(linalg.qr(scaled, mode="r")[0])[: scaled.shape[1]]
    pivots, kept_local = _independent(R, order)
    kept = numbers[kept_local]
    dropped = np.setdiff1d(np.arange(len(numbers)), kept_local)
    _confirm(scaled, len(kept))
    K = np.zeros((len(kept), wanted.size))
    K[np.arange(len(kept)), kept] = 1.0
    if len(dropped):
        B = np.linalg.lstsq(scaled[:, kept_local], scaled[:, dropped], rcond=None)[0]
        B = np.where(np.abs(B) < CLEAN * np.max(np.abs(B), axis=0), 0.0, B)
        K[:, numbers[dropped]] = B / lengths[kept][:, None] * lengths[numbers[dropped]]
    gap = (float(np.min(pivots[kept_local])), float(np.max(pivots[dropped], initial=0.0)))
    unseen = tuple(int(k) for k in np.flatnonzero(~seen))
    return BaseParameters(wanted, tuple(int(k) for k in kept), unseen, K, gap)


def _preference(wanted: Columns) -> np.ndarray:
    """Numbers of the columns in the order in which they are taken."""
    within = [PARAMETERS.index(name) for name in PREFERENCE]
    inertial = [10 * i + k for i in range(wanted.bodies) for k in within]
    return np.array([*inertial, *range(wanted.inertial, wanted.size)])


def _independent(R: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|R_jj| of every column against the columns kept before it, and which are kept.

    An exactly dependent column leaves a zero row behind, which would hide later columns; so the triangle is rebuilt
    from kept columns only (modified Gram–Schmidt twice, on the small triangle).
    """
    basis: list[np.ndarray] = []
    pivots = np.zeros(R.shape[1])
    kept = []
    for j in order.tolist():
        rest = R[:, j].copy()
        for _ in range(2):
            for b in basis:
                rest -= b * (b @ rest)
        pivots[j] = np.linalg.norm(rest)
        if pivots[j] > DEPENDENT:
            basis.append(rest / pivots[j])
            kept.append(j)
    return pivots, np.sort(np.array(kept, int))


def _confirm(scaled: np.ndarray, count: int) -> None:
    """The singular values must show the same rank."""
    values = np.linalg.svd(scaled, compute_uv=False)
    found = int(np.sum(values > DEPENDENT * values[0]))
    if found != count:
        raise SolveError(
            f"The number of base parameters is not clear: {count} independent columns, {found} singular values; "
            "the geometry is nearly degenerate (axes almost parallel?)."
        )

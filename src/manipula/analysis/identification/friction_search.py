r"""Widths of dry friction, in which torques are not linear: v_0 of the smoothed sign and v_s of the Stribeck peak.

Variable projection [Golub & Pereyra 1973]: for given widths everything else is linear. The columns C of one joint, at trial widths,
lower the sum of squares of what the other columns Q (orthonormal) leave of the torque, r, by

.. math:: g^T G^{-1} g, \qquad g = C^T r, \quad G = C^T C - (Q^T C)^T(Q^T C)

so that a trial costs a few products. Joint after joint, twice; a coarse grid first, a finer one around its best.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manipula.analysis.identification.base_parameters import BaseParameters
from manipula.analysis.identification.filtering import Signals, parallel
from manipula.analysis.identification.folded import least_squares
from manipula.analysis.identification.regressor_columns import dry, stacked

NARROWEST, WIDEST = 0.002, 0.2  # of a joint's rms velocity … : widths that are tried
SWEEPS = 2
DRY = {"coulomb", "stribeck"}


def searched(
    base: BaseParameters, signals: Signals, W: np.ndarray, target: np.ndarray, given: dict[str, bool]
) -> BaseParameters:
    """The base parameters with the widths that explain the torques best.

    Args:
        W, target: filtered equations, (samples, n, b) and (samples, n), at any widths.
        given: which of "smooth" and "v_stribeck" are stated and stay.
    """
    columns = base.columns
    n = columns.n
    smooth, fading = (np.array(np.broadcast_to(v, n), float) for v in (columns.smooth, columns.v_stribeck))
    speed = np.sqrt(np.mean(signals.qd**2, axis=0))
    if not given["smooth"]:
        smooth = 0.02 * speed
    if not given["v_stribeck"]:
        fading = 0.1 * speed
    sigma = np.ones(n)
    W = W.copy()
    for sweep in range(SWEEPS):
        for j in range(n):
            found = {e: _place(base, e, j) for e in columns.extras if e in DRY}
            places = {e: k for e, k in found.items() if k is not None}
            if not places or speed[j] < 1e-6 * max(float(np.max(speed)), 1e-12):
                continue
            trial = _Trial(base, signals, W, target, sigma, j, places)
            smooth[j], fading[j] = trial.best(smooth[j], fading[j], speed[j], given)
            W[:, j, list(places.values())] = trial.columns([(smooth[j], fading[j])])[..., 0]
        if sweep == 0:
            A = stacked(W)
            beta = least_squares(A, target.ravel(), 1e-9)
            sigma = np.maximum(np.sqrt(np.mean((target - W @ beta) ** 2, axis=0)), 1e-9 * np.max(np.abs(target)))
    return replace(base, columns=replace(columns, smooth=tuple(smooth.tolist()), v_stribeck=tuple(fading.tolist())))


def _place(base: BaseParameters, extra: str, joint: int) -> int | None:
    number = base.columns.part(extra).start + joint
    return base.kept.index(number) if number in base.kept else None


class _Trial:
    """One joint's dry friction against everything else."""

    def __init__(self, base: BaseParameters, signals: Signals, W: np.ndarray, target: np.ndarray, sigma: np.ndarray, j: int,
                 places: dict[str, int]) -> None:  # fmt: skip
        others = [k for k in range(base.count) if k not in places.values()]
        A = stacked(W[..., others] / sigma[:, None])
        Q, R = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))
        Q = Q[:, np.abs(np.diagonal(R)) > 1e-9]
        b = (target / sigma).ravel()
        rest = b - Q @ (Q.T @ b)
        self.Q, self.rest = Q.reshape(*target.shape, -1)[:, j], rest.reshape(target.shape)[:, j]
        self.signals, self.j, self.extras = signals, j, tuple(places)

    def columns(self, pairs: list[tuple[float, float]]) -> np.ndarray:
        """(samples, extras, pairs): filtered columns at these widths."""
        qd, (smooth, fading) = self.signals.qd[:, self.j, None], np.array(pairs).T
        values = dry(qd, smooth)
        parts = [values * np.exp(-((qd / fading) ** 2)) if e == "stribeck" else values for e in self.extras]
        return parallel(np.stack(parts, axis=1), self.signals)

    def best_of(self, pairs: list[tuple[float, float]]) -> tuple[float, float]:
        """The pair that lowers the sum of squares most."""
        C = self.columns(pairs)
        projected = np.einsum("sq,sep->qep", self.Q, C)
        G = np.einsum("sep,sfp->pef", C, C) - np.einsum("qep,qfp->pef", projected, projected)
        g = np.einsum("sep,s->pe", C, self.rest)
        gains = [float(v @ np.linalg.lstsq(H, v, rcond=1e-9)[0]) for H, v in zip(G, g)]
        return pairs[int(np.argmax(gains))]

    def best(self, smooth: float, fading: float, speed: float, given: dict[str, bool]) -> tuple[float, float]:
        """The best widths; a stated one stays."""
        widths = [smooth] if given["smooth"] else (speed * np.geomspace(NARROWEST, WIDEST, 9)).tolist()
        peaks = "stribeck" in self.extras and not given["v_stribeck"]
        fadings = (speed * np.geomspace(0.02, 1.0, 7)).tolist() if peaks else [fading]
        best = self.best_of([(w, v) for w in widths for v in fadings if not peaks or v >= 2.0 * w])
        for factor in (1.33, 1.1, 1.03):
            near = [(best[0] * factor**a, best[1] * factor**b)
                    for a in ((0,) if given["smooth"] else (-1, 0, 1)) for b in ((-1, 0, 1) if peaks else (0,))]  # fmt: skip
            best = self.best_of(near)
        return best

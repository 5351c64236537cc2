"""Nonlinear optimisation with limits: a trust region inside the joint ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from manipula.algebra.ops import Vector
from manipula.ik.methods.base import Method


class Optimisation(Method):
    r""":math:`\min_q \tfrac12|e(q)|^2` subject to :math:`q_{min}\le q\le q_{max}` by reflective trust regions
    [Branch, Coleman & Li 1999], SciPy's ``least_squares``: slower than the compiled methods, an independent second opinion."""

    name: ClassVar[str] = "optimisation"
    compiled: ClassVar[bool] = False

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        raise NotImplementedError("Optimisation solves as a whole; see minimise().")

    def minimise(
        self, error: Callable[[Any], Any], jacobian: Callable[[Any], Any], start: np.ndarray, box: np.ndarray, most: int
    ) -> tuple[np.ndarray, int]:
        """Best posture from one start, and how often the error was evaluated."""
        from scipy.optimize import least_squares

        low, high = box[:, 0], box[:, 1]
        inside = (
            np.clip(start, low + 1e-9 * (high - low), high - 1e-9 * (high - low)) if np.isfinite(box).all() else start
        )
        for i in range(len(start)):
            if np.isfinite(low[i]) or np.isfinite(high[i]):
                inside[i] = np.clip(start[i], np.nextafter(low[i], np.inf), np.nextafter(high[i], -np.inf))
        found = least_squares(
            error,
            inside,
            jac=jacobian,  # pyright: ignore[reportArgumentType]
            bounds=(low, high),
            method="trf",
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=most,
        )
        return found.x, int(found.nfev)

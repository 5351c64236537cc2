"""Joint trajectories through samples: quintic splines, broken where the path's velocity may jump."""

from __future__ import annotations

import math

import numpy as np

from manipula.motion.piecewise import PiecewiseTrajectory


def joint_splines(t: np.ndarray, q: np.ndarray, breaks: np.ndarray) -> PiecewiseTrajectory:
    """The joint motion through q (S, n) at times t, four times differentiable between ``breaks``."""
    from scipy.interpolate import make_interp_spline

    times, rows = [t[:1]], []
    places = np.searchsorted(t, breaks - 1e-12 * breaks[-1])
    for a, b in zip(places, places[1:]):
        degree = min(5, b - a)
        degree -= 1 - degree % 2
        spline = make_interp_spline(t[a : b + 1], q[a : b + 1], k=degree)
        knots = np.unique(spline.t)
        c = np.zeros((len(knots) - 1, 6, q.shape[1]))
        for power in range(degree + 1):
            c[:, power] = spline(knots[:-1], nu=power) / math.factorial(power)
        rows.append(c)
        times.append(knots[1:])
    return PiecewiseTrajectory(np.concatenate(times), np.concatenate(rows), "joint")

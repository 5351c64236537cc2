"""The box of a robot's joint limits: clipping, whole turns, and where starts are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array
from manipula.robot.robot import Robot

FREE_RANGE = math.pi  # where joints without limits are started
FREE_STROKE = 1.0
SLACK = 1e-10  # beyond a limit, rounding of an answer that is then put on it


def start_box(robot: Robot) -> np.ndarray:
    """(n, 2) where starts are drawn: the limits, or a full turn (a stroke of 2 m) where there are none."""
    out = np.asarray(robot.position_limits, float).copy()
    for i, joint in enumerate(robot.joints):
        wide = FREE_RANGE if joint.is_revolute else FREE_STROKE
        low, high = out[i]
        if not np.isfinite(low) and not np.isfinite(high):
            out[i] = -wide, wide
        elif not np.isfinite(low):
            out[i, 0] = high - 2 * wide
        elif not np.isfinite(high):
            out[i, 1] = low + 2 * wide
    return out


def hard_limits(robot: Robot, limited: bool) -> np.ndarray:
    """(n, 2) limits that count; ±inf when they are to be ignored."""
    return np.asarray(robot.position_limits, float) if limited else np.array([[-np.inf, np.inf]] * robot.n)


def centres(hard: np.ndarray) -> np.ndarray:
    """(n,) angles around which a full turn is kept."""
    low, high = hard.T
    middle = np.where(np.isfinite(low), low + math.pi, np.where(np.isfinite(high), high - math.pi, 0.0))
    both = np.isfinite(low) & np.isfinite(high)
    return np.where(both, 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0)), middle)


class JointBox:
    """The joint limits of one robot, over any scalar: low ≤ q ≤ high."""

    def __init__(self, robot: Robot, limited: bool, inset: float = 0.0) -> None:
        self.hard = hard_limits(robot, limited)
        room = self.hard[:, 1] - self.hard[:, 0] > 4.0 * inset
        self.hard = self.hard + np.where(room, inset, 0.0)[:, None] * np.array([1.0, -1.0])
        self.turning = [j.is_revolute for j in robot.joints]
        self.centre = centres(self.hard)

    def clipped(self, q: Any) -> np.ndarray:
        """Nearest posture within the limits."""
        out = []
        for (low, high), x in zip(self.hard.tolist(), q):
            x = ops.maximum(low, x) if math.isfinite(low) else x
            out.append(ops.minimum(high, x) if math.isfinite(high) else x)
        return array(out)

    def home(self, q: Any) -> np.ndarray:
        """Angles brought back by whole turns to where the limits are."""
        turn = 2.0 * math.pi
        return array(
            [
                x - turn * ops.floor((x - float(c)) * (1.0 / turn) + 0.5) if turning else x
                for x, c, turning in zip(q, self.centre, self.turning)
            ]
        )

    def beyond(self, q: Any) -> Any:
        """Is a joint outside its limits? (``False`` where there are none)"""
        worst: Any = -1.0
        for (low, high), x in zip(self.hard.tolist(), q):
            worst = ops.maximum(worst, low - x) if math.isfinite(low) else worst
            worst = ops.maximum(worst, x - high) if math.isfinite(high) else worst
        return worst > SLACK if np.isfinite(self.hard).any() else False

    def beyond_by(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Postures (..., n) brought home by whole turns, and how far the worst joint is outside (infinite for NaN); floats only."""
        turn = 2.0 * math.pi
        home = np.where(self.turning, q - turn * np.round((q - self.centre) / turn), q)
        worst = np.maximum(self.hard[:, 0] - home, home - self.hard[:, 1]).max(axis=-1, initial=0.0)
        return home, np.where(np.isfinite(home).all(axis=-1), worst, np.inf)

    def blocked(self, q: Any, push: Any) -> list[Any]:
        """For every joint: does it stand on a limit and is pushed outwards?"""
        out: list[Any] = []
        for (low, high), x, p in zip(self.hard.tolist(), q, push):
            at: Any = False
            if math.isfinite(low):
                at = (x <= low) & (p < 0.0)
            if math.isfinite(high):
                at = ((x >= high) & (p > 0.0)) | at
            out.append(at)
        return out

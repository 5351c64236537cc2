"""Random states of one robot, within its limits, the same in every process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.robot.robot import Robot

TURN, SLIDE = np.pi, 1.0  # half of the widest range that is drawn from [rad], [m]
SPEED, ACCELERATION = 2.0, 8.0  # where no limit is stated [rad/s, m/s and per s]


@dataclass(frozen=True, eq=False)
class CertifiedStates:
    """q, qd, qdd of shape (S, n); ``other`` are accelerations that torques for the forward dynamics are made from."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    other: np.ndarray

    def __len__(self) -> int:
        return len(self.q)

    def first(self, count: int) -> CertifiedStates:
        """Some of them."""
        return CertifiedStates(self.q[:count], self.qd[:count], self.qdd[:count], self.other[:count])


def random_states(robot: Robot, count: int, seed: int) -> CertifiedStates:
    """Uniform within the limits of position, velocity and acceleration, within ±π rad, ±1 m, ±2 1/s and ±8 1/s² where none are stated.

    A range wider than that is drawn from around its middle, one that ends on one side only from that end inwards.
    """
    rng = np.random.default_rng(seed)
    low, high = np.array(
        [_range(j.limits.lower, j.limits.upper, TURN if j.is_revolute else SLIDE) for j in robot.joints]
    ).T
    speed = [_least(j.limits.velocity, SPEED) for j in robot.joints]
    growth = [_least(j.limits.acceleration, ACCELERATION) for j in robot.joints]
    draw = lambda size: rng.uniform(-1.0, 1.0, (count, robot.n)) * size  # noqa: E731
    return CertifiedStates(rng.uniform(low, high, (count, robot.n)), draw(speed), draw(growth), draw(growth))


def _range(lower: float | None, upper: float | None, half: float) -> tuple[float, float]:
    if lower is None and upper is None:
        return -half, half
    if upper is None:
        assert lower is not None
        return float(lower), float(lower) + 2 * half
    if lower is None:
        return float(upper) - 2 * half, float(upper)
    middle, width = 0.5 * (float(lower) + float(upper)), min(0.5 * (float(upper) - float(lower)), half)
    return middle - width, middle + width


def _least(limit: float | None, usual: float) -> float:
    return usual if not limit else min(float(limit), usual)

"""A secondary criterion that keeps joints within their range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.parts.field import Number
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import Criterion, softly_bounded
from manipula.robot.robot import Robot

FASTEST = 10.0  # ranges a second
HARDEST = 1000.0  # ranges a second squared
STRONGEST = 100.0  # times the push that the gain gives halfway
NARROW = 1e-8  # of the room 1 − 4e² that is left at a limit and beyond it
BEYOND = 1e-9  # rad or m by which a joint may pass its limit by rounding
NEAR = 0.03  # of its range: a joint as near to a limit counts as standing at it


@dataclass(frozen=True)
class JointLimits(Criterion):
    r""":math:`w = \tfrac12\sum_i \frac{e_i^2}{1-4e_i^2},\; e_i = \frac{q_i - \bar q_i}{q_i^{max}-q_i^{min}}` over the joints that have limits.

    In the middle of the range it is the quadratic of [Liégeois 1977]; it grows without bound at a limit like that of
    [Zghal, Dubey & Euler 1990], so a joint stays inside wherever the null space can move it. Beyond a limit it pushes back. The push is
    bounded by ten ranges a second (a thousand ranges a second squared under torque control), so that a step of an integrator does not
    throw a joint across its range; where the task needs the joint outside, it goes there and the run's notes say so.
    A joint with one limit is treated as if its range were a turn (a metre), and is not pushed in the other half.
    """

    gain: Annotated[Any, Number("1/s or 1/s²", "k; a larger one begins to push further from the limits", least=0.0)] = (
        1.0
    )
    name: ClassVar[str] = "joint_limits"

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        total: Scalar = 0.0
        for _, e, room, _ in ranges(arm, q):
            total = total + 0.5 * e * e / room
        return total

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        out = zeros(arm.n)
        for i, e, room, length in ranges(arm, q):
            out[i] = -softly_bounded(
                self.gain * e / (length * room * room), FASTEST * length + STRONGEST * self.gain / length
            )
        return array(out)

    def acceleration(self, arm: Arm, q: Vector, qd: Vector) -> np.ndarray:
        r""":math:`-k\,\partial w/\partial q_i - 4e_i^2\cdot 2\sqrt{k\,\partial^2w/\partial q_i^2}\;\dot q_i`: damped where the push is steep."""
        out = zeros(arm.n)
        for i, e, room, length in ranges(arm, q):
            push = self.gain * e / (length * room * room)
            steep = self.gain * (1.0 + 12.0 * e * e) / (length * length * room * room * room)
            out[i] = -softly_bounded(
                push + 8.0 * e * e * ops.sqrt(steep) * qd[i], HARDEST * length + STRONGEST * self.gain / length
            )
        return array(out)

    def idle(self, robot: Robot) -> str:
        found = np.isfinite(np.asarray(robot.position_limits, float)).any()
        return "" if found else f"no joint of '{robot.name}' has a position limit"

    def broken(self, robot: Robot, t: np.ndarray, q: np.ndarray) -> list[str]:
        out = []
        limits = np.asarray(robot.position_limits, float)
        beyond = np.maximum(limits[:, 0] - q, q - limits[:, 1])
        for i in np.flatnonzero(beyond.max(axis=0) > BEYOND):
            first = int(np.argmax(beyond[:, i] > BEYOND))
            worst, joint = float(beyond[:, i].max()), robot.joints[i]
            size = f"{np.rad2deg(worst):.2g}°" if joint.is_revolute else f"{worst:.2g} m"
            why = "the null space leaves no room"
            if first == 0:
                why = "it began outside"
            elif has_room(robot, q[first], int(i)):
                why = "the criterion came too late; a larger gain or a smaller step may hold it"
            out.append(f"Joint '{joint.name}' left its range by {size} from t = {t[first]:.4g} s: {why}.")
        return out


def has_room(robot: Robot, q: np.ndarray, joint: int) -> bool:
    """Can the null space of the tip's position move the joint and, at the same time, every other joint that stands at a limit?"""
    arm = Arm(robot)
    J = np.asarray(arm.task_jacobian(q), float)
    N = np.eye(arm.n) - np.linalg.pinv(J, rcond=1e-9) @ J
    at = [i for i, e, _, _ in ranges(arm, q) if i == joint or abs(float(e)) > 0.5 - NEAR]
    return bool(np.linalg.svd(N[at], compute_uv=False)[-1] > 1e-3) if len(at) <= arm.n - len(J) else False


def ranges(arm: Arm, q: Vector) -> Iterator[tuple[int, Scalar, Scalar, float]]:
    """Number, place e in the range (−½ … ½), room 1 − 4e² (never below NARROW) and length of the range of every joint with a limit."""
    for i, (low, high) in enumerate(np.asarray(arm.robot.position_limits, float)):
        below, above = np.isfinite(low), np.isfinite(high)
        if not (below or above):
            continue
        length = float(high - low) if below and above else (2 * np.pi if arm.robot.joints[i].is_revolute else 1.0)
        if length <= 0.0:
            continue
        e = (q[i] - low) * (1.0 / length) - 0.5 if below else 0.5 - (high - q[i]) * (1.0 / length)
        if not above:
            e = ops.minimum(e, 0.0)
        if not below:
            e = ops.maximum(e, 0.0)
        yield i, e, ops.maximum(1.0 - 4.0 * e * e, NARROW), length

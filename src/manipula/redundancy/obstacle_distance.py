"""A secondary criterion that keeps the arm away from a point or off a sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.derivatives import gradient
from manipula.algebra.linear import array, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError
from manipula.parts.field import Number, VectorField
from manipula.physics.kinematics import find_frame, place
from manipula.redundancy.arm import Arm
from manipula.redundancy.criterion import Criterion, Gain, softly_bounded
from manipula.robot.robot import Robot

FASTEST = 10.0  # rad/s or m/s
STRONGEST = 1000.0  # times the push of the gain
NARROW = 1e-6  # of the room that is left at the obstacle and inside it
POINT = 1e-18  # m², so that a distance of nothing has a derivative
LOOKED_AT = 400  # postures of a motion


@dataclass(frozen=True)
class ObstacleDistance(Criterion):
    r""":math:`w = \tfrac12\sum_k \frac{\delta_k^2}{1-(\delta_k/(r-r_0))^2},\; \delta_k = \max(0,\, r - d_k)` over the lines between neighbouring joints
    and from the last joint to the tip, d their distance from the centre.

    The push begins at the radius r and grows without bound at the obstacle's own radius :math:`r_0`, so the lines stay outside wherever the
    null space can move them; where they do not, the run's notes say so. Links are lines here: add their thickness to the radii.
    """

    centre: Annotated[Any, VectorField("m", "centre c of the obstacle")]
    radius: Annotated[Any, Number("m", "r, where the push begins", above=0.0)]
    gain: Gain = 1.0
    obstacle: Annotated[
        Any, Number("m", "radius r₀ of the sphere that is kept clear; 0 keeps off the centre", least=0.0)
    ] = 0.0
    name: ClassVar[str] = "obstacle_distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.radius, float) and isinstance(self.obstacle, float) and not self.obstacle < self.radius:
            raise DescriptionError(
                f"The obstacle's own radius ({self.obstacle:g} m) must be smaller than the radius where the push "
                f"begins ({self.radius:g} m).",
                field="obstacle",
            )

    def cost(self, arm: Arm, q: Vector) -> Scalar:
        total: Scalar = 0.0
        for distance in self.distances(arm, q):
            depth = ops.maximum(0.0, self.radius - distance)
            share = depth / (self.radius - self.obstacle)
            total = total + 0.5 * depth * depth / ops.maximum(1.0 - share * share, NARROW)
        return total

    def direction(self, arm: Arm, q: Vector) -> np.ndarray:
        most = FASTEST + STRONGEST * self.gain
        return array([-softly_bounded(self.gain * g, most) for g in gradient(lambda x: self.cost(arm, x), q)])

    def distances(self, arm: Arm, q: Vector) -> list[Scalar]:
        """Distance of the centre from every line of the arm [m]."""
        where, centre = place(arm.full, q), array(self.centre)
        lines = [(where.p[b.parent], where.p[i]) for i, b in enumerate(arm.full.bodies) if b.parent >= 0]
        body = find_frame(arm.full, arm.frame).link
        lines.append((where.p[body] if body >= 0 else np.zeros(3), arm.position(q)))
        out = []
        for a, b in lines:
            along, seen = b - a, centre - a
            place_on = dot(along, seen) / (dot(along, along) + POINT)
            r = seen - ops.minimum(1.0, ops.maximum(0.0, place_on)) * along
            out.append(ops.sqrt(dot(r, r) + POINT))
        return out

    def broken(self, robot: Robot, t: np.ndarray, q: np.ndarray) -> list[str]:
        if not self.obstacle > 0.0:
            return []
        arm = Arm(robot)
        chosen = np.unique(np.linspace(0, len(t) - 1, min(len(t), LOOKED_AT)).astype(int))
        nearest = np.array([min(float(d) for d in self.distances(arm, q[i])) for i in chosen])
        if nearest.min() >= self.obstacle:
            return []
        first, worst = float(t[chosen[np.argmax(nearest < self.obstacle)]]), self.obstacle - float(nearest.min())
        words = (
            f"The arm reached {worst:.2g} m into the obstacle of radius {self.obstacle:g} m from t = {first:.4g} s: the null space "
            "leaves no room, or the push of the criterion came too late (a larger gain or a smaller step)."
        )
        return [words]

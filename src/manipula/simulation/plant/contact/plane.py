"""Spheres or points of the arm against a plane: a wall, a table, the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import DescriptionError, printable
from manipula.parts.field import Frame, Number, Rows, VectorField
from manipula.robot.link import TIP
from manipula.simulation.plant.contact.base import Contact, Touch
from manipula.simulation.plant.contact.compression import Exponent, Loss, Stiffness, normal_force, spring_energy

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.plant.surroundings import Surroundings

SLIP = 1e-3  # m/s, of friction
NO_SPEED = 1e-300  # (m/s)²: sliding without a direction


@dataclass(frozen=True)
class PlaneContact(Contact):
    r"""A sphere (or points) of the arm against a plane: spring after Hertz, damping after Hunt and Crossley, dry friction.

    With the distance d of the centre from the plane along its unit normal :math:`\hat n`, which points to the free side,
    :math:`\delta = r - d` and the velocity :math:`v_t` of the touching point along the plane

    .. math:: F = k\,\delta^n(1 + \tfrac32 c\,\dot\delta)\,\hat n - \mu F_n\tanh(|v_t|/v_0)\,v_t/|v_t|

    The friction is regularised: below ``slip_speed`` it falls to zero, so that a body on an incline creeps with a part of that speed.
    Under a plane that the base motion does not carry: point and normal are in axes of the world.
    """

    stiffness: Stiffness
    point: Annotated[Any, VectorField("m", "a point of the plane, in axes of the world")] = (0.0, 0.0, 0.0)
    normal: Annotated[Any, VectorField("1", "towards the free side, of any length")] = (0.0, 0.0, 1.0)
    frame: Annotated[str, Frame("of the arm, at whose origin the sphere sits")] = TIP
    radius: Annotated[Any, Number("m", "of the sphere; 0 is a point", least=0.0)] = 0.0
    points: Annotated[Any, Rows("m", "centres in the axes of the frame, such as the corners of a box; none is its origin")] = ()  # fmt: skip
    exponent: Exponent = 1.0
    damping: Loss = 0.0
    friction: Annotated[Any, Number("1", "coefficient μ of dry friction; none is a smooth plane", least=0.0)] = None
    slip_speed: Annotated[
        Any, Number("m/s", "v_0, at which 76 % of the dry friction acts; 0.001 when omitted", above=0.0)
    ] = None
    name: ClassVar[str] = "plane"

    def __post_init__(self) -> None:
        super().__post_init__()
        if all(isinstance(v, (int, float)) and v == 0.0 for v in self.normal):
            raise DescriptionError("The normal of a plane has a length, found (0, 0, 0).", field="normal")
        if any(len(p) != 3 for p in self.points):
            raise DescriptionError("Every point has three coordinates.", field="points")
        if self.slip_speed is not None and self.friction is None:
            raise DescriptionError("It belongs to the friction, of which there is none.", field="slip_speed")

    def unfit(self, robot: Robot) -> str:
        if robot.frame(self.frame).link < 0:
            return f"no joint moves the frame '{printable(self.frame)}': it would never touch anything."
        return ""

    def travel(self, around: Surroundings, way: Sequence[Scalar]) -> Scalar | None:
        away: Scalar = 0.0
        for centre in self.points:
            away = ops.maximum(away, ops.sqrt(dot(array(centre), array(centre))))
        return around.travel(self.frame, away, way)

    def touch(self, around: Surroundings) -> Touch:
        at = around.frame(self.frame)
        long = ops.sqrt(dot(array(self.normal), array(self.normal)))
        normal = array([c / long for c in self.normal])
        force, moment = np.zeros(3), np.zeros(3)
        energy: Scalar = 0.0
        total: Scalar = 0.0
        depths: list[Scalar] = []
        for centre in self.points or ((0.0, 0.0, 0.0),):
            arm = array(at.R @ array(centre))
            depth = self.radius - dot(normal, array(at.p + arm - array(self.point)))
            arm = array(arm - self.radius * normal)  # to the touching point
            velocity = array(at.v + cross(at.w, arm))
            rate = -dot(normal, velocity)
            pressing = normal_force(depth, rate, self.stiffness, self.exponent, self.damping)
            here = array(pressing * normal - self._slipping(pressing, array(velocity + rate * normal)))
            force, moment = array(force + here), array(moment + cross(arm, here))
            total = total + pressing
            energy = energy + spring_energy(depth, self.stiffness, self.exponent)
            depths.append(depth)
        wrench = array([*force, *moment])
        torque, power = around.work_of(at, wrench)
        deepest = depths[0]
        for depth in depths[1:]:
            deepest = ops.maximum(deepest, depth)
        return Touch(torque, power, wrench, total, deepest, energy, [-d for d in depths])

    def _slipping(self, pressing: Scalar, along: Vector) -> np.ndarray:
        """Friction force against the velocity along the plane, (3,)."""
        if self.friction is None:
            return np.zeros(3)
        speed = ops.sqrt(ops.maximum(dot(along, along), NO_SPEED))
        slow = SLIP if self.slip_speed is None else self.slip_speed
        return array((self.friction * pressing * ops.tanh(speed / slow) / speed) * along)

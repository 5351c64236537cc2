"""Gravity compensation alone, and controllers that are plain functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from manipula.algebra.arguments import function_of
from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target, checked_torques
from manipula.parts.field import Choice, Function, PerJoint
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class GravityCompensation(Controller):
    r""":math:`\tau = g(q) - k\dot q`: the arm floats; with k > 0 it comes to rest where it is left."""

    damping: Annotated[Any, PerJoint("N·m·s/rad or N·s/m", "damping k", least=0.0)] = 0.0
    name: ClassVar[str] = "gravity"
    smooth: ClassVar[bool] = True
    space: ClassVar[Space] = "none"

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return array(arm.gravity(q) - per_joint(self.damping, arm.n) * qd)


@dataclass(frozen=True)
class UserFunction(Controller):
    """``function(t, q, qd, target) -> tau``, compiled when it can be traced and called from Python when it cannot.

    Write it with ``manipula.algebra.ops`` (``ops.sin``, ``ops.where``) instead of ``math`` and ``if`` to have it compiled. An object that
    remembers something between calls is asked once a step, its torque held in between. Every run begins with a deep copy of
    the object as it was given, or after its ``reset()`` when it has one.
    """

    function: Annotated[Callable[..., Any], Function("function(t, q, qd, target) → torques")]
    target_space: Annotated[str, Choice("space of its target", "joint", "task")] = "joint"
    name: ClassVar[str] = "user"
    space: ClassVar[Space] = "joint"

    def __post_init__(self) -> None:
        super().__post_init__()
        function_of(self.function, "function", "t", "q", "qd", "target")

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        return checked_torques(self.function(t, q, qd, target), arm.n)

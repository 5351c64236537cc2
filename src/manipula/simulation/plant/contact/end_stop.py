"""Stops at the ends of the joints' ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.fields import freeze, per_joint
from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Scalar
from manipula.algebra.symbols import is_symbolic
from manipula.errors import DescriptionError, unknown_name
from manipula.parts.checks import check_part
from manipula.parts.field import AnglePerJoint, Texts
from manipula.simulation.plant.contact.base import Contact, Touch
from manipula.simulation.plant.contact.compression import Exponent, Loss, Stiffness, normal_force, spring_energy

if TYPE_CHECKING:
    from manipula.robot.robot import Robot
    from manipula.simulation.plant.surroundings import Surroundings

OPEN = 1e9  # rad or m, where a joint has no stop


def _range(lower: Any, upper: Any) -> tuple[float, float]:
    """Limits of a position as numbers, ``OPEN`` where none is stated."""
    stated = [v is not None and not is_symbolic(v) and np.isfinite(float(v)) for v in (lower, upper)]
    return (float(lower) if stated[0] else -OPEN), (float(upper) if stated[1] else OPEN)


@dataclass(frozen=True)
class EndStop(Contact):
    r"""One-sided springs beyond both ends of joint ranges, damped after Hunt and Crossley.

    .. math:: \tau = k\,\delta^n(1 + \tfrac32 c\,\dot\delta)\ \text{against the passage},\qquad
        \delta = q_{min} - q\ \text{or}\ q - q_{max}

    The ranges are the joints' position limits unless ``low`` and ``high`` are given. A follower stops its leader: its own range, seen from the
    joint that it follows, counts as well.
    """

    stiffness: Stiffness
    damping: Loss = 0.0
    exponent: Exponent = 1.0
    joints: Annotated[Any, Texts("names (or numbers from 0) of the joints that have stops; none: all with limits")] = ()
    low: Annotated[Any, AnglePerJoint("rad or m", "lower ends; none takes the position limits")] = None
    high: Annotated[Any, AnglePerJoint("rad or m", "upper ends; none takes the position limits")] = None
    name: ClassVar[str] = "end_stop"
    structure: ClassVar[frozenset[str]] = frozenset({"exponent", "joints", "low", "high"})

    def __post_init__(self) -> None:
        joints = tuple(self.joints) if isinstance(self.joints, (list, tuple)) else self.joints
        freeze(self)
        object.__setattr__(self, "joints", joints)  # numbers of joints stay whole
        check_part(self)
        if self.low is not None and self.high is not None:
            a, b = (np.atleast_1d(np.asarray(v, object)) for v in (self.low, self.high))
            for i, (x, y) in enumerate(zip(*np.broadcast_arrays(a, b))):
                if isinstance(x, (int, float)) and isinstance(y, (int, float)) and x >= y:
                    raise DescriptionError(f"The lower end {x:g} is not below the upper end {y:g}.", field=f"low[{i}]")

    def unfit(self, robot: Robot) -> str:
        """Why it cannot act on this robot.

        Raises:
            UnknownNameError: a joint that the robot does not have.
        """
        names = robot.joint_names
        for i, joint in enumerate(self.joints):
            known = joint in names if isinstance(joint, str) else 0 <= joint < robot.n
            if not known:
                raise unknown_name(f"joint in robot '{robot.name}'", str(joint), names, field=f"joints[{i}]")
        low, high = self._ends(robot)
        bare = [names[i] for i in self._chosen(robot) if low[i] <= -OPEN and high[i] >= OPEN]
        if len(bare) == len(self._chosen(robot)) or (self.joints and bare):
            return f"{', '.join(bare)}: no position limit is stated as a number, and 'low' and 'high' are not given."
        return ""

    def _chosen(self, robot: Robot) -> list[int]:
        if not self.joints:
            return list(range(robot.n))
        return [robot.joint_names.index(j) if isinstance(j, str) else int(j) for j in self.joints]

    def _ends(self, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the range of every joint, ``OPEN`` where there is none."""
        low, high = np.full(robot.n, -OPEN), np.full(robot.n, OPEN)
        for i, joint in enumerate(robot.joints):
            low[i], high[i] = _range(joint.limits.lower, joint.limits.upper)
        for f in robot.followers:
            if is_symbolic(f.ratio) or is_symbolic(f.offset) or f.ratio == 0.0:
                continue
            own = [
                float(np.copysign(OPEN, v * f.ratio)) if abs(v) >= OPEN else (v - f.offset) / f.ratio
                for v in _range(f.joint.limits.lower, f.joint.limits.upper)
            ]
            low[f.leader], high[f.leader] = max(low[f.leader], min(own)), min(high[f.leader], max(own))
        for ends, given in ((low, self.low), (high, self.high)):
            if given is not None:
                ends[:] = [float(v) for v in per_joint(given, robot.n)]
        for i in set(range(robot.n)) - set(self._chosen(robot)):
            low[i], high[i] = -OPEN, OPEN
        return low, high

    def unit(self, robot: Robot) -> str:
        """Its force is the sum over its joints: a torque where they turn."""
        low, high = self._ends(robot)
        acting = [j for j, a, b in zip(robot.joints, low, high) if a > -OPEN or b < OPEN]
        return " or ".join(dict.fromkeys("N·m" if j.is_revolute else "N" for j in acting)) or "N"

    def fitted(self, robot: Robot) -> EndStop:
        low, high = self._ends(robot)
        return replace(self, low=tuple(low.tolist()), high=tuple(high.tolist()))

    def travel(self, around: Surroundings, way: Sequence[Scalar]) -> Scalar:
        most: Scalar = 0.0
        for length in way:
            most = ops.maximum(most, length)
        return most

    def touch(self, around: Surroundings) -> Touch:
        q, qd, n = around.q, around.qd, len(around.q)
        torque = zeros(n)
        energy: Scalar = 0.0
        normal: Scalar = 0.0
        deepest: Scalar = -OPEN
        gaps: list[Scalar] = []
        for i, (low, high) in enumerate(zip(self.low, self.high)):
            for end, side in ((low, 1.0), (high, -1.0)):
                if isinstance(end, float) and abs(end) >= OPEN:
                    continue
                depth = side * (end - q[i])
                force = normal_force(depth, -side * qd[i], self.stiffness, self.exponent, self.damping)
                torque[i] = torque[i] + side * force
                energy, normal = energy + spring_energy(depth, self.stiffness, self.exponent), normal + force
                deepest = ops.maximum(deepest, depth)
                gaps.append(-depth)
        power: Scalar = 0.0
        for i in range(n):
            power = power + torque[i] * qd[i]
        return Touch(array(torque), power, np.zeros(6), normal, deepest, energy, gaps)

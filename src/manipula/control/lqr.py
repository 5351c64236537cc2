"""Linear-quadratic regulation about a posture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.errors import DescriptionError, LengthError
from manipula.parts.field import AnglePerJoint, PerJoint, Rows
from manipula.physics.derivatives import forward_dynamics_derivatives
from manipula.redundancy.arm import Arm

WEIGHTS = {"position_weight": 100.0, "velocity_weight": 1.0, "effort_weight": 0.01}


@dataclass(frozen=True)
class LQR(Controller):
    r""":math:`\tau = g(q_0) - K[q - q_0;\ \dot q]` with K given, or from the Riccati equation of the arm linearised at :math:`q_0` at rest.

    What is linearised is the arm without its friction.
    """

    goal: Annotated[Any, AnglePerJoint("rad or m", "posture q_0 that is held")]
    position_weight: Annotated[Any, PerJoint("1", "weight of the positions in Q; 100 when omitted", least=0.0)] = None
    velocity_weight: Annotated[Any, PerJoint("1", "weight of the speeds in Q; 1 when omitted", least=0.0)] = None
    effort_weight: Annotated[Any, PerJoint("1", "weight R of the torques; 0.01 when omitted", above=0.0)] = None
    gain: Annotated[
        Any, Rows("N·m/rad, N·m·s/rad", "K, n rows of 2n, in the place of the weights; none: from the Riccati equation")
    ] = None
    name: ClassVar[str] = "lqr"
    smooth: ClassVar[bool] = True
    space: ClassVar[Space] = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in WEIGHTS if getattr(self, name) is not None]
        if self.gain is not None and given:
            raise DescriptionError(
                f"The gain is given and {given[0]} too, from which it would be computed: only one of them can act.",
                field="gain",
            )

    def prepare(self, arm: Arm) -> Controller:
        if self.gain is None:
            weights = {
                name: usual if getattr(self, name) is None else getattr(self, name) for name, usual in WEIGHTS.items()
            }
            return _Computed(self.goal, **weights).prepare(arm)
        shape = arm.n, 2 * arm.n
        found = [len(row) if isinstance(row, tuple) else 1 for row in self.gain]
        if found != [shape[1]] * shape[0]:
            raise LengthError(
                f"The gain K of {arm.n} joints has {shape[0]} rows of {shape[1]} numbers, the first {arm.n} for the positions; "
                f"found rows of {', '.join(map(str, found[:8])) or 'none'}.",
                field="controller.gain",
            )
        return self

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        q0 = per_joint(self.goal, arm.n)
        error = np.concatenate([q - q0, qd])
        return array(arm.gravity(q0) - array(self.gain) @ error)


class _Computed(LQR):
    """A regulator with the gain that follows from its weights, in the numbers of one run."""

    __post_init__ = Controller.__post_init__  # weights and the gain from them stand side by side here

    def prepare(self, arm: Arm) -> Controller:
        from scipy.linalg import solve_continuous_are

        n = arm.n
        q0 = np.asarray(per_joint(self.goal, n), float)
        still = np.zeros(n)
        tau = np.asarray(arm.gravity(q0), float)
        dq, dqd, dtau = (np.asarray(d, float) for d in forward_dynamics_derivatives(arm.lean, q0, still, tau))
        A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
        A[:n, n:], A[n:, :n], A[n:, n:], B[n:] = np.eye(n), dq, dqd, dtau
        weights = [np.asarray(per_joint(getattr(self, name), n), float) for name in WEIGHTS]
        R = np.diag(weights[2])
        try:
            P = solve_continuous_are(A, B, np.diag(np.concatenate(weights[:2])), R)
        except np.linalg.LinAlgError as error:
            raise DescriptionError(
                f"The Riccati equation of these weights has no solution that stabilises the arm: {error}",
                field="controller",
            ) from None
        return replace(self, gain=np.linalg.solve(R, B.T @ P))

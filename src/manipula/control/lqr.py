"""Linear-quadratic regulation about a posture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from manipula.algebra.fields import per_joint
from manipula.algebra.linear import array
from manipula.algebra.ops import Scalar, Vector
from manipula.control.base import Controller, Space, Target
from manipula.parts.field import AnglePerJoint, PerJoint, Rows
from manipula.physics.derivatives import forward_dynamics_derivatives
from manipula.redundancy.arm import Arm


@dataclass(frozen=True)
class LQR(Controller):
    r""":math:`\tau = g(q_0) - K[q - q_0;\ \dot q]` with K from the Riccati equation of the arm linearised at :math:`q_0` at rest."""

    goal: Annotated[Any, AnglePerJoint("rad or m", "posture q_0 that is held")]
    position_weight: Annotated[Any, PerJoint("1", "weight of the positions in Q", least=0.0)] = 100.0
    velocity_weight: Annotated[Any, PerJoint("1", "weight of the speeds in Q", least=0.0)] = 1.0
    effort_weight: Annotated[Any, PerJoint("1", "weight R of the torques", above=0.0)] = 0.01
    gain: Annotated[
        Any, Rows("N·m/rad, N·m·s/rad", "K, n rows of 2n; computed from the weights when the run is made")
    ] = None
    name: ClassVar[str] = "lqr"
    space: ClassVar[Space] = "none"

    def prepare(self, arm: Arm) -> Controller:
        from scipy.linalg import solve_continuous_are

        n = arm.n
        q0 = np.asarray(per_joint(self.goal, n), float)
        still = np.zeros(n)
        tau = np.asarray(arm.gravity(q0), float)
        dq, dqd, dtau = (np.asarray(d, float) for d in forward_dynamics_derivatives(arm.lean, q0, still, tau))
        A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n))
        A[:n, n:], A[n:, :n], A[n:, n:], B[n:] = np.eye(n), dq, dqd, dtau
        weights = [
            np.asarray(per_joint(w, n), float) for w in (self.position_weight, self.velocity_weight, self.effort_weight)
        ]
        R = np.diag(weights[2])
        P = solve_continuous_are(A, B, np.diag(np.concatenate(weights[:2])), R)
        return replace(self, gain=np.linalg.solve(R, B.T @ P))

    def torque(self, arm: Arm, t: Scalar, q: Vector, qd: Vector, target: Target, state: Vector) -> Vector:
        q0 = per_joint(self.goal, arm.n)
        error = np.concatenate([q - q0, qd])
        return array(arm.gravity(q0) - array(self.gain) @ error)

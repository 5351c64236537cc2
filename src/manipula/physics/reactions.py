"""Forces and moments that pass through the joints."""

from __future__ import annotations

import numpy as np

from manipula.algebra.linear import array, zeros
from manipula.algebra.ops import Vector
from manipula.physics.chain import Chain, chain_of
from manipula.physics.newton_euler import joint_wrenches
from manipula.robot.robot import Robot


def joint_reactions(robot: Robot | Chain, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """Wrench that the parent exerts on the child through every joint, (n, 6), force first.

    At the joint's origin, in the axes of the joint's frame that moves with the child (for URDF robots that is the link
    frame, as in Pinocchio's ``data.f``). The component along the axis is the drive's torque without rotor inertia.
    """
    chain = chain_of(robot)
    force, moment = joint_wrenches(chain, q, qd, qdd)
    out = zeros(chain.n, 6)
    for i, b in enumerate(chain.bodies):
        R_JE = b.X_EJ.R.T
        out[i, :3], out[i, 3:] = R_JE @ force[i], R_JE @ moment[i]
    return array(out)


def normal_forces(robot: Robot | Chain, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    r"""Force across each joint perpendicular to its axis, :math:`\sqrt{f_x^2+f_y^2}`, (n,) [N]: the load of its bearing."""
    from manipula.algebra import ops

    chain = chain_of(robot)
    force, _ = joint_wrenches(chain, q, qd, qdd)
    out = zeros(chain.n)
    for i, f in enumerate(force):
        out[i] = ops.sqrt(f[0] * f[0] + f[1] * f[1])
    return array(out)

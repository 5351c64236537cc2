"""Forces and moments that pass through the joints."""

from __future__ import annotations

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.physics.newton_euler import joint_wrenches
from manipula.physics.reduction import coupled
from manipula.robot.robot import Robot

SMALLEST = 1e-300  # N²: a force without length


@coupled(3, bodies=0)
def joint_reactions(robot: Robot | Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """Wrench that the parent exerts on the child through every joint, (n, 6), force first.

    At the joint's origin, in the axes of the joint's frame that moves with the child (for URDF robots that is the link
    frame, as in Pinocchio's ``data.f``). The component along the axis is the drive's torque without rotor inertia.
    """
    mechanism = mechanism_of(robot)
    force, moment = joint_wrenches(mechanism, q, qd, qdd)
    out = zeros(mechanism.n, 6)
    for i, b in enumerate(mechanism.bodies):
        R_JE = b.X_EJ.R.T
        out[i, :3], out[i, 3:] = R_JE @ force[i], R_JE @ moment[i]
    return array(out)


def normal_forces(robot: Robot | Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    r"""Force across each joint perpendicular to its axis, :math:`\sqrt{f_x^2+f_y^2}`, (n,) [N]: the load of its bearing."""
    return array([norm(f) for f in bearing_forces(mechanism_of(robot), q, qd, qdd)])


@coupled(3, joints=0)
def bearing_forces(mechanism: Mechanism, q: Vector, qd: Vector, qdd: Vector) -> np.ndarray:
    """The two components of the force across each joint that are perpendicular to its axis, (n, 2) [N]."""
    force, _ = joint_wrenches(mechanism, q, qd, qdd)
    return array([f[:2] for f in force])


@coupled(1, (2,), joints=0)
def bearing_response(mechanism: Mechanism, q: Vector) -> np.ndarray:
    r"""How those forces answer to accelerations, :math:`\partial f_i/\partial\ddot q_j`, (n, 2, n) [kg or kg·m].

    A joint below i pushes with the frozen rest of the arm beyond itself, as in the mass matrix; a joint above i moves all that
    hangs on i: :math:`f_i = m\,a + \alpha\times h` with mass and first moment of the composite beyond i.
    """
    at = joint_transforms(mechanism, q)
    n = mechanism.n
    composite = [(b.moments.mass, b.moments.first) for b in mechanism.bodies]
    out = zeros(n, 2, n)
    for j in range(n - 1, -1, -1):
        b, (m, h) = mechanism.bodies[j], composite[j]
        f = array([-h[1], h[0], 0.0]) if b.revolute else array([0.0, 0.0, m])
        out[j, :, j] = f[:2]
        i = j
        while mechanism.bodies[i].parent >= 0:
            f = at[i].up(f)
            i = mechanism.bodies[i].parent
            out[i, :, j] = f[:2]
        if b.parent >= 0:
            mass, first = composite[b.parent]
            composite[b.parent] = (mass + m, first + at[j].up(h) + array([m * x for x in at[j].p]))
    field: list[
        dict[int, tuple[np.ndarray, np.ndarray]]
    ] = []  # (α, a) in E_i for a unit acceleration of each joint above
    for i, b in enumerate(mechanism.bodies):
        above = {} if b.parent < 0 else field[b.parent]
        here = {j: (at[i].down(w), at[i].down(a + cross(w, at[i].p))) for j, (w, a) in above.items()}
        m, h = composite[i]
        for j, (w, a) in here.items():
            out[i, 0, j] = m * a[0] + w[1] * h[2] - w[2] * h[1]
            out[i, 1, j] = m * a[1] + w[2] * h[0] - w[0] * h[2]
        axis = np.array([0.0, 0.0, 1.0])
        here[i] = (axis, np.zeros(3)) if b.revolute else (np.zeros(3), axis)
        field.append(here)
    return array(out)


@coupled(1, joints=0)
def relieved(mechanism: Mechanism, q: Vector, link: int, force: Vector) -> np.ndarray:
    """What an outside force on a link (outer axes) takes off the forces across the joints that carry it, (n, 2) [N]."""
    at = joint_transforms(mechanism, q)
    carrying = [] if link < 0 else [*mechanism.ancestors(link)[::-1], link]
    out = zeros(mechanism.n, 2)
    v = force
    for i in carrying:
        v = at[i].down(v)
        out[i] = v[:2]
    return array(out)


def norm(f: Vector) -> Scalar:
    """Length of a vector; its derivative at zero is zero, not undefined."""
    return ops.sqrt(ops.maximum(dot(f, f), SMALLEST))

"""Is an arm that stands at q = 0 there by numbers that are zero, or by others that rounding lets cancel?"""

from __future__ import annotations

from typing import Any

import numpy as np

from manipula.physics.kinematics import place
from manipula.physics.mechanism import Mechanism, mechanism_of
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot


@once_per_mechanism(64)
def rests_at_zero(robot: Robot) -> bool:
    r"""Has every product in the weight's torques at q = 0 a factor that is exactly zero?

    .. math:: \tau_i = -\sum_b z_i\cdot\bigl((m_b p_b + R_b h_b - m_b p_i)\times g\bigr),\qquad f_i = -\sum_b m_b\,z_i\cdot g

    Then no rounding moves the arm from there, as long as nothing else does. All joints are looked at, also those that follow others.
    """
    mechanism = mechanism_of(robot)
    mechanism = mechanism if isinstance(mechanism, Mechanism) and mechanism.coupling is None else mechanism.free
    g = mechanism.gravity
    if all(_is_zero(v) for v in g):
        return True
    where = place(mechanism, np.zeros(mechanism.n))
    if any(not _is_plain(v) for R in where.R for v in R.ravel()) or any(b.lift is not None for b in mechanism.bodies):
        return False
    for b, body in enumerate(mechanism.bodies):
        m = body.moments
        moment = m.mass * where.p[b] + where.R[b] @ m.first
        for i in (b, *mechanism.ancestors(b)):
            z = where.R[i][:, 2]
            if mechanism.bodies[i].revolute:
                r = moment - m.mass * where.p[i]
                terms = [(z[k], r[k - 2], g[k - 1]) for k in range(3)] + [(z[k], r[k - 1], g[k - 2]) for k in range(3)]
            else:
                terms = [(m.mass, z[k], g[k]) for k in range(3)]
            if not all(any(map(_is_zero, factors)) for factors in terms):
                return False
    return True


def _is_plain(value: Any) -> bool:
    """An entry of a rotation by whole right angles."""
    return isinstance(value, (int, float)) and value in (-1.0, 0.0, 1.0)


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0.0

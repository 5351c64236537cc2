r"""Joints that friction holds: constraints with a bounded reaction.

Under all torques but the reactions :math:`\lambda` of the joints D that may stick the arm accelerates by :math:`a`; with :math:`K = M^{-1}`

.. math:: \ddot q = a - K_{:D}\,\lambda,\qquad \ddot q_i = 0\ \text{where stuck},\qquad |\lambda_i| \le F_{s,i}

Which joints stick when some have just come to rest, or one breaks away, is the one solution of the complementarity problem
:math:`\ddot q_i = a_i - (K\lambda)_i,\ \lambda_i \in F_{s,i}\,\mathrm{Sgn}(\ddot q_i)` (K is positive definite), found by projected Gauss–Seidel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manipula import native
from manipula.algebra import ops
from manipula.algebra.linear import array, ldl, ldl_solve, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.physics.constrained import Response
from manipula.robot.friction.base import FrictionLaw

SLACK = 1e-10  # of F_s, by which the load exceeds it when a joint breaks away: an exact balance holds
CONVERGED = 1e-13  # of the largest F_s: change of a reaction in one round
ROUNDS = 4000


class Sticking(NamedTuple):
    """The joints that may stick at one instant.

    Attributes:
        joints: their numbers. stuck: 1 or 0 each. reaction: λ each, zero where sliding.
        free: their accelerations without the reactions. K: how they answer to them, (m, m).
    """

    joints: list[int]
    stuck: list[Scalar]
    reaction: np.ndarray
    free: np.ndarray
    K: np.ndarray


def sticky(laws: Sequence[FrictionLaw | None]) -> list[int]:
    """Joints whose friction can hold them."""
    return [i for i, law in enumerate(laws) if law is not None and law.sticks]


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return ops.where(x > 0.0, 1.0, ops.where(x < 0.0, -1.0, 0.0))


def _masked(K: np.ndarray, stuck: list[Scalar]) -> np.ndarray:
    """K of the stuck joints, and ones for the others."""
    m = len(stuck)
    A = zeros(m, m)
    for i in range(m):
        for j in range(m):
            A[i, j] = stuck[i] * stuck[j] * K[i, j] + ((1.0 - stuck[i]) if i == j else 0.0)
    return array(A)


def reactions(K: np.ndarray, stuck: list[Scalar], free: Vector) -> np.ndarray:
    """λ of the stuck joints that keeps them at rest, (m,)."""
    L, D = ldl(_masked(K, stuck))
    return array(ldl_solve(L, D, array([s * a for s, a in zip(stuck, free)])))


def while_held(response: Response, joints: list[int], stuck: list[Scalar]) -> Response:
    """The answer of the arm while the stuck joints are kept at rest."""
    K = array(response.K)
    inner, across = K[np.ix_(joints, joints)], K[:, joints]
    columns = [reactions(inner, stuck, K[joints, j]) for j in range(len(K))]
    bearing = array(np.stack(columns, axis=1))
    free = response.free - across @ reactions(inner, stuck, response.free[joints])
    return Response(array(free), array(K - across @ bearing))


def sticking_at(response: Response, joints: list[int], stuck: list[Scalar], friction: Vector) -> Sticking:
    """Reactions under the friction torques ``friction`` of all joints, (n,), which hold none of the reactions."""
    K = array(response.K)
    free = array(response.free - K @ friction)[joints]
    inner = K[np.ix_(joints, joints)]
    return Sticking(joints, stuck, reactions(inner, stuck, free), free, inner)


def resting_modes(at: Sticking, hold: Vector, modes: list[Scalar], resting: list[Scalar]) -> list[Scalar]:
    """Directions of sliding when the joints ``resting`` (1 or 0) have no speed: those that their friction cannot hold break away."""
    m = len(at.joints)
    largest: Scalar = 0.0
    for i in range(m):
        largest = ops.maximum(largest, hold[i])

    def wanted(tau: Vector, i: int) -> Scalar:
        rest = at.free[i]
        for j in range(m):
            rest = rest - at.K[i, j] * tau[j]
        return tau[i] + rest / at.K[i, i]

    def round_(tau: Vector, change: Scalar) -> tuple[np.ndarray, Scalar]:
        new, most = array(tau).astype(object), 0.0 * change
        for i in range(m):
            value = ops.minimum(hold[i], ops.maximum(-hold[i], wanted(new, i)))
            value = ops.where(resting[i] > 0.5, value, 0.0)
            most = ops.maximum(most, ops.abs(value - new[i]))
            new[i] = value
        return array(new), most

    guess = reactions(at.K, resting, at.free)
    start = array([ops.minimum(hold[i], ops.maximum(-hold[i], guess[i])) for i in range(m)])
    done = native.until(
        round_, (start, 2.0 * CONVERGED * largest + 1.0), lambda _, change: change <= CONVERGED * largest, ROUNDS, flat=True
    )  # fmt: skip
    tau = done.state[0]
    out: list[Any] = []
    for i in range(m):
        asked = wanted(tau, i)
        breaks = (resting[i] > 0.5) & (ops.abs(asked) > hold[i] * (1.0 + 0.5 * SLACK))
        out.append(ops.where(breaks, sign(asked), ops.where(resting[i] > 0.5, 0.0, modes[i])))
    return out

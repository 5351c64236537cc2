r"""Errors and Jacobians of targets, over any scalar.

A target is a position (3 rows), a pose (6 rows), a chosen subset of rows, or several frames at once. With
:math:`E = R_dR^T` turned by θ about u, the orientation error of the iteration is :math:`2\sin(\theta/2)\,u` in base axes: it needs no
inverse trigonometric function, grows with θ up to a half turn, and the geometric Jacobian is its derivative at the target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot, zeros
from manipula.algebra.ops import Scalar, Vector
from manipula.errors import unknown_name
from manipula.physics.kinematics import jacobian, pose
from manipula.physics.mechanism import Mechanism
from manipula.robot.link import TIP

ROWS = ("x", "y", "z", "rx", "ry", "rz")
LARGE_TURN = 1.0  # squared error from which its size is read off the trace of E, which does not fade at a half turn


@dataclass(frozen=True)
class Task:
    """Which rows of which frames must meet their targets: one (frame, rows) pair a target."""

    parts: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, kind: str, frame: str = TIP, rows: tuple[str, ...] | None = None) -> Task:
        """ "pose" or "position" of one frame, or chosen ``rows`` among x y z rx ry rz."""
        if rows is not None:
            for r in rows:
                if r not in ROWS:
                    raise unknown_name("row of a pose", r, ROWS)
            return cls(((frame, tuple(sorted({ROWS.index(r) for r in rows}))),))
        if kind not in ("pose", "position"):
            raise unknown_name("kind of target", kind, ("pose", "position"))
        return cls(((frame, tuple(range(6)) if kind == "pose" else (0, 1, 2)),))

    @property
    def size(self) -> int:
        return sum(len(rows) for _, rows in self.parts)

    def error_and_jacobian(
        self, mechanism: Mechanism, q: Vector, targets: Vector
    ) -> tuple[np.ndarray, np.ndarray, Scalar]:
        """e (size,), J (size, n) with J = −∂e/∂q near the target, and the size of e (see :func:`largest`).

        ``targets`` are poses (parts, 4, 4).
        """
        errors, rows = [], []
        squares = []
        for k, (frame, chosen) in enumerate(self.parts):
            X = pose(mechanism, q, frame)
            J = jacobian(mechanism, q, frame)
            p = array([targets[k][i][3] - X[i, 3] for i in range(3)])
            e = list(p)
            here = [r for r in chosen if r < 3]
            if here:
                squares.append(dot(p[here], p[here]))
            turning = [r for r in chosen if r >= 3]
            if turning:
                v, square = turn_error(targets[k], X)
                e += list(v)
                rest = dot(v[[r - 3 for r in turning]], v[[r - 3 for r in turning]])
                squares.append(ops.where(square > LARGE_TURN, square, rest) if len(turning) == 3 else rest)
            errors += [e[r] for r in chosen]
            rows += [J[r] for r in chosen]
        return array(errors), array(np.stack(rows)), ops.sqrt(largest(squares))

    def curvature(self, mechanism: Mechanism, q: Vector, e: Vector) -> np.ndarray:
        r"""(n, n) :math:`S = \sum_k e_k\,\partial^2 x_k/\partial q\,\partial q`: what :math:`J^TJ` lacks to be the Hessian of :math:`e^Te/2`, with
        the sign turned.

        With columns :math:`v_j, w_j` of the Jacobian and :math:`i \le j` from base to tip, :math:`\partial v_j/\partial q_i = w_i\times v_j`, and the
        rotation vector of two small turns one after the other has the mixed derivative :math:`w_i\times w_j/2`.
        """
        if mechanism.coupling is not None:
            free = self.curvature(mechanism.free, mechanism.coupling.expand(q), e)
            return mechanism.coupling.contract(mechanism.coupling.contract(free, 0), 1)
        n, at = mechanism.n, 0
        S = zeros(n, n)
        for frame, chosen in self.parts:
            J = jacobian(mechanism, q, frame)
            full = [0.0] * 6
            for r in chosen:
                full[r] = e[at]
                at += 1
            moving = (
                set()
                if mechanism.frames[frame].link < 0
                else {*mechanism.ancestors(mechanism.frames[frame].link), mechanism.frames[frame].link}
            )
            for i in sorted(moving):
                for j in sorted(k for k in moving if k >= i):
                    value = dot(array(full[:3]), cross(J[3:, i], J[:3, j]))
                    if i != j:
                        value = value + 0.5 * dot(array(full[3:]), cross(J[3:, i], J[3:, j]))
                        S[j, i] = S[j, i] + value
                    S[i, j] = S[i, j] + value
        return array(S)

    def residual(self, mechanism: Mechanism, q: Vector, targets: Vector) -> Scalar:
        """Largest of position error [m] and angle error [rad] over all parts, by the exact rotation vector."""
        values = []
        for k, (frame, chosen) in enumerate(self.parts):
            X = pose(mechanism, q, frame)
            p = array([targets[k][i][3] - X[i, 3] for i in range(3)])
            here, turning = [r for r in chosen if r < 3], [r - 3 for r in chosen if r >= 3]
            if here:
                values.append(ops.sqrt(dot(p[here], p[here])))
            if turning:
                v, angle = rotation_vector(targets[k], X)
                values.append(angle if len(turning) == 3 else ops.sqrt(dot(v[turning], v[turning])))
        return largest(values)


def turn_error(target: Vector, X: Vector) -> tuple[np.ndarray, Scalar]:
    r""":math:`2\sin(\theta/2)\,u` of :math:`E = R_dR^T` from :math:`\mathrm{vee}(E-E^T)/\sqrt{1+\mathrm{tr}\,E}`, and
    :math:`4\sin^2(\theta/2) = 3 - \mathrm{tr}\,E`, exact for large turns only."""
    E = _turn(target, X)
    trace = E[0, 0] + E[1, 1] + E[2, 2]
    scale = 1.0 / ops.sqrt(ops.maximum(1.0 + trace, 1e-12))
    v = array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
    return array(scale * v), 3.0 - trace


def rotation_vector(target: Vector, X: Vector) -> tuple[np.ndarray, Scalar]:
    r""":math:`\theta u` of :math:`E = R_dR^T` with :math:`\theta = \operatorname{atan2}(|v|, \mathrm{tr}E - 1)`, and θ."""
    E = _turn(target, X)
    v = array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
    twice_sine = ops.sqrt(dot(v, v))
    angle = ops.atan2(twice_sine, E[0, 0] + E[1, 1] + E[2, 2] - 1.0)
    return array(v * (angle / ops.maximum(twice_sine, 1e-300))), angle


def _turn(target: Vector, X: Vector) -> np.ndarray:
    D = np.array([[target[i][j] for j in range(3)] for i in range(3)], dtype=object)
    return D @ X[:3, :3].T


def largest(values: list[Scalar]) -> Scalar:
    """Greatest of several numbers."""
    total = values[0]
    for value in values[1:]:
        total = ops.maximum(total, value)
    return total

"""Cyclic coordinate descent: one joint after the other, each to its own best position."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from manipula.algebra import ops
from manipula.algebra.linear import array, cross, dot
from manipula.algebra.ops import Scalar, Vector
from manipula.ik.methods.base import Method, Situation
from manipula.physics.kinematics import find_frame, place, pose

TURN_WEIGHT = 0.1  # [m²] of the axes of a frame against its position


class CyclicDescent(Method):
    r"""From the tip to the base, joint i takes the angle that minimises
    :math:`\sum_k w_k|v_k - R_z(\varphi)u_k|^2`: :math:`\varphi = \operatorname{atan2}(\sum w\,z\cdot(u\times v),\ \sum w\,(u\cdot v - (z\cdot u)(z\cdot v)))`,
    where u, v are the present and wanted position from the joint and axes of the frame [Wang & Chen 1991].

    Needs no Jacobian and never meets a singularity; linear convergence, slow near the end.
    """

    name: ClassVar[str] = "ccd"
    longest: ClassVar[float] = 100.0
    lifetime: ClassVar[float] = 20000.0
    patience: ClassVar[float] = 2000.0

    def step(self, e: Vector, J: np.ndarray) -> np.ndarray:
        r"""The same for rows that are not whole positions or rotations: :math:`\Delta q_i = J_i\cdot e/|J_i|^2`, error updated between joints."""
        e = array(e)
        out = [0.0] * J.shape[1]
        for i in reversed(range(J.shape[1])):
            out[i] = dot(J[:, i], e) / (dot(J[:, i], J[:, i]) + 1e-20)
            e = array(e - J[:, i] * out[i])
        return array(out)

    def move(self, situation: Situation, e: Vector, J: np.ndarray) -> np.ndarray:
        mechanism, q = situation.mechanism, array(situation.q)
        whole = all({0, 1, 2} <= set(rows) or not {0, 1, 2} & set(rows) for _, rows in situation.task.parts)
        turned = all({3, 4, 5} <= set(rows) or not {3, 4, 5} & set(rows) for _, rows in situation.task.parts)
        # a coordinate that moves several axes has no best angle
        if not (whole and turned) or mechanism.coupling is not None:
            return self.step(e, J)
        now = q.astype(object)
        for i in reversed(range(mechanism.n)):
            where = place(mechanism, now)
            z, origin = where.R[i][:, 2], where.p[i]
            along: Scalar = 0.0
            across: Scalar = 0.0
            slide: Scalar = 0.0
            count = 0.0
            for k, (name, rows) in enumerate(situation.task.parts):
                frame = find_frame(mechanism, name)
                if frame.link != i and i not in (mechanism.ancestors(frame.link) if frame.link >= 0 else ()):
                    continue
                X, goal = pose(mechanism, now, name), situation.targets[k]
                pairs = []
                if 0 in rows:
                    wanted = array([goal[r][3] for r in range(3)])
                    pairs.append((1.0, X[:3, 3] - origin, wanted - origin))
                    slide, count = slide + dot(z, wanted - X[:3, 3]), count + 1.0
                if 3 in rows:
                    pairs += [(TURN_WEIGHT, X[:3, c], array([goal[r][c] for r in range(3)])) for c in range(3)]
                for w, u, v in pairs:
                    along = along + w * (dot(u, v) - dot(z, u) * dot(z, v))
                    across = across + w * dot(z, cross(u, v))
            if mechanism.bodies[i].revolute:
                turn = ops.atan2(across, along) if not isinstance(across, float) else 0.0
                now[i] = now[i] + turn
            elif count:
                now[i] = now[i] + slide * (1.0 / count)
        return array(now - q)

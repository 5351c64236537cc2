r"""A mechanism over the ring, posed at a symbolic configuration, with sums of angles in place of angles.

Consecutive joints with parallel axes turn in one plane: there the natural angles are
:math:`\varphi_j = q_i + \dots + q_j`, and a planar arm of n joints has O(n²) terms instead of 2ⁿ. So a frame inside such a
group does not turn with its link; the link's own data are turned by :math:`\varphi_j` instead, and the joint variable that
the recursions of ``physics`` see is the angle zero. The last joint of a group turns its frame as usual.

A constant angle that is added to a joint variable (a DH offset, an oblique x axis) is part of the sum, under an index beyond the joints.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from manipula.algebra.linear import array
from manipula.algebra.pose import Pose
from manipula.algebra.trig_fold import positive
from manipula.algebra.trigpoly import Ring, TrigPoly
from manipula.physics.coupling import Coupling
from manipula.physics.mechanism import Mechanism

Sum = tuple[tuple[int, Any], ...]  # an angle: (joint, multiple) pairs, in order of joints


class ZeroAngle:
    """The joint variable of a joint whose frame does not turn: an angle that is zero."""

    def sin(self) -> float:
        return 0.0

    def cos(self) -> float:
        return 1.0


@dataclass(frozen=True, eq=False)
class AngleSums:
    """Attributes:

    mechanism, q: what the recursions of ``physics`` are called with.
    angles: every angle variable of the ring that depends on q.
    groups: joints with parallel axes, by connected pieces of the tree (revolute joints only).
    ones: the sums of angles, with signs, that may occur inside a group: consecutive joints.
    phases: values of the constant angles, by index.
    constant: for a joint with a constant angle, that index.
    """

    mechanism: Mechanism
    q: np.ndarray
    angles: tuple[Sum, ...]
    groups: tuple[tuple[int, ...], ...]
    ones: frozenset[Sum]
    phases: dict[int, float]
    constant: dict[int, int]


def with_angle_sums(mechanism: Mechanism, ring: Ring, sums: bool = True, coupling: Coupling | None = None) -> AngleSums:
    """Pose a mechanism whose constants are polynomials of ``ring``; without ``sums`` every joint keeps its own angle.

    With a ``coupling`` the angle of a joint is a multiple of the coordinate that moves it; a parallelogram whose joints cancel
    does not turn at all.
    """
    n = mechanism.n
    moved = [(i, 1) for i in range(n)] if coupling is None else list(zip(coupling.coordinate, coupling.ratio))
    sign = [_parallel(b.R0) for b in mechanism.bodies]
    turning, member, oblique = [False] * n, [False] * n, [False] * n
    summed: list[dict[int, Any]] = []  # the angle of every body in terms of coordinates
    for i, b in enumerate(mechanism.bodies):
        member[i] = sums and b.parent >= 0 and turning[b.parent] and sign[i] != 0
        own = {j: sign[i] * k for j, k in summed[b.parent].items()} if member[i] else {}
        c, r = moved[i]
        if b.revolute:
            own[c] = own.get(c, 0) + r
        oblique[i] = (member[i] and oblique[b.parent]) or (b.revolute and not _is_quarter(b.phase))
        if member[i] and oblique[i] and not any(own.values()):  # only constants are left: the joint keeps its own angle
            member[i], own = False, ({c: r} if b.revolute else {})
        turning[i] = b.revolute or member[i]
        summed.append({j: k for j, k in own.items() if k})
    held = [False] * n
    for i in range(n - 1, -1, -1):
        if member[i] and (mechanism.bodies[i].revolute or held[i]):
            held[mechanism.bodies[i].parent] = True
    phases: dict[int, float] = {}
    constant: dict[int, int] = {}
    phi: list[Sum] = []
    bodies, q = [], np.empty(n, dtype=object)
    for i, b in enumerate(mechanism.bodies):
        own = {j: sign[i] * k for j, k in phi[b.parent] if j >= n} if member[i] else {}
        own |= summed[i]
        if b.revolute and not _is_quarter(b.phase):  # whole right angles are handled, exactly, by the frames
            constant[i] = n + len(phases)
            phases[constant[i]], own[constant[i]] = b.phase, 1
            b = dataclasses.replace(b, phase=0.0)
        phi.append(tuple(sorted(own.items())))
        if b.parent >= 0 and held[b.parent]:
            turn = _about_z(ring, phi[b.parent])
            stays = member[i] and (b.revolute or held[i])
            b = dataclasses.replace(b, R0=b.R0 if stays else turn @ b.R0, p0=turn @ b.p0)
        if held[i]:
            turn = _about_z(ring, phi[i])
            moments = b.moments.seen_from(turn, np.zeros(3))
            lift = None if b.lift is None else b.lift.seen_from(turn, np.zeros(3))
            b = dataclasses.replace(
                b, moments=moments, lift=lift, X_EJ=Pose.of(turn) @ b.X_EJ, X_EL=Pose.of(turn) @ b.X_EL
            )
        c, r = moved[i]
        if b.revolute:
            q[i] = ZeroAngle() if held[i] or not phi[i] else ring.angle(phi[i])
        else:
            q[i] = ring.variable(("q", c)) if r == 1 else ring.variable(("q", c)) * r
        bodies.append(b)
    frames = {
        name: dataclasses.replace(f, pose=Pose.of(_about_z(ring, phi[f.link])) @ f.pose) if f.link >= 0 and held[f.link] else f
        for name, f in mechanism.frames.items()
    }  # fmt: skip
    posed = dataclasses.replace(mechanism, bodies=tuple(bodies), frames=frames)
    groups, ones = _groups(mechanism, constant, sums) if coupling is None else _coupled_groups(phi, n)
    angles = tuple(dict.fromkeys(phi[i] for i in range(n) if phi[i] and (mechanism.bodies[i].revolute or held[i])))
    return AngleSums(posed, q, angles, groups, ones, phases, constant)


def _about_z(ring: Ring, phi: Sum) -> np.ndarray:
    if not phi:
        return np.eye(3)
    angle = ring.angle(phi)
    s, c = angle.sin(), angle.cos()
    return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _is_quarter(phase: float) -> bool:
    """Is it a whole number of right angles?"""
    quarters = phase / (math.pi / 2)
    return quarters == round(quarters)


def _parallel(R0: np.ndarray) -> int:
    """+1 or -1 when z of the two frames is the same line, else 0."""
    z = R0[2, 2]
    if isinstance(z, TrigPoly):
        return int(z == 1) - int(z == -1)
    return int(z == 1.0) - int(z == -1.0)


def _groups(
    mechanism: Mechanism, constant: dict[int, int], sums: bool
) -> tuple[tuple[tuple[int, ...], ...], frozenset[Sum]]:
    """Pieces of parallel revolute joints; a prismatic joint between two of them does not turn anything."""
    group_of: dict[int, int] = {}
    groups: list[list[int]] = []
    ending_at: dict[int, list[Sum]] = {}  # the sums that end at a joint
    for i, b in enumerate(mechanism.bodies):
        if not b.revolute:
            continue
        parent, R = b.parent, b.R0
        while parent >= 0 and not mechanism.bodies[parent].revolute:
            R = array(mechanism.bodies[parent].R0 @ R)
            parent = mechanism.bodies[parent].parent
        direction = _parallel(R) if parent >= 0 and sums else 0
        own: Sum = ((i, 1), (constant[i], 1)) if i in constant else ((i, 1),)
        if direction:
            group_of[i] = group_of[parent]
            groups[group_of[i]].append(i)
            longer = [tuple(sorted([*own, *((j, direction * k) for j, k in s)])) for s in ending_at[parent]]
        else:
            group_of[i] = len(groups)
            groups.append([i])
            longer = []
        ending_at[i] = [own, *longer]
    return tuple(tuple(g) for g in groups), frozenset(normal(s)[0] for sums in ending_at.values() for s in sums)


def normal(angle: Sum) -> tuple[Sum, int]:
    """The angle with a positive leading multiple, and the sign that was taken out."""
    if angle and angle[0][1] < 0:
        return tuple((j, -k) for j, k in angle), -1
    return angle, 1


def _coupled_groups(phi: list[Sum], n: int) -> tuple[tuple[tuple[int, ...], ...], frozenset[Sum]]:
    """Coordinates that occur in one angle together, and those angles: several multiples of one coordinate are one group."""
    groups: list[set[int]] = []
    for angle in phi:
        inside = {j for j, _ in angle if j < n}
        touched = [g for g in groups if g & inside]
        groups = [g for g in groups if not g & inside] + ([inside.union(*touched)] if inside else [])
    return tuple(tuple(sorted(g)) for g in groups), frozenset(positive(angle)[0] for angle in phi if angle)

r"""A robot prepared for recursions: every joint axis is z of a frame centred on that joint.

Frame E_i sits on joint i and moves with link i. Against its parent it stands at

.. math:: X_{E_pE_i}(q) = (R_0, p_0)\cdot R_z(\varphi + q)\quad\text{or}\quad (R_0, p_0)\cdot R_z(\varphi)\,T_z(q)

where the constant :math:`R_0` is a rotation about x whenever the choice of the x axes allows it (as in modified DH), so
that turning a vector costs the fewest operations. Payload is part of the body that carries the tip. Constants are floats, or symbols while
a robot has free parameters; the recursions do not care.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from manipula.algebra.inertia import Moments, moments
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose, plain
from manipula.algebra.rotation import about_z, align_z
from manipula.algebra.symbols import evaluate, is_symbolic
from manipula.lazy import cached_property
from manipula.physics.coupling import Coupling
from manipula.physics.lift import Lift
from manipula.robot.link import TIP, Frame, Link, Payload
from manipula.robot.once import once_per_mechanism
from manipula.robot.robot import Robot

NOISE = 1e-15  # entries of rotation products this close to 0 or ±1 are rounding, not geometry


@dataclass(frozen=True)
class Body:
    """Joint i and link i in the frame E_i.

    Attributes:
        parent: index of the parent, -1 for the base.
        revolute: turns about z of E, or slides along it.
        R0, p0: constant pose against the parent's E frame.
        phase: constant angle :math:`\\varphi` added to a revolute q (0, a multiple of π/2, or anything).
        moments: mass, first moment and inertia about the origin, in E.
        armature: rotor inertia seen by the joint.
        X_EJ: the joint's own frame (axes as the robot's owner drew them) in E.
        X_EL: the link's frame in E.
        lift: what of its weight something else carries, in E.
    """

    parent: int
    revolute: bool
    R0: np.ndarray
    p0: np.ndarray
    phase: float
    moments: Moments
    armature: Any
    X_EJ: Pose
    X_EL: Pose
    lift: Lift | None = None


class MovingBase(NamedTuple):
    """How the outer frame moves in the world, in its own axes: velocity, angular velocity, acceleration less gravity, angular acceleration."""

    v: np.ndarray
    w: np.ndarray
    a: np.ndarray
    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Mechanism:
    """All bodies, gravity and named frames, ready for the recursions."""

    name: str
    bodies: tuple[Body, ...]
    gravity: np.ndarray
    frames: Mapping[str, Frame]  # poses are X_EF here (against the E frame; against the outer frame for the base)
    coupling: Coupling | None = None  # where some joints follow others
    base: MovingBase | None = None  # where the outer frame moves; Newton–Euler and the kinetic energy look at it

    @property
    def n(self) -> int:
        """Number of coordinates: one per body, unless joints are coupled."""
        return len(self.bodies) if self.coupling is None else self.coupling.n

    @cached_property
    def free(self) -> Mechanism:
        """The same bodies with every joint on its own."""
        return self if self.coupling is None else replace(self, coupling=None)

    @cached_property
    def lean(self) -> Mechanism:
        """The same equations of motion in the fewest inertial constants (:func:`regrouped`); found once."""
        return regrouped(self)

    @cached_property
    def lean_base(self) -> Moments:
        """What the first links of :attr:`lean` have handed to the base, about the outer origin in its axes."""
        return _regrouped(self)[1]

    def ancestors(self, i: int) -> list[int]:
        """Parents of joint i, nearest first, without i."""
        found, p = [], self.bodies[i].parent
        while p >= 0:
            found.append(p)
            p = self.bodies[p].parent
        return found

    def pattern(self) -> list[list[int]]:
        """For every joint its ancestors: the non-zeros of a row of the mass matrix. Coupled joints may fill it all."""
        if self.coupling is not None:
            return [list(range(i - 1, -1, -1)) for i in range(self.n)]
        return [self.ancestors(i) for i in range(self.n)]


def mechanism_of(robot: Robot | Mechanism) -> Mechanism:
    """The prepared mechanism of a robot, a chain or a tree (computed once per robot)."""
    return robot if isinstance(robot, Mechanism) else _prepared(robot)


@once_per_mechanism(64)
def _prepared(robot: Robot) -> Mechanism:
    return prepare(robot)


def prepare(robot: Robot, values: Mapping[str, Any] | None = None) -> Mechanism:
    """Mechanism of a robot; ``values`` replaces free parameters by scalars of any kind (traced numbers, say)."""

    def scalars(a: Any) -> np.ndarray:
        if values is None:
            return array(a)
        raw = np.asarray(a, dtype=object)
        out = np.empty(raw.shape, dtype=object)
        for k in np.ndindex(raw.shape):
            out[k] = evaluate(raw[k], values) if is_symbolic(raw[k]) else plain(raw[k])
        return array(out)

    def pose(X: Pose) -> tuple[np.ndarray, np.ndarray]:
        return scalars(X.R), scalars(X.p)

    def body(part: Link | Payload, R: np.ndarray, p: np.ndarray) -> Moments:
        """Moments in E; the centre of mass is moved there first, so that a link frame far away costs no digits."""
        inertia = scalars(part.inertia)
        return moments(scalars(part.mass)[()], R @ scalars(part.com) + p, R @ inertia @ R.T)

    free = robot.uncoupled if robot.followers else None
    robot = robot if free is None else free.robot
    X_EL: list[tuple[np.ndarray, np.ndarray]] = []
    raw: list[dict[str, Any]] = []
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links)):
        A = align_z(joint.axis)
        frame_R, frame_p = pose(link.frame)
        X_EL.append((_clean(A.T @ frame_R), A.T @ frame_p))
        place_R, place_p = pose(joint.placement)
        if joint.parent >= 0:
            up_R, up_p = X_EL[joint.parent]
        else:
            up_R, up_p = pose(robot.base)
        R_EL, p_EL = X_EL[i]
        m = body(link, R_EL, p_EL)
        if robot.payload is not None and robot.tip_frame.link == i:
            tip_R, tip_p = pose(robot.tip_frame.pose)
            m = m + body(robot.payload, R_EL @ tip_R, R_EL @ tip_p + p_EL)
        lift = None
        if link.balance is not None:
            at = R_EL @ scalars(link.balance.com) + p_EL
            mass = scalars(link.balance.mass)[()]
            lift = Lift(mass, array([mass * x for x in at]))
        raw.append({
            "parent": joint.parent, "revolute": joint.is_revolute, "R0": _clean(up_R @ place_R @ A),
            "p0": _clean_position(up_R @ place_p + up_p), "moments": m,
            "armature": scalars(joint.armature)[()], "X_EJ": Pose.of(A.T), "X_EL": Pose.of(*X_EL[i]), "lift": lift,
        })  # fmt: skip
    bodies = _turn_x_axes(raw)
    frames = {f.name: f for f in robot.frames}
    if robot.tip is not None:
        frames[TIP] = robot.tip_frame
        frames.setdefault("tip", robot.tip_frame)  # the word, where the file gives it to nothing else
    placed = {
        name: replace(
            f, pose=_numeric(bodies[f.link].X_EL if f.link >= 0 else robot.base, scalars) @ _numeric(f.pose, scalars)
        )
        for name, f in frames.items()
    }
    placed.setdefault("base", Frame("base", -1, robot.base))
    mechanism = Mechanism(robot.name, bodies, scalars(robot.gravity), placed)
    if free is None:
        return mechanism
    return replace(
        mechanism, coupling=Coupling(free.n, free.coordinate, tuple(scalars(r)[()] for r in free.ratio), free.body)
    )


def _numeric(X: Pose, scalars: Any) -> Pose:
    return X if X is IDENTITY else Pose.of(scalars(X.R), scalars(X.p))


def _turn_x_axes(raw: list[dict[str, Any]]) -> tuple[Body, ...]:
    """Turn each E frame about its own z so that its first child's axis has no x component: R0 becomes Rx(α)."""
    n = len(raw)
    turn = [0.0] * n
    first_child: dict[int, int] = {}
    for i, b in enumerate(raw):
        first_child.setdefault(b["parent"], i)
    for i in range(n):
        child = first_child.get(i)
        if child is None or raw[child]["R0"].dtype == object:
            continue
        z = raw[child]["R0"][:, 2]
        if math.hypot(z[0], z[1]) > 1e-12:
            turn[i] = _right_angle(math.atan2(z[1], z[0]) + math.pi / 2)
            if turn[i] > math.pi / 2 + 1e-9:
                turn[i] -= math.pi
            elif turn[i] < -math.pi / 2 + 1e-9:
                turn[i] += math.pi
    bodies = []
    for i, b in enumerate(raw):
        Z = about_z(turn[i])
        up = about_z(turn[b["parent"]]) if b["parent"] >= 0 else np.eye(3)
        R0, p0, phase = up.T @ b["R0"] @ Z, up.T @ b["p0"], 0.0
        if R0.dtype != object:
            R0 = _clean(R0)
            p0 = _clean_position(p0)
            if b["revolute"]:
                R0, phase = _split_phase(R0)
        bodies.append(Body(b["parent"], b["revolute"], R0, p0, phase, b["moments"].seen_from(Z.T, np.zeros(3)), b["armature"],
                           Pose.of(Z.T) @ b["X_EJ"], Pose.of(Z.T) @ b["X_EL"],
                           b["lift"] and b["lift"].seen_from(Z.T, np.zeros(3))))  # fmt: skip
    return tuple(bodies)


def _split_phase(R0: np.ndarray) -> tuple[np.ndarray, float]:
    """``R0 = Rx(α) Rz(φ)`` when its third column has no x component, else (R0, 0)."""
    if R0[0, 2] != 0.0:
        return R0, 0.0
    phase = math.atan2(-R0[0, 1], R0[0, 0])
    _, minus_sine, cosine = R0[:, 2]
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, cosine, minus_sine], [0.0, -minus_sine, cosine]])
    return Rx, _right_angle(phase)


def _right_angle(angle: float) -> float:
    """The angle, exact when it is a multiple of π/2 up to rounding."""
    k = round(angle / (math.pi / 2))
    return k * (math.pi / 2) if abs(angle - k * (math.pi / 2)) < 4e-16 * max(1, abs(k)) else angle


def _clean(R: np.ndarray) -> np.ndarray:
    if R.dtype == object:
        return R
    out = np.where(np.abs(R) < NOISE, 0.0, R)
    return np.where(np.abs(np.abs(out) - 1.0) < NOISE, np.sign(out), out)


def _clean_position(p: np.ndarray) -> np.ndarray:
    if p.dtype == object:
        return p
    return np.where(np.abs(p) < 1e-16 * max(1.0, float(np.max(np.abs(p)))), 0.0, p)


def regrouped(mechanism: Mechanism) -> Mechanism:
    r"""A mechanism with the same equations of motion and the fewest inertial constants.

    A part of link i that looks the same after any motion of joint i may as well belong to its parent. For a revolute joint
    that part is a mass on the axis with moments :math:`m,\ m z,\ \mathrm{diag}(J_{yy}, J_{yy}, 0)`; for a prismatic one it is the
    whole rotational inertia. Moving it leaves M, C, g and tau exactly as they were [Gautier & Khalil 1990] but makes
    a third of the constants zero. Joint reactions and the constant of the potential energy do change: do not use it there.
    What the first links hand to the base needs no force of any joint, however the base moves; a base that moves has to move it
    (:attr:`Mechanism.lean_base`).
    """
    return _regrouped(mechanism)[0]


def _regrouped(mechanism: Mechanism) -> tuple[Mechanism, Moments]:
    """The regrouped mechanism, and what the base has got."""
    moments = [b.moments for b in mechanism.bodies]
    base = Moments(0.0, np.zeros(3), np.zeros((3, 3)))
    for i in range(len(moments) - 1, -1, -1):
        b, m = mechanism.bodies[i], moments[i]
        if b.revolute:
            yy = m.second[1, 1]
            first = array([0.0, 0.0, m.first[2]])
            moved = Moments(m.mass, first, array(np.diag([yy, yy, 0.0])))
            second = m.second.copy()
            second[0, 0], second[1, 1] = second[0, 0] - yy, 0.0
            moments[i] = Moments(0.0, array([m.first[0], m.first[1], 0.0]), second)
            R, p = b.R0, b.p0
        else:
            moved = Moments(0.0, np.zeros(3), m.second)
            moments[i] = Moments(m.mass, m.first, np.zeros((3, 3)))
            R, p = b.R0, np.zeros(3)
        moved = moved.seen_from(R, p)
        if b.parent >= 0:
            moments[b.parent] = moments[b.parent] + moved
        else:
            base = base + moved
    bodies = tuple(replace(b, moments=_without_noise(m)) for b, m in zip(mechanism.bodies, moments))
    return replace(mechanism, bodies=bodies), _without_noise(base)


def _without_noise(m: Moments) -> Moments:
    """Entries that are rounding against the size of their kind become exact zeros, which the tracer then drops."""

    def clean(a: Any) -> Any:
        a = np.asarray(a)
        if a.dtype == object:
            return a if a.ndim else a[()]
        size = float(np.max(np.abs(a), initial=0.0))
        out = np.where(np.abs(a) < 1e-16 * size, 0.0, a)
        return out if a.ndim else float(out)

    return Moments(m.mass, clean(m.first), clean(m.second))

r"""A robot whose numbers are exact: every field becomes a polynomial in parameters, twist angles and joint variables.

The prepared chain of ``physics.chain`` is built over these scalars, so the recursions of ``physics`` derive the symbolic
equations. Right angles are integers. Any other angle, symbolic or numeric, is a pair of variables (cosine, sine), so that
:math:`R R^T = 1` holds exactly; a numeric one receives its value when the derivation is over.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from manipula.algebra.inertia import Moments, steiner
from manipula.algebra.linear import array
from manipula.algebra.pose import IDENTITY, Pose
from manipula.algebra.rotation import align_z, to_rpy
from manipula.algebra.symbols import is_symbolic
from manipula.algebra.trigpoly import MAX_POWER, Ring, TrigPoly
from manipula.errors import DescriptionError
from manipula.physics.chain import Chain, prepare
from manipula.robot.link import Link, Payload
from manipula.robot.robot import Robot

RIGHT_ANGLE_ROUNDING = 1e-14  # a URDF states π/2 with 15 or 16 digits
INERTIA_AXES = ("xx", "xy", "xz", "yy", "yz", "zz")


class Scalars:
    """The ring of one derivation, and the way from SymPy expressions and floats into it and back."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.numeric_angles: dict[str, float] = {}

    def __call__(self, x: Any) -> Any:
        """A polynomial; plain 0 and ±1 stay floats, they are free in every product."""
        if isinstance(x, (int, float, np.floating, np.integer)):
            return float(x) if x in (0.0, 1.0, -1.0) else self.ring.constant(x)
        return self._from_sympy(x)

    def _from_sympy(self, e: Any) -> TrigPoly:
        if e.is_Rational:
            return self.ring.constant(Fraction(int(e.p), int(e.q)))
        if e.is_Float:
            return self.ring.constant(float(e))
        if e.is_Symbol:
            return self.ring.variable(e)
        if e.is_Add:
            out = self.ring.constant(0)
            for a in e.args:
                out = out + self._from_sympy(a)
            return out
        if e.is_Mul:
            out = self.ring.constant(1)
            for a in e.args:
                out = out * self._from_sympy(a)
            return out
        if e.is_Pow and e.exp.is_Integer:
            power = int(e.exp)
            if abs(power) > MAX_POWER:
                raise DescriptionError(f"The power in '{e}' is beyond the largest that is handled, {MAX_POWER}.")
            return (self._from_sympy(e.base) if power > 0 else self.ring.variable(1 / e.base)) ** abs(power)
        if isinstance(e, (sympy.sin, sympy.cos)):
            argument = e.args[0]
            sign = -1 if argument.could_extract_minus_sign() else 1
            angle = self.ring.angle(sign * argument)
            return angle.cos() if isinstance(e, sympy.cos) else sign * angle.sin()
        return self.ring.variable(e)  # a function of parameters that the derivation need not look into

    def rotation(self, R: np.ndarray) -> np.ndarray:
        """An exactly orthogonal matrix for a constant rotation."""
        if any(is_symbolic(v) for v in R.flat):
            return array([[self(v) for v in row] for row in R])
        near = np.round(R.astype(float))
        if np.max(np.abs(near - R.astype(float))) < RIGHT_ANGLE_ROUNDING:
            return near
        roll, pitch, yaw = to_rpy(R.astype(float))
        out = np.eye(3)
        for angle, axis in ((yaw, 2), (pitch, 1), (roll, 0)):
            s, c = self._sine_cosine(angle)
            x, y = (axis + 1) % 3, (axis + 2) % 3
            turn = np.eye(3).astype(object)
            turn[x, x], turn[x, y], turn[y, x], turn[y, y] = c, -s, s, c
            out = array(out @ array(turn))
        return out

    def _sine_cosine(self, angle: float) -> tuple[Any, Any]:
        quarters = round(angle / (math.pi / 2))
        if abs(angle - quarters * math.pi / 2) < RIGHT_ANGLE_ROUNDING:
            return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarters % 4]
        name = repr(abs(angle))
        self.numeric_angles[name] = abs(angle)
        atom = self.ring.angle(("angle", name))
        return (atom.sin() if angle > 0 else -atom.sin()), atom.cos()

    def pose(self, X: Pose) -> Pose:
        return Pose.of(self.rotation(X.R), [self(v) for v in X.p])

    def moments(self, body: Link | Payload) -> Moments:
        """Mass, first moment and inertia about the link frame's origin."""
        if any(_divides(v) for v in body.com):
            c = np.array([sympy.nsimplify(v, rational=True) for v in body.com], dtype=object)
            tidy = np.vectorize(lambda v: self(sympy.cancel(sympy.nsimplify(v, rational=True))), otypes=[object])
            # merged links: com = h/m, and only m·com and the inertia about the origin are polynomials
            return Moments(self(body.mass), tidy(body.mass * c), tidy(array(body.inertia) + body.mass * steiner(c)))
        com = array([self(v) for v in body.com])
        mass = self(body.mass)
        inertia = np.array([[self(v) for v in row] for row in body.inertia], dtype=object)
        return Moments(mass, mass * com, inertia + mass * steiner(com))


def _divides(x: Any) -> bool:
    """Is there a parameter in a denominator?"""
    return is_symbolic(x) and any(p.exp.could_extract_minus_sign() and p.base.free_symbols for p in x.atoms(sympy.Pow))


def inertia_symbols(i: int) -> list[sympy.Symbol]:
    """The ten symbols of link i (counted from 0): ``m1, mx1, my1, mz1, Ixx1, Ixy1, Ixz1, Iyy1, Iyz1, Izz1``."""
    names = ["m", "mx", "my", "mz", *(f"I{a}" for a in INERTIA_AXES)]
    return [sympy.Symbol(f"{name}{i + 1}") for name in names]


def symbolic_moments(ring: Ring, symbols: list[Any]) -> Moments:
    """Moments made of ten variables, in the order of :func:`inertia_symbols`."""
    m, x, y, z, xx, xy, xz, yy, yz, zz = (ring.variable(s) for s in symbols)
    return Moments(m, array([x, y, z]), array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def exact_chain(robot: Robot, scalars: Scalars, moments_of: Callable[[int], Moments] | None = None) -> Chain:
    """The chain of ``robot`` over the ring.

    Args:
        moments_of: moments of link i about the joint-centred frame J, in the axes of J, in place of the robot's own
            (payload included).
    """
    for joint in robot.joints:
        if any(is_symbolic(v) for v in joint.axis):
            raise DescriptionError(f"The axis of joint '{joint.name}' is symbolic; only twist and offset may be.")
    axes = [_aligned(scalars, joint.axis) for joint in robot.joints]
    bare = dataclasses.replace(
        robot,
        links=tuple(Link(l.name, frame=X.inverse() @ scalars.pose(l.frame)) for l, (X, _) in zip(robot.links, axes)),
        joints=tuple(
            dataclasses.replace(
                j, placement=scalars.pose(j.placement) @ X, axis=axis, rotor_inertia=0.0, gear_ratio=1.0
            ) for j, (X, axis) in zip(robot.joints, axes)
        ),
        frames=tuple(dataclasses.replace(f, pose=scalars.pose(f.pose)) for f in robot.frames),
        base=scalars.pose(robot.base), tool=scalars.pose(robot.tool), payload=None,
        gravity=tuple(scalars(v) for v in robot.gravity),
    )  # fmt: skip
    chain = prepare(bare)
    payload_link, payload = -1, None
    if robot.payload is not None:
        tip = bare.tip_frame
        payload_link, payload = tip.link, scalars.moments(robot.payload).seen_from(tip.pose.R, tip.pose.p)
    bodies = []
    for i, (body, link, joint) in enumerate(zip(chain.bodies, robot.links, robot.joints)):
        if moments_of is not None:
            X_EJ = body.X_EJ @ axes[i][0].inverse()
            moments = moments_of(i).seen_from(X_EJ.R, X_EJ.p)
        else:
            own = scalars.moments(link)
            if i == payload_link and payload is not None:
                own = own + payload
            moments = own.seen_from(body.X_EL.R, body.X_EL.p)
        armature = scalars(joint.gear_ratio) * scalars(joint.gear_ratio) * scalars(joint.rotor_inertia)
        bodies.append(dataclasses.replace(body, moments=moments, armature=armature))
    return dataclasses.replace(chain, bodies=tuple(bodies))


def _aligned(scalars: Scalars, axis: Any) -> tuple[Pose, tuple[float, float, float]]:
    """For an oblique axis: the exact rotation that makes it z, and z. A principal axis stays as it is."""
    if sorted(abs(v) for v in axis) == [0.0, 0.0, 1.0]:
        return IDENTITY, axis
    return Pose.of(scalars.rotation(align_z(axis))), (0.0, 0.0, 1.0)

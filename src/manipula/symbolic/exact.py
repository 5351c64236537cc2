r"""A robot whose numbers are exact: every field becomes a polynomial in parameters, twist angles and joint variables.

The prepared mechanism of ``physics.mechanism`` is built over these scalars, so the recursions of ``physics`` derive the symbolic
equations. Right angles are integers; angles that a file states with ten digits or so are taken for the right angles they mean, and
``Scalars.snapped`` says where and by how much. A symbolic twist is a pair of variables (cosine, sine). A numeric oblique twist is a
rational point of the circle, any other rotation a rational quaternion, within 2e-16, so that :math:`R R^T = 1` holds
exactly and what must cancel does.
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
from manipula.algebra.pose import Pose
from manipula.algebra.rotation import to_quaternion_wxyz
from manipula.algebra.symbols import is_symbolic
from manipula.algebra.trigpoly import MAX_POWER, Ring, TrigPoly
from manipula.errors import DescriptionError
from manipula.physics.joint_transform import shifted
from manipula.physics.lift import Lift
from manipula.physics.mechanism import Mechanism, prepare
from manipula.robot.link import Link, Payload
from manipula.robot.robot import Robot

RIGHT_ANGLE = 1e-9  # files state π/2 with ten digits or so; nearer than this to a right angle is one
ROUNDING = 1e-15  # a right angle up to the rounding of its sine and cosine
INERTIA_AXES = ("xx", "xy", "xz", "yy", "yz", "zz")


class Scalars:
    """The ring of one derivation, and the way from SymPy expressions and floats into it and back."""

    def __init__(self, ring: Ring, right_angle: float = RIGHT_ANGLE) -> None:
        self.ring, self.right_angle = ring, right_angle
        self.snapped: dict[str, float] = {}  # place → angle [rad] by which a rotation was turned to become exact

    def __call__(self, x: Any) -> Any:
        """A polynomial; plain 0 and ±1 stay floats, they are free in every product."""
        if isinstance(x, (int, float, Fraction, np.floating, np.integer)):
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
            argument: Any = e.args[0]
            sign = -1 if argument.could_extract_minus_sign() else 1
            angle = self.ring.angle(sign * argument)
            return angle.cos() if isinstance(e, sympy.cos) else sign * angle.sin()
        return self.ring.variable(e)  # a function of parameters that the derivation need not look into

    def rotation(self, R: np.ndarray, place: str = "") -> np.ndarray:
        """Polynomials for a symbolic rotation; a numeric one as it is, with right angles made exact."""
        if any(is_symbolic(v) for v in R.flat):
            return array([[self(v) for v in row] for row in R])
        near = np.round(R.astype(float))
        off = near - R.astype(float)
        if np.max(np.abs(off)) >= self.right_angle:
            return R
        if np.max(np.abs(off)) > ROUNDING:
            self.snapped[place] = float(np.linalg.norm(off)) / math.sqrt(2.0)
        return near

    def exact_rotation(self, R: np.ndarray) -> np.ndarray:
        """An exactly orthogonal matrix for a numeric one; polynomials stay."""
        if R.dtype == object or np.array_equal(R, np.round(R)):
            return R
        if R[0, 2] == 0.0:  # Rx(α) Rz(φ), as most are prepared: zeros stay zeros
            s, c = rational_sine_cosine(math.atan2(-R[1, 2], R[2, 2]))
            S, C = rational_sine_cosine(math.atan2(-R[0, 1], R[0, 0]))
            exact = [[C, -S, 0], [c * S, c * C, -s], [s * S, s * C, c]]
        else:
            exact = rational_rotation(R)
        return array([[self(v) for v in row] for row in exact])

    def pose(self, X: Pose, place: str = "") -> Pose:
        return Pose.of(self.rotation(X.R, place), [self(v) for v in X.p])

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


def rational_sine_cosine(angle: float) -> tuple[Any, Any]:
    r"""Fractions with :math:`s^2 + c^2 = 1` within 2e-16 of the sine and cosine of ``angle``.

    With t near tan(r/2), r the rest beyond whole right angles: :math:`c = (1-t^2)/(1+t^2),\ s = 2t/(1+t^2)`.
    """
    quarters = round(angle / (math.pi / 2))
    t = _nearby(math.tan((angle - quarters * math.pi / 2) / 2))
    s, c = 2 * t / (1 + t * t), (1 - t * t) / (1 + t * t)
    return ((s, c), (c, -s), (-s, -c), (-c, s))[quarters % 4]


def rational_rotation(R: np.ndarray) -> list[list[Fraction]]:
    r"""Fractions that form an exactly orthogonal matrix within 1e-15 of R, from a quaternion whose largest entry is 1.

    .. math:: R = 1 + \frac{2}{w^2+|v|^2}\left(w\,\hat v + \hat v\hat v\right)
    """
    numbers = to_quaternion_wxyz(R)
    largest = numbers[np.argmax(np.abs(numbers))]
    w, x, y, z = (_nearby(float(v / largest)) for v in numbers)
    k = 2 / (w * w + x * x + y * y + z * z)
    return [
        [1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y)],
        [k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x)],
        [k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y)],
    ]


def _nearby(x: float) -> Fraction:
    """A fraction of few digits within 2^-52·|x|, the rounding of x; what is no more than rounding is taken for zero.

    Denominators up to N leave a gap of 1/(qN) beside p/q, so they grow for a number that stands close to a simple fraction.
    """
    if abs(x) < ROUNDING:
        return Fraction(0)
    exact, most = Fraction(x), int(2**32 / min(1.0, 2.0 * abs(x)))
    while abs((found := exact.limit_denominator(most)) - exact) > abs(exact) / 2**52:
        most *= 2**8
    return found


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


def moments_in_link_frame(robot: Robot, scalars: Scalars, i: int) -> Moments:
    """Moments of link i about the origin of its own frame, with the payload if it carries the tip."""
    own = scalars.moments(robot.links[i])
    if robot.payload is None or robot.tip_frame.link != i:
        return own
    f = next(f for f in robot.frames if f.name == robot.tip)
    tip = scalars.pose(f.pose, f"frame '{f.name}'") @ scalars.pose(robot.tool, "the tool")
    return own + scalars.moments(robot.payload).seen_from(tip.R, tip.p)


def exact_mechanism(robot: Robot, scalars: Scalars, moments_of: Callable[[int], Moments] | None = None) -> Mechanism:
    """The mechanism of ``robot`` over the ring.

    Args:
        moments_of: moments of link i about the joint-centred frame J, in the axes of J, in place of the robot's own
            (payload included).
    """
    for joint in robot.joints:
        if any(is_symbolic(v) for v in joint.axis):
            raise DescriptionError(f"The axis of joint '{joint.name}' is symbolic; only twist and offset may be.")
    bare = dataclasses.replace(
        robot,
        links=tuple(Link(l.name, frame=scalars.pose(l.frame, f"the frame of link '{l.name}'")) for l in robot.links),
        joints=tuple(
            dataclasses.replace(
                j, placement=scalars.pose(j.placement, f"joint '{j.name}'"), rotor_inertia=0.0, gear_ratio=1.0
            ) for j in robot.joints
        ),
        frames=tuple(dataclasses.replace(f, pose=scalars.pose(f.pose, f"frame '{f.name}'")) for f in robot.frames),
        base=scalars.pose(robot.base, "the base"), tool=scalars.pose(robot.tool, "the tool"), payload=None,
        gravity=tuple(scalars(v) for v in robot.gravity),
    )  # fmt: skip
    mechanism = prepare(bare)

    def polynomials(v: np.ndarray) -> np.ndarray:
        return array([x if isinstance(x, TrigPoly) else scalars(x) for x in v])

    bodies = []
    for i, (body, joint) in enumerate(zip(mechanism.bodies, robot.joints)):
        if moments_of is not None:
            moments = _carried(moments_of(i), scalars.exact_rotation(body.X_EJ.R), body.X_EJ.p)
        else:
            own = moments_in_link_frame(robot, scalars, i)
            moments = _carried(own, scalars.exact_rotation(body.X_EL.R), polynomials(body.X_EL.p))
        armature = scalars(joint.gear_ratio) * scalars(joint.gear_ratio) * scalars(joint.rotor_inertia)
        R0, p0 = scalars.exact_rotation(body.R0), polynomials(body.p0)
        lift = None
        if (balance := robot.links[i].balance) is not None:
            mass, at = scalars(balance.mass), [scalars(v) for v in balance.com]
            lift = Lift(mass, array([mass * x for x in at]))
            lift = lift.seen_from(scalars.exact_rotation(body.X_EL.R), polynomials(body.X_EL.p))
        bodies.append(dataclasses.replace(body, R0=R0, p0=p0, moments=moments, armature=armature, lift=lift))
    return dataclasses.replace(mechanism, bodies=tuple(bodies))


def _carried(m: Moments, R: np.ndarray, p: np.ndarray) -> Moments:
    """``m.seen_from(R, p)`` without the products that an identity or a zero would make."""
    if not np.array_equal(R, np.eye(3)):
        m = Moments(m.mass, R @ m.first, R @ m.second @ R.T)
    return m if p.dtype != object and not p.any() else shifted(m, p)

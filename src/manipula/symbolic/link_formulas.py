r"""What belongs to one link: its pose, velocity, centre of mass, pseudo-inertia and energies, as formulas.

.. math::
    T_i = \begin{bmatrix} A_i & p_i \\ 0 & 1 \end{bmatrix},\quad \tilde\omega_i = A_i^T\dot A_i,\quad
    U_{ij} = \frac{\partial T_i}{\partial q_j},\quad M_{jk} = \sum_i \mathrm{tr}\left(U_{ij} P_i U_{ik}^T\right)

A link is counted from 0 here, in the order of ``robot.bodies``, and with the payload that it carries.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from manipula.algebra.inertia import Moments, pseudo_inertia
from manipula.algebra.linear import array
from manipula.algebra.pose import Pose
from manipula.physics import composite, energy, kinematics
from manipula.physics.mechanism import Mechanism
from manipula.robot.link import Frame
from manipula.symbolic.derive import Terms
from manipula.symbolic.exact import inertia_symbols, moments_in_link_frame
from manipula.symbolic.expression_tree import ZERO, Node
from manipula.symbolic.motion_formulas import MotionFormulas

_CENTRE = "centre of mass"
_NOTHING = Moments(0.0, np.zeros(3), np.zeros((3, 3)))


class LinkFormulas(MotionFormulas):
    """Formulas of links; ``symbolic`` says that their moments are ten symbols about the joint-centred frame."""

    symbolic = False

    def _body(self, link: int) -> int:
        """The number of a link among the bodies of the mechanism, where every joint is on its own."""
        coupling = self.derivation.coupling
        return link if coupling is None else coupling.body[link]

    def pose_slope(self, frame: str, joint: int) -> list[list[Node]]:
        r""":math:`U = \partial T/\partial q_j`, 4×4."""
        sums, d = self.derivation.angle_sums, self.derivation
        T = np.asarray(kinematics.pose(sums.mechanism, sums.q, frame), dtype=object)
        slopes = [[d.derivatives(d.poly(x)).get(joint) for x in row] for row in T]
        return [[ZERO if x is None else self.one(x) for x in row] for row in slopes]

    # Centre of mass -----------------------------------------------------------------------------------------------

    def _centre(self, link: int) -> np.ndarray:
        """The centre of mass in the link frame L; of symbolic moments in the joint-centred frame J."""
        d, k = self.derivation, self._body(link)
        if self.symbolic:
            m, *first = inertia_symbols(link)[:4]
            return array([d.scalars(h / m) for h in first])
        own = d.free.links[k]
        if d.free.payload is None or d.free.tip_frame.link != k:
            return array([d.scalars(c) for c in own.com])
        m = moments_in_link_frame(d.free, d.scalars, k)
        mass = d.poly(m.mass)
        if not mass.terms:
            return array([d.scalars(c) for c in own.com])
        if set(mass.terms) == {0}:  # a number
            return array([d.poly(h) / mass.terms[0] for h in m.first])
        inverse = d.ring.variable(1 / (own.mass + d.free.payload.mass))
        return array([d.poly(h) * inverse for h in m.first])

    def _with_centre(self, link: int) -> Mechanism:
        mechanism, k = self.derivation.angle_sums.mechanism, self._body(link)
        b = mechanism.bodies[k]
        X = b.X_EJ if self.symbolic else b.X_EL
        frame = Frame(_CENTRE, k, X @ Pose.of(None, self._centre(link)))
        return dataclasses.replace(mechanism, frames={_CENTRE: frame})

    def centre(self, link: int) -> list[Node]:
        r""":math:`r_C = p + A c`, in the outer frame."""
        p = kinematics.position(self._with_centre(link), self.derivation.angle_sums.q, _CENTRE)
        return [self.one(x) for x in p]

    def centre_velocity(self, link: int, expressed_in: kinematics.ExpressedIn) -> list[Node]:
        r""":math:`v_C = \dot r_C = J_C\,\dot q`."""
        J = kinematics.jacobian(self._with_centre(link), self.derivation.angle_sums.q, _CENTRE, expressed_in)
        return self.times_rates(self.derivation.reduced(J, 1)[:3])

    # Inertia and energies -----------------------------------------------------------------------------------------

    def pseudo_inertia(self, link: int) -> list[list[Node]]:
        r""":math:`P = \int [r;1][r;1]^T dm` in the link frame, 4×4."""
        d, k = self.derivation, self._body(link)
        if self.symbolic:
            m = d.mechanism.bodies[k].moments
            X = d.mechanism.bodies[k].X_EL
            R = d.scalars.exact_rotation(X.R)
            moments = m.seen_from(R.T, -(R.T @ X.p))
        else:
            moments = moments_in_link_frame(d.free, d.scalars, k)
        return [[self.one(x) for x in row] for row in pseudo_inertia(moments)]

    def _alone(self, link: int) -> Mechanism:
        """The mechanism in which no other link has mass, and no other rotor inertia."""
        mechanism, k = self.derivation.angle_sums.mechanism, self._body(link)
        bodies = [
            b if i == k else dataclasses.replace(b, moments=_NOTHING, armature=0.0, lift=None)
            for i, b in enumerate(mechanism.bodies)
        ]
        return dataclasses.replace(mechanism, bodies=tuple(bodies))

    def kinetic_energy_of(self, link: int) -> Node:
        r""":math:`\tfrac12 m v_C^2 + \tfrac12\,\omega^T I_C\,\omega` and the rotor of the link's joint."""
        d, terms = self.derivation, Terms()
        d.budget.check(d.free, d.angle_sums)
        M = d.reduced(composite.mass_matrix(self._alone(link), d.angle_sums.q), 0, 1)
        for i in range(self.n):
            for j in range(i, self.n):
                self._add(terms, d.poly(M[i, j]), (("qd", i), ("qd", j)), 1 if i != j else 2)
        return self._formula(terms)

    def potential_energy_of(self, link: int) -> Node:
        r""":math:`-m\,g\cdot r_C`."""
        return self.one(energy.potential_energy(self._alone(link), self.derivation.angle_sums.q))

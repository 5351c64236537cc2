r"""The parts of the equations of motion as formulas: M, C, h, g, tau, energies, kinematics.

.. math:: \tau = M(q)\,\ddot q + h(q,\dot q) + g(q),\qquad h = C(q,\dot q)\,\dot q
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from manipula.lazy import cached_property
from manipula.physics import kinematics
from manipula.symbolic.collect import Collector, Motion
from manipula.symbolic.derive import Derivation, Terms
from manipula.symbolic.expression_tree import ZERO, Atom, Node, add, monomial, product

Progress = Callable[[str, int, int], None]  # what is being done, entries finished, entries in all
ORDER = ("M", "h", "g", "C", "kinetic_energy", "potential_energy", "gravity_stiffness", "stiffness", "christoffel")


class MotionFormulas:
    """Formulas of one robot at one level, each part made on first use.

    Args:
        fold: sums of angles and common factors; without it every term is written out in single sines and cosines.
        composed: tau is put together from the formulas of M, h and g, so that it brings no constants of its own.
        numbered: formulas introduce constants p1, p2 … when they are made, so they are made in the same ``ORDER`` whatever is asked for
            first: a constant has one name.
    """

    def __init__(
        self,
        derivation: Derivation,
        collector: Collector,
        fold: bool,
        progress: Progress | None = None,
        composed: bool = False,
        numbered: bool = False,
    ) -> None:
        self.derivation, self._collector, self._fold, self._composed = derivation, collector, fold, composed
        self._numbered = numbered
        self._progress = progress or (lambda what, done, of: None)

    def _after_earlier(self, part: str) -> None:
        if self._numbered:
            for earlier in ORDER[: ORDER.index(part)]:
                getattr(self, earlier)

    @property
    def n(self) -> int:
        return self.derivation.n

    def _formula(self, terms: Terms) -> Node:
        if self._fold:
            return self._collector.collect(terms)
        expand = self.derivation.expand
        rows = sorted(terms.items(), key=lambda item: (item[0][1], item[0][0], item[0][2]))
        nodes = []
        for (motion, place, parameters), number in rows:
            rates: dict[Any, int] = {}
            for key in motion:
                rates[key] = rates.get(key, 0) + 1
            nodes.append(monomial(number, expand(parameters) + place + tuple(rates.items())))
        return add(nodes)

    def one(self, polynomial: Any) -> Node:
        """The formula of one polynomial."""
        return self._formula(self.derivation.terms(self.derivation.poly(polynomial), fold=self._fold))

    def _add(self, into: Terms, polynomial: Any, motion: Motion, divisor: int = 1) -> None:
        self.derivation.terms(polynomial, motion, divisor, self._fold, into)

    @cached_property
    def M(self) -> list[list[Node]]:
        d, n = self.derivation, self.n
        out: list[list[Node]] = [[ZERO] * n for _ in range(n)]
        done = 0
        for i in range(n):
            for j in range(i, n):
                out[i][j] = out[j][i] = self.one(d.M[i, j])
                done += 1
                self._progress("mass matrix", done, n * (n + 1) // 2)
        return out

    @cached_property
    def C(self) -> list[list[Node]]:
        self._after_earlier("C")
        d, n = self.derivation, self.n
        out = []
        for i in range(n):
            row = []
            for j in range(n):
                terms: Terms = {}
                for k in range(n):
                    twice = d.christoffel.get((i, min(j, k), max(j, k)))
                    if twice is not None:
                        self._add(terms, twice, (("qd", k),), 2)
                row.append(self._formula(terms))
                self._progress("Coriolis matrix", i * n + j + 1, n * n)
            out.append(row)
        return out

    def _velocity_terms(self, i: int, into: Terms) -> None:
        for (row, j, k), twice in self.derivation.christoffel.items():
            if row == i:
                self._add(into, twice, (("qd", j), ("qd", k)), 1 if j != k else 2)

    @cached_property
    def h(self) -> list[Node]:
        self._after_earlier("h")
        out = []
        for i in range(self.n):
            terms: Terms = {}
            self._velocity_terms(i, terms)
            out.append(self._formula(terms))
            self._progress("velocity terms", i + 1, self.n)
        return out

    @cached_property
    def g(self) -> list[Node]:
        self._after_earlier("g")
        return [self.one(x) for x in self.derivation.g]

    @cached_property
    def tau(self) -> list[Node]:
        d = self.derivation
        out = []
        for i in range(self.n):
            if self._composed:
                inertial = [product(1, self.M[i][j], Atom(("qdd", j))) for j in range(self.n)]
                out.append(add([*inertial, self.h[i], self.g[i]]))
                continue
            terms: Terms = {}
            for j in range(self.n):
                self._add(terms, d.M[i, j], (("qdd", j),))
            self._velocity_terms(i, terms)
            self._add(terms, d.g[i], ())
            out.append(self._formula(terms))
            self._progress("torques", i + 1, self.n)
        return out

    @cached_property
    def christoffel(self) -> dict[tuple[int, int, int], Node]:
        r""":math:`h_{kij} = \tfrac12(\partial_j M_{ki} + \partial_i M_{kj} - \partial_k M_{ij})` for i ≤ j, where it is not zero."""
        self._after_earlier("christoffel")
        return {
            place: self._formula(self.derivation.terms(twice, divisor=2, fold=self._fold))
            for place, twice in self.derivation.christoffel.items()
        }

    @cached_property
    def kinetic_energy(self) -> Node:
        self._after_earlier("kinetic_energy")
        d, terms = self.derivation, {}
        for i in range(self.n):
            for j in range(i, self.n):
                self._add(terms, d.M[i, j], (("qd", i), ("qd", j)), 1 if i != j else 2)
        return self._formula(terms)

    @cached_property
    def potential_energy(self) -> Node:
        self._after_earlier("potential_energy")
        return self.one(self.derivation.V)

    @cached_property
    def stiffness(self) -> list[list[Node]]:
        r""":math:`K_{ij} = \partial\tau_i/\partial q_j` at any q, qd, qdd."""
        self._after_earlier("stiffness")
        d, n = self.derivation, self.n
        terms: list[list[Terms]] = [[{} for _ in range(n)] for _ in range(n)]

        def spread(i: int, polynomial: Any, motion: Motion, divisor: int) -> None:
            for k, slope in d.derivatives(polynomial).items():
                self._add(terms[i][k], slope, motion, divisor)

        for i in range(n):
            spread(i, d.g[i], (), 1)
            for j in range(n):
                spread(i, d.M[i, j], (("qdd", j),), 1)
        for (i, j, k), twice in d.christoffel.items():
            spread(i, twice, (("qd", j), ("qd", k)), 1 if j != k else 2)
        return [[self._formula(t) for t in row] for row in terms]

    @cached_property
    def gravity_stiffness(self) -> list[list[Node]]:
        r""":math:`\partial g_i/\partial q_j`, the stiffness at rest."""
        self._after_earlier("gravity_stiffness")
        d = self.derivation
        slopes = [d.derivatives(x) for x in d.g]
        return [[self.one(s[j]) if j in s else ZERO for j in range(self.n)] for s in slopes]

    def pose(self, frame: str) -> list[list[Node]]:
        """4×4 pose of a frame in the outer frame."""
        T = kinematics.pose(self.derivation.angle_sums.mechanism, self.derivation.angle_sums.q, frame)
        return [[self.one(x) for x in row] for row in np.asarray(T, dtype=object)]

    def jacobian(self, frame: str, expressed_in: kinematics.ExpressedIn) -> list[list[Node]]:
        """6×n geometric Jacobian, linear part first."""
        J = self._jacobian(frame, expressed_in)
        return [[self.one(x) for x in row] for row in np.asarray(J, dtype=object)]

    def _jacobian(self, frame: str, expressed_in: kinematics.ExpressedIn) -> np.ndarray:
        sums = self.derivation.angle_sums
        return self.derivation.reduced(kinematics.jacobian(sums.mechanism, sums.q, frame, expressed_in), 1)

    def twist(self, frame: str, expressed_in: kinematics.ExpressedIn) -> list[Node]:
        """Velocity and angular velocity, J·qd, six formulas."""
        return self.times_rates(self._jacobian(frame, expressed_in))

    def times_rates(self, J: np.ndarray) -> list[Node]:
        """J·qd, one formula per row."""
        out = []
        for row in np.asarray(J, dtype=object):
            terms: Terms = {}
            for j, x in enumerate(row):
                self._add(terms, self.derivation.poly(x), (("qd", j),))
            out.append(self._formula(terms))
        return out

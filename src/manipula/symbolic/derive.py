r"""The derivation: physics run on trigonometric polynomials, part by part, each only when it is asked for.

``physics.composite`` gives M, ``physics.newton_euler`` gives g, ``physics.kinematics`` poses and Jacobians, all over the ring of one
robot. Christoffel symbols are derivatives of polynomials:

.. math:: c_{ijk} = \tfrac12\left(\partial_k M_{ij} + \partial_j M_{ik} - \partial_i M_{jk}\right),\qquad
          C_{ij} = \sum_k c_{ijk}\,\dot q_k,\qquad h = C\dot q
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.symbols import is_symbolic
from manipula.algebra.trig_fold import TrigFolder
from manipula.algebra.trigpoly import Ring, TrigPoly, exact, whole
from manipula.errors import DescriptionError
from manipula.lazy import cached_property
from manipula.physics import composite, energy, newton_euler
from manipula.physics.coupling import Coupling
from manipula.robot.robot import Robot
from manipula.symbolic.angle_sums import AngleSums, Sum, with_angle_sums
from manipula.symbolic.budget import TermBudget
from manipula.symbolic.collect import Motion, Term
from manipula.symbolic.exact import RIGHT_ANGLE, Scalars, exact_mechanism
from manipula.symbolic.expression_tree import Monomial, Number

Terms = dict[Term, Number]


class Derivation:
    """Polynomials of one robot. Parts are computed on first use and kept.

    Args:
        moments_of: moments of link i about the joint-centred frame J, in place of the robot's own.
        bodies_of: moments and rotor inertia of link i in the aligned frame E of the prepared mechanism, in place of both.
        sums: angles of parallel joints are added up (see :mod:`manipula.symbolic.angle_sums`).
        right_angle: rotations nearer than this [rad] to whole right angles are taken as such.
    """

    def __init__(
        self,
        robot: Robot,
        budget: TermBudget,
        moments_of: Callable[[Ring, int], Moments] | None = None,
        bodies_of: Callable[[Ring, int], tuple[Moments, Any]] | None = None,
        sums: bool = True,
        right_angle: float = RIGHT_ANGLE,
    ) -> None:
        self.robot, self.budget = robot, budget
        self.ring = Ring(limit=4 * budget.terms)
        self.scalars = Scalars(self.ring, right_angle)
        self.free, self.coupling = _free(robot)
        self.numbers = _numbers(len(robot.bodies), self.coupling)
        chosen = None if moments_of is None else (lambda i: moments_of(self.ring, self.numbers[i]))
        self.mechanism = exact_mechanism(self.free, self.scalars, chosen)
        if bodies_of is not None:
            bodies = []
            for i, body in enumerate(self.mechanism.bodies):
                moments, armature = bodies_of(self.ring, self.numbers[i])
                bodies.append(dataclasses.replace(body, moments=moments, armature=armature))
            self.mechanism = dataclasses.replace(self.mechanism, bodies=tuple(bodies))
        self.angle_sums: AngleSums = with_angle_sums(self.mechanism, self.ring, sums, self.coupling)
        self.folder = TrigFolder(self.ring, self.angle_sums.angles, self.angle_sums.groups, self.angle_sums.ones)
        self._expanded: dict[int, Monomial] = {}
        self._spreads: dict[tuple[int, bool], tuple[TrigPoly, list[tuple[Monomial, int, Number]]]] = {}

    @property
    def n(self) -> int:
        return self.robot.n

    def reduced(self, a: np.ndarray, *axes: int) -> np.ndarray:
        """Gᵀ along axes that count bodies, where joints are coupled (``physics/coupling.py``)."""
        if self.coupling is not None:
            for axis in axes:
                a = self.coupling.contract(a, axis)
        return a

    def poly(self, x: Any) -> TrigPoly:
        return x if isinstance(x, TrigPoly) else self.ring.constant(x)

    @cached_property
    def M(self) -> np.ndarray:
        """Mass matrix, n×n polynomials."""
        self.budget.check(self.free, self.angle_sums)
        M = self.reduced(composite.mass_matrix(self.angle_sums.mechanism, self.angle_sums.q), 0, 1)
        out = np.empty((self.n, self.n), dtype=object)
        for i in range(self.n):
            for j in range(i, self.n):
                out[i, j] = out[j, i] = self.poly(M[i, j])
        return out

    @cached_property
    def g(self) -> list[TrigPoly]:
        """Gravity torques."""
        g = newton_euler.gravity(self.angle_sums.mechanism, self.angle_sums.q)
        return [self.poly(x) for x in self.reduced(g, 0)]

    @cached_property
    def V(self) -> TrigPoly:
        """Potential energy."""
        return self.poly(energy.potential_energy(self.angle_sums.mechanism, self.angle_sums.q))

    def derivatives(self, p: TrigPoly) -> dict[int, TrigPoly]:
        """Non-zero partial derivatives by joint variables; the angle variables are sums of joint variables."""
        out: dict[int, TrigPoly] = {}
        for angle in self.angle_sums.angles:
            slope = p.derivative(angle)
            if slope.terms:
                for joint, multiple in angle:
                    if joint >= self.n:
                        continue  # a constant part of the angle
                    known = out.get(joint)
                    out[joint] = multiple * slope if known is None else known + multiple * slope
        for _, key in self._prismatic:
            slope = p.derivative(key)
            out[key[1]] = slope if key[1] not in out else out[key[1]] + slope
        return {k: slope for k, slope in out.items() if slope.terms}

    @cached_property
    def _slopes(self) -> dict[tuple[int, int, int], TrigPoly]:
        """Non-zero ``∂M_ij/∂q_k`` for i ≤ j; M_ij does not contain q_1 … q_i."""
        out = {}
        for i in range(self.n):
            for j in range(i, self.n):
                for k, slope in self.derivatives(self.M[i, j]).items():
                    out[i, j, k] = slope
        return out

    def _slope(self, i: int, j: int, k: int) -> TrigPoly:
        return self._slopes.get((i, j, k) if i <= j else (j, i, k), self.ring.constant(0))

    @cached_property
    def christoffel(self) -> dict[tuple[int, int, int], TrigPoly]:
        """Twice the Christoffel symbols, ``2 c_ijk`` for j ≤ k, where they are not zero."""
        out = {}
        for i in range(self.n):
            for j in range(self.n):
                for k in range(j, self.n):
                    twice = self._slope(i, j, k) + self._slope(i, k, j) - self._slope(j, k, i)
                    if twice.terms:
                        out[i, j, k] = twice
        return out

    # From polynomials to terms that the collector reads ---------------------------------------------------------

    def terms(
        self, p: TrigPoly, motion: Motion = (), divisor: int = 1, fold: bool = True, into: Terms | None = None
    ) -> Terms:
        """Folded terms of ``p · motion / divisor``, added to ``into``."""
        out: Terms = {} if into is None else into
        for place, parameters, v in self._spread(p, fold):
            key = (motion, place, parameters)
            if divisor != 1:
                v = v // divisor if type(v) is int and v % divisor == 0 else Fraction(v) / divisor
            total = out.get(key, 0) + v
            if total:
                out[key] = whole(total)
            else:
                out.pop(key, None)
        return out

    def _spread(self, p: TrigPoly, fold: bool) -> list[tuple[Monomial, int, Number]]:
        """Folded terms as configuration, parameters, number; a Christoffel symbol is asked for twice."""
        found = self._spreads.get((id(p), fold))
        if found is None:
            out = []
            for outside, trig in p.split(self.folder.mask).items():
                parameters, plain = self._plain(outside)
                pairs = self.folder.fold(trig) if fold else [(v, self._unfolded(k)) for k, v in trig.items()]
                for v, factors in pairs:
                    place = plain + tuple(((kind, angle), k) for kind, angle, k in sorted(factors, key=_by_angle))
                    out.append((place, parameters, v))
            found = self._spreads[id(p), fold] = (p, out)  # the polynomial is kept so that its identity stays its own
        return found[1]

    def _unfolded(self, monomial: int) -> tuple[Any, ...]:
        factors = []
        for index, k in self.ring.exponents(monomial):
            kind, angle = self.ring.keys[index]  # pyright: ignore[reportGeneralTypeIssues]
            factors.append((kind[0], angle, k))
        return tuple(factors)

    def _plain(self, monomial: int) -> tuple[int, Monomial]:
        """Parameters alone (packed), and the prismatic joint variables."""
        place: list[tuple[Any, int]] = []
        for index, key in self._prismatic:
            k = monomial >> 6 * index & 63
            if k:
                place.append((key, k))
                monomial -= k << 6 * index
        return monomial, tuple(place)

    @cached_property
    def _prismatic(self) -> list[tuple[int, tuple[str, int]]]:
        keys = [("q", i) for i in range(self.n)]
        return [(self.ring.index(key), key) for key in keys if self.ring.index(key) >= 0]

    def expand(self, monomial: int) -> Monomial:
        """The factors of a packed monomial of parameters."""
        found = self._expanded.get(monomial)
        if found is None:
            found = self._expanded[monomial] = tuple((self.ring.keys[i], k) for i, k in self.ring.exponents(monomial))
        return found


def _free(robot: Robot) -> tuple[Robot, Coupling | None]:
    """The robot with every joint on its own, and the couplings in exact numbers.

    Raises:
        DescriptionError: a ratio that is a free parameter: angles are whole or fractional multiples of joint variables.
    """
    if not robot.followers:
        return robot, None
    for f in robot.followers:
        if is_symbolic(f.ratio):
            raise DescriptionError(
                f"The ratio of joint '{f.name}' is the parameter {f.ratio}; equations need a number there: robot.with_parameters(…)."
            )
    free, n, coordinate, ratio, body = robot.uncoupled
    return free, Coupling(n, coordinate, tuple(exact(r) for r in ratio), body)


def _numbers(count: int, coupling: Coupling | None) -> list[int]:
    """For every body of the free robot its number among those of the robot itself, by which its constants are named."""
    if coupling is None:
        return list(range(count))
    return [coupling.body.index(i) for i in range(count)]


def _by_angle(factor: tuple[str, Sum, int]) -> Any:
    return factor[1], factor[0]

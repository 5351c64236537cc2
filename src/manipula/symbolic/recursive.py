r"""Torques as a sequence of assignments: the Newton–Euler recursion with names for what is used again.

For seven joints and more the closed form of tau fills pages, the recursion does not: its length grows linearly. Laws and frames are those
of ``physics.newton_euler``; here the loop stops after each body to name its angular velocity ``w``, angular acceleration ``dw``,
acceleration of the origin ``a`` (gravity subtracted), ``U`` = dw× + w×w×, force ``f`` and moment ``n``. Link constants are the
regrouped ones of ``physics.mechanism.regrouped``, so that a third of them vanishes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array, cross
from manipula.algebra.trigpoly import TrigPoly, exact
from manipula.physics.joint_transform import joint_transforms
from manipula.physics.lift import Lift, add_lifts
from manipula.physics.mechanism import Mechanism, regrouped
from manipula.physics.newton_euler import Motion, body_wrench, spin_matrix
from manipula.symbolic.collect import Collector
from manipula.symbolic.derive import Derivation
from manipula.symbolic.expression_tree import ZERO, Atom, Node, Product, Sum, add, atoms, power, product
from manipula.symbolic.names import SymbolNames, natural

_XYZ = "xyz"


class Step:
    """A scalar that writes down what is computed with it."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = _node(other)
        return self if other == ZERO else Step(add((self.node, other)))

    def __radd__(self, other: Any) -> Any:
        return self if _node(other) == ZERO else Step(add((_node(other), self.node)))

    def __neg__(self) -> Step:
        if isinstance(self.node, Sum):
            return Step(Sum(tuple(product(-1, t) for t in self.node.terms)))
        return Step(product(-1, self.node))

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other if _node(other) == ZERO else Step(add((_node(other), (-self).node)))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Step) and isinstance(self.node, Atom) and self.node == other.node:
            return Step(power(self.node, 2))
        node = product(1, _node(other), self.node) if not isinstance(other, Step) else product(1, self.node, other.node)
        return 0.0 if node == ZERO else Step(node)

    __rmul__ = __mul__


class _Turning:
    """The variable of a revolute joint."""

    def __init__(self, angle: Any) -> None:
        self._angle = angle

    def sin(self) -> Step:
        return Step(Atom(("s", self._angle)))

    def cos(self) -> Step:
        return Step(Atom(("c", self._angle)))


def _node(x: Any) -> Node:
    return x.node if isinstance(x, Step) else Product(exact(x))


class Recursion:
    """Attributes:

    assignments: (name, formula) in order; a formula uses names before it.
    tau: n formulas in these names.
    """

    def __init__(self, derivation: Derivation, names: SymbolNames) -> None:
        self._taken = {*derivation.robot.parameters, *(str(key) for key in derivation.ring.keys)}
        self._all: list[tuple[str, Node]] = []
        self._phase = {i: ((index, 1),) for i, index in derivation.angle_sums.constant.items()}
        mechanism = self._constants(derivation, names)
        tau = derivation.reduced(np.array(self._recur(mechanism, derivation), dtype=object), 0)
        self.tau: list[Node] = [_node(x) for x in tau]
        self.assignments = _needed(self._all, self.tau)

    def _name(self, name: str, x: Any) -> Any:
        """The value under a name, unless it is a number or a lone symbol already."""
        if not isinstance(x, Step) or isinstance(x.node, Atom):
            return x
        node = x.node
        if isinstance(node, Product) and (not node.factors or (node.factors[0][1] == 1 and len(node.factors) == 1)):
            return x
        while name in self._taken:
            name += "_"
        self._all.append((name, node))
        return Step(Atom(("name", name)))

    def _vector(self, name: str, v: Any) -> np.ndarray:
        return array([self._name(f"{name}{a}", x) for a, x in zip(_XYZ, v)])

    def _constants(self, derivation: Derivation, names: SymbolNames) -> Mechanism:
        """The regrouped mechanism with formulas in place of polynomials, composite constants named."""
        collector = Collector(derivation.expand, lambda key: natural(names.text(key)))

        def step(x: Any) -> Any:
            if not isinstance(x, TrigPoly):
                return x
            node = collector.collect(derivation.terms(x))
            return 0.0 if node == ZERO else Step(node)

        every = np.vectorize(step, otypes=[object])
        bodies = []
        for i, b in enumerate(regrouped(derivation.mechanism).bodies):
            k = derivation.numbers[i] + 1
            second = every(b.moments.second)
            for r in range(3):
                for c in range(r, 3):
                    second[r, c] = second[c, r] = self._name(f"{_XYZ[r]}{_XYZ[c]}".upper() + str(k), second[r, c])
            first = array([self._name(f"M{a.upper()}{k}", x) for a, x in zip(_XYZ, every(b.moments.first))])
            moments = Moments(self._name(f"M{k}", step(b.moments.mass)), first, array(second))
            p0 = every(b.p0) if np.asarray(b.p0).dtype == object else b.p0
            R0 = every(b.R0) if b.R0.dtype == object else b.R0
            armature = self._name(f"IA{k}", step(b.armature))
            phase = 0.0 if i in self._phase else b.phase
            lift = None if b.lift is None else Lift(step(b.lift.mass), array(every(b.lift.first)))
            bodies.append(
                dataclasses.replace(
                    b, phase=phase, moments=moments, armature=armature, R0=array(R0), p0=array(p0), lift=lift
                )
            )
        return dataclasses.replace(
            derivation.mechanism, bodies=tuple(bodies), gravity=array(every(derivation.mechanism.gravity))
        )

    def _recur(self, mechanism: Mechanism, derivation: Derivation) -> list[Any]:
        n, coupling = mechanism.n, derivation.coupling
        rows = [(i, 1) for i in range(n)] if coupling is None else list(zip(coupling.coordinate, coupling.ratio))
        q, qd, qdd = ([Step(Atom((kind, c))) * r if r != 1 else Step(Atom((kind, c))) for c, r in rows]
                      for kind in ("q", "qd", "qdd"))  # fmt: skip
        q = [
            _Turning(((c, r), *self._phase.get(i, ()))) if b.revolute else q[i]
            for i, ((c, r), b) in enumerate(zip(rows, mechanism.bodies))
        ]
        at = joint_transforms(mechanism, q)
        moved: list[Motion] = []
        force: list[np.ndarray] = []
        moment: list[np.ndarray] = []
        for i, (b, turn) in enumerate(zip(mechanism.bodies, at)):
            if b.parent < 0:
                w, alpha, a = np.zeros(3), np.zeros(3), turn.down(-mechanism.gravity)
            else:
                up = moved[b.parent]
                w, alpha, a = turn.down(up.omega), turn.down(up.alpha), turn.down(up.a + up.U @ turn.p)
            if b.revolute:
                w = self._vector(f"w{i + 1}", [w[0], w[1], w[2] + qd[i]])
                alpha = array([alpha[0] + w[1] * qd[i], alpha[1] - w[0] * qd[i], alpha[2] + qdd[i]])
            else:
                w = self._vector(f"w{i + 1}", w)
                a = array([a[0] + 2.0 * w[1] * qd[i], a[1] - 2.0 * w[0] * qd[i], a[2] + qdd[i]])
            alpha, a = self._vector(f"dw{i + 1}", alpha), self._vector(f"a{i + 1}", a)
            U = spin_matrix(w, alpha)
            U = array([[self._name(f"U{i + 1}{_XYZ[r]}{_XYZ[c]}", U[r, c]) for c in range(3)] for r in range(3)])
            moved.append(Motion(w, alpha, a, U))
        for b, s in zip(mechanism.bodies, moved):
            f, m = body_wrench(b.moments, s)
            force.append(f)
            moment.append(m)
        add_lifts(mechanism, at, force, moment)
        tau: list[Any] = [0.0] * n
        for i in range(n - 1, -1, -1):
            b = mechanism.bodies[i]
            force[i], moment[i] = self._vector(f"f{i + 1}", force[i]), self._vector(f"n{i + 1}", moment[i])
            tau[i] = (moment[i][2] if b.revolute else force[i][2]) + b.armature * qdd[i]
            if b.parent >= 0:
                f = self._vector(f"fp{i + 1}", at[i].up(force[i]))
                force[b.parent] = force[b.parent] + f
                moment[b.parent] = moment[b.parent] + at[i].up(moment[i]) + cross(at[i].p, f)
        return tau


def _needed(assignments: list[tuple[str, Node]], outputs: list[Node]) -> list[tuple[str, Node]]:
    """Only what the outputs depend on, in order."""
    wanted: set[str] = set()
    for node in outputs:
        wanted |= used_names(node)
    kept = []
    for name, node in reversed(assignments):
        if name in wanted:
            kept.append((name, node))
            wanted |= used_names(node)
    return kept[::-1]


def used_names(node: Node) -> set[str]:
    """Names of assigned symbols in a formula."""
    return {key[1] for key in atoms(node) if isinstance(key, tuple) and key[0] == "name"}

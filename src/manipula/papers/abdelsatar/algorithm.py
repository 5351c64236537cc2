r"""The paper's own algorithm in SymPy, as it is printed, so that its steps can be compared with the equations of this package [Abdelsatar].

.. math::
   M = \sum_i J_{vi}^T m_i J_{vi} + J_{\omega i}^T I_i J_{\omega i},\qquad B_{ij} = \sum_k\frac{\partial M_{ik}}{\partial q_j}\dot q_k,\qquad
   C = B - \tfrac12 B^T,\qquad V = C\dot q,\qquad G_i = -\sum_j m_j g^T J_{vj}^i
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from manipula.algebra.expression import parse
from manipula.formats.matlab_list import bracket_rows, split_fields

SymbolMatrix = Any  # a sympy.Matrix, whose types know neither iteration nor sums


@dataclass(frozen=True)
class PrintedLink:
    """One line of the data file."""

    a: Any
    alpha: Any
    d: Any
    theta: Any
    mass: Any
    inertia: SymbolMatrix
    com: SymbolMatrix
    q: sympy.Symbol
    qd: sympy.Symbol
    qdd: sympy.Symbol
    revolute: bool


@dataclass(frozen=True)
class LagrangeSteps:
    """What the algorithm finds on its way to τ."""

    q: SymbolMatrix
    qd: SymbolMatrix
    qdd: SymbolMatrix
    T: tuple[SymbolMatrix, ...]
    Jv: tuple[SymbolMatrix, ...]
    Jw: tuple[SymbolMatrix, ...]
    M: SymbolMatrix
    B: SymbolMatrix
    C: SymbolMatrix
    V: SymbolMatrix
    G: SymbolMatrix

    @property
    def tau(self) -> SymbolMatrix:
        """M q̈ + V + G."""
        return self.M * self.qdd + self.V + self.G

    @property
    def M_rate(self) -> SymbolMatrix:
        """Ṁ."""
        return sum((self.M.diff(q) * qd for q, qd in zip(self.q, self.qd)), sympy.zeros(*self.M.shape))


def links_of(text: str) -> tuple[list[PrintedLink], SymbolMatrix]:
    """The lines of a data file and the gravity of its first line."""
    lines = [split_fields(line) for line in text.strip().splitlines()]
    links = []
    for line in lines:
        inertia, com = (sympy.Matrix([[_entry(x) for x in row] for row in bracket_rows(line[k])]) for k in (5, 6))
        numbers, names = [_entry(line[k]) for k in range(5)], [sympy.Symbol(line[k].strip()) for k in (7, 8, 9)]
        every: list[Any] = [*numbers, inertia, com, *names, line[10].strip() == "1"]
        links.append(PrintedLink(*every))
    gravity = sympy.Matrix([_entry(row[0]) for row in bracket_rows(lines[0][11])])
    return links, gravity


def _entry(text: str) -> Any:
    """A number or a formula; multiples of π stay exact."""
    found = parse(text.strip()).to_sympy()
    return sympy.nsimplify(found, [sympy.pi]) if found.is_number else found


def lagrange(text: str, *, beyond: bool = False, about_base: bool = False) -> LagrangeSteps:
    """All steps for a data file.

    Args:
        beyond: fill the columns j > i of the Jacobians too, which the paper does not exclude. about_base: take its sentence literally and
            move the inertia to the origin of the base. Both are wrong, and are here to be shown so.
    """
    links, gravity = links_of(text)
    n = len(links)
    T = [sympy.eye(4)]
    for link in links:
        T.append(T[-1] * _transform(link))
    Jv, Jw, M = [], [], sympy.zeros(n, n)
    for i, link in enumerate(links):
        centre = (T[i + 1] * link.com)[:3, 0]
        columns = []
        for j, joint in enumerate(links):
            z, p = T[j][:3, 2], T[j][:3, 3]
            if j > i and not beyond:
                columns.append((sympy.zeros(3, 1), sympy.zeros(3, 1)))
            else:
                columns.append((z.cross(centre - p), z) if joint.revolute else (z, sympy.zeros(3, 1)))
        v, w = (sympy.Matrix.hstack(*(c[k] for c in columns)) for k in (0, 1))
        R = T[i + 1][:3, :3]
        inertia = R * link.inertia * R.T
        if about_base:
            inertia += link.mass * (centre.dot(centre) * sympy.eye(3) - centre * centre.T)
        M += link.mass * v.T * v + w.T * inertia * w
        Jv.append(v)
        Jw.append(w)
    M = M.applyfunc(sympy.expand)
    q, qd, qdd = (sympy.Matrix([getattr(link, name) for link in links]) for name in ("q", "qd", "qdd"))
    B = sympy.Matrix(n, n, lambda i, j: sum(M[i, k].diff(q[j]) * qd[k] for k in range(n)))
    C = B - B.T / 2
    G = sympy.Matrix([-sum(link.mass * gravity.dot(Jv[j][:, i]) for j, link in enumerate(links)) for i in range(n)])
    return LagrangeSteps(q, qd, qdd, tuple(T[1:]), tuple(Jv), tuple(Jw), M, B, C, C * qd, G)


def _transform(link: PrintedLink) -> SymbolMatrix:
    """The printed matrix of a DH row."""
    c, s, ca, sa = sympy.cos(link.theta), sympy.sin(link.theta), sympy.cos(link.alpha), sympy.sin(link.alpha)
    return sympy.Matrix([
        [c, -ca * s, sa * s, link.a * c], [s, ca * c, -sa * c, link.a * s], [0, sa, ca, link.d], [0, 0, 0, 1],
    ])  # fmt: skip

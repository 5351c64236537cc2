"""A stand-in for SymPyBotics, which is not on the package index: code for tau, g, C·qd, M and the regressor over SymPy.

The method is the published one. Twists and wrenches are six numbers and the recursion that of Park, Bobrow & Ploen, "A Lie group
formulation of robot dynamics" (1995), on standard DH frames. After every step SymPy prepares for common parts (``basic_optimizations``:
differences, shared factors), each operation gets a name, and what sums and products share with earlier ones is split off. M takes n
recursions, one unit acceleration each; the regressor one backward pass for each of the 10·n inertial parameters. Each of the five
products has names of its own, and at its end names that are used once are put back. There are no formulas and no matrix C at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy.simplify.cse_main import basic_optimizations, postprocess_for_cse, preprocess_for_cse

S = sympy.Symbol
Row = tuple[Any, Any, Any]  # a, alpha, d of a revolute joint
KINDS = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m")


class Names:
    """Operations that have a name, and what sums and products were made of."""

    def __init__(self) -> None:
        self.of: dict[Any, sympy.Symbol] = {}
        self.parts: dict[Any, list[set[Any]]] = {sympy.Add: [], sympy.Mul: []}

    def symbol(self, x: Any) -> Any:
        return self.of.setdefault(x, S(f"t{len(self.of) + 1}"))

    def scalar(self, x: Any) -> Any:
        if x.is_Atom:
            return x
        x = x.func(*[self.scalar(a) for a in x.args])
        if x.is_Atom or x in self.of:
            return self.of.get(x, x)
        if x.func in self.parts:
            kind, mine = x.func, set(x.args)
            for k, earlier in enumerate(self.parts[kind]):
                common = mine & earlier
                if len(common) > 1 and common != mine:
                    shared = self.symbol(kind(*common))
                    mine = (mine - common) | {shared}
                    self.parts[kind][k] = (earlier - common) | {shared}
            self.parts[kind].append(mine)
            x = kind(*mine)
        return self.symbol(x)

    def __call__(self, m: sympy.Matrix) -> sympy.Matrix:
        return m.applyfunc(lambda x: self.scalar(preprocess_for_cse(x, basic_optimizations)))

    def code(self, results: list[Any]) -> list[tuple[sympy.Symbol, Any]]:
        """Assignments in order; names that are used once are put back where they are used."""
        meaning = {s: x for x, s in self.of.items()}
        uses: dict[Any, int] = {}
        waiting = list(results)
        while waiting:
            for symbol in waiting.pop().free_symbols & meaning.keys():
                uses[symbol] = uses.get(symbol, 0) + 1
                if uses[symbol] == 1:
                    waiting.append(meaning[symbol])
        kept: list[tuple[sympy.Symbol, Any]] = []
        inline: dict[Any, Any] = {}
        for symbol, x in meaning.items():
            if symbol in uses:
                whole = x.xreplace(inline)
                if uses[symbol] > 1 or symbol in results:
                    kept.append((symbol, whole))
                else:
                    inline[symbol] = whole
        return [(symbol, postprocess_for_cse(x, basic_optimizations)) for symbol, x in kept]


def hat(v: sympy.Matrix) -> sympy.Matrix:
    x, y, z = v
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def stacked(a: sympy.Matrix, b: sympy.Matrix, c: sympy.Matrix, d: sympy.Matrix) -> sympy.Matrix:
    return sympy.Matrix(sympy.BlockMatrix([[a, b], [c, d]]))


class Recursion:
    """Newton–Euler for a table of revolute joints; rotation first, as in Park's paper."""

    def __init__(self, rows: list[Row]) -> None:
        self.n = len(rows)
        self.adjoint, self.screw = [], []
        for i, (a, alpha, d) in enumerate(rows):
            q, ca, sa = S(f"q{i + 1}"), sympy.cos(alpha), sympy.sin(alpha)
            c, s = sympy.cos(q), sympy.sin(q)
            inverse = sympy.Matrix([[c, s, 0], [-s * ca, c * ca, sa], [s * sa, -c * sa, ca]])
            self.adjoint.append(
                stacked(inverse, sympy.zeros(3), hat(sympy.Matrix([-a, -d * sa, -d * ca])) * inverse, inverse)
            )
            self.screw.append(self.adjoint[-1].subs({c: 1, s: 0}) * sympy.Matrix([0, 0, 1, 0, 0, 0]))

    def forward(self, names: Names, qd: list[Any], qdd: list[Any], gravity: Any) -> list[Any]:
        V, dV = sympy.zeros(6, 1), sympy.Matrix([0, 0, 0, 0, 0, gravity])
        out = []
        for A, s, rate, acceleration in zip(self.adjoint, self.screw, qd, qdd):
            carried, own = names(A * V), names(s * rate)
            bracket = stacked(hat(carried[:3, 0]), sympy.zeros(3), hat(carried[3:, 0]), hat(carried[:3, 0]))
            dV = names(names(s * acceleration) + names(A * dV) + names(bracket * own))
            V = names(carried + own)
            out.append((V, dV))
        return out

    def backward(self, names: Names, motions: list[Any], value: Callable[[str], Any]) -> list[Any]:
        F, torques = sympy.zeros(6, 1), [None] * self.n
        for i in range(self.n - 1, -1, -1):
            V, dV = motions[i]
            first = hat(sympy.Matrix([value(f"m{x}{i + 1}") for x in "xyz"]))
            second = sympy.Matrix(3, 3, lambda r, c, i=i: value(f"I{''.join(sorted('xyz'[r] + 'xyz'[c]))}{i + 1}"))
            inertia = stacked(second, first, -first, sympy.eye(3) * value(f"m{i + 1}"))
            bracket = stacked(hat(V[:3, 0]), sympy.zeros(3), hat(V[3:, 0]), hat(V[:3, 0]))
            F = inertia * dV - bracket.T * (inertia * V) + (self.adjoint[i + 1].T * F if i + 1 < self.n else F)
            F = names(F)
            torques[i] = names.scalar((self.screw[i].T * F)[0])
        return torques

    def products(self, regressor: bool = True) -> dict[str, int]:
        """Derive everything; the number of assignments of each product."""
        n, zero = self.n, [sympy.Integer(0)] * self.n
        rates, accelerations = [S(f"dq{i + 1}") for i in range(n)], [S(f"ddq{i + 1}") for i in range(n)]
        none, g = sympy.Integer(0), S("g")
        out = {}
        for product, runs in {
            "tau": [(rates, accelerations, g)], "g": [(zero, zero, g)], "h": [(rates, zero, none)],
            "M": [(zero, [sympy.Integer(i == k) for i in range(n)], none) for k in range(n)],
        }.items():  # fmt: skip
            names = Names()
            results = [t for run in runs for t in self.backward(names, self.forward(names, *run), S)]
            out[product] = len(names.code(results))
        if regressor:
            names = Names()
            motions = self.forward(names, rates, accelerations, g)
            results = []
            for k in range(n):
                for kind in KINDS:
                    one = f"{kind}{k + 1}"
                    results += self.backward(names, motions, lambda x, one=one: sympy.Integer(x == one))
            out["regressor"] = len(names.code(results))
        return out

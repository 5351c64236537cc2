r"""Base parameters: the fewest inertial constants that the equations of motion contain.

1. From tip to base, the part of a link that looks the same after any motion of its joint is given to the parent
   (``physics.mechanism.regrouped``) [Gautier & Khalil 1990].
2. A constant that occurs in no entry of M or g is left out.
3. What is still dependent (parallel axes, special lengths) is found by linear algebra on the polynomials themselves: different
   monomials are independent functions, so constants are dependent exactly when their columns of coefficients are. The first ones
   of a link are kept, unless others would go to them with a factor beyond ``LARGEST``.

Names are those of the literature, link by link: ``XX XY XZ YZ ZZ`` (inertia about the joint-centred frame with z along the joint axis, XX
being Jxx − Jyy after step 1), ``MX MY MZ`` first moments, ``M`` mass, ``IA`` rotor inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from manipula.algebra.inertia import Moments
from manipula.algebra.linear import array
from manipula.algebra.trigpoly import BITS, Ring, TrigPoly
from manipula.physics.mechanism import regrouped
from manipula.symbolic.derive import Derivation

_ENTRIES = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "IA")
_TENSOR = {"XX": (0, 0), "XY": (0, 1), "XZ": (0, 2), "YY": (1, 1), "YZ": (1, 2), "ZZ": (2, 2)}
_PRIME = 2_147_483_629  # products of two residues fit 64 bits
_SEED = 20_240
LARGEST = 1e4  # factor with which a constant is regrouped; beyond it digits would be lost


@dataclass(frozen=True)
class SymbolicBaseParameters:
    """The base constants of one robot.

    Attributes:
        derivation: the equations over the base constants; every constant is a variable of its ring.
        definitions: for every base constant the polynomial (over the ring of the given parameters) it stands for, and further
            (factor, polynomial) pairs that were regrouped onto it in step 3.
        without_effect: constants that occur nowhere.
    """

    derivation: Derivation
    definitions: dict[str, list[tuple[Any, TrigPoly]]]
    without_effect: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.definitions)


def base_parameters(given: Derivation) -> SymbolicBaseParameters:
    """Base constants of a robot whose given parameters are those of ``given``."""
    columns = _regrouped_entries(given)
    kept = set(columns)
    first = _derive(given, kept)
    present = _occurring(first)
    silent = tuple(name for name in columns if name not in present)
    kept -= set(silent)
    definitions = {name: [(sympy.Integer(1), columns[name])] for name in columns if name in kept}
    dependent = _dependencies(first, list(definitions))
    for name, combination in dependent.items():
        for other, factor in combination.items():
            definitions[other] = definitions[other] + [(sympy.cancel(factor * f), p) for f, p in definitions[name]]
        del definitions[name]
    final = first if not silent and not dependent else _derive(given, set(definitions))
    return SymbolicBaseParameters(final, definitions, silent)


def _regrouped_entries(given: Derivation) -> dict[str, TrigPoly]:
    """Step 1: every non-zero constant after regrouping, as a polynomial in the given parameters."""
    out = {}
    taken = set(given.robot.parameters)
    for i, body in zip(given.numbers, regrouped(given.mechanism).bodies):
        m = body.moments
        values = {name: m.second[k] for name, k in _TENSOR.items()}
        values |= {"MX": m.first[0], "MY": m.first[1], "MZ": m.first[2], "M": m.mass, "IA": body.armature}
        for entry in _ENTRIES:
            value = given.poly(values[entry])
            if value.terms:
                name = f"{entry}{i + 1}"
                out[name if name not in taken else name + "R"] = value
    return out


def _derive(given: Derivation, kept: set[str]) -> Derivation:
    taken = set(given.robot.parameters)

    def body(ring: Ring, i: int) -> tuple[Moments, Any]:
        def constant(entry: str) -> Any:
            name = f"{entry}{i + 1}"
            name = name if name not in taken else name + "R"
            return ring.variable(sympy.Symbol(name)) if name in kept else 0.0

        v = {entry: constant(entry) for entry in _ENTRIES}
        second = [[v["XX"], v["XY"], v["XZ"]], [v["XY"], v["YY"], v["YZ"]], [v["XZ"], v["YZ"], v["ZZ"]]]
        return Moments(v["M"], array([v["MX"], v["MY"], v["MZ"]]), array(second)), v["IA"]

    return Derivation(given.robot, given.budget, bodies_of=body, right_angle=given.scalars.right_angle)


def _functions(d: Derivation) -> list[TrigPoly]:
    """The entries of M and g: together they determine the equations of motion."""
    return [d.M[i, j] for i in range(d.n) for j in range(i, d.n)] + d.g


def _occurring(d: Derivation) -> set[str]:
    seen = 0
    for p in _functions(d):
        for k in p.terms:
            seen |= k
    return {str(key) for index, key in enumerate(d.ring.keys) if seen >> BITS * index & 63}


def _dependencies(d: Derivation, names: list[str]) -> dict[str, dict[str, Any]]:
    """Step 3: for every dependent constant its coefficients on the independent ones."""
    shift = {name: BITS * d.ring.index(sympy.Symbol(name)) for name in names}
    mask = {1 << s: name for name, s in shift.items()}
    every = sum(63 << s for s in shift.values())
    trig = d.ring.trig_mask
    prismatic = sum(63 << BITS * d.ring.index(("q", i)) for i in range(d.n) if d.ring.index(("q", i)) >= 0)
    own = 0
    for angle in d.angle_sums.angles:
        index = d.ring.index(("cos", angle))
        own |= (63 << BITS * index | 63 << BITS * (index + 1)) if index >= 0 else 0
    place = (trig & own) | prismatic
    rows: dict[tuple[int, int], int] = {}
    # column → row → geometry → coefficient
    entries: dict[str, dict[int, dict[int, Any]]] = {name: {} for name in names}
    for f, p in enumerate(_functions(d)):
        for k, v in p.terms.items():
            if not k & every:  # weight that something else carries depends on no constant
                continue
            name = mask[k & every]
            row = rows.setdefault((f, k & place), len(rows))
            entries[name].setdefault(row, {})[k & ~every & ~place] = v
    residues = np.zeros((len(rows), len(names)), dtype=np.int64)
    geometry = _Geometry(d)
    for c, name in enumerate(names):
        for row, coefficients in entries[name].items():
            residues[row, c] = geometry.residue(coefficients)
    pivots, combinations = _column_dependencies(residues)
    out: dict[str, dict[str, Any]] = {}
    for c, support in combinations.items():
        out[names[c]] = _solve(geometry, entries, names[c], [names[k] for k in support], residues, support)
    del pivots
    return _with_small_factors(out)


def _with_small_factors(dependent: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same dependencies, where no constant is regrouped onto another with a large factor: the two change places.

    A factor is large where the geometry nearly separates two constants (a tilt of 1e-9 rad is divided by): the other way round
    it is small, and no digits cancel. Every exchange makes the kept columns more independent, so it comes to an end.
    """
    out = {name: dict(combination) for name, combination in dependent.items()}
    while True:
        numbers = [(abs(f), name, other) for name, c in out.items() for other, f in c.items() if f.is_number]
        largest, name, other = max(numbers, key=lambda entry: entry[0], default=(0, "", ""))
        if largest <= LARGEST:
            return out
        combination = out.pop(name)
        factor = combination.pop(other)
        turned = {k: -f / factor for k, f in combination.items()} | {name: 1 / factor}
        for c in out.values():
            if other in c:
                f = c.pop(other)
                for k, g in turned.items():
                    c[k] = sympy.cancel(c.get(k, 0) + f * g)
        out = {n: {k: f for k, f in c.items() if f != 0} for n, c in (out | {other: turned}).items()}


class _Geometry:
    """Coefficients that contain lengths and twist angles: modulo a prime at a random point, and as SymPy expressions."""

    def __init__(self, d: Derivation) -> None:
        self._d = d
        random = np.random.default_rng(_SEED)
        self._values = [int(v) for v in random.integers(2, _PRIME - 1, size=len(d.ring.keys))]
        for index, key in enumerate(d.ring.keys):
            if isinstance(key, tuple) and key[0] == "cos":  # a rational point of the circle keeps s² = 1 − c²
                t = self._values[index]
                inverse = pow(1 + t * t, -1, _PRIME)
                self._values[index], self._values[index + 1] = (1 - t * t) * inverse % _PRIME, 2 * t * inverse % _PRIME

    def residue(self, coefficients: dict[int, Any]) -> int:
        total = 0
        for monomial, v in coefficients.items():
            term = v.numerator * pow(v.denominator, -1, _PRIME)
            for index, k in self._d.ring.exponents(monomial):
                term = term * pow(self._values[index], k, _PRIME) % _PRIME
            total += term
        return total % _PRIME

    def sympy(self, coefficients: dict[int, Any]) -> Any:
        total = sympy.Integer(0)
        for monomial, v in coefficients.items():
            term = sympy.Rational(v.numerator, v.denominator)
            key: Any
            for key, k in self._d.expand(monomial):
                one = getattr(sympy, key[0])(key[1]) if isinstance(key, tuple) else key
                term = term * one**k
            total += term
        return total


def _column_dependencies(residues: np.ndarray) -> tuple[list[int], dict[int, list[int]]]:
    """Independent columns (from the left), and for each other column those that it is a combination of."""
    work = residues.copy()
    pivots: list[tuple[int, int]] = []
    combination: dict[int, list[int]] = {}
    for c in range(work.shape[1]):
        factors = {}
        for row, p in pivots:
            f = int(work[row, c])
            if f:
                work[:, c] = (work[:, c] - f * work[:, p]) % _PRIME
                factors[p] = f
        nonzero = np.flatnonzero(work[:, c])
        if nonzero.size == 0:
            combination[c] = _support(residues, c, [p for _, p in pivots])
            continue
        row = int(nonzero[0])
        work[:, c] = work[:, c] * pow(int(work[row, c]), -1, _PRIME) % _PRIME
        for _, p in pivots:
            f = int(work[row, p])
            if f:
                work[:, p] = (work[:, p] - f * work[:, c]) % _PRIME
        pivots.append((row, c))
    return [p for _, p in pivots], combination


def _support(residues: np.ndarray, c: int, independent: list[int]) -> list[int]:
    """The independent columns that really occur in column c: those whose removal makes c independent."""
    needed = list(independent)
    for k in independent:
        fewer = [x for x in needed if x != k]
        if _rank(residues[:, [*fewer, c]]) == len(fewer):
            needed = fewer
    return needed


def _rank(matrix: np.ndarray) -> int:
    work, rank = matrix.copy(), 0
    for c in range(work.shape[1]):
        rows = np.flatnonzero(work[rank:, c])
        if rows.size == 0:
            continue
        pivot = rank + int(rows[0])
        work[[rank, pivot]] = work[[pivot, rank]]
        work[rank] = work[rank] * pow(int(work[rank, c]), -1, _PRIME) % _PRIME
        for row in rank + 1 + np.flatnonzero(work[rank + 1 :, c]):
            work[row] = (work[row] - work[row, c] * work[rank]) % _PRIME
        rank += 1
    return rank


def _solve(
    geometry: _Geometry, entries: dict[str, dict[int, dict[int, Any]]], name: str, support: list[str],
    residues: np.ndarray, columns: list[int],
) -> dict[str, Any]:  # fmt: skip
    """Coefficients of one dependent column on its support, exact in the geometry."""
    chosen: list[int] = []
    for row in range(residues.shape[0]):
        if len(chosen) == len(support):
            break
        if _rank(residues[np.ix_([*chosen, row], columns)]) == len(chosen) + 1:
            chosen.append(row)
    A = sympy.Matrix([[geometry.sympy(entries[s].get(row, {})) for s in support] for row in chosen])
    b = sympy.Matrix([geometry.sympy(entries[name].get(row, {})) for row in chosen])
    solution = A.LUsolve(b)
    return {s: sympy.cancel(x) for s, x in zip(support, solution)}

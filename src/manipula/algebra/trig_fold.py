r"""Short forms of trigonometric polynomials: sums of angles inside a group, products across groups.

Joints with parallel axes form a group. Inside it products become sums of angles (:math:`c_2c_3 - s_2s_3 = c_{23}`); two
modes that belong together are paired back (:math:`\cos(2q_2+q_3) + \cos q_3 = 2c_2c_{23}`). Angles of different groups stay
products: writing them as multiple angles would multiply the number of terms. Of :math:`X + Yc^2`,
:math:`Xs^2 + (X+Y)c^2`, :math:`(X+Y) - Ys^2` and :math:`(X+Y/2) + (Y/2)\cos 2q` the shortest is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

from manipula.algebra.trigpoly import BITS, Coefficient, Ring, Terms, whole

Sum = tuple[tuple[int, int], ...]  # an angle: (joint, multiple) pairs, in order of joints
Kind = str  # "c" or "s"
Factor = tuple[Kind, Sum, int]  # cosine or sine, of which angle, to which power
Product = tuple[Factor, ...]
Folded = list[tuple[Coefficient, Product]]
_FIELD = (1 << BITS) - 1
_MOST_CHOICES = 5  # up to 3⁵ combinations are compared when several modes share a remainder


class TrigFolder:
    """Folds polynomials of one ring; equal polynomials (up to a factor) are folded once.

    Args:
        angles: the angle variables of the ring that depend on joints.
        groups: joints by parallel axes.
        ones: the sums of angles that read naturally, with a positive first multiple.
    """

    def __init__(self, ring: Ring, angles: Iterable[Sum], groups: Iterable[Iterable[int]], ones: Iterable[Sum]) -> None:
        self.ring, self.ones = ring, frozenset(ones)
        self._shift: list[list[tuple[int, Sum]]] = []
        self._mask: list[int] = []
        home = {joint: g for g, group in enumerate(groups) for joint in group}
        for _ in range(len(set(home.values()))):
            self._shift.append([])
            self._mask.append(0)
        for angle in angles:
            index = ring.index(("cos", angle))
            if index >= 0:
                g = home[angle[0][0]]
                self._shift[g].append((BITS * index, angle))
                self._mask[g] |= _FIELD << BITS * index | _FIELD << BITS * (index + 1)
        self.mask = 0
        for m in self._mask:
            self.mask |= m
        self._orders = [tuple(range(len(self._mask))), tuple(reversed(range(len(self._mask))))]
        self._known: dict[frozenset, Folded] = {}
        self._partial: dict[tuple[frozenset, tuple[int, ...]], Folded] = {}
        self._modes: dict[tuple[int, int], dict[tuple[Kind, Sum], Fraction]] = {}
        self._splits: dict[Sum, tuple[Sum, Sum] | None] = {}

    def fold(self, terms: Terms) -> Folded:
        """Coefficients and products whose sum is the polynomial ``terms`` (angle variables only)."""
        if len(terms) == 1 and 0 in terms:
            return [(terms[0], ())]
        scale, unit = primitive(terms)
        key = frozenset(unit.items())
        found = self._known.get(key)
        if found is None:
            tried = [self._fold(unit, order) for order in self._orders[: 2 if len(unit) > 1 else 1]]
            found = self._known[key] = min(tried, key=len)
        return [(whole(scale * v), p) for v, p in found] if scale != 1 else found

    def _fold(self, terms: Terms, order: tuple[int, ...]) -> Folded:
        while order:
            group, rest = order[0], order[1:]
            mask = self._mask[group]
            if any(k & mask for k in terms):
                break
            order = rest
        else:
            return [(terms[0], ())] if terms else []
        key = (frozenset(terms.items()), order)
        found = self._partial.get(key)
        if found is not None:
            return found
        parts: dict[int, Terms] = {}
        used = 0
        for k, v in terms.items():
            inside = k & mask
            used |= inside
            parts.setdefault(inside, {})[k - inside] = v
        angles = [(shift, a) for shift, a in self._shift[group] if used >> shift & (_FIELD | _FIELD << BITS)]
        chosen = self._one_angle(parts, angles[0], rest) if len(angles) == 1 else self._several(parts, group)
        out: Folded = []
        for product, coefficients in chosen:
            out += [(v, product + p) for v, p in self._fold(coefficients, rest)]
        self._partial[key] = out
        return out

    def _one_angle(
        self, parts: dict[int, Terms], angle: tuple[int, Sum], rest: tuple[int, ...]
    ) -> list[tuple[Product, Terms]]:
        shift, name = angle
        name, sign = positive(name)
        out: list[tuple[Product, Terms]] = []
        square = 2 << shift
        X, Y = parts.get(0), parts.get(square)
        if X is not None and Y is not None:
            both, centre = _plus(X, Y, 1), _plus(X, Y, Fraction(1, 2))
            double = tuple((joint, 2 * k) for joint, k in name)
            options: list[list[tuple[Product, Terms]]] = [
                [((), X), ((("c", name, 2),), Y)],
                [((("s", name, 2),), X), ((("c", name, 2),), both)],
                [((), both), ((("s", name, 2),), {k: -v for k, v in Y.items()})],
                [((), centre), ((("c", double, 1),), {k: whole(Fraction(v) / 2) for k, v in Y.items()})],
            ]
            size = [sum(len(t) for _, t in option) for option in options]
            options = [option for option, n in zip(options, size) if n == min(size)]
            if len(options) > 1:
                options.sort(key=lambda o: sum(len(self._fold(t, rest)) for _, t in o if t))
            out = options[0]
            out = [(p, t) for p, t in out if t]
        for inside, coefficients in parts.items():
            if inside in (0, square) and X is not None and Y is not None:
                continue
            c, s = inside >> shift & _FIELD, inside >> shift + BITS & _FIELD
            product: Product = ((("c", name, c),) if c else ()) + ((("s", name, s),) if s else ())
            flip = sign < 0 and s % 2 == 1
            out.append((product, {k: -v for k, v in coefficients.items()} if flip else coefficients))
        return out

    def _several(self, parts: dict[int, Terms], group: int) -> list[tuple[Product, Terms]]:
        modes: dict[tuple[Kind, Sum], Terms] = {}
        for inside, coefficients in parts.items():
            for mode, weight in self._modes_of(inside, group).items():
                modes[mode] = _plus(modes.get(mode, {}), coefficients, weight)
        modes = {m: t for m, t in modes.items() if t}
        shared: dict[tuple[Kind, Sum], list[tuple[Kind, Sum, Sum, Sum, int]]] = {}
        for kind, k in modes:
            if k and k not in self.ones:
                split = self._split(k)
                if split is not None:
                    A, B = split
                    D, sign = positive(combine(A, B, -1))
                    shared.setdefault((kind, D), []).append((kind, k, A, B, sign if kind == "s" else 1))
        out: list[tuple[Product, Terms]] = []
        for (kind, D), members in sorted(shared.items(), key=lambda item: -len(item[0][1])):
            out += self._paired(modes, kind, D, members)
        for (kind, k), coefficients in modes.items():
            if coefficients:
                out.append((((kind, k, 1),) if k else (), coefficients))
        return out

    def _paired(
        self, modes: dict[tuple[Kind, Sum], Terms], kind: Kind, D: Sum, members: list[tuple[Kind, Sum, Sum, Sum, int]]
    ) -> list[tuple[Product, Terms]]:
        """Replace modes A + B that share the difference D by products; what is left over goes to the mode D.

        A member may itself have been the difference of another group, and have gone there.
        """
        remainder = modes.pop((kind, D), {})
        members = [m for m in members if (kind, m[1]) in modes]
        coefficients = [modes.pop((kind, k)) for _, k, *_ in members]
        if kind == "s" and not D:
            choice: tuple[int, ...] = (1,) * len(members)
            best: Terms = {}
        else:
            free = len(members) if len(members) <= _MOST_CHOICES else _MOST_CHOICES
            choice, best, least = (), {}, math.inf
            for signs in itertools.product((1, -1, 0), repeat=free):
                signs = (*signs, *(1,) * (len(members) - free))
                left = remainder
                for (*_, sign), X, s in zip(members, coefficients, signs):
                    left = _plus(left, X, -s * sign)
                if len(left) < least:
                    choice, best, least = signs, left, len(left)
        out: list[tuple[Product, Terms]] = []
        for (_, k, A, B, _), X, s in zip(members, coefficients, choice):
            if s == 0:
                out.append((((kind, k, 1),), X))
                continue
            (A, sa), (B, sb) = positive(A), positive(B)
            if kind == "c":  # cos(A+B) = 2 cA cB - cos(A-B) = cos(A-B) - 2 sA sB
                factors, weight = (
                    (_product(("c", A), ("c", B)), 2) if s > 0 else (_product(("s", A), ("s", B)), -2 * sa * sb)
                )
            else:  # sin(A+B) = 2 sA cB - sin(A-B) = 2 cA sB + sin(A-B)
                factors, weight = (
                    (_product(("s", A), ("c", B)), 2 * sa) if s > 0 else (_product(("c", A), ("s", B)), 2 * sb)
                )
            out.append((factors, {k: whole(weight * v) for k, v in X.items()}))
        if best and not D:
            for index, (factors, X) in enumerate(out):  # 1 = c² + s² when that shortens what stands at c²
                if len(factors) == 1 and factors[0][2] == 2:
                    merged = _plus(X, best, 1)
                    if len(merged) < len(X):
                        kind_, name, _ = factors[0]
                        out[index] = (factors, merged)
                        out.append(((("s" if kind_ == "c" else "c", name, 2),), best))
                        best = {}
                        break
        if best:
            modes[kind, D] = best
        return [(p, t) for p, t in out if t]

    def _modes_of(self, inside: int, group: int) -> dict[tuple[Kind, Sum], Fraction]:
        """Fourier modes of a monomial in the sines and cosines of one group."""
        found = self._modes.get((inside, group))
        if found is None:
            found = {("c", ()): Fraction(1)}
            for shift, angle in self._shift[group]:
                for _ in range(inside >> shift & _FIELD):
                    found = _times(found, angle, "c")
                for _ in range(inside >> shift + BITS & _FIELD):
                    found = _times(found, angle, "s")
            self._modes[inside, group] = found
        return found

    def _split(self, k: Sum) -> tuple[Sum, Sum] | None:
        """Natural angles A, B with A + B = k, their difference natural or zero when that is possible."""
        if k not in self._splits:
            found = None
            for A in sorted(self.ones, key=lambda a: -len(a)):
                B = combine(k, A, -1)
                if not B or positive(B)[0] not in self.ones:
                    continue
                D = positive(combine(A, B, -1))[0]
                if not D or D in self.ones:
                    found = (A, B)
                    break
                found = found or (A, B)
            self._splits[k] = found
        return self._splits[k]


def positive(angle: Sum) -> tuple[Sum, int]:
    """The angle with a positive leading multiple, and the sign that was taken out."""
    if angle and angle[0][1] < 0:
        return tuple((j, -k) for j, k in angle), -1
    return angle, 1


def combine(a: Sum, b: Sum, sign: int) -> Sum:
    """``a + sign·b``."""
    out = dict(a)
    for j, k in b:
        out[j] = out.get(j, 0) + sign * k
    return tuple(sorted((j, k) for j, k in out.items() if k))


def primitive(terms: Terms) -> tuple[Coefficient, Terms]:
    """``scale · unit``: whole coefficients without a common divisor, the one of the lowest monomial positive."""
    scale = 0
    if all(type(v) is int for v in terms.values()):
        scale = math.gcd(*terms.values())
        if terms[min(terms)] < 0:
            scale = -scale
        return scale, ({k: v // scale for k, v in terms.items()} if scale != 1 else terms)
    values = [Fraction(v) for v in terms.values()]
    fraction = Fraction(math.gcd(*(v.numerator for v in values)), math.lcm(*(v.denominator for v in values)))
    if terms[min(terms)] < 0:
        fraction = -fraction
    return whole(fraction), {k: whole(Fraction(v) / fraction) for k, v in terms.items()}


def _plus(a: Terms, b: Terms, weight: Coefficient) -> Terms:
    out = dict(a)
    for k, v in b.items():
        total = out.get(k, 0) + whole(weight * v)
        if total:
            out[k] = total
        else:
            out.pop(k, None)
    return out


def _product(a: tuple[Kind, Sum], b: tuple[Kind, Sum]) -> Product:
    if a == b:
        return ((*a, 2),)
    return tuple((kind, angle, 1) for kind, angle in sorted((a, b), key=lambda f: (f[1], f[0])))


def _times(modes: dict[tuple[Kind, Sum], Fraction], angle: Sum, kind: Kind) -> dict[tuple[Kind, Sum], Fraction]:
    out: dict[tuple[Kind, Sum], Fraction] = {}
    for (k, x), v in modes.items():
        half = v / 2
        if kind == "c":
            pairs: list[tuple[Kind, Sum, Fraction]] = [
                (k, combine(x, angle, 1), half),
                (k, combine(x, angle, -1), half),
            ]
        elif k == "c":
            pairs = [("s", combine(x, angle, 1), half), ("s", combine(x, angle, -1), -half)]
        else:
            pairs = [("c", combine(x, angle, -1), half), ("c", combine(x, angle, 1), -half)]
        for kk, y, w in pairs:
            y, sign = positive(y)
            if kk == "s":
                if not y:
                    continue
                w = sign * w
            out[kk, y] = out.get((kk, y), Fraction(0)) + w
    return {m: w for m, w in out.items() if w}

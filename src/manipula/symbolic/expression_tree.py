"""Expressions as people write them: sums, products, powers, with the order and the parentheses kept.

A small tree between the derivation and its readers: every printer and the conversion to SymPy walk it. SymPy's own trees
reorder terms and multiply numbers out, so they are made last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Number = int | Fraction | float
LARGEST_NICE = 1000  # a common number is taken out of a bracket when what stays inside is at most this

LARGEST_DENOMINATOR = 1000  # a fraction that people still read as one


@dataclass(frozen=True, slots=True)
class Atom:
    """A symbol, or the sine or cosine of an angle. ``key`` says which; :mod:`manipula.symbolic.names` gives it a name."""

    key: Hashable


@dataclass(frozen=True, slots=True)
class Product:
    """``coefficient · Π factor^power``. Without factors it is a number."""

    coefficient: Number
    factors: tuple[tuple[Any, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms in reading order; at least two."""

    terms: tuple[Any, ...]


Node = Atom | Product | Sum
ZERO = Product(0)
Monomial = tuple[tuple[Hashable, int], ...]  # (key of an atom, power), in reading order


def product(coefficient: Number, *nodes: Node) -> Node:
    """Product of nodes, flattened; a lone factor stays itself."""
    factors: list[tuple[Any, int]] = []
    for node in nodes:
        if isinstance(node, Product):
            coefficient = coefficient * node.coefficient
            factors += node.factors
        else:
            factors.append((node, 1))
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    return Product(coefficient, tuple(factors)) if coefficient else ZERO


def add(nodes: Iterable[Node]) -> Node:
    """Sum of nodes, flattened; zeros dropped."""
    terms: list[Node] = []
    for node in nodes:
        if isinstance(node, Sum):
            terms += node.terms
        elif node != ZERO:
            terms.append(node)
    return Sum(tuple(terms)) if len(terms) > 1 else terms[0] if terms else ZERO


def power(node: Node, exponent: int) -> Node:
    """A node raised to a whole number."""
    return node if exponent == 1 else Product(1, ((node, exponent),))


def monomial(coefficient: Number, factors: Monomial) -> Node:
    """A coefficient times powers of atoms."""
    return product(coefficient, *(power(Atom(key), k) for key, k in factors))


def horner(terms: list[tuple[Number, Monomial]], order: Callable[[Hashable], Any]) -> Node:
    """A sum with common factors taken out: first what all terms share, then the factor that most of them share.

    Args:
        order: sort key of atoms, for ties and for the order in which factors are written.
    """
    if len(terms) == 1:
        return monomial(*terms[0])
    common = dict(terms[0][1])
    for _, factors in terms[1:]:
        have = dict(factors)
        common = {k: min(p, have[k]) for k, p in common.items() if k in have}
    scale = common_number([c for c, _ in terms])
    if common or scale != 1:
        rest = [(_divide(c, scale), _without(factors, common)) for c, factors in terms]
        shared = tuple(sorted(common.items(), key=lambda item: order(item[0])))
        return product(scale, *(power(Atom(k), p) for k, p in shared), horner(rest, order))
    count: dict[Hashable, int] = {}
    for _, factors in terms:
        for key, _ in factors:
            count[key] = count.get(key, 0) + 1
    best = min(count, key=lambda k: (-count[k], order(k)), default=None)
    if best is None or count[best] < 2:
        return add(monomial(*t) for t in terms)
    inside = [t for t in terms if any(k == best for k, _ in t[1])]
    outside = [t for t in terms if not any(k == best for k, _ in t[1])]
    nodes: list[Node] = []
    if outside:
        nodes.append(horner(outside, order))
    nodes.append(horner(inside, order))
    return add(nodes)


def _without(factors: Monomial, common: dict[Hashable, int]) -> Monomial:
    return tuple((k, p - common.get(k, 0)) for k, p in factors if p > common.get(k, 0))


def common_number(values: list[Number]) -> Number:
    """The largest number that leaves whole coefficients, with the sign of the first; ±1 when those would be large."""
    fractions = [Fraction(v) for v in values]
    scale = Fraction(math.gcd(*(v.numerator for v in fractions)), math.lcm(*(v.denominator for v in fractions)))
    if fractions[0] < 0:
        scale = -scale
    if max(abs(v / scale) for v in fractions) > LARGEST_NICE:
        return -1 if fractions[0] < 0 else 1
    return scale.numerator if scale.denominator == 1 else scale


def _divide(value: Number, scale: Number) -> Number:
    if scale == 1:
        return value
    if isinstance(value, float) or isinstance(scale, float):
        return value / scale
    result = Fraction(value) / scale
    return result.numerator if result.denominator == 1 else result


def linear_factors(form: dict[tuple[Hashable, ...], Number]) -> tuple[dict, dict] | None:
    """Two linear forms whose product is a quadratic form, or ``None``; both with rational coefficients.

    As a quadratic a u² + b u + c in one of its variables u, the form splits when b² − 4ac is the square of a linear form:
    ``2dq1 dq2 + dq2²`` is ``dq2 (2dq1 + dq2)``.
    """
    quadratic = {tuple(sorted(k)): Fraction(v) for k, v in form.items()}  # pyright: ignore[reportArgumentType]
    u = next((x for x, y in quadratic if x == y), None)
    if u is None:
        return None
    a = quadratic[u, u]
    b = {(x if y == u else y): v for (x, y), v in quadratic.items() if (x == u) != (y == u)}
    rest = {k: v for k, v in quadratic.items() if u not in k}
    square: dict[tuple, Fraction] = {}
    for x in b:
        for y in b:
            key = (x, y) if x <= y else (y, x)  # pyright: ignore[reportOperatorIssue]
            square[key] = square.get(key, Fraction(0)) + b[x] * b[y]
    for k, v in rest.items():
        square[k] = square.get(k, Fraction(0)) - 4 * a * v
    root = _square_root({k: v for k, v in square.items() if v})
    if root is None:
        return None
    names = set(b) | set(root)
    first = {u: 2 * a} | {x: b.get(x, Fraction(0)) + root.get(x, Fraction(0)) for x in names}
    second = {u: Fraction(1)} | {x: (b.get(x, Fraction(0)) - root.get(x, Fraction(0))) / (2 * a) for x in names}
    half = {x: v / 2 for x, v in first.items() if v}
    other = {x: v for x, v in second.items() if v}
    return half, other


def _square_root(form: dict[tuple, Fraction]) -> dict | None:
    if not form:
        return {}
    lead = next((x for x, y in form if x == y), None)
    if lead is None:
        return None
    top = form[lead, lead]
    if top < 0:
        return None
    p, q = math.isqrt(top.numerator), math.isqrt(top.denominator)
    if p * p != top.numerator or q * q != top.denominator:
        return None
    root = {lead: Fraction(p, q)}
    for (x, y), v in form.items():
        if (x == lead) != (y == lead):
            root[x if y == lead else y] = v / (2 * root[lead])
    check: dict[tuple, Fraction] = {}
    for x in root:
        for y in root:
            key = (x, y) if x <= y else (y, x)
            check[key] = check.get(key, Fraction(0)) + root[x] * root[y]
    return root if {k: v for k, v in check.items() if v} == form else None


def atoms(node: Node) -> set[Any]:
    """Keys of all atoms in a formula."""
    if isinstance(node, Atom):
        return {node.key}
    found: set[Any] = set()
    for part in node.terms if isinstance(node, Sum) else [f for f, _ in node.factors]:
        found |= atoms(part)
    return found


def operations(node: Node) -> int:
    """Additions and multiplications in a formula; a power counts its multiplications."""
    if isinstance(node, Atom):
        return 0
    if isinstance(node, Sum):
        return len(node.terms) - 1 + sum(operations(t) for t in node.terms)
    count = sum(k for _, k in node.factors) - 1 + sum(operations(f) for f, _ in node.factors)
    return max(count, 0) + (1 if abs(node.coefficient) != 1 and node.factors else 0)


def is_fraction(x: Number) -> bool:
    """Does the number read better as a fraction (1/12, 2/5) than as a decimal (9.81, 0.08916)?"""
    if not isinstance(x, Fraction) or x.denominator > LARGEST_DENOMINATOR:
        return False
    rest = x.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest > 1 or x.denominator <= 10


def spread_decimals(node: Node) -> Node:
    """A decimal in front of a bracket of whole multiples, multiplied out: ``0.05*(7*c1 + 5*c12)`` is ``0.35*c1 + 0.25*c12``."""
    if isinstance(node, Atom):
        return node
    if isinstance(node, Sum):
        return add(spread_decimals(term) for term in node.terms)
    number = node.coefficient
    factors = [(spread_decimals(f), k) for f, k in node.factors]
    sums = [i for i, (f, _) in enumerate(factors) if isinstance(f, Sum)]
    if len(sums) == 1 and factors[sums[0]][1] == 1 and isinstance(number, Fraction) and not is_fraction(number):
        bracket: Any = factors.pop(sums[0])[0]
        terms = bracket.terms
        multiples = [getattr(term, "coefficient", 1) for term in terms]
        if all(isinstance(m, int) for m in multiples) and any(abs(m) != 1 for m in multiples):
            scale = number if not factors else abs(number)
            inside = Sum(
                tuple(Product(float(scale * m), getattr(x, "factors", ((x, 1),))) for m, x in zip(multiples, terms))
            )
            if not factors:
                return inside
            number = -1 if number < 0 else 1
        else:
            inside = Sum(terms)
        factors.insert(sums[0], (inside, 1))
    return Product(number, tuple(factors))

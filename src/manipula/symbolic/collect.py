r"""From a heap of terms to a formula that a person can read.

Every term is (number) · (parameters) · (functions of the configuration) · (velocities or accelerations). Terms with the same
configuration part whose motion parts are proportional share one bracket of parameters; brackets that are proportional share one sum of
configuration parts; what remains is factored: ``-a1*(l2*m2 + a2*(m3 + m4))*s2*dq2*(2*dq1 + dq2)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any

from manipula.algebra.trigpoly import whole
from manipula.symbolic.expression_tree import (
    LARGEST_NICE,
    Atom,
    Monomial,
    Node,
    Number,
    add,
    horner,
    linear_factors,
    monomial,
    power,
    product,
)

Motion = tuple[Hashable, ...]  # keys of rates and accelerations; two equal keys are a square
Term = tuple[Motion, Monomial, int]  # motion, configuration, packed monomial of parameters
_Vector = tuple[tuple[Any, Number], ...]


class Collector:
    """Builds formulas; brackets that occur again are built once.

    Args:
        expand: the factors of a packed monomial of parameters.
        order: sort key of parameter atoms.
        lump: replaces a bracket of parameters by something shorter (a constant ``p1`` with a definition), or returns it.
    """

    def __init__(
        self,
        expand: Callable[[int], Monomial],
        order: Callable[[Hashable], Any],
        lump: Callable[[_Vector, Node], Node] | None = None,
    ) -> None:
        self._expand, self._order, self._lump = expand, order, lump
        self._parameters: dict[_Vector, Node] = {}
        self._configurations: dict[_Vector, Node] = {}
        self._motions: dict[_Vector, Node] = {}

    def collect(self, terms: Mapping[Term, Number]) -> Node:
        """The factored sum of all terms."""
        by_place: dict[tuple[Monomial, int], dict[Motion, Number]] = {}
        for (motion, configuration, parameters), number in terms.items():
            by_place.setdefault((configuration, parameters), {})[motion] = number
        brackets: dict[tuple[Monomial, _Vector], dict[int, Number]] = {}
        for (configuration, parameters), motions in by_place.items():
            scale, unit = normalised(motions)
            brackets.setdefault((configuration, unit), {})[parameters] = scale
        sums: dict[tuple[_Vector, _Vector], dict[Monomial, Number]] = {}
        for (configuration, motion), parameters in brackets.items():
            scale, unit = normalised(parameters)
            sums.setdefault((motion, unit), {})[configuration] = scale
        nodes: list[tuple[Any, Node]] = []
        for (motion, bracket), configurations in sums.items():
            scale, unit = normalised(configurations)
            nodes.append((_reading_order(unit, motion, bracket), product(
                scale, self._parameter_node(bracket), self._configuration_node(unit), self._motion_node(motion)
            )))  # fmt: skip
        nodes.sort(key=lambda item: item[0])
        return self._factored([node for _, node in nodes])

    def _factored(self, nodes: list[Node]) -> Node:
        """Atoms that every term shares (gravity, a mass) and a common number in front of one bracket."""
        total = add(nodes)
        if len(nodes) < 2:
            return total
        tables = [_powers(node) for node in nodes]
        common = {f: k for f, k in tables[0].items() if isinstance(f, Atom)}
        for table in tables[1:]:
            common = {f: min(k, table[f]) for f, k in common.items() if f in table}
        if not common:
            return total
        numbers = {i: getattr(node, "coefficient", 1) for i, node in enumerate(nodes)}
        scale, units = normalised(numbers)
        rest = []
        for (_, unit), node in zip(units, nodes):
            kept = [(f, k - common.get(f, 0)) for f, k in _factors(node)]
            rest.append(product(unit, *(power(f, k) for f, k in kept if k)))
        front = sorted(common.items(), key=lambda item: self._order(item[0].key))
        return product(scale, *(power(f, k) for f, k in front), add(rest))

    def _parameter_node(self, bracket: _Vector) -> Node:
        node = self._parameters.get(bracket)
        if node is None:
            node = horner([(v, self._expand(m)) for m, v in bracket], self._order)
            if self._lump is not None:
                node = self._lump(bracket, node)
            self._parameters[bracket] = node
        return node

    def _configuration_node(self, unit: _Vector) -> Node:
        node = self._configurations.get(unit)
        if node is None:
            node = horner([(v, m) for m, v in unit], _angle_order)
            self._configurations[unit] = node
        return node

    def _motion_node(self, unit: _Vector) -> Node:
        node = self._motions.get(unit)
        if node is None:
            node = self._motions[unit] = _motion(unit)
        return node


def _factors(node: Node) -> tuple[tuple[Any, int], ...]:
    return getattr(node, "factors", ((node, 1),))


def _powers(node: Node) -> dict[Any, int]:
    out: dict[Any, int] = {}
    for f, k in _factors(node):
        out[f] = out.get(f, 0) + k
    return out


def normalised(vector: Mapping[Any, Number]) -> tuple[Number, _Vector]:
    """``scale · unit`` with small whole entries in ``unit`` and a positive first one; scale ±1 when there are none such."""
    if len(vector) == 1:
        ((key, value),) = vector.items()
        return value, ((key, 1),)
    items = sorted(vector.items())
    values: list[Any] = [v for _, v in items]
    denominator = 1
    if not all(type(v) is int for v in values):
        denominator = math.lcm(*(v.denominator for v in values))
        values = [v.numerator * (denominator // v.denominator) for v in values]
    divisor = math.gcd(*values) if values[0] > 0 else -math.gcd(*values)
    if max(values) > LARGEST_NICE * abs(divisor) or -min(values) > LARGEST_NICE * abs(divisor):
        sign = -1 if values[0] < 0 else 1
        return sign, tuple((k, sign * v) for k, v in items)
    scale = divisor if denominator == 1 else whole(Fraction(divisor, denominator))
    return scale, tuple((k, v // divisor) for (k, _), v in zip(items, values))


def _motion(unit: _Vector) -> Node:
    """Sum of products of rates, as a product of two linear forms where that is possible."""
    form = dict(unit)
    if all(len(m) == 2 for m in form) and len(form) > 1:
        pair = linear_factors(form)
        if pair is not None:
            first, second = (horner([(_small(v), ((k, 1),)) for k, v in sorted(f.items())], _itself) for f in pair)
            if isinstance(second, Atom) and not isinstance(first, Atom):
                first, second = second, first
            return _squared(product(1, first, second))
    terms: list[tuple[Number, Monomial]] = []
    for motion, number in unit:
        powers: dict[Hashable, int] = {}
        for key in motion:
            powers[key] = powers.get(key, 0) + 1
        terms.append((number, tuple(sorted(powers.items()))))
    return horner(terms, _itself) if len(terms) > 1 else monomial(*terms[0])


def _squared(node: Node) -> Node:
    factors = getattr(node, "factors", ())
    if len(factors) == 2 and factors[0] == factors[1]:
        return product(node.coefficient, power(factors[0][0], 2))  # pyright: ignore[reportAttributeAccessIssue]
    return node


def _itself(key: Any) -> Any:
    return key


def _small(v: Fraction) -> Number:
    return v.numerator if v.denominator == 1 else v


def _angle_order(key: Any) -> Any:
    return (key[1] if isinstance(key[1], tuple) else ((key[1], 1),), key[0])


def _reading_order(configurations: _Vector, motion: _Vector, bracket: _Vector) -> Any:
    """Accelerations, then velocities, then gravity; inside each, constants before functions of angles."""
    first = configurations[0][0]
    degree = len(motion[0][0])
    return (
        (2 if degree == 0 else 1 if degree == 2 else 0),
        sum(p for _, p in first),
        tuple(_angle_order(key) for key, _ in first),
        motion,
        bracket,
    )

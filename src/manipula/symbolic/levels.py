"""How much the equations are condensed, and the constants with which a level replaces longer expressions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, get_args

from manipula.algebra.trigpoly import whole
from manipula.errors import unknown_name
from manipula.symbolic.expression_tree import Atom, Node, Product, Sum, product

Level = Literal["raw", "compact", "lumped", "base", "recursive"]
LEVELS: tuple[Level, ...] = get_args(Level)
Inertia = Literal["given", "symbolic"]
RightAngles = Literal["nearest", "given"]


def check_level(level: str) -> None:
    """Refuse an unknown level of equations."""
    if not isinstance(level, str) or level not in LEVELS:
        raise unknown_name("level of equations", level, LEVELS, field="level")


def check_inertia(inertia: str) -> None:
    """Refuse an unknown choice of inertial parameters."""
    known = get_args(Inertia)
    if not isinstance(inertia, str) or inertia not in known:
        raise unknown_name("choice of inertial parameters", inertia, known, field="inertia")


def check_right_angles(right_angles: str) -> None:
    """Refuse an unknown treatment of right angles."""
    known = get_args(RightAngles)
    if not isinstance(right_angles, str) or right_angles not in known:
        raise unknown_name("treatment of right angles", right_angles, known, field="right_angles")


class Lumps:
    """Constants ``p1, p2 …``: every bracket of parameters that needs an operation gets one, the first time it occurs.

    A bracket that is a multiple of an earlier one is that multiple of its constant.
    """

    def __init__(self, taken: set[str]) -> None:
        self.definitions: dict[str, Node] = {}
        self._known: dict[Any, tuple[Fraction, Node]] = {}  # by the bracket divided by its first number
        letters = ("p", "k", "lump")
        self._letter = next(
            x for x in letters if x == "lump" or not any(t.startswith(x) and t[1:].isdigit() for t in taken)
        )

    def __call__(self, bracket: Any, node: Node) -> Node:
        if isinstance(node, Atom) or (isinstance(node, Product) and _is_plain(node)):
            return node
        first = Fraction(bracket[0][1])
        shape = tuple((key, Fraction(value) / first) for key, value in bracket)
        if shape not in self._known:
            name = f"{self._letter}{len(self.definitions) + 1}"
            self.definitions[name] = node
            self._known[shape] = first, Atom(("name", name))
        size, found = self._known[shape]
        return product(whole(first / size), found)


def _is_plain(node: Product) -> bool:
    """A number, or a number times one symbol."""
    return len(node.factors) == 0 or (
        len(node.factors) == 1 and node.factors[0][1] == 1 and not isinstance(node.factors[0][0], Sum)
    )

"""What is written, in which order: sections of labelled formulas, the same for every notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from manipula.algebra.arguments import rows_of
from manipula.errors import unknown_name
from manipula.robot.link import TIP
from manipula.symbolic.expression_tree import ZERO, Atom, Node, add, atoms, product

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations

Labelled = tuple[str, Node]


@dataclass(frozen=True)
class Section:
    """A heading and formulas with their labels (``M11``, ``tau1``)."""

    title: str
    formulas: tuple[Labelled, ...]


def _label(eq: Equations, letter: str, *indices: int) -> str:
    return letter + ("_" if eq.robot.n > 9 else "").join(str(i + 1) for i in indices)


def _square(letter: str, rows: list[list[Node]], eq: Equations, symmetric: bool) -> tuple[Labelled, ...]:
    n = len(rows)
    return tuple((_label(eq, letter, i, j), rows[i][j]) for i in range(n) for j in range(i if symmetric else 0, n))


def _column(letter: str, nodes: Sequence[Node], eq: Equations) -> tuple[Labelled, ...]:
    return tuple((_label(eq, letter, i), node) for i, node in enumerate(nodes))


def _mass(eq: Equations) -> Section:
    return Section("Mass matrix (symmetric)", _square("M", eq.formulas.M, eq, True))


def _coriolis(eq: Equations) -> Section:
    return Section("Coriolis matrix (Christoffel symbols)", _square("C", eq.formulas.C, eq, False))


def _velocity(eq: Equations) -> Section:
    return Section("Centrifugal and Coriolis torques h = C dq", _column("h", eq.formulas.h, eq))


def _gravity(eq: Equations) -> Section:
    return Section("Gravity torques", _column("g", eq.formulas.g, eq))


def _torques(eq: Equations) -> Section:
    if eq.level == "recursive":
        return Section("Torques", _column("tau", eq.recursion.tau, eq))
    return Section("Torques", _column("tau", eq.formulas.tau, eq))


def _torques_by_mass(eq: Equations) -> Section:
    """As papers print them: the entries of M by name, velocities and gravity in full."""
    formulas, n = eq.formulas, eq.robot.n
    if {label for label, _ in _mass(eq).formulas} & set(eq.robot.parameters):
        return _torques(eq)
    nodes = []
    for i in range(n):
        terms: list[Node] = []
        for j in range(n):
            if formulas.M[i][j] != ZERO:
                name = _label(eq, "M", min(i, j), max(i, j))
                terms.append(product(1, Atom(("name", name)), Atom(("qdd", j))))
        nodes.append(add([*terms, formulas.h[i], formulas.g[i]]))
    return Section("Torques (Mji = Mij)", _column("tau", nodes, eq))


def _kinetic(eq: Equations) -> Section:
    return Section("Kinetic energy", (("T", eq.formulas.kinetic_energy),))


def _potential(eq: Equations) -> Section:
    return Section("Potential energy", (("V", eq.formulas.potential_energy),))


def _friction(eq: Equations) -> Section:
    laws: list[Any] = list(eq.friction)  # pyright: ignore[reportArgumentType]
    nodes = [ZERO if f == 0 else Atom(f) for f in laws]
    return Section("Friction torques, on the left of the equation of motion", _column("tauf", nodes, eq))


def _pose(eq: Equations) -> Section:
    rows = eq._kinematics.pose(TIP)
    names = [[f"R{i + 1}{j + 1}" for j in range(3)] for i in range(3)]
    formulas = [(names[i][j], rows[i][j]) for i in range(3) for j in range(3)]
    return Section("Pose of the tip", (*formulas, *((a, rows[i][3]) for i, a in enumerate("xyz"))))


def _jacobian(eq: Equations) -> Section:
    rows = eq._kinematics.jacobian(TIP, "base")
    return Section(
        "Jacobian of the tip, linear part first",
        tuple((_label(eq, "J", i, j), rows[i][j]) for i in range(6) for j in range(eq.robot.n)),
    )


SECTIONS: dict[str, Callable[[Any], Section]] = {
    "M": _mass, "C": _coriolis, "h": _velocity, "g": _gravity, "tau": _torques, "T": _kinetic, "V": _potential,
    "friction": _friction, "pose": _pose, "jacobian": _jacobian,
}  # fmt: skip


def chosen_sections(only: Sequence[str] | str | None) -> list[str]:
    """Names of sections from ``"M,g"`` or a sequence; empty when nothing was chosen."""
    names = (
        [n.strip() for n in only.split(",")] if isinstance(only, str) else rows_of(() if only is None else only, "only")
    )
    for name in names:
        if not isinstance(name, str) or name not in SECTIONS:
            raise unknown_name("part of the equations", name, SECTIONS, field="only")
    return list(names)


def sections(eq: Equations, only: Sequence[str] | str | None = None) -> list[Section]:
    """The document: definitions of constants first, then the parts.

    Without a choice: M, then tau with the entries of M by name, then friction if there is any.
    """
    names = chosen_sections(only)
    out: list[Section] = []
    if eq.level == "recursive":
        body = [SECTIONS[name](eq) for name in names or ["tau"]]
        out.append(Section("Assignments, in order", tuple(eq.recursion.assignments)))
        return out + body
    if names:
        body = [SECTIONS[name](eq) for name in names]
    else:
        body = [_mass(eq), _torques_by_mass(eq)]
        if any(f != 0 for f in eq.friction):
            body.append(_friction(eq))
    constants = eq.definition_nodes
    if constants:
        used = {
            key[1]
            for s in body
            for _, node in s.formulas
            for key in atoms(node)
            if isinstance(key, tuple) and key[0] == "name"
        }
        used |= {
            str(key) for s in body for _, node in s.formulas for key in atoms(node) if isinstance(key, sympy.Symbol)
        }
        shown = tuple((name, node) for name, node in constants.items() if name in used)
        if shown:
            out.append(Section("Constants", shown))
    return out + body

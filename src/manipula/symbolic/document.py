"""What is written, in which order: sections of labelled formulas, the same for every notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from manipula.algebra.arguments import rows_of
from manipula.errors import unknown_name
from manipula.robot.link import TIP
from manipula.symbolic.expression_tree import ZERO, Atom, Node, add, atoms, product, spread_decimals

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations

Rows = list[list[Node]]
Labelled = tuple[str, Node | Rows]


@dataclass(frozen=True)
class Section:
    """A heading and formulas with their labels (``M11``, ``tau1``); a formula may be a matrix, a list of rows."""

    title: str
    formulas: tuple[Labelled, ...]

    @property
    def nodes(self) -> list[Node]:
        """Every formula, matrices by their entries."""
        return [
            node
            for _, value in self.formulas
            for row in (value if isinstance(value, list) else [[value]])
            for node in row
        ]


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
    rows = eq.link_formulas.pose(TIP)
    names = [[f"R{i + 1}{j + 1}" for j in range(3)] for i in range(3)]
    formulas = [(names[i][j], rows[i][j]) for i in range(3) for j in range(3)]
    return Section("Pose of the tip", (*formulas, *((a, rows[i][3]) for i, a in enumerate("xyz"))))


def _jacobian(eq: Equations) -> Section:
    rows = eq.link_formulas.jacobian(TIP, "base")
    return Section(
        "Jacobian of the tip, linear part first",
        tuple((_label(eq, "J", i, j), rows[i][j]) for i in range(6) for j in range(eq.robot.n)),
    )


# Links --------------------------------------------------------------------------------------------------------------


def _of_links(eq: Equations, title: str, letter: str, one: Callable[[int], Node | Rows]) -> Section:
    """One formula per link; labels keep clear of the names of parameters and constants."""
    count = len(eq.robot.bodies)
    taken = {*eq.robot.parameters, *eq.definition_nodes}
    letter += "_link" if any(f"{letter}{i + 1}" in taken for i in range(count)) else ""
    return Section(title, tuple((f"{letter}{i + 1}", one(i)) for i in range(count)))


def _column_of(nodes: Sequence[Node]) -> Rows:
    return [[node] for node in nodes]


def _name(eq: Equations, link: int) -> str:
    return eq.robot.bodies[link].name


def _poses(eq: Equations) -> Section:
    return _of_links(eq, "Poses of the links", "T", lambda i: eq.link_formulas.pose(_name(eq, i)))


def _rotations(eq: Equations) -> Section:
    return _of_links(
        eq, "Rotations of the links", "A", lambda i: [row[:3] for row in eq.link_formulas.pose(_name(eq, i))[:3]]
    )


def _positions(eq: Equations) -> Section:
    return _of_links(
        eq, "Origins of the links", "p", lambda i: [row[3:] for row in eq.link_formulas.pose(_name(eq, i))[:3]]
    )


def _angular_velocities(eq: Equations) -> Section:
    title = "Angular velocities of the links, in their own axes"
    return _of_links(eq, title, "omega", lambda i: _column_of(eq.link_formulas.twist(_name(eq, i), "body")[3:]))


def _centres(eq: Equations) -> Section:
    return _of_links(eq, "Centres of mass", "rC", lambda i: _column_of(eq.link_formulas.centre(i)))


def _centre_velocities(eq: Equations) -> Section:
    title = "Velocities of the centres of mass"
    return _of_links(eq, title, "vC", lambda i: _column_of(eq.link_formulas.centre_velocity(i, "base")))


def _pose_slopes(eq: Equations) -> Section:
    found = []
    for i in range(len(eq.robot.bodies)):
        for j in range(eq.robot.n):
            rows = eq.link_formulas.pose_slope(_name(eq, i), j)
            if any(node != ZERO for row in rows for node in row):
                found.append((_label(eq, "U", i, j), rows))
    return Section("Derivatives of the poses, Uij = dTi/dqj; the others are zero", tuple(found))


def _pseudo_inertias(eq: Equations) -> Section:
    return _of_links(
        eq, "Pseudo-inertias of the links, in their own frames", "P", lambda i: eq.link_formulas.pseudo_inertia(i)
    )


def _christoffel(eq: Equations) -> Section:
    found = tuple((_label(eq, "h", *place), node) for place, node in eq.formulas.christoffel.items())
    return Section("Christoffel symbols, hkij = hkji; the others are zero", found)


def _energies(eq: Equations) -> Section:
    kinetic = _of_links(eq, "", "Ek", eq.link_formulas.kinetic_energy_of)
    potential = _of_links(eq, "", "Ep", eq.link_formulas.potential_energy_of)
    return Section("Kinetic and potential energies of the links", kinetic.formulas + potential.formulas)


SECTIONS: dict[str, Callable[[Any], Section]] = {
    "M": _mass, "C": _coriolis, "h": _velocity, "g": _gravity, "tau": _torques, "T": _kinetic, "V": _potential,
    "friction": _friction, "pose": _pose, "jacobian": _jacobian, "poses": _poses, "rotations": _rotations, "positions": _positions,
    "angular_velocities": _angular_velocities, "com": _centres, "com_velocities": _centre_velocities, "U": _pose_slopes,
    "pseudo_inertia": _pseudo_inertias, "christoffel": _christoffel, "energies": _energies,
}  # fmt: skip


def chosen_sections(only: Sequence[str] | str | None) -> list[str]:
    """Names of sections from ``"M,g"``, ``"all"`` or a sequence; empty when nothing was chosen."""
    if isinstance(only, str) and only == "all":
        return list(SECTIONS)
    names = (
        [n.strip() for n in only.split(",")] if isinstance(only, str) else rows_of(() if only is None else only, "only")
    )
    for name in names:
        if not isinstance(name, str) or name not in SECTIONS:
            raise unknown_name("part of the equations", name, [*SECTIONS, "all"], field="only")
    return list(names)


def sections(eq: Equations, only: Sequence[str] | str | None = None) -> list[Section]:
    """The document (:func:`_derived`) with decimals multiplied out, as people write them."""
    return [Section(s.title, tuple((label, _spread(value)) for label, value in s.formulas)) for s in _derived(eq, only)]


def _spread(value: Node | Rows) -> Node | Rows:
    return [[spread_decimals(x) for x in row] for row in value] if isinstance(value, list) else spread_decimals(value)


def _derived(eq: Equations, only: Sequence[str] | str | None) -> list[Section]:
    """The document: definitions of constants first, then the parts.

    Without a choice: M, then tau with the entries of M by name, then friction if there is any.
    """
    names = chosen_sections(only)
    out: list[Section] = []
    if eq.level == "recursive":
        if isinstance(only, str) and only == "all":
            names = [name for name in names if name not in ("M", "C", "h", "g", "T", "V", "christoffel")]
        body = [SECTIONS[name](eq) for name in names or ["tau"]]
        if not names or "tau" in names:
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
        keys = {key for section in body for node in section.nodes for key in atoms(node)}
        used = set[str]().union(*(_names(key) for key in keys))
        shown = tuple((name, node) for name, node in constants.items() if name in used)
        if shown:
            out.append(Section("Constants", shown))
    return out + body


def _names(key: Any) -> set[str]:
    """Names of constants in an atom: one name, or the symbols of a formula that is kept whole, as those of friction are."""
    if isinstance(key, sympy.Basic):
        return {str(symbol) for symbol in key.free_symbols}
    return {key[1]} if key[0] == "name" else set()

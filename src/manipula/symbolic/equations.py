r"""The equations of motion of a robot, in symbols.

.. math:: M(q)\,\ddot q + C(q,\dot q)\,\dot q + g(q) + \tau_f(\dot q) = \tau + J^T f

Derived by running the recursions of ``physics`` on trigonometric polynomials; received as ordinary SymPy expressions of the
symbols ``q1 … qn``, ``dq1 … dqn``, ``ddq1 … ddqn`` and the robot's parameters, or as text, LaTeX, HTML, JSON.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy

from manipula.algebra.arguments import whole_number
from manipula.errors import DescriptionError
from manipula.lazy import cached_property
from manipula.robot.robot import Robot
from manipula.symbolic import friction as friction_terms
from manipula.symbolic.base_parameters import SymbolicBaseParameters, base_parameters
from manipula.symbolic.budget import DEFAULT_TERMS, TermBudget
from manipula.symbolic.collect import Collector
from manipula.symbolic.derive import Derivation
from manipula.symbolic.exact import RIGHT_ANGLE, ROUNDING, inertia_symbols, symbolic_moments
from manipula.symbolic.expression_tree import Atom, Node, add, product
from manipula.symbolic.levels import Inertia, Level, Lumps, RightAngles, check_inertia, check_level, check_right_angles
from manipula.symbolic.linearise import Linearisation
from manipula.symbolic.link_equations import LinkEquations
from manipula.symbolic.motion_formulas import MotionFormulas, Progress
from manipula.symbolic.names import Names, SymbolNames, natural
from manipula.symbolic.recursive import Recursion
from manipula.symbolic.to_sympy import SympyWriter
from manipula.symbolic.written_equations import WrittenEquations
from manipula.verbs import notebook_html

if TYPE_CHECKING:
    from manipula.native import Kernel


def equations(
    robot: Robot,
    level: Level = "compact",
    *,
    inertia: Inertia = "given",
    right_angles: RightAngles = "nearest",
    names: Names = "numbered",
    limit: int = DEFAULT_TERMS,
    progress: Progress | None = None,
) -> Equations:
    """The equations of motion of ``robot``.

    Args:
        level: "raw" (every term written out), "compact" (folded, physical parameters), "lumped" (constants p1, p2 … with
            their definitions), "base" (the fewest inertial constants, with their definitions) or "recursive" (a sequence of
            assignments, Newton–Euler; for robots whose closed forms are too long to read).
        inertia: "given" uses the robot's own masses and inertias; "symbolic" gives every link ten symbols
            ``m1, mx1, my1, mz1, Ixx1, Ixy1, Ixz1, Iyy1, Iyz1, Izz1``: mass, first moments, and inertia about the origin of the
            joint-centred frame (the link frame of URDF and modified DH), tensor entries.
        right_angles: "nearest" takes rotations within 1e-9 rad of right angles as such (files round π/2), which :attr:`Equations.snapped`
            and every printed form tell; "given" keeps the file's numbers, and terms of size 1e-10 with them.
        names: what joint variables are called: "numbered" is ``q1, dq1, ddq1``; "joints" takes the names of the joints, which in a
            13-column file are those of its variables, ``th1, th1d, th1dd``; or three names per joint.
        limit: number of terms of M beyond which the robot is refused at this level.
        progress: called with what is being done, entries finished, entries in all.
    """
    return Equations(
        robot, level, inertia=inertia, right_angles=right_angles, names=names, limit=limit, progress=progress
    )


class Equations(LinkEquations, WrittenEquations):
    """Equations of one robot at one level. Nothing is derived until it is asked for, and M does not pay for C.

    ``tau`` is ``M qdd + h + g`` as in ``model.inverse_dynamics``: friction is :attr:`friction`, apart.
    """

    def __init__(
        self, robot: Robot, level: Level = "compact", *, inertia: Inertia = "given", right_angles: RightAngles = "nearest",
        names: Names = "numbered", limit: int = DEFAULT_TERMS, progress: Progress | None = None,
    ) -> None:  # fmt: skip
        check_level(level)
        check_inertia(inertia)
        check_right_angles(right_angles)
        if not isinstance(robot, Robot):
            raise DescriptionError(
                f"equations() takes a Robot, found {type(robot).__name__}; read a file with load(...)."
            )
        if robot.n == 0:
            raise DescriptionError(f"Robot '{robot.name}' has no joints, so it has no equations of motion.")
        self.robot, self.level, self.inertia, self.right_angles = robot, level, inertia, right_angles
        self.names = SymbolNames(robot, names)
        self._budget = TermBudget(whole_number(limit, "limit", 0, 10**9), level)
        self._progress = progress
        self._writer = SympyWriter(self.names)

    # Derivation, on demand ----------------------------------------------------------------------------------------

    @cached_property
    def _derivation(self) -> Derivation:
        moments_of = None
        if self.inertia == "symbolic":
            moments_of = lambda ring, i: symbolic_moments(ring, inertia_symbols(i))  # noqa: E731
        near = RIGHT_ANGLE if self.right_angles == "nearest" else 2 * ROUNDING
        derivation = Derivation(self.robot, self._budget, moments_of, sums=self.level != "raw", right_angle=near)
        self.names.phases = derivation.angle_sums.phases
        return derivation

    @cached_property
    def _base(self) -> SymbolicBaseParameters:
        return base_parameters(self._derivation)

    @cached_property
    def _lumps(self) -> Lumps | None:
        return Lumps(set(self.robot.parameters)) if self.level == "lumped" else None

    @cached_property
    def formulas(self) -> MotionFormulas:
        """The formulas behind the SymPy attributes, as :mod:`manipula.symbolic.expression_tree` trees."""
        if self.level == "recursive":
            raise DescriptionError(
                "Level 'recursive' gives tau as a sequence of assignments (.assignments, .tau); "
                "M, C, h and g are parts of the levels 'raw', 'compact', 'lumped' and 'base'."
            )
        derivation = self._base.derivation if self.level == "base" else self._derivation
        collector = self._collector(derivation, self._lumps)
        lumped = self.level == "lumped"
        numbered = lumped and (self.inertia == "symbolic" or bool(self.robot.parameters))
        return MotionFormulas(derivation, collector, self.level != "raw", self._progress, lumped, numbered)

    def _collector(self, derivation: Derivation, lump: Any = None) -> Collector:
        known: dict[Any, Any] = {}

        def order(key: Any) -> Any:
            found = known.get(key)
            if found is None:
                found = known[key] = natural(self.names.text(key))
            return found

        return Collector(derivation.expand, order, lump)

    # SymPy --------------------------------------------------------------------------------------------------------

    def _matrix(self, rows: list[list[Node]]) -> sympy.Matrix:
        return sympy.Matrix([[self._writer.write(node) for node in row] for row in rows])

    def _vector(self, nodes: list[Node]) -> sympy.Matrix:
        return sympy.Matrix([self._writer.write(node) for node in nodes])

    @property
    def q(self) -> sympy.Matrix:
        """Joint variables, n×1 [rad or m]."""
        return sympy.Matrix(self.names.q)

    @property
    def qd(self) -> sympy.Matrix:
        return sympy.Matrix(self.names.qd)

    @property
    def qdd(self) -> sympy.Matrix:
        return sympy.Matrix(self.names.qdd)

    @cached_property
    def parameters(self) -> tuple[sympy.Symbol, ...]:
        """Symbols other than q, qd, qdd: of the robot and, where the level has them, of the constants it introduces."""
        names = dict.fromkeys(self.robot.parameters)
        if self.inertia == "symbolic":
            moved = self.robot.replace(payload=None)
            own = {str(s) for i in range(len(self.robot.bodies)) for s in inertia_symbols(i)}
            geometry = {str(s) for s in self._geometry_symbols(moved)}
            names = dict.fromkeys([*sorted(geometry, key=natural), *sorted(own, key=natural)])
        by_name = {s.name: s for s in self._robot_symbols()}
        return tuple(by_name.get(name, sympy.Symbol(name)) for name in [*names, *self.definitions])

    def _robot_symbols(self) -> set[Any]:
        found: set[Any] = set()
        for key in self._derivation.ring.keys:
            for part in key if isinstance(key, tuple) else (key,):
                if isinstance(part, sympy.Basic):
                    found |= part.free_symbols  # pyright: ignore[reportAttributeAccessIssue, reportOperatorIssue]
        return found

    def _geometry_symbols(self, robot: Robot) -> set[Any]:
        inertial = {s for i in range(len(robot.bodies)) for s in inertia_symbols(i)}
        return self._robot_symbols() - inertial

    @cached_property
    def M(self) -> sympy.Matrix:
        """Mass matrix, n×n, rotor inertia on its diagonal."""
        return self._matrix(self.formulas.M)

    @cached_property
    def C(self) -> sympy.Matrix:
        """Christoffel matrix, n×n: ``Ṁ − 2C`` is skew."""
        return self._matrix(self.formulas.C)

    @cached_property
    def h(self) -> sympy.Matrix:
        """Centrifugal and Coriolis torques C·qd, n×1."""
        return self._vector(self.formulas.h)

    @cached_property
    def g(self) -> sympy.Matrix:
        """Gravity torques, n×1."""
        return self._vector(self.formulas.g)

    @cached_property
    def tau(self) -> sympy.Matrix:
        """``M qdd + h + g``, n×1. At level "recursive": in terms of the symbols of :attr:`assignments`."""
        if self.level == "recursive":
            return self._vector(self.recursion.tau)
        return self._vector(self.formulas.tau)

    @cached_property
    def kinetic_energy(self) -> Any:
        return self._writer.write(self.formulas.kinetic_energy)

    @cached_property
    def potential_energy(self) -> Any:
        """Zero at the origin of the outer frame (at level "base": up to a constant)."""
        return self._writer.write(self.formulas.potential_energy)

    @cached_property
    def friction(self) -> sympy.Matrix:
        """Friction torques tau_f(qd), n×1; zero where a joint has no law. They stand on the left, beside g."""
        return sympy.Matrix(
            [friction_terms.torque(joint, self.names.qd[i], i) for i, joint in enumerate(self.robot.joints)]
        )

    @property
    def snapped(self) -> dict[str, float]:
        """Rotations that were taken as whole right angles although the robot's numbers say otherwise: place → angle [rad].

        The equations are those of a robot whose joints are turned by these angles; against the robot's own numbers they are
        off by about that much, relative to the largest torque. ``right_angles="given"`` keeps the numbers.
        """
        return dict(self._derivation.scalars.snapped)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the equations has to know, as sentences: which joints follow others, and :attr:`snapped`."""
        led = (
            f"Joint {f.name} follows: {f.name} = {f.formula(str(self.names.q[f.leader]))}."
            for f in self.robot.followers
        )
        return (
            *led,
            *(
                f"The rotation of {place} is {angle:.2g} rad off whole right angles and was taken as exact."
                for place, angle in self.snapped.items()
            ),
        )

    @property
    def definition_nodes(self) -> dict[str, Node]:
        """Formulas of the constants that the level introduces."""
        if self.level == "lumped":
            assert self._lumps is not None
            _ = self.formulas.M, self.formulas.h, self.formulas.g
            return self._lumps.definitions
        return self._base_definitions if self.level == "base" else {}

    @cached_property
    def _base_definitions(self) -> dict[str, Node]:
        given, collector = self._derivation, self._collector(self._derivation)
        out = {}
        for name, pieces in self._base.definitions.items():
            nodes = []
            for factor, polynomial in pieces:
                node = collector.collect(given.terms(polynomial))
                nodes.append(node if factor == 1 else product(1, Atom(factor), node))
            out[name] = add(nodes)
        return out

    @property
    def definitions(self) -> dict[str, Any]:
        """SymPy expressions of the constants that the levels "lumped" and "base" introduce, by name.

        At level "lumped": those of M, h, g and tau, and of whatever else was asked for before; a constant has the same name in
        whatever order parts are asked for.
        """
        return {name: self._writer.write(node) for name, node in self.definition_nodes.items()}

    # Recursive ----------------------------------------------------------------------------------------------------

    @cached_property
    def recursion(self) -> Recursion:
        return Recursion(self._derivation, self.names)

    @cached_property
    def assignments(self) -> list[tuple[sympy.Symbol, Any]]:
        """At level "recursive": symbols and expressions in the order in which they are computed, before tau."""
        if self.level != "recursive":
            return []
        return [(sympy.Symbol(name), self._writer.write(node)) for name, node in self.recursion.assignments]

    # For machines -------------------------------------------------------------------------------------------------

    def linearise(self, *, at_rest: bool = False) -> Linearisation:
        """Small motions about any state (or any state of rest): matrices M, D, K of ``M δqdd + D δqd + K δq = δtau``."""
        return Linearisation.of(self, at_rest)

    def compile(self, what: Any, values: Mapping[str, float] | None = None) -> Kernel:
        """Formulas as machine code: ``eq.compile("M")(q)`` computes what ``compile(robot).mass_matrix(q)`` does, by another route.

        Args:
            what: "M", "C", "h", "g", "tau", "friction", "kinetic_energy", "potential_energy", or any SymPy expression or matrix of
                the symbols of these equations, such as ``eq.M.diff(eq.q[0])``.
            values: numbers for parameters by name.

        Returns:
            A function of q, qd, qdd, each ``(..., n)``, as far as ``what`` needs them, and last of ``parameters`` ``(..., k)`` if k of
            :attr:`parameters` have no value, in their order there. A column comes out as a vector.
        """
        from manipula.symbolic.lower import compile_equations

        if values is not None and not isinstance(values, Mapping):
            raise DescriptionError(
                f"'values' is a table of numbers by name, found {type(values).__name__}.", field="values"
            )
        return compile_equations(self, what, values or {})

    def __reduce__(self) -> Any:
        """Robot and choices travel; what is asked for is derived again. A function that was told the progress stays behind."""
        names = [(q.name, qd.name, qdd.name) for q, qd, qdd in zip(self.names.q, self.names.qd, self.names.qdd)]
        choices = {
            "inertia": self.inertia,
            "right_angles": self.right_angles,
            "names": names,
            "limit": self._budget.terms,
        }
        return functools.partial(type(self), **choices), (self.robot, self.level)

    def __repr__(self) -> str:
        return f"Equations('{self.robot.name}', {self.robot.n} joints, level '{self.level}')"

    def _repr_html_(self) -> str | None:
        """Typeset, for notebooks."""
        return notebook_html(self)

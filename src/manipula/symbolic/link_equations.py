r"""Kinematics and energies of single links, and the Christoffel symbols, as SymPy expressions: the part of the equations that papers
derive the rest from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from manipula.errors import ShapeError, printable, unknown_name
from manipula.lazy import cached_property
from manipula.physics.kinematics import ExpressedIn, check_axes
from manipula.robot.link import TIP
from manipula.robot.robot import Robot
from manipula.symbolic.link_formulas import LinkFormulas

if TYPE_CHECKING:
    from manipula.symbolic.collect import Collector
    from manipula.symbolic.derive import Derivation
    from manipula.symbolic.expression_tree import Node


class LinkEquations(ABC):
    """What :class:`manipula.symbolic.equations.Equations` says about links. Links and joints are counted from 1, as in papers.

    A link is meant with the payload that it carries. Links need no condensed constants: at every level their formulas are in the
    parameters of the robot itself.
    """

    robot: Robot
    level: str
    inertia: str
    formulas: Any  # MotionFormulas of the level, and the Derivation over the robot's own parameters: made on first use
    _derivation: Any

    @abstractmethod
    def _collector(self, derivation: Derivation, lump: Any = None) -> Collector: ...

    @abstractmethod
    def _matrix(self, rows: list[list[Node]]) -> sympy.Matrix: ...

    @abstractmethod
    def _vector(self, nodes: list[Node]) -> sympy.Matrix: ...

    @cached_property
    def link_formulas(self) -> LinkFormulas:
        """The formulas behind these expressions, as trees; links are counted from 0 there."""
        formulas = LinkFormulas(self._derivation, self._collector(self._derivation), self.level != "raw")
        formulas.symbolic = self.inertia == "symbolic"
        return formulas

    def _counted(self, k: Any, largest: int, what: str) -> int:
        """The index from 0 of a link or joint that is counted from 1."""
        if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or not 1 <= k <= largest:
            raise ShapeError(f"'{self.robot.name}' needs a {what} from 1 to {largest}; found {printable(repr(k))}.")
        return int(k) - 1

    def _link(self, link: str | int) -> int:
        """A link by its name or number, counted from 0; those of coupled joints come after the others."""
        names = [body.name for body in self.robot.bodies]
        if isinstance(link, str):
            if link not in names:
                raise unknown_name(f"moving link of '{self.robot.name}'", link, names, field="link")
            return names.index(link)
        return self._counted(link, len(names), "link")

    def _frame(self, frame: str | int) -> str:
        """A frame's name; a whole number counts links from 1."""
        return frame if isinstance(frame, str) else self.robot.bodies[self._link(frame)].name

    def T(self, frame: str | int = TIP) -> sympy.Matrix:
        r"""Pose of a frame (name, or link number) in the outer frame, 4×4.

        .. math:: T_i = H_1 H_2\cdots H_i = \begin{bmatrix} A_i & p_i \\ 0 & 1 \end{bmatrix}

        [Khang & Trung (2.3)]
        """
        return self._matrix(self.link_formulas.pose(self._frame(frame)))

    def A(self, frame: str | int = TIP) -> sympy.Matrix:
        """Rotation of a frame, 3×3: the axes of the frame as columns."""
        return sympy.Matrix(self.T(frame)[:3, :3])

    def p(self, frame: str | int = TIP) -> sympy.Matrix:
        """Origin of a frame, 3×1 [m]."""
        return sympy.Matrix(self.T(frame)[:3, 3])

    def U(self, link: str | int, joint: int) -> sympy.Matrix:
        r"""How the pose of a link changes with one joint, 4×4; zero where that joint does not move the link.

        .. math:: U_{ij} = \frac{\partial T_i}{\partial q_j} = T_{j-1}\,Q_j\,T_{j-1}^{-1}\,T_i \ \text{(standard DH)},\qquad
                  M_{jk} = \sum_i \mathrm{tr}\left(U_{ij}\,P_i\,U_{ik}^T\right) + \delta_{jk} I_{rotor,j}

        with :meth:`pseudo_inertia` P. The first index is the link [Arora (3.38); Fu, Gonzalez & Lee].
        """
        j = self._counted(joint, self.robot.n, "joint")
        return self._matrix(self.link_formulas.pose_slope(self._frame(self._link(link) + 1), j))

    def jacobian(self, frame: str | int = TIP, expressed_in: ExpressedIn = "base") -> sympy.Matrix:
        """Geometric Jacobian at the frame's origin, 6×n, linear part first."""
        return self._matrix(self.link_formulas.jacobian(self._frame(frame), expressed_in))

    def velocity(self, frame: str | int = TIP, expressed_in: ExpressedIn = "base") -> sympy.Matrix:
        """Velocity of the frame's origin, 3×1."""
        return self._vector(self.link_formulas.twist(self._frame(frame), expressed_in)[:3])

    def angular_velocity(self, frame: str | int = TIP, expressed_in: ExpressedIn = "body") -> sympy.Matrix:
        r"""Angular velocity, 3×1, in the axes of the frame: :math:`\tilde\omega_i = A_i^T\dot A_i` [Khang & Trung (2.4)]."""
        return self._vector(self.link_formulas.twist(self._frame(frame), expressed_in)[3:])

    def com(self, link: str | int) -> sympy.Matrix:
        r"""Centre of mass of a link in the outer frame, 3×1 [m]: :math:`r_{Ci} = p_i + A_i\,c_i` [Khang & Trung (2.5)]."""
        return self._vector(self.link_formulas.centre(self._link(link)))

    def com_velocity(self, link: str | int, expressed_in: ExpressedIn = "base") -> sympy.Matrix:
        r"""Velocity of a link's centre of mass, 3×1: :math:`v_{Ci} = \dot r_{Ci} = J_{Ci}\,\dot q` [Khang & Trung (2.6)]."""
        check_axes(expressed_in)
        return self._vector(self.link_formulas.centre_velocity(self._link(link), expressed_in))

    def pseudo_inertia(self, link: str | int) -> sympy.Matrix:
        r"""Pseudo-inertia of a link in its own frame, 4×4: positive products, not the entries of a tensor [Arora (3.21)].

        .. math:: P_i = \int \begin{bmatrix} r \\ 1 \end{bmatrix}\begin{bmatrix} r \\ 1 \end{bmatrix}^T dm
            = \begin{bmatrix} \tfrac12\mathrm{tr}(J)\,1 - J & m c \\ m c^T & m \end{bmatrix},
            \qquad J = I_C + m(c^Tc\,1 - c\,c^T)
        """
        return self._matrix(self.link_formulas.pseudo_inertia(self._link(link)))

    def link_kinetic_energy(self, link: str | int) -> Any:
        r"""Kinetic energy of one link, with the rotor of its joint [J]; those of all links add up to ``kinetic_energy``.

        .. math:: T_i = \tfrac12 m_i v_{Ci}^T v_{Ci} + \tfrac12\,\omega_i^T I_{Ci}\,\omega_i + \tfrac12 I_{rotor,i}\,\dot q_i^2
                  = \tfrac12\sum_{jk}\mathrm{tr}\left(U_{ij} P_i U_{ik}^T\right)\dot q_j\dot q_k + \tfrac12 I_{rotor,i}\,\dot q_i^2

        [Arora (3.28)]
        """
        return self._vector([self.link_formulas.kinetic_energy_of(self._link(link))])[0]

    def link_potential_energy(self, link: str | int) -> Any:
        r"""Potential energy of one link [J], zero at the origin of the outer frame: :math:`V_i = -m_i\,g^T r_{Ci}`.

        Those of all links add up to ``potential_energy`` [Khang & Trung (2.9)].
        """
        return self._vector([self.link_formulas.potential_energy_of(self._link(link))])[0]

    def christoffel(self, k: int, i: int, j: int) -> Any:
        r"""Christoffel symbol of the first kind, symmetric in its last two indices.

        .. math:: h_{kij} = \tfrac12\left(\frac{\partial M_{ki}}{\partial q_j} + \frac{\partial M_{kj}}{\partial q_i}
                  - \frac{\partial M_{ij}}{\partial q_k}\right),\qquad C_{ki} = \sum_j h_{kij}\,\dot q_j,\qquad
                  h_k = \sum_{ij} h_{kij}\,\dot q_i\dot q_j

        That is Arora's :math:`h_{kij} = \sum_p\mathrm{tr}(\partial U_{pi}/\partial q_j\,P_p\,U_{pk}^T)` (3.36, corrected), and the mean of
        Khang and Trung's :math:`\partial M_{ki}/\partial q_j - \tfrac12\,\partial M_{ij}/\partial q_k` and the same with i and j
        exchanged.
        """
        a, b, c = (self._counted(x, self.robot.n, "joint") for x in (k, i, j))
        node = self.formulas.christoffel.get((a, min(b, c), max(b, c)))
        return sympy.Integer(0) if node is None else self._vector([node])[0]

    def generalised_forces(
        self, frame: str | int = TIP, force: Sequence[Any] = (0, 0, 0), moment: Sequence[Any] = (0, 0, 0)
    ) -> sympy.Matrix:
        r"""Joint torques of a force at a frame's origin and a moment, both in base axes: :math:`Q = J^T[f; m]`, n×1.

        They stand on the right of the equation of motion, beside tau.
        """
        wrench = sympy.Matrix([*force, *moment])
        if wrench.shape != (6, 1):
            raise ShapeError(f"A force and a moment have 3 entries each, found {len(force)} and {len(moment)}.")
        return self.jacobian(frame).T * wrench

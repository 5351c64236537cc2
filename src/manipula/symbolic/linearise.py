r"""Small motions about a state, in symbols.

.. math:: M\,\delta\ddot q + D\,\delta\dot q + K\,\delta q = \delta\tau,\qquad
          D = \frac{\partial\tau}{\partial\dot q} = 2C + \frac{\partial\tau_f}{\partial\dot q},\quad
          K = \frac{\partial\tau}{\partial q}

The Christoffel symbols are symmetric in their last two indices, so :math:`\partial h/\partial\dot q = 2C`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from manipula.errors import ShapeError

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations


@dataclass(frozen=True)
class Linearisation:
    """Attributes:

    M, D, K: SymPy matrices n×n, functions of q, qd and qdd (of q alone at rest).
    q, qd, qdd: the symbols they are written in.
    """

    M: sympy.Matrix
    D: sympy.Matrix
    K: sympy.Matrix
    q: tuple[sympy.Symbol, ...]
    qd: tuple[sympy.Symbol, ...]
    qdd: tuple[sympy.Symbol, ...]

    def __post_init__(self) -> None:
        for name in ("M", "D", "K"):  # a value: its matrices do not change, so that it hashes
            object.__setattr__(self, name, sympy.ImmutableMatrix(getattr(self, name)))

    @classmethod
    def of(cls, equations: Equations, at_rest: bool) -> Linearisation:
        """Of the equations at any state, or at rest (no velocity, no acceleration), where only g matters for K."""
        names, formulas = equations.names, equations.formulas
        rates = dict.fromkeys(names.qd, 0)
        resisting = sympy.diag(
            *(
                sympy.diff(f, qd)
                for f, qd in zip(list(equations.friction), names.qd)  # pyright: ignore[reportArgumentType]
            )
        )
        if at_rest:
            K = equations._matrix(formulas.gravity_stiffness)
            D = resisting.xreplace(rates)
        else:
            K = equations._matrix(formulas.stiffness)
            D = 2 * equations.C + resisting
        return cls(equations.M, D, K, tuple(names.q), tuple(names.qd), tuple(names.qdd))

    def at(
        self, q: Sequence[Any], qd: Sequence[Any] | None = None, qdd: Sequence[Any] | None = None,
        parameters: Mapping[Any, Any] | None = None,
    ) -> Linearisation:  # fmt: skip
        """The same with values (numbers or expressions) put in for the state and, by name, for parameters."""
        n = len(self.q)
        values: dict[Any, Any] = {}
        for what, symbols, given in (("q", self.q, q), ("qd", self.qd, qd), ("qdd", self.qdd, qdd)):
            given = [0] * n if given is None else list(given)
            if len(given) != n:
                raise ShapeError(f"{what} needs {n} entries, found {len(given)}.")
            values |= dict(zip(symbols, given))
        named = {str(k): v for k, v in (parameters or {}).items()}
        for matrix in (self.M, self.D, self.K):
            values |= {s: named[s.name] for s in matrix.free_symbols if s.name in named}  # pyright: ignore
        M, D, K = (m.subs(values) for m in (self.M, self.D, self.K))
        return Linearisation(M, D, K, self.q, self.qd, self.qdd)

    def state_space(self) -> tuple[sympy.Matrix, sympy.Matrix]:
        r"""``A, B`` of :math:`\dot x = A x + B\,\delta\tau` with :math:`x = (\delta q, \delta\dot q)`, 2n×2n and 2n×n."""
        n = len(self.q)
        inverse = self.M.inv()
        A = sympy.Matrix(sympy.BlockMatrix([[sympy.zeros(n), sympy.eye(n)], [-inverse * self.K, -inverse * self.D]]))
        B = sympy.Matrix.vstack(sympy.zeros(n), inverse)
        return A, B

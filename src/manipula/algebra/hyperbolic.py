r"""sinh, cosh and tanh as SymPy has them, without its search for zeros of the imaginary part.

To learn whether :math:`\sinh z` is real, SymPy divides Im z by π as polynomials; for :math:`z = x^{4.2363148202102}` these have a degree
of 4·10¹³. It asks whenever a sum or product with such a term is raised to a power. Here they are real where z is, else it is not known.

The module imports SymPy and is itself imported when a formula is made of symbols.
"""

from __future__ import annotations

from typing import Any

import sympy

# The names of the classes are those of SymPy's: what prints, evaluates and lowers an expression goes by them.


class sinh(sympy.sinh):
    """Hyperbolic sine."""

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None

    def fdiff(self, argindex: int = 1) -> Any:
        return cosh(self.args[0]) if argindex == 1 else super().fdiff(argindex)


class cosh(sympy.cosh):
    """Hyperbolic cosine."""

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None

    _eval_is_positive = _eval_is_nonnegative = _eval_is_real

    def fdiff(self, argindex: int = 1) -> Any:
        return sinh(self.args[0]) if argindex == 1 else super().fdiff(argindex)


class tanh(sympy.tanh):
    """Hyperbolic tangent."""

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_real else None

    _eval_is_finite = _eval_is_real


OWN: dict[Any, Any] = {sympy.sinh: sinh, sympy.cosh: cosh, sympy.tanh: tanh}

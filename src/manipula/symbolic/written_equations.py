"""The equations in every notation: what :class:`manipula.symbolic.equations.Equations` offers to readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manipula.symbolic.render import Digits, render

Only = Sequence[str] | str | None


class WrittenEquations:
    """One method per notation.

    Each takes ``only``, the parts to write (``"M,g"``, see :data:`manipula.symbolic.document.SECTIONS`, or ``"all"``), and
    ``digits``: significant digits of decimals, or "exact" for the shortest text that reads back as the same float. The SymPy
    attributes hold exact values whatever is written.
    """

    def text(self, only: Only = None, digits: Digits = None) -> str:
        """Plain text in the papers' notation: ``c1``, ``s23``, ``dq1``, ``ddq1``."""
        return self._written("text", only, digits)

    def unicode(self, only: Only = None, digits: Digits = None) -> str:
        """Text with subscripts and dots."""
        return self._written("unicode", only, digits)

    def latex(self, only: Only = None, digits: Digits = None, *, standalone: bool = False) -> str:
        """``align*`` environments, long lines broken, six digits; ``standalone`` makes a document that pdflatex compiles."""
        return self._written("latex", only, digits, standalone=standalone)

    def html(self, only: Only = None, digits: Digits = None) -> str:
        """One page that opens without a network: MathML, which browsers draw themselves, with the LaTeX inside; six digits."""
        return self._written("html", only, digits)

    def matlab(self, only: Only = None, digits: Digits = None) -> str:
        """A script for MATLAB and Octave that computes the parts from variables q1, dq1, … and parameters."""
        return self._written("matlab", only, digits)

    def json(self, only: Only = None, digits: Digits = None) -> str:
        """The texts with their names, abbreviations and definitions, for programs."""
        return self._written("json", only, digits)

    def _written(self, format: str, only: Only, digits: Digits, **more: Any) -> str:
        return render(self, format, only, digits=digits, **more)  # pyright: ignore[reportArgumentType]

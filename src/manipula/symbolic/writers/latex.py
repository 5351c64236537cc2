r"""LaTeX: aligned at the equals sign, broken into lines before a plus or minus of the top level."""

from __future__ import annotations

import re

from manipula.symbolic.expression_tree import Atom, Node, Product
from manipula.symbolic.writers.base import FormulaWriter, nested, split_number

LINE = 90  # characters of visible mathematics in one line


class LatexWriter(FormulaWriter):
    """One formula a label; :meth:`aligned` makes rows of an ``align*`` environment."""

    def product(self, node: Product) -> str:
        above, below = split_number(node.coefficient)
        parts = [self.factor(f, k) for f, k in node.factors]
        if "e" in above:
            mantissa, exponent = above.split("e")
            above = rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        if below:
            parts.insert(0, rf"\frac{{{above}}}{{{below}}}")
        elif above != "1" or not parts:
            parts.insert(0, above)
        return r"\, ".join(parts)

    def factor(self, node: Node, power: int) -> str:
        body = self.names.latex(node.key) if isinstance(node, Atom) else self.formula(node)
        if nested(node):
            body = rf"\left({body}\right)"
        if power == 1:
            return body
        return f"{{{body}}}^{{{power}}}" if not nested(node) else f"{body}^{{{power}}}"

    def aligned(self, label: str, node: Node) -> str:
        """``label &= term + term \\\\ &\\quad + term``."""
        lines, width = [rf"{label} &= "], 0
        for index, (sign, term) in enumerate(self.pieces(node)):
            size = visible_width(term)
            lead = ("-" if sign == "-" else "") if index == 0 else f" {sign} "
            if width and width + size > LINE:
                lines.append(rf"&\quad {sign} {term}")
                width = size
            else:
                lines[-1] += lead + term
                width += size
        return "\\\\\n".join(lines)


def visible_width(tex: str) -> int:
    """Roughly how many characters a formula takes on the page."""
    shown = re.sub(r"\\(?:left|right|quad|,|mathrm|frac)|[{}_^ ]", "", tex)
    return len(re.sub(r"\\[a-z]+", "x", shown))

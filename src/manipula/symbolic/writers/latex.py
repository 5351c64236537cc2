r"""LaTeX: aligned at the equals sign, and broken into lines that fit a page.

A line is broken before a plus or minus, at the outermost bracket that lets it fit; brackets have fixed sizes (``\bigl(``), because
``\left(`` and ``\right)`` would have to stand in one line.
"""

from __future__ import annotations

import re

from manipula.symbolic.expression_tree import Atom, Node, Product, Sum, is_fraction
from manipula.symbolic.names import SymbolNames
from manipula.symbolic.writers.base import FormulaWriter, nested, split_sign

PAGE = 33.0  # em: the text width of LaTeX's article class, 345 pt, with ten-point letters
EARLIEST = 0.45  # of a line must be full before an inner bracket is kept whole by breaking early
_SIZES = ("", "\\big", "\\Big", "\\bigg")
_WIDTHS = {  # em, of Computer Modern: the wider of math italic and roman
    "m": 0.88, "w": 0.72, "l": 0.3, "i": 0.35, "j": 0.41, "t": 0.36, "A": 0.75, "B": 0.76, "C": 0.72, "D": 0.83, "E": 0.74,
    "F": 0.65, "G": 0.79, "H": 0.83, "I": 0.44, "K": 0.85, "L": 0.68, "M": 0.97, "N": 0.8, "O": 0.78, "P": 0.68, "Q": 0.79,
    "R": 0.76, "S": 0.61, "T": 0.72, "U": 0.75, "V": 0.75, "W": 1.03, "X": 0.83, "Y": 0.75, "Z": 0.68,
}  # fmt: skip


class LatexWriter(FormulaWriter):
    """One formula per label; :meth:`aligned` makes rows of an ``align*`` environment, at most ``width`` em wide."""

    def __init__(self, names: SymbolNames, digits: int | None = None, width: float = PAGE) -> None:
        super().__init__(names, digits)
        self.width = width

    def formula(self, node: Node) -> str:
        return "".join(text for _, text in self._tokens(node))

    def product(self, node: Product) -> str:
        return self.formula(node)

    def factor(self, node: Node, power: int) -> str:
        tokens = [(0, "")]
        self._factor(node, power, 0, tokens)
        return "".join(text for _, text in tokens)

    # Pieces between which a line may break, each with the number of brackets around it ----------------------------

    def _tokens(self, node: Node) -> list[tuple[int, str]]:
        tokens = [(0, "")]
        self._sum(node, 0, tokens)
        return tokens

    def _sum(self, node: Node, depth: int, tokens: list[tuple[int, str]]) -> None:
        for index, signed in enumerate(node.terms if isinstance(node, Sum) else (node,)):
            sign, term = split_sign(signed)
            if index:
                tokens.append((depth, f" {sign} "))
            elif sign == "-":
                _extend(tokens, "-")
            self._term(term, depth, tokens)

    def _term(self, term: Node, depth: int, tokens: list[tuple[int, str]]) -> None:
        if not isinstance(term, Product):
            self._factor(term, 1, depth, tokens)
            return
        above, below = self.number(term.coefficient)
        started = True
        if below:
            _extend(tokens, rf"\frac{{{above}}}{{{below}}}")
        elif above != "1" or not term.factors:
            _extend(tokens, powers_of_ten(above))
        else:
            started = False
        for f, k in term.factors:
            if started:
                _extend(tokens, r"\, ")
            self._factor(f, k, depth, tokens)
            started = True

    def _factor(self, node: Node, power: int, depth: int, tokens: list[tuple[int, str]]) -> None:
        if nested(node):
            size = _SIZES[min(_height(node), 3)]
            _extend(tokens, rf"{size}l(" if size else "(")
            if isinstance(node, Atom):
                _extend(tokens, self.names.latex(node.key, self.digits))
            else:
                self._sum(node, depth + 1, tokens)
            _extend(tokens, rf"{size}r)" if size else ")")
        elif isinstance(node, Atom):
            body = self.names.latex(node.key, self.digits)
            _extend(tokens, body if power == 1 else f"{{{body}}}")
        else:
            self._sum(node, depth + 1, tokens)
        if power != 1:
            _extend(tokens, f"^{{{power}}}")

    # Lines --------------------------------------------------------------------------------------------------------

    def aligned(self, label: str, node: Node) -> str:
        """``label &= term + term \\\\ &\\quad + term``."""
        room = self.width - visible_width(label) - 2.5
        lines: list[str] = []
        current: list[tuple[int, str]] = []
        for token in self._tokens(node):
            current.append(token)
            while len(current) > 1 and visible_width("".join(t for _, t in current)) > room:
                cut = self._break(current, room)
                lines.append("".join(t for _, t in current[:cut]))
                current = current[cut:]
        lines.append("".join(t for _, t in current))
        first, *others = lines
        return "\\\\\n".join([rf"{label} &= {first}", *(rf"&\quad {{}}{line.lstrip()}" for line in others)])

    def _break(self, tokens: list[tuple[int, str]], room: float) -> int:
        """Where an overfull line is broken: at the outermost of the places that leave it reasonably full, the last of those."""
        filled, places = 0.0, []
        for index, (depth, text) in enumerate(tokens):
            if index:
                places.append((filled < EARLIEST * room, depth, -index))
            filled += visible_width(text)
        return -min(places)[2]

    def matrix(self, rows: list[list[Node]]) -> str:
        return matrix_of([[self.formula(node) for node in row] for row in rows])

    def matrix_rows(self, label: str, entry: str, rows: list[list[Node]]) -> str:
        """A matrix, or its entries (``entry`` with their indices) when it is wider than the page."""
        cells = [[self.formula(node) for node in row] for row in rows]
        width = sum(max(visible_width(cell) for cell in column) + 1.0 for column in zip(*cells))
        if width <= self.width - visible_width(label) - 2.5:
            return rf"{label} &= {matrix_of(cells)}"
        single = len(rows[0]) == 1
        return "\\\\\n".join(
            self.aligned(rf"{entry}_{{{i + 1}{'' if single else j + 1}}}", node)
            for i, row in enumerate(rows) for j, node in enumerate(row)
        )  # fmt: skip


def matrix_of(cells: list[list[str]]) -> str:
    """A bracketed matrix."""
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in cells) + r" \end{bmatrix}"


def powers_of_ten(text: str) -> str:
    r"""``5.8e-05`` as ``5.8 \cdot 10^{-5}``."""
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text


def _extend(tokens: list[tuple[int, str]], text: str) -> None:
    depth, before = tokens[-1]
    tokens[-1] = depth, before + text


def _height(node: Node) -> int:
    """How many brackets are nested inside, and one more for a fraction."""
    if isinstance(node, Atom):
        return 0
    if isinstance(node, Sum):
        return max(_height(term) for term in node.terms)
    inside = [_height(f) + 1 for f, _ in node.factors if nested(f)]
    return max([int(is_fraction(node.coefficient) and node.coefficient != 1), *inside])


def visible_width(tex: str) -> float:
    """About how wide a formula is on the page [em]."""
    width = 0.0
    tex = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: max(m[1], m[2], key=len), tex)
    for small in re.findall(r"[_^](?:\{([^{}]*)\}|(.))", tex):
        width += 0.42 * len(re.sub(r"\\[A-Za-z]+", "x", "".join(small)))
    tex = re.sub(r"[_^](?:\{[^{}]*\}|.)", "", tex)
    tex = re.sub(r"\\(?:cos|sin)", "xxx", re.sub(r"\\(?:mathrm|d?dot|[bB]igg?[lr]|left|right)(?![A-Za-z])", "", tex))
    width += 0.2 * tex.count(r"\,") + 1.0 * tex.count(r"\quad")
    tex = re.sub(r"\\[A-Za-z]+", "x", tex.replace(r"\,", "").replace(r"\quad", ""))
    for part in re.findall(r" [+-] |[^{}\s\\&]", tex):
        width += 1.25 if len(part) == 3 else _WIDTHS.get(part, 0.42 if part in "()" else 0.28 if part in ".," else 0.55)
    return width

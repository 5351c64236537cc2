"""MathML: what browsers draw themselves, without a script or a network."""

from __future__ import annotations

import html
import re

from manipula.symbolic.expression_tree import Atom, Node, Product
from manipula.symbolic.names import FRICTION, GREEK_LETTERS, INDEXED, decimal
from manipula.symbolic.writers.base import FormulaWriter, is_atomic, nested

TIMES = '<mo lspace="0" rspace="0.17em">&#8290;</mo>'  # invisible, with a gap that parts names of several letters


class MathmlWriter(FormulaWriter):
    """Fragments of presentation MathML."""

    def operator(self, sign: str) -> str:
        return f"<mo>{'−' if sign == '-' else '+'}</mo>"

    minus = "<mo>−</mo>"

    def product(self, node: Product) -> str:
        above, below = self.number(node.coefficient)
        parts = [self.factor(f, k) for f, k in node.factors]
        if below:
            parts.insert(0, f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>")
        elif above != "1" or not parts:
            mantissa, e, exponent = above.partition("e")
            ten = f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>".replace("-", "−") if e else ""
            parts.insert(0, f"<mn>{mantissa}</mn>{ten}")
        return TIMES.join(parts)

    def factor(self, node: Node, power: int) -> str:
        body = self.atom(node) if isinstance(node, Atom) else self.formula(node)
        if nested(node):
            body = f"<mrow><mo>(</mo>{body}<mo>)</mo></mrow>"
        elif isinstance(node, Product):
            body = f"<mrow>{body}</mrow>"
        return body if power == 1 else f"<msup><mrow>{body}</mrow><mn>{power}</mn></msup>"

    def matrix(self, rows: list[list[Node]]) -> str:
        cells = "".join(
            f"<mtr>{''.join(f'<mtd><mrow>{self.formula(node)}</mrow></mtd>' for node in row)}</mtr>" for row in rows
        )
        return f"<mrow><mo>[</mo><mtable>{cells}</mtable><mo>]</mo></mrow>"

    def atom(self, node: Atom) -> str:
        key = node.key
        if isinstance(key, tuple):
            kind, what = key
            if kind in ("qd", "qdd"):
                dots = "." if kind == "qd" else ".."  # full stops stand clear of the letter, accents touch it
                stem, index = self.names.parts(what)
                letter = html.escape(GREEK_LETTERS.get(stem, stem))
                over = f"<mover><mi>{letter}</mi><mo lspace='0' rspace='0'>{dots}</mo></mover>"
                return f"<msub>{over}<mn>{index}</mn></msub>" if index else over
            if kind in ("c", "s") and not self.names.short(kind, what):
                moving, constant = [(j, k) for j, k in what if j < len(self.names.q)], self.names.constant(what)
                inside = "".join(
                    f"<mo>{'−' if k < 0 else '+'}</mo>" * (k < 0 or bool(n)) + (f"<mn>{abs(k)}</mn>" if abs(k) != 1 else "")
                    + self.atom(Atom(("q", j))) for n, (j, k) in enumerate(moving)
                )  # fmt: skip
                if constant:
                    inside += (
                        f"{self.operator('-' if constant < 0 else '+')}<mn>{decimal(abs(constant), self.digits)}</mn>"
                    )
                name = "cos" if kind == "c" else "sin"
                return f"<mrow><mi>{name}</mi><mo>(</mo>{inside}<mo>)</mo></mrow>"
        text = self.names.text(key)
        if not is_atomic(key) and self.digits is not None:
            text = re.sub(r"\d+\.\d+(e-?\d+)?", lambda m: decimal(float(m[0]), self.digits), text)
        return (
            identifier(text) if is_atomic(key) and re.fullmatch(r"\w+", text) else f"<mtext>{html.escape(text)}</mtext>"
        )


def identifier(name: str) -> str:
    """``m1`` with its number as a subscript, Greek names as letters."""
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d+(?:_\d+)*[A-Za-z]*)?", name)
    if match is None:
        return f"<mi>{html.escape(name)}</mi>"
    stem, index = GREEK_LETTERS.get(match[1], match[1]), match[2]
    if (stem in INDEXED or stem == FRICTION) and index:
        letter, of = (GREEK_LETTERS["tau"], "f") if stem == FRICTION else (stem[0], stem[1:])
        stem, index = letter, f"{of},{index}"
    return f"<msub><mi>{stem}</mi><mn>{index.replace('_', ',')}</mn></msub>" if index else f"<mi>{stem}</mi>"

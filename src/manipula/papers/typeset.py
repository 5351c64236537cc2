"""Formulas as papers write them, from one line of text to MathML.

``M_{ij} = sum_{p=max(i,j)}^n tr(U_{pj} I_p U_{pi}^T)``: ``_`` and ``^`` take the next name, number or ``{…}``; braces group and are not seen;
``frac{a}{b}``, ``sqrt{a}``, ``matrix{a, b; c, d}``, ``dot{q}``, ``ddot{q}``, ``bar{r}``, ``tilde{w}``, ``hat{x}``, ``vec{F}``. A number behind a
name is its index: ``a1``, ``I1z``;
``dq1``, ``ddq1`` and ``th1``, ``th1d``, ``th1dd`` are coordinates and their rates. ``*`` multiplies without a sign. Text in double quotes stays text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from manipula.symbolic.names import GREEK_LETTERS

TOKEN = re.compile(r'\s*("[^"]*"|\d+\.?\d*(?:e-?\d+)?|[^\W\d_]+\d*[a-z]*(?!\w)|[^\W\d_]+\d*|<=|>=|->|.)', re.UNICODE)
SIGNS = {"-": "−", "<=": "≤", ">=": "≥", "->": "→", "'": "′"}
WORDS = {"sum": "∑", "int": "∫", "partial": "∂", "nabla": "∇", "cdot": "·", "times": "×", "inf": "∞", "in": "∈", "dagger": "†"}  # fmt: skip
UPRIGHT = {"sin", "cos", "exp", "max", "min", "tr", "Trace", "sgn", "rank", "det", "diag", "const", "atan2", "skew"}
MARKS = {"dot": "˙", "ddot": "¨", "bar": "¯", "tilde": "~", "hat": "^", "vec": "→"}
INDICES = re.compile(r"[ijklmnprvxyzCE]{2,3}")  # several letters in an index are several names
NO_BREAK = "\N{NO-BREAK SPACE}"
TALL = ("<mfrac", "<munder", "<msqrt", "<mtable")  # what brackets grow around
LEAST_TERMS = 4  # shorter sums are not broken into lines


def formula(text: str) -> str:
    """One formula on a line of its own; it breaks between terms where it is too long."""
    return f'<div class="eq">{breaking(text)}</div>'


def inline(text: str) -> str:
    """A formula inside a sentence."""
    return f"<math>{_FormulaReader(text).row()}</math>"


def breaking(text: str) -> str:
    """A formula inside a sentence or a cell; a long sum breaks between its terms."""
    left, equals, right = _sides(text)
    pieces = _terms(right)
    if len(pieces) < LEAST_TERMS:
        return inline(text)
    first = f"{left} = {pieces[0]}" if equals else pieces[0]
    later = (inline(piece).replace("<mo>", '<mo form="infix">', 1) for piece in pieces[1:])
    return " ".join((inline(first), *later))


def spoken(text: str) -> str:
    """The same text for a terminal: `formulas` between backquotes without their marks."""
    text = text.replace("`", "")
    text = re.sub(r"frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\bddot\{(\w+)\}", r"\1dd", re.sub(r"\bdot\{(\w+)\}", r"\1d", text))
    text = re.sub(r"\b(?:tilde|bar|vec|hat)\{(\w+)\}", r"\1", text)
    return re.sub(r"\bpartial ", "d", text).replace("{", "").replace("}", "").replace('"', "")


def _sides(text: str) -> tuple[str, str, str]:
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "({[") - (c in ")}]")
        if c == "=" and depth == 0 and text[i - 1 : i] not in ("<", ">"):
            return text[:i].strip(), "=", text[i + 1 :].strip()
    return "", "", text


def _terms(text: str) -> list[str]:
    """Pieces that begin with a sign outside all brackets."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "({[") - (c in ")}]")
        before = text[:i].rstrip()
        if c in "+-" and depth == 0 and i > start and before and before[-1] not in "^_*/=(":
            pieces.append(text[start:i].strip())
            start = i
    return [*pieces, text[start:].strip()]


class _FormulaReader:
    """Reads a line of text from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens = [m[1] for m in TOKEN.finditer(text) if m[1].strip()]
        self.at = 0

    def row(self, end: str = "") -> str:
        out: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] != end:
            out.append(self._element())
        self.at += 1
        return "<mrow>" + "".join(out) + "</mrow>"

    def _element(self) -> str:
        token = self.tokens[self.at]
        base = self._base()
        below = above = ""
        while self.at < len(self.tokens) and self.tokens[self.at] in "_^":
            mark = self.tokens[self.at]
            self.at += 1
            body = self._base() if self.at < len(self.tokens) else ""
            below, above = (body, above) if mark == "_" else (below, body)
        under = token in ("sum", "max", "min")
        if below and above:
            kind = "munderover" if under else "msubsup"
            return f"<{kind}>{base}{below}{above}</{kind}>"
        if below:
            return f"<munder>{base}{below}</munder>" if under else f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _base(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            return self.row("}")
        if token in "([":
            closing = {"(": ")", "[": "]"}[token]
            inside = self.row(closing)
            fence = "<mo>" if any(tall in inside for tall in TALL) else '<mo stretchy="false">'
            return f"<mrow>{fence}{token}</mo>{inside}{fence}{closing}</mo></mrow>"
        if token[0] == '"':
            return f"<mtext>{html.escape(token[1:-1]).replace(' ', NO_BREAK)}</mtext>"
        special: dict[str, Callable[[], str]] = {"frac": self._fraction, "sqrt": lambda: f"<msqrt>{self._base()}</msqrt>", "matrix": self._matrix}  # fmt: skip
        if token in special:
            return special[token]()
        if token in MARKS:
            return f"<mover accent='true'>{self._base()}<mo>{MARKS[token]}</mo></mover>"
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token[0].isalpha():
            return name(token)
        if token == "*":
            return '<mo lspace="0" rspace="0.17em">&#8290;</mo>'
        return f"<mo>{html.escape(SIGNS.get(token, token))}</mo>"

    def _matrix(self) -> str:
        """``{a, b; c, d}``: rows between semicolons."""
        self.at += 1
        rows, cell = [[]], []
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            token = self.tokens[self.at]
            if token not in ",;":
                cell.append(self._element())
                continue
            self.at += 1
            rows[-1].append("".join(cell))
            cell = []
            if token == ";":
                rows.append([])
        self.at += 1
        rows[-1].append("".join(cell))
        lines = "".join("<mtr>" + "".join(f"<mtd><mrow>{c}</mrow></mtd>" for c in row) + "</mtr>" for row in rows)
        return f"<mrow><mo>[</mo><mtable columnalign='right'>{lines}</mtable><mo>]</mo></mrow>"

    def _fraction(self) -> str:
        above, below = self._base(), self._base()
        return f"<mfrac>{above}{below}</mfrac>"


def name(word: str) -> str:
    """A name with its number as an index, rates with their dots, Greek letters spelt out."""
    if word in WORDS:
        return f"<mo>{WORDS[word]}</mo>"
    if word in UPRIGHT:
        return f"<mi mathvariant='normal'>{word}</mi><mo>&#8289;</mo>"
    if INDICES.fullmatch(word) and word not in GREEK_LETTERS:
        return "<mrow>" + "".join(f"<mi>{letter}</mi>" for letter in word) + "</mrow>"
    rate = re.fullmatch(r"(d{1,2})(q)(\d+)", word) or re.fullmatch(r"()(th|d)(\d+)(d{1,2})?", word)
    if rate is not None:
        dots = len(rate[1] or (rate.lastindex and rate.lastindex >= 4 and rate[4]) or "")
        letter = {"th": "θ"}.get(rate[2], rate[2])
        body = f"<mi>{letter}</mi>"
        body = f"<mover accent='true'>{body}<mo>{'˙¨'[dots - 1]}</mo></mover>" if dots else body
        return f"<msub>{body}<mn>{rate[3]}</mn></msub>"
    found = re.fullmatch(r"([^\W\d_]+?)(\d+[a-z]*)?", word)
    if found is None:
        return f"<mi>{html.escape(word)}</mi>"
    stem = GREEK_LETTERS.get(found[1], found[1])
    return f"<msub><mi>{stem}</mi><mn>{found[2]}</mn></msub>" if found[2] else f"<mi>{html.escape(stem)}</mi>"

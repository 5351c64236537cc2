"""Equations as a document: text, Unicode, LaTeX, HTML, MATLAB or JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from manipula.algebra.arguments import flag, whole_number
from manipula.errors import DescriptionError, printable, unknown_name
from manipula.symbolic.document import Rows, Section, sections
from manipula.symbolic.expression_tree import Atom, Node, atoms, operations
from manipula.symbolic.latex_page import PAPER, escaped, standalone_latex
from manipula.symbolic.names import latex_name
from manipula.symbolic.writers.base import FormulaWriter
from manipula.symbolic.writers.latex import PAGE, LatexWriter
from manipula.symbolic.writers.mathml import MathmlWriter, identifier
from manipula.symbolic.writers.matlab import MatlabWriter, checked
from manipula.symbolic.writers.text import TextWriter, UnicodeWriter

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations


Digits = int | Literal["exact"] | None
BREAK = "\\\\\n"  # between two rows of an ``align*`` environment
ROWS = 300  # of one environment, about six pages: TeX holds an environment in its memory until its end
# significant digits of decimals where people read them; at 15 no tail of rounding is left
ROUNDED = {"latex": 6, "html": 6, "text": 15, "unicode": 15}


def render(
    eq: Equations, format: str = "text", only: Sequence[str] | str | None = None, *, digits: Digits = None, standalone: bool = False
) -> str:  # fmt: skip
    """The equations of a robot in one notation.

    Args:
        format: text, unicode, latex, html, matlab or json.
        only: parts to write, ``"M,g"`` or a sequence of names of :data:`SECTIONS`, or "all".
        digits: significant digits of decimals, or "exact" for the shortest text that reads back as the same float; without it 6
            in LaTeX and HTML, 15 in text and exact elsewhere.
        standalone: LaTeX as a whole document, for pdflatex.
    """
    if format not in FORMATS:
        raise unknown_name("format of equations", format, FORMATS, field="format")
    if digits is None:
        digits = ROUNDED.get(format, "exact")
    if isinstance(digits, str) and digits != "exact":
        raise DescriptionError(
            f"Significant digits are a whole number from 1 to 17, or 'exact'; found '{printable(digits, 40)}'.",
            field="digits",
        )
    count = None if digits == "exact" else whole_number(digits, "digits", 1, 17)
    if not flag(standalone, "standalone"):
        return FORMATS[format](eq, sections(eq, only), count)
    if format != "latex":
        raise DescriptionError(
            f"A standalone document is written in latex, found format '{format}'.", field="standalone"
        )
    return standalone_latex(_title(eq), _latex(eq, sections(eq, only), count, PAPER))


def _used(document: list[Section]) -> set[Any]:
    return {key for section in document for node in section.nodes for key in atoms(node)}


def _variables(eq: Equations) -> list[tuple[str, str, str]]:
    return [
        (str(eq.names.q[i]), joint.name, "rad" if joint.is_revolute else "m") for i, joint in enumerate(eq.robot.joints)
    ]


def _abbreviations(eq: Equations, document: list[Section]) -> dict[str, str]:
    return {name: str(meaning) for name, meaning in eq.names.abbreviations(_used(document)).items()}


def _title(eq: Equations) -> str:
    return f"{eq.robot.name}: equations of motion, level {eq.level}"


def _text(eq: Equations, document: list[Section], digits: int | None) -> str:
    return _plain(eq, document, TextWriter(eq.names, digits))


def _unicode(eq: Equations, document: list[Section], digits: int | None) -> str:
    return _plain(eq, document, UnicodeWriter(eq.names, digits))


def _plain(eq: Equations, document: list[Section], writer: TextWriter) -> str:
    lines = [f"# {_title(eq)}"]
    lines.append("# " + ", ".join(f"{q} = {name} [{unit}]" for q, name, unit in _variables(eq)))
    short = _abbreviations(eq, document)
    if short:
        lines.append("# " + ", ".join(f"{name} = {meaning}" for name, meaning in short.items()))
    lines += [f"# {remark}" for remark in eq.remarks]
    for section in document:
        lines += ["", f"# {section.title}"]
        for label, value in section.formulas:
            name = writer.atom(Atom(("name", label)))
            lines.append(f"{name} = {writer.matrix(value) if isinstance(value, list) else writer.formula(value)}")
    return "\n".join(lines) + "\n"


def _matlab(eq: Equations, document: list[Section], digits: int | None) -> str:
    writer = MatlabWriter(eq.names, digits)
    lines = [f"% {printable(_title(eq), 200)}"]
    lines += [f"% {q}: {printable(name)} [{unit}]" for q, name, unit in _variables(eq)]
    needed = [checked(str(s)) for s in eq.parameters if str(s) not in eq.definition_nodes]
    taken = {*needed, *(s.name for s in (*eq.names.q, *eq.names.qd, *eq.names.qdd))}
    if needed:
        lines.append(f"% parameters: {', '.join(needed)}")
    lines += [f"% {printable(remark, 200)}" for remark in eq.remarks]
    lines += [f"{name} = {meaning};" for name, meaning in _abbreviations(eq, document).items()]
    for section in document:
        lines += ["", f"% {section.title}"]
        for label, value in section.formulas:
            name = checked(f"{label}_" if label in taken else label)
            lines.append(f"{name} = {writer.matrix(value) if isinstance(value, list) else writer.formula(value)};")
        lines += _assembled(eq, section)
    return "\n".join(lines) + "\n"


def _assembled(eq: Equations, section: Section) -> list[str]:
    """``M = [M11, M12; M12, M22];`` after the entries of a matrix or vector of joints."""
    labels, n, apart = {label for label, _ in section.formulas}, eq.robot.n, "_" if eq.robot.n > 9 else ""
    out = []
    for letter in ("M", "C"):
        rows = [[f"{letter}{i}{apart}{j}" for j in range(1, n + 1)] for i in range(1, n + 1)]
        rows = [
            [name if name in labels else f"{letter}{j + 1}{apart}{i + 1}" for j, name in enumerate(r)]
            for i, r in enumerate(rows)
        ]
        if all(name in labels for row in rows for name in row) and letter not in eq.robot.parameters:
            out.append(f"{letter} = [{'; '.join(', '.join(row) for row in rows)}];")
    for letter in ("h", "g", "tau", "tauf"):
        names = [f"{letter}{i}" for i in range(1, n + 1)]
        if labels == set(names) and letter not in eq.robot.parameters:
            out.append(f"{letter} = [{'; '.join(names)}];")
    return out


def _latex(eq: Equations, document: list[Section], digits: int | None, width: float = PAGE) -> str:
    writer = LatexWriter(eq.names, digits, width)
    whole = width != PAGE
    body = []
    for section in document:
        head = rf"\section*{{{escaped(section.title)}}}" if whole else f"% {section.title}"
        lines = _aligned(writer, section).split(BREAK) if section.formulas else []
        parts = [BREAK.join(lines[k : k + ROWS]) for k in range(0, len(lines), ROWS)]
        body.append(head + "".join(f"\n\\begin{{align*}}\n{part}\n\\end{{align*}}" for part in parts))
    remarks = [*eq.remarks, *_rounded(writer)]
    if whole:
        variables = enumerate(_variables(eq))
        joints = ", ".join(f"${eq.names.latex(('q', i))}$ {escaped(name)}~[{unit}]" for i, (_, name, unit) in variables)
        out = [rf"\noindent Joint variables: {joints}.", *(rf"\noindent {escaped(remark)}" for remark in remarks)]
    else:
        out = ["\n".join(f"% {line}" for line in (_title(eq), *remarks))]
    short = [
        f"${eq.names.latex(key)} = {eq.names.latex_function(*key)}$" for key in eq.names.abbreviated(_used(document))
    ]
    if short:
        out.append("% Abbreviations\n" + rf"\noindent Abbreviations: {', '.join(short)}.")
    return "\n\n".join(out + body) + "\n"


def _rounded(writer: FormulaWriter) -> list[str]:
    return [f"Decimals are rounded to {writer.digits} significant digits."] if writer.rounded else []


def _aligned(writer: LatexWriter, section: Section) -> str:
    rows = []
    for label, value in section.formulas:
        name = latex_name(label)
        rows.append(
            writer.matrix_rows(name, f"({name})", value) if isinstance(value, list) else writer.aligned(name, value)
        )
    return BREAK.join(rows)


_STYLE = """body{font:16px/1.6 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.eq{margin:.5rem 0;padding:.2rem 0 .2rem 3.5rem;text-indent:-3.5rem;overflow-x:auto}
p{overflow-wrap:anywhere}
math{font-size:1.05rem;white-space:nowrap}details{color:#555}pre{white-space:pre-wrap;overflow-wrap:anywhere;text-indent:0}
@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}details{color:#aaa}}"""


def _html(eq: Equations, document: list[Section], digits: int | None) -> str:
    writer, tex = MathmlWriter(eq.names, digits), LatexWriter(eq.names, digits)
    body = []
    for section in document:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        for label, value in section.formulas:
            body.append(f'<div class="eq">{" ".join(_pieces(writer, label, value))}</div>')
        body.append(f"<details><summary>LaTeX</summary><pre>{html.escape(_aligned(tex, section))}</pre></details>")
    title = html.escape(_title(eq))
    joints = ", ".join(f"{html.escape(q)} = {html.escape(name)} [{unit}]" for q, name, unit in _variables(eq))
    short = ", ".join(f"{html.escape(n)} = {html.escape(m)}" for n, m in _abbreviations(eq, document).items())
    head = [f"<h1>{title}</h1>", f"<p>{joints}{'<br>' + short if short else ''}</p>"]
    head += [f"<p>{html.escape(remark)}</p>" for remark in (*eq.remarks, *_rounded(writer))]
    content = "\n".join(head + body)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>\n{content}\n</body></html>\n"
    )


def _pieces(writer: MathmlWriter, label: str, value: Node | Rows) -> list[str]:
    """A formula as MathML; a term is the unit that a line break keeps whole."""
    pieces = [f"<math><mrow>{identifier(label)}<mo>=</mo></mrow></math>"]
    if isinstance(value, list):
        return [*pieces, f"<math>{writer.matrix(value)}</math>"]
    for index, (sign, term) in enumerate(writer.pieces(value)):
        lead = writer.operator(sign) if index or sign == "-" else ""
        if index:
            lead = lead.replace("<mo>", '<mo form="infix">')
        pieces.append(f"<math><mrow>{lead}{term}</mrow></math>")
    return pieces


def _json(eq: Equations, document: list[Section], digits: int | None) -> str:
    writer = TextWriter(eq.names, digits)

    def written(value: Node | Rows) -> Any:
        return [[writer.formula(x) for x in row] for row in value] if isinstance(value, list) else writer.formula(value)

    return json.dumps({
        "robot": eq.robot.name,
        "level": eq.level,
        "variables": [{"name": q, "joint": name, "unit": unit} for q, name, unit in _variables(eq)],
        "abbreviations": _abbreviations(eq, document),
        "snapped": eq.snapped,
        "sections": [{
            "title": section.title,
            "formulas": {label: written(value) for label, value in section.formulas},
            "operations": sum(operations(node) for node in section.nodes),
        } for section in document],
    }, indent=1, ensure_ascii=False) + "\n"  # fmt: skip


FORMATS: dict[str, Callable[[Equations, list[Section], int | None], str]] = {
    "text": _text, "unicode": _unicode, "latex": _latex, "html": _html, "matlab": _matlab, "json": _json,
}  # fmt: skip

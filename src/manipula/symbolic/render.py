"""Equations as a document: text, Unicode, LaTeX, HTML or JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from manipula.errors import unknown_name
from manipula.symbolic.document import Section, sections
from manipula.symbolic.expression_tree import Atom, atoms, operations
from manipula.symbolic.names import latex_name
from manipula.symbolic.writers.latex import LatexWriter
from manipula.symbolic.writers.mathml import MathmlWriter, identifier
from manipula.symbolic.writers.text import TextWriter, UnicodeWriter

if TYPE_CHECKING:
    from manipula.symbolic.equations import Equations


def render(eq: Equations, format: str = "text", only: Sequence[str] | str | None = None) -> str:
    """The equations of a robot in one notation.

    Args:
        format: text, unicode, latex, html or json.
        only: parts to write, ``"M,g"`` or a sequence: M C h g tau T V friction pose jacobian.
    """
    if format not in FORMATS:
        raise unknown_name("format of equations", format, FORMATS, field="format")
    return FORMATS[format](eq, sections(eq, only))


def _used(document: list[Section]) -> set[Any]:
    return {key for s in document for _, node in s.formulas for key in atoms(node)}


def _variables(eq: Equations) -> list[tuple[str, str, str]]:
    return [
        (str(eq.names.q[i]), joint.name, "rad" if joint.is_revolute else "m") for i, joint in enumerate(eq.robot.joints)
    ]


def _abbreviations(eq: Equations, document: list[Section]) -> dict[str, str]:
    table = eq.names.abbreviations(_used(document))
    return {name: str(table[name]) for name in sorted(table, key=lambda n: (n[0], len(n), n))}


def _title(eq: Equations) -> str:
    return f"{eq.robot.name}: equations of motion, level {eq.level}"


def _text(eq: Equations, document: list[Section]) -> str:
    return _plain(eq, document, TextWriter(eq.names))


def _unicode(eq: Equations, document: list[Section]) -> str:
    return _plain(eq, document, UnicodeWriter(eq.names))


def _plain(eq: Equations, document: list[Section], writer: TextWriter) -> str:
    lines = [f"# {_title(eq)}"]
    lines.append("# " + ", ".join(f"{q} = {name} [{unit}]" for q, name, unit in _variables(eq)))
    short = _abbreviations(eq, document)
    if short:
        lines.append("# " + ", ".join(f"{name} = {meaning}" for name, meaning in short.items()))
    lines += [f"# {remark}" for remark in eq.remarks]
    for section in document:
        lines += ["", f"# {section.title}"]
        for label, node in section.formulas:
            name = writer.atom(Atom(("name", label)))
            lines.append(f"{name} = {writer.formula(node)}")
    return "\n".join(lines) + "\n"


def _latex(eq: Equations, document: list[Section]) -> str:
    writer = LatexWriter(eq.names)
    out = ["\n".join(f"% {line}" for line in (_title(eq), *eq.remarks))]
    for section in document:
        rows = "\\\\\n".join(writer.aligned(latex_name(label), node) for label, node in section.formulas)
        out.append(f"% {section.title}\n\\begin{{align*}}\n{rows}\n\\end{{align*}}")
    return "\n\n".join(out) + "\n"


_STYLE = """body{font:16px/1.6 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.eq{margin:.5rem 0;padding:.2rem 0 .2rem 3.5rem;text-indent:-3.5rem;overflow-x:auto}
p{overflow-wrap:anywhere}
math{font-size:1.05rem;white-space:nowrap}details{color:#555}pre{white-space:pre-wrap;overflow-wrap:anywhere;text-indent:0}
@media (prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}details{color:#aaa}}"""


def _html(eq: Equations, document: list[Section]) -> str:
    writer, tex = MathmlWriter(eq.names), LatexWriter(eq.names)
    title = html.escape(_title(eq))
    body = [f"<h1>{title}</h1>"]
    joints = ", ".join(f"{html.escape(q)} = {html.escape(name)} [{unit}]" for q, name, unit in _variables(eq))
    short = ", ".join(f"{html.escape(n)} = {html.escape(m)}" for n, m in _abbreviations(eq, document).items())
    body.append(f"<p>{joints}{'<br>' + short if short else ''}</p>")
    body += [f"<p>{html.escape(remark)}</p>" for remark in eq.remarks]
    for section in document:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        for label, node in section.formulas:
            pieces = [f"<math><mrow>{identifier(label)}<mo>=</mo></mrow></math>"]
            for index, (sign, term) in enumerate(
                writer.pieces(node)
            ):  # a term is the unit that a line break keeps whole
                lead = writer.operator(sign) if index or sign == "-" else ""
                if index:
                    lead = lead.replace("<mo>", '<mo form="infix">')
                pieces.append(f"<math><mrow>{lead}{term}</mrow></math>")
            body.append(f'<div class="eq">{" ".join(pieces)}</div>')
        source = "\\\\\n".join(tex.aligned(latex_name(label), node) for label, node in section.formulas)
        body.append(f"<details><summary>LaTeX</summary><pre>{html.escape(source)}</pre></details>")
    content = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>\n{content}\n</body></html>\n"
    )


def _json(eq: Equations, document: list[Section]) -> str:
    writer = TextWriter(eq.names)
    return json.dumps({
        "robot": eq.robot.name,
        "level": eq.level,
        "variables": [{"name": q, "joint": name, "unit": unit} for q, name, unit in _variables(eq)],
        "abbreviations": _abbreviations(eq, document),
        "snapped": eq.snapped,
        "sections": [{
            "title": section.title,
            "formulas": {label: writer.formula(node) for label, node in section.formulas},
            "operations": sum(operations(node) for _, node in section.formulas),
        } for section in document],
    }, indent=1, ensure_ascii=False) + "\n"  # fmt: skip


FORMATS: dict[str, Callable[[Equations, list[Section]], str]] = {
    "text": _text, "unicode": _unicode, "latex": _latex, "html": _html, "json": _json,
}  # fmt: skip

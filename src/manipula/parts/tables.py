"""Declarations as Markdown tables."""

from __future__ import annotations

import re

from manipula.parts.declared import FieldDeclaration
from manipula.parts.registry import PartKind

_MATH = re.compile(r":math:`([^`]*)`")


def default_text(d: FieldDeclaration) -> str:
    """The default of a field as a file writes it, ``required`` when there is none."""
    if d.required:
        return "required"
    if d.default is None or d.default == () or d.default == "":
        return "none"
    if isinstance(d.default, bool):
        return str(d.default).lower()
    if isinstance(d.default, float):
        return f"{d.default:g}"
    return f"[{', '.join(f'{v:g}' for v in d.default)}]" if isinstance(d.default, tuple) else str(d.default)


def allowed_text(d: FieldDeclaration) -> str:
    """What a field allows."""
    return " · ".join(d.field.choices) if d.field.kind == "choice" else d.field.range


def plain_summary(text: str) -> str:
    """The summary of a part without the marks of its markup."""
    return _MATH.sub(r"\1", text).replace("``", "`")


def kind_table(kind: PartKind) -> str:
    """All parts of a kind with their fields, one row per field."""
    fielded = any(kind.fields(name) for name in kind.registry)
    lines = ["| name | what it is |", "|---|---|"]
    for name in kind.registry:
        told = _MATH.sub(r"$\1$", kind.summary(name)).replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{name}` | {told} |")
    if not fielded:
        return "\n".join(lines)
    lines += [
        "",
        f"| {kind.name} | field | kind | unit | default | allowed | meaning |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in kind.registry:
        for i, d in enumerate(kind.fields(name)):
            f = d.field
            key = f"`{d.name}`" + (" `_deg`" if f.degrees else "")
            cells = (
                f"`{name}`" if i == 0 else "",
                key,
                f.kind_words,
                f.unit,
                default_text(d),
                allowed_text(d),
                f.meaning,
            )
            lines.append(f"| {' | '.join(c.replace('|', '∣') for c in cells)} |")
    return "\n".join(lines)

"""Declarations as Markdown tables."""

from __future__ import annotations

import re

from manipula.parts.declared import FieldDeclaration
from manipula.parts.registry import PartKind

_MATH = re.compile(r":math:`([^`]*)`")
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "zeta": "ζ", "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Lambda": "Λ", "Omega": "Ω", "pi": "π",
    "cdot": "·", "times": "×", "le": "≤", "ge": "≥", "int": "∫", "sum": "∑", "infty": "∞", "partial": "∂", "pm": "±", "in": "∈",
    "dots": "…", "varphi": "φ", "epsilon": "ε", "ldots": "…", "to": "→", "sqrt": "√",
}  # fmt: skip
_NAMED = ("tanh", "det", "bar")


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
    """The summary of a part without the marks of its markup; formulas in the letters of Unicode."""
    return _MATH.sub(lambda math: plain_formula(math[1]), text).replace("``", "`")


def plain_formula(tex: str) -> str:
    r"""A formula for the terminal: ``K_v\dot e + \tau`` → K_v ė + τ."""
    text = re.sub(r"\\(?:mathrm|text|mathbf|operatorname)\{([^{}]*)\}", r"\1", tex)
    text = re.sub(r"\\(?:left|right)(?![a-z])|\\!", "", text)
    text = re.sub(r"\\[,; ]|\\q?quad(?![a-z])", " ", text)
    text = re.sub(r"\\(d?)dot\s*\{?(\\?[A-Za-z]+)\}?", _dotted, text)
    text = re.sub(r"([_^])\{([\w+±]|max|min|-1)\}", r"\1\2", text)
    text = re.sub(r"\\tfrac ?(\w)(\w)", r"\1/\2 ", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: _LETTERS.get(m[1], f" {m[1]} " if m[1] in _NAMED else m[1]), text)
    text = re.sub(r"([_^]|√)\{([^{}]*)\}", r"\1(\2)", text)
    text = re.sub(r"frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", text)
    text = text.replace("^T", "ᵀ").replace("^-1", "⁻¹").replace("^2", "²").replace("1/2 ", "½ ")
    text = re.sub(r"([(\[|]) +| +([(\])|,])", lambda m: m[1] or (m[0] if m[2] in "([|" else m[2]), text)
    return " ".join(text.split())


def _dotted(match: re.Match[str]) -> str:
    letter = match[2].removeprefix("\\")
    letter = _LETTERS.get(letter, letter)
    dots = "\N{COMBINING DIAERESIS}" if match[1] else "\N{COMBINING DOT ABOVE}"
    return f" {letter[0]}{dots}{letter[1:]}"


def kind_table(kind: PartKind) -> str:
    """All parts of a kind with their fields, one row per field."""
    fielded = any(kind.fields(name) for name in kind.registry)
    lines = (
        ["| name | in Python | what it is |", "|---|---|---|"]
        if kind.public
        else ["| name | what it is |", "|---|---|"]
    )
    for name in kind.registry:
        told = _MATH.sub(r"$\1$", kind.summary(name)).replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{name}` | {f'`{kind.in_python(name)}` | ' if kind.public else ''}{told} |")
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

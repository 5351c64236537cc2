r"""A whole LaTeX document around the equations: A4, ten-point letters, nothing but ``amsmath`` and ``geometry``."""

from __future__ import annotations

PAPER = 48.0  # em of ten-point letters on 170 mm
_ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", **{c: "\\" + c for c in "{}%&$#_"},
}  # fmt: skip


def escaped(text: str) -> str:
    """Text as LaTeX prints it; what pdflatex has no letter for becomes a question mark."""
    plain = text.replace("“", '"').replace("”", '"').encode("latin-1", "replace").decode("latin-1")
    return "".join(_ESCAPES.get(c, c) if c.isprintable() else "?" for c in plain)


def standalone_latex(title: str, body: str) -> str:
    """A document that pdflatex compiles, with these equations."""
    return rf"""\documentclass[10pt,a4paper]{{article}}
\usepackage[utf8]{{inputenc}}
\usepackage[margin=20mm]{{geometry}}
\usepackage{{amsmath}}
\allowdisplaybreaks
\setlength{{\parskip}}{{4pt}}
\begin{{document}}
\begin{{center}}\large\bfseries {escaped(title)}\end{{center}}

{body}
\end{{document}}
"""

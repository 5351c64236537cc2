r"""Formulas of the site without any script: LaTeX becomes MathML while the pages are built.

Pages write ``$…$`` and ``$$…$$``; docstrings write ``:math:`…``` and ``.. math::``. Both go the same way. Other roles of docstrings
(``:func:`x```) become code, and their simple tables (``===  ===``) become preformatted text.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.config.defaults import MkDocsConfig

FENCE = re.compile(r"^\s*(```+|~~~+)")
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?\.?([^`]+)`")
MATH_ROLE = re.compile(r":math:`([^`]+)`")
CODE_OR_MATH = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$([^\s$](?:[^$]*[^\s$\\])?)\$(?!\d)", re.DOTALL)
DIRECTIVE = re.compile(r"^(\s*)\.\. math::\s*(.*)$")
RULE = re.compile(r"^\s*=+(\s+=+)+\s*$")
KEPT = "\x02manipula-math-{}\x03"

# what the converter writes otherwise, or does not know
REPLACED = {
    r"\bigl": "",
    r"\bigr": "",
    r"\Bigl": "",
    r"\Bigr": "",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    "½": r"\frac{1}{2}",
}


def mathml(formula: str, display: bool) -> str:
    """One formula as a MathML element."""
    text = html.unescape(formula).strip()
    for old, new in REPLACED.items():
        text = re.sub(re.escape(old) + (r"(?![A-Za-z])" if old.startswith("\\") else ""), lambda _, new=new: new, text)
    if display and "&" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    return convert(text, display="block" if display else "inline")


class FromDocstrings(Preprocessor):
    """What docstrings write in their own way, as the pages write it; formulas are put aside as MathML."""

    def run(self, lines: list[str]) -> list[str]:
        return self.kept(self.directives(lines))

    def directives(self, lines: list[str]) -> list[str]:
        out: list[str] = []
        fenced, k = "", 0
        while k < len(lines):
            line = lines[k]
            k += 1
            fence = FENCE.match(line)
            if fence and not fenced:
                fenced = fence[1]
            elif fenced and line.strip().startswith(fenced):
                fenced = ""
            elif not fenced and (found := DIRECTIVE.match(line)):
                margin, formula = found[1], [found[2]]
                while k < len(lines) and (not lines[k].strip() or lines[k].startswith(margin + "   ")):
                    if not lines[k].strip() and any(formula) and not _goes_on(lines, k, margin):
                        break
                    formula.append(lines[k].strip())
                    k += 1
                out += ["", f"{margin}$${' '.join(formula).strip()}$$", ""]
                continue
            elif not fenced and RULE.match(line):
                end = next((j for j in range(k, len(lines)) if RULE.match(lines[j]) and _blank(lines, j + 1)), None)
                if end is not None:
                    out += ["", "```text", *[row for row in lines[k:end] if not RULE.match(row)], "```", ""]
                    k = end + 1
                    continue
            out.append(line)
        return out

    def kept(self, lines: list[str]) -> list[str]:
        pieces = re.split(
            r"(^\s*```.*?^\s*```\s*?$|^\s*~~~.*?^\s*~~~\s*?$)", "\n".join(lines), flags=re.MULTILINE | re.DOTALL
        )
        for k in range(0, len(pieces), 2):
            pieces[k] = self.formulas(pieces[k])
        return "".join(pieces).split("\n")

    def formulas(self, text: str) -> str:
        text = MATH_ROLE.sub(lambda m: self.stash(m[1], display=False), text)
        text = ROLE.sub(r"`\1`", text)
        text = re.sub(r"\$\$(.+?)\$\$", lambda m: self.stash(m[1], display=True), text, flags=re.DOTALL)
        return "\n".join(self.in_line(line) for line in text.split("\n"))

    def in_line(self, line: str) -> str:
        return CODE_OR_MATH.sub(lambda m: m[0] if m[1] else self.stash(_cell(line, m[2]), display=False), line)

    def stash(self, formula: str, display: bool) -> str:
        return self.md.htmlStash.store(mathml(formula, display))


def _cell(line: str, formula: str) -> str:
    """In a row of a table every bar is written with a backslash, whatever it means."""
    return formula.replace("\\|", "|") if line.lstrip().startswith("|") else formula


def _blank(lines: list[str], k: int) -> bool:
    return k >= len(lines) or not lines[k].strip()


def _goes_on(lines: list[str], k: int, margin: str) -> bool:
    following = next((line for line in lines[k:] if line.strip()), "")
    return following.startswith(margin + "   ")


class Mathematics(Extension):
    """Formulas and roles, for pages and for docstrings."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.preprocessors.register(FromDocstrings(md), "manipula_mathematics", 28)  # before fenced code is put aside


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.markdown_extensions.append(Mathematics())
    return config

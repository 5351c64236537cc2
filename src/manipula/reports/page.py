"""Pieces of an HTML page. Every text from outside goes through ``text``; every number of the script through ``data``."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from manipula.errors import DescriptionError, printable
from manipula.formats.whole_file import file_path
from manipula.reports import viewer
from manipula.reports.theme import JOINT_COLOURS, PAGE_COLOURS

SURFACES = {"page": ("#f5f7fa", "#0f1318"), "card": ("#ffffff", "#161b22"), "stage": ("#fbfcfe", "#12171e")}
FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif'


def html_path(path: str | os.PathLike[str]) -> Path:
    """The path of a page, or an error."""
    target = file_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise DescriptionError(f"A report is written as .html, found '{target.suffix}'.", file=str(path))
    return target


def text(value: object, limit: int = 400) -> str:
    """Any text as harmless HTML: control characters visible, markup escaped, cut to a length."""
    return html.escape(printable(value, limit), quote=True)


def data(value: Any) -> str:
    """JSON that can stand inside a script element whatever it holds; NaN and infinity are refused."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "data") -> str:
    """A table of cells that are HTML already; the heads are plain text, "*" marks a column of words."""
    words = [name.startswith("*") for name in head]
    top = "".join(f"<th{' class=words' if w else ''}>{text(name.lstrip('*'))}</th>" for name, w in zip(head, words))
    body = "".join(
        "<tr>" + "".join(f"<td{' class=words' if w else ''}>{cell}</td>" for cell, w in zip(row, words)) + "</tr>"
        for row in rows
    )
    lead = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return f'<div class="scroll"><table class="{kind}">{lead}<tbody>{body}</tbody></table></div>'


def section(title: str, body: str) -> str:
    """A section with a heading; nothing when it has no body."""
    return f"<section><h2>{text(title)}</h2>\n{body}\n</section>\n" if body else ""


def card(body: str) -> str:
    """HTML on a card."""
    return f'<div class="card">{body}</div>'


def chip(joint: int) -> str:
    """A dot in the colour of a joint."""
    return f'<span class="chip" style="background:var(--j{joint % len(JOINT_COLOURS) + 1})"></span>'


def style() -> str:
    """Colours of both schemes as variables, then the rules."""
    named = {f"j{i + 1}": pair for i, pair in enumerate(JOINT_COLOURS)} | PAGE_COLOURS | SURFACES
    light, shade = ("".join(f"--{name}:{pair[k]};" for name, pair in named.items()) for k in (0, 1))
    rules = files("manipula.reports").joinpath("web/report.css").read_text(encoding="utf-8") + viewer.style()
    dark = f":root[data-theme=dark]{{{shade}color-scheme:dark}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{shade}}}}}"
    return (
        f":root{{--font:{FONT};{light}}}\n@media screen{{:root[data-theme=light]{{color-scheme:light}}{dark}}}\n{rules}"
    )


def document(
    title: str, body: str, scripts: Sequence[str] = (), numbers: tuple[Any, str] | None = None, rules: str = ""
) -> str:
    """The whole page. Its policy allows its own scripts, known by their hashes, inline styles, pictures inside it, and nothing from any network.

    Args:
        scripts: modules in the order in which they run. numbers: what they read: a JSON value, and packed arrays.
        rules: further style of this page.
    """
    safe = [script.strip().replace("</script", "<\\/script").replace("<!--", "<\\!--") for script in scripts]
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in safe
    )
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; script-src {digests or chr(39) + 'none' + chr(39)}; "
        "base-uri 'none'; form-action 'none'"
    )
    fed = "" if numbers is None else (
        f'<script type="application/json" id="document">{data(numbers[0])}</script>\n'
        f'<script type="text/plain" id="arrays">{numbers[1]}</script>\n'
    )  # fmt: skip
    rules += viewer.font_rule() if "<math" in body else ""
    modules = "".join(f'<script type="module">{script}</script>\n' for script in safe)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title, 120)}</title>\n<style>{style()}{rules}</style>\n</head>\n<body>\n<main>\n{body}</main>\n"
        f"{fed}{modules}</body>\n</html>\n"
    )
